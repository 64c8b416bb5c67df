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
pub use suggest::hint;
pub use syntax::MAX_DEPTH;

use fault::Fault;
use node::Span;
use serde::de::DeserializeOwned;

/// Separates the problem from the hint in a message given to `custom`.
pub const HINT_MARK: &str = "; try: ";

/// Reads one document into `T`. `name` is how the document is called in messages: a
/// path, or the flag it came from.
pub fn read<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, DocumentError> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let (valid, _) = bytes.split_at(error.valid_up_to());
            let fault = Fault::from_sentence("the document is not UTF-8 text here")
                .with_hint("save the file as UTF-8")
                .at(Span::empty(valid.len()));
            return Err(fault.into_error(name, std::str::from_utf8(valid).unwrap_or_default()));
        }
    };
    syntax::parse(text)
        .and_then(|root| values::read(&root))
        .map_err(|fault| fault.into_error(name, text))
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
