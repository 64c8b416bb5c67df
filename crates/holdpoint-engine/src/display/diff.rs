//! Differences between texts, without secrets and no longer than anybody reads.

use std::time::Duration;

use holdpoint_core::text::redaction::Redactor;
use holdpoint_ledger::unguessable;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use crate::excerpt::showing;

/// The most lines of a difference that are shown: nobody reads more. It says how many there are.
pub(super) const MAX_LINES: usize = 2000;

/// The longest time to look for a short difference; then a longer one has to do.
const MAX_TIME: Duration = Duration::from_millis(500);

/// The most bytes of a text that is compared: no source file has more, and comparing takes time.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// A unified difference.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) text: String,
    /// How many lines it had before it was cut.
    pub(super) cut: Option<usize>,
    pub(super) added: usize,
    pub(super) removed: usize,
}

/// What takes out secrets and leaves one apart from another.
pub(super) fn tagging() -> Redactor {
    match unguessable() {
        Ok(salt) => showing().salted(salt),
        Err(_) => showing(),
    }
}

/// The difference between two texts, which are redacted first.
pub(super) fn difference(
    redactor: &Redactor,
    names: (&str, &str),
    before: &str,
    after: &str,
) -> Difference {
    let before = redactor.text(before).into_string();
    let after = redactor.text(after).into_string();
    let found = TextDiff::configure()
        .timeout(MAX_TIME)
        .diff_lines(before.as_str(), after.as_str());
    let count = |tag: ChangeTag| {
        found
            .iter_all_changes()
            .filter(|change| change.tag() == tag)
            .count()
    };
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let whole = found
        .unified_diff()
        .context_radius(3)
        .header(names.0, names.1)
        .to_string();
    let lines = whole.lines().count();
    let (text, cut) = match lines > MAX_LINES {
        true => {
            let first: Vec<&str> = whole.lines().take(MAX_LINES).collect();
            (first.join("\n") + "\n", Some(lines))
        }
        false => (whole, None),
    };
    Difference {
        text,
        cut,
        added,
        removed,
    }
}

/// The difference between two versions of the arguments of a call, without secrets: a unified
/// difference for each argument that is not the same.
pub fn diff_of_arguments(before: &Map<String, Value>, after: &Map<String, Value>) -> String {
    let redactor = tagging();
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut text = String::new();
    for key in keys {
        let (old, new) = (before.get(key), after.get(key));
        if old == new {
            continue;
        }
        let shown_key = redactor.text(key).into_string().replace('\n', " ");
        let name = |value: Option<&Value>| match value {
            Some(_) => shown_key.clone(),
            None => "/dev/null".to_owned(),
        };
        let sides = (name(old), name(new));
        let found = difference(
            &redactor,
            (&sides.0, &sides.1),
            &lines_of(key, old, &redactor),
            &lines_of(key, new, &redactor),
        );
        text.push_str(&found.text);
        if let Some(lines) = found.cut {
            text.push_str(&format!("… {lines} lines altogether\n"));
        }
    }
    text
}

/// The difference between two objects with nothing left out or hidden, for whoever takes the second for
/// good: a unified difference for each field that is not the same. None if it is longer than is compared.
pub fn whole_difference(before: &Map<String, Value>, after: &Map<String, Value>) -> Option<String> {
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut text = String::new();
    for key in keys {
        let (old, new) = (before.get(key), after.get(key));
        if old == new {
            continue;
        }
        let key = key.replace('\n', "\\n");
        let name = |value: Option<&Value>| value.map_or("/dev/null", |_| key.as_str());
        let compared = |lines: fn(&Value) -> String| -> Option<String> {
            let (before, after) = (whole_lines(old, lines)?, whole_lines(new, lines)?);
            let found = TextDiff::configure()
                .timeout(MAX_TIME)
                .diff_lines(before.as_str(), after.as_str());
            let mut unified = found.unified_diff();
            Some(
                unified
                    .context_radius(3)
                    .header(name(old), name(new))
                    .to_string(),
            )
        };
        let mut found = compared(|value| match value {
            Value::String(text) => text.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        })?;
        // A text and what reads like it, or the end of its last line.
        if found.is_empty() {
            found = compared(Value::to_string)?;
        }
        text.push_str(&found);
    }
    Some(text)
}

/// A value as lines; none if it is longer than is compared.
fn whole_lines(value: Option<&Value>, lines: fn(&Value) -> String) -> Option<String> {
    let Some(value) = value else {
        return Some(String::new());
    };
    // Laid out it is much longer still.
    if value.to_string().len() > MAX_TEXT {
        return None;
    }
    let mut text = lines(value);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some(text)
}

/// An argument as lines. What its key says of it (`password`) is applied before.
fn lines_of(key: &str, value: Option<&Value>, redactor: &Redactor) -> String {
    let Some(value) = value else {
        return String::new();
    };
    let alone = Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    let redacted = redactor.json(&alone).0.into_value();
    let value = redacted
        .as_object()
        .and_then(|fields| fields.values().next());
    let mut text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => serde_json::to_string_pretty(other).unwrap_or_default(),
        None => String::new(),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}
