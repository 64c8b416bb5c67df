//! One process's turn at the end of the ledger, under the lock.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_core::text::redaction::Redacted;

use crate::Timestamp;
use crate::chain::RecordHash;
use crate::error::{Cause, Doing, LedgerError};
use crate::head::{self, Head, State};
use crate::keys;
use crate::ledger::{Appended, Ledger};
use crate::merkle::Tree;
use crate::note::{Checkpoint, PrivateKey};
use crate::record::{Detail, Entry, EntryRef, Kind, Mend};
use crate::recovery::{self, End};
use crate::reserve;
use crate::segments::{LATEST_NOTE, LOCK, PUBLIC_KEY, note_path, segment_numbers, segment_path};
use crate::system::{Open, System, make_directory, read_at, sync_directory};

/// The bytes of an ordinary record, so that room for a group of them is made once.
const USUAL_LINE: usize = 1024;

/// The most room that is made before anything is known of the records: more comes as they need it.
const MAX_ROOM: usize = 1 << 20;

/// What an append may do that others may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// Nothing. It is signed if the last signature is old.
    Ordinary,
    /// It lets a call run: it is signed, whenever that was done last.
    Release,
    /// It records a refusal: it may use the reserve, and a wrong clock does not keep it away.
    Refusal,
    /// A person wants it: a wrong clock does not keep it away. It never begins a segment, since
    /// the key that would sign that may be the one it tells of.
    Repair,
    /// It was signed over the records before it, so nothing comes between.
    Checkpoint,
}

/// The ledger, locked.
pub(crate) struct Locked<'a, S> {
    ledger: &'a Ledger<S>,
    lock: File,
    /// What the lock file holds.
    stored: Vec<u8>,
    end: End,
    /// The segment at the end, once it is open.
    segment: Option<File>,
    reserve_used: bool,
    /// How old the last signature may be.
    pub(crate) sign_after: Duration,
    /// How bringing to the disk went what was signed, if that was done under the lock.
    synced: Option<Result<(), LedgerError>>,
    /// What was found wrong and must be recorded before anything else.
    mends: Vec<Mend>,
    /// Whether bytes of a record without an end stand after the last one. They stay until the
    /// repair that tells of them has taken their place.
    torn: bool,
    /// Whether a file was made, so that the directory has to reach the disk as well.
    made_file: bool,
}

/// The segment that was written to, after the lock was let go.
pub(crate) struct Written {
    segment: Option<File>,
    path: PathBuf,
    directory: Option<PathBuf>,
    synced: Option<Result<(), LedgerError>>,
}

impl Written {
    /// Brings what was written to the disk.
    pub(crate) fn sync(self, system: &impl System) -> Result<(), LedgerError> {
        let failed = |error| LedgerError::io(Doing::Sync, &self.path, error);
        // A disk tells of an error once: asking again would hide it.
        match (self.synced, &self.segment) {
            (Some(synced), _) => synced?,
            (None, Some(segment)) => system.sync(segment).map_err(failed)?,
            (None, None) => {}
        }
        match &self.directory {
            Some(directory) => sync_directory(directory).map_err(failed),
            None => Ok(()),
        }
    }
}

impl<'a, S: System> Locked<'a, S> {
    /// Waits for the lock and finds the end of the ledger.
    pub(crate) fn take(ledger: &'a Ledger<S>) -> Result<Self, LedgerError> {
        let path = ledger.directory.join(LOCK);
        let lock = match ledger.system.open(&path, Open::Make) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make_directory(&ledger.directory)
                    .map_err(|error| LedgerError::io(Doing::Open, &ledger.directory, error))?;
                ledger.system.open(&path, Open::Make)
            }
            opened => opened,
        }
        .map_err(|error| LedgerError::io(Doing::Open, &path, error))?;
        lock_within(ledger.options.lock_wait, || lock.try_lock())
            .map_err(|cause| LedgerError::new(Doing::Lock, &path, cause))?;
        // One byte more tells a head from a file that only starts with one.
        let mut stored = vec![0; head::LENGTH + 1];
        let length = read_at(&lock, &mut stored, 0)
            .map_err(|error| LedgerError::io(Doing::Read, &path, error))?;
        stored.truncate(length);
        let head = Head::parse(&stored);
        let mut locked = Self {
            ledger,
            lock,
            stored,
            end: End::of_nothing(),
            segment: None,
            sign_after: ledger.options.sign_after,
            synced: None,
            reserve_used: head.as_ref().is_some_and(|head| head.reserve_used),
            mends: Vec::new(),
            torn: false,
            made_file: false,
        };
        match head {
            Some(head) if locked.is_as_left(&head)? => {}
            head => locked.recover(head.as_ref())?,
        }
        Ok(locked)
    }

    /// Lets the others go on.
    pub(crate) fn release(self) -> Written {
        // Closing the file would do as well; this says so.
        let _ = self.lock.unlock();
        Written {
            segment: self.segment,
            path: segment_path(&self.ledger.directory, self.end.segment),
            directory: self.made_file.then(|| self.ledger.directory.clone()),
            synced: self.synced,
        }
    }

    /// Whether the ledger ends as a writer that came to its end left it.
    fn is_as_left(&mut self, head: &Head) -> Result<bool, LedgerError> {
        if head.state != State::Settled {
            return Ok(false);
        }
        let path = segment_path(&self.ledger.directory, head.segment);
        let failed = |error| LedgerError::io(Doing::Open, &path, error);
        let segment = match self.ledger.system.open(&path, Open::Existing) {
            Ok(segment) => segment,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        if segment.metadata().map_err(failed)?.len() != head.size {
            return Ok(false);
        }
        self.end = End {
            segment: head.segment,
            size: head.size,
            records: head.records,
            hash: head.hash,
            time: head.time,
        };
        self.segment = Some(segment);
        Ok(true)
    }

    /// Finds the end from the segments, and what is wrong with it.
    fn recover(&mut self, head: Option<&Head>) -> Result<(), LedgerError> {
        let (end, torn) = recovery::found(&self.ledger.directory)?;
        self.mends = recovery::compared(head, &end, torn.as_ref());
        if head.is_none() && !Head::is_begun(&self.stored) && end.records == 0 {
            self.mends.push(Mend::NoHead);
        }
        self.torn = torn.is_some();
        self.end = end;
        if let Some(head) = head
            && self.mends.iter().any(Mend::is_loss)
        {
            // The records that are gone were later than those that are left.
            self.end.time = self.end.time.max(head.time);
        }
        Ok(())
    }

    fn open_segment(&self) -> Result<File, LedgerError> {
        let path = segment_path(&self.ledger.directory, self.end.segment);
        let opened = self.ledger.system.open(&path, Open::Make);
        opened.map_err(|error| LedgerError::io(Doing::Open, path, error))
    }

    fn cut_to(&self, segment: &File, size: u64) -> Result<(), LedgerError> {
        let path = segment_path(&self.ledger.directory, self.end.segment);
        let cut = self.ledger.system.cut(segment, size);
        cut.map_err(|error| LedgerError::io(Doing::Write, path, error))
    }

    /// Appends entries, after what has to be said before them.
    pub(crate) fn append(
        &mut self,
        entries: &[EntryRef<'_>],
        allowance: Allowance,
    ) -> Result<Appended, LedgerError> {
        let time = self.time(allowance)?;
        let mut written = self.written(entries, time, allowance);
        // A refusal that begins a segment needs more room than one that does not.
        while allowance == Allowance::Refusal
            && written.as_ref().is_err_and(LedgerError::is_full)
            && reserve::give(&self.ledger.directory, &self.ledger.system).unwrap_or(false)
        {
            self.reserve_used = true;
            written = self.written(entries, time, allowance);
        }
        written
    }

    /// The time of the next record. The ledger's time never goes back.
    fn time(&self, allowance: Allowance) -> Result<Timestamp, LedgerError> {
        let (now, last) = (
            Timestamp::from_clock(self.ledger.system.now()),
            self.end.time,
        );
        let back = last.since(now);
        let minds = match allowance {
            Allowance::Ordinary | Allowance::Release | Allowance::Checkpoint => true,
            Allowance::Refusal | Allowance::Repair => false,
        };
        if back > self.ledger.options.clock_slack && minds {
            let cause = Cause::ClockWentBack { now, last };
            let path = &self.ledger.directory;
            return Err(LedgerError::new(Doing::Write, path, cause));
        }
        Ok(now.max(last))
    }

    fn written(
        &mut self,
        entries: &[EntryRef<'_>],
        time: Timestamp,
        allowance: Allowance,
    ) -> Result<Appended, LedgerError> {
        let may_begin = match allowance {
            Allowance::Ordinary | Allowance::Release | Allowance::Refusal => true,
            Allowance::Repair | Allowance::Checkpoint => false,
        };
        // What is torn is repaired where it stands.
        if may_begin && self.is_segment_full() && !self.torn {
            self.begin_segment()?;
        }
        let opening = match self.end.size {
            0 => Some(self.checkpoint_entry(time)?),
            _ => None,
        };
        let is_old = self.is_signature_old(time);
        let signs = match allowance {
            Allowance::Ordinary => is_old,
            Allowance::Release => true,
            Allowance::Refusal | Allowance::Repair | Allowance::Checkpoint => false,
        };
        let mut hashes = Vec::new();
        let mends: Vec<Entry> = self.mends.iter().map(mended).collect();
        let mut lines = Vec::with_capacity(entries.len().saturating_mul(USUAL_LINE).min(MAX_ROOM));
        let mut next = self.end.clone();
        let shown = time.to_string();
        let before = opening.iter().chain(&mends).map(EntryRef::Whole);
        for entry in before.chain(entries.iter().copied()) {
            next.hash = entry
                .write(next.records, &next.hash, &shown, &mut lines)
                .map_err(|error| {
                    let path = &self.ledger.directory;
                    LedgerError::new(Doing::Write, path, Cause::Form(error))
                })?;
            next.records = next.records.saturating_add(1);
            hashes.push(next.hash);
        }
        // Nothing is kept from being recorded because it cannot be signed: the next segment has to be, and a verification says up
        // to where it is.
        let note = match signs {
            true => self.add_signature(&hashes, time, &mut next, &mut lines),
            false => None,
        };
        let length = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        next.size = next.size.saturating_add(length);
        next.time = time;
        self.put(&lines, next)?;
        self.mends.clear();
        if let Some(note) = note.filter(|_| is_old) {
            self.keep_note(&note);
        }
        if opening.is_some() || self.reserve_used {
            self.refill_reserve();
        }
        Ok(Appended {
            seq: self.end.records.saturating_sub(1),
            hash: self.end.hash,
            time,
        })
    }

    fn is_signature_old(&self, now: Timestamp) -> bool {
        is_signature_old(&self.ledger.directory, now, self.sign_after)
    }

    /// Whether records stand at the end that no checkpoint is about, and the last is old.
    pub(crate) fn has_unsigned(&self) -> Result<bool, LedgerError> {
        if self.end.size == 0 || !self.is_signature_old(self.time(Allowance::Repair)?) {
            return Ok(false);
        }
        let path = segment_path(&self.ledger.directory, self.end.segment);
        let is_signed = recovery::ends_with_checkpoint(&path);
        let failed = |error| LedgerError::io(Doing::Read, &path, error);
        is_signed.map(|signed| !signed).map_err(failed)
    }

    /// Adds a checkpoint over the records before these lines and those in them; its note.
    fn add_signature(
        &self,
        hashes: &[RecordHash],
        time: Timestamp,
        next: &mut End,
        lines: &mut Vec<u8>,
    ) -> Option<String> {
        let mut tree = self.tree().ok()?;
        hashes.iter().for_each(|leaf| tree.add(*leaf));
        if tree.size() != next.records {
            return None;
        }
        let (entry, note) = self.signed(&tree, time, true).ok()?;
        let start = lines.len();
        let shown = time.to_string();
        match EntryRef::Whole(&entry).write(next.records, &next.hash, &shown, lines) {
            Ok(hash) => {
                next.hash = hash;
                next.records = next.records.saturating_add(1);
                Some(note)
            }
            Err(_) => {
                lines.truncate(start);
                None
            }
        }
    }

    /// Keeps the note of a checkpoint nobody asked for in place of the last one. What was signed reaches the disk first, for a note
    /// about records that were lost with the power would look like a removal. Whatever fails leaves the last note, and the next
    /// append tries again.
    fn keep_note(&mut self, note: &str) {
        let Some(segment) = &self.segment else {
            return;
        };
        let path = segment_path(&self.ledger.directory, self.end.segment);
        let synced = self.ledger.system.sync(segment);
        let synced = synced.map_err(|error| LedgerError::io(Doing::Sync, path, error));
        if synced.is_ok() {
            let path = self.ledger.directory.join(LATEST_NOTE);
            let _ = keys::write_soon(&path, note, &self.ledger.system);
        }
        self.synced = Some(synced);
    }

    fn is_segment_full(&self) -> bool {
        self.end.size >= self.ledger.options.segment_bytes
    }

    /// Writes lines, announced before and settled after; either all of it or nothing.
    fn put(&mut self, lines: &[u8], next: End) -> Result<(), LedgerError> {
        let segment = match self.segment.take() {
            Some(segment) => segment,
            None => {
                self.made_file = true;
                self.open_segment()?
            }
        };
        let left = self.stored.clone();
        self.set_head(State::Announced, &next)?;
        let mut outcome = self.write_whole(&segment, lines);
        if self.torn && outcome.is_ok() {
            outcome = self.cut_to(&segment, next.size);
        }
        if outcome.is_ok() {
            outcome = self.set_head(State::Settled, &next);
        }
        match &outcome {
            Ok(()) => {
                self.end = next;
                self.torn = false;
            }
            Err(_) => self.take_back(&segment, &left),
        }
        self.segment = Some(segment);
        outcome
    }

    /// Leaves nothing half-written. If even that fails the next writer does it, since what was
    /// announced is not settled; so it is with bytes that were torn before.
    fn take_back(&mut self, segment: &File, left: &[u8]) {
        if !self.torn && self.cut_to(segment, self.end.size).is_ok() {
            // An error here leaves what was announced, which may be absent.
            let _ = self.write_lock(left);
        }
    }

    fn write_whole(&self, segment: &File, lines: &[u8]) -> Result<(), LedgerError> {
        let path = segment_path(&self.ledger.directory, self.end.segment);
        let failed = |error| LedgerError::io(Doing::Write, &path, error);
        let mut rest = lines;
        let mut place = self.end.size;
        while !rest.is_empty() {
            match self.ledger.system.write_at(segment, rest, place) {
                Ok(0) => return Err(failed(ErrorKind::WriteZero.into())),
                Ok(count) => {
                    rest = rest.get(count..).unwrap_or_default();
                    place = place.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    fn set_head(&mut self, state: State, end: &End) -> Result<(), LedgerError> {
        let head = Head {
            state,
            segment: end.segment,
            size: end.size,
            before: self.end.records,
            records: end.records,
            time: end.time,
            reserve_used: self.reserve_used,
            hash: end.hash,
        };
        self.write_lock(&head.bytes())
    }

    /// Replaces what the lock file holds; an error leaves it as it was, if the disk lets it.
    fn write_lock(&mut self, bytes: &[u8]) -> Result<(), LedgerError> {
        let replaced = self.fill_lock(bytes);
        match &replaced {
            Ok(()) => self.stored = bytes.to_vec(),
            Err(_) => {
                let _ = self.fill_lock(&self.stored);
            }
        }
        replaced
    }

    fn fill_lock(&self, bytes: &[u8]) -> Result<(), LedgerError> {
        let path = self.ledger.directory.join(LOCK);
        let failed = |error| LedgerError::io(Doing::Write, &path, error);
        if !bytes.is_empty() {
            match self.ledger.system.write_at(&self.lock, bytes, 0) {
                Ok(count) if count == bytes.len() => {}
                Ok(_) => return Err(failed(ErrorKind::StorageFull.into())),
                Err(error) => return Err(failed(error)),
            }
        }
        if self.stored.len() > head::LENGTH || bytes.is_empty() {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            self.ledger.system.cut(&self.lock, length).map_err(failed)?;
        }
        Ok(())
    }

    /// Leaves the segment at the end, whose records must be on the disk before anything follows.
    fn begin_segment(&mut self) -> Result<(), LedgerError> {
        let old = match self.segment.take() {
            Some(segment) => segment,
            None => self.open_segment()?,
        };
        let path = segment_path(&self.ledger.directory, self.end.segment);
        self.ledger
            .system
            .sync(&old)
            .map_err(|error| LedgerError::io(Doing::Sync, path, error))?;
        self.end.segment = match self.end.segment.checked_add(1) {
            Some(next) => next,
            None => {
                let path = &self.ledger.directory;
                let full = io::Error::from(ErrorKind::FileTooLarge);
                return Err(LedgerError::io(Doing::Open, path, full));
            }
        };
        self.end.size = 0;
        let next = segment_path(&self.ledger.directory, self.end.segment);
        if next.metadata().is_ok_and(|next| next.len() > 0) {
            // The head is older than the segments: nothing there is written over.
            let head = Head::parse(&self.stored);
            self.recover(head.as_ref())?;
        }
        Ok(())
    }

    /// The tree over all records.
    fn tree(&self) -> Result<Tree, LedgerError> {
        let last = match (self.end.records, self.end.size) {
            (0, _) => return Ok(Tree::default()),
            // An empty segment at the end has nothing to add.
            (_, 0) => self.end.segment.saturating_sub(1),
            (_, _) => self.end.segment,
        };
        recovery::tree(&self.ledger.directory, last, self.end.records)
    }

    /// A record of how the ledger stands, with the note kept in a file of its own as well.
    fn checkpoint_entry(&mut self, time: Timestamp) -> Result<Entry, LedgerError> {
        let (directory, system) = (&self.ledger.directory, &self.ledger.system);
        let tree = self.tree()?;
        let (entry, note) = self.signed(&tree, time, false)?;
        keys::write(&note_path(directory, tree.size()), &note, system)?;
        keys::write(&directory.join(LATEST_NOTE), &note, system)?;
        self.made_file = true;
        Ok(entry)
    }

    /// A record that a tree is signed, and its note.
    fn signed(
        &self,
        tree: &Tree,
        time: Timestamp,
        automatic: bool,
    ) -> Result<(Entry, String), LedgerError> {
        let key = self.key()?;
        let public = key.public();
        let note = Checkpoint {
            origin: public.name().to_owned(),
            size: tree.size(),
            root: tree.root(),
            time: Some(time),
        }
        .sign(&key);
        let mut entry = Entry::new(Kind::Checkpoint);
        entry.detail = Some(Detail::Checkpoint {
            note: note.clone(),
            key: public.to_string(),
            tree: tree.peaks().iter().map(ToString::to_string).collect(),
            automatic,
        });
        Ok((entry, note))
    }

    /// The key, made with the ledger's first record. It signs only while the key that checks it
    /// is the one beside it: a new key has to be on record first.
    fn key(&self) -> Result<PrivateKey, LedgerError> {
        let (directory, system) = (&self.ledger.directory, &self.ledger.system);
        let is_new = self.end.records == 0;
        let key = match keys::read(directory) {
            Err(error) if matches!(error.cause, Cause::NoKey) && is_new => {
                keys::make(directory, system)?
            }
            read => read?,
        };
        if !keys::is_public(directory, &key)? {
            if !is_new {
                let path = directory.join(PUBLIC_KEY);
                return Err(LedgerError::new(Doing::Sign, path, Cause::NoKey));
            }
            keys::publish(directory, &key, system)?;
        }
        Ok(key)
    }

    /// Records a checkpoint; its note.
    pub(crate) fn checkpoint(&mut self) -> Result<String, LedgerError> {
        let path = self.ledger.directory.clone();
        if self.end.size == 0 || self.is_segment_full() || !self.mends.is_empty() {
            // What has to be said first comes before what is signed.
            self.append(&[], Allowance::Ordinary)?;
        }
        // What was signed must not be lost with the power: that would look like a removal.
        let segment = match self.segment.take() {
            Some(segment) => segment,
            None => self.open_segment()?,
        };
        self.ledger
            .system
            .sync(&segment)
            .map_err(|error| LedgerError::io(Doing::Sync, &path, error))?;
        self.segment = Some(segment);
        let entry = self.checkpoint_entry(self.time(Allowance::Checkpoint)?)?;
        let note = match &entry.detail {
            Some(Detail::Checkpoint { note, .. }) => note.clone(),
            Some(Detail::Of(_) | Detail::Answered(_) | Detail::Mended(_)) | None => {
                let nothing = io::Error::from(ErrorKind::InvalidData);
                return Err(LedgerError::io(Doing::Sign, path, nothing));
            }
        };
        self.append(&[EntryRef::Whole(&entry)], Allowance::Checkpoint)?;
        Ok(note)
    }

    /// Records what is wrong, and that a person knows.
    pub(crate) fn repair(&mut self) -> Result<Vec<Mend>, LedgerError> {
        let mut mends = std::mem::take(&mut self.mends);
        let new_key = self.new_key()?;
        if new_key.is_some() {
            mends.push(Mend::NewKey);
            self.step_back()?;
        }
        let (now, last) = (
            Timestamp::from_clock(self.ledger.system.now()),
            self.end.time,
        );
        if last.since(now) > self.ledger.options.clock_slack {
            mends.push(Mend::Clock {
                last: last.to_string(),
            });
            // From here on time goes by the clock again.
            self.end.time = now;
        }
        mends.push(Mend::Acknowledged);
        let entries: Vec<Entry> = mends.iter().map(mended).collect();
        let entries: Vec<EntryRef<'_>> = entries.iter().map(EntryRef::Whole).collect();
        self.append(&entries, Allowance::Repair)?;
        if let Some(key) = new_key {
            // Last, so that whoever is ended before leaves a key that signs nothing.
            keys::publish(&self.ledger.directory, &key, &self.ledger.system)?;
        }
        Ok(mends)
    }

    /// A key nobody knows yet, if the ledger needs one.
    fn new_key(&self) -> Result<Option<PrivateKey>, LedgerError> {
        let directory = &self.ledger.directory;
        if self.end.records == 0 {
            return Ok(None);
        }
        let key = match keys::read(directory) {
            Err(error) if matches!(error.cause, Cause::NoKey) => {
                keys::make(directory, &self.ledger.system)?
            }
            read => read?,
        };
        Ok((!keys::is_public(directory, &key)?).then_some(key))
    }

    /// Goes back from segments that were begun and stayed empty to the last record: what is to be
    /// said before the next checkpoint has no other place.
    fn step_back(&mut self) -> Result<(), LedgerError> {
        let directory = &self.ledger.directory;
        let failed = |error| LedgerError::io(Doing::Read, directory, error);
        if self.end.size > 0 {
            return Ok(());
        }
        if self.torn {
            self.cut_to(&self.open_segment()?, 0)?;
            self.torn = false;
        }
        for number in segment_numbers(directory)
            .map_err(failed)?
            .into_iter()
            .rev()
        {
            let size = segment_path(directory, number)
                .metadata()
                .map_err(failed)?
                .len();
            if size > 0 && number != self.end.segment {
                self.end.segment = number;
                self.end.size = size;
                self.segment = None;
                break;
            }
        }
        Ok(())
    }

    /// Makes the reserve whole again. A disk with no room for it has none for records either,
    /// which the next append will say.
    fn refill_reserve(&mut self) {
        let size = self.ledger.options.reserve_bytes;
        let full = reserve::fill(&self.ledger.directory, size, &self.ledger.system).is_ok();
        if self.reserve_used == full {
            self.reserve_used = !full;
            let end = self.end.clone();
            let _ = self.set_head(State::Settled, &end);
        }
    }
}

/// Whether the last note that was kept is older than it may be. One that cannot be read, or of a time to come, is as good as none.
pub(crate) fn is_signature_old(directory: &Path, now: Timestamp, age: Duration) -> bool {
    let note = keys::read_small(&directory.join(LATEST_NOTE)).unwrap_or_default();
    let signed = std::str::from_utf8(&note).ok().and_then(Checkpoint::time);
    signed.is_none_or(|signed| signed > now || now.since(signed) >= age)
}

fn mended(mend: &Mend) -> Entry {
    let mut entry = Entry::new(Kind::Repair);
    entry.reason = Some(Redacted::literal(match mend {
        Mend::Torn { .. } => "a record without an end was cut off: its writer was ended",
        Mend::Lost { .. } => "records are missing at the end: power was lost, or they were removed",
        Mend::Unclaimed { .. } => "records stand at the end that no writer announced",
        Mend::NoHead => "the head cannot be read: nobody knows whether records are missing",
        Mend::Acknowledged => "a person took note of what was found before",
        Mend::Clock { .. } => "a person accepted a clock that went back",
        Mend::NewKey => "a person had a new key made",
    }));
    entry.detail = Some(Detail::Mended(mend.clone()));
    entry
}

/// Takes the lock, waiting no longer than `most`. Naps grow, so that many waiting processes leave
/// the machine to the one that writes.
pub(crate) fn lock_within(
    most: Duration,
    try_lock: impl Fn() -> Result<(), TryLockError>,
) -> Result<(), Cause> {
    let mut started = None;
    let mut nap = Duration::from_micros(300);
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(Cause::Io(error)),
        }
        if started.get_or_insert_with(Instant::now).elapsed() > most {
            return Err(Cause::Busy);
        }
        thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(1));
    }
}
