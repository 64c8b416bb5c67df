//! Qwen Code's words, most of them Claude Code's. Arguments that are handed over it does not always
//! take, so a call a person changed is denied.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{Adapter, Heard, Said, Seen};
use super::events::{self, BEFORE_CALL, BEFORE_PROMPT, Event, Events, TURN_ENDS};
use super::reading::{Facts, read, readable};
use super::{Moment, Problem, Question, Returned, nested};

pub(super) struct Qwen;

impl Adapter for Qwen {
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
            (Moment::BeforeCall, Said::Allow) => Some(nested::permission("allow", reason)),
            (Moment::BeforeCall, Said::Ask) => Some(nested::permission("ask", reason)),
            (Moment::BeforeCall, Said::Deny) => Some(nested::permission("deny", reason)),
            (Moment::BeforePrompt, Said::Deny) => Some(nested::denial(reason)),
            (Moment::BeforeCall | Moment::BeforePrompt, Said::Tell) => {
                Some(json!({"systemMessage": reason}))
            }
            (
                _,
                Said::Nothing | Said::Allow | Said::Ask | Said::Tell | Said::Edited(_) | Said::Deny,
            ) => None,
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
        let instead = |text: String| Some(json!({"continue": false, "stopReason": text}));
        match seen {
            Seen::Noted(note) => Some(nested::note("PostToolUse", note)),
            Seen::Stripped(_, note) => note.map(|note| nested::note("PostToolUse", note)),
            Seen::Cleaned(value, note) => {
                let shown = value.get("llmContent").unwrap_or(value);
                instead(format!("{note}\n\n{}", readable(shown)))
            }
            Seen::Withheld(notice) => instead(notice.to_owned()),
        }
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        nested::prompt(heard)
    }

    fn of_refusal(&self, moment: Moment, reason: &str) -> Option<Value> {
        (moment == Moment::BeforePrompt).then(|| nested::denial(reason))
    }
}

/// What its hooks read.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    permission_mode: Option<String>,
    prompt_id: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
    tool_response: Option<StrictValue>,
    error: Option<StrictValue>,
    prompt: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.hook_event_name.as_deref());
        let response = if event == Event::Failure {
            self.error
        } else {
            self.tool_response
        };
        Facts {
            tool: self.tool_name,
            input: self.tool_input.map_or(Value::Null, |StrictValue(it)| it),
            response: response.map(|StrictValue(it)| it),
            prompt: self.prompt.map(|StrictValue(it)| it),
            session: self.session_id,
            directory: self.cwd,
            agent_type: self.agent_type,
            agent_name: self.agent_id,
            more: vec![
                ("permission_mode", self.permission_mode),
                ("prompt_id", self.prompt_id),
            ],
            replaceable: |_, _| true,
        }
        .question(event)
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
