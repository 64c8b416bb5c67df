//! The ledger as its users see it: append, checkpoint, repair.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Timestamp;
use crate::chain::RecordHash;
use crate::error::LedgerError;
use crate::record::{Entry, EntryRef, Mend};
use crate::system::{Real, System};
use crate::writer::{Allowance, Locked};

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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 8 << 20,
            reserve_bytes: 256 << 10,
            lock_wait: Duration::from_secs(2),
            clock_slack: Duration::from_secs(60),
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
