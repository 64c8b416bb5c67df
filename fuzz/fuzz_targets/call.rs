//! Whatever bytes an agent sends as a call, they are a call or an error.
//!
//! A value that is read strictly is the value every other JSON reader sees, and a call has one
//! text form and one digest. An object with `tool` and `input` is a call of that tool; any other
//! value is the input of a few tools that read their arguments differently.
#![no_main]

use holdpoint_core::{StrictValue, ToolCall};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let Ok(StrictValue(value)) = serde_json::from_slice::<StrictValue>(bytes) else {
        return;
    };
    let plain = serde_json::from_slice::<Value>(bytes);
    assert_eq!(plain.ok().as_ref(), Some(&value));

    match (
        value.get("tool").and_then(Value::as_str),
        value.get("input"),
    ) {
        (Some(tool), Some(input)) => check(tool, input.clone()),
        _ => {
            for tool in ["Bash", "exec_command", "Read", "mcp__any__tool"] {
                check(tool, value.clone());
            }
        }
    }
});

fn check(tool: &str, input: Value) {
    match ToolCall::new(tool, input) {
        Ok(call) => {
            let digest = call.digest();
            assert_eq!(digest.len(), "sha256:".len() + 64);
            assert_eq!(call.clone().digest(), digest);
            assert_ne!(call.clone().in_directory("/elsewhere").digest(), digest);
            assert_eq!(call.signature(), call.signature());
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
}
