//! Claude Code's words: the payloads of its hooks and the replies it understands.

mod results;

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{Adapter, Heard, Said};
use super::events::{self, BEFORE_CALL, BEFORE_PROMPT, Event, Events, TURN_ENDS};
use super::glimpse::Glimpse;
use super::nested;
use super::reading::{Facts, read};
use super::wording::{self, RAN_CHANGED};
use super::{Moment, Pause, Problem, Question, Reply, Returned};
use crate::inspecting::Inspected;

pub(super) struct ClaudeCode;

impl Adapter for ClaudeCode {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        let read: Payload =
            read(payload).map_err(|text| self.unreadable(payload.as_bytes(), text))?;
        read.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, moment: Moment, said: Said<'_>, reason: &str) -> Option<Value> {
        let permission = |word: &str| Some(nested::permission(word, reason));
        match (moment, said) {
            (Moment::BeforeCall, Said::Allow) => permission("allow"),
            (Moment::BeforeCall | Moment::Unknown, Said::Ask) => permission("ask"),
            (Moment::BeforeCall | Moment::Unknown, Said::Deny) => permission("deny"),
            (Moment::BeforePrompt, Said::Deny) => Some(nested::denial(reason)),
            (Moment::BeforeCall, Said::Edited(input)) => Some(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "permissionDecisionReason": reason,
                "updatedInput": input,
                "additionalContext": RAN_CHANGED,
            }})),
            (_, Said::Tell) => Some(json!({"systemMessage": reason})),
            // That a rule would allow the call was said before; elsewhere arguments cannot be
            // handed over.
            (_, Said::Nothing | Said::Allow | Said::Ask | Said::Edited(_) | Said::Deny) => None,
        }
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        nested::prompt(heard)
    }

    fn of_refusal(&self, moment: Moment, reason: &str) -> Option<Value> {
        // Here the exit code counts for nothing.
        (moment == Moment::BeforePrompt).then(|| nested::denial(reason))
    }

    fn reply_to_result(&self, returned: &Returned, inspected: &Inspected) -> Reply {
        results::reply(returned, inspected)
    }

    fn kept_back(&self, returned: Option<&Returned>, problem: &str) -> Reply {
        results::withholding(returned, &wording::kept_back(problem))
    }

    fn glimpsed(&self, seen: Glimpse) -> Option<Box<Returned>> {
        results::glimpsed(seen).map(Box::new)
    }

    fn workspace_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_PROJECT_DIR")
    }
}

/// What a hook reads; it has more fields, and newer agents have others.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
    tool_response: Option<StrictValue>,
    /// Why a call failed; other events have other errors.
    error: Option<StrictValue>,
    prompt: Option<StrictValue>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    permission_mode: Option<String>,
    prompt_id: Option<String>,
    notification_type: Option<String>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let name = self.hook_event_name.as_deref();
        let idle = name == Some("Notification")
            && self.notification_type.as_deref() == Some("idle_prompt");
        let event = if idle {
            Event::Pause(Pause::Idle)
        } else {
            events::about(EVENTS, name)
        };
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
            replaceable: results::can_be_replaced,
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
    ("ConfigChange", Event::Tells),
    ("CwdChanged", Event::Tells),
    ("DirectoryAdded", Event::Tells),
    ("Elicitation", Event::Tells),
    ("ElicitationResult", Event::Tells),
    ("FileChanged", Event::Tells),
    ("InstructionsLoaded", Event::Tells),
    ("MessageDisplay", Event::Tells),
    ("Notification", Event::Tells),
    ("PermissionDenied", Event::Tells),
    ("PostCompact", Event::Tells),
    ("PostModelSwitch", Event::Tells),
    ("PostToolBatch", Event::Tells),
    ("PreCompact", Event::Tells),
    ("PreModelSwitch", Event::Tells),
    ("SessionStart", Event::Tells),
    ("Setup", Event::Tells),
    ("StopFailure", Event::Tells),
    ("SubagentStart", Event::Tells),
    ("SubagentStop", Event::Tells),
    ("TaskCompleted", Event::Tells),
    ("TaskCreated", Event::Tells),
    ("TeammateIdle", Event::Tells),
    ("UserPromptExpansion", Event::Tells),
    ("WorktreeCreate", Event::Tells),
    ("WorktreeRemove", Event::Tells),
];
