//! What a client is answered: a refusal its model can read, and a server's own words with what is to be
//! told beside them.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::jsonrpc::{Id, line, response};

/// Where a result says by whom it was let run (J-58). What a server writes there is not its to say.
const PERMISSION: &str = "_permission";

/// The answer to a call that does not run: a result, since an error of the protocol is for whoever
/// programs and not for whoever reads. `permission` says why not (J-58).
pub fn denial(id: &Id, text: &str, permission: Option<&Value>, modern: bool) -> Vec<u8> {
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    if let Some(fields) = result.as_object_mut() {
        if let Some(permission) = permission {
            fields.insert(PERMISSION.into(), permission.clone());
        }
        if modern {
            fields.insert("resultType".into(), "complete".into());
        }
    }
    response(id, &result)
}

/// An error of the protocol: `code` is JSON-RPC's or one of a server's own.
pub fn error(id: &Id, code: i32, text: &str) -> Vec<u8> {
    line(&json!({
        "jsonrpc": "2.0",
        "id": id.to_json(),
        "error": {"code": code, "message": format!("Holdpoint: {text}")},
    }))
}

/// The request a cancellation takes back.
pub fn cancelled_id(params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    let cancelled: Cancelled<'_> = serde_json::from_str(params?.get()).ok()?;
    Id::read(cancelled.request_id)
}

/// A response whose result says by whom its call was let run; every other byte is as it was. None if the
/// result is no object.
pub fn with_permission(
    line: &str,
    result: &RawValue,
    value: &Map<String, Value>,
    permission: &Value,
) -> Option<String> {
    if value.contains_key(PERMISSION) {
        let mut value = value.clone();
        value.insert(PERMISSION.into(), permission.clone());
        return spliced(line, result.get(), &Value::Object(value).to_string());
    }
    let rest = result.get().strip_prefix('{')?;
    let comma = if value.is_empty() { "" } else { "," };
    let text = format!("{{\"{PERMISSION}\":{permission}{comma}{rest}");
    spliced(line, result.get(), &text)
}

/// A result with a word to the model after what the tool said.
pub fn noted(mut result: Map<String, Value>, note: &str) -> Map<String, Value> {
    let told = json!({"type": "text", "text": note});
    match result.get_mut("content") {
        Some(Value::Array(content)) => content.push(told),
        _ => {
            result.insert("content".into(), json!([told]));
        }
    }
    result
}

/// A text with a piece of it replaced. The piece must be a part of that very text; none if it is not.
pub(crate) fn spliced(text: &str, piece: &str, with: &str) -> Option<String> {
    let start = (piece.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let (before, rest) = text.split_at_checked(start)?;
    let after = rest.strip_prefix(piece)?;
    let mut made = String::with_capacity(before.len() + with.len() + after.len());
    made.push_str(before);
    made.push_str(with);
    made.push_str(after);
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::Message;

    fn permitted(line: &str) -> Option<String> {
        let message = Message::read(line).unwrap();
        let result = message.result.unwrap();
        let value: Value = serde_json::from_str(result.get()).unwrap();
        with_permission(
            line,
            result,
            value.as_object()?,
            &json!({"decision": "allowed"}),
        )
    }

    #[test]
    fn a_result_says_who_let_it_run_and_is_otherwise_as_it_was() {
        assert_eq!(
            permitted(r#"{"result": { "b":1.50, "a":"\u0041"},"id":1 }"#).unwrap(),
            r#"{"result": {"_permission":{"decision":"allowed"}, "b":1.50, "a":"\u0041"},"id":1 }"#
        );
        assert_eq!(
            permitted(r#"{"id":1,"result":{}}"#).unwrap(),
            r#"{"id":1,"result":{"_permission":{"decision":"allowed"}}}"#
        );
        assert_eq!(permitted(r#"{"id":1,"result":[]}"#), None);
    }

    #[test]
    fn a_server_cannot_say_that_somebody_let_its_call_run() {
        let made = permitted(r#"{"id":1,"result":{"_permission":{"decision":"x"},"a":1}}"#);
        assert!(!made.unwrap().contains("\"x\""));
        let made = permitted(r#"{"id":1,"result":{"\u005fpermission":7}}"#).unwrap();
        assert!(!made.contains('7'), "{made}");
    }

    #[test]
    fn a_refusal_is_a_result_the_model_reads() {
        let text =
            |modern| String::from_utf8(denial(&Id::Text("a".into()), "no", None, modern)).unwrap();
        assert_eq!(
            text(false).trim_end(),
            r#"{"id":"a","jsonrpc":"2.0","result":{"content":[{"text":"no","type":"text"}],"isError":true}}"#
        );
        assert!(text(true).contains(r#""resultType":"complete""#));
    }

    #[test]
    fn a_cancellation_names_what_it_takes_back() {
        let id = |params: &str| {
            let raw: Box<RawValue> = serde_json::from_str(params).unwrap();
            cancelled_id(Some(&raw))
        };
        assert_eq!(id(r#"{"requestId":4,"reason":"x"}"#), Some(Id::Number(4)));
        assert_eq!(id(r#"{"requestId":null}"#), None);
        assert_eq!(id(r#"{"requestId":1,"requestId":2}"#), None);
    }
}
