//! Holdpoint's own form, for every program that has no adapter: described in docs/generic-hook.md.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hook::adapter::{Adapter, BLOCK, Heard, HookReply, Seen};
use crate::hook::events::{self, BEFORE_CALL, Event, Events, TURN_ENDS};
use crate::hook::reading::{Facts, mcp_tool, parsed};
use crate::hook::{HookPoint, Problem, Question, Returned};

pub(crate) struct Generic;

impl Adapter for Generic {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        parsed::<Payload>(self, payload)?.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        let decision = |word: &str| Some(json!({"decision": word, "reason": reason}));
        match said {
            HookReply::Nothing => Some(json!({"decision": "none"})),
            HookReply::Allow => decision("allow"),
            HookReply::Tell => Some(json!({"decision": "none", "note": reason})),
            HookReply::Deny => decision("deny"),
            // Nobody runs a call with arguments it has not read of.
            HookReply::Edited(input) if point == HookPoint::Otherwise => {
                Some(json!({"decision": "allow", "reason": reason, "input": input}))
            }
            HookReply::Ask | HookReply::Edited(_) => None,
        }
    }

    fn of_result(&self, _: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        Some(match seen {
            Seen::Noted(note) => json!({"note": note}),
            Seen::Stripped(instead, None) => json!({"output": instead}),
            Seen::Stripped(instead, Some(note)) | Seen::Cleaned(instead, note) => {
                json!({"output": instead, "note": note})
            }
            Seen::Withheld(notice) => json!({"output": notice, "note": notice}),
        })
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        match heard {
            Heard::Passes => None,
            Heard::Warned(note) => Some(json!({"note": note})),
            Heard::Stopped(note) => Some(json!({"decision": "deny", "reason": note})),
        }
    }

    fn exit_code_of_denial(&self) -> u8 {
        BLOCK
    }

    fn workspace_variable(&self) -> Option<&'static str> {
        Some("HOLDPOINT_PROJECT_DIR")
    }
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    event: Option<String>,
    session: Option<String>,
    turn: Option<String>,
    directory: Option<String>,
    tool: Option<String>,
    /// The MCP server the tool belongs to.
    server: Option<String>,
    input: Option<StrictValue>,
    output: Option<StrictValue>,
    text: Option<StrictValue>,
    /// Whether the program runs a call with the arguments of the answer.
    takes_input: Option<bool>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let mut event = events::about(EVENTS, self.event.as_deref());
        if event == BEFORE_CALL && self.takes_input == Some(true) {
            event = Event::Call(HookPoint::Otherwise);
        }
        let tool = match (self.server, self.tool) {
            (Some(server), Some(tool)) => Some(mcp_tool(&server, &tool)),
            (_, tool) => tool,
        };
        Facts {
            tool,
            input: self.input.map_or(Value::Null, |StrictValue(it)| it),
            response: self.output.map(|StrictValue(it)| it),
            prompt: self.text.map(|StrictValue(it)| it),
            session: self.session,
            directory: self.directory,
            more: vec![("prompt_id", self.turn)],
            replaceable: |_, _| true,
            ..Facts::default()
        }
        .question(event)
    }
}

const EVENTS: Events = &[
    ("before_call", BEFORE_CALL),
    ("after_call", Event::Result),
    ("prompt", Event::Prompt),
    ("turn_end", TURN_ENDS),
];
