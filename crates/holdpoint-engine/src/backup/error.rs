//! Why a backup cannot be made or restored.

use std::io;
use std::path::{Path, PathBuf};

use crate::humanize::{bytes, grouped};
use crate::plain_words;

/// Why a backup cannot be made or restored, in one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no place for backups.
    #[error("no home directory is known, so no backup can be kept: set HOME or XDG_STATE_HOME")]
    NoPlace,
    /// There is more to copy than may be.
    #[error("what the call would change has more than {count} files and directories: change less at a time, or have a person do it", count = grouped(.0))]
    TooMany(usize),
    /// There is more to copy than may be.
    #[error("what the call would change has more than {}: change less at a time, or have a person do it", bytes(*.0))]
    TooLarge(u64),
    /// There is no room for it.
    #[error("a backup needs {}, and {} are free where backups are kept: make room", bytes(*.0), bytes(*.1))]
    NoRoom(u64, u64),
    /// Something cannot be read.
    #[error("{path}: it cannot be read ({1}), so there is no backup of it", path = .0.display())]
    Unreadable(PathBuf, String),
    /// Something cannot be copied.
    #[error("{path}: this is neither a file nor a directory nor a link, and cannot be copied", path = .0.display())]
    Special(PathBuf),
    /// Something changed while it was read.
    #[error("{path}: it changed while it was copied: try again", path = .0.display())]
    Changing(PathBuf),
    /// The place of backups does not play along.
    #[error("{path}: the backup cannot be written ({1}): check the directory and the disk", path = .0.display())]
    Unwritten(PathBuf, String),
    /// There are no backups.
    #[error(
        "there is no backup yet: one is made before a call for which the policy asks for `backup`"
    )]
    None,
    /// There is none of that name.
    #[error(
        "`{0}`: there is no backup of that name: `holdpoint undo --list` shows those there are"
    )]
    NotFound(String),
    /// Several names start so.
    #[error("`{0}`: several backups start so: write more of the name")]
    Ambiguous(String),
    /// A manifest or an object is not what was written.
    #[error("{path}: this backup is damaged ({1}): use another", path = .0.display())]
    Damaged(PathBuf, String),
    /// The content of a file is gone.
    #[error("{path}: the copy of it is missing or damaged, so nothing was restored: use another backup", path = .0.display())]
    Lost(PathBuf),
    /// The way to a path leads elsewhere than it did.
    #[error("{path}: a link stands on the way to it that did not when it was copied: remove the link first", path = .0.display())]
    Moved(PathBuf),
    /// Something cannot be restored.
    #[error("{path}: it cannot be restored ({1}); what was there before is kept as backup {2}", path = .0.display())]
    Unrestored(PathBuf, String, String),
    /// The state changed since the plan was made.
    #[error("{path}: it changed since the plan was made: look again", path = .0.display())]
    Stale(PathBuf),
}

impl BackupError {
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Self {
        BackupError::Unreadable(path.to_owned(), plain_words(error))
    }

    pub(super) fn unwritten(path: &Path, error: &io::Error) -> Self {
        BackupError::Unwritten(path.to_owned(), plain_words(error))
    }
}
