//! What a tool says of its own calls before anybody is asked about them (J-46, J-55).

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use holdpoint_broker::{CallContext, Display, Problem, Warned};
use holdpoint_core::ToolCall;

use crate::excerpt::text_without_secrets;

/// What one tool says of a call.
pub(super) type Preview = Arc<dyn Fn(&ToolCall) -> Display + Send + Sync>;

/// What the tools say, by their names.
pub(super) type Previews = BTreeMap<String, Preview>;

/// What the tool of a call says of it. One that breaks down says nothing, and nothing is let through.
pub(super) fn said_of(
    previews: &Previews,
    asked: &CallContext,
) -> Result<Option<Display>, Problem> {
    let Some(preview) = previews.get(&asked.tool) else {
        return Ok(None);
    };
    let call = asked.call().map_err(|error| Problem(error.to_string()))?;
    let said = catch_unwind(AssertUnwindSafe(|| preview(&call)));
    said.map(Some).map_err(|_| {
        Problem(format!(
            "what `{}` says of its call broke down: mend the tool's preview",
            asked.tool
        ))
    })
}

/// What a person is shown, in the tool's words where it has any. The arguments, the paths and what
/// the rules caught stay what they are: a tool has no say in those.
pub(super) fn introduced(mut display: Display, said: Display) -> Display {
    if !said.summary.is_empty() {
        display.summary = text_without_secrets(&said.summary);
    }
    if !said.details.is_empty() {
        display.details = text_without_secrets(&said.details);
        display.format = said.format;
        display.language = said.language;
        display.truncated = said.truncated || display.details.len() < said.details.len();
        display.original_lines = said.original_lines;
        // They are places in the text that stood here before.
        display.marks.clear();
    }
    display
        .warnings
        .extend(said.warnings.into_iter().map(|warned| Warned {
            text: text_without_secrets(&warned.text),
            ..warned
        }));
    if let Some(error) = said.pre_validation_error {
        display.pre_validation_error = Some(text_without_secrets(&error));
    }
    display
}
