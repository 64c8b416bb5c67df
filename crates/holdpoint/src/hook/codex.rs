//! Codex's words. It voids an answer that has one field or word too many, and then runs the call: no
//! question can be put to its user here, and no call be allowed that was not changed.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{Adapter, Heard, Said, Seen};
use super::events::{self, BEFORE_CALL, BEFORE_PROMPT, Event, Events, TURN_ENDS};
use super::reading::{Facts, read, readable};
use super::wording::RAN_CHANGED;
use super::{Moment, Problem, Question, Returned, nested};

pub(super) struct Codex;

impl Adapter for Codex {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        let read: Payload =
            read(payload).map_err(|text| self.unreadable(payload.as_bytes(), text))?;
        read.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, moment: Moment, said: Said<'_>, reason: &str) -> Option<Value> {
        match (moment, said) {
            (Moment::BeforeCall, Said::Deny) => Some(nested::permission("deny", reason)),
            (Moment::BeforeCall, Said::Edited(input)) => Some(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": input,
                "additionalContext": RAN_CHANGED,
            }})),
            (Moment::BeforePrompt, Said::Deny) => Some(nested::denial(reason)),
            (Moment::BeforePrompt, Said::Allow) => Some(json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "allow"},
            }})),
            (Moment::BeforeCall | Moment::BeforePrompt, Said::Tell) => {
                Some(json!({"systemMessage": reason}))
            }
            (
                _,
                Said::Nothing | Said::Allow | Said::Ask | Said::Tell | Said::Edited(_) | Said::Deny,
            ) => None,
        }
    }

    fn of_result(&self, _: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        // What is blocked here is replaced by the reason.
        let instead = |text: String| Some(json!({"decision": "block", "reason": text}));
        match seen {
            Seen::Noted(note) => Some(nested::note("PostToolUse", note)),
            // That would look like a failure, and nothing of what is left speaks to the model.
            Seen::Stripped(_, note) => note.map(|note| nested::note("PostToolUse", note)),
            Seen::Cleaned(value, note) => instead(format!("{note}\n\n{}", readable(value))),
            Seen::Withheld(notice) => instead(notice.to_owned()),
        }
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        nested::prompt(heard)
    }
}

/// What its hooks read.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    turn_id: Option<String>,
    cwd: Option<String>,
    permission_mode: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
    tool_response: Option<StrictValue>,
    prompt: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.hook_event_name.as_deref());
        Facts {
            tool: self.tool_name,
            input: self.tool_input.map_or(Value::Null, |StrictValue(it)| it),
            response: self.tool_response.map(|StrictValue(it)| it),
            prompt: self.prompt.map(|StrictValue(it)| it),
            session: self.session_id,
            directory: self.cwd,
            more: vec![
                ("permission_mode", self.permission_mode),
                ("prompt_id", self.turn_id),
            ],
            replaceable: |_, _| true,
            ..Facts::default()
        }
        .question(event)
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
