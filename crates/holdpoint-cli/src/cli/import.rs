//! The arguments of `holdpoint import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
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
    pub(crate) from: ImportFrom,
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

/// The tools whose settings are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFrom {
    /// Claude Code: `permissions` of a settings.json
    ClaudeCode,
    /// Codex: config.toml, and .rules with commands
    Codex,
    /// jaato: permissions.json
    Jaato,
    /// adh-cli: policies and preferences in YAML
    Adh,
    /// RRClaw: `[security]` of a config.toml
    Rrclaw,
    /// Safety hooks: scripts with DENY_PATTERNS, ASK_PATTERNS, BLOCKED_FILES, CONFIRM_FILES
    Hooks,
}

impl std::convert::From<ImportFrom> for From {
    fn from(from: ImportFrom) -> Self {
        match from {
            ImportFrom::ClaudeCode => From::ClaudeCode,
            ImportFrom::Codex => From::Codex,
            ImportFrom::Jaato => From::Jaato,
            ImportFrom::Adh => From::Adh,
            ImportFrom::Rrclaw => From::Rrclaw,
            ImportFrom::Hooks => From::Hooks,
        }
    }
}
