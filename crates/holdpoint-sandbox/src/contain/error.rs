//! Why a command did not run contained.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::Tier;

/// A step of making a sandbox, for saying where it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// Namespaces of its own.
    Namespaces = 1,
    /// Which user it is inside.
    Users,
    /// The loopback network.
    Loopback,
    /// Taking hold of what it is given.
    Trees,
    /// Making everything else read-only.
    ReadOnly,
    /// Temporary directories of its own.
    Temporary,
    /// A process table of its own.
    Processes,
    /// Devices.
    Devices,
    /// An empty home.
    Home,
    /// Putting back what it is given.
    Given,
    /// Hiding.
    Hidden,
    /// Protecting.
    Protected,
    /// The directory to start in.
    Directory,
    /// The process that becomes the command.
    Payload,
    /// Limits.
    Limits,
    /// Giving up capabilities.
    Capabilities,
    /// Landlock.
    Landlock,
    /// The filter of system calls.
    Filter,
    /// Becoming the command.
    Execute,
}

impl Step {
    #[cfg(target_os = "linux")]
    const ALL: [Self; 19] = [
        Self::Namespaces,
        Self::Users,
        Self::Loopback,
        Self::Trees,
        Self::ReadOnly,
        Self::Temporary,
        Self::Processes,
        Self::Devices,
        Self::Home,
        Self::Given,
        Self::Hidden,
        Self::Protected,
        Self::Directory,
        Self::Payload,
        Self::Limits,
        Self::Capabilities,
        Self::Landlock,
        Self::Filter,
        Self::Execute,
    ];

    /// The step of a number that came through a pipe.
    #[cfg(target_os = "linux")]
    pub(super) fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as u8 == number)
    }

    fn words(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces of its own",
            Self::Users => "its user",
            Self::Loopback => "its loopback network",
            Self::Trees => "the trees it is given",
            Self::ReadOnly => "making the rest read-only",
            Self::Temporary => "its temporary directories",
            Self::Processes => "its process table",
            Self::Devices => "its devices",
            Self::Home => "its empty home",
            Self::Given => "putting back the trees it is given",
            Self::Hidden => "hiding what it must not see",
            Self::Protected => "protecting paths",
            Self::Directory => "the directory it starts in",
            Self::Payload => "its process",
            Self::Limits => "its limits",
            Self::Capabilities => "giving up capabilities",
            Self::Landlock => "Landlock",
            Self::Filter => "the filter of system calls",
            Self::Execute => "the command",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Why a command did not run contained. Nothing ran.
#[derive(Debug)]
pub enum ContainError {
    /// The plan names no command.
    NoCommand,
    /// A path or word with a zero byte in it, which no system call takes.
    ZeroByte,
    /// This process has several threads.
    Threads,
    /// A standard stream is a directory: whoever has one open goes from there wherever it likes, past every wall of mounts.
    DirectoryAsStream,
    /// Its input is a file it may not change: whoever has a file open opens it again for writing, past every wall of mounts.
    ProtectedAsInput,
    /// A path of the plan cannot be looked at.
    Path {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The machine gives less than the plan asks for.
    BelowFloor {
        /// What it asks for.
        floor: Tier,
        /// Why it is not reached.
        reason: String,
    },
    /// The command itself could not be started.
    NotStarted {
        /// What kept it.
        source: io::Error,
    },
    /// Something else failed.
    Io(io::Error),
}

impl fmt::Display for ContainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand => f.write_str("there is no command to run"),
            Self::ZeroByte => f.write_str("a word of the command has a zero byte in it"),
            Self::Threads => f.write_str("a sandbox is made by a process with one thread"),
            Self::DirectoryAsStream => f.write_str(
                "its input or output is a directory, through which it would reach what is outside",
            ),
            Self::ProtectedAsInput => f.write_str(
                "its input is a protected file, which it could change through it: pass it on by a pipe (`cat FILE | …`)",
            ),
            Self::Path { path, source } => {
                write!(
                    f,
                    "`{}` cannot be looked at ({})",
                    path.display(),
                    source.kind()
                )
            }
            Self::BelowFloor { floor, reason } => {
                write!(f, "the sandbox `{floor}` is not to be had here: {reason}")
            }
            Self::NotStarted { source } => {
                write!(f, "the command cannot be started ({})", source.kind())
            }
            Self::Io(source) => write!(f, "the sandbox cannot be made ({})", source.kind()),
        }
    }
}

impl std::error::Error for ContainError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Path { source, .. } | Self::NotStarted { source } | Self::Io(source) => {
                Some(source)
            }
            Self::NoCommand
            | Self::ZeroByte
            | Self::Threads
            | Self::DirectoryAsStream
            | Self::ProtectedAsInput
            | Self::BelowFloor { .. } => None,
        }
    }
}

impl From<io::Error> for ContainError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}
