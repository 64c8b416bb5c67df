//! Limits a command has used up, as the first process inside finds them once it has ended. The system tells nobody of these:
//! what fails is told to the program that tried, which may say anything, or nothing.

use std::ffi::CStr;
use std::sync::atomic::AtomicI32;

use libc::c_int;

use super::sys;
use crate::contain::{Limits, Reached};

/// Each with its bit in a report.
const BITS: [(u8, Reached); 3] = [
    (1 << 0, Reached::FileSize),
    (1 << 1, Reached::Processes),
    (1 << 2, Reached::Temporary),
];

/// Which limits were used up, as far as that could be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UsedUp(u8);

impl UsedUp {
    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    pub(super) fn reached(self) -> impl Iterator<Item = Reached> {
        let found = BITS.into_iter().filter(move |(bit, _)| self.0 & bit != 0);
        found.map(|(_, limit)| limit)
    }

    fn add(&mut self, limit: Reached) {
        let bit = BITS.into_iter().find(|(_, one)| *one == limit);
        self.0 |= bit.map_or(0, |(bit, _)| bit);
    }

    /// A process has ended with this status: one that wrote beyond the size of a file is ended by a signal of its own, which a
    /// shell tells as its exit code. A program that ignores the signal is refused the write, and that is not seen.
    pub(super) fn note_end(&mut self, status: c_int) {
        let signalled = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGXFSZ;
        let told = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 128 + libc::SIGXFSZ;
        if signalled || told {
            self.add(Reached::FileSize);
        }
    }

    /// The command has ended, and what it left still runs: whether that is as many as it may have, but for those that ended with
    /// it. Root is not held to this limit, and control groups count theirs themselves.
    pub(super) fn try_processes(&mut self, limits: &Limits) {
        let most = limits.processes;
        let bound = sys::limit(
            libc::RLIMIT_NPROC,
            most - (most / 8).clamp(1, ENDED_WITH_IT).min(most),
        );
        // It ends at once, and is waited for with the others.
        let started = bound.and_then(|()| sys::start_in_this_memory(&AtomicI32::new(0), || 0));
        if started.is_err_and(|error| error.raw_os_error() == Some(libc::EAGAIN)) {
            self.add(Reached::Processes);
        }
    }

    /// Whether one of its private directories is full. What was tidied up after a failed write is not seen.
    pub(super) fn look_at(&mut self, places: &[&CStr], limits: &Limits) {
        let is_full = |place: &&CStr| {
            sys::space(place).is_ok_and(|(whole, free)| {
                // A larger one is not the one that was made for it.
                whole > 0 && free == 0 && whole <= limits.temporary.saturating_add(PAGE)
            })
        };
        if places.iter().any(is_full) {
            self.add(Reached::Temporary);
        }
    }
}

/// The most processes that are taken to have ended with the command: a shell, and what stood before and behind it in a pipe.
const ENDED_WITH_IT: u64 = 8;

/// The system rounds the size of a file system in memory up to whole pages; the largest there are.
const PAGE: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_survives_a_report() {
        let mut used = UsedUp::default();
        assert_eq!(used.reached().count(), 0);
        used.note_end(0);
        used.note_end(9);
        used.note_end(1 << 8);
        assert_eq!(used.reached().count(), 0);
        used.note_end((128 + libc::SIGXFSZ) << 8);
        used.add(Reached::Temporary);
        // Nothing this process could tell of.
        used.add(Reached::Memory);
        let read = UsedUp::from_bits(used.bits());
        let reached: Vec<Reached> = read.reached().collect();
        assert_eq!(reached, [Reached::FileSize, Reached::Temporary]);
        let mut signalled = UsedUp::default();
        signalled.note_end(libc::SIGXFSZ);
        assert_eq!(signalled.reached().next(), Some(Reached::FileSize));
    }
}
