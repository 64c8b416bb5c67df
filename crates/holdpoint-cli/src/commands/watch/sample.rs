//! Requests as the tests show and answer them.

use holdpoint_broker::{Request, UnixMillis};
use serde_json::{Value, json};

/// The moment at which the tests look.
pub(super) const NOW: UnixMillis = UnixMillis(1_794_800_412_000);

/// A forced push somebody is asked about, with everything a request can say.
pub(super) fn push() -> Request {
    request(json!({
        "id": "hq7f3a91",
        "asked": {
            "agent": "claude-code", "session": "s-1", "tool": "Bash", "input": {},
            "directory": "/work/shop", "workspace": "/work/shop",
        },
        "origin": "sha256:origin",
        "binding": "sha256:push",
        "decision": {
            "v": 1, "verdict": "ask", "risk": "high", "method": "guard", "rule": "git.force-push",
            "reason": "a forced push throws away what others have pushed",
            "instead": null, "findings": [], "call": "sha256:call", "policy": "sha256:policy",
        },
        "terms": {
            "deadline": 300, "required": 1, "editable": ["command"], "suspendable": true,
            "offers": [
                { "scope": "prefix", "patterns": ["git push", "git push *"], "lasts": "a day" },
                { "scope": "exact", "patterns": ["git push --force origin topic"], "lasts": "a day" },
            ],
        },
        "display": {
            "summary": "git push --force origin topic",
            "details": "cd sub &&\ngit push --force origin topic",
            "format": "code",
            "warnings": [{ "level": "danger", "text": "commits of others may be lost" }],
            "marks": [{
                "span": [19, 26], "rule": "git.force-push", "verdict": "ask",
                "reason": "it throws commits away",
            }],
            "arguments": { "command": "cd sub &&\ngit push --force origin topic", "timeout": 60 },
            "paths": [{ "path": "/work/shop/sub", "what": "use" }],
        },
        "context": { "turn_number": 5, "intent": "publish the fix", "agent_name": "reviewer" },
        "checks": [
            { "check": "command_validator", "status": "passed", "message": "the command can be read" },
            { "check": "disk_space", "status": "warning", "message": "120 MB are free" },
        ],
        "opened": NOW.0,
        "expires": NOW.0 + 298_000,
        "state": "pending",
        "version": 1,
    }))
}

/// An edit of a file, which two people must release, one of whom has.
pub(super) fn edit() -> Request {
    let mut edit = push();
    edit.id = "e4dm2k8z".into();
    edit.asked.tool = "Edit".into();
    edit.binding = "sha256:edit".into();
    edit.expires = Some(UnixMillis(NOW.0 + 3_723_000));
    edit.terms.required = 2;
    edit.terms.offers.clear();
    edit.terms.suspendable = false;
    edit.decision.rule = None;
    edit.decision.risk = holdpoint_engine::Risk::Medium;
    edit.decision.reason = "No matching rule".into();
    edit.approvals = serde_json::from_value(json!([{ "approver": "ann", "at": NOW.0 }])).unwrap();
    edit.checks.clear();
    edit.display = serde_json::from_value(json!({
        "summary": "src/price.rs: 1 line goes, 2 come",
        "details": "--- src/price.rs\n+++ src/price.rs\n@@ -1,2 +1,3 @@\n fn total() {\n-    1\n+    2\n+    3\n",
        "format": "diff",
        "arguments": { "file_path": "src/price.rs" },
    }))
    .unwrap();
    edit
}

/// A call that is to be reviewed: its phrase must be typed.
pub(super) fn review() -> Request {
    let mut review = push();
    review.id = "rv5t9c2x".into();
    review.binding = "sha256:review".into();
    review.decision.verdict = holdpoint_engine::Verdict::Review;
    review.decision.risk = holdpoint_engine::Risk::Critical;
    review.expires = Some(UnixMillis(NOW.0 + 12_000));
    review.terms.phrase = Some("release git".into());
    review.terms.offers.clear();
    review.terms.suspendable = false;
    review
}

/// The same, answered.
pub(super) fn settled(open: &Request, state: &str) -> Request {
    let mut value = serde_json::to_value(open).unwrap();
    value["state"] = state.into();
    value["version"] = 2.into();
    value["settled"] = json!({
        "at": NOW.0 - 5000, "method": "user_approved", "reason": "User approved execution",
        "approvers": ["ann"],
    });
    request(value)
}

fn request(value: Value) -> Request {
    serde_json::from_value(value).unwrap()
}
