//! What a model may read: what tools return and users write goes past the inspector first.

use holdpoint_core::ToolCall;
use holdpoint_core::text::{Action, Severity};
use serde_json::{Value, json};

use super::keeper::Gatekeeper;
use crate::error::EngineError;
use crate::inspecting::Inspected;
use crate::pipeline::Returned;

/// What a model may read of what a tool returned.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Readable {
    /// What it may read: the result, what is left of it, or a notice in its place.
    pub value: Value,
    /// What it must be told about that.
    pub note: Option<String>,
    /// What was done.
    pub action: Action,
    /// How bad the worst of what was found is.
    pub severity: Option<Severity>,
}

/// What is to be done about a user's message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Message {
    /// Whether the model may read it. Unless the policy says otherwise it may.
    pub allowed: bool,
    /// What the user should be told about it.
    pub note: Option<String>,
    /// How bad the worst of what was found is.
    pub severity: Option<Severity>,
}

impl Gatekeeper {
    /// What the model may read of what a call returned. [`Gatekeeper::execute`] and its like have
    /// done this already; it is for results that come by another way. What was found is on record,
    /// and a session that was shown orders is asked more from then on. A result that cannot be
    /// looked at is kept back.
    pub fn inspect_result(&self, call: &ToolCall, value: Value) -> Readable {
        let call = self.placed(call);
        let input = Value::Object(call.input().clone());
        let returned = Returned {
            input: &input,
            value: &value,
            replaceable: true,
            succeeded: None,
        };
        let caller = self.caller(&call);
        let engine = &self.inner.engine;
        match engine.inspect_result(&caller, call.clone(), &returned, &|_| {}) {
            Ok(inspected) => readable(value, inspected),
            Err(error) => self.kept_back(&call, &value, &error),
        }
    }

    /// What stands in the place of a result that could not be looked at.
    pub(super) fn kept_back(
        &self,
        call: &ToolCall,
        value: &Value,
        error: &EngineError,
    ) -> Readable {
        let notice = format!("What the tool returned is kept back: {error}");
        self.record_failure(call, &notice);
        Readable {
            value: withheld(value, Some(&notice)),
            note: Some(notice),
            action: Action::Block,
            severity: None,
        }
    }

    /// Looks at what the user wrote, before the model reads it. One that cannot be looked at goes
    /// on: every call that follows from it is judged.
    pub fn inspect_prompt(&self, text: &str) -> Message {
        let nowhere = ToolCall::shell("").in_directory(self.inner.workspace.as_str());
        let caller = self.caller(&nowhere);
        let engine = &self.inner.engine;
        match engine.inspect_prompt(&caller, &self.inner.workspace, text) {
            Ok(inspected) => Message {
                allowed: inspected.action < Action::Quarantine,
                note: inspected.note,
                severity: inspected.severity,
            },
            Err(error) => Message {
                allowed: true,
                note: Some(format!("This message could not be looked at: {error}")),
                severity: None,
            },
        }
    }
}

/// What a model may read of a value that was inspected.
pub(super) fn readable(value: Value, inspected: Inspected) -> Readable {
    Readable {
        value: match (inspected.action, inspected.instead) {
            (Action::Block, _) => withheld(&value, inspected.note.as_deref()),
            (_, Some(instead)) => instead,
            (_, None) => value,
        },
        note: inspected.note,
        action: inspected.action,
        severity: inspected.severity,
    }
}

/// What stands in the place of a result: an error, as a tool that failed would give it.
fn withheld(value: &Value, notice: Option<&str>) -> Value {
    let notice = notice.unwrap_or("What the tool returned is kept back.");
    match value {
        Value::Object(_) => json!({"error": notice}),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            json!(notice)
        }
    }
}
