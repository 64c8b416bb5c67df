//! The arguments of `holdpoint init`, `uninstall` and `doctor`.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use holdpoint_agents::setup::HOSTS;

/// Which settings of which agents.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// The agents; without one, those on this machine. `git` is the repository in this directory: what
    /// is about to be committed is scanned
    #[arg(value_name = "AGENT", value_parser = names())]
    pub(crate) agents: Vec<String>,
    /// Another way to name an agent
    #[arg(long = "agent", value_name = "AGENT", value_parser = agent_names())]
    pub(crate) more_agents: Vec<String>,
    /// Whose settings
    #[arg(long, value_name = "WHOSE", conflicts_with_all = ["project", "local", "managed"])]
    pub(crate) scope: Option<SettingsOf>,
    /// The settings everybody shares in the project in this directory
    #[arg(long)]
    pub(crate) project: bool,
    /// Your own settings for the project in this directory
    #[arg(long, conflicts_with = "project")]
    pub(crate) local: bool,
    /// The machine's settings, which most agents let nobody else switch off; needs the rights to
    /// write there
    #[arg(long, conflicts_with_all = ["project", "local"])]
    pub(crate) managed: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask, even on a terminal
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Where Holdpoint is put, and whether calls are held to the policy from then on.
#[derive(Debug, Args)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// Look first: judge and record every call, and stop none
    ///
    /// Adds `"mode": "observe"` to your policy, or with --managed to the machine's. Nothing is
    /// stopped but what would harm Holdpoint itself; `holdpoint report` shows what would have been
    /// asked about and denied.
    #[arg(long, conflicts_with = "enforce")]
    pub(crate) observe: bool,
    /// Have calls held to the policy again: takes that line away
    #[arg(long)]
    pub(crate) enforce: bool,
    /// What your policy starts from; without it, you are asked on a terminal, and it is `balanced` elsewhere
    ///
    /// Put into your policy, or with --managed into the machine's. A policy that names another
    /// profile is left alone.
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["observe", "enforce"])]
    pub(crate) profile: Option<FirstProfile>,
    /// Also make the approval daemon a service of yours (`holdpoint serve --install`)
    #[arg(long, conflicts_with_all = ["observe", "enforce", "project", "local", "managed"])]
    pub(crate) service: bool,
}

/// The profiles a first policy is made of; `holdpoint profiles` lists all there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FirstProfile {
    /// Object to what is dangerous and leave the rest to the agent's own prompts
    Balanced,
    /// Allow what is read and stays within the project, so that the agent need not ask about it
    Autopilot,
    /// Ask about everything no rule allows
    Strict,
}

/// Which agents to look at.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The agents; without one, those on this machine
    #[arg(value_name = "AGENT", value_parser = agent_names())]
    pub(crate) agents: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `init` takes besides agents.
pub(crate) const GIT: &str = "git";

fn names() -> PossibleValuesParser {
    let hosts = HOSTS.map(|host| host.name());
    PossibleValuesParser::new(hosts.into_iter().chain([GIT]))
}

fn agent_names() -> PossibleValuesParser {
    PossibleValuesParser::new(HOSTS.map(|host| host.name()))
}

/// Whose settings of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsOf {
    /// Yours, for all your sessions
    User,
    /// Everybody's in the project in this directory
    Project,
    /// Yours in the project in this directory
    Local,
    /// Everybody's on this machine
    Managed,
}
