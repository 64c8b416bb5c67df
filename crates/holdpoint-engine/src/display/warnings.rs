//! What a person should not overlook in a call.

use std::path::Path;

use holdpoint_broker::Warned;
use holdpoint_core::{Action, PathVerb, ToolCall, parts};
use serde_json::Value;

use super::from_workspace;
use crate::escape_for_display;
use crate::humanize::counted;
use holdpoint_core::text::is_invisible;

pub(super) fn for_action(
    action: &Action,
    paths: &[(String, PathVerb)],
    workspace: &Path,
) -> Vec<Warned> {
    let call = action.call();
    let mut warnings = Vec::new();
    let mut warn = |level: &str, text: String| {
        warnings.push(Warned {
            level: level.to_owned(),
            text,
        });
    };
    if let Err(why) = parts(action) {
        warn(
            "danger",
            format!(
                "the command cannot be read: {}",
                escape_for_display(&why, 300)
            ),
        );
    }
    let hidden = invisible_in(call);
    if hidden > 0 {
        let text = format!(
            "{} that cannot be seen or change the direction of text",
            counted(hidden, "character")
        );
        warn("danger", text);
    }
    let outside = |path: &Path| !path.starts_with(workspace);
    let mut far: Vec<&Path> = paths
        .iter()
        .filter(|(_, verb)| matches!(verb, PathVerb::Write | PathVerb::Delete))
        .map(|(path, _)| Path::new(path))
        .filter(|path| outside(path))
        .collect();
    far.sort_unstable();
    far.dedup();
    if let Some(first) = far.first() {
        let more = match far.len() {
            1 => String::new(),
            count => format!(" and {}", counted(count - 1, "more path")),
        };
        let first = from_workspace(first, workspace);
        warn("warning", format!("outside the workspace: {first}{more}"));
    }
    warnings
}

/// How many characters of the arguments are there without being seen.
fn invisible_in(call: &ToolCall) -> usize {
    let mut count = 0;
    let mut open: Vec<&Value> = call.input().values().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => count += text.chars().filter(|c| is_invisible(*c)).count(),
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    count
}
