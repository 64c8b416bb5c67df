//! The arguments of `holdpoint rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint rules list --pack git\n  \
    holdpoint rules show git.force-push-shared\n  \
    holdpoint rules test team.toml\n\n\
    In a policy file:\n  \
    \"guards\": {\n    \
      \"packs\": { \"cloud\": \"off\" },            // off, on, notify, contain, ask, review or deny\n    \
      \"rules\": { \"git.push\": \"deny\" },        // a rule's own word comes before its pack's\n    \
      \"load\": [\"team.toml\"]                   // a pack of your own, from where the file stands\n  \
    }\n\n\
    Packs in ~/.config/holdpoint/rules and /etc/holdpoint/rules are loaded by themselves. A layer\n\
    never loosens what one above it says, and the pack `agents` cannot be switched off.";

#[derive(Debug, Args)]
pub(crate) struct Rules {
    #[command(subcommand)]
    pub(crate) action: RulesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesAction {
    /// List the rules, pack by pack, with what each wants under the policy in force
    ///
    /// A verdict the policy changes is marked, as in `ask (deny)`: the first word is in force, the
    /// second is the pack's.
    List {
        /// Only this pack
        #[arg(long, value_name = "NAME")]
        pack: Option<String>,
        /// Only rules that want this under the policy in force
        #[arg(long, value_name = "VERDICT")]
        verdict: Option<RuleWord>,
        #[command(flatten)]
        under: RulesUnder,
    },
    /// Show everything about a rule: cases, examples, and the layers that change it
    Show {
        /// The rule's id, such as git.push
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        under: RulesUnder,
    },
    /// Try the examples of the shipped packs, or of pack files of your own
    ///
    /// Every example under `matches` must match its rule and none under `not_matches` may. They are
    /// judged in the workspace /work/app of a user whose home is /home/dev, on an empty disk, so
    /// they say the same everywhere. The exit code is 1 if an example fails.
    Test {
        /// Pack files; without one, the shipped packs
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

/// The policy rules are shown under.
#[derive(Debug, Args)]
pub(crate) struct RulesUnder {
    /// The directory the agent works in; without it, this one
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A policy file in place of all layers
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A ready-made policy in place of all layers (see `holdpoint profiles`)
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub(crate) profile: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleWord {
    Off,
    Notify,
    Contain,
    Ask,
    Review,
    Deny,
}
