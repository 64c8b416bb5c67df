//! The arguments of `holdpoint run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint run -- npm test\n  \
    holdpoint run --inspect -- npm install  and secrets and orders in its output do not pass\n  \
    holdpoint run --time 60 -- sh -c 'make && ./build/check'\n  \
    holdpoint run --plan -- pytest          what it would be given; nothing runs\n\n\
    Exit codes: those of the command\n  \
    124 its time was up   125 the sandbox cannot be made, nothing ran\n  \
    126 the command cannot be run, or the ticket is not for it   127 there is no such command";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The least that must bound it: less is an error, and nothing runs [default: `sandbox.floor` of the policy, or full]
    #[arg(long, value_enum, value_name = "TIER")]
    pub(crate) floor: Option<Floor>,
    /// A directory it may change too
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Vec<PathBuf>,
    /// How long it may run
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) time: Option<u64>,
    /// Say what it would be given, and run nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Say afterwards what it used, as the section of a policy that gives it that
    #[arg(long)]
    pub(crate) trace: bool,
    /// Inspect what it writes on its way out: orders to a model and secrets do not pass
    ///
    /// Whole lines are passed on as they come. What is kept back is told on standard error and is on record.
    #[arg(long)]
    pub(crate) inspect: bool,
    /// Run the line a hook wrote this ticket for, and no other
    #[arg(long, value_name = "TICKET", conflicts_with_all = ["floor", "write", "time", "plan", "trace", "inspect"])]
    pub(crate) ticket: Option<String>,
    /// Say where the line of a ticket ended, and run nothing
    #[arg(long, value_name = "TICKET", conflicts_with_all = ["ticket", "floor", "write", "time", "plan", "trace", "inspect", "command"])]
    pub(crate) cwd: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required_unless_present_any = ["ticket", "cwd"], value_name = "COMMAND")]
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
