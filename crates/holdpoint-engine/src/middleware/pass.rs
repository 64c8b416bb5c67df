//! A call that may run, once: from the release to the record of what came of it.

use std::time::{Duration, Instant};

use holdpoint_broker::CallContext;
use holdpoint_core::ToolCall;
use serde_json::Value;

use super::keeper::Gatekeeper;
use super::permission::{Executed, Permission};
use crate::recording::{Ended, Ran};

/// How a tool ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    Returned(Value),
    Failed(String),
    /// Whoever wanted the result no longer does, and the tool was left where it stood.
    Cancelled,
}

/// A call that may run. Dropped before it has ended, it says on record that it never did.
pub(super) struct Pass {
    keeper: Gatekeeper,
    asked: CallContext,
    /// The call as it was made, and as it is to run.
    made: ToolCall,
    call: ToolCall,
    permission: Permission,
    started: Option<Instant>,
    ended: bool,
}

impl Pass {
    pub(super) fn new(
        keeper: Gatekeeper,
        asked: CallContext,
        made: ToolCall,
        call: ToolCall,
        permission: Permission,
    ) -> Self {
        Self {
            keeper,
            asked,
            made,
            call,
            permission,
            started: None,
            ended: false,
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
    pub(super) fn end(mut self, ending: Ending) -> Executed {
        self.ended = true;
        let recorded = self.record(&ending);
        let mut note = None;
        self.keeper.ran(self.call.tool());
        let mut readable = |value: Value| {
            let readable = self.keeper.inspect_result(&self.call, value);
            note = readable.note;
            readable.value
        };
        let result = match (recorded, ending) {
            (Err(problem), _) => Err(format!(
                "The tool ran, but that could not be put on record, so its result is kept back: \
                 {problem}"
            )),
            (Ok(()), Ending::Returned(value)) => Ok(readable(value)),
            (Ok(()), Ending::Failed(error)) => Err(match readable(Value::String(error)) {
                Value::String(error) => error,
                other @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_)) => other.to_string(),
            }),
            (Ok(()), Ending::Cancelled) => Err("The call was cancelled while it ran".into()),
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

    fn record(&self, ending: &Ending) -> Result<(), String> {
        let ended = match ending {
            Ending::Returned(_) => Ended::Returned,
            Ending::Failed(error) => Ended::Failed(error),
            Ending::Cancelled => Ended::Cancelled,
        };
        let took = self.started.map_or(Duration::ZERO, |at| at.elapsed());
        self.keeper.record_result(&Ran {
            asked: &self.asked,
            call: &self.made,
            edited: self.permission.was_edited.then_some(&self.call),
            request: self.permission.request.as_deref(),
            ended,
            took,
        })
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        // There is nobody left to tell if this fails.
        match self.started {
            Some(_) => drop(self.record(&Ending::Cancelled)),
            None => self.keeper.record_failure(&self.made, CANCELLED),
        }
    }
}

/// Why a call that was called off does not run.
pub(super) const CANCELLED: &str = "The call was cancelled before it ran";
