//! Codex's words. It voids an answer that has one field or word too many, and then runs the call: no
//! question can be put to its user here, and no call be allowed that was not changed.

use serde_json::{Map, Value, json};

use super::own_rules;
use crate::hook::adapter::{Adapter, Heard, HookReply, Seen};
use crate::hook::events::{BEFORE_CALL, BEFORE_PROMPT, Event, Events, TURN_ENDS};
use crate::hook::reading::Facts;
use crate::hook::wording::RAN_CHANGED;
use crate::hook::{HookPoint, Problem, Question, Returned, nested};
use crate::own_rules::{Circumstances, Rules};

pub(crate) struct Codex;

impl Adapter for Codex {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        nested::question(self, payload, Facts::replaceable)
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn shell_tool(&self) -> Option<&'static str> {
        Some("Bash")
    }

    fn own_rules(&self, around: &Circumstances<'_>) -> Option<Rules> {
        Some(own_rules::read(around))
    }

    fn heeds_exit_code(&self, point: HookPoint) -> bool {
        point == HookPoint::BeforeCall
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        match (point, said) {
            (HookPoint::BeforeCall, HookReply::Edited(input)) => {
                Some(json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "updatedInput": input,
                    "additionalContext": RAN_CHANGED,
                }}))
            }
            (HookPoint::BeforePrompt, HookReply::Allow) => Some(json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "allow"},
            }})),
            (_, said) => nested::call(point, said, reason),
        }
    }

    fn with_note(&self, point: HookPoint, output: Option<Value>, note: &str) -> Option<Value> {
        nested::with_note(point, output, note)
    }

    fn of_replaced(
        &self,
        point: HookPoint,
        input: &Map<String, Value>,
        _reason: &str,
        note: &str,
    ) -> Option<Value> {
        (point == HookPoint::BeforeCall).then(|| {
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": input,
                "additionalContext": note,
            }})
        })
    }

    fn of_result(&self, _: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        // What is blocked here is replaced by the reason.
        nested::result(
            "PostToolUse",
            seen,
            |text| json!({"decision": "block", "reason": text}),
        )
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        nested::prompt(heard)
    }
}

const EVENTS: Events = &[
    ("PreToolUse", BEFORE_CALL),
    ("PermissionRequest", BEFORE_PROMPT),
    ("PostToolUse", Event::Result),
    ("UserPromptSubmit", Event::Prompt),
    ("Stop", TURN_ENDS),
    ("SessionEnd", TURN_ENDS),
    ("Interrupt", TURN_ENDS),
    ("SessionStart", Event::Tells),
    ("SubagentStart", Event::Tells),
    ("SubagentStop", Event::Tells),
    ("PreCompact", Event::Tells),
    ("PostCompact", Event::Tells),
    ("PreModelRequest", Event::Tells),
    ("PostModelRequest", Event::Tells),
];
