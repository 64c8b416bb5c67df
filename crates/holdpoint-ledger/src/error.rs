//! Why something could not be recorded or read, in one line that says what to do.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use crate::Timestamp;

/// Why the ledger could not be used.
#[derive(Debug)]
pub struct LedgerError {
    /// What was being done.
    pub(crate) doing: Doing,
    /// The file or directory it is about.
    pub(crate) path: PathBuf,
    pub(crate) cause: Cause,
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Open,
    Lock,
    Read,
    Write,
    Sync,
    Sign,
}

#[derive(Debug)]
pub(crate) enum Cause {
    Io(io::Error),
    /// Another process does not let go of the lock.
    Busy,
    /// The clock stands before the last record.
    ClockWentBack {
        now: Timestamp,
        last: Timestamp,
    },
    /// The key that signs is gone or damaged.
    NoKey,
    /// A record could not be put into words.
    Form(serde_json::Error),
}

impl LedgerError {
    pub(crate) fn io(doing: Doing, path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self {
            doing,
            path: path.into(),
            cause: Cause::Io(error),
        }
    }

    pub(crate) fn new(doing: Doing, path: impl Into<PathBuf>, cause: Cause) -> Self {
        Self {
            doing,
            path: path.into(),
            cause,
        }
    }

    /// Whether there was no room to write.
    pub(crate) fn is_full(&self) -> bool {
        match &self.cause {
            Cause::Io(error) => matches!(
                error.kind(),
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::WriteZero
            ),
            Cause::Busy | Cause::ClockWentBack { .. } | Cause::NoKey | Cause::Form(_) => false,
        }
    }

    /// The cause, in one word that stays the same.
    pub fn code(&self) -> &'static str {
        match &self.cause {
            Cause::Io(error) => self.io_code(error),
            Cause::Busy => "lock_held",
            Cause::ClockWentBack { .. } => "clock_went_back",
            Cause::NoKey => "no_key",
            Cause::Form(_) => "form",
        }
    }

    fn io_code(&self, error: &io::Error) -> &'static str {
        let kind = error.kind();
        if self.is_full() {
            "disk_full"
        } else if is_out_of_files(error) {
            "too_many_files"
        } else if kind == ErrorKind::FileTooLarge {
            "file_size_limit"
        } else if kind == ErrorKind::ReadOnlyFilesystem {
            "read_only"
        } else if kind == ErrorKind::PermissionDenied {
            "not_permitted"
        } else if self.doing == Doing::Sync {
            "not_synced"
        } else {
            "io"
        }
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let doing = match self.doing {
            Doing::Open => "opened",
            Doing::Lock => "locked",
            Doing::Read => "read",
            Doing::Write => "written",
            Doing::Sync => "brought to the disk",
            Doing::Sign => "signed",
        };
        match &self.cause {
            Cause::Io(error) => {
                let what = plain_words(error);
                let advice = match self.code() {
                    "disk_full" => "free some space",
                    "file_size_limit" => "raise the limit of file sizes (`ulimit -f`)",
                    "too_many_files" => "close some files, or raise their limit (`ulimit -n`)",
                    "read_only" | "not_permitted" => {
                        "make the directory writable for you, or name another in XDG_STATE_HOME"
                    }
                    _ => "check the disk and the directory",
                };
                write!(f, "{path}: the ledger cannot be {doing} ({what}): {advice}")
            }
            Cause::Busy => write!(
                f,
                "{path}: the ledger cannot be locked (another process holds it): end that process"
            ),
            Cause::ClockWentBack { now, last } => write!(
                f,
                "{path}: the clock shows {now}, before the last record ({last}): set the clock, or \
                 accept it with `holdpoint log repair`"
            ),
            Cause::NoKey => write!(
                f,
                "{path}: the ledger cannot be signed (its key is missing or damaged): put it back, \
                 or make a new one with `holdpoint log repair`"
            ),
            Cause::Form(error) => write!(f, "{path}: the record cannot be {doing} ({error})"),
        }
    }
}

/// It names no source: its own line says what caused it, and whoever prints a chain of errors would
/// say it twice.
impl std::error::Error for LedgerError {}

/// Whether this process, or all of them together, has no file left to open.
fn is_out_of_files(error: &io::Error) -> bool {
    // EMFILE and ENFILE, which have no kind of their own.
    cfg!(unix) && matches!(error.raw_os_error(), Some(24 | 23))
}

/// An error in words, without the system's number for it.
pub fn plain_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ")
        .next()
        .map_or_else(String::new, str::to_lowercase)
}
