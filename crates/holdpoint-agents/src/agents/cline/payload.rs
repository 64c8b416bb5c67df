//! Cline's words. It minds no exit code: only a word on standard output keeps a call from running,
//! and that ends the agent's whole run.

use std::time::Duration;

use holdpoint_core::StrictValue;
use holdpoint_sandbox::last_words::LastWords;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hook::adapter::{Adapter, Heard, HookReply, Seen};
use crate::hook::events::{self, BEFORE_CALL, Event, Events, TURN_ENDS};
use crate::hook::reading::{Facts, parsed};
use crate::hook::{HookPoint, Problem, Question, Returned, When, wording};

pub(crate) struct Cline;

impl Adapter for Cline {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        parsed::<Payload>(self, payload)?.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        match said {
            HookReply::Deny => Some(cancelled(reason)),
            HookReply::Edited(input) if point == HookPoint::BeforeCommand => {
                let command = input.get("command")?;
                Some(
                    json!({"overrideInput": {"commands": [command]}, "context": wording::RAN_CHANGED}),
                )
            }
            HookReply::Edited(input) if point == HookPoint::BeforeCall => {
                Some(json!({"overrideInput": input, "context": wording::RAN_CHANGED}))
            }
            HookReply::Nothing
            | HookReply::Allow
            | HookReply::Tell
            | HookReply::Ask
            | HookReply::Edited(_) => None,
        }
    }

    fn of_result(&self, _: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        match seen {
            Seen::Noted(note) | Seen::Withheld(note) => Some(json!({"context": note})),
            Seen::Stripped(..) | Seen::Cleaned(..) => None,
        }
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        match heard {
            Heard::Stopped(note) => Some(cancelled(note)),
            Heard::Passes | Heard::Warned(_) => None,
        }
    }

    fn of_refusal(&self, _: HookPoint, reason: &str) -> Option<Value> {
        Some(cancelled(reason))
    }

    fn patience(&self) -> Option<Duration> {
        // It waits for two minutes, whatever it is told.
        Some(Duration::from_secs(90))
    }

    fn last_words(&self) -> LastWords {
        LastWords {
            stdout: concat!(
                r#"{"cancel":true,"errorMessage":"Holdpoint denied this, "#,
                r#"because it could not judge it."}"#,
                "\n"
            ),
            stderr: wording::REFUSED,
            code: 0,
            deadline: Duration::from_secs(5),
            memory: 2 << 30,
        }
    }
}

fn cancelled(reason: &str) -> Value {
    json!({"cancel": true, "errorMessage": reason})
}

/// What its scripts read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    hook_name: Option<String>,
    task_id: Option<String>,
    workspace_roots: Option<Vec<String>>,
    #[serde(rename = "agent_id")]
    agent_id: Option<String>,
    #[serde(rename = "tool_call")]
    tool_call: Option<Called>,
    #[serde(rename = "tool_result")]
    tool_result: Option<Called>,
    prompt: Option<StrictValue>,
    user_prompt_submit: Option<Submitted>,
}

/// A call, or what came of one.
#[derive(Deserialize)]
struct Called {
    name: Option<String>,
    input: Option<StrictValue>,
    output: Option<StrictValue>,
    error: Option<StrictValue>,
}

#[derive(Deserialize)]
struct Submitted {
    prompt: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.hook_name.as_deref());
        let told = self
            .user_prompt_submit
            .and_then(|submitted| submitted.prompt);
        let called = if event == Event::Result {
            self.tool_result
        } else {
            self.tool_call
        };
        let (mut tool, mut input, mut response) = (None, Value::Null, None);
        if let Some(called) = called {
            tool = called.name;
            input = called.input.map_or(Value::Null, |StrictValue(it)| it);
            response = called.output.or(called.error).map(|StrictValue(it)| it);
        }
        let facts = |tool, input, response| Facts {
            tool,
            input,
            response,
            prompt: self
                .prompt
                .clone()
                .or(told.clone())
                .map(|StrictValue(it)| it),
            session: self.task_id.clone(),
            directory: self.workspace_roots.iter().flatten().next().cloned(),
            agent_name: self.agent_id.clone(),
            ..Facts::default()
        };
        if event != BEFORE_CALL || tool.as_deref() != Some(COMMANDS) {
            return facts(tool, input, response).question(event);
        }
        let before = HookPoint::BeforeCommand;
        let listed = commands(&input)?;
        let asked = |command: &&str| {
            facts(Some(COMMANDS.to_owned()), json!({"command": command}), None).call(before)
        };
        let mut calls = listed.iter().map(asked).collect::<Result<Vec<_>, _>>()?;
        match (calls.pop(), calls.is_empty()) {
            (Some(only), true) => Ok(Question::Call(Box::new(only))),
            (last, _) => {
                calls.extend(last);
                Ok(Question::Calls(calls))
            }
        }
    }
}

/// The tool that runs commands, each in a shell of its own.
const COMMANDS: &str = "run_commands";

/// The most commands of one call that are judged: far more than a model puts into one. A call with more is refused,
/// since those behind would run unseen.
const MAX_COMMANDS: usize = 100;

/// The commands of a call. Each is judged by itself: together they would read as one script.
fn commands(input: &Value) -> Result<Vec<&str>, Problem> {
    let unread = |text: &str| Problem::at(When::Call(HookPoint::BeforeCommand), text);
    let listed = match input.get("commands") {
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(Value::String(one)) => Some(vec![one.as_str()]),
        Some(_) | None => None,
    };
    let listed: Vec<&str> =
        listed.ok_or_else(|| unread("the call of run_commands has no list of `commands`"))?;
    match listed.len() {
        0 => Err(unread("the call of run_commands has no commands")),
        1..=MAX_COMMANDS => Ok(listed),
        _ => Err(unread("the call of run_commands has too many commands")),
    }
}

const EVENTS: Events = &[
    ("tool_call", BEFORE_CALL),
    ("PreToolUse", BEFORE_CALL),
    ("tool_result", Event::Result),
    ("PostToolUse", Event::Result),
    ("prompt_submit", Event::Prompt),
    ("UserPromptSubmit", Event::Prompt),
    ("agent_start", Event::Tells),
    ("agent_resume", Event::Tells),
    ("agent_error", Event::Tells),
    ("agent_end", TURN_ENDS),
    ("agent_abort", TURN_ENDS),
    ("session_shutdown", TURN_ENDS),
    ("pre_compact", Event::Tells),
    ("TaskStart", Event::Tells),
    ("TaskResume", Event::Tells),
    ("TaskCancel", TURN_ENDS),
    ("TaskComplete", TURN_ENDS),
    ("TaskError", TURN_ENDS),
    ("PreCompact", Event::Tells),
    ("SessionShutdown", TURN_ENDS),
];
