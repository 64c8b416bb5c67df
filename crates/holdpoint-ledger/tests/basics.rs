//! The ledger as a writer and a reader meet it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test may fail loudly"
)]

mod support;

use std::path::Path;

use holdpoint_core::Verdict;
use holdpoint_core::text::redaction::Redacted;
use holdpoint_ledger::{Durability, Entry, Kind, Ledger, Options, Reader, Verification, Verify};
use support::{Event, Scripted, alive};

fn entry() -> Entry {
    Entry {
        agent: Some(Redacted::literal("claude-code")),
        tool: Some(Redacted::literal("Bash")),
        verdict: Some(Verdict::Deny),
        reason: Some(Redacted::literal("because")),
        ..Entry::new(Kind::Decision)
    }
}

fn small(directory: &Path) -> Ledger {
    Ledger::at(directory).with(Options {
        segment_bytes: 4096,
        ..Options::default()
    })
}

fn verified(directory: &Path) -> Verification {
    Verify::default().run(directory, &mut |_, _| {}).unwrap()
}

fn records(directory: &Path) -> Vec<(u64, Kind)> {
    let mut reader = Reader::new(directory);
    let mut all = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        let record = line.record().unwrap();
        all.push((record.seq, record.kind));
    }
    all
}

#[test]
fn what_is_appended_is_read_in_order_and_verifies() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("a/ledger");
    let ledger = small(&directory);
    for count in 0..100 {
        let durability = if count % 10 == 0 {
            Durability::Synced
        } else {
            Durability::Written
        };
        ledger.append(&entry(), durability).unwrap();
    }
    let all = records(&directory);
    let numbers: Vec<u64> = all.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (0..all.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        all.iter()
            .filter(|(_, kind)| *kind == Kind::Decision)
            .count(),
        100
    );
    let verification = verified(&directory);
    assert_eq!(verification.faults, []);
    assert!(verification.segments > 5, "{verification:?}");
    assert_eq!(verification.checkpoints, verification.segments);
}

#[test]
fn a_torn_tail_is_cut_and_the_cut_is_on_record() {
    let home = tempfile::tempdir().unwrap();
    let ledger = small(home.path());
    ledger.append(&entry(), Durability::Written).unwrap();
    // The process ends when half of the record stands there; the two writes before it are the head.
    let system = Scripted::new(3, Event::DieHalfway, false);
    let ended = alive(|| {
        small(home.path())
            .on(&system)
            .append(&entry(), Durability::Written)
    });
    assert!(ended.is_none());
    let before = verified(home.path());
    assert_eq!(
        (before.faults.len(), before.notes.len()),
        (0, 1),
        "{before:?}"
    );
    ledger.append(&entry(), Durability::Written).unwrap();
    let kinds: Vec<Kind> = records(home.path())
        .into_iter()
        .map(|(_, kind)| kind)
        .collect();
    assert_eq!(
        kinds,
        [
            Kind::Checkpoint,
            Kind::Decision,
            Kind::Repair,
            Kind::Decision
        ]
    );
    assert!(verified(home.path()).is_intact());
}

#[test]
fn records_cut_off_are_noticed_before_and_after_the_next_append_until_a_person_takes_note() {
    let home = tempfile::tempdir().unwrap();
    let ledger = small(home.path());
    for _ in 0..5 {
        ledger.append(&entry(), Durability::Written).unwrap();
    }
    let segment = home.path().join("00000001.jsonl");
    let text = std::fs::read_to_string(&segment).unwrap();
    let kept: String = text.split_inclusive('\n').take(4).collect();
    std::fs::write(&segment, kept).unwrap();
    assert!(!verified(home.path()).is_intact());
    ledger.append(&entry(), Durability::Written).unwrap();
    assert!(!verified(home.path()).is_intact());
    ledger.repair().unwrap();
    let after = verified(home.path());
    assert_eq!((after.faults.len(), after.notes.len()), (0, 1), "{after:?}");
}

#[test]
fn a_checkpoint_tells_of_records_removed_with_the_head() {
    let home = tempfile::tempdir().unwrap();
    let ledger = small(home.path());
    ledger.append(&entry(), Durability::Written).unwrap();
    let kept: Vec<_> = ["00000001.jsonl", "lock"]
        .map(|name| (name, std::fs::read(home.path().join(name)).unwrap()))
        .into();
    ledger.append(&entry(), Durability::Written).unwrap();
    ledger.checkpoint().unwrap();
    for (name, bytes) in kept {
        std::fs::write(home.path().join(name), bytes).unwrap();
    }
    let found = verified(home.path());
    assert_eq!(found.faults.len(), 1, "{found:?}");
}

#[test]
fn a_head_older_than_the_segments_lets_nobody_write_over_them() {
    let home = tempfile::tempdir().unwrap();
    let ledger = small(home.path());
    let second = home.path().join("00000002.jsonl");
    let mut heads = Vec::new();
    while !second.exists() {
        heads.push(std::fs::read(home.path().join("lock")).unwrap_or_default());
        ledger.append(&entry(), Durability::Written).unwrap();
    }
    for _ in 0..3 {
        ledger.append(&entry(), Durability::Written).unwrap();
    }
    let before = records(home.path());
    // Somebody puts back the head that was there when the first segment was full.
    std::fs::write(home.path().join("lock"), heads.pop().unwrap()).unwrap();
    assert!(!verified(home.path()).is_intact());
    ledger.append(&entry(), Durability::Written).unwrap();
    assert_eq!(records(home.path())[..before.len()], before);
    assert!(!verified(home.path()).is_intact());
    ledger.repair().unwrap();
    assert!(verified(home.path()).is_intact());
}
