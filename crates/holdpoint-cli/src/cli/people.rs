//! The arguments of `holdpoint people`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use holdpoint_broker::Role;

use super::span::seconds;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint people add ann                    prints the token ann signs in with, once\n  \
    holdpoint people add vic --role viewer      may look, and not answer\n  \
    holdpoint people delegate bob --from ann --for 3d\n  \
    holdpoint people list";

#[derive(Debug, Args)]
pub(crate) struct People {
    #[command(subcommand)]
    pub(crate) action: PeopleAction,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PeopleAction {
    /// List everybody, and who stands in for whom
    List,
    /// Add somebody, and print the token they sign in with
    ///
    /// The token is shown once and kept nowhere. Whoever lost theirs is removed and added again.
    Add {
        /// Their name, as rules and records write it
        name: String,
        /// What they may do
        #[arg(long, value_enum, default_value_t = RoleWord::Approver)]
        role: RoleWord,
    },
    /// Remove somebody; they are signed out by that
    Remove {
        /// Their name
        name: String,
    },
    /// Have somebody answer in somebody else's place for a while
    Delegate {
        /// Who answers
        to: String,
        /// In whose place; without it, in yours
        #[arg(long, value_name = "NAME")]
        from: Option<String>,
        /// For how long: 90s, 30m, 8h, 3d, 1w; at most 30 days
        #[arg(long = "for", value_name = "TIME", value_parser = how_long)]
        time: Duration,
    },
    /// Say by which key somebody signs what they release; for root alone
    ///
    /// Once anybody's key is pinned, calls of high and critical risk are released by a signature alone: on the page with a
    /// passkey, or by `holdpoint approve` with a key of `ssh-keygen -t ed25519-sk -O verify-required`.
    Pin {
        /// Their name, as rules and records write it
        name: String,
        /// The `.pub` file of a key of ssh with a device, or the file the page names for a passkey
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// What you have seen of the key: the characters the page shows of a passkey, the fingerprint `ssh-keygen` printed
        #[arg(long, value_name = "CHARACTERS")]
        check: Option<String>,
    },
    /// Take a key back, or all of somebody's; for root alone
    Unpin {
        /// Their name
        name: String,
        /// Which, as `people list` writes it; without it, all of theirs
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
    },
    /// End that
    Undelegate {
        /// Who answers
        to: String,
        /// In whose place; without it, in yours
        #[arg(long, value_name = "NAME")]
        from: Option<String>,
    },
}

/// The roles that can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleWord {
    /// Looks
    Viewer,
    /// Looks and answers
    Approver,
    /// The same, and looks after this list
    Admin,
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Viewer => Role::Viewer,
            RoleWord::Approver => Role::Approver,
            RoleWord::Admin => Role::Admin,
        }
    }
}

fn how_long(text: &str) -> Result<Duration, String> {
    seconds(text)
        .map(Duration::from_secs)
        .ok_or_else(|| "write 90s, 30m, 8h, 3d or 1w".into())
}
