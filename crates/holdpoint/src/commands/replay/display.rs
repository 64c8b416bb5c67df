//! A recorded call in one line.

use holdpoint::replay::Recorded;
use serde_json::Value;

use crate::terminal::shown;

/// How much of one argument is shown.
const ARGUMENT: usize = 80;

/// The arguments that say most about a call.
const FIRST: &[&str] = &[
    "file_path",
    "absolute_path",
    "notebook_path",
    "path",
    "url",
    "pattern",
    "query",
];

/// The call as people are shown it: the command of a shell tool, the arguments of any other. This is
/// the one place where text of a call leaves for a screen or a file.
pub(super) fn display_of(recorded: &Recorded, most: usize) -> String {
    let Ok(call) = &recorded.call else {
        return shown(&recorded.tool, most);
    };
    let signature = call.signature();
    if !signature.starts_with(&format!("{}(", call.tool())) {
        return shown(&signature, most);
    }
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for (key, value) in call.input() {
        let text = match value {
            Value::String(text) => shown(text, ARGUMENT),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => shown(&value.to_string(), ARGUMENT),
        };
        let argument = format!("{}={text}", shown(key, 40));
        match FIRST.contains(&key.as_str()) {
            true => first.push(argument),
            false => others.push(argument),
        }
    }
    first.append(&mut others);
    shown(&format!("{}({})", call.tool(), first.join(", ")), most)
}

/// A number with its thousands set apart.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint::replay::{Item, Reader, Seen};
    use serde_json::json;

    fn display(tool: &str, input: Value) -> String {
        let line = json!({"type": "assistant", "sessionId": "s", "message": {"content": [
            {"type": "tool_use", "id": "1", "name": tool, "input": input}]}});
        let line = line.to_string();
        let mut seen = Seen::default();
        let mut reader = Reader::new(line.as_bytes(), &mut seen);
        match reader.read_next().unwrap() {
            Some(Item::Call(call)) => display_of(&call, 200),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_path_comes_before_the_content() {
        assert_eq!(display("Bash", json!({"command": "ls\n-l"})), "ls\\n-l");
        assert_eq!(
            display(
                "Write",
                json!({"content": "x".repeat(200), "file_path": "a.rs"})
            ),
            format!("Write(file_path=a.rs, content={}…)", "x".repeat(80))
        );
        assert_eq!(
            display("T", json!({"n": 1, "l": [true]})),
            "T(l=[true], n=1)"
        );
        assert_eq!(display("T\u{1b}", json!("x")), "T\\u{1b}");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 999, 1000, 1234567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
