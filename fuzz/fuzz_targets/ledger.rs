//! Whatever bytes stand in the files of a ledger, verifying, reading, appending and repairing end in
//! a result or in one readable line, and an append that was acknowledged is there to be read.
//!
//! The first byte says what is done with the rest: the files of a ledger one after another,
//! separated by a byte that is no UTF-8; or bytes to be put somewhere into a genuine ledger.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use holdpoint_ledger::{Durability, Entry, Kind, Ledger, LedgerError, Options, Reader, Verify};
use holdpoint_text::redaction::Redacted;
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

const FILES: [&str; 6] = [
    "00000001.jsonl",
    "00000002.jsonl",
    "lock",
    "000000000000.checkpoint",
    "key.pub",
    "key",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((how, rest)) = bytes.split_first() else {
        return;
    };
    let directory = directory();
    empty(&directory);
    match how % 3 {
        0 => {
            for (name, content) in FILES.iter().zip(rest.split(|byte| *byte == 0xff)) {
                put(&directory.join(name), content);
            }
        }
        1 => {
            genuine(&directory);
            if let [file, place, other, content @ ..] = rest {
                patch(
                    &directory,
                    *file,
                    u16::from_le_bytes([*place, *other]),
                    content,
                );
            }
        }
        _ => {
            genuine(&directory);
            // A head with the right check digits, whatever it says.
            let check: String = Sha256::digest(rest)[..8]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            put(
                &directory.join("lock"),
                &[rest, b" ", check.as_bytes(), b"\n"].concat(),
            );
        }
    }
    try_everything(&directory);
});

fn try_everything(directory: &Path) {
    let ledger = small(directory);
    verify(directory);
    let before = count(directory);
    if readable(&ledger.append(&entry(), Durability::Written)) {
        assert!(
            count(directory) > before,
            "an acknowledged record is missing"
        );
    }
    readable(&ledger.append_refusal(&entry()));
    readable(&ledger.checkpoint());
    readable(&ledger.repair());
    verify(directory);
}

/// Whether it went well; an error has to be one plain line.
fn readable<T>(outcome: &Result<T, LedgerError>) -> bool {
    if let Err(error) = outcome {
        let message = error.to_string();
        assert!(!message.contains(char::is_control), "{message:?}");
    }
    outcome.is_ok()
}

fn verify(directory: &Path) {
    if let Ok(found) = Verify::default().run(directory, &mut |_, _| {}) {
        assert!(found.faults.len() <= 100 && found.notes.len() <= 100);
        assert!(
            found
                .faults
                .is_sorted_by_key(|fault| fault.record.unwrap_or(u64::MAX))
        );
    }
}

fn count(directory: &Path) -> usize {
    let mut reader = Reader::new(directory);
    let mut count = 0;
    while let Ok(Some(line)) = reader.next() {
        let _ = line.record();
        count += 1;
    }
    count
}

fn small(directory: &Path) -> Ledger {
    Ledger::at(directory).with(Options {
        segment_bytes: 1_500,
        reserve_bytes: 0,
        ..Options::default()
    })
}

fn entry() -> Entry {
    Entry {
        tool: Some(Redacted::literal("Bash")),
        reason: Some(Redacted::literal("because")),
        ..Entry::new(Kind::Decision)
    }
}

/// One directory for all runs of this process.
fn directory() -> PathBuf {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let shared = Path::new("/dev/shm");
        let root = if shared.is_dir() {
            shared.to_owned()
        } else {
            std::env::temp_dir()
        };
        root.join(format!("holdpoint-fuzz-ledger-{}", std::process::id()))
    };
    PLACE.get_or_init(make).clone()
}

fn empty(directory: &Path) {
    fs::create_dir_all(directory).expect("a directory");
    for entry in fs::read_dir(directory).expect("a directory") {
        fs::remove_file(entry.expect("an entry").path()).expect("a file");
    }
}

fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file");
}

/// The same few records each time.
fn genuine(directory: &Path) {
    static GENUINE: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let files = GENUINE.get_or_init(|| {
        let ledger = small(directory);
        for _ in 0..6 {
            ledger
                .append(&entry(), Durability::Written)
                .expect("a record");
        }
        let files = fs::read_dir(directory).expect("a directory");
        files
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().and_then(|name| name.to_str());
                (
                    name.unwrap_or_default().to_owned(),
                    fs::read(&path).expect("a file"),
                )
            })
            .collect()
    });
    for (name, bytes) in files {
        put(&directory.join(name), bytes);
    }
}

/// Puts bytes over those of a file from a place on; none at all cut it there.
fn patch(directory: &Path, file: u8, place: u16, content: &[u8]) {
    let path = directory.join(FILES[usize::from(file) % FILES.len()]);
    let mut bytes = fs::read(&path).unwrap_or_default();
    let place = usize::from(place) % (bytes.len() + 1);
    if content.is_empty() {
        bytes.truncate(place);
    }
    let end = (place + content.len()).min(bytes.len());
    bytes.splice(place..end, content.iter().copied());
    put(&path, &bytes);
}
