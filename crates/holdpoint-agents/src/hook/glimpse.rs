//! What can be made out of a payload that cannot be read: which event it is of, and which tool.
//!
//! Whoever cannot be understood before a call is refused. After a call it is what was returned that
//! must be kept back, and for that the tool must be known, at least.

use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The first fields of a payload.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Glimpse {
    pub(crate) event: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) file: Option<String>,
}

impl Glimpse {
    /// Reads as far as that goes.
    pub(crate) fn from_payload(payload: &[u8]) -> Self {
        let mut seen = Self::default();
        // How it ends is known already.
        let _ = serde_json::Deserializer::from_slice(payload).deserialize_map(Looking(&mut seen));
        seen
    }
}

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
                "hook_event_name" | "hookName" | "event" | "agent_action_name" => {
                    set(&mut self.0.event, map.next_value()?)
                }
                "tool_name" | "toolName" | "tool" => set(&mut self.0.tool, map.next_value()?),
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
        let seen = Glimpse::from_payload(whole.as_bytes());
        assert_eq!(seen.event.as_deref(), Some("PostToolUse"));
        assert_eq!(seen.tool.as_deref(), Some("Read"));
        assert_eq!(seen.file.as_deref(), Some("/a"));
        for length in 0..whole.len() {
            let _ = Glimpse::from_payload(&whole.as_bytes()[..length]);
        }
        let twice = br#"{"hook_event_name":"UserPromptSubmit","hook_event_name":"PreToolUse","#;
        assert_eq!(Glimpse::from_payload(twice).event.as_deref(), Some(""));
        assert_eq!(Glimpse::from_payload(b"[1]"), Glimpse::default());
        assert_eq!(Glimpse::from_payload(b"\xff\xfe"), Glimpse::default());
    }
}
