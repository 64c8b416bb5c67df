//! The words Claude Code brought into the world, for it and for those who took them over.

use serde_json::{Value, json};

use super::adapter::Heard;

/// A permission before a call.
pub(super) fn permission(word: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": word,
        "permissionDecisionReason": reason,
    }})
}

/// A denial before the user is asked.
pub(super) fn denial(reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": reason},
    }})
}

/// A note for the model, beside what happened at an event.
pub(super) fn note(event: &str, note: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": note}})
}

/// What becomes of a user's message.
pub(super) fn prompt(heard: Heard<'_>) -> Option<Value> {
    match heard {
        Heard::Passes => None,
        Heard::Warned(note) => Some(json!({"systemMessage": note})),
        Heard::Stopped(note) => Some(json!({"decision": "block", "reason": note})),
    }
}
