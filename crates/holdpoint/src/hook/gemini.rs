//! Gemini CLI's words. Whatever JSON stands on standard output decides, whatever the exit code is;
//! with nothing there, exit code 2 and a text on standard error are a denial.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{Adapter, Heard, Said, Seen};
use super::events::{self, BEFORE_CALL, Event, Events, TURN_ENDS};
use super::reading::{Facts, mcp_tool, read, readable};
use super::{Moment, Problem, Question, Returned, nested};

pub(super) struct Gemini;

impl Adapter for Gemini {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        let read: Payload =
            read(payload).map_err(|text| self.unreadable(payload.as_bytes(), text))?;
        read.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, moment: Moment, said: Said<'_>, reason: &str) -> Option<Value> {
        let decision = |word: &str| Some(json!({"decision": word, "reason": reason}));
        match (moment, said) {
            (Moment::BeforeCall, Said::Allow) => decision("allow"),
            (Moment::BeforeCall, Said::Ask) => decision("ask"),
            (_, Said::Deny) => decision("deny"),
            (Moment::BeforeCall, Said::Edited(input)) => Some(json!({
                "decision": "allow",
                "reason": reason,
                "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": input},
            })),
            (Moment::BeforeCall, Said::Tell) => Some(json!({"systemMessage": reason})),
            (_, Said::Nothing | Said::Allow | Said::Ask | Said::Tell | Said::Edited(_)) => None,
        }
    }

    fn of_result(&self, _: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        // What is denied here is replaced by the reason.
        let instead = |text: String| Some(json!({"decision": "deny", "reason": text}));
        match seen {
            Seen::Noted(note) => Some(nested::note("AfterTool", note)),
            // That would look like a failure, and nothing of what is left speaks to the model.
            Seen::Stripped(_, note) => note.map(|note| nested::note("AfterTool", note)),
            Seen::Cleaned(value, note) => {
                let shown = value.get("llmContent").unwrap_or(value);
                instead(format!("{note}\n\n{}", readable(shown)))
            }
            Seen::Withheld(notice) => instead(notice.to_owned()),
        }
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        match heard {
            Heard::Passes => None,
            Heard::Warned(note) => Some(json!({"systemMessage": note})),
            Heard::Stopped(note) => Some(json!({"decision": "deny", "reason": note})),
        }
    }

    fn workspace_variable(&self) -> Option<&'static str> {
        Some("GEMINI_PROJECT_DIR")
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
    mcp_context: Option<McpContext>,
}

/// Whose tool it is.
#[derive(Deserialize)]
struct McpContext {
    server_name: Option<String>,
    tool_name: Option<String>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.hook_event_name.as_deref());
        let foreign = self.mcp_context.and_then(|context| {
            let server = context.server_name?;
            Some(mcp_tool(&server, &context.tool_name?))
        });
        Facts {
            tool: foreign.or(self.tool_name),
            input: self.tool_input.map_or(Value::Null, |StrictValue(it)| it),
            response: self.tool_response.map(|StrictValue(it)| it),
            prompt: self.prompt.map(|StrictValue(it)| it),
            session: self.session_id,
            directory: self.cwd,
            replaceable: |_, _| true,
            ..Facts::default()
        }
        .question(event)
    }
}

const EVENTS: Events = &[
    ("BeforeTool", BEFORE_CALL),
    ("AfterTool", Event::Result),
    ("BeforeAgent", Event::Prompt),
    ("AfterAgent", TURN_ENDS),
    ("SessionEnd", TURN_ENDS),
    ("SessionStart", Event::Tells),
    ("BeforeModel", Event::Tells),
    ("AfterModel", Event::Tells),
    ("BeforeToolSelection", Event::Tells),
    ("PreCompress", Event::Tells),
    ("Notification", Event::Tells),
];
