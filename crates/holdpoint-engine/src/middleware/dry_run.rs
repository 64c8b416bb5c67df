//! Asking whether a call would be let run, without making it (J-56): nothing is remembered, counted
//! or recorded by asking.

use std::sync::Arc;

use holdpoint_core::{CallError, Method, ToolCall, Verdict};
use serde::Serialize;
use serde_json::Value;

use super::keeper::Gatekeeper;

/// What would become of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use]
pub struct DryRun {
    /// Whether it would run without anybody being asked.
    pub allowed: bool,
    /// Why, or why not.
    pub reason: String,
    /// How that would come about.
    pub method: Method,
    /// The tool that was asked about.
    pub tool_name: String,
}

/// Why a question is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// Nobody has said what the call is for.
    #[error("`intent` is empty: say what the call is to achieve")]
    NoIntent,
    /// What is asked about is no call.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Gatekeeper {
    /// Whether a call would be let run. The answer is no promise: the call itself is judged when it
    /// is made.
    pub fn ask_permission(
        &self,
        tool_name: &str,
        intent: &str,
        arguments: Value,
    ) -> Result<DryRun, AskError> {
        if intent.trim().is_empty() {
            return Err(AskError::NoIntent);
        }
        let call = self.placed(&ToolCall::new(tool_name, arguments)?);
        let mut caller = self.caller(&call);
        caller.circumstances.intent = Some(intent.trim().to_owned());
        let (allowed, reason, method) = match self.inner.engine.decide(call, Arc::new(caller)) {
            Err(error) => {
                let reason = format!("Permission check failed: {error}");
                (false, reason, Method::Error)
            }
            Ok(decided) => {
                let decision = decided.without_secrets();
                let reason = match decision.verdict {
                    Verdict::Ask | Verdict::Review => {
                        format!("A person would be asked: {}", decision.reason)
                    }
                    Verdict::Contain => {
                        format!("It would run inside the sandbox: {}", decision.reason)
                    }
                    Verdict::Allow | Verdict::Notify | Verdict::Deny => decision.reason,
                };
                (decision.verdict.runs(), reason, decision.method)
            }
        };
        Ok(DryRun {
            allowed,
            reason,
            method,
            tool_name: tool_name.to_owned(),
        })
    }
}
