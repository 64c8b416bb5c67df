//! Qwen Code's words, most of them Claude Code's. Arguments that are handed over it does not always
//! take, so a call a person changed is denied.

use serde_json::{Value, json};

use crate::hook::adapter::{Adapter, Heard, HookReply, Seen};
use crate::hook::events::{BEFORE_CALL, BEFORE_PROMPT, Event, Events, TURN_ENDS};
use crate::hook::reading::Facts;
use crate::hook::{HookPoint, Problem, Question, Returned, nested};

pub(crate) struct Qwen;

impl Adapter for Qwen {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        nested::question(self, payload, Facts::replaceable)
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn heeds_exit_code(&self, point: HookPoint) -> bool {
        point == HookPoint::BeforeCall
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        match (point, said) {
            (HookPoint::BeforeCall, HookReply::Allow) => Some(nested::permission("allow", reason)),
            (HookPoint::BeforeCall, HookReply::Ask) => Some(nested::permission("ask", reason)),
            (_, said) => nested::call(point, said, reason),
        }
    }

    fn of_result(&self, returned: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        if returned.is_some_and(|returned| returned.failed) {
            return match seen {
                Seen::Noted(note) => Some(nested::note("PostToolUseFailure", note)),
                Seen::Stripped(..) | Seen::Cleaned(..) | Seen::Withheld(_) => None,
            };
        }
        // What stops it here stands in the place of the result.
        nested::result(
            "PostToolUse",
            seen,
            |text| json!({"continue": false, "stopReason": text}),
        )
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        nested::prompt(heard)
    }

    fn of_refusal(&self, point: HookPoint, reason: &str) -> Option<Value> {
        (point == HookPoint::BeforePrompt).then(|| nested::denial(reason))
    }
}

const EVENTS: Events = &[
    ("PreToolUse", BEFORE_CALL),
    ("PermissionRequest", BEFORE_PROMPT),
    ("PostToolUse", Event::Result),
    ("PostToolUseFailure", Event::Failure),
    ("UserPromptSubmit", Event::Prompt),
    ("Stop", TURN_ENDS),
    ("SessionEnd", TURN_ENDS),
    ("SessionStart", Event::Tells),
    ("SubagentStart", Event::Tells),
    ("SubagentStop", Event::Tells),
    ("PreCompact", Event::Tells),
    ("PostCompact", Event::Tells),
    ("Notification", Event::Tells),
];
