//! `holdpoint policy suggest` and `diff` on a real ledger: what was released is offered, with what else it would let
//! through; what a person refused never is.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use holdpoint_core::digest_of;
use holdpoint_core::text::redaction::{Redacted, Redactor};
use holdpoint_core::{Risk, Verdict};
use holdpoint_ledger::{Digest, Durability, Entry, Kind, Ledger};
use serde_json::{Value, json};

/// A home with a policy and a ledger.
struct Home {
    directory: tempfile::TempDir,
    ledger: Ledger,
    calls: std::cell::Cell<u32>,
}

impl Home {
    fn new(policy: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path().join(".config/holdpoint");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("permissions.json"), policy).unwrap();
        let ledger = Ledger::at(directory.path().join(".local/state/holdpoint/ledger"));
        Self {
            directory,
            ledger,
            calls: std::cell::Cell::new(0),
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A command that was judged, and how its question ended.
    fn made(&self, command: &str, verdict: Verdict, answer: Option<Verdict>) {
        self.calls.set(self.calls.get() + 1);
        let call = Digest::parse(&digest_of(&self.calls.get().to_be_bytes())).unwrap();
        let redactor = Redactor::new();
        let decision = Entry {
            verdict: Some(verdict),
            risk: Some(Risk::Medium),
            tool: Some(Redacted::literal("Bash")),
            input: Some(redactor.json(&json!({ "command": command })).0),
            directory: Some(redactor.text(self.path().to_str().unwrap())),
            call: Some(call.clone()),
            ..Entry::new(Kind::Decision)
        };
        self.ledger.append(&decision, Durability::Written).unwrap();
        if let Some(answer) = answer {
            let answered = Entry {
                verdict: Some(answer),
                call: Some(call),
                ..Entry::new(Kind::HoldAnswered)
            };
            self.ledger.append(&answered, Durability::Written).unwrap();
        }
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_holdpoint"))
            .arg("policy")
            .args(args)
            .current_dir(self.path())
            .env_clear()
            // The same answers whatever sandbox this machine makes.
            .env("HOLDPOINT_SANDBOX", "none")
            .env("HOME", self.path())
            .output()
            .unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

const ASKS: &str = r#"{ "defaultPolicy": "ask" }"#;

#[test]
fn what_was_released_each_time_is_offered_with_what_else_it_lets_through() {
    let home = Home::new(ASKS);
    for name in ["a", "b", "c"] {
        home.made(
            &format!("gh pr view {name}"),
            Verdict::Ask,
            Some(Verdict::Allow),
        );
    }
    home.made("gh pr view d --web", Verdict::Ask, None);
    home.made("cd x && gh pr view e", Verdict::Ask, None);
    home.made("make", Verdict::Ask, Some(Verdict::Allow));
    let found = home.json(&["suggest"]);
    assert_eq!(found["asked"], 6);
    assert_eq!(found["released"], 4);
    let line = &found["lines"][0];
    assert_eq!(line["patterns"], json!(["gh pr view *"]), "{found:#}");
    assert_eq!((&line["saves"], &line["approved"]), (&json!(4), &json!(3)));
    let text = found["snippet"]["text"].as_str().unwrap();
    assert!(text.contains("\"gh pr view *\""), "{text}");
    assert_eq!(found["lines"].as_array().unwrap().len(), 1, "{found:#}");
    let told = home.run(&["suggest"]);
    assert!(told.status.success());
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.contains("saves 4 questions, 3 of them released"),
        "{told}"
    );
    assert!(
        told.contains("Add to ~/.config/holdpoint/permissions.json:"),
        "{told}"
    );
    // One release is enough for whoever says so.
    let found = home.json(&["suggest", "--at-least", "1"]);
    let lines = found["lines"].as_array().unwrap().iter();
    let mut patterns = lines.map(|line| line["patterns"].clone());
    assert!(patterns.any(|one| one == json!(["make"])), "{found:#}");
}

#[test]
fn what_a_line_lets_through_besides_is_named() {
    let home = Home::new(ASKS);
    for name in ["a", "b", "c"] {
        home.made(
            &format!("cargo run --example {name}"),
            Verdict::Ask,
            Some(Verdict::Allow),
        );
    }
    home.made("echo x && cargo run --example d", Verdict::Ask, None);
    home.made("cd sub; cargo run --example e | cat", Verdict::Ask, None);
    let policy = r#"{ "defaultPolicy": "ask", "allow": { "patterns": ["echo *"] } }"#;
    fs::write(
        home.path().join(".config/holdpoint/permissions.json"),
        policy,
    )
    .unwrap();
    let found = home.json(&["suggest"]);
    let through = found["lines"][0]["lets_through"].as_array().unwrap();
    let named = |call: &str| through.iter().find(|one| one["call"] == call);
    let other = named("echo x && cargo run --example d").unwrap();
    assert_eq!(
        (&other["verdict"], &other["from"]),
        (&json!("ask"), &json!("ledger"))
    );
    // Parts of it nothing allows are still asked about.
    assert!(
        named("cd sub; cargo run --example e | cat").is_none(),
        "{found:#}"
    );
}

#[test]
fn what_a_person_refused_is_never_suggested() {
    let home = Home::new(ASKS);
    for name in ["a", "b", "c"] {
        home.made(
            &format!("gh pr view {name}"),
            Verdict::Ask,
            Some(Verdict::Allow),
        );
    }
    home.made("gh pr view secret", Verdict::Ask, Some(Verdict::Deny));
    let found = home.json(&["suggest"]);
    assert_eq!(found["lines"], json!([]), "{found:#}");
    assert_eq!(found["snippet"], Value::Null);
}

#[test]
fn a_difference_is_told_by_call_and_by_exit_code() {
    let home = Home::new(ASKS);
    home.made("make deploy", Verdict::Ask, None);
    home.made("make deploy", Verdict::Ask, None);
    home.made("cargo test", Verdict::Ask, None);
    // Put together here, so that nobody who looks for secrets finds one in this file.
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    home.made(
        &format!("curl -H 'Authorization: token {secret}' x.example"),
        Verdict::Ask,
        None,
    );
    let new = home.path().join("new.json");
    let text = r#"{ "defaultPolicy": "ask", "deny": { "patterns": ["make deploy *"] } }"#;
    fs::write(&new, text).unwrap();
    let found = home.json(&["diff", "new.json"]);
    assert_eq!(
        (&found["calls"], &found["changed"]),
        (&json!(3), &json!(2)),
        "{found:#}"
    );
    let change = &found["changes"][0];
    assert_eq!(
        (&change["call"], &change["calls"]),
        (&json!("make deploy"), &json!(2))
    );
    assert_eq!(
        (&change["from"], &change["to"]),
        (&json!("ask"), &json!("deny"))
    );
    assert_eq!(change["new_rule"], "make deploy *");
    assert_eq!(found["shortened"], 1);
    assert_eq!(home.run(&["diff", "new.json"]).status.code(), Some(1));
    assert_eq!(
        home.run(&["diff", "new.json", "new.json"]).status.code(),
        Some(0)
    );
    assert_eq!(home.run(&["diff", "none.json"]).status.code(), Some(5));
}
