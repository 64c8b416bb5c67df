//! Invariant 7: whatever a policy or a session says, an agent neither approves nor loosens.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use holdpoint_core::{
    Method, Policy, Profile, Session, SessionState, Surroundings, ToolCall, Verdict, judge_call,
};
use serde_json::json;

/// What an agent might try on the gate itself.
fn attempts() -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = [
        "holdpoint approve 7",
        "holdpoint permissions allow 'rm *'",
        "holdpoint permissions suspend",
        "holdpoint trust .",
        "holdpoint people add mallory",
        "holdpoint uninstall claude-code",
        "/usr/local/bin/holdpoint trust",
        "env -i holdpoint permissions default allow",
        "bash -c 'h=holdpoint; $h approve 7'",
        "echo 'holdpoint approve 7' | sh",
        "HOLDPOINT_CONFIG=/tmp/p.json ls",
        "export PERMISSION_CONFIG_PATH=/tmp/p.json",
        "rm ~/.config/holdpoint/permissions.json",
        "echo '{}' > ~/.config/holdpoint/permissions.json",
        "sed -i s/deny/allow/ .holdpoint/permissions.json",
        "pkill -9 holdpoint",
        "python3 -c \"open('/home/dev/.config/holdpoint/permissions.json','w')\"",
    ]
    .into_iter()
    .map(ToolCall::shell)
    .collect();
    for path in [
        "/home/dev/.config/holdpoint/permissions.json",
        "/etc/holdpoint/permissions.json",
        "permissions.json",
        "/home/dev/.claude/settings.json",
    ] {
        let input = json!({ "file_path": path, "content": "{}" });
        calls.push(ToolCall::new("Write", input).unwrap());
    }
    calls
}

fn policies() -> Vec<Policy> {
    let mut policies: Vec<Policy> = Profile::ALL
        .into_iter()
        .map(|profile| Policy::profile(profile).unwrap())
        .collect();
    for text in [
        r#"{"defaultPolicy": "allow"}"#,
        r#"{"defaultPolicy": "allow", "allow": {"tools": ["Bash", "Write"], "patterns": ["*"]}}"#,
        r#"{"defaultPolicy": "allow", "guards": {"enabled": false}}"#,
        r#"{"defaultPolicy": "allow", "guards": {"packs": {"agents": "off"}}}"#,
        r#"{"defaultPolicy": "allow", "guards": {"rules": {"agents.trust-project": "off"}}}"#,
        r#"{"autonomy": "full", "tools": {"Bash": {"supervision": "automatic"}}}"#,
    ] {
        policies.push(Policy::from_text("test", text).unwrap());
    }
    policies
}

#[test]
fn no_policy_or_session_lets_an_agent_touch_the_gate() {
    let around = Surroundings {
        workspace: Some("/work/app"),
        home: Some("/home/dev"),
        ..Surroundings::nowhere()
    };
    let mut generous = SessionState {
        default: Some(holdpoint_core::DefaultPolicy::Allow),
        ..SessionState::default()
    };
    generous.allow.push("*".into());
    generous.suspended.all = true;
    for session in [Session::default(), Session::new(generous)] {
        for policy in policies() {
            for call in attempts() {
                let decision = judge_call(&call, &policy, &session, &around);
                assert_eq!(decision.verdict, Verdict::Deny, "{call:?}: {decision:?}");
                let guards = policy.layers().iter().any(|layer| layer.autonomy.is_none());
                if guards {
                    let own = decision
                        .findings
                        .iter()
                        .any(|finding| finding.method == Method::SelfProtection);
                    assert!(own, "{call:?}: {decision:?}");
                }
            }
        }
    }
}
