//! The document as written: values with the place they came from.

use std::borrow::Cow;

#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) span: Span,
    pub(super) value: Value<'a>,
}

#[derive(Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    /// The digits as written, already known to be a JSON number.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<Entry<'a>>),
}

#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_span: Span,
    pub(super) value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The entry under a key, if this is an object that has it.
    pub(super) fn key(&self, key: &str) -> Option<&Entry<'a>> {
        match &self.value {
            Value::Object(entries) => entries.iter().find(|entry| entry.key == key),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Array(_) => {
                None
            }
        }
    }
}

/// A stretch of the document, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) fn empty(at: usize) -> Span {
        Span { start: at, end: at }
    }

    pub(super) fn slice(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// One step from a value to a value inside it.
#[derive(Debug, Clone)]
pub(super) enum Step<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

impl Step<'_> {
    pub(super) fn into_owned(self) -> Step<'static> {
        match self {
            Step::Key(key) => Step::Key(Cow::Owned(key.into_owned())),
            Step::Index(index) => Step::Index(index),
        }
    }
}

/// Line and column of a byte offset, both from 1, the column in characters. Lines end
/// where a `//` comment does: at a line feed, a carriage return, or both together.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let (mut line, mut column, mut previous) = (1, 1, None);
    for c in text.get(..offset).unwrap_or(text).chars() {
        match c {
            '\n' if previous == Some('\r') => {}
            '\n' | '\r' => {
                line += 1;
                column = 1;
            }
            _ => column += 1,
        }
        previous = Some(c);
    }
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_end_three_ways() {
        assert_eq!(position("", 0), (1, 1));
        assert_eq!(position("éa", 2), (1, 2));
        assert_eq!(position("a\nb", 2), (2, 1));
        assert_eq!(position("a\r\nb", 3), (2, 1));
        assert_eq!(position("a\rb", 2), (2, 1));
        assert_eq!(position("a\n\nb", 4), (3, 2));
    }
}
