//! What the processes of a sandbox tell the supervisor, through a pipe: how the command ended, or where making the
//! sandbox did. The first word counts.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use libc::c_int;

use super::used_up::UsedUp;
use crate::contain::{Ended, Step};

/// A record: what it is, the step or the limits that were used up, and a number.
pub(super) const LENGTH: usize = 6;

const FAILED: u8 = 1;
const ENDED: u8 = 2;

/// The writing end.
pub(super) struct Report(File);

impl Report {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        Self(File::from(pipe))
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub(super) fn failed(&self, step: Step, error: &io::Error) {
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        self.write(FAILED, step as u8, number);
    }

    /// With the status the system gave for it.
    pub(super) fn ended(&self, status: c_int, used_up: UsedUp) {
        self.write(ENDED, used_up.bits(), status);
    }

    fn write(&self, kind: u8, what: u8, number: i32) {
        let [a, b, c, d] = number.to_le_bytes();
        // Without a supervisor there is nobody to be told, and this process is about to end.
        let _ = (&self.0).write_all(&[kind, what, a, b, c, d]);
    }
}

/// What was told.
#[derive(Debug)]
pub(super) enum Told {
    Ended(Ended, UsedUp),
    Failed(Step, io::Error),
}

pub(super) fn read(record: &[u8]) -> Option<Told> {
    let [kind, what, a, b, c, d] = <[u8; LENGTH]>::try_from(record).ok()?;
    let number = i32::from_le_bytes([a, b, c, d]);
    match kind {
        FAILED => Some(Told::Failed(
            Step::of(what)?,
            io::Error::from_raw_os_error(number),
        )),
        ENDED => Some(Told::Ended(ended(number), UsedUp::from_bits(what))),
        _ => None,
    }
}

/// What a status of the system says.
pub(super) fn ended(status: c_int) -> Ended {
    if libc::WIFSIGNALED(status) {
        return Ended::Signalled(u8::try_from(libc::WTERMSIG(status)).unwrap_or(u8::MAX));
    }
    Ended::Exited(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_told_is_read() {
        let (mut reader, writer) = io::pipe().unwrap();
        let report = Report::new(OwnedFd::from(writer));
        report.failed(Step::Landlock, &io::Error::from_raw_os_error(libc::ENOSYS));
        report.ended(9, UsedUp::default());
        report.ended(7 << 8, UsedUp::from_bits(1));
        let mut record = [0; LENGTH];
        reader.read_exact(&mut record).unwrap();
        assert!(matches!(
            read(&record),
            Some(Told::Failed(Step::Landlock, error)) if error.raw_os_error() == Some(libc::ENOSYS)
        ));
        for (wanted, bits) in [(Ended::Signalled(9), 0), (Ended::Exited(7), 1)] {
            reader.read_exact(&mut record).unwrap();
            let is_it = |told| matches!(told, Told::Ended(ended, used) if ended == wanted && used.bits() == bits);
            assert!(read(&record).is_some_and(is_it));
        }
        assert!(read(&[]).is_none());
        assert!(read(&[FAILED, 99, 0, 0, 0, 0]).is_none());
    }
}
