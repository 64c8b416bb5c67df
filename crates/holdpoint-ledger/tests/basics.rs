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
fn what_lets_a_call_run_and_what_is_a_minute_old_is_signed() {
    let home = tempfile::tempdir().unwrap();
    let system = Scripted::well();
    let ledger = Ledger::at(home.path()).on(&system);
    let append = || ledger.append(&entry(), Durability::Written).unwrap().seq;
    let signed = || verified(home.path()).signed;
    // The segment opens with a checkpoint over nothing.
    append();
    assert_eq!((append(), signed()), (2, 0));
    let release = entry();
    let release = [holdpoint_ledger::EntryRef::Whole(&release)];
    let appended = ledger.append_signed(&release, Durability::Synced).unwrap();
    assert_eq!((appended.seq, signed()), (4, 4));
    // A moment later nothing is signed; a minute later what is recorded is.
    system.clock.set(50);
    assert_eq!((append(), signed()), (5, 4));
    system.clock.set(61);
    assert_eq!((append(), signed()), (7, 7));
    assert_eq!((append(), signed()), (8, 7));
    // A process that keeps running needs nobody to append.
    let age = std::time::Duration::from_secs(30);
    assert!(!ledger.sign_if_older(age).unwrap());
    system.clock.set(95);
    assert!(ledger.sign_if_older(age).unwrap());
    assert_eq!(signed(), 9);
    system.clock.set(135);
    assert!(
        !ledger.sign_if_older(age).unwrap(),
        "nothing stands unsigned"
    );
    let nothing = Ledger::at(home.path().join("none"));
    assert!(!nothing.sign_if_older(age).unwrap());
    assert!(!home.path().join("none").exists());
    // However often that is: one file for all.
    let mut notes = 0;
    for entry in std::fs::read_dir(home.path()).unwrap() {
        let name = entry.unwrap().file_name();
        notes += usize::from(name.to_str().unwrap().ends_with(".checkpoint"));
    }
    assert_eq!(notes, 2, "of the opening, and the latest");
    assert!(verified(home.path()).is_intact());
}

#[test]
fn a_minute_waits_for_the_disk_once() {
    let home = tempfile::tempdir().unwrap();
    for (age, durability) in [
        (3_600, Durability::Synced),
        (0, Durability::Synced),
        (0, Durability::Written),
    ] {
        let system = Counting::default();
        let ledger = Ledger::at(home.path()).with(Options {
            sign_after: std::time::Duration::from_secs(age),
            ..Options::default()
        });
        // The first record makes the key and the segment.
        ledger.append(&entry(), Durability::Written).unwrap();
        let ledger = ledger.on(&system);
        ledger.append(&entry(), durability).unwrap();
        assert_eq!(system.waits.get(), 1, "{age} {durability:?}");
    }
}

/// Counts the waits for the disk.
#[derive(Debug, Default)]
struct Counting {
    waits: std::cell::Cell<usize>,
}

impl holdpoint_ledger::System for &Counting {
    fn open(&self, path: &Path, how: holdpoint_ledger::Open) -> std::io::Result<std::fs::File> {
        holdpoint_ledger::Real.open(path, how)
    }

    fn write_at(&self, file: &std::fs::File, bytes: &[u8], place: u64) -> std::io::Result<usize> {
        holdpoint_ledger::Real.write_at(file, bytes, place)
    }

    fn cut(&self, file: &std::fs::File, size: u64) -> std::io::Result<()> {
        holdpoint_ledger::Real.cut(file, size)
    }

    fn sync(&self, file: &std::fs::File) -> std::io::Result<()> {
        self.waits.set(self.waits.get() + 1);
        holdpoint_ledger::Real.sync(file)
    }

    fn now(&self) -> std::time::SystemTime {
        holdpoint_ledger::Real.now()
    }
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
