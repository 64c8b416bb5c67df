//! The words of Holdpoint's own plugin for OpenCode, which knows no hooks that are programs. The
//! plugin throws whatever is not a clear permission: exit code 0 and words it knows, or none.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hook::adapter::{Adapter, BLOCK, Heard, HookReply, Seen};
use crate::hook::events::{self, BEFORE_CALL, Event, Events, TURN_ENDS};
use crate::hook::reading::{Facts, parsed};
use crate::hook::{HookPoint, Problem, Question, Returned};

pub(crate) struct OpenCode;

impl Adapter for OpenCode {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        parsed::<Payload>(self, payload)?.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        match (point, said) {
            (_, HookReply::Deny) => Some(json!({"decision": "deny", "reason": reason})),
            (HookPoint::BeforeCall, HookReply::Edited(input)) => {
                Some(json!({"decision": "allow", "args": input}))
            }
            (
                _,
                HookReply::Nothing
                | HookReply::Allow
                | HookReply::Tell
                | HookReply::Ask
                | HookReply::Edited(_),
            ) => None,
        }
    }

    fn of_result(&self, returned: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        Some(match seen {
            Seen::Noted(note) => json!({"note": note}),
            Seen::Stripped(instead, None) => json!({"result": instead}),
            Seen::Stripped(instead, Some(note)) | Seen::Cleaned(instead, note) => {
                json!({"result": instead, "note": note})
            }
            // In the form it came in: a text, or the list an MCP server sends.
            Seen::Withheld(notice) => match returned.map(|returned| &returned.response) {
                Some(Value::Array(_)) => json!({"result": [{"type": "text", "text": notice}]}),
                Some(_) | None => json!({"result": notice}),
            },
        })
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        match heard {
            Heard::Passes => None,
            Heard::Warned(note) | Heard::Stopped(note) => Some(json!({"note": note})),
        }
    }

    fn exit_code_of_denial(&self) -> u8 {
        BLOCK
    }

    fn workspace_variable(&self) -> Option<&'static str> {
        Some("HOLDPOINT_PROJECT_DIR")
    }
}

/// What the plugin sends.
#[derive(Deserialize)]
struct Payload {
    event: Option<String>,
    tool: Option<String>,
    #[serde(rename = "sessionID")]
    session_id: Option<String>,
    directory: Option<String>,
    args: Option<StrictValue>,
    result: Option<StrictValue>,
    text: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.event.as_deref());
        Facts {
            tool: self.tool,
            input: self.args.map_or(Value::Null, |StrictValue(it)| it),
            response: self.result.map(|StrictValue(it)| it),
            prompt: self.text.map(|StrictValue(it)| it),
            session: self.session_id,
            directory: self.directory,
            replaceable: |_, response| response.is_string() || response.is_array(),
            ..Facts::default()
        }
        .question(event)
    }
}

const EVENTS: Events = &[
    ("tool.execute.before", BEFORE_CALL),
    ("tool.execute.after", Event::Result),
    ("chat.message", Event::Prompt),
    ("session.idle", TURN_ENDS),
];
