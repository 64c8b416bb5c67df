//! Kiro's words: exit code 2 and a line on standard error are a denial, and there are no others.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::Value;

use super::adapter::{Adapter, Said};
use super::events::{self, BEFORE_CALL, Event, Events, TURN_ENDS};
use super::reading::{Facts, mcp_tool, read};
use super::{Moment, Problem, Question};

pub(super) struct Kiro;

impl Adapter for Kiro {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        let read: Payload =
            read(payload).map_err(|text| self.unreadable(payload.as_bytes(), text))?;
        read.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, _: Moment, _: Said<'_>, _: &str) -> Option<Value> {
        None
    }
}

/// What its hooks read.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
    tool_response: Option<StrictValue>,
    prompt: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.hook_event_name.as_deref());
        Facts {
            tool: self.tool_name.map(named),
            input: self.tool_input.map_or(Value::Null, |StrictValue(it)| it),
            response: self.tool_response.map(|StrictValue(it)| it),
            prompt: self.prompt.map(|StrictValue(it)| it),
            session: self.session_id,
            directory: self.cwd,
            ..Facts::default()
        }
        .question(event)
    }
}

/// A tool under the name it has elsewhere: `@server/tool` is an MCP server's.
fn named(tool: String) -> String {
    match tool.strip_prefix('@').and_then(|name| name.split_once('/')) {
        Some((server, name)) => mcp_tool(server, name),
        None => tool,
    }
}

const EVENTS: Events = &[
    ("preToolUse", BEFORE_CALL),
    ("PreToolUse", BEFORE_CALL),
    ("postToolUse", Event::Result),
    ("PostToolUse", Event::Result),
    ("userPromptSubmit", Event::Prompt),
    ("UserPromptSubmit", Event::Prompt),
    ("agentSpawn", Event::Tells),
    ("SessionStart", Event::Tells),
    ("stop", TURN_ENDS),
    ("Stop", TURN_ENDS),
];
