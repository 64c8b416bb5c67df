//! The arguments of `holdpoint import`.

use std::path::PathBuf;

use clap::Args;
use holdpoint_cli::import::From;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint import claude-code ~/.claude/settings.json > permissions.json\n  \
    holdpoint import codex ~/.codex/config.toml ~/.codex/rules/default.rules\n  \
    holdpoint import adh policies/*.yaml preferences.yaml --write\n  \
    holdpoint import hooks                     the profile of that document, nothing added\n\n\
    The policy goes to standard output, the report to standard error and into the policy's first lines.\n\
    Try it with `holdpoint policy lint` and `holdpoint policy diff` before it is in force.\n\n\
    Exit codes: 0 done, 1 error. What was left out is no error: the report says it.";

/// Which settings.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Whose settings they are
    #[arg(value_name = "FROM")]
    pub(crate) from: From,
    /// The files, in the order in which they count
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write your own policy, if you have none (`--write=FILE`: another file that is not there yet)
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) write: Option<Option<PathBuf>>,
    /// Print one JSON object with the policy and the report
    #[arg(long, conflicts_with = "write")]
    pub(crate) json: bool,
}
