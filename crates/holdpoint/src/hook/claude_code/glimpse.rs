//! What can be made out of a payload that cannot be read: which event it is of, and which tool.
//!
//! Whoever cannot be understood before a call is refused. After a call it is what was returned that
//! must be kept back, and for that the tool must be known, at least.

use std::fmt;

use holdpoint_core::ToolCall;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use super::super::Returned;

/// The first fields of a payload.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Glimpse {
    pub(super) event: Option<String>,
    tool: Option<String>,
    file: Option<String>,
}

impl Glimpse {
    /// Reads as far as that goes.
    pub(super) fn of(payload: &[u8]) -> Self {
        let mut seen = Self::default();
        // How it ends is known already.
        let _ = serde_json::Deserializer::from_slice(payload).deserialize_map(Looking(&mut seen));
        seen
    }

    /// A result of the tool, in the form it is known to have, without a word of what it returned.
    pub(super) fn returned(self) -> Option<Returned> {
        let tool = self.tool?;
        let (input, response) = match tool.as_str() {
            "Bash" => (
                Value::Null,
                json!({"stdout": UNREAD, "stderr": "", "interrupted": false, "isImage": false}),
            ),
            "Read" => {
                let path = self.file.unwrap_or_default();
                let file = json!({
                    "filePath": path, "content": UNREAD, "numLines": 1, "startLine": 1, "totalLines": 1,
                });
                (
                    json!({"file_path": path}),
                    json!({"type": "text", "file": file}),
                )
            }
            "WebFetch" => (
                Value::Null,
                json!({"bytes": 0, "code": 200, "codeText": "", "result": UNREAD, "durationMs": 0, "url": ""}),
            ),
            "Grep" => (
                Value::Null,
                json!({"mode": "content", "numFiles": 0, "filenames": [], "content": UNREAD, "numLines": 1}),
            ),
            _ if tool.starts_with("mcp__") => (Value::Null, json!([])),
            _ => return None,
        };
        Some(Returned {
            call: ToolCall::new(tool, input.clone()).ok()?,
            input,
            response,
            session: None,
            directory: None,
            replaceable: true,
            failed: false,
        })
    }
}

/// Stands for a text that was not read.
const UNREAD: &str = "…";

struct Looking<'g>(&'g mut Glimpse);

impl<'de> Visitor<'de> for Looking<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            // What is said twice is not known.
            match key.as_str() {
                "hook_event_name" => set(&mut self.0.event, map.next_value()?),
                "tool_name" => set(&mut self.0.tool, map.next_value()?),
                "tool_input" => {
                    let input: Value = map.next_value()?;
                    if let Some(file) = input.get("file_path") {
                        set(&mut self.0.file, file.clone());
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

fn set(slot: &mut Option<String>, value: Value) {
    *slot = match (&slot, value) {
        (None, Value::String(text)) => Some(text),
        (_, _) => Some(String::new()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fields_are_seen_whatever_follows() {
        let whole = r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/a"},"tool_response":{"a":1,"a":"#;
        let seen = Glimpse::of(whole.as_bytes());
        assert_eq!(seen.event.as_deref(), Some("PostToolUse"));
        let returned = seen.returned().unwrap();
        assert_eq!(returned.call.tool(), "Read");
        assert_eq!(returned.response["file"]["filePath"], "/a");
        for length in 0..whole.len() {
            let _ = Glimpse::of(&whole.as_bytes()[..length]).returned();
        }
        let twice = br#"{"hook_event_name":"UserPromptSubmit","hook_event_name":"PreToolUse","#;
        assert_eq!(Glimpse::of(twice).event.as_deref(), Some(""));
        assert_eq!(Glimpse::of(b"[1]"), Glimpse::default());
        assert_eq!(Glimpse::of(b"\xff\xfe"), Glimpse::default());
    }
}
