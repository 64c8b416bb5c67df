//! What the model reads: a result with the permission it ran by, or a refusal (J-43, J-44, J-58).

use holdpoint_core::{Method, ToolCall};
use serde_json::{Map, Value, json};

use crate::pipeline::{Permit, Refusal};

/// Whether a call was let run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Whether it was.
    pub allowed: bool,
    /// Why, or why not.
    pub reason: String,
    /// How that came about.
    pub method: Method,
    /// Whether a person changed the arguments.
    pub was_edited: bool,
    /// The request a person was asked by, if one was.
    pub request: Option<String>,
}

impl Permission {
    /// That of a call that may run.
    pub fn from_permit(permit: &Permit) -> Self {
        let decision = permit.decision();
        Self {
            allowed: true,
            reason: decision.reason.clone(),
            method: decision.method,
            was_edited: permit.was_edited(),
            request: permit.request().map(str::to_owned),
        }
    }

    /// A refusal for a reason that is no rule's and no person's.
    pub(super) fn refused(method: Method, reason: impl Into<String>) -> Self {
        Self {
            allowed: false,
            reason: reason.into(),
            method,
            was_edited: false,
            request: None,
        }
    }

    /// As it stands beside a result.
    pub fn to_json(&self) -> Value {
        let decision = if self.allowed { "allowed" } else { "denied" };
        let mut permission = json!({
            "decision": decision,
            "reason": self.reason,
            "method": self.method.as_str(),
        });
        if self.was_edited
            && let Some(fields) = permission.as_object_mut()
        {
            fields.insert("was_edited".into(), Value::Bool(true));
        }
        permission
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Executed {
    /// What the model reads.
    pub value: Value,
    /// Whether it was let run, and why.
    pub permission: Permission,
    /// The call as it ran, or would have.
    pub call: ToolCall,
    /// The arguments before a person changed them.
    pub original_input: Option<Map<String, Value>>,
    /// What the model must be told besides, where the value has no room for it.
    pub notice: Option<String>,
    pub(super) ran: bool,
}

impl Executed {
    /// Whether the tool was started.
    pub fn ran(&self) -> bool {
        self.ran
    }

    /// A call that did not run.
    pub(super) fn refused(call: ToolCall, permission: Permission, instead: Option<&str>) -> Self {
        // Who comments speaks to the model, and says more than no (J-43).
        let mut error = match permission.method == Method::UserComment {
            true => permission.reason.clone(),
            false => format!("Permission denied: {}", permission.reason),
        };
        if let Some(instead) = instead {
            error.push_str(&format!(" Instead: {instead}"));
        }
        Self {
            value: json!({"error": error, "_permission": permission.to_json()}),
            permission,
            call,
            original_input: None,
            notice: None,
            ran: false,
        }
    }

    /// A call that was refused on its way.
    pub fn refused_by(call: &ToolCall, refusal: &Refusal) -> Self {
        let decision = &refusal.decision;
        let permission = Permission {
            request: refusal.request.clone(),
            ..Permission::refused(decision.method, decision.reason.clone())
        };
        // Whoever was asked has said what they want instead.
        let instead = decision.instead.as_deref();
        let instead = instead.filter(|_| refusal.request.is_none());
        Self::refused(call.clone(), permission, instead)
    }

    /// A call that did not run because something failed before anybody could decide.
    pub fn failed(call: ToolCall, problem: &str) -> Self {
        let reason = format!("Permission check failed: {problem}");
        let permission = Permission::refused(Method::Error, reason.clone());
        Self {
            value: json!({"error": reason, "_permission": permission.to_json()}),
            ..Self::refused(call, permission, None)
        }
    }

    /// A call that ran: what it returned, or why it failed, with what the model is to be told beside it.
    pub fn ran_by(
        call: ToolCall,
        permission: Permission,
        original_input: Option<Map<String, Value>>,
        result: Result<Value, String>,
        note: Option<String>,
    ) -> Self {
        let mut value = match result {
            Ok(value) => value,
            Err(error) => json!({"error": error}),
        };
        let edited = original_input.as_ref().map(|_| {
            let input = Value::Object(call.input().clone());
            format!(
                "The user changed the arguments of this call before letting it run. It ran with: \
                 {input}"
            )
        });
        if let Value::Object(fields) = &mut value {
            fields.insert("_permission".into(), permission.to_json());
            if let Some(note) = &note {
                fields.insert("_inspection".into(), json!({"notice": note}));
            }
            if let (Some(original), Some(notice)) = (&original_input, &edited) {
                let edited = json!({
                    "notice": notice,
                    "original_args": original,
                    "modified_args": call.input(),
                });
                fields.insert("_user_edited".into(), edited);
            }
        }
        let notice = [edited, note]
            .into_iter()
            .flatten()
            .reduce(|one, other| one + " " + &other);
        Self {
            value,
            permission,
            call,
            original_input,
            notice,
            ran: true,
        }
    }
}
