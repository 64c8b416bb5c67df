//! `holdpoint report` on a real ledger: what was appended is what is told, and damage is told, too.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use holdpoint_engine::Verdict;
use holdpoint_ledger::{Durability, Entry, Kind, Ledger};
use serde_json::Value;

fn ledger_of(home: &Path) -> PathBuf {
    home.join(".local/state/holdpoint/ledger")
}

fn filled() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let ledger = Ledger::at(ledger_of(home.path()));
    for verdict in [Verdict::Allow, Verdict::Allow, Verdict::Ask, Verdict::Deny] {
        let entry = Entry {
            verdict: Some(verdict),
            duration: Some(Duration::from_micros(420)),
            ..Entry::new(Kind::Decision)
        };
        ledger.append(&entry, Durability::Written).unwrap();
    }
    home
}

fn report(home: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .arg("report")
        .args(args)
        .current_dir(home)
        .env_clear()
        // The same answers whatever sandbox this machine makes.
        .env("HOLDPOINT_SANDBOX", "none")
        .env("HOME", home)
        .output()
        .unwrap()
}

fn figures(home: &Path, args: &[&str]) -> Value {
    let output = report(home, &[&["--json"], args].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_was_recorded_is_told() {
    let home = filled();
    let told = figures(home.path(), &[]);
    assert_eq!(told["calls"], 4);
    assert_eq!(told["verdicts"]["allow"], 2);
    assert_eq!(told["asks"]["ask_rate"], 0.25);
    assert_eq!(told["asks"]["unanswered"], 1);
    assert_eq!(told["judged"]["p50_us"], 420);
    assert_eq!(told["ledger"]["intact"], true);
    assert_eq!(
        told["ledger"]["records"], 5,
        "with the checkpoint that opens it"
    );
    assert_eq!(
        told["ledger"]["directory"],
        "~/.local/state/holdpoint/ledger"
    );
    assert_eq!(figures(home.path(), &["--since", "1h"])["calls"], 4);
    assert_eq!(figures(home.path(), &["--until", "1h"])["calls"], 0);
}

#[test]
fn a_changed_record_is_told_on_the_page_and_beside_it() {
    let home = filled();
    let segment = ledger_of(home.path()).join("00000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text.replacen("deny", "diet", 1)).unwrap();
    let output = report(home.path(), &["-o", "page.html"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("the ledger does not verify"), "{said}");
    let page = fs::read_to_string(home.path().join("page.html")).unwrap();
    assert!(page.contains("Ledger does not verify"));
    let told = figures(home.path(), &[]);
    assert_eq!(told["ledger"]["intact"], false);
    assert_eq!(told["ledger"]["unreadable"], 1);
    assert_eq!(told["calls"], 3);
}
