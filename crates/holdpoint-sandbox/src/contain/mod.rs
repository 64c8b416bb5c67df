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
mod told;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::network::Internet;
#[cfg(unix)]
use crate::network::Upstream;
use crate::network::{HostRule, Opened};

pub use error::{ContainError, Step};
pub use told::{Layers, NetworkLayer, Notice, Reached, Refusal, Trace};

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
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a command may use up. What a command could leave behind or take a machine down with at once has a limit always.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may run. `None` is as long as it likes, for servers.
    pub time: Option<Duration>,
    /// How many bytes all its processes may hold together, by a control group. `None` is no limit.
    pub memory: Option<u64>,
    /// How many processes and threads its user may have, with what the user runs elsewhere where the system counts so.
    pub processes: u64,
    /// How many bytes a file may grow to.
    pub file_size: u64,
    /// How many bytes its private temporary directories may hold, each.
    pub temporary: u64,
    /// How many bytes it may write to its standard output and error together. `None`: they are passed on as they are.
    pub output: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: None,
            memory: None,
            // A parallel build of a large project starts some hundreds; a fork bomb ends here.
            processes: 4096,
            // The largest file a build writes is a few GiB of debug information.
            file_size: 16 << 30,
            // Held in memory: a quarter of a small machine.
            temporary: 2 << 30,
            output: None,
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
    /// The same for files that git reads: while they do not exist, a file that says "here" stands for a `commondir`, which
    /// says where a repository's settings lie, and an empty one for any other.
    pub pinned: Vec<PathBuf>,
    /// The directory for the journals of placeholders, which stand for protected paths that do not exist. The user's
    /// alone, and hidden inside.
    pub journals: PathBuf,
    /// What it may use up.
    pub limits: Limits,
    /// The lowest tier it may run in.
    pub floor: Tier,
    /// Hosts it may reach, in the tier `full`. Without any it reaches nothing but a loopback of its own.
    pub hosts: Vec<HostRule>,
    /// Where the runs of one session find each other: the beginning of the paths of sockets, in the directory of the
    /// journals. They share a network where their hosts are the same. `None` is a network of
    /// its own.
    pub session: Option<PathBuf>,
    /// Whether its processes may look into each other, as debuggers do.
    pub tracing: bool,
    /// What is noticed of it and told afterwards.
    pub notice: Notice,
    /// Files that end it as soon as one of them is there: a person has stopped whoever it runs for.
    pub stops: Vec<PathBuf>,
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
    /// It wrote more to its output than it may.
    TooMuchOutput,
    /// A person stopped it.
    Stopped,
}

impl Ended {
    /// The code a shell would give for it. `124` is what `timeout` gives.
    pub fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Signalled(signal) => signal.saturating_add(128),
            Self::OutOfTime => 124,
            // As if whoever reads had gone.
            Self::TooMuchOutput => 141,
            // As if it had been interrupted on its terminal.
            Self::Stopped => 130,
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
    /// Each wall that stood around it.
    pub layers: Layers,
    /// Limits that were reached.
    pub reached: Vec<Reached>,
    /// Limits of the plan that nothing enforces here: no control group can be made.
    pub unenforced: Vec<Reached>,
    /// Connections to listed hosts.
    pub opened: Vec<Opened>,
    /// What was refused, each once. Hosts always, the rest as the plan's notice has it.
    pub refusals: Vec<Refusal>,
    /// How many are not in the list.
    pub refusals_left_out: u64,
    /// What a command that failed looked for and did not find, because it is hidden from it.
    pub hidden: Vec<PathBuf>,
    /// Protected paths at which somebody outside put something else while it ran, or nothing: from then on it could change that.
    pub replaced: Vec<PathBuf>,
    /// What it used, if everything was to be noticed.
    pub trace: Trace,
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
    run_with(plan, highest, Arc::new(Internet))
}

/// The same with another way to the hosts.
#[cfg(target_os = "linux")]
pub fn run_with(
    plan: &Plan,
    highest: Tier,
    upstream: Arc<dyn Upstream>,
) -> Result<Ran, ContainError> {
    let outside = Outside {
        upstream,
        outlet: None,
    };
    linux::run(plan, highest, &outside)
}

/// Runs a command to its end, and hands what it writes to an outlet, also where a terminal looks on.
#[cfg(target_os = "linux")]
pub fn run_through(plan: &Plan, outlet: &dyn Outlet) -> Result<Ran, ContainError> {
    let outside = Outside {
        upstream: Arc::new(Internet),
        outlet: Some(outlet),
    };
    linux::run(plan, Tier::Full, &outside)
}

/// Nothing is written where no command runs.
#[cfg(not(target_os = "linux"))]
pub fn run_through(plan: &Plan, _outlet: &dyn Outlet) -> Result<Ran, ContainError> {
    run_in(plan, Tier::Full)
}

/// What a run needs of the machine around it.
#[cfg(target_os = "linux")]
struct Outside<'o> {
    /// The way to listed hosts.
    upstream: Arc<dyn Upstream>,
    /// Where output goes instead of the streams.
    outlet: Option<&'o dyn Outlet>,
}

/// Which of its streams a command wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// What takes a command's output in the place of the streams. It is called by the one thread that serves the run, as soon as
/// something was written.
pub trait Outlet {
    /// Takes what was written. An error says that nobody reads it any more, and the command learns that by its next write.
    fn take(&self, stream: Stream, bytes: &[u8]) -> std::io::Result<()>;
}

/// There are no hosts to be reached from where no command runs.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn run_with(
    plan: &Plan,
    highest: Tier,
    _upstream: Arc<dyn Upstream>,
) -> Result<Ran, ContainError> {
    run_in(plan, highest)
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

/// Says that this program calls [`inside`] before it does anything else, so that bubblewrap can start it as the first process
/// of a sandbox. A program that does not say so never uses bubblewrap.
pub fn has_inside() {
    #[cfg(target_os = "linux")]
    linux::set_inside();
}

/// Becomes the first process of a sandbox if these are the arguments bubblewrap started this program with; the exit code of
/// one that could not.
#[cfg(target_os = "linux")]
pub fn inside(arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    linux::inside(arguments)
}

/// No sandbox is made here.
#[cfg(not(target_os = "linux"))]
pub fn inside(_arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    None
}

/// The filter of system calls of the tier `full`, as other makers of sandboxes take it: what a comparison with them needs.
#[cfg(target_os = "linux")]
pub fn filter_bytes() -> Vec<u8> {
    linux::filter_bytes()
}

/// The highest tier this machine gives a command, with listed hosts or without, and why it is no higher: tried with a command
/// that does nothing.
#[cfg(target_os = "linux")]
pub fn reachable(hosts: bool) -> (Tier, Option<String>) {
    linux::reachable(hosts)
}

/// This machine gives none.
#[cfg(not(target_os = "linux"))]
pub fn reachable(_hosts: bool) -> (Tier, Option<String>) {
    let reason = "this system has no sandbox Holdpoint can make";
    (Tier::None, Some(reason.into()))
}

/// Takes away what runs that were killed left: their placeholders by the journals, and their sockets beside them.
#[cfg(target_os = "linux")]
pub fn sweep(journals: &Path) {
    linux::sweep(journals);
}

/// Nothing is ever left here.
#[cfg(not(target_os = "linux"))]
pub fn sweep(_journals: &Path) {}
