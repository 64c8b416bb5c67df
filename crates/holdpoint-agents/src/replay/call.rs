//! From the words of a transcript to a call.

use holdpoint_core::{CallError, StrictValue, ToolCall};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Outcome, Timestamp};

/// A call as it stands in a transcript.
#[derive(Debug)]
pub(crate) struct Uttered {
    pub(crate) id: Option<String>,
    pub(crate) tool: String,
    pub(crate) call: Result<ToolCall, String>,
    /// The directory it names for itself.
    pub(crate) directory: Option<String>,
    /// Its own time, where that is not its record's.
    pub(crate) time: Option<Timestamp>,
    pub(crate) subagent: bool,
    pub(crate) outcome: Option<Outcome>,
    /// Where it stands in memory, by which its line is found; its record's line if it is not said.
    pub(crate) at: usize,
    /// Told by what came of it: it counts unless it was also told when it was made.
    pub(crate) only_if_new: bool,
}

impl Uttered {
    /// A call of `tool` with arguments.
    pub(crate) fn new(id: Option<&str>, tool: &str, input: Result<Value, String>) -> Self {
        let call = input.and_then(|input| {
            ToolCall::new(tool, input).map_err(|error| match error {
                CallError::InputNotObject(found) => {
                    format!("the arguments are {found}, not an object")
                }
                CallError::NoTool => "the call names no tool".to_owned(),
                CallError::ToolNameTooLong => "the tool's name is longer than any".to_owned(),
            })
        });
        Self {
            id: id.filter(|id| !id.is_empty()).map(str::to_owned),
            tool: tool.to_owned(),
            call,
            directory: None,
            time: None,
            subagent: false,
            outcome: None,
            at: 0,
            only_if_new: false,
        }
    }

    /// A shell command.
    pub(crate) fn shell(id: Option<&str>, command: &str) -> Self {
        Self::new(id, "Bash", Ok(one("command", command)))
    }
}

/// Arguments that are one text.
pub(crate) fn one(key: &str, text: &str) -> Value {
    let mut input = Map::new();
    input.insert(key.to_owned(), Value::String(text.to_owned()));
    Value::Object(input)
}

/// The arguments in a JSON text; where there are none, null.
pub(crate) fn arguments(text: &str) -> Result<Value, String> {
    match serde_json::from_str::<StrictValue>(text) {
        Ok(StrictValue(value)) => Ok(value),
        Err(_) if text.trim().is_empty() => Ok(Value::Null),
        Err(error) => {
            let whole = error.to_string();
            let problem = whole.split(" at line ").next().unwrap_or_default();
            Err(format!("the arguments cannot be read ({problem})"))
        }
    }
}

/// The arguments at a place of a record.
pub(crate) fn arguments_at(raw: Option<&RawValue>) -> Result<Value, String> {
    raw.map_or(Ok(Value::Null), |raw| arguments(raw.get()))
}
