//! One line of JSON-RPC, as far as a relay has to know it: what it is, not what it says.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The longest line of either side, as long as the payload of a hook may be; a longer one goes nowhere.
pub const MAX_LINE: usize = 16 << 20;

/// The longest name of a request; real ones are numbers. A request with a longer one goes nowhere.
const MAX_ID: usize = 1024;

/// The most messages of one batch. Each may be a call that waits for a person, and is kept until all are
/// answered.
const MAX_BATCH: usize = 256;

/// The name of a request, in the scope of whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A number. 1 and "1" are two names.
    Number(i64),
    /// A text.
    Text(String),
}

impl Id {
    /// The name as it stands in a message; none if it is neither a whole number nor a text.
    pub fn read(raw: &RawValue) -> Option<Self> {
        if raw.get().len() > MAX_ID {
            return None;
        }
        match serde_json::from_str(raw.get()).ok()? {
            Value::String(text) => Some(Id::Text(text)),
            Value::Number(number) => number.as_i64().map(Id::Number),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The name as it stands in an answer.
    pub fn to_json(&self) -> Value {
        match self {
            Id::Number(number) => json!(number),
            Id::Text(text) => json!(text),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json())
    }
}

/// A request, a notification or a response.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    /// What is asked for or told; a response has none.
    #[serde(borrow)]
    pub method: Option<Cow<'a, str>>,
    /// With what.
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    /// What a request came to.
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    /// Why it came to nothing.
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads a line. One that names a field twice is none: its two readers may see two messages.
    pub fn read(line: &'a str) -> Option<Self> {
        let is_object = line.trim_start().starts_with('{');
        is_object.then(|| serde_json::from_str(line).ok()).flatten()
    }

    /// The name of the request it is, or answers.
    pub fn id(&self) -> Option<Id> {
        self.id.and_then(Id::read)
    }

    /// Whether it names a request at all, be it by a name that cannot be used.
    pub fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// What kind of message it is; none if it is several at once, or nothing: a reader that looks for one
    /// kind first would see another message than a reader that looks for the other.
    pub fn kind(&self) -> Option<Kind> {
        match (&self.method, self.result, self.error, self.id) {
            (Some(_), None, None, Some(_)) => Some(Kind::Request),
            (Some(_), None, None, None) => Some(Kind::Notification),
            (None, Some(_), None, Some(_)) | (None, None, Some(_), _) => Some(Kind::Response),
            _ => None,
        }
    }
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Wants an answer.
    Request,
    /// Wants none.
    Notification,
    /// Is one.
    Response,
}

/// The messages of a line: one, or those of a batch.
#[derive(Debug)]
pub enum Frame<'a> {
    /// One.
    Single(&'a str),
    /// Several, as revision 2025-03-26 has them.
    Batch(Vec<&'a str>),
    /// Only white space.
    Nothing,
}

impl<'a> Frame<'a> {
    /// Takes a line apart, or says what is wrong with it.
    pub fn read(line: &'a str) -> Result<Self, &'static str> {
        if line.is_empty() {
            return Ok(Frame::Nothing);
        }
        if !line.starts_with('[') {
            return Ok(Frame::Single(line));
        }
        let batch: Vec<&RawValue> =
            serde_json::from_str(line).map_err(|_| "it is a batch that cannot be read")?;
        match batch.len() {
            0 => Err("it is a batch of nothing"),
            1..=MAX_BATCH => Ok(Frame::Batch(batch.into_iter().map(RawValue::get).collect())),
            _ => Err("it is a batch of more than 256 messages"),
        }
    }
}

/// A line as every reader takes it for one, without the white space around it. Python ends a line at a
/// carriage return and Node at the line separators of Unicode, so what hides behind one would be a
/// message that nobody has judged.
pub fn one_line(line: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Err("it is not UTF-8 text");
    };
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    if text.contains('\r') {
        return Err("it holds a carriage return, which ends a line for some readers");
    }
    if !text.contains(ENDS_A_LINE) {
        return Ok(Cow::Borrowed(text));
    }
    // They stand in strings, where an escape is the same character.
    let escaped = ENDS_A_LINE.iter().fold(text.to_owned(), |text, end| {
        text.replace(*end, &format!("\\u{:04x}", u32::from(*end)))
    });
    Ok(Cow::Owned(escaped))
}

/// What ends a line for some readers and may stand in a string of JSON as it is.
const ENDS_A_LINE: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// The request a line seems to answer that is no message, so that whoever waits for it need not.
pub fn loose_id(line: &str) -> Option<Id> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    let named: Named<'_> = serde_json::from_str(line).ok()?;
    Id::read(named.id)
}

/// The answer to a request.
pub fn response(id: &Id, result: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "id": id.to_json(), "result": result}))
}

/// What JSON-RPC has for a line nobody could read, sent back to its sender so that it does not wait.
pub fn not_read(problem: &str) -> Vec<u8> {
    line(&json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {"code": -32700, "message": format!("Holdpoint: {problem}")},
    }))
}

/// A message with the end of its line.
pub(crate) fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_the_same_digits_as_text_are_two_names() {
        let id = |line: &str| Message::read(line).and_then(|message| message.id());
        assert_eq!(id(r#"{"id":1}"#), Some(Id::Number(1)));
        assert_eq!(id(r#"{"id":"1"}"#), Some(Id::Text("1".into())));
        for none in [r#"{"id":null}"#, r#"{"id":[1]}"#, r#"{"id":1.5}"#, "{}"] {
            assert_eq!(id(none), None, "{none}");
        }
    }

    #[test]
    fn what_two_readers_could_read_differently_is_no_message() {
        for line in [
            r#"{"method":"a","method":"b"}"#,
            r#"[{"method":"a"}]"#,
            r#""text""#,
            "{",
            "",
        ] {
            assert!(Message::read(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_message_of_two_kinds_has_none() {
        let kind = |line: &str| Message::read(line).and_then(|message| message.kind());
        assert_eq!(kind(r#"{"id":1,"method":"a"}"#), Some(Kind::Request));
        assert_eq!(kind(r#"{"method":"a"}"#), Some(Kind::Notification));
        assert_eq!(kind(r#"{"id":1,"result":{}}"#), Some(Kind::Response));
        assert_eq!(kind(r#"{"id":null,"error":{}}"#), Some(Kind::Response));
        for line in [
            r#"{"id":1,"method":"a","result":{}}"#,
            r#"{"id":1,"result":{},"error":{}}"#,
            r#"{"id":1}"#,
            r#"{"result":{}}"#,
        ] {
            assert_eq!(kind(line), None, "{line}");
        }
    }

    #[test]
    fn text_a_relay_has_no_use_for_need_not_be_whole() {
        let message = Message::read(r#"{"method":"x","params":{"text":"\ud800"}}"#);
        assert_eq!(message.unwrap().method.unwrap(), "x");
    }

    #[test]
    fn a_batch_is_taken_apart_and_bounded() {
        let frame = Frame::read(r#"[{"id":1}, {"id":2}]"#).unwrap();
        assert!(matches!(frame, Frame::Batch(ref all) if all == &[r#"{"id":1}"#, r#"{"id":2}"#]));
        let many = format!("[{}1]", "1,".repeat(MAX_BATCH));
        for line in ["[]", "[1", many.as_str()] {
            assert!(Frame::read(line).is_err(), "{line}");
        }
        assert!(matches!(Frame::read(""), Ok(Frame::Nothing)));
    }

    #[test]
    fn a_line_is_one_line_for_every_reader() {
        assert_eq!(one_line(b" {}\r").unwrap(), "{}");
        assert!(one_line(b"{\r}").is_err());
        assert!(one_line(b"\xff").is_err());
        let hidden = "{\"a\":\"\u{2028}{}\u{2029}\u{85}\"}";
        let line = one_line(hidden.as_bytes()).unwrap();
        assert_eq!(line, r#"{"a":"\u2028{}\u2029\u0085"}"#);
        let (one, other): (Value, Value) = (
            serde_json::from_str(hidden).unwrap(),
            serde_json::from_str(&line).unwrap(),
        );
        assert_eq!(one, other);
    }
}
