//! The commands about calls that wait for a person.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Span;

pub(super) const SERVE_EXAMPLES: &str = "Examples:\n  \
    holdpoint serve                           on this machine: http://localhost:4717\n  \
    holdpoint open                            sign in on its page, in another terminal\n  \
    holdpoint serve --listen 0.0.0.0:8443 --cert cert.pem --key key.pem --name gate.example\n\n\
    Beyond this machine it wants TLS and people with names: `holdpoint people add ann`.\n\
    Calls that wait survive its end; the next `holdpoint serve` finds them.";

pub(super) const WATCH_KEYS: &str = "Keys:\n  \
    y release   n refuse   c refuse with a comment   e edit in $EDITOR   + five minutes more\n  \
    a always    N never    (the rule is shown before it is stored)\n  \
    t, i, A     release, and ask nothing more: this turn, until idle, this session\n  \
    S           stop its session: every call is refused until `holdpoint resume`\n  \
    x, X        select one or all; y and n then answer the selection\n  \
    Enter in full   / filter   Tab history   ? every key   q quit\n\n\
    A call that is to be reviewed is released by typing its phrase. NO_COLOR turns colours off.\n\
    Scripts use `holdpoint pending --json`, `approve` and `deny`.";

pub(super) const PENDING_EXAMPLES: &str = "Examples:\n  \
    holdpoint pending\n  \
    holdpoint pending k3v7m2qa                one call in full\n  \
    holdpoint approve k3v7m2qa\n  \
    holdpoint deny k3v7m2qa --comment 'use a branch'";

pub(super) const APPROVE_EXAMPLES: &str = "Examples:\n  \
    holdpoint approve k3v7m2qa\n  \
    holdpoint approve k3v7m2qa --always prefix      and calls like it from now on\n  \
    holdpoint approve k3v7m2qa --always exact --keep project   in other sessions of the project, too\n  \
    holdpoint approve k3v7m2qa --phrase 'release rm'  what is to be reviewed wants a phrase\n  \
    holdpoint approve k3v7m2qa --edit command='git push --dry-run'\n\n\
    Agents are kept from this: the gate denies it, and the daemon refuses what runs below one.\n\n\
    Exit codes: 0 done, 1 the answer had no effect (it says why) or an error.";

/// Where the daemon listens.
#[derive(Debug, Default, Args)]
pub(crate) struct Serve {
    /// The address; without it, port 4717 of this machine, or a free one if that is taken
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The certificate (PEM), with those that lead to its issuer
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// A name under which people reach it
    #[arg(long, value_name = "HOST")]
    pub(crate) name: Vec<String>,
    /// Make it a service of yours (systemd, launchd) that runs whenever you are signed in, with the other options as given
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) install: bool,
    /// Take that service away
    #[arg(long)]
    pub(crate) uninstall: bool,
}

/// How the page is opened.
#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Print the address and start no browser; it holds a code that works once, for a minute
    #[arg(long)]
    pub(crate) print: bool,
}

/// What to show of what waits.
#[derive(Debug, Args)]
pub(crate) struct Pending {
    /// One call, in full
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to release, and how.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The calls
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Let calls like it run from now on in its session
    #[arg(long, value_name = "SCOPE", conflicts_with_all = ["all", "turn", "idle", "edit"])]
    pub(crate) always: Option<ScopeWord>,
    /// Where that is kept; without it, in its session
    ///
    /// `project` is a file of your own that counts for work in that project alone, `user` your policy. `pending ID` shows
    /// the exact rule, `permissions list` what is kept, and `permissions forget` takes it back.
    #[arg(long, value_name = "PLACE", requires = "always")]
    pub(crate) keep: Option<KeepWord>,
    /// Ask about nothing more in its session; what is denied stays denied
    #[arg(long, conflicts_with_all = ["turn", "idle", "edit"])]
    pub(crate) all: bool,
    /// Ask about nothing more until its turn ends
    #[arg(long, conflicts_with_all = ["idle", "edit"])]
    pub(crate) turn: bool,
    /// Ask about nothing more until its session is idle
    #[arg(long, conflicts_with = "edit")]
    pub(crate) idle: bool,
    /// What must be typed to release a call that is to be reviewed
    #[arg(long, value_name = "TEXT")]
    pub(crate) phrase: Option<String>,
    /// The key of ssh to sign with, where a signature is wanted; without it, a pinned one of ~/.ssh
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Change an argument first; the call is judged again, and released only if you approve again
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) edit: Vec<String>,
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a rule is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepWord {
    /// In the session, until it ends
    Session,
    /// For this project, in a file of your own
    Project,
    /// For you, in your policy
    #[value(alias = "me")]
    User,
}

/// What to refuse, and how.
#[derive(Debug, Args)]
pub(crate) struct Refuse {
    /// The calls
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// What the model reads
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// Refuse calls like it from now on in its session
    #[arg(long, value_name = "SCOPE", conflicts_with = "comment")]
    pub(crate) never: Option<ScopeWord>,
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// How far a rule reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeWord {
    /// This call and no other
    Exact,
    /// Calls of the same program and subcommand
    Prefix,
    /// Every call of the tool
    Tool,
}

/// More time.
#[derive(Debug, Args)]
pub(crate) struct Extend {
    /// The call
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// How much
    #[arg(value_name = "SECONDS", default_value_t = 300)]
    pub(crate) seconds: u64,
}

/// What was answered before.
#[derive(Debug, Args)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) action: ApprovalsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsAction {
    /// List what was released, refused, withdrawn or has expired, the newest first
    List {
        /// Only those of a session
        #[arg(long, visible_alias = "task", value_name = "ID")]
        session: Option<String>,
        /// Only those a person answered whose name has this in it
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Only those with this in their words
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        #[command(flatten)]
        span: Span,
        /// At most so many
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        limit: usize,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Show one in full
    Show {
        /// The call
        #[arg(value_name = "ID")]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
