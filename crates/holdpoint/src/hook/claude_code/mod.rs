//! Claude Code's words: the payloads of its hooks and the replies it understands.

mod glimpse;
mod results;

use std::time::Duration;

use holdpoint_broker::Context;
use holdpoint_core::text::Action;
use holdpoint_core::{CallError, Method, StrictValue, ToolCall, Verdict, document};
use holdpoint_sandbox::last_words::LastWords;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::glimpse::Glimpse;
use super::wording::{self, explained};
use super::{
    Adapter, Answer as Answered, Asked, Moment, Pause, Problem, Prompted, Question, Reply,
    Returned, When,
};
use crate::inspecting::Inspected;

pub(super) struct ClaudeCode;

/// The exit code that blocks a call, whatever stands on standard output.
const BLOCK: u8 = 2;

impl Adapter for ClaudeCode {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        match serde_json::from_str::<Payload>(payload) {
            // The reader would also take an array for an object.
            Ok(read) if payload.trim_start().starts_with('{') => read.question(),
            Ok(_) => Err(Problem::new("the agent's message is not a JSON object")),
            Err(_) if payload.trim().is_empty() => {
                Err(Problem::new("the agent sent no message on standard input"))
            }
            Err(error) => Err(self.unreadable(payload.as_bytes(), fault(payload, &error))),
        }
    }

    fn unreadable(&self, payload: &[u8], text: String) -> Problem {
        let seen = Glimpse::of(payload);
        let when = match seen.event.as_deref() {
            Some("PostToolUse" | "PostToolUseFailure") => {
                When::Result(seen.returned().map(Box::new))
            }
            Some("UserPromptSubmit") => When::Prompt,
            Some(_) | None => return Problem::new(text),
        };
        Problem::at(when, text)
    }

    fn reply(&self, moment: Moment, answered: &Answered) -> Reply {
        let decision = &answered.decision;
        let answer = match (decision.verdict, decision.method) {
            (Verdict::Allow, Method::NoObjection) => return Reply::silence(),
            (Verdict::Allow, _) => Answer::Allow,
            (Verdict::Notify, _) => Answer::Tell,
            (Verdict::Ask | Verdict::Review, _) => Answer::Ask,
            (Verdict::Deny, _) => Answer::Deny,
        };
        let reason = explained(decision);
        match &answered.edited {
            Some(input) if answer == Answer::Allow => edited(moment, input, &reason),
            Some(_) | None => replied(moment, answer, &reason),
        }
    }

    fn reply_to_result(&self, returned: &Returned, inspected: &Inspected) -> Reply {
        results::reply(returned, inspected)
    }

    fn reply_to_prompt(&self, inspected: &Inspected) -> Reply {
        let Some(note) = &inspected.note else {
            return Reply::silence();
        };
        let output = match inspected.action {
            Action::Pass | Action::Annotate => json!({"systemMessage": note}),
            // A message can be stopped, but not changed.
            Action::Quarantine | Action::Block => json!({"decision": "block", "reason": note}),
        };
        Reply {
            stdout: format!("{output}\n"),
            must_be_heard: inspected.action >= Action::Quarantine,
            ..Reply::default()
        }
    }

    fn kept_back(&self, returned: Option<&Returned>, problem: &str) -> Reply {
        results::withholding(returned, &wording::kept_back(problem))
    }

    fn refusal(&self, problem: &Problem) -> Reply {
        let text = wording::refused(&problem.text);
        match &problem.when {
            When::Result(returned) => self.kept_back(returned.as_deref(), &problem.text),
            // Whoever writes may always do so, and every call that follows is judged.
            When::Prompt => Reply {
                stdout: format!(
                    "{}\n",
                    json!({"systemMessage": wording::unseen(&problem.text)})
                ),
                ..Reply::default()
            },
            // Here the exit code counts for nothing.
            When::Call(Moment::BeforePrompt) => Reply {
                code: BLOCK,
                ..replied(Moment::BeforePrompt, Answer::Deny, &text)
            },
            When::Call(Moment::BeforeCall | Moment::Unknown) => Reply {
                stdout: String::new(),
                stderr: format!("{text}\n"),
                code: BLOCK,
                must_be_heard: false,
            },
        }
    }

    fn workspace_variable(&self) -> &'static str {
        "CLAUDE_PROJECT_DIR"
    }

    fn last_words(&self) -> LastWords {
        LastWords {
            stdout: "",
            stderr: wording::REFUSED,
            code: BLOCK.into(),
            // Half of what `holdpoint init` tells the agent to wait.
            deadline: Duration::from_secs(5),
            memory: 2 << 30,
        }
    }
}

/// What a hook reads; it has more fields, and newer agents have others.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
    tool_response: Option<StrictValue>,
    /// Why a call failed; other events have other errors.
    error: Option<StrictValue>,
    prompt: Option<StrictValue>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    permission_mode: Option<String>,
    prompt_id: Option<String>,
    notification_type: Option<String>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let moment = match self.hook_event_name.as_deref() {
            None | Some("PreToolUse") => Moment::BeforeCall,
            Some("PermissionRequest") => Moment::BeforePrompt,
            Some("PostToolUse") => return self.result(Outcome::Returned),
            Some("PostToolUseFailure") => return self.result(Outcome::Failed),
            Some("UserPromptSubmit") => return self.message(),
            Some("Stop" | "SessionEnd") => return Ok(self.pauses(Pause::Turn)),
            Some("Notification") if self.notification_type.as_deref() == Some("idle_prompt") => {
                return Ok(self.pauses(Pause::Idle));
            }
            Some(event) if TELLS.contains(&event) => return Ok(Question::None),
            Some(_) => Moment::Unknown,
        };
        let input = self.tool_input.map_or(Value::Null, |StrictValue(it)| it);
        let said = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
        let context = Context {
            session_id: self.session_id.clone(),
            request_source: Some("hook".into()),
            intent: said("description"),
            agent_type: self.agent_type,
            agent_name: self.agent_id,
            more: [
                ("permission_mode", self.permission_mode),
                ("prompt_id", self.prompt_id),
            ]
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), Value::String(value?))))
            .collect(),
            ..Context::default()
        };
        let called = self.tool_name.filter(|name| !name.trim().is_empty());
        call_of(called, input)
            .map(|call| {
                Question::Call(Box::new(Asked {
                    call,
                    session: self.session_id,
                    directory: self.cwd.filter(|cwd| !cwd.is_empty()),
                    context,
                    moment,
                }))
            })
            .map_err(|text| Problem::at(When::Call(moment), text))
    }

    fn result(self, outcome: Outcome) -> Result<Question, Problem> {
        let unread = |text: &str| Err(Problem::at(When::Result(None), text));
        let Some(tool) = self.tool_name.filter(|name| !name.trim().is_empty()) else {
            return unread("the agent's message does not say which tool it is about");
        };
        if SILENT.contains(&tool.as_str()) {
            return Ok(Question::None);
        }
        let (response, failed) = match outcome {
            Outcome::Returned => (self.tool_response, false),
            Outcome::Failed => (self.error, true),
        };
        let Some(StrictValue(response)) = response else {
            return unread("the agent's message does not say what the tool returned");
        };
        let input = self.tool_input.map_or(Value::Null, |StrictValue(it)| it);
        match ToolCall::new(tool, input.clone()) {
            Ok(call) => Ok(Question::Result(Box::new(Returned {
                replaceable: !failed && results::can_be_replaced(call.tool(), &response),
                call,
                input,
                response,
                session: self.session_id,
                directory: self.cwd.filter(|cwd| !cwd.is_empty()),
                failed,
            }))),
            Err(error) => unread(&error.to_string()),
        }
    }

    fn message(self) -> Result<Question, Problem> {
        match self.prompt {
            Some(StrictValue(Value::String(text))) => Ok(Question::Prompt(Prompted {
                text,
                session: self.session_id,
                directory: self.cwd.filter(|cwd| !cwd.is_empty()),
            })),
            Some(_) | None => Err(Problem::at(
                When::Prompt,
                "the agent's message has no text of the user's",
            )),
        }
    }
}

/// What came of a call.
#[derive(Clone, Copy)]
enum Outcome {
    Returned,
    Failed,
}

/// The tools of which the model is told no more than that they have done what it said, or what the
/// user answered. What else the agent knows of their results, the model does not see.
const SILENT: &[&str] = &[
    "AskUserQuestion",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Write",
];

impl Payload {
    fn pauses(self, pause: Pause) -> Question {
        match self.session_id {
            Some(session) => Question::Pause { session, pause },
            None => Question::None,
        }
    }
}

/// The call a payload names. One without its tool's name is judged by the arguments it has.
fn call_of(tool: Option<String>, input: Value) -> Result<ToolCall, String> {
    let has = |key: &str| input.get(key).is_some_and(|value| !value.is_null());
    let has_path = PATHS.iter().any(|key| has(key));
    let tool = match tool {
        Some(tool) => tool,
        None => match (has("command"), has_path) {
            (true, false) => "Bash".to_owned(),
            // What a file tool does to its file is at worst to write it.
            (false, true) => "Write".to_owned(),
            (true, true) | (false, false) => {
                return Err("the agent's message does not say which tool it is about".into());
            }
        },
    };
    let missing = match tool.as_str() {
        "Bash" | "PowerShell" if !has("command") => Some("command"),
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" if !has_path => Some("file_path"),
        _ => None,
    };
    match ToolCall::new(tool, input) {
        Ok(call) => match missing {
            Some(key) => Err(format!("the call of {} has no `{key}`", call.tool())),
            None => Ok(call),
        },
        Err(CallError::InputNotObject(found)) => {
            Err(format!("`tool_input` must be an object, found {found}"))
        }
        Err(error @ (CallError::NoTool | CallError::ToolNameTooLong)) => Err(error.to_string()),
    }
}

/// The arguments in which the file tools name their file.
const PATHS: &[&str] = &["file_path", "path", "notebook_path"];

/// The events that ask for no permission to call a tool.
const TELLS: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PreCompact",
    "PreModelSwitch",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// What is wrong with a payload. The fast reader stops at the first fault; the document reader is
/// asked what to say about it.
fn fault(payload: &str, error: &serde_json::Error) -> String {
    let (line, column, message) = match document::read::<Payload>("", payload.as_bytes()) {
        Err(error) => (error.line, error.column, error.message()),
        Ok(_) => (
            error.line(),
            error.column(),
            "this is not plain JSON".into(),
        ),
    };
    format!("the agent's message cannot be read ({line}:{column}: {message})")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Allow,
    Tell,
    Ask,
    Deny,
}

/// Allows a call with the arguments a person made of it, and tells the model (J-44).
fn edited(moment: Moment, input: &Map<String, Value>, reason: &str) -> Reply {
    // Elsewhere other arguments cannot be handed over, and the old ones must not run.
    if moment != Moment::BeforeCall {
        return replied(moment, Answer::Deny, CHANGED);
    }
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": reason,
        "updatedInput": input,
        "additionalContext": "The user changed the arguments of this call before it ran. \
                              What ran is not what you asked for: go by the result.",
    }});
    Reply {
        stdout: format!("{output}\n"),
        stderr: String::new(),
        code: 0,
        // Unheard, the call would run as the agent made it.
        must_be_heard: true,
    }
}

/// Why a changed call does not run where it cannot be changed.
const CHANGED: &str = "Holdpoint denied this: a person changed its arguments, and they cannot be \
                       handed over here.";

fn replied(moment: Moment, answer: Answer, reason: &str) -> Reply {
    let permission = |word: &str| {
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": word,
            "permissionDecisionReason": reason,
        }})
    };
    let output = match (moment, answer) {
        (Moment::BeforeCall, Answer::Allow) => permission("allow"),
        (Moment::BeforeCall | Moment::Unknown, Answer::Ask) => permission("ask"),
        (Moment::BeforeCall | Moment::Unknown, Answer::Deny) => permission("deny"),
        (Moment::BeforePrompt, Answer::Deny) => json!({"hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": reason},
        }}),
        // The person is about to be asked; that a rule would allow the call was said before.
        (Moment::BeforePrompt, Answer::Ask | Answer::Allow) => return Reply::silence(),
        (Moment::Unknown, Answer::Allow) => return Reply::silence(),
        (_, Answer::Tell) => json!({"systemMessage": reason}),
    };
    let refuses = matches!(answer, Answer::Ask | Answer::Deny);
    // At a moment nobody knows, only the exit code is sure to be understood.
    let blocks = refuses && moment == Moment::Unknown;
    Reply {
        stdout: format!("{output}\n"),
        stderr: match answer {
            Answer::Deny => format!("{reason}\n"),
            Answer::Ask if blocks => format!("{reason}\n"),
            Answer::Ask | Answer::Allow | Answer::Tell => String::new(),
        },
        code: if blocks { BLOCK } else { 0 },
        must_be_heard: refuses,
    }
}
