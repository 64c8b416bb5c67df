//! The arguments of `holdpoint run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint run -- npm test\n  \
    holdpoint run --time 60 -- sh -c 'make && ./build/check'\n  \
    holdpoint run --plan -- pytest          what it would be given; nothing runs\n\n\
    Exit codes: those of the command\n  \
    124 its time was up   125 the sandbox cannot be made, nothing ran\n  \
    126 the command cannot be run   127 there is no such command";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The least that must bound it: less is an error, and nothing runs
    #[arg(long, value_enum, value_name = "TIER", default_value = "full")]
    pub(crate) floor: Floor,
    /// A directory it may change too
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Vec<PathBuf>,
    /// How long it may run
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) time: Option<u64>,
    /// Say what it would be given, and run nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The tiers a person can ask for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Floor {
    /// Namespaces, Landlock and a filter of system calls
    Full,
    /// Landlock and a filter of system calls: no loopback, no protected paths
    Landlock,
}
