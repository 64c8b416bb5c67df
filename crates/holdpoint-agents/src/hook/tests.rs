//! What holds for every adapter: nothing but a clear decision lets a call run, whatever is sent.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use holdpoint_core::{Decision, Method, Verdict};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

/// Gives every call the same answer.
struct Always(Option<HookDecision>, usize);

impl Gatekeeper for Always {
    fn judge(&mut self, _: HookCall) -> Result<HookDecision, EngineError> {
        self.1 += 1;
        self.0.clone().ok_or(EngineError::Directory)
    }

    fn stand_by(&mut self, _: Reply) {}

    fn result(&mut self, _: &Returned) -> Result<Inspected, EngineError> {
        Err(EngineError::Directory)
    }

    fn prompt(&mut self, _: &Prompted) -> Result<Inspected, EngineError> {
        Err(EngineError::Directory)
    }

    fn changed(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn turn_ended(&mut self, _: &str) -> Result<(), EngineError> {
        Ok(())
    }
}

fn decided(verdict: Verdict, method: Method) -> HookDecision {
    HookDecision::from(Decision {
        verdict,
        method,
        ..Decision::error("because")
    })
}

fn answered(agent: Agent, payload: &[u8], gate: &mut Always) -> Reply {
    agent
        .answer(payload, gate)
        .unwrap_or_else(|problem| agent.refusal(&problem))
}

/// A shell call in the words of each agent.
fn shell_call(agent: Agent) -> Value {
    let claude = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": {"command": "ls"}});
    let gemini = |event: &str| {
        json!({"hook_event_name": event, "tool_name": "run_shell_command",
            "tool_input": {"command": "ls"}})
    };
    match agent {
        Agent::ClaudeCode | Agent::Codex => claude,
        Agent::Gemini => gemini("BeforeTool"),
        Agent::Qwen => gemini("PreToolUse"),
        Agent::Copilot => {
            json!({"sessionId": "s", "toolName": "bash", "toolArgs": {"command": "ls"}})
        }
        Agent::Cursor => json!({"hook_event_name": "preToolUse", "tool_name": "Shell",
            "tool_input": {"command": "ls"}}),
        Agent::OpenCode => json!({"event": "tool.execute.before", "tool": "bash",
            "args": {"command": "ls"}}),
        Agent::Cline => json!({"hookName": "tool_call", "tool_call": {"id": "1",
            "name": "run_commands", "input": {"commands": ["ls"]}}}),
        Agent::Windsurf => json!({"agent_action_name": "pre_run_command",
            "tool_info": {"command_line": "ls"}}),
        Agent::Kiro => json!({"hook_event_name": "preToolUse", "tool_name": "execute_bash",
            "tool_input": {"command": "ls"}}),
        Agent::Goose => json!({"event": "PreToolUse", "tool_name": "developer__shell",
            "tool_input": {"command": "ls"}}),
        Agent::Generic => json!({"event": "before_call", "tool": "bash",
            "input": {"command": "ls"}}),
    }
}

/// Whether an agent would run a call that is answered so.
fn lets_run(agent: Agent, reply: &Reply) -> bool {
    let words: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    let denies = [
        &words["hookSpecificOutput"]["permissionDecision"],
        &words["hookSpecificOutput"]["decision"]["behavior"],
        &words["permissionDecision"],
        &words["permission"],
        &words["decision"],
        &words["behavior"],
    ]
    .iter()
    .any(|word| **word == "deny" || **word == "block");
    match agent {
        Agent::Cline => words["cancel"] != json!(true),
        // What it says in JSON counts, whatever the exit code.
        Agent::Gemini if !reply.stdout.is_empty() => !denies,
        Agent::Windsurf | Agent::Kiro => reply.code != 2,
        Agent::ClaudeCode
        | Agent::Codex
        | Agent::Gemini
        | Agent::Copilot
        | Agent::Cursor
        | Agent::Qwen
        | Agent::OpenCode
        | Agent::Goose
        | Agent::Generic => !(denies || reply.code == 2 && !reply.stderr.trim().is_empty()),
    }
}

fn reason_in(reply: &Reply) -> String {
    let words: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    [
        &words["hookSpecificOutput"]["permissionDecisionReason"],
        &words["hookSpecificOutput"]["decision"]["message"],
        &words["permissionDecisionReason"],
        &words["agent_message"],
        &words["reason"],
        &words["message"],
        &words["errorMessage"],
    ]
    .iter()
    .find_map(|word| word.as_str())
    .unwrap_or(reply.stderr.trim_end())
    .to_owned()
}

#[test]
fn a_denial_reaches_every_agent_with_its_reason() {
    for agent in Agent::ALL {
        let mut gate = Always(Some(decided(Verdict::Deny, Method::Guard)), 0);
        let reply = answered(agent, shell_call(agent).to_string().as_bytes(), &mut gate);
        assert_eq!(gate.1, 1, "{agent:?} reads its call");
        assert!(!lets_run(agent, &reply), "{agent:?}: {reply:?}");
        assert_eq!(
            format!("{}\n", reason_in(&reply)),
            reply.stderr,
            "{agent:?}"
        );
        assert!(reply.stderr.contains("because"), "{agent:?}");
    }
}

#[test]
fn what_cannot_be_judged_is_denied_by_every_agent() {
    for agent in Agent::ALL {
        let payload = shell_call(agent).to_string();
        let reply = answered(agent, payload.as_bytes(), &mut Always(None, 0));
        assert!(!lets_run(agent, &reply), "{agent:?}: {reply:?}");
        assert!(
            reply.stderr.contains("the working directory is not text"),
            "{agent:?}"
        );
        let words = agent.last_words();
        let last = Reply {
            stdout: words.stdout.to_owned(),
            stderr: format!("{}it broke\n", words.stderr),
            code: u8::try_from(words.code).unwrap(),
            must_be_heard: false,
        };
        assert!(!lets_run(agent, &last), "{agent:?}");
        assert!(words.deadline < Duration::from_secs(10));
    }
}

#[test]
fn a_question_is_put_in_the_agents_own_dialog_or_the_call_is_denied() {
    let asks = [
        (Agent::ClaudeCode, "/hookSpecificOutput/permissionDecision"),
        (Agent::Qwen, "/hookSpecificOutput/permissionDecision"),
        (Agent::Gemini, "/decision"),
        (Agent::Copilot, "/permissionDecision"),
    ];
    for agent in Agent::ALL {
        let mut gate = Always(Some(decided(Verdict::Ask, Method::ToolPolicy)), 0);
        let reply = answered(agent, shell_call(agent).to_string().as_bytes(), &mut gate);
        match asks.iter().find(|(asking, _)| *asking == agent) {
            Some((_, place)) => {
                let words: Value = serde_json::from_str(&reply.stdout).unwrap();
                assert_eq!(words.pointer(place).unwrap(), "ask", "{agent:?}");
                assert!(reply.must_be_heard);
            }
            None => {
                assert!(!lets_run(agent, &reply), "{agent:?}: {reply:?}");
                let reason = reason_in(&reply);
                assert!(reason.contains("holdpoint serve"), "{agent:?}: {reason}");
                assert!(reason.chars().count() < 2000);
            }
        }
    }
    let shell = json!({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": "/"});
    let mut gate = Always(Some(decided(Verdict::Ask, Method::ToolPolicy)), 0);
    let reply = answered(Agent::Cursor, shell.to_string().as_bytes(), &mut gate);
    assert!(reply.stdout.contains(r#""permission":"ask""#), "{reply:?}");
}

#[test]
fn changed_arguments_are_handed_over_or_the_call_is_denied() {
    let places = [
        (
            Agent::ClaudeCode,
            "/hookSpecificOutput/updatedInput/command",
        ),
        (Agent::Codex, "/hookSpecificOutput/updatedInput/command"),
        (Agent::Gemini, "/hookSpecificOutput/tool_input/command"),
        (Agent::Copilot, "/modifiedArgs/command"),
        (Agent::Cursor, "/updated_input/command"),
        (Agent::OpenCode, "/args/command"),
        (Agent::Cline, "/overrideInput/commands/0"),
    ];
    let mut input = Map::new();
    input.insert("command".into(), json!("ls -la"));
    let changed = HookDecision {
        edited: Some(input),
        ..decided(Verdict::Allow, Method::UserApproved)
    };
    for agent in Agent::ALL {
        let mut gate = Always(Some(changed.clone()), 0);
        let reply = answered(agent, shell_call(agent).to_string().as_bytes(), &mut gate);
        match places.iter().find(|(takes, _)| *takes == agent) {
            Some((_, place)) => {
                let words: Value = serde_json::from_str(&reply.stdout).unwrap();
                assert_eq!(words.pointer(place).unwrap(), "ls -la", "{agent:?}");
                assert!(reply.must_be_heard, "{agent:?}");
            }
            None => {
                assert!(!lets_run(agent, &reply), "{agent:?}: {reply:?}");
                assert!(reason_in(&reply).contains("changed"), "{agent:?}");
            }
        }
    }
}

/// A gate that judges so, and has nothing to say of anything else.
struct Judging<F>(F);

impl<F: FnMut(HookCall) -> Result<HookDecision, EngineError>> Gatekeeper for Judging<F> {
    fn judge(&mut self, asked: HookCall) -> Result<HookDecision, EngineError> {
        (self.0)(asked)
    }
    fn stand_by(&mut self, _: Reply) {}
    fn result(&mut self, _: &Returned) -> Result<Inspected, EngineError> {
        Ok(Inspected::default())
    }
    fn prompt(&mut self, _: &Prompted) -> Result<Inspected, EngineError> {
        Ok(Inspected::default())
    }
    fn changed(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }
    fn turn_ended(&mut self, _: &str) -> Result<(), EngineError> {
        Ok(())
    }
}

#[test]
fn of_several_commands_the_strictest_answer_counts() {
    let mut picky = Judging(|asked: HookCall| {
        let bad = asked.call.command_line().as_deref() == Some("rm x");
        assert!(asked.patience.unwrap() <= Duration::from_secs(30));
        Ok(if bad {
            decided(Verdict::Deny, Method::Guard)
        } else {
            decided(Verdict::Allow, Method::Whitelist)
        })
    });
    for commands in [["cat <<E", "rm x", "ls"], ["rm x", "ls", "ls"]] {
        let mut payload = shell_call(Agent::Cline);
        payload["tool_call"]["input"]["commands"] = json!(commands);
        let reply = Agent::Cline.answer(payload.to_string().as_bytes(), &mut picky);
        assert!(!lets_run(Agent::Cline, &reply.unwrap()));
    }
}

#[test]
fn cursor_always_hears_something() {
    let mut gate = Always(Some(decided(Verdict::Allow, Method::NoObjection)), 0);
    let payload = shell_call(Agent::Cursor).to_string();
    let reply = answered(Agent::Cursor, payload.as_bytes(), &mut gate);
    assert_eq!(reply.stdout, "{\"permission\":\"allow\"}\n");
}

#[test]
fn an_mcp_tool_has_one_name() {
    for (agent, payload) in [
        (
            Agent::Codex,
            json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__demo__delete_item", "tool_input": {"id": "42"}}),
        ),
        (
            Agent::Gemini,
            json!({"hook_event_name": "BeforeTool", "tool_name": "mcp_demo_delete_item", "tool_input": {"id": "42"}, "mcp_context": {"server_name": "demo", "tool_name": "delete_item"}}),
        ),
        (
            Agent::Cursor,
            json!({"hook_event_name": "beforeMCPExecution", "tool_name": "delete_item", "tool_input": "{\"id\":\"42\"}", "mcp_server_name": "demo", "command": "python3 server.py"}),
        ),
        (
            Agent::Copilot,
            json!({"hookName": "permissionRequest", "toolName": "demo/delete_item", "toolInput": {"id": "42"}}),
        ),
        (
            Agent::Windsurf,
            json!({"agent_action_name": "pre_mcp_tool_use", "tool_info": {"mcp_server_name": "demo", "mcp_tool_name": "delete_item", "mcp_tool_arguments": {"id": "42"}}}),
        ),
        (
            Agent::Kiro,
            json!({"hook_event_name": "preToolUse", "tool_name": "@demo/delete_item", "tool_input": {"id": "42"}}),
        ),
        (
            Agent::Goose,
            json!({"event": "PreToolUse", "tool_name": "demo__delete_item", "tool_input": {"id": "42"}}),
        ),
        (
            Agent::Generic,
            json!({"server": "demo", "tool": "delete_item", "input": {"id": "42"}}),
        ),
    ] {
        let mut tool = String::new();
        let mut gate = Judging(|asked: HookCall| {
            asked.call.tool().clone_into(&mut tool);
            Err(EngineError::Directory)
        });
        let _ = agent.answer(payload.to_string().as_bytes(), &mut gate);
        assert_eq!(tool, "mcp__demo__delete_item", "{agent:?}");
    }
}

/// Values a payload may be made of: any, but with the names agents use.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z_ /\\PC]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "PreToolUse",
            "preToolUse",
            "PermissionRequest",
            "permissionRequest",
            "BeforeTool",
            "beforeShellExecution",
            "tool.execute.before",
            "tool_call",
            "pre_run_command",
            "before_call",
            "Bash",
            "run_commands",
            "ls",
            "Someday",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let key = prop_oneof![
            prop::sample::select(vec![
                "hook_event_name",
                "hookName",
                "event",
                "agent_action_name",
                "tool_name",
                "toolName",
                "tool",
                "tool_input",
                "toolArgs",
                "args",
                "input",
                "tool_info",
                "command_line",
                "command",
                "commands",
                "tool_call",
                "name",
                "cwd",
                "session_id",
            ])
            .prop_map(str::to_owned),
            "[a-z_]{1,8}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Whatever was sent: a call that reached the gate is denied, and what did not was refused with a
/// text, or was no call at all.
fn never_lets_run(payload: &[u8]) -> Result<(), TestCaseError> {
    for agent in Agent::ALL {
        let mut gate = Always(Some(decided(Verdict::Deny, Method::Guard)), 0);
        let outcome = agent.answer(payload, &mut gate);
        let refused = outcome.is_err();
        let reply = outcome.unwrap_or_else(|problem| agent.refusal(&problem));
        prop_assert!(!reply.stdout.contains("\"allow\""), "{agent:?}: {reply:?}");
        if gate.1 > 0 {
            prop_assert!(!lets_run(agent, &reply), "{agent:?}: {reply:?}");
        }
        if !lets_run(agent, &reply) {
            prop_assert!(reason_in(&reply).starts_with("Holdpoint denied this"));
            prop_assert!(reply.stderr.len() > 20);
        } else if refused {
            // After a call, or of a message: there nothing runs by it.
            let seen = glimpse::Glimpse::from_payload(payload);
            prop_assert!(seen.event.is_some(), "{agent:?}: {reply:?}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn no_json_is_an_allow(value in any_value()) {
        never_lets_run(value.to_string().as_bytes())?;
    }

    #[test]
    fn no_bytes_are_an_allow(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        never_lets_run(&bytes)?;
    }

    #[test]
    fn a_call_that_is_cut_or_changed_is_no_allow(
        agent in prop::sample::select(Agent::ALL.to_vec()),
        cut in 0usize..200,
        byte in any::<u8>(),
    ) {
        let mut payload = shell_call(agent).to_string().into_bytes();
        let place = cut % payload.len();
        never_lets_run(&payload[..place])?;
        payload[place] = byte;
        never_lets_run(&payload)?;
    }
}

#[test]
fn a_denial_by_exit_code_is_one_where_the_agent_heeds_it_and_words_elsewhere() {
    let heeding = [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::Qwen];
    let words = decided(Verdict::Deny, Method::Blacklist);
    let code = HookDecision {
        reply: ReplyForm::ExitCode,
        ..words.clone()
    };
    for agent in Agent::ALL {
        let payload = shell_call(agent).to_string();
        let answer = |decision: &HookDecision| {
            answered(
                agent,
                payload.as_bytes(),
                &mut Always(Some(decision.clone()), 0),
            )
        };
        let reply = answer(&code);
        if heeding.contains(&agent) {
            assert_eq!((reply.code, reply.stdout.as_str()), (2, ""), "{agent:?}");
            assert!(reply.stderr.starts_with("\u{1f6d1} BLOCKED: "), "{reply:?}");
        } else {
            assert_eq!(reply, answer(&words), "{agent:?}");
        }
    }
}

/// Where the end of a turn cannot be remembered.
struct Forgetful;

impl Gatekeeper for Forgetful {
    fn judge(&mut self, _: HookCall) -> Result<HookDecision, EngineError> {
        Err(EngineError::Directory)
    }
    fn stand_by(&mut self, _: Reply) {}
    fn result(&mut self, _: &Returned) -> Result<Inspected, EngineError> {
        Err(EngineError::Directory)
    }
    fn prompt(&mut self, _: &Prompted) -> Result<Inspected, EngineError> {
        Err(EngineError::Directory)
    }
    fn changed(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }
    fn turn_ended(&mut self, session: &str) -> Result<(), EngineError> {
        assert_eq!(session, holdpoint_engine::NO_SESSION);
        Err(EngineError::Directory)
    }
}

#[test]
fn the_end_of_a_turn_makes_no_agent_go_on() {
    for (agent, event) in [
        (Agent::ClaudeCode, "Stop"),
        (Agent::Codex, "Stop"),
        (Agent::Qwen, "Stop"),
        (Agent::Gemini, "AfterAgent"),
        (Agent::Kiro, "stop"),
    ] {
        let payload = json!({"hook_event_name": event}).to_string();
        let problem = agent
            .answer(payload.as_bytes(), &mut Forgetful)
            .unwrap_err();
        let reply = agent.refusal(&problem);
        assert_eq!((reply.code, reply.stdout.as_str()), (0, ""), "{agent:?}");
        assert!(!reply.stderr.is_empty(), "{agent:?}");
    }
}
