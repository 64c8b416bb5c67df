//! Findings in files, and texts that could not be read, as JSON. What was found in one text is an
//! [`Inspection`](holdpoint_core::text::inspection::Inspection), which has a form of its own; these
//! are made like it.

use holdpoint_core::text::inspection::Finding;
use holdpoint_core::text::{Action, Severity, is_invisible};
use serde::Serialize;

use super::{Explained, LocatedFinding, TextPosition, Weight};

/// The version of the form.
pub const VERSION: u32 = 1;

/// The answer for a text that could not be read: nothing of it may go on.
#[derive(Debug, Serialize)]
pub struct Unread<'a> {
    v: u32,
    severity: Severity,
    action: Action,
    score: f32,
    error: &'a str,
    findings: [Finding; 0],
}

impl<'a> Unread<'a> {
    /// One that says why.
    pub fn because(error: &'a str) -> Self {
        Self {
            v: VERSION,
            severity: Severity::Critical,
            action: Action::Block,
            score: 0.0,
            error,
            findings: [],
        }
    }
}

/// One finding in a file: what any finding has, and where in which file it stands.
#[derive(Debug, Serialize)]
pub struct InFile<'a> {
    path: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
    start: Position,
    end: Position,
    preview: &'a str,
    #[serde(skip_serializing_if = "<[Weight]>::is_empty")]
    weights: &'a [Weight],
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<&'a Explained>,
}

impl<'a> InFile<'a> {
    /// A finding of the file of that name.
    pub fn new(path: &'a str, found: &'a LocatedFinding) -> Self {
        Self {
            path,
            finding: &found.finding,
            start: found.start.into(),
            end: found.end.into(),
            preview: &found.preview,
            weights: &found.weights,
            explained: found.explained.as_ref(),
        }
    }
}

/// A line and a column, both counted from 1.
#[derive(Debug, Serialize)]
struct Position {
    line: u64,
    column: u64,
}

impl From<TextPosition> for Position {
    fn from(position: TextPosition) -> Self {
        Self {
            line: position.line,
            column: position.column,
        }
    }
}

/// The word for how bad the worst finding is; `none` if there is none.
pub fn worst(severity: Option<Severity>) -> &'static str {
    severity.map_or("none", Severity::name)
}

/// JSON that says the same and drives no terminal: what nobody sees is escaped. Such characters
/// stand in strings only.
pub fn safe(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_escaped() {
        let json = serde_json::to_string("a\u{202e}\u{9b}\u{e0041}").unwrap();
        let safe = safe(&json);
        assert_eq!(safe, r#""a\u202e\u009b\udb40\udc41""#);
        assert_eq!(
            serde_json::from_str::<String>(&safe).unwrap(),
            "a\u{202e}\u{9b}\u{e0041}"
        );
    }
}
