//! What the agent's tools do once they may: next to nothing, and only in the throw-away project.

use std::fs;
use std::path::Path;

use holdpoint_engine::{ToolCall, plain_words};
use serde_json::{Value, json};

use super::script::{Does, Step};

/// Runs the tool of a step. It knows the scripted call and no other: one that was edited is only
/// echoed.
pub(super) fn run(step: &Step, call: &ToolCall, project: &Path) -> Result<Value, String> {
    let argument = call.input().get(step.name).and_then(Value::as_str);
    if argument != Some(step.argument) {
        let text = "this tool is a stand-in that knows the scripted call only; nothing was done";
        return Ok(json!({"content": text}));
    }
    let text = match step.does {
        Does::Read(file) => {
            fs::read_to_string(project.join(file)).map_err(|error| plain_words(&error))?
        }
        Does::Return(text) => text.to_owned(),
        Does::Write(file, text) => fs::write(project.join(file), text)
            .map(|()| "done".to_owned())
            .map_err(|error| plain_words(&error))?,
        Does::Nothing => String::new(),
    };
    Ok(json!({"content": text}))
}
