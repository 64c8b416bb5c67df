//! Reads a policy document: JSON with comments in, the caller's types out.
//!
//! A document is strict JSON (RFC 8259) plus `//` and `/* */` comments, trailing
//! commas and a leading byte order mark. Everything else is refused: a key written
//! twice, a bare word, a control character in a string, a NUL byte, nesting beyond
//! [`MAX_DEPTH`]. Work is linear and recursion bounded, so input of any shape ends in
//! a value or in a [`DocumentError`] that says where, what, and what to write instead.
//!
//! The syntax reader is our own. `jsonc-parser` takes raw control characters in strings
//! and blanks that are not JSON, neither of which can be switched off, bounds nesting at a
//! depth the caller cannot choose, and leaves keys written twice to the caller.
//!
//! # Errors from a type's own `Deserialize`
//!
//! - A message given to `serde::de::Error::custom` may carry a hint after
//!   [`HINT_MARK`]: `is not a duration; try: write 30s or 5m`.
//! - A message that starts with a verb (`is`, `must`, `cannot`, `has`, …) is read as a
//!   predicate and gets the path in front of it: `` `timeout` is not a duration ``. Any
//!   other message follows the path and a colon.
//! - An `expecting` text completes the words "must be": write `a duration such as 30s`. It may
//!   carry a hint in the same way.
//! - Messages must not repeat the value: the reader adds it where it may be shown, and
//!   drops a message that repeats a value kept under a secret-looking key.
//!
//! Whether the values make sense together is left to the caller. Fields of internally
//! tagged and untagged enums reach the reader without their position; it finds them
//! again when the offending text is unique, and otherwise points at the whole object.

mod error;
mod expected;
mod fault;
mod node;
mod quote;
mod report;
mod suggest;
mod syntax;
mod values;

#[cfg(test)]
mod tests;

pub use error::DocumentError;
pub use suggest::{closest, hint};
pub use syntax::MAX_DEPTH;

use fault::Fault;
use node::Span;
use serde::de::DeserializeOwned;

/// Separates the problem from the hint in a message given to `custom`.
pub const HINT_MARK: &str = "; try: ";

/// Reads one document into `T`. `name` is how the document is called in messages: a
/// path, or the flag it came from.
pub fn read<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, DocumentError> {
    let (value, []) = read_with_lines(name, bytes, [])?;
    Ok(value)
}

/// The same, and the lines on which the document's own `keys` stand, from 1.
pub fn read_with_lines<T: DeserializeOwned, const N: usize>(
    name: &str,
    bytes: &[u8],
    keys: [&str; N],
) -> Result<(T, [Option<usize>; N]), DocumentError> {
    let text = text_of(name, bytes)?;
    syntax::parse(text)
        .and_then(|root| {
            let value = values::read(&root)?;
            let line = |key: &str| Some(node::position(text, root.key(key)?.key_span.start).0);
            Ok((value, keys.map(line)))
        })
        .map_err(|fault| fault.into_error(name, text))
}

/// Where the value at `path` stands: its line and column, both from 1. A step is a key, or the number of an
/// item; of a key, the place is where the key itself stands.
pub fn locate(bytes: &[u8], path: &[&str]) -> Option<(usize, usize)> {
    let text = text_of("", bytes).ok()?;
    let root = syntax::parse(text).ok()?;
    let mut node = &root;
    let mut at = root.span.start;
    for step in path {
        (at, node) = match &node.value {
            node::Value::Object(_) => {
                let entry = node.key(step)?;
                (entry.key_span.start, &entry.value)
            }
            node::Value::Array(items) => {
                let item = items.get(step.parse::<usize>().ok()?)?;
                (item.span.start, item)
            }
            node::Value::Null
            | node::Value::Bool(_)
            | node::Value::Number(_)
            | node::Value::Text(_) => return None,
        };
    }
    Some(node::position(text, at))
}

fn text_of<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, DocumentError> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let (valid, _) = bytes.split_at(error.valid_up_to());
        let fault = Fault::from_sentence("the document is not UTF-8 text here")
            .with_hint("save the file as UTF-8")
            .at(Span::empty(valid.len()));
        fault.into_error(name, std::str::from_utf8(valid).unwrap_or_default())
    })
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
