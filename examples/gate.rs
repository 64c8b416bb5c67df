//! A small agent loop with a gate in front of its tools.
//!
//! Run it with `cargo run -p holdpoint --example gate`. The "model" is a fixed list of calls; what
//! matters is that no tool runs before the gate has spoken, and that the model reads why.

use std::io::{self, Write};

use holdpoint::{Gate, SessionState, ToolCall, Verdict};
use serde_json::json;

const POLICY: &str = r#"{
    // Ask about everything, except:
    "defaultPolicy": "ask",
    "allow": { "tools": ["Read"], "patterns": ["git status", "cargo test *"] },
    "deny": { "patterns": ["rm -rf *", "git push --force*"] },
    "files": { "write": { "deny": [".env", ".env.*", "!.env.example"] } }
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gate = Gate::from_policy(POLICY)?;
    let calls = [
        ToolCall::shell("git status"),
        ToolCall::shell("cargo test --workspace && rm -fr ~/projects"),
        ToolCall::shell("git commit -m 'explain why rm -rf / is refused'"),
        ToolCall::new("Write", json!({ "file_path": ".env", "content": "KEY=1" }))?,
        ToolCall::new("Read", json!({ "file_path": "README.md" }))?,
    ];
    let mut out = io::stdout().lock();
    for call in &calls {
        let decision = gate.judge(call);
        let outcome = match decision.verdict {
            Verdict::Allow | Verdict::Notify => "the tool runs",
            Verdict::Contain => "the tool runs inside the sandbox",
            Verdict::Ask | Verdict::Review => "a person is asked",
            Verdict::Deny => "refused, and the model is told why",
        };
        writeln!(out, "{:<7} {}", decision.verdict.as_str(), call.signature())?;
        writeln!(out, "        {outcome}: {}", decision.reason)?;
    }

    // What a person says in a session counts for the calls that follow, but never over a deny.
    let state = SessionState {
        allow: vec!["git commit *".into(), "rm *".into()],
        ..SessionState::default()
    };
    let gate = gate.in_session(state);
    writeln!(out, "\nafter the person allowed `git commit *` and `rm *`:")?;
    for call in &calls {
        let decision = gate.judge(call);
        writeln!(out, "{:<7} {}", decision.verdict.as_str(), call.signature())?;
    }
    Ok(())
}
