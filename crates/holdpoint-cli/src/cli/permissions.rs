//! The arguments of `holdpoint permissions`.

use std::path::PathBuf;

use super::KeepWord;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Permissions {
    #[command(subcommand)]
    pub(crate) action: Action,
    /// The session; without it, that of the agent that works in this directory
    #[arg(long, value_name = "ID", env = "HOLDPOINT_SESSION", global = true)]
    pub(crate) session: Option<String>,
    /// The directory the agent works in; without it, this one
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) cwd: Option<PathBuf>,
    /// A policy file in place of all layers
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the sessions of agents, the latest first: agent, last call, directory, rules
    ///
    /// A star marks those of this directory and its repository. Of these, the one that made the last
    /// call is meant where no --session is given; if several run, you are asked.
    Sessions,
    /// Show the policy in force and what this session adds to it
    Show,
    /// Let a tool or a pattern run in this session without asking
    Allow {
        /// A tool name or a glob over commands, such as 'docker *'
        #[arg(required = true, num_args = 1.., value_name = "PATTERN")]
        pattern: Vec<String>,
    },
    /// Refuse a tool or a pattern in this session
    Deny {
        /// A tool name or a glob over commands
        #[arg(required = true, num_args = 1.., value_name = "PATTERN")]
        pattern: Vec<String>,
    },
    /// Set what happens in this session to calls no rule speaks about
    Default {
        /// The policy
        policy: DefaultWord,
    },
    /// List what runs without asking because you said so: in this session, in this project, for you
    List,
    /// Take back one of these
    Forget {
        /// The pattern, as `list` shows it
        #[arg(required = true, num_args = 1.., value_name = "PATTERN")]
        pattern: Vec<String>,
        /// Where it is kept; without it, wherever it is
        #[arg(long, value_name = "PLACE")]
        from: Option<KeepWord>,
    },
    /// Forget this session's rules and default
    Clear,
    /// Forget that a text this session was shown carried instructions
    ///
    /// Until then, whatever reaches the network or secrets is asked about. Look at the record first:
    /// `permissions status` names it.
    Unmark,
    /// Stop asking: until the session is idle, until the turn ends, or for the whole session
    ///
    /// What is denied stays denied; only questions are answered with yes.
    Suspend {
        /// For how long; without it, until the session is idle
        #[arg(value_enum)]
        scope: Option<Scope>,
        /// The same as `suspend turn`
        #[arg(long, conflicts_with = "scope")]
        turn: bool,
    },
    /// Ask again
    Resume,
    /// Say which questions are suspended
    Status,
    /// Judge a tool call in this session without making it
    Check {
        /// The tool, or a shell command if no arguments follow and it contains a space
        tool: String,
        /// The tool's arguments as a JSON object
        arguments: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    Turn,
    Idle,
    #[value(alias = "session")]
    All,
}

impl Scope {
    /// Its word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Scope::Turn => "turn",
            Scope::Idle => "idle",
            Scope::All => "all",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DefaultWord {
    Allow,
    Deny,
    Ask,
    Review,
    Notify,
    Defer,
}
