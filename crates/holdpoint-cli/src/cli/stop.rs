//! The flags of `stop` and `resume`.

use clap::Args;

pub(super) const STOP_EXAMPLES: &str = "Examples:
  holdpoint stop                        the agent that works in this directory
  holdpoint stop --agent codex          every session of an agent
  holdpoint stop --all --reason 'what is it doing?'
  holdpoint stop --list                 what is stopped, and what lets it go on";

pub(super) const RESUME_EXAMPLES: &str = "Examples:
  holdpoint resume                      the one thing that is stopped
  holdpoint resume --all                what `stop --all` stopped; what else is stopped stays so";

/// What is stopped or goes on.
#[derive(Debug, Args)]
pub(crate) struct StopTarget {
    /// The session, as `holdpoint permissions sessions` lists it
    #[arg(value_name = "SESSION", conflicts_with_all = ["agent", "all"])]
    pub(crate) session: Option<String>,
    /// Every session of an agent
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) agent: Option<String>,
    /// Every agent of this account
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Stopping.
#[derive(Debug, Args)]
pub(crate) struct Stop {
    #[command(flatten)]
    pub(crate) target: StopTarget,
    /// Why; the agent's model and the record are told
    #[arg(long, short = 'm', value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// List what is stopped
    #[arg(long, conflicts_with_all = ["session", "agent", "all", "reason"])]
    pub(crate) list: bool,
}

/// Going on.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    pub(crate) target: StopTarget,
}
