//! The ledger as its users see it: append, checkpoint, repair.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Timestamp;
use crate::chain::RecordHash;
use crate::error::LedgerError;
use crate::record::{Entry, EntryRef, Mend};
use crate::segments::LOCK;
use crate::system::{Real, System};
use crate::writer::{Allowance, Locked, is_signature_old};

/// How surely a record is kept before `append` returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// It survives the end of this process, however it comes.
    #[default]
    Written,
    /// It survives the end of power.
    Synced,
}

/// Sizes and waits; the defaults suit everybody.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The size at which a new segment is begun.
    pub segment_bytes: u64,
    /// The room kept for refusals on a full disk; 0 keeps none.
    pub reserve_bytes: u64,
    /// How long the lock is waited for.
    pub lock_wait: Duration,
    /// How far the clock may go back without a word.
    pub clock_slack: Duration,
    /// How old the last signature may be before what is appended is signed with it.
    pub sign_after: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 8 << 20,
            reserve_bytes: 256 << 10,
            // A busy disk takes two seconds now and then to write what one process has to say; a hook has five for everything.
            lock_wait: Duration::from_secs(3),
            clock_slack: Duration::from_secs(60),
            sign_after: Duration::from_secs(60),
        }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the last record.
    pub seq: u64,
    /// Its hash.
    pub hash: RecordHash,
    /// Its time.
    pub time: Timestamp,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// What was found and recorded.
    pub mends: Vec<Mend>,
}

/// A ledger in a directory. Opening costs nothing; every append opens, locks and lets go.
#[derive(Clone, Debug)]
pub struct Ledger<S = Real> {
    pub(crate) directory: PathBuf,
    pub(crate) options: Options,
    pub(crate) system: S,
}

impl Ledger {
    /// The ledger in a directory, which is made when something is first recorded.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            options: Options::default(),
            system: Real,
        }
    }
}

impl<S: System> Ledger<S> {
    /// The same with other sizes and waits.
    #[must_use]
    pub fn with(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The same on another system.
    pub fn on<T: System>(self, system: T) -> Ledger<T> {
        Ledger {
            directory: self.directory,
            options: self.options,
            system,
        }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Records an entry.
    pub fn append(&self, entry: &Entry, durability: Durability) -> Result<Appended, LedgerError> {
        self.append_all(&[EntryRef::Whole(entry)], durability)
    }

    /// Records entries one after another; either all of them or, on an error, none.
    pub fn append_all(
        &self,
        entries: &[EntryRef<'_>],
        durability: Durability,
    ) -> Result<Appended, LedgerError> {
        self.appended(entries, durability, Allowance::Ordinary)
    }

    /// Records entries that let a call run, and signs how the ledger then stands, in the same turn and with the same wait for the
    /// disk. Where there is no key to sign with they are recorded all the same.
    pub fn append_signed(
        &self,
        entries: &[EntryRef<'_>],
        durability: Durability,
    ) -> Result<Appended, LedgerError> {
        self.appended(entries, durability, Allowance::Release)
    }

    /// Signs how the ledger stands if something stands there unsigned and the last signature is as old as `age`; whether it did.
    /// For a process that keeps running: nobody may append anything for a while.
    pub fn sign_if_older(&self, age: Duration) -> Result<bool, LedgerError> {
        // Asked every few seconds: most often a look at one small file tells.
        let now = Timestamp::from_clock(self.system.now());
        if !self.directory.join(LOCK).exists() || !is_signature_old(&self.directory, now, age) {
            return Ok(false);
        }
        let mut locked = Locked::take(self)?;
        locked.sign_after = age;
        if !locked.has_unsigned()? {
            return Ok(false);
        }
        locked.append(&[], Allowance::Ordinary)?;
        locked.release().sync(&self.system)?;
        Ok(true)
    }

    /// Records that a call was refused because it could not be recorded. This may use the room
    /// that is kept for it and does not mind the clock.
    pub fn append_refusal(&self, entry: &Entry) -> Result<Appended, LedgerError> {
        self.appended(
            &[EntryRef::Whole(entry)],
            Durability::Written,
            Allowance::Refusal,
        )
    }

    fn appended(
        &self,
        entries: &[EntryRef<'_>],
        durability: Durability,
        allowance: Allowance,
    ) -> Result<Appended, LedgerError> {
        let mut locked = Locked::take(self)?;
        let appended = locked.append(entries, allowance)?;
        let segment = locked.release();
        if durability == Durability::Synced {
            // Outside the lock: one process's wait for the disk serves all that wrote meanwhile.
            segment.sync(&self.system)?;
        }
        Ok(appended)
    }

    /// Signs how the ledger stands now and records that; the signed note.
    pub fn checkpoint(&self) -> Result<String, LedgerError> {
        let mut locked = Locked::take(self)?;
        let note = locked.checkpoint()?;
        locked.release().sync(&self.system)?;
        Ok(note)
    }

    /// Mends what a crash left, takes note of losses, accepts the clock and makes a missing key,
    /// each on record. It is for a person to call, never for a hook.
    pub fn repair(&self) -> Result<Repaired, LedgerError> {
        let mut locked = Locked::take(self)?;
        let mends = locked.repair()?;
        locked.release().sync(&self.system)?;
        Ok(Repaired { mends })
    }
}
