//! What a call may cost: a call of absurd size is refused, and no decision is larger than a person
//! or a program wants to read.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use holdpoint_core::{
    Decision, MAX_COMMAND, Policy, Session, Surroundings, ToolCall, Verdict, judge_call,
};
use serde_json::json;

fn decide(policy: &serde_json::Value, call: &ToolCall) -> Decision {
    let policy = Policy::from_text("test", policy.to_string()).unwrap();
    judge_call(call, &policy, &Session::default(), &Surroundings::nowhere())
}

fn refused_as_oversize(decision: &Decision) -> bool {
    decision.verdict == Verdict::Deny && decision.rule.as_deref() == Some("oversize")
}

#[test]
fn a_line_of_too_many_bytes_or_commands_is_refused_whatever_allows_it() {
    let policy = json!({ "defaultPolicy": "allow", "allow": { "tools": ["Bash"] } });
    let long = ToolCall::shell("a".repeat(MAX_COMMAND + 1));
    assert!(refused_as_oversize(&decide(&policy, &long)));
    let many = ToolCall::shell("a;".repeat(5_000));
    assert!(refused_as_oversize(&decide(&policy, &many)));
}

#[test]
fn a_tool_given_too_many_files_is_refused() {
    let policy = json!({ "defaultPolicy": "allow" });
    let paths: Vec<String> = (0..5_000).map(|n| format!("f{n}")).collect();
    let call = ToolCall::new("Write", json!({ "paths": paths })).unwrap();
    assert!(refused_as_oversize(&decide(&policy, &call)));
}

#[test]
fn a_path_too_deep_to_be_compared_is_refused() {
    let policy = json!({ "defaultPolicy": "allow" });
    let path = format!("{}.env", "d/".repeat(129));
    for (tool, input) in [
        ("Read", json!({ "file_path": path })),
        ("Write", json!({ "file_path": path, "content": "x" })),
        ("frobnicate", json!({ "path": path })),
        ("Bash", json!({ "command": format!("cat {path}") })),
    ] {
        let call = ToolCall::new(tool, input).unwrap();
        assert!(refused_as_oversize(&decide(&policy, &call)), "{tool}");
    }
}

#[test]
fn a_decision_lists_a_bounded_number_of_findings_and_the_deciding_one_first() {
    let policy = json!({
        "defaultPolicy": "ask",
        "allow": { "patterns": ["b *"] },
        "deny": { "patterns": ["rm *"] },
    });
    let line: Vec<String> = (0..1_500).map(|n| format!("b {n}")).collect();
    let allowed = decide(&policy, &ToolCall::shell(line.join(";")));
    assert_eq!(allowed.verdict, Verdict::Allow);
    assert!(allowed.findings.len() <= 200);
    let denied = decide(
        &policy,
        &ToolCall::shell(format!("{};rm x", line.join(";"))),
    );
    assert_eq!(denied.verdict, Verdict::Deny);
    assert_eq!(denied.findings.first().unwrap().rule, "rm *");
}
