//! The words Claude Code introduced, for it and for those who took them over.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{Adapter, Heard, HookReply, Seen};
use super::events::{self, Event, Events};
use super::reading::{Facts, mcp_tool, parsed, readable};
use super::{HookPoint, Problem, Question};

/// What a hook reads; each agent has more fields, and newer ones have others.
#[derive(Deserialize)]
pub(crate) struct Payload {
    pub(crate) hook_event_name: Option<String>,
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
    /// What Codex calls the same.
    turn_id: Option<String>,
    /// The settings that changed.
    file_path: Option<String>,
    pub(crate) notification_type: Option<String>,
    /// Whose tool it is, as Gemini CLI says.
    mcp_context: Option<McpContext>,
}

#[derive(Deserialize)]
struct McpContext {
    server_name: Option<String>,
    tool_name: Option<String>,
}

/// What a payload in these words asks; `known` adds to its facts what holds for the agent.
pub(crate) fn question(
    adapter: &dyn Adapter,
    payload: &str,
    known: fn(Facts) -> Facts,
) -> Result<Question, Problem> {
    let read: Payload = parsed(adapter, payload)?;
    let event = read.event(adapter.events());
    known(read.facts(event)).question(event)
}

impl Payload {
    /// What it is about.
    pub(crate) fn event(&self, known: Events) -> Event {
        events::about(known, self.hook_event_name.as_deref())
    }

    /// What it says of such an event.
    pub(crate) fn facts(self, event: Event) -> Facts {
        let response = if event == Event::Failure {
            self.error
        } else {
            self.tool_response
        };
        let foreign = self.mcp_context.and_then(|context| {
            let server = context.server_name?;
            Some(mcp_tool(&server, &context.tool_name?))
        });
        Facts {
            tool: foreign.or(self.tool_name),
            input: self.tool_input.map_or(Value::Null, |StrictValue(it)| it),
            response: response.map(|StrictValue(it)| it),
            prompt: self.prompt.map(|StrictValue(it)| it),
            session: self.session_id,
            directory: self.cwd,
            agent_type: self.agent_type,
            agent_name: self.agent_id,
            file: self.file_path,
            more: vec![
                ("permission_mode", self.permission_mode),
                ("prompt_id", self.prompt_id.or(self.turn_id)),
            ],
            ..Facts::default()
        }
    }
}

/// A permission before a call.
pub(crate) fn permission(word: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": word,
        "permissionDecisionReason": reason,
    }})
}

/// A denial before the user is asked.
pub(crate) fn denial(reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": reason},
    }})
}

/// What is said about a call alike by those who took the words over: a denial, and a note to the user. For the rest
/// each has words of its own, or none.
pub(crate) fn call(point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
    match (point, said) {
        (HookPoint::BeforeCall, HookReply::Deny) => Some(permission("deny", reason)),
        (HookPoint::BeforePrompt, HookReply::Deny) => Some(denial(reason)),
        (HookPoint::BeforeCall | HookPoint::BeforePrompt, HookReply::Tell) => {
            Some(json!({"systemMessage": reason}))
        }
        (
            _,
            HookReply::Nothing
            | HookReply::Allow
            | HookReply::Ask
            | HookReply::Tell
            | HookReply::Edited(_)
            | HookReply::Deny,
        ) => None,
    }
}

/// A note for the model, beside what happened at an event.
pub(crate) fn note(event: &str, note: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": note}})
}

/// An answer to a call with a note for the model beside it; there is room for one before a call only.
pub(crate) fn with_note(point: HookPoint, output: Option<Value>, text: &str) -> Option<Value> {
    if point != HookPoint::BeforeCall {
        return output;
    }
    let mut output = output.unwrap_or_else(|| json!({}));
    let Value::Object(beside) = note("PreToolUse", text) else {
        return Some(output);
    };
    for (key, value) in beside {
        match (output.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => {
                if let Some(fields) = output.as_object_mut() {
                    fields.insert(key, value);
                }
            }
        }
    }
    Some(output)
}

/// What becomes of a user's message.
pub(crate) fn prompt(heard: Heard<'_>) -> Option<Value> {
    match heard {
        Heard::Passes => None,
        Heard::Warned(note) => Some(json!({"systemMessage": note})),
        Heard::Stopped(note) => Some(json!({"decision": "block", "reason": note})),
    }
}

/// What becomes of a result, for agents in which a text can only take its place by way of a refusal.
pub(crate) fn result(
    event: &str,
    seen: Seen<'_>,
    instead: impl FnOnce(String) -> Value,
) -> Option<Value> {
    match seen {
        Seen::Noted(text) => Some(note(event, text)),
        // That would look like a failure, and nothing of what is left speaks to the model.
        Seen::Stripped(_, text) => text.map(|text| note(event, text)),
        Seen::Cleaned(value, text) => {
            let shown = value.get("llmContent").unwrap_or(value);
            Some(instead(format!("{text}\n\n{}", readable(shown))))
        }
        Seen::Withheld(notice) => Some(instead(notice.to_owned())),
    }
}
