//! Claude Code's words: the payloads of its hooks and the replies it understands.

use serde_json::{Map, Value, json};

use super::own_rules;
use super::results;
use crate::hook::adapter::{Adapter, Heard, HookReply};
use crate::hook::events::{BEFORE_CALL, BEFORE_PROMPT, Event, Events, TURN_ENDS};
use crate::hook::glimpse::Glimpse;
use crate::hook::nested;
use crate::hook::reading::{Facts, parsed};
use crate::hook::wording::{self, RAN_CHANGED};
use crate::hook::{HookPoint, Problem, Question, Reply, Returned};
use crate::own_rules::{Circumstances, Rules};
use holdpoint_engine::inspecting::Inspected;

pub(crate) struct ClaudeCode;

impl Adapter for ClaudeCode {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        let read: nested::Payload = parsed(self, payload)?;
        let idle = read.hook_event_name.as_deref() == Some("Notification")
            && read.notification_type.as_deref() == Some("idle_prompt");
        let event = if idle { TURN_ENDS } else { read.event(EVENTS) };
        Facts {
            replaceable: results::can_be_replaced,
            ..read.facts(event)
        }
        .question(event)
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
        matches!(point, HookPoint::BeforeCall | HookPoint::Unknown)
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        let permission = |word: &str| Some(nested::permission(word, reason));
        match (point, said) {
            (HookPoint::BeforeCall, HookReply::Allow) => permission("allow"),
            (HookPoint::BeforeCall | HookPoint::Unknown, HookReply::Ask) => permission("ask"),
            (HookPoint::BeforeCall | HookPoint::Unknown, HookReply::Deny) => permission("deny"),
            (HookPoint::BeforePrompt, HookReply::Deny) => Some(nested::denial(reason)),
            (HookPoint::BeforeCall, HookReply::Edited(input)) => {
                Some(json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "permissionDecisionReason": reason,
                    "updatedInput": input,
                    "additionalContext": RAN_CHANGED,
                }}))
            }
            (_, HookReply::Tell) => Some(json!({"systemMessage": reason})),
            // That a rule would allow the call was said before; elsewhere arguments cannot be
            // handed over.
            (
                _,
                HookReply::Nothing
                | HookReply::Allow
                | HookReply::Ask
                | HookReply::Edited(_)
                | HookReply::Deny,
            ) => None,
        }
    }

    fn with_note(&self, point: HookPoint, output: Option<Value>, note: &str) -> Option<Value> {
        nested::with_note(point, output, note)
    }

    fn of_replaced(
        &self,
        point: HookPoint,
        input: &Map<String, Value>,
        reason: &str,
        note: &str,
    ) -> Option<Value> {
        (point == HookPoint::BeforeCall).then(|| {
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "permissionDecisionReason": reason,
                "updatedInput": input,
                "additionalContext": note,
            }})
        })
    }

    fn keeps_directory(&self) -> bool {
        true
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        nested::prompt(heard)
    }

    fn of_refusal(&self, point: HookPoint, reason: &str) -> Option<Value> {
        // Here the exit code counts for nothing.
        (point == HookPoint::BeforePrompt).then(|| nested::denial(reason))
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

const EVENTS: Events = &[
    ("PreToolUse", BEFORE_CALL),
    ("PermissionRequest", BEFORE_PROMPT),
    ("PostToolUse", Event::Result),
    ("PostToolUseFailure", Event::Failure),
    ("UserPromptSubmit", Event::Prompt),
    ("Stop", TURN_ENDS),
    ("SessionEnd", TURN_ENDS),
    ("ConfigChange", Event::Change),
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
