//! One question at a time on one terminal, across processes (J-45).

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use holdpoint_core::text::escape_for_display;

use super::patience::Patience;
use super::{ChannelError, Turn};

/// The right to ask, until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct QueueLock {
    _locked: File,
}

impl QueueLock {
    /// Waits for everybody who asked before, and says whether anybody did.
    pub(super) fn take(lock: &Path, patience: &Patience<'_>) -> Result<(Self, Turn), ChannelError> {
        let unusable = |error: &io::Error| {
            let lock = escape_for_display(&lock.display().to_string(), 300);
            ChannelError::Unusable(format!(
                "the console cannot wait for its turn at `{lock}`: {error}"
            ))
        };
        let mut how = OpenOptions::new();
        how.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
        let file = how.open(lock).map_err(|error| unusable(&error))?;
        let mut turn = Turn::AtOnce;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok((Self { _locked: file }, turn)),
                Err(TryLockError::WouldBlock) => {
                    turn = Turn::AfterOthers;
                    patience.pause(PACE)?;
                }
                Err(TryLockError::Error(error)) => return Err(unusable(&error)),
            }
        }
    }
}

const PACE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::super::Waiting;
    use super::*;

    fn take(lock: &Path, millis: u64) -> Result<(QueueLock, Turn), ChannelError> {
        let waiting = Waiting {
            limit: Some(Duration::from_millis(millis)),
            cancelled: &|| false,
        };
        QueueLock::take(lock, &Patience::begin(&waiting))
    }

    #[test]
    fn the_second_waits_for_the_first_and_its_deadline_counts() {
        let directory = tempfile::tempdir().unwrap();
        let lock = directory.path().join("prompt.lock");
        let (first, turn) = take(&lock, 1000).unwrap();
        assert_eq!(turn, Turn::AtOnce);
        assert_eq!(take(&lock, 120).unwrap_err(), ChannelError::Timeout);
        let second = std::thread::scope(|scope| {
            let second = scope.spawn(|| take(&lock, 5000).unwrap().1);
            std::thread::sleep(Duration::from_millis(200));
            drop(first);
            second.join().unwrap()
        });
        assert_eq!(second, Turn::AfterOthers);
        assert_eq!(take(&lock, 1000).unwrap().1, Turn::AtOnce);
    }

    #[test]
    fn a_lock_that_cannot_be_opened_is_an_error() {
        let refused = take(Path::new("/nonexistent/prompt.lock"), 1000);
        assert!(matches!(refused, Err(ChannelError::Unusable(_))));
    }
}
