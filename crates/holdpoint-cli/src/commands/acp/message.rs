//! One line of JSON-RPC, as far as a relay has to know it: what it is, not what it says.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The longest line of either side, as long as the payload of a hook may be; a longer one goes nowhere.
pub(super) const MAX_LINE: usize = 16 << 20;

/// The longest name of a request; real ones are numbers. A request with a longer one goes nowhere.
const MAX_ID: usize = 1024;

/// The name of a request, in the scope of whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        if raw.get().len() > MAX_ID {
            return None;
        }
        match serde_json::from_str(raw.get()).ok()? {
            Value::String(text) => Some(Id::Text(text)),
            Value::Number(number) => number.as_i64().map(Id::Number),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Id::Number(number) => json!(number),
            Id::Text(text) => json!(text),
        }
    }
}

/// A request, a notification or a response.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads a line. One that names a field twice is none: its two readers may see two messages.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let is_object = line.trim_start().starts_with('{');
        is_object.then(|| serde_json::from_str(line).ok()).flatten()
    }

    /// The name of the request it is, or answers.
    pub(super) fn id(&self) -> Option<Id> {
        self.id.and_then(Id::read)
    }
}

/// The answer to a request.
pub(super) fn response(id: &Id, result: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "id": id.to_json(), "result": result}))
}

/// What JSON-RPC has for a line nobody could read, sent back to its sender so that it does not wait.
pub(super) fn not_read(problem: &str) -> Vec<u8> {
    line(&json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {"code": -32700, "message": format!("Holdpoint: {problem}")},
    }))
}

fn line(message: &Value) -> Vec<u8> {
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
    fn text_a_relay_has_no_use_for_need_not_be_whole() {
        let message = Message::read(r#"{"method":"x","params":{"text":"\ud800"}}"#);
        assert_eq!(message.unwrap().method.unwrap(), "x");
    }
}
