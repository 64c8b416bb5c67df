//! Finding what was changed, removed or added.
//!
//! Segments are hashed in parallel; their links, the tree and the checkpoints are then followed
//! from the first record to the last. `tools/verify_ledger.py` does the same from the description in
//! `docs/ledger.md` alone.

mod fault;
mod lines;
mod signed;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use holdpoint_proof::Pins;

use crate::chain::RecordHash;
use crate::error::{Doing, LedgerError};
use crate::head::{self, Head, State};
use crate::keys;
use crate::merkle::Tree;
use crate::note::{Checkpoint, PublicKey};
use crate::record::Mend;
use crate::recovery::{self, CheckpointDetail};
use crate::segments::{
    KEY, LATEST_NOTE, LOCK, PUBLIC_KEY, note_name, note_path, note_sizes, segment_name,
    segment_numbers, segment_path,
};
use crate::system::read_at;
use crate::writer::lock_within;

use self::lines::{Checked, CheckedLine, Pieces, Special, checked_together};
use self::signed::{Released, SignedAnswer};

pub use self::fault::{Defect, Fault};

/// The most faults, and the most things worth knowing, that are listed: the first is what counts, and a ledger of noise has
/// millions. The rest are left out.
const MAX_LISTED: usize = 100;

/// The longest that writers are waited for: each holds the lock for milliseconds. Then it is an error.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// What was verified and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The records that were read.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The segments.
    pub segments: u64,
    /// The checkpoints that hold.
    pub checkpoints: u64,
    /// How many records the last checkpoint that holds is about.
    pub signed: u64,
    /// The releases somebody signed, verified again.
    pub proofs: u64,
    /// How many of them are by keys that are not pinned now, if they were compared with those.
    pub unpinned: Option<u64>,
    /// What is wrong, the first bad record first.
    pub faults: Vec<Fault>,
    /// What is worth knowing and no fault.
    pub notes: Vec<String>,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_intact(&self) -> bool {
        self.faults.is_empty()
    }

    fn add(&mut self, fault: Fault) {
        if self.faults.len() < MAX_LISTED {
            self.faults.push(fault);
        }
    }

    fn mention(&mut self, note: String) {
        if self.notes.len() < MAX_LISTED {
            self.notes.push(note);
        }
    }
}

/// A verification to be made.
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// Notes kept elsewhere.
    pub notes: Vec<String>,
    /// The key, kept elsewhere.
    pub key: Option<PublicKey>,
    /// The keys of people that are pinned now. One that is not may have been lost and taken back since, so that is no fault.
    pub pins: Option<Pins>,
}

impl Verify {
    /// Verifies the ledger in a directory. `progress` is told the bytes done and the bytes there are.
    pub fn run(
        &self,
        directory: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Verification, LedgerError> {
        let snapshot = Snapshot::take(directory)?;
        let mut notes = snapshot.notes.clone();
        notes.extend(self.notes.iter().map(|text| Note {
            file: "the note given".into(),
            text: text.clone(),
        }));
        let mut walk = Walk {
            pins: self.pins.clone(),
            ..Walk::default()
        };
        walk.result.unpinned = self.pins.as_ref().map(|_| 0);
        let key = self.key(&snapshot, &mut walk.result);
        walk.want_roots(&notes);
        walk.result.segments = u64::try_from(snapshot.segments.len()).unwrap_or(u64::MAX);
        let total = snapshot.segments.iter().map(|(_, size)| size).sum();
        let mut expected = 1;
        for (number, size) in &snapshot.segments {
            if *number != expected {
                let record = Some(walk.tree.size());
                walk.result.add(Fault {
                    file: segment_name(expected),
                    line: None,
                    record,
                    found: Defect::MissingSegment,
                });
            }
            expected = number.saturating_add(1);
            walk.segment(directory, *number, *size, &mut |done| progress(done, total))?;
        }
        walk.finish(&snapshot, &notes, key.as_ref());
        Ok(walk.result)
    }

    /// The key checkpoints are checked with.
    fn key(&self, snapshot: &Snapshot, result: &mut Verification) -> Option<PublicKey> {
        let kept = &snapshot.key;
        let problem = match (&self.key, kept) {
            (Some(given), Some(kept)) if given != kept => Some("it is not the one given"),
            (_, None) => Some("it is missing or damaged"),
            (Some(_) | None, Some(_)) => None,
        };
        // Whoever keeps a key or a note elsewhere knows that there was a ledger.
        let expected = self.key.is_some() || !self.notes.is_empty();
        if snapshot.was_emptied() {
            result.add(Fault {
                file: segment_name(1),
                line: None,
                record: Some(0),
                found: Defect::Emptied,
            });
        }
        if let Some(problem) = problem
            && (expected || !snapshot.segments.is_empty())
        {
            result.add(Fault {
                file: PUBLIC_KEY.into(),
                line: None,
                record: None,
                found: Defect::Key(problem.into()),
            });
        }
        self.key.clone().or_else(|| kept.clone())
    }
}

/// The text of a note and where it was found.
#[derive(Clone)]
struct Note {
    file: String,
    text: String,
}

/// The ledger at one moment, so that it can be verified while others go on writing.
struct Snapshot {
    /// The segments, and how many bytes of them are whole lines or claimed to be.
    segments: Vec<(u32, u64)>,
    head: Result<Option<Head>, ()>,
    /// The bytes of a record without an end that a writer left.
    torn: u64,
    notes: Vec<Note>,
    /// Whether the latest note is there and says nothing.
    empty_note: bool,
    key: Option<PublicKey>,
    /// Whether there is a lock, the first thing a writer makes.
    has_lock: bool,
    /// Whether there is a key, made with the first record.
    has_key: bool,
}

impl Snapshot {
    /// Whether there was a ledger and nothing is left of its records: a key or notes of one lie here, and no lock, which every
    /// writer makes before them. One that still has a lock tells by its head.
    fn was_emptied(&self) -> bool {
        !self.has_lock && self.segments.is_empty() && (self.has_key || !self.notes.is_empty())
    }

    fn take(directory: &Path) -> Result<Self, LedgerError> {
        let failed = |error| LedgerError::io(Doing::Read, directory, error);
        let path = directory.join(LOCK);
        let lock = match File::open(&path) {
            Ok(lock) => Some(lock),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        let mut stored = [0; head::LENGTH + 1];
        let mut length = 0;
        if let Some(lock) = &lock {
            lock_within(LOCK_WAIT, || lock.try_lock_shared())
                .map_err(|cause| LedgerError::new(Doing::Lock, &path, cause))?;
            length = read_at(lock, &mut stored, 0).map_err(failed)?;
        }
        let head = match stored.get(..length) {
            None => Ok(None),
            Some(bytes) if Head::is_begun(bytes) => Ok(None),
            Some(bytes) => Head::parse(bytes).map(Some).ok_or(()),
        };
        let mut segments = Vec::new();
        for number in segment_numbers(directory).map_err(failed)? {
            let size = segment_path(directory, number)
                .metadata()
                .map_err(failed)?
                .len();
            segments.push((number, size));
        }
        let mut torn = 0;
        if let Some((last, size)) = segments.last_mut() {
            let as_left = matches!(&head, Ok(Some(head))
                if head.state == State::Settled && (head.segment, head.size) == (*last, *size));
            if !as_left && let (_, Some(tail)) = recovery::found(directory)? {
                // The next writer puts something else there.
                torn = tail.bytes;
                *size = size.saturating_sub(torn);
            }
        }
        let mut notes = Vec::new();
        for size in note_sizes(directory).map_err(failed)? {
            let path = note_path(directory, size);
            let bytes = keys::read_small(&path).map_err(failed)?;
            notes.push(Note {
                file: file_name(&path),
                text: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
        let mut empty_note = false;
        let latest = keys::read_small(&directory.join(LATEST_NOTE));
        match latest {
            Ok(bytes) if !bytes.is_empty() => notes.push(Note {
                file: LATEST_NOTE.into(),
                text: String::from_utf8_lossy(&bytes).into_owned(),
            }),
            // Earlier versions did not wait for the disk, and some file systems leave it empty then when power is lost: as good as none.
            Ok(_) => empty_note = true,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        Ok(Self {
            segments,
            head,
            torn,
            notes,
            empty_note,
            key: keys::read_public(directory).map_err(failed)?,
            has_lock: lock.is_some(),
            has_key: [KEY, PUBLIC_KEY]
                .iter()
                .any(|name| directory.join(name).symlink_metadata().is_ok()),
        })
    }
}

/// The way from the first record to the last.
#[derive(Clone, Default)]
struct Walk {
    result: Verification,
    tree: Tree,
    prev: RecordHash,
    /// The time of the last record.
    time: String,
    /// Sizes of the tree at which notes want its root, with the root once it is known.
    roots: BTreeMap<u64, Option<RecordHash>>,
    /// The keys checkpoints were signed with, in turn.
    keys: Vec<PublicKey>,
    /// The notes that lie in files of their own, of the checkpoints on record that hold, by their sizes.
    signed: Vec<(u64, RecordHash)>,
    /// The size of the last checkpoint since which a latest note is kept.
    latest: Option<u64>,
    /// Whether a person had a new key made since the last checkpoint.
    may_change_key: bool,
    /// Losses nobody has taken note of.
    losses: Vec<Fault>,
    /// What was signed once.
    nonces: HashSet<String>,
    /// What somebody signed. A release may stand there twice: whoever records it may be killed before it knows, and does it again.
    proved: HashSet<Released>,
    /// The keys that are pinned now.
    pins: Option<Pins>,
}

impl Walk {
    fn want_roots(&mut self, notes: &[Note]) {
        // Whether they are genuine is seen later, once all keys are known.
        let sizes = notes.iter().filter_map(|note| Checkpoint::size(&note.text));
        self.roots = sizes.map(|size| (size, None)).collect();
        self.reach_root();
    }

    /// Keeps the root if a note is about a tree of this size.
    fn reach_root(&mut self) {
        if let Some(known) = self.roots.get_mut(&self.tree.size()) {
            *known = Some(self.tree.root());
        }
    }

    fn segment(
        &mut self,
        directory: &Path,
        number: u32,
        size: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), LedgerError> {
        let path = segment_path(directory, number);
        let failed = |error| LedgerError::io(Doing::Read, &path, error);
        let mut pieces = Pieces {
            file: File::open(&path).map_err(failed)?,
            place: 0,
            stop: size,
            rest: Vec::new(),
        };
        let workers = thread::available_parallelism()
            .map_or(1, usize::from)
            .clamp(1, 8);
        let file = segment_name(number);
        let mut line = 0;
        loop {
            let mut group = Vec::with_capacity(workers);
            while group.len() < workers
                && let Some(piece) = pieces.next().map_err(failed)?
            {
                group.push(piece);
            }
            if group.is_empty() {
                break;
            }
            for checked in checked_together(&group).map_err(failed)? {
                self.follow(&file, &mut line, checked);
            }
            let bytes: usize = group.iter().map(Vec::len).sum();
            self.result.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
            progress(self.result.bytes);
        }
        if !pieces.rest.is_empty() {
            // Only the end of the ledger may be torn, and that was set aside.
            self.result.add(Fault {
                file,
                line: None,
                record: Some(self.tree.size()),
                found: Defect::NoEnd,
            });
        }
        Ok(())
    }

    /// Follows the lines of a segment; `line` is the number of the last one before them.
    fn follow(&mut self, file: &str, line: &mut u64, checked: Checked) {
        self.time = checked.time;
        for CheckedLine { hash, read } in checked.lines {
            *line += 1;
            let (line, seq) = (*line, self.tree.size());
            let at = |found| Fault {
                file: file.to_owned(),
                line: Some(line),
                record: Some(seq),
                found,
            };
            match read {
                Ok(read) => {
                    if read.prev != self.prev {
                        self.result.add(at(Defect::BrokenChain));
                    } else if read.seq != seq {
                        self.result.add(at(Defect::WrongNumber(read.seq)));
                    }
                    match read.special.map(|special| *special) {
                        Some(Special::Checkpoint(detail)) => match self.checkpoint(&detail) {
                            Ok(()) => self.result.checkpoints += 1,
                            Err(found) => self.result.add(at(found)),
                        },
                        _ if line == 1 => self.result.add(at(Defect::NoCheckpoint)),
                        Some(Special::Mend(mend)) => self.mend(mend, seq, &at),
                        Some(Special::Signed(signed)) => match self.signed_answer(signed) {
                            Ok(()) => self.result.proofs += 1,
                            Err(found) => self.result.add(at(found)),
                        },
                        Some(Special::Release(released)) if !self.proved.contains(&released) => {
                            let why = "it wanted a signature and has none".into();
                            self.result.add(at(Defect::Unproved(why)));
                        }
                        Some(Special::Release(_)) | None => {}
                    }
                }
                Err(why) => self.result.add(at(Defect::NoRecord(why.into_owned()))),
            }
            self.prev = hash;
            self.tree.add(hash);
            self.reach_root();
            self.result.records += 1;
        }
    }

    fn mend(&mut self, mend: Mend, seq: u64, at: &dyn Fn(Defect) -> Fault) {
        match mend {
            Mend::Acknowledged => {
                for loss in std::mem::take(&mut self.losses) {
                    self.result.mention(format!("{loss} (a person took note)"));
                }
            }
            Mend::Torn { bytes, .. } => self.result.mention(format!(
                "record {seq}: a torn record of {bytes} bytes was cut off"
            )),
            Mend::NewKey => self.may_change_key = true,
            Mend::Lost { .. } | Mend::Unclaimed { .. } | Mend::NoHead => {
                if self.losses.len() < MAX_LISTED {
                    self.losses.push(at(Defect::Loss(mend)));
                }
            }
            Mend::Clock { .. } => {}
        }
    }

    /// Holds an answer somebody signed against the ledger it stands in: it was signed for this one, and counts once.
    fn signed_answer(&mut self, signed: Result<SignedAnswer, String>) -> Result<(), Defect> {
        let signed = signed.map_err(Defect::Unproved)?;
        if !self.keys.iter().any(|key| key.name() == signed.ledger) {
            return Err(Defect::Unproved("it was signed for another ledger".into()));
        }
        if let (Some(pins), Some(unpinned)) = (&self.pins, &mut self.result.unpinned)
            && !signed.is_pinned(pins)
        {
            *unpinned = unpinned.saturating_add(1);
        }
        if !self.nonces.insert(signed.nonce) {
            return Err(Defect::Unproved("it was used before".into()));
        }
        self.proved.insert(signed.released);
        Ok(())
    }

    fn checkpoint(&mut self, detail: &CheckpointDetail) -> Result<(), Defect> {
        let bad = |error: &dyn fmt::Display| Defect::BadCheckpoint(error.to_string());
        let own: PublicKey = detail.key.parse().map_err(|error| bad(&error))?;
        let checkpoint = Checkpoint::open(&detail.note, &own).map_err(|error| bad(&error))?;
        if checkpoint.origin != own.name() || own.to_string() != detail.key {
            return Err(bad(&"it is of another ledger"));
        }
        if self.keys.last() != Some(&own) {
            if !self.keys.is_empty() && !self.may_change_key {
                return Err(bad(&"it was signed with another key"));
            }
            self.keys.push(own);
        }
        self.may_change_key = false;
        if checkpoint.size > self.tree.size() {
            return Err(Defect::MissingRecords(checkpoint.size));
        }
        // It was made just before its record.
        let peaks = self.tree.peaks().iter().map(ToString::to_string);
        if checkpoint.size != self.tree.size()
            || checkpoint.root != self.tree.root()
            || !peaks.eq(detail.tree.iter().cloned())
        {
            return Err(Defect::OtherRecords);
        }
        self.result.signed = checkpoint.size;
        if detail.automatic != Some(true) {
            let note = RecordHash::from_line(detail.note.as_bytes());
            self.signed.push((checkpoint.size, note));
        }
        if detail.automatic.is_some() {
            self.latest = Some(checkpoint.size);
        }
        Ok(())
    }

    fn finish(&mut self, snapshot: &Snapshot, notes: &[Note], key: Option<&PublicKey>) {
        self.end(snapshot);
        if snapshot.empty_note {
            self.result.mention(format!(
                "{LATEST_NOTE} is empty: power was lost before it was on the disk, or somebody emptied it"
            ));
        }
        self.kept_notes(&snapshot.notes);
        self.notes(notes, key);
        if let (Some(key), Some(last)) = (key, self.keys.last())
            && key != last
            && !self.may_change_key
        {
            self.result.add(Fault {
                file: PUBLIC_KEY.into(),
                line: None,
                record: None,
                found: Defect::Key("the checkpoints were signed with another".into()),
            });
        }
        self.result.faults.append(&mut self.losses);
        self.result
            .faults
            .sort_by_key(|fault| (fault.record.unwrap_or(u64::MAX), fault.line.is_none()));
        self.result.faults.truncate(MAX_LISTED);
    }

    /// Compares the end with what the last writer left in the head.
    fn end(&mut self, snapshot: &Snapshot) {
        let last = snapshot.segments.last();
        let segment = last.map_or_else(|| segment_name(1), |(number, _)| segment_name(*number));
        let found = self.tree.size();
        let result = &mut self.result;
        let mut fault = |file: &str, record: Option<u64>, found: Defect| {
            let file = file.to_owned();
            result.add(Fault {
                file,
                line: None,
                record,
                found,
            });
        };
        let head = match &snapshot.head {
            // A segment may be made before the first head; records may not.
            Ok(None) if found == 0 && snapshot.torn == 0 => return,
            Ok(None) | Err(()) => return fault(LOCK, None, Defect::NoHead),
            Ok(Some(head)) => head,
        };
        let settled = head.state == State::Settled;
        let least = if settled { head.records } else { head.before };
        let last_record = found.checked_sub(1);
        if found < least {
            fault(&segment, Some(found), Defect::Truncated(least));
        } else if found > head.records {
            fault(&segment, Some(head.records), Defect::Added(head.records));
        } else if found == head.records && head.hash != self.prev {
            fault(&segment, last_record, Defect::LastChanged);
        } else if settled && !is_head_of(head, snapshot, &self.time) {
            fault(LOCK, last_record, Defect::OtherHead);
        }
        if snapshot.torn > 0 && settled {
            fault(&segment, Some(found), Defect::NoEnd);
        } else if snapshot.torn > 0 {
            // Only a writer that was ended leaves this, and nobody was told of the record.
            self.result.mention(format!(
                "the last writer was ended in the middle of a record ({} bytes); the next one \
                 will cut it off",
                snapshot.torn
            ));
        }
    }

    /// Every checkpoint somebody asked for, or a segment opens with, has its note in a file of its own; a latest note lies there
    /// unless the last writer was ended before it could be kept. Which one that is does not count: it is held against the records.
    fn kept_notes(&mut self, notes: &[Note]) {
        if let Some(size) = self.latest
            && size.saturating_add(1) < self.tree.size()
            && !notes.iter().any(|note| note.file == LATEST_NOTE)
        {
            self.result.add(Fault {
                file: LATEST_NOTE.into(),
                line: None,
                record: None,
                found: Defect::NoLatestNote,
            });
        }
        for (size, hash) in std::mem::take(&mut self.signed) {
            let file = note_name(size);
            let is_kept = notes
                .binary_search_by(|note| note.file.as_str().cmp(&file))
                .ok()
                .and_then(|at| notes.get(at))
                .is_some_and(|note| RecordHash::from_line(note.text.as_bytes()) == hash);
            if !is_kept {
                self.result.add(Fault {
                    file,
                    line: None,
                    record: None,
                    found: Defect::OtherNote(size),
                });
            }
        }
    }

    /// Compares notes with the records they are about.
    fn notes(&mut self, notes: &[Note], key: Option<&PublicKey>) {
        let mut keys: Vec<&PublicKey> = key.into_iter().chain(self.keys.iter().rev()).collect();
        keys.dedup();
        let mut faults = Vec::new();
        for note in notes {
            // The latest note may be one that lies in a file of its own as well: one thing wrong is told once.
            let same = |other: &Note| other.file != note.file && other.text == note.text;
            if note.file == LATEST_NOTE && notes.iter().any(same) {
                continue;
            }
            let mut refused = None;
            let opened = keys.iter().find_map(|key| {
                let opened = Checkpoint::open(&note.text, key);
                opened
                    .map_err(|error| refused.get_or_insert(error).clone())
                    .ok()
            });
            let found = match (opened, refused) {
                (Some(checkpoint), _) => match self.roots.get(&checkpoint.size) {
                    Some(Some(root)) if *root == checkpoint.root => continue,
                    Some(Some(_)) => Defect::OtherRecords,
                    Some(None) | None => Defect::MissingRecords(checkpoint.size),
                },
                (None, Some(error)) => Defect::BadCheckpoint(error.to_string()),
                // Without any key nothing can be said, which was said before.
                (None, None) => continue,
            };
            faults.push(Fault {
                file: note.file.clone(),
                line: None,
                record: None,
                found,
            });
        }
        for fault in faults {
            self.result.add(fault);
        }
    }
}

/// Whether what a settled head says of the last record beside its hash is so.
fn is_head_of(head: &Head, snapshot: &Snapshot, time: &str) -> bool {
    let mut segments = snapshot.segments.iter();
    segments.any(|segment| *segment == (head.segment, head.size)) && head.time.to_string() == time
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::lines::checked;
    use super::*;
    use crate::{Durability, Entry, Kind, Ledger, Options};
    use holdpoint_core::text::redaction::Redacted;

    /// A line with its line break, its place in its segment, and the walk before it.
    struct Step {
        line: Vec<u8>,
        place: u64,
        before: Walk,
    }

    /// A ledger of 2,000 records, step by step. So each change can be tried where it is made: what
    /// follows it is followed by the same code as in a whole verification.
    fn steps() -> Vec<Step> {
        let home = tempfile::tempdir().unwrap();
        let ledger = Ledger::at(home.path()).with(Options {
            segment_bytes: 64 << 10,
            reserve_bytes: 0,
            ..Options::default()
        });
        let entry = Entry {
            tool: Some(Redacted::literal("Bash")),
            reason: Some(Redacted::literal(
                "\u{fc}ber \"quoted\" text that is long enough",
            )),
            ..Entry::new(Kind::Decision)
        };
        while ledger.append(&entry, Durability::Written).unwrap().seq < 2_000 {}
        let mut walk = Walk::default();
        let mut steps = Vec::new();
        for number in segment_numbers(home.path()).unwrap() {
            let bytes = std::fs::read(segment_path(home.path(), number)).unwrap();
            let mut place = 0;
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                steps.push(Step {
                    line: line.to_vec(),
                    place,
                    before: walk.clone(),
                });
                walk.follow("x", &mut place, checked(line));
            }
        }
        assert_eq!(walk.result.faults, []);
        assert!(walk.result.checkpoints > 5);
        steps
    }

    /// Follows lines in the place of a step's own; the walk after them.
    fn followed(step: &Step, lines: &[&[u8]]) -> Walk {
        let mut walk = step.before.clone();
        let mut place = step.place;
        walk.follow("x", &mut place, checked(&lines.concat()));
        walk
    }

    #[track_caller]
    fn check_found(walk: &Walk, seq: usize, what: &str) {
        let first = walk.result.faults.first().and_then(|fault| fault.record);
        let first = first.map(|record| usize::try_from(record).unwrap());
        let right = first == Some(seq) || first == Some(seq + 1);
        assert!(
            right,
            "{what} of record {seq}: {:?}",
            walk.result.faults.first()
        );
    }

    #[test]
    fn a_changed_bit_in_any_byte_is_found_there_or_in_the_next_record() {
        let steps = steps();
        let all_bits = std::env::var_os("HOLDPOINT_LONG").is_some();
        let mut tried = 0;
        for (seq, pair) in steps.windows(2).enumerate() {
            let [step, next] = pair else { continue };
            let mut line = step.line.clone();
            for place in 0..line.len() {
                let bits = if all_bits {
                    0..8
                } else {
                    place % 8..place % 8 + 1
                };
                for bit in bits {
                    line[place] ^= 1 << bit;
                    let mut walk = followed(step, &[&line]);
                    if walk.result.faults.is_empty() {
                        // Still a record, so the next one has to tell.
                        let mut at = next.place;
                        walk.follow("x", &mut at, checked(&next.line));
                    }
                    check_found(&walk, seq, &format!("byte {place}, bit {bit}"));
                    line[place] ^= 1 << bit;
                    tried += 1;
                }
            }
        }
        println!("{tried} bits of {} records", steps.len());
    }

    #[test]
    fn any_record_removed_swapped_repeated_or_added_is_found_there() {
        let steps = steps();
        for (seq, three) in steps.windows(3).enumerate() {
            let [step, next, last] = three else { continue };
            let (one, two, three) = (&step.line[..], &next.line[..], &last.line[..]);
            check_found(&followed(step, &[two, three]), seq, "removal");
            check_found(
                &followed(step, &[two, one, three]),
                seq,
                "swap with the next",
            );
            check_found(&followed(step, &[one, one, two]), seq, "repetition");
            let prev = step.before.prev;
            let forged = format!(
                "{{\"v\":1,\"seq\":{seq},\"prev\":\"{prev}\",\"time\":\"2026-11-16T03:40:12.000000Z\",\
                 \"kind\":\"decision\"}}\n"
            );
            check_found(
                &followed(step, &[forged.as_bytes(), one]),
                seq,
                "an addition before",
            );
            check_found(
                &followed(step, &[forged.as_bytes(), two]),
                seq,
                "a replacement",
            );
        }
    }
}
