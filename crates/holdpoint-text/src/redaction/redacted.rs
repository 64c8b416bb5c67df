//! Text and values that have been through the redactor: the only kind a writer takes.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A text without secrets.
///
/// It is made by a [`Redactor`](super::Redactor), or of the program's own words. There is no other
/// way, so a function that takes it cannot be given what an agent wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The program's own words.
    pub fn literal(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text itself; what is made of it is no longer known to be redacted.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Appends another redacted text.
    pub fn push(&mut self, other: &Redacted) {
        self.0.push_str(&other.0);
    }

    /// At most `limit` bytes of it, cut where a character ends, with `…` where something is
    /// missing. A marker that would be cut is left out.
    #[must_use]
    pub fn shortened(self, limit: usize) -> Self {
        if self.0.len() <= limit {
            return self;
        }
        let mut end = limit.saturating_sub('…'.len_utf8());
        while end > 0 && !self.0.is_char_boundary(end) {
            end -= 1;
        }
        let kept = self.0.get(..end).unwrap_or("");
        let whole = kept
            .rfind('[')
            .filter(|open| super::marker::has_marker(self.0.as_bytes().get(*open..).unwrap_or(&[])))
            .filter(|open| !kept.get(*open..).unwrap_or("").contains(']'))
            .and_then(|open| kept.get(..open));
        let mut text = whole.unwrap_or(kept).to_owned();
        if limit >= '…'.len_utf8() {
            text.push('…');
        }
        Self(text)
    }
}

impl From<&'static str> for Redacted {
    fn from(text: &'static str) -> Self {
        Self::literal(text)
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Redacted {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A JSON value without secrets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RedactedJson(Value);

impl RedactedJson {
    pub(super) fn new(value: Value) -> Self {
        Self(value)
    }

    /// The value.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// The value itself; what is made of it is no longer known to be redacted.
    pub fn into_value(self) -> Value {
        self.0
    }

    /// The same with its texts cut to what `limit` gives for the key they stand under.
    #[must_use]
    pub fn shortened(mut self, limit: impl Fn(&str) -> usize) -> Self {
        // No recursion: a value may be as deep as whoever sent it liked.
        let mut open = vec![("", &mut self.0)];
        while let Some((key, value)) = open.pop() {
            match value {
                Value::String(text) => {
                    let most = limit(key);
                    if text.len() > most {
                        let whole = Redacted(std::mem::take(text));
                        *text = whole.shortened(most).0;
                    }
                }
                Value::Array(items) => {
                    open.extend(items.iter_mut().map(|item| (key, item)));
                }
                Value::Object(fields) => {
                    open.extend(
                        fields
                            .iter_mut()
                            .map(|(name, field)| (name.as_str(), field)),
                    );
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        self
    }
}

impl Serialize for RedactedJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Display for RedactedJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Redacted> for RedactedJson {
    fn from(text: Redacted) -> Self {
        Self(Value::String(text.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_never_inside_a_marker() {
        let text = || Redacted::literal("say é [PASSWORD] now");
        assert_eq!(text().shortened(100).as_str(), "say é [PASSWORD] now");
        assert_eq!(text().shortened(12).as_str(), "say é …");
        assert_eq!(text().shortened(8).as_str(), "say …");
        assert_eq!(text().shortened(20).as_str(), "say é [PASSWORD]…");
        assert_eq!(text().shortened(0).as_str(), "");
    }
}
