//! What the tests of the ledger share: records of a size, scratch directories, and an operating
//! system that fails or ends the writer at a chosen moment.
#![allow(dead_code, reason = "each test program uses a part")]

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use holdpoint_core::Verdict;
use holdpoint_core::text::redaction::Redacted;
use holdpoint_ledger::{
    Entry, Kind, Ledger, Open, Options, Reader, Real, Record, System, Verification, Verify,
};
use tempfile::TempDir;

/// A directory in memory where there is one: thousands of ledgers are made and thrown away.
pub(crate) fn scratch() -> TempDir {
    let shared = Path::new("/dev/shm");
    match tempfile::tempdir_in(shared) {
        Ok(directory) => directory,
        Err(_) => tempfile::tempdir().unwrap(),
    }
}

/// An entry whose reason starts with a name and whose record has about `size` bytes.
pub(crate) fn named(name: &str, size: usize) -> Entry {
    let around = 300;
    let mut text = format!("{name} ");
    while text.len() + around < size {
        text.push_str("because ");
    }
    Entry {
        agent: Some(Redacted::literal("claude-code")),
        tool: Some(Redacted::literal("Bash")),
        verdict: Some(Verdict::Deny),
        // The ledger takes only what was redacted or is part of the program.
        reason: Some(Redacted::literal(Box::leak(text.into_boxed_str()))),
        ..Entry::new(Kind::Decision)
    }
}

/// The name an entry was given.
pub(crate) fn name_of(record: &Record) -> Option<String> {
    let reason = record.reason.as_deref()?;
    let is_ours = record.kind == Kind::Decision;
    is_ours.then(|| reason.split(' ').next().unwrap_or_default().to_owned())
}

/// A ledger with small segments and a small reserve.
pub(crate) fn small(directory: &Path, segment_bytes: u64) -> Ledger {
    Ledger::at(directory).with(Options {
        segment_bytes,
        reserve_bytes: 32 << 10,
        lock_wait: Duration::from_secs(60),
        ..Options::default()
    })
}

/// The same, signed whenever the last signature is so old.
pub(crate) fn signing(directory: &Path, segment_bytes: u64, sign_after: Duration) -> Ledger {
    small(directory, segment_bytes).with(Options {
        segment_bytes,
        reserve_bytes: 32 << 10,
        lock_wait: Duration::from_secs(60),
        sign_after,
        ..Options::default()
    })
}

/// What a verification finds.
pub(crate) fn verified(directory: &Path) -> Verification {
    Verify::default().run(directory, &mut |_, _| {}).unwrap()
}

/// Fails unless nothing is wrong.
#[track_caller]
pub(crate) fn assert_intact(directory: &Path) -> Verification {
    let verification = verified(directory);
    assert_eq!(verification.faults, [], "{verification:?}");
    verification
}

/// Every record.
pub(crate) fn records(directory: &Path) -> Vec<Record> {
    let mut reader = Reader::new(directory);
    let mut all = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        all.push(line.record().unwrap());
    }
    all
}

/// The names of all records that have one.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    records(directory).iter().filter_map(name_of).collect()
}

/// How many repairs tell of `what`.
pub(crate) fn mends(directory: &Path, what: &str) -> usize {
    let is = |record: &&Record| {
        record.kind == Kind::Repair
            && record
                .detail
                .as_ref()
                .and_then(|detail| detail["what"].as_str())
                == Some(what)
    };
    records(directory).iter().filter(is).count()
}

/// The segments in order.
pub(crate) fn segments(directory: &Path) -> Vec<PathBuf> {
    files(directory, ".jsonl")
}

/// The files whose name has an ending, in order.
pub(crate) fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(ending))
        .collect();
    all.sort();
    all
}

/// Whether the last segment ends in the middle of a record.
pub(crate) fn is_torn(directory: &Path) -> bool {
    let torn = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        !bytes.is_empty() && !bytes.ends_with(b"\n")
    };
    segments(directory).iter().any(torn)
}

/// What happens at the chosen request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The process ends before it.
    DieBefore,
    /// The process ends when half of it is done; only a write has a half.
    DieHalfway,
    /// The process ends right after it.
    DieAfter,
    /// It fails, with a number of the operating system.
    Fail(i32),
    /// Half is written; what is left fails, with a number of the operating system.
    FailHalfway(i32),
    /// Half is written, without an error.
    Short,
}

/// An operating system on which one request does not go as it should.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) at: usize,
    pub(crate) event: Event,
    /// Whether all requests that come later fail as well.
    pub(crate) lasting: bool,
    /// Requests so far.
    pub(crate) count: Cell<usize>,
    /// How far the clock is off, in seconds.
    pub(crate) clock: Cell<i64>,
}

/// The bytes of a head.
const HEAD: usize = 181;

/// What unwinds in place of a process that ends. Nothing it leaves behind runs but the closing of
/// files, which is what the operating system does, too.
struct Ended;

impl Scripted {
    pub(crate) fn new(at: usize, event: Event, lasting: bool) -> Self {
        Self {
            at,
            event,
            lasting,
            count: Cell::new(0),
            clock: Cell::new(0),
        }
    }

    /// One where everything goes well.
    pub(crate) fn well() -> Self {
        Self::new(usize::MAX, Event::Short, false)
    }

    pub(crate) fn was_hit(&self) -> bool {
        self.count.get() > self.at
    }

    fn request<T>(
        &self,
        real: impl FnOnce() -> io::Result<T>,
        half: Option<&dyn Fn() -> io::Result<T>>,
    ) -> io::Result<T> {
        let number = self.count.replace(self.count.get() + 1);
        let is_first = number == self.at;
        let goes_well = !is_first && (!self.lasting || number < self.at);
        if goes_well {
            return real();
        }
        match self.event {
            Event::DieBefore => panic::resume_unwind(Box::new(Ended)),
            Event::DieHalfway => {
                if let Some(half) = half {
                    half()?;
                }
                panic::resume_unwind(Box::new(Ended))
            }
            Event::DieAfter => {
                real()?;
                panic::resume_unwind(Box::new(Ended))
            }
            Event::Short => half.map_or_else(real, |half| half()),
            Event::FailHalfway(_) if is_first && half.is_some() => {
                half.map_or_else(real, |half| half())
            }
            Event::Fail(number) | Event::FailHalfway(number) => {
                Err(io::Error::from_raw_os_error(number))
            }
        }
    }
}

impl System for &Scripted {
    fn open(&self, path: &Path, how: Open) -> io::Result<File> {
        self.request(|| Real.open(path, how), None)
    }

    fn write_at(&self, file: &File, bytes: &[u8], place: u64) -> io::Result<usize> {
        let half = || Real.write_at(file, &bytes[..bytes.len() / 2], place);
        // A process does not end within a page, nor does a disk fill up there, and that is where
        // the head lies.
        if bytes.len() == HEAD && (self.lasting || self.event == Event::DieHalfway) {
            return self.request(|| Real.write_at(file, bytes, place), None);
        }
        self.request(|| Real.write_at(file, bytes, place), Some(&half))
    }

    fn cut(&self, file: &File, size: u64) -> io::Result<()> {
        self.request(|| Real.cut(file, size), None)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.request(|| Real.rename(from, to), None)
    }

    fn sync(&self, _file: &File) -> io::Result<()> {
        // What counts is whether it fails; waiting for the disk would show nothing.
        self.request(|| Ok(()), None)
    }

    fn now(&self) -> SystemTime {
        let off = Duration::from_secs(self.clock.get().unsigned_abs());
        match self.clock.get() {
            ..0 => Real.now() - off,
            _ => Real.now() + off,
        }
    }
}

/// Runs until the process "ends"; none if it did.
pub(crate) fn alive<T>(work: impl FnOnce() -> T) -> Option<T> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(reason) if reason.is::<Ended>() => None,
        Err(reason) => panic::resume_unwind(reason),
    }
}
