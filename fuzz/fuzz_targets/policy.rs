//! Whatever bytes a policy file holds, it compiles or is refused with one readable line.
//!
//! A policy that compiles can judge: a few calls of different shapes are put to it, since what
//! a rule means is worked out only when it is matched.
#![no_main]

use holdpoint_core::{Policy, Session, Surroundings, ToolCall, judge_call};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    match Policy::from_text("fuzz", bytes) {
        Ok(policy) => {
            for call in calls() {
                let decision = judge_call(
                    &call,
                    &policy,
                    &Session::default(),
                    &Surroundings::nowhere(),
                );
                assert_eq!(decision.policy, policy.digest());
            }
        }
        Err(error) => {
            let message = error.to_string();
            let breaks = |c: char| c.is_control() || (c.is_whitespace() && c != ' ');
            assert!(
                !message.contains(breaks),
                "a message that is not one plain line: {message:?}"
            );
        }
    }
});

/// A compound line, arguments given apart from the command, a file tool, an unknown tool with
/// nested arguments, and a call that cannot be understood.
fn calls() -> impl Iterator<Item = ToolCall> {
    [
        (
            "Bash",
            json!({"command": "cd /tmp && sudo rm -rf ./x 2>/dev/null | tee ~/.env"}),
        ),
        (
            "cli_based_tool",
            json!({"command": "git", "args": ["push", "--force", "origin main"]}),
        ),
        (
            "Write",
            json!({"file_path": "../notes/.env", "content": "a=b"}),
        ),
        (
            "mcp__db__query",
            json!({"sql": "DROP TABLE t", "limit": 10, "path": ["/etc", {"url": "https://x"}]}),
        ),
        ("shell", json!({"command": ["ls"]})),
    ]
    .into_iter()
    .filter_map(|(tool, input)| ToolCall::new(tool, input).ok())
}
