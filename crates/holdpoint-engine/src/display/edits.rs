//! Calls that write a file, as the difference they would make to it.

use std::path::{Path, PathBuf};

use holdpoint_broker::{Display, Format, Warned};
use holdpoint_core::ToolCall;
use serde_json::{Map, Value};

use super::diff::{MAX_LINES, MAX_TEXT, difference, tagging};
use super::{Cut, MAX_SUMMARY, from_workspace, resolved};
use crate::escape_for_display;
use crate::excerpt::showing;
use crate::humanize::{bytes, counted};
use crate::store::{Unread, read_bounded};

/// A call that changes one file in a way that can be foreseen.
#[derive(Debug)]
pub(super) struct Edit {
    path: PathBuf,
    change: Change,
}

#[derive(Debug)]
enum Change {
    /// All of it is new.
    Whole(String),
    /// Texts are replaced, one after the other.
    Replace(Vec<Replacement>),
    /// The call brings a patch along.
    Patch(String),
}

#[derive(Debug)]
struct Replacement {
    old: String,
    new: String,
    all: bool,
}

/// What is on the disk.
enum Present {
    Text(String),
    Missing,
    Binary(u64),
    Large(u64),
    Unreadable(String),
}

/// The names tools have for the argument that is a file.
const PATHS: &[&str] = &["file_path", "filePath", "absolute_path", "path"];

impl Edit {
    /// The edit a call is, by the shape of its arguments: agents' tools agree on that more than on
    /// their names.
    pub(super) fn from_call(call: &ToolCall, workspace: &Path) -> Option<Self> {
        let input = call.input();
        let patch = ["input", "patch"].iter().find_map(|key| text(input, key));
        if let Some(patch) = patch.filter(|patch| patch.contains("*** Begin Patch")) {
            return Some(Self {
                path: PathBuf::new(),
                change: Change::Patch(patch.to_owned()),
            });
        }
        let path = PATHS.iter().find_map(|key| text(input, key))?;
        let change = if let Some(edits) = input.get("edits").and_then(Value::as_array) {
            let edits: Option<Vec<Replacement>> = edits
                .iter()
                .map(|edit| Replacement::from_input(edit.as_object()?))
                .collect();
            Change::Replace(edits?)
        } else if let Some(one) = Replacement::from_input(input) {
            Change::Replace(vec![one])
        } else {
            let whole = ["content", "file_text"]
                .iter()
                .find_map(|key| text(input, key))?;
            Change::Whole(whole.to_owned())
        };
        Some(Self {
            path: resolved(call, workspace, path),
            change,
        })
    }

    pub(super) fn display(&self, tool: &str, workspace: &Path) -> Display {
        let name = from_workspace(&self.path, workspace);
        if let Change::Patch(patch) = &self.change {
            let patch = showing().text(patch).into_string();
            let lines = patch.lines().count();
            return Display {
                summary: escape_for_display(
                    &format!("{tool}: a patch of {}", counted(lines, "line")),
                    MAX_SUMMARY,
                ),
                format: Format::Diff,
                ..Cut::from_text(patch).display()
            };
        }
        let mut warnings = Vec::new();
        let mut warn = |text: String| {
            warnings.push(Warned {
                level: "warning".into(),
                text,
            });
        };
        let before = match present(&self.path) {
            Present::Text(text) => Some(text),
            Present::Missing => None,
            Present::Binary(size) => {
                warn(format!(
                    "{name} is a binary file of {}; no difference is shown",
                    bytes(size)
                ));
                return self.without_difference(tool, &name, warnings);
            }
            Present::Large(size) => {
                warn(format!(
                    "{name} has {}; no difference is shown",
                    bytes(size)
                ));
                return self.without_difference(tool, &name, warnings);
            }
            Present::Unreadable(why) => {
                warn(format!("{name}: {why}; no difference is shown"));
                return self.without_difference(tool, &name, warnings);
            }
        };
        let old = before.clone().unwrap_or_default();
        let new = match &self.change {
            Change::Whole(new) => new.clone(),
            Change::Replace(edits) => {
                let mut text = old.clone();
                for edit in edits {
                    edit.apply(&mut text, before.is_none(), &name, &mut warn);
                }
                text
            }
            Change::Patch(_) => String::new(),
        };
        if new.len() > MAX_TEXT {
            let size = bytes(u64::try_from(new.len()).unwrap_or(u64::MAX));
            warn(format!(
                "the new content has {size}; no difference is shown"
            ));
            return self.without_difference(tool, &name, warnings);
        }
        let names = match before {
            Some(_) => (name.as_str(), name.as_str()),
            None => ("/dev/null", name.as_str()),
        };
        let found = difference(&tagging(), names, &old, &new);
        if found.text.is_empty() {
            warn(format!("{name} would stay as it is"));
        }
        if let Some(lines) = found.cut {
            warn(format!(
                "only the first {} of {} are shown",
                counted(MAX_LINES, "line"),
                counted(lines, "line")
            ));
        }
        let what = match before {
            Some(_) => format!("{tool} {name} (+{} −{})", found.added, found.removed),
            None => format!("{tool} {name} (new, {})", counted(found.added, "line")),
        };
        Display {
            summary: escape_for_display(&what, MAX_SUMMARY),
            details: found.text,
            format: Format::Diff,
            truncated: found.cut.is_some(),
            original_lines: found.cut,
            warnings,
            ..Display::default()
        }
    }

    /// The new text alone, where there is nothing to compare it with.
    fn without_difference(&self, tool: &str, name: &str, warnings: Vec<Warned>) -> Display {
        let text = match &self.change {
            Change::Whole(text) | Change::Patch(text) => text.clone(),
            Change::Replace(edits) => {
                let texts: Vec<&str> = edits.iter().map(|edit| edit.new.as_str()).collect();
                texts.join("\n")
            }
        };
        let mut display = Cut::from_text(showing().text(&text).into_string()).display();
        display.warnings.extend(warnings);
        Display {
            summary: escape_for_display(&format!("{tool} {name}"), MAX_SUMMARY),
            format: Format::Text,
            ..display
        }
    }
}

impl Replacement {
    fn from_input(input: &Map<String, Value>) -> Option<Self> {
        let either = |one: &str, other: &str| text(input, one).or_else(|| text(input, other));
        Some(Self {
            old: either("old_string", "old_str")?.to_owned(),
            new: either("new_string", "new_str")
                .unwrap_or_default()
                .to_owned(),
            all: input
                .get("replace_all")
                .and_then(Value::as_bool)
                .unwrap_or_default(),
        })
    }

    fn apply(&self, text: &mut String, is_new: bool, name: &str, warn: &mut impl FnMut(String)) {
        if self.old.is_empty() {
            // Tools take this for a new file.
            if !is_new && !text.is_empty() {
                warn(format!(
                    "{name} exists, and the text to be replaced is empty"
                ));
            }
            text.push_str(&self.new);
            return;
        }
        match text.matches(self.old.as_str()).count() {
            0 if is_new => warn(format!("{name} does not exist")),
            0 => warn(format!("the text to be replaced is not in {name}")),
            1 => {}
            count if !self.all => warn(format!(
                "the text to be replaced is in {name} {count} times; the first is taken here"
            )),
            _ => {}
        }
        *text = match self.all {
            true => bounded_replace(text, &self.old, &self.new),
            false => text.replacen(&self.old, &self.new, 1),
        };
    }
}

/// Replaces all, as long as the text stays one that is shown.
fn bounded_replace(text: &str, old: &str, new: &str) -> String {
    let grown = text
        .matches(old)
        .count()
        .saturating_mul(new.len())
        .saturating_add(text.len());
    match grown > MAX_TEXT.saturating_mul(4) {
        true => text.replacen(old, new, 1000),
        false => text.replace(old, new),
    }
}

fn text<'v>(input: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    input.get(key).and_then(Value::as_str)
}

fn present(path: &Path) -> Present {
    let most = u64::try_from(MAX_TEXT).unwrap_or(u64::MAX);
    match read_bounded(path, most) {
        Ok(content) => {
            let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
            match String::from_utf8(content) {
                Ok(text) if !text.contains('\0') => Present::Text(text),
                Ok(_) | Err(_) => Present::Binary(size),
            }
        }
        Err(Unread::Missing) => Present::Missing,
        Err(Unread::TooLarge(size)) => Present::Large(size),
        Err(other @ (Unread::Directory | Unread::NotOrdinary | Unread::Io(_))) => {
            Present::Unreadable(other.to_string())
        }
    }
}
