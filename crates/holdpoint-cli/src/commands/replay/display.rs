//! A recorded call in one line.

use holdpoint_agents::replay::Recorded;
use holdpoint_engine::{
    SUMMARY_ARGUMENTS, ToolCall, arguments_without_secrets, text_without_secrets,
};
use serde_json::Value;

use crate::terminal::escape_for_display;

/// The most characters of one argument, of its name and of a tool's name that are shown: a call is to fit on a line or
/// two. More is cut.
const MAX_ARGUMENT: usize = 80;
const MAX_NAME: usize = 40;
const MAX_TOOL: usize = 200;

/// The call as people are shown it: the command of a shell tool, the arguments of any other.
pub(in crate::commands) fn display_of(recorded: &Recorded, most: usize) -> String {
    match &recorded.call {
        Ok(call) => display_of_call(call, most),
        Err(_) => clean(&recorded.tool, most),
    }
}

/// The same for a call that can be read.
pub(in crate::commands) fn display_of_call(call: &ToolCall, most: usize) -> String {
    if let Some(line) = call.command_line() {
        return clean(&line, most);
    }
    let mut arguments: Vec<(usize, String)> = Vec::new();
    for (key, value) in &arguments_without_secrets(call) {
        let text = match value {
            Value::String(text) => escape_for_display(text, MAX_ARGUMENT),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => escape_for_display(&value.to_string(), MAX_ARGUMENT),
        };
        let place = SUMMARY_ARGUMENTS.iter().position(|telling| telling == key);
        let argument = format!("{}={text}", clean(key, MAX_NAME));
        arguments.push((place.unwrap_or(SUMMARY_ARGUMENTS.len()), argument));
    }
    arguments.sort_by_key(|(place, _)| *place);
    let arguments: Vec<String> = arguments.into_iter().map(|(_, text)| text).collect();
    let tool = clean(call.tool(), MAX_TOOL);
    escape_for_display(&format!("{tool}({})", arguments.join(", ")), most)
}

/// Text of a transcript as people are shown it. Redacted before it is cut, so that no half of a
/// secret is left.
pub(super) fn clean(text: &str, most: usize) -> String {
    escape_for_display(&text_without_secrets(text), most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_agents::replay::{Item, Reader, Seen};
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
    fn no_secret_is_shown() {
        // Put together here, so that nobody who looks for secrets finds one in this file.
        let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        for (tool, input) in [
            (
                "Bash",
                json!({"command": format!("curl -H 'Authorization: token {secret}' x.example")}),
            ),
            (
                "Write",
                json!({"file_path": "a", "content": format!("key = {secret}")}),
            ),
            (
                "T",
                json!({"password": "hunter2-hunter2", "list": [secret]}),
            ),
            (secret.as_str(), json!({})),
            ("T", json!({&secret: 1})),
            (secret.as_str(), json!("no object")),
        ] {
            let shown = display(tool, input);
            assert!(!shown.contains("a1B2c3"), "{shown}");
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(shown.contains('['), "{shown}");
        }
    }
}
