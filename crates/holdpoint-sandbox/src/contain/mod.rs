//! Running a command where it can do no harm: what it may see, write and reach is fixed before it starts.
//!
//! A [`Plan`] says what the command is given. [`run`] makes the sandbox, runs the command in it to its end and says how
//! it ended and which [`Tier`] was reached. A tier below the plan's floor is an error before anything ran, never a
//! quiet step down.
//!
//! On Linux the supervisor starts an *init* in namespaces of its own (user, mount, pid, network, ipc, host name,
//! cgroup); init lays out the files, starts the *payload* and stays to reap what it leaves; the payload gives up every
//! right it has left (capabilities, Landlock, system calls) and becomes the command. When init ends, the kernel ends
//! everything inside.

mod error;
#[cfg(target_os = "linux")]
mod linux;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::{ContainError, Step};

/// How much the system bounds a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Nothing is enforced.
    None,
    /// Files by Landlock and system calls by a filter: no network, no files but those that are given. What the command
    /// is given to write it may write everywhere in it, protected paths too.
    Landlock,
    /// Namespaces as well: a file system, processes and a loopback of its own, and protected paths.
    Full,
}

impl Tier {
    /// The word for it in policies, records and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a command may use up. Each has a limit always: a command that may take everything takes the machine.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may run. `None` is as long as it likes, for servers.
    pub time: Option<Duration>,
    /// How many processes and threads its user may have, with what the user runs elsewhere where the system counts so.
    pub processes: u64,
    /// How many bytes a file may grow to.
    pub file_size: u64,
    /// How many bytes its private temporary directories may hold, each.
    pub temporary: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: None,
            // A parallel build of a large project starts some hundreds; a fork bomb ends here.
            processes: 4096,
            // The largest file a build writes is a few GiB of debug information.
            file_size: 16 << 30,
            // Held in memory: a quarter of a small machine.
            temporary: 2 << 30,
        }
    }
}

/// A command, and all it is given.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program and its arguments; the program is looked for in the `PATH` of `environment`.
    pub command: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory it starts in.
    pub directory: PathBuf,
    /// Trees it may change. What is not there is left out.
    pub writable: Vec<PathBuf>,
    /// Trees of the masked home it may read. What is not there is left out.
    pub readable: Vec<PathBuf>,
    /// The home directory in whose place it finds an empty one. `None` masks nothing.
    pub home: Option<PathBuf>,
    /// Files and trees it does not find, wherever they are.
    pub hidden: Vec<PathBuf>,
    /// Paths in the writable trees it can neither change, nor make, nor carry away with a directory above them.
    pub protected: Vec<PathBuf>,
    /// The directory for the journals of placeholders, which stand for protected paths that do not exist.
    pub journals: PathBuf,
    /// What it may use up.
    pub limits: Limits,
    /// The lowest tier it may run in.
    pub floor: Tier,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exited(u8),
    /// By this signal.
    Signalled(u8),
    /// Its time was up.
    OutOfTime,
}

impl Ended {
    /// The code a shell would give for it. `124` is what `timeout` gives.
    pub fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Signalled(signal) => signal.saturating_add(128),
            Self::OutOfTime => 124,
        }
    }
}

/// What became of a run.
#[derive(Debug)]
pub struct Ran {
    /// How the command ended.
    pub ended: Ended,
    /// What bounded it.
    pub tier: Tier,
    /// Why it is not a higher tier, in words.
    pub below: Option<String>,
}

/// Runs a command to its end.
///
/// The process must have one thread only: what is forked from one of several can wait for ever for a lock of another.
pub fn run(plan: &Plan) -> Result<Ran, ContainError> {
    run_in(plan, Tier::Full)
}

/// The same in this tier at most.
#[cfg(target_os = "linux")]
pub fn run_in(plan: &Plan, highest: Tier) -> Result<Ran, ContainError> {
    linux::run(plan, highest)
}

/// There is nothing here that would bound a command: only a plan that asks for nothing could run, and that needs no
/// sandbox.
#[cfg(not(target_os = "linux"))]
pub fn run_in(plan: &Plan, _highest: Tier) -> Result<Ran, ContainError> {
    Err(ContainError::BelowFloor {
        floor: plan.floor,
        reason: "this system has no sandbox Holdpoint can make".into(),
    })
}

/// The highest tier this machine gives a command, and why it is no higher: tried with a command that does nothing.
#[cfg(target_os = "linux")]
pub fn reachable() -> (Tier, Option<String>) {
    linux::reachable()
}

/// This machine gives none.
#[cfg(not(target_os = "linux"))]
pub fn reachable() -> (Tier, Option<String>) {
    let reason = "this system has no sandbox Holdpoint can make";
    (Tier::None, Some(reason.into()))
}

/// Takes away what runs that were killed left of their placeholders in `journals`.
#[cfg(target_os = "linux")]
pub fn sweep(journals: &Path) {
    linux::sweep(journals);
}

/// Nothing is ever left here.
#[cfg(not(target_os = "linux"))]
pub fn sweep(_journals: &Path) {}
