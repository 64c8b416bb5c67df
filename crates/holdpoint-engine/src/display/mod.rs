//! What a person is shown of a call before they decide about it (J-55): a command with the parts a
//! rule caught, the difference an edit would make, or all arguments.
//!
//! Every text is redacted before it becomes part of a [`Display`]. In a difference the markers carry
//! a tag that is made up each time, so that one secret put in place of another is still seen as a
//! change.

mod diff;
mod edits;
mod marks;
mod warnings;

use std::path::{Path, PathBuf};

use holdpoint_broker::{Display, Format, NamedPath, Warned};
use holdpoint_core::{Action, Decision, PathVerb, ToolCall, plan};
use serde_json::{Map, Value};

use self::edits::Edit;
use crate::escape_for_display;
use crate::excerpt::{showing, whole_arguments};
use crate::humanize::counted;
use crate::summary_arguments::SUMMARY_ARGUMENTS;

pub use self::diff::{diff_of_arguments, whole_difference};

/// The most bytes of details that are shown, so that a screen and a request stay usable. It says how many lines there are.
const MAX_DETAILS: usize = 256 << 10;

/// The most characters of the summary: a line of a wide terminal.
const MAX_SUMMARY: usize = 160;

/// The most paths that are listed; the call itself stands above them whole, and it is said how many more there are.
const MAX_PATHS: usize = 200;

/// The words of a call for the person who decides about it. `decision` is without secrets already;
/// `paths` are those the call names.
pub fn display(
    action: &Action,
    decision: &Decision,
    paths: &[(String, PathVerb)],
    workspace: &Path,
) -> Display {
    let call = action.call();
    let redactor = showing();
    let arguments = whole_arguments(&redactor, call);
    let hidden = changed_arguments(call.input(), &arguments);
    let mut display = match (call.command_line(), Edit::from_call(call, workspace)) {
        (Some(line), _) => of_command(&line, decision),
        (None, _) if call.tool() == plan::TOOL => of_plan(&arguments),
        (None, Some(edit)) => edit.display(call.tool(), workspace),
        (None, None) => of_arguments(call.tool(), &arguments),
    };
    display
        .warnings
        .extend(warnings::for_action(action, paths, workspace));
    display.arguments = arguments;
    display.hidden = hidden;
    let (listed, unlisted) = listed(paths);
    display.paths = listed;
    display.warnings.extend(unlisted);
    display
}

fn of_command(line: &str, decision: &Decision) -> Display {
    let redactor = showing();
    let redacted = redactor.text(line).into_string();
    let first = redacted.trim().lines().next().unwrap_or_default();
    let more = match redacted.trim().lines().count() {
        0 | 1 => "",
        _ => " …",
    };
    let summary = format!("{}{more}", escape_for_display(first, MAX_SUMMARY));
    let marks = marks::for_decision(line, &redacted, decision);
    let cut = Cut::from_text(redacted);
    Display {
        summary,
        marks: marks
            .into_iter()
            .filter(|mark| mark.span[1] <= cut.text.len())
            .collect(),
        format: Format::Code,
        language: Some("bash".into()),
        ..cut.display()
    }
}

/// A plan, as the text it is put before a person in.
fn of_plan(arguments: &Map<String, Value>) -> Display {
    let text = arguments.get(plan::SHOWN).and_then(Value::as_str);
    let text = text.unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    Display {
        summary: escape_for_display(&format!("Plan {first}"), MAX_SUMMARY),
        format: Format::Text,
        ..Cut::from_text(text.to_owned()).display()
    }
}

fn of_arguments(tool: &str, arguments: &Map<String, Value>) -> Display {
    let details = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let telling = SUMMARY_ARGUMENTS
        .iter()
        .find_map(|name| arguments.get(*name)?.as_str());
    let summary = match telling {
        Some(telling) => format!("{tool}: {telling}"),
        None => tool.to_owned(),
    };
    Display {
        summary: escape_for_display(&summary, MAX_SUMMARY),
        format: Format::Json,
        ..Cut::from_text(details).display()
    }
}

/// A text that is no longer than is shown.
struct Cut {
    text: String,
    lines: Option<usize>,
}

impl Cut {
    fn from_text(mut text: String) -> Self {
        if text.len() <= MAX_DETAILS {
            return Self { text, lines: None };
        }
        let lines = text.lines().count();
        text.truncate(text.floor_char_boundary(MAX_DETAILS));
        Self {
            text,
            lines: Some(lines),
        }
    }

    fn display(self) -> Display {
        let warnings = self.lines.map(|lines| Warned {
            level: "danger".into(),
            text: format!("only the first part is shown; the whole has {lines} lines"),
        });
        Display {
            details: self.text,
            truncated: self.lines.is_some(),
            original_lines: self.lines,
            warnings: warnings.into_iter().collect(),
            ..Display::default()
        }
    }
}

/// The arguments that are not shown as they are.
fn changed_arguments(input: &Map<String, Value>, shown: &Map<String, Value>) -> Vec<String> {
    // Where a key itself had to be changed, what stands under its place is not the argument.
    let lost = input
        .iter()
        .filter(|(key, value)| shown.get(*key) != Some(*value));
    lost.map(|(key, _)| showing().text(key).into_string())
        .collect()
}

/// The paths as they are listed, and what is said of those that are not.
fn listed(paths: &[(String, PathVerb)]) -> (Vec<NamedPath>, Option<Warned>) {
    let redactor = showing();
    // A word that could be a path but names nothing is no news to anybody.
    let real = |(path, verb): &&(String, PathVerb)| {
        *verb != PathVerb::Unknown || Path::new(path).symlink_metadata().is_ok()
    };
    let mut all = paths.iter().filter(real);
    let listed = all.by_ref().take(MAX_PATHS);
    let listed = listed
        .map(|(path, verb)| NamedPath {
            path: redactor.text(path).into_string(),
            what: verb.as_str().to_owned(),
        })
        .collect();
    let more = all.count();
    let warned = (more > 0).then(|| Warned {
        level: "danger".into(),
        text: format!("{} that are not listed", counted(more, "more path")),
    });
    (listed, warned)
}

/// Where a path of a call leads.
fn resolved(call: &ToolCall, workspace: &Path, path: &str) -> PathBuf {
    match call.cwd() {
        Some(directory) => workspace.join(directory).join(path),
        None => workspace.join(path),
    }
}

/// A path as people know it: from the workspace, if it is inside.
fn from_workspace(path: &Path, workspace: &Path) -> String {
    let short = path.strip_prefix(workspace).unwrap_or(path);
    let text = short.display().to_string();
    escape_for_display(&showing().text(&text).into_string(), 300)
}

#[cfg(test)]
mod tests;
