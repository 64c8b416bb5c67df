//! A call that may run, once: from the release to the record of what came of it.

use std::time::{Duration, Instant};

use holdpoint_core::ToolCall;
use serde_json::Value;

use super::keeper::Gatekeeper;
use super::permission::{Executed, Permission};
use super::reading::readable;
use crate::error::EngineError;
use crate::inspecting::Inspected;
use crate::pipeline::{Permit, ToolResult};

/// A call that may run. Dropped before it has ended, it says on record that it never did.
pub(super) struct Pass {
    keeper: Gatekeeper,
    /// Until it is used.
    permit: Option<Permit>,
    /// The call as it was made, and as it is to run.
    made: ToolCall,
    call: ToolCall,
    permission: Permission,
    started: Option<Instant>,
}

impl Pass {
    pub(super) fn new(keeper: Gatekeeper, permit: Permit) -> Self {
        Self {
            keeper,
            made: permit.made().clone(),
            call: permit.call().clone(),
            permission: Permission::from_permit(&permit),
            permit: Some(permit),
            started: None,
        }
    }

    /// The call, as it is to run.
    pub(super) fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The tool starts now.
    pub(super) fn begin(&mut self) {
        self.started = Some(Instant::now());
    }

    /// The tool has ended: puts that on record and makes what the model reads. A result that cannot
    /// be put on record or looked at is kept back.
    pub(super) fn end(mut self, result: ToolResult) -> Executed {
        let took = self.took();
        let Some(permit) = self.permit.take() else {
            return Executed::failed(self.call.clone(), "the call has run already");
        };
        let inspected = permit.ran(&result, took);
        self.keeper.ran(self.call.tool());
        let mut note = None;
        let mut read = |value: Value, inspected: Result<Inspected, EngineError>| {
            let readable = match inspected {
                Ok(inspected) => readable(value, inspected),
                Err(error) => self.keeper.kept_back(&self.call, &value, &error),
            };
            note = readable.note;
            readable.value
        };
        let result = match (inspected, result) {
            (Err(EngineError::NoRecord(problem)), _) => Err(format!(
                "The tool ran, but that could not be put on record, so its result is kept back: \
                 {problem}"
            )),
            (inspected, ToolResult::Returned(value)) => Ok(read(value, inspected)),
            (inspected, ToolResult::Failed(error)) => {
                Err(match read(Value::String(error), inspected) {
                    Value::String(error) => error,
                    other @ (Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Array(_)
                    | Value::Object(_)) => other.to_string(),
                })
            }
            (_, ToolResult::Cancelled) => Err("The call was cancelled while it ran".into()),
        };
        let edited = self.permission.was_edited;
        let original_input = edited.then(|| self.made.input().clone());
        Executed::ran_by(
            self.call.clone(),
            self.permission.clone(),
            original_input,
            result,
            note,
        )
    }

    fn took(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |at| at.elapsed())
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        // There is nobody left to tell if this fails.
        match self.started {
            Some(_) => drop(permit.ran(&ToolResult::Cancelled, self.took())),
            None => self.keeper.record_failure(&self.made, CANCELLED),
        }
    }
}

/// Why a call that was called off does not run.
pub(super) const CANCELLED: &str = "The call was cancelled before it ran";
