//! The arguments of `holdpoint replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Span;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint replay                              what the agents on this machine did\n  \
    holdpoint replay --list --since 7d            each call of the last week that is not allowed\n  \
    holdpoint replay --against strict sessions/   what another policy would change\n  \
    claude -p 'tidy up' --output-format stream-json --verbose | holdpoint replay -\n\n\
    Times are UTC.\n\n\
    Exit codes: 0 done, 1 error or a file that is no transcript; with --fail-on, 3 if something would\n\
    have been asked and 2 if something would have been denied.";

/// Which transcripts, under which policy, and what to print.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Transcripts, or directories of them (`-` is standard input); without one, the places where
    /// the agents on this machine leave theirs
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A policy file in place of all layers
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A ready-made policy in place of all layers (see `holdpoint profiles`)
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub(crate) profile: Option<String>,
    /// A second policy, a file or a profile: what would change if it took the first one's place
    #[arg(long, value_name = "POLICY")]
    pub(crate) against: Option<String>,
    /// The directory of calls whose transcript does not say it; without it, this one
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// List each call that is not simply allowed; with --against, each that is judged differently
    #[arg(long)]
    pub(crate) list: bool,
    /// List every call
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
    /// Only calls of sessions whose id starts with this
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Look at the disk: follow links, and read the scripts calls run as they are today
    #[arg(long)]
    pub(crate) look: bool,
    /// Put each call that is not simply allowed into the ledger
    #[arg(long)]
    pub(crate) record: bool,
    /// End with 3 if something would have been asked, and with 2 if something would have been denied
    #[arg(long, value_name = "VERDICT")]
    pub(crate) fail_on: Option<FailOn>,
    /// Print JSON, one object a line: the calls listed, then a summary
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// What is asked, reviewed or denied
    Ask,
    /// What is denied
    Deny,
}
