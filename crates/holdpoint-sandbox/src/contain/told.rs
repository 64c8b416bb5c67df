//! What is told of a run when it has ended.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use crate::network::HostRefusal;

/// What of a command's doings is noticed. It is only told: nothing is enforced by noticing it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// Nothing.
    #[default]
    Nothing,
    /// What was refused, and what a command that fails did not find.
    Refusals,
    /// Also what it read, wrote and ran: a policy can be learnt from it.
    Everything,
}

/// A limit of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Its time.
    Time,
    /// The memory of all its processes.
    Memory,
    /// How many processes it has.
    Processes,
    /// How large a file grows.
    FileSize,
    /// How much it writes to its output.
    Output,
    /// What its private temporary directories hold.
    Temporary,
}

impl Reached {
    /// The key of the limit, as a policy has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::FileSize => "fileSize",
            Self::Output => "output",
            Self::Temporary => "temporary",
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which network a command was in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NetworkLayer {
    /// The machine's, with sockets shut by the filter and Landlock.
    #[default]
    Shut,
    /// One of its own.
    Own,
    /// That of another run of its session.
    Joined,
}

/// The walls around a command, each by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers {
    /// A namespace of users. Root can do without.
    pub users: bool,
    /// A file system of its own.
    pub mounts: bool,
    /// A process table of its own.
    pub processes: bool,
    /// Its network.
    pub network: NetworkLayer,
    /// The version of Landlock; 0 is none.
    pub landlock: u32,
    /// The filter of system calls.
    pub filter: bool,
    /// Limits that control groups hold.
    pub groups: Vec<Reached>,
    /// Namespaces and mounts were made by bubblewrap, and found to stand.
    pub bubblewrap: bool,
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.users, "users"),
            (self.mounts, "mounts"),
            (self.processes, "processes"),
            (self.network == NetworkLayer::Own, "network"),
            (
                self.network == NetworkLayer::Joined,
                "network (the session's)",
            ),
            (self.filter, "system calls"),
            (self.bubblewrap, "by bubblewrap"),
        ];
        let mut parts: Vec<String> = flags
            .into_iter()
            .filter(|(stands, _)| *stands)
            .map(|(_, word)| word.to_owned())
            .collect();
        if self.landlock > 0 {
            parts.push(format!("Landlock {}", self.landlock));
        }
        parts.extend(self.groups.iter().map(|limit| format!("{limit} limit")));
        f.write_str(&parts.join(", "))
    }
}

/// Something a command wanted and did not get.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// To change a file it is not given.
    Write(PathBuf),
    /// To change a protected path.
    Protected(PathBuf),
    /// To reach a host or an address.
    Host {
        /// What it asked for, made safe to be shown.
        name: String,
        /// The port; 0 where only the name was looked up.
        port: u16,
        /// Why not.
        reason: HostRefusal,
    },
    /// A system call.
    Call(&'static str),
}

impl Refusal {
    /// The key of a policy's `sandbox` that would allow it. `None`: nothing does.
    pub fn allowed_by(&self) -> Option<&'static str> {
        match self {
            Self::Write(_) => Some("write"),
            Self::Host {
                reason: HostRefusal::NotListed,
                ..
            } => Some("hosts"),
            Self::Call("ptrace" | "process_vm_readv" | "process_vm_writev") => Some("calls"),
            Self::Protected(_) | Self::Host { .. } | Self::Call(_) => None,
        }
    }
}

/// What a command used, as far as it was noticed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Files it read outside of the system and of what it may write.
    pub read: BTreeSet<PathBuf>,
    /// Files it changed or made, or wanted to.
    pub written: BTreeSet<PathBuf>,
    /// Programs it ran.
    pub run: BTreeSet<PathBuf>,
}
