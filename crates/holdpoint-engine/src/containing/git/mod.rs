//! What git runs in the workspace of a contained command, outside of any sandbox, when somebody asks it for as little as the
//! state of the files: settings that name programs, hooks, and the repositories below.
//!
//! What stands there before a run is protected (`obeyed`). New repositories cannot be kept from being made, since tests and
//! tools make them all the time; so afterwards their settings are looked at, and those that would run something are put
//! aside (`left`).

#[cfg(target_os = "linux")]
mod left;
mod obeyed;
mod settings;

use std::path::PathBuf;

#[cfg(target_os = "linux")]
pub use left::GitBefore;
pub(super) use obeyed::{protected, worktrees};

/// The largest file of settings, hook or list of steps that is read. One that is larger counts as something git runs.
const MAX_FILE: u64 = 256 << 10;

/// How many files of settings one names another. Git gives up at ten.
const MAX_INCLUDED: usize = 10;

/// What was done about what a command has left.
#[derive(Debug, Default)]
pub struct PutRight {
    /// Each file that git would have obeyed.
    pub aside: Vec<PutAside>,
    /// What could not be put aside.
    pub failed: Vec<(PathBuf, String)>,
    /// Whether everything was looked at, or as much as before the run.
    pub whole: bool,
}

/// A file that git would have obeyed, under another name.
#[derive(Debug, PartialEq, Eq)]
pub struct PutAside {
    /// Where it was.
    pub file: PathBuf,
    /// Where it is.
    pub kept_as: PathBuf,
    /// Whether what was there before the run is there again.
    pub restored: bool,
    /// What git would have run: the keys of settings, or what kind of file it is.
    pub why: String,
}

/// Where no command is contained, none has left anything.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub struct GitBefore;

#[cfg(not(target_os = "linux"))]
impl GitBefore {
    /// Nothing is looked at.
    pub fn look(_workspace: &std::path::Path, _journals: &std::path::Path) -> Self {
        Self
    }

    /// Nothing is put aside.
    pub fn put_right(self) -> PutRight {
        PutRight {
            whole: true,
            ..PutRight::default()
        }
    }
}
