//! Goose's words. Only before a call does it listen.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hook::adapter::{Adapter, HookReply};
use crate::hook::events::{self, BEFORE_CALL, Event, Events, TURN_ENDS};
use crate::hook::reading::{Facts, mcp_tool, parsed};
use crate::hook::{HookPoint, Problem, Question};

pub(crate) struct Goose;

impl Adapter for Goose {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        parsed::<Payload>(self, payload)?.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        match (point, said) {
            (HookPoint::BeforeCall, HookReply::Deny) => {
                Some(json!({"decision": "block", "reason": reason}))
            }
            (
                _,
                HookReply::Nothing
                | HookReply::Allow
                | HookReply::Ask
                | HookReply::Tell
                | HookReply::Edited(_)
                | HookReply::Deny,
            ) => None,
        }
    }
}

/// What its hooks read.
#[derive(Deserialize)]
struct Payload {
    event: Option<String>,
    session_id: Option<String>,
    working_dir: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.event.as_deref());
        Facts {
            tool: self.tool_name.map(canonical_name),
            input: self.tool_input.map_or(Value::Null, |StrictValue(it)| it),
            session: self.session_id,
            directory: self.working_dir,
            ..Facts::default()
        }
        .question(event)
    }
}

/// A tool under the name it has elsewhere: whatever is not its own comes from an MCP server.
fn canonical_name(tool: String) -> String {
    match tool.split_once("__") {
        Some((extension, name)) if extension != "developer" && extension != "mcp" => {
            mcp_tool(extension, name)
        }
        Some(_) | None => tool,
    }
}

const EVENTS: Events = &[
    ("PreToolUse", BEFORE_CALL),
    ("PostToolUse", Event::Tells),
    ("PostToolUseFailure", Event::Tells),
    ("UserPromptSubmit", Event::Tells),
    ("BeforeShellExecution", Event::Tells),
    ("AfterShellExecution", Event::Tells),
    ("BeforeReadFile", Event::Tells),
    ("AfterFileEdit", Event::Tells),
    ("SessionStart", Event::Tells),
    ("SessionEnd", TURN_ENDS),
    ("Stop", TURN_ENDS),
];
