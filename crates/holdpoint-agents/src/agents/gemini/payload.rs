//! Gemini CLI's words. Whatever JSON stands on standard output decides, whatever the exit code is;
//! with nothing there, exit code 2 and a text on standard error are a denial.

use serde_json::{Map, Value, json};

use super::own_rules;
use crate::hook::adapter::{Adapter, Heard, HookReply, Seen};
use crate::hook::events::{BEFORE_CALL, Event, Events, TURN_ENDS};
use crate::hook::reading::Facts;
use crate::hook::{HookPoint, Problem, Question, Returned, nested};
use crate::own_rules::{Circumstances, Rules};

pub(crate) struct Gemini;

impl Adapter for Gemini {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        nested::question(self, payload, Facts::replaceable)
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn shell_tool(&self) -> Option<&'static str> {
        Some("run_shell_command")
    }

    fn own_rules(&self, around: &Circumstances<'_>) -> Option<Rules> {
        Some(own_rules::read(around))
    }

    fn heeds_exit_code(&self, point: HookPoint) -> bool {
        point == HookPoint::BeforeCall
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        let decision = |word: &str| Some(json!({"decision": word, "reason": reason}));
        match (point, said) {
            (HookPoint::BeforeCall, HookReply::Allow) => decision("allow"),
            (HookPoint::BeforeCall, HookReply::Ask) => decision("ask"),
            (_, HookReply::Deny) => decision("deny"),
            (HookPoint::BeforeCall, HookReply::Edited(input)) => Some(json!({
                "decision": "allow",
                "reason": reason,
                "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": input},
            })),
            (HookPoint::BeforeCall, HookReply::Tell) => Some(json!({"systemMessage": reason})),
            (
                _,
                HookReply::Nothing
                | HookReply::Allow
                | HookReply::Ask
                | HookReply::Tell
                | HookReply::Edited(_),
            ) => None,
        }
    }

    fn of_replaced(
        &self,
        point: HookPoint,
        input: &Map<String, Value>,
        _reason: &str,
        _note: &str,
    ) -> Option<Value> {
        // Without a decision its own policy decides, as it would have.
        (point == HookPoint::BeforeCall).then(
            || json!({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": input}}),
        )
    }

    fn of_result(&self, _: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        // What is denied here is replaced by the reason.
        nested::result(
            "AfterTool",
            seen,
            |text| json!({"decision": "deny", "reason": text}),
        )
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
