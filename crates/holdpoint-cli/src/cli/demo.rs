//! The arguments of `holdpoint demo`.

use clap::Args;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint demo                     the tour; Enter goes on, Ctrl-C ends it\n  \
    holdpoint demo --yes --no-pause    all of it at once, the question answered by the script\n  \
    holdpoint demo --keep              leaves the project and its ledger to look at";

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Have the script release the call that is held, in place of you
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Do not wait for Enter between the scenes
    #[arg(long)]
    pub(crate) no_pause: bool,
    /// Leave the temporary directory to look at
    #[arg(long)]
    pub(crate) keep: bool,
}
