//! The command line, defined once: names, help, and the types the commands take.

mod approvals;
mod demo;
mod import;
mod log;
mod mcp;
mod people;
mod permissions;
mod plan;
mod policy;
mod prompt;
mod replay;
mod rules;
mod run;
mod scan;
mod setup;
mod span;
mod stop;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use holdpoint_agents::hook::Agent;
use holdpoint_ledger::REPLAYED_AGENT;

pub(crate) use approvals::{
    Approvals, ApprovalsAction, Approve, Extend, KeepWord, Open, Pending, Refuse, ScopeWord, Serve,
};
pub(crate) use demo::Demo;
pub(crate) use import::Import;
pub(crate) use log::{IndexWhen, LedgerPlace, List, Log, LogAction, Wanted};
pub(crate) use mcp::{Mcp, McpAccept, McpAction, McpProxy, McpScan, McpServe, McpWrap};
pub(crate) use people::{People, PeopleAction};
pub(crate) use permissions::{Action, DefaultWord, Permissions, Scope};
pub(crate) use plan::{Lasting, Plan, PlanAction};
pub(crate) use policy::{
    PolicyAction, PolicyDiff, PolicyLint, PolicySuggest, PolicyTest, PolicyTools,
};
pub(crate) use prompt::{PromptAction, Prompts};
pub(crate) use replay::{FailOn, Replay};
pub(crate) use rules::{RuleWord, Rules, RulesAction, RulesUnder};
pub(crate) use run::{Floor, Run};
pub(crate) use scan::{Clean, Format, Scan};
pub(crate) use setup::{Doctor, FirstProfile, GIT, Init, SettingsOf, Setup};
pub(crate) use span::Span;
pub(crate) use stop::{Resume, Stop, StopTarget};

/// The gate between an AI agent and its tools.
///
/// Every tool call is understood, judged (allow, notify, contain, ask, review or deny) and, where policy
/// says so, held for a person. Policies are `permissions.json` files: the machine's
/// (/etc/holdpoint), yours (~/.config/holdpoint), the project's, and rules for one session.
#[derive(Debug, Parser)]
#[command(
    name = "holdpoint",
    version,
    max_term_width = 100,
    propagate_version = true
)]
#[command(after_help = "Exit codes of check and permissions check:\n  \
    0 allow or notify   3 contain, ask or review   2 deny   1 error (nothing is allowed)\n\n\
    Exit codes of scan:\n  \
    0 pass   3 annotate   2 quarantine or block   1 error   130 interrupted\n\n\
    Exit codes of log verify:\n  \
    0 intact   4 something was changed, removed or added   1 error\n\n\
    Exit codes of policy:\n  \
    0 nothing to say   1 a case fails, lint warns, verdicts differ   5 something cannot be used")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See what Holdpoint does: a tour with a scripted agent on a throw-away project
    ///
    /// A call that is allowed, one that is denied, one that waits for you, a web page that is cleaned,
    /// and the record of it all. Takes two minutes, needs no network and no set-up, and touches
    /// nothing outside a temporary directory that is removed at the end.
    #[command(after_help = demo::EXAMPLES)]
    Demo(Demo),
    /// Judge one call, or a stream of them
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Say why a call is judged as it is, and what would change that
    #[command(after_help = "Example:\n  holdpoint explain 'git status && rm -rf build'")]
    Explain(Explain),
    /// Say what a call would do: what it would remove and overwrite, what git would lose
    ///
    /// Nothing is changed. Files are looked at, and `git` and `find` may be run to read. Where that
    /// says too little or would not be honest, it says so.
    #[command(after_help = "Examples:\n  \
        holdpoint simulate 'rm -rf build'\n  \
        holdpoint simulate 'git reset --hard HEAD~3'\n  \
        holdpoint simulate --tool Write --input '{\"file_path\":\"a\",\"content\":\"x\"}'")]
    Simulate(Simulate),
    /// Run a command where it can do no harm
    ///
    /// It may change its workspace, which is the repository the directory is in, and nothing else. It
    /// reads the system and your tools, but finds an empty home, no secrets among its variables, no
    /// network but a loopback of its own, and no process but its own. What git and agents obey in the
    /// workspace (.git/hooks, .git/config, .claude, .env and the like) it can neither change nor make.
    /// Its exit code is this command's; when it ends, everything it started ends.
    #[command(after_help = run::EXAMPLES)]
    Run(Run),
    /// Take back what a call changed, from the copy that was made before it ran
    ///
    /// A copy is made before each call for which the policy asks for the check `backup`. Without a
    /// name the newest is restored. What is there now is copied first, so that taking back can
    /// itself be taken back.
    #[command(after_help = "Examples:\n  \
        holdpoint undo --list                 the copies there are\n  \
        holdpoint undo --dry-run              what the newest would change\n  \
        holdpoint undo 20261116-064612-7f3ac21   any of them; the start of its name is enough")]
    Undo(Undo),
    /// Look for orders to an AI, hidden characters and secrets in files and texts
    ///
    /// Directories are walked without what .gitignore and .ignore leave out. Disguises are taken off
    /// first: invisible and look-alike characters, encodings, hidden markup. Where a text comes from
    /// and your policy decide what a finding leads to; nothing is changed and nothing recorded.
    #[command(after_help = scan::SCAN_EXAMPLES)]
    Scan(Box<Scan>),
    /// Take out of a text what nobody sees, or what gives orders to an AI
    ///
    /// Reads standard input or a file and writes what is left to standard output. What is not taken
    /// out stays as it is, white space and bytes that are no text included.
    #[command(after_help = scan::CLEAN_EXAMPLES)]
    Clean(Clean),
    /// Judge what agents already did: every tool call in their transcripts
    ///
    /// Reads transcripts of Claude Code, Codex, Gemini CLI and Qwen Code and their `stream-json`
    /// output, whatever the files are called, and says what the policy in force would have denied,
    /// asked, reviewed or told, and what happened then. Nothing is run, and nothing is changed
    /// unless `--record` asks for records.
    #[command(after_help = replay::EXAMPLES)]
    Replay(Replay),
    /// Put Holdpoint before the tools of your agents
    ///
    /// Finds the agents on this machine, or takes those you name, and adds what is needed to their
    /// settings, so that they ask `holdpoint hook` before each tool call. Where an agent can be told
    /// to let nothing run if that fails, it is. Everything else in the files stays as it is, a
    /// backup is kept, and a second time nothing changes or an old path is brought up to date.
    #[command(after_help = INIT_EXAMPLES)]
    Init(Init),
    /// Take Holdpoint out of agents' settings again
    ///
    /// A file nobody changed since `holdpoint init` comes back to the byte; from any other only
    /// what is Holdpoint's is removed. Without a name, of every agent.
    Uninstall(Setup),
    /// Prove that your agents are guarded, and say what is broken
    ///
    /// For each agent on this machine, or those you name: is the hook registered and in force, who
    /// can switch it off, is the program this one, and is a call that no policy allows denied when
    /// it is asked about through the agent's own hook command? Nothing is run and nothing changed;
    /// the questions are on record. Also looks at the policy, the ledger and the approval daemon.
    #[command(after_help = "Exit codes: 0 nothing is broken, 1 something is")]
    Doctor(Doctor),
    /// Answer an agent's hook: its payload on standard input, its reply on standard output
    ///
    /// An agent runs this before each tool call, once `holdpoint init` has registered it. What
    /// cannot be read or judged is denied, with exit code 2 and the reason on standard error.
    #[command(after_help = HOOK_EXAMPLES)]
    Hook {
        /// The agent
        #[arg(value_parser = PossibleValuesParser::new(Agent::ALL.map(Agent::name)))]
        agent: String,
    },
    /// Stand between an editor and its agent: judge what the agent asks permission for
    ///
    /// The editor starts this in place of the agent. Every line of the Agent Client Protocol goes
    /// through unchanged, but `session/request_permission` is judged first: what is denied is refused
    /// without asking, what a rule allows is allowed once, and what is to be asked about is asked in
    /// the editor, with the reason. The agent's exit code is this command's.
    #[command(after_help = ACP_EXAMPLES)]
    Acp {
        /// The agent and its arguments
        #[arg(last = true, required = true, value_name = "AGENT")]
        agent: Vec<OsString>,
    },
    /// Gate the servers of the Model Context Protocol
    #[command(after_help = mcp::MCP_EXAMPLES)]
    Mcp(Mcp),
    /// See what was recorded: every call, its verdict, and what became of it
    ///
    /// Without a command, lists records. One that begins with a verdict is a call that was judged;
    /// the others say what happened next: held, approved, refused, expired, released, ran.
    #[command(after_help = log::LOG_EXAMPLES)]
    Log(Box<Log>),
    /// Show what the ledger holds: figures, plots and suggestions on one page
    ///
    /// The page is one HTML file that needs no network and runs no script. The ledger is verified
    /// first, and the page says what was found.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// See the rules of the packs, what your policy makes of them, and try their examples
    ///
    /// A pack is a file of rules about what commands and file tools would do: delete the root,
    /// force-push a shared branch, publish a package. `guards` in a policy file switches packs and
    /// rules, and loads packs of your own.
    #[command(after_help = rules::EXAMPLES)]
    Rules(Rules),
    /// Write policies you can trust: try cases, find traps, get suggestions, see what changes
    #[command(after_help = policy::EXAMPLES)]
    Policy(PolicyTools),
    /// Make a policy of the settings of another tool, and say what could not be carried over
    ///
    /// Nothing gets looser in silence: what a policy cannot say exactly becomes tighter or is left out,
    /// and the report says which. docs/from-claude-code.md and its like say what becomes what.
    #[command(after_help = import::EXAMPLES)]
    Import(Import),
    /// See and change the rules of a session
    Permissions(Permissions),
    /// Have a whole task released once: what an agent declares it will do, judged, approved, and kept to
    ///
    /// A plan is a file in which an agent says what it is going to do, with which commands, files, tools, hosts and
    /// packages. A person releases it once. While it is open, what it covers is not asked about again, what is outside
    /// is held with "not in the plan", and what is denied stays denied.
    #[command(after_help = plan::EXAMPLES)]
    Plan(Plan),
    /// Make prompts for agents in which text from elsewhere cannot pass for an order
    #[command(after_help = prompt::EXAMPLES)]
    Prompt(Prompts),
    /// Vouch for a project's policy file, so that its allow rules count
    ///
    /// Until then a project file can only tighten. What is trusted is the content: a file that
    /// changes is untrusted again.
    Trust(Trust),
    /// Hold calls for a person: the approval daemon, with a page in your browser
    ///
    /// Keeps every call that waits, answers agents once you have, and offers a web page, an HTTP API
    /// and an event stream. Runs until it is stopped; `holdpoint open` signs you in on its page.
    #[command(after_help = approvals::SERVE_EXAMPLES)]
    Serve(Serve),
    /// Sign in on the page of the approval daemon
    Open(Open),
    /// See what waits on a full screen, and answer it with single keys
    ///
    /// Shows the calls that the approval daemon (`holdpoint serve`) holds, how long each may wait,
    /// why it is held, and what exactly would run. It follows every change, and goes on trying
    /// while the daemon does not run.
    #[command(after_help = approvals::WATCH_KEYS)]
    Watch,
    /// See which calls wait for you
    #[command(after_help = approvals::PENDING_EXAMPLES)]
    Pending(Pending),
    /// Release calls that wait
    #[command(after_help = approvals::APPROVE_EXAMPLES)]
    Approve(Approve),
    /// Refuse calls that wait
    Deny(Refuse),
    /// Stop an agent: every call of it is refused until you let it go on
    ///
    /// Without an argument, the session of the agent that works in this directory. What waits of it is refused, commands of
    /// it that run inside the sandbox are ended, and no rule, policy or answer lets a call through. Restarts change nothing.
    #[command(after_help = stop::STOP_EXAMPLES)]
    Stop(Stop),
    /// Let what was stopped go on
    #[command(after_help = stop::RESUME_EXAMPLES)]
    Resume(Resume),
    /// Give a call that waits more time
    Extend(Extend),
    /// See what was answered before, and by whom
    Approvals(Approvals),
    /// See and change who may answer: named people, and who stands in for whom
    ///
    /// You are always one of them and sign in with `holdpoint open`; others need an entry and the
    /// token that comes with it.
    #[command(after_help = people::EXAMPLES)]
    People(People),
    /// Print the JSON Schema of a policy file
    Schema,
    /// List the ready-made policies, or print one
    Profiles {
        /// The profile to print
        name: Option<String>,
        /// Print the list as JSON, one object a line
        #[arg(long, conflicts_with = "name")]
        json: bool,
    },
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  holdpoint completions bash > ~/.local/share/bash-completion/completions/holdpoint"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write all of them into a directory
    Man {
        /// Where to write one page a command
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

const CHECK_EXAMPLES: &str = "Examples:\n  \
    holdpoint check 'git push --force origin main'\n  \
    holdpoint check --tool Write --input '{\"file_path\":\".env\",\"content\":\"x\"}'\n  \
    holdpoint check --config permissions.json --json 'npm publish'\n  \
    holdpoint check --profile hooks 'rm -fr /'\n  \
    holdpoint check --batch < calls.jsonl\n\n\
    A line of a batch is {\"tool\",\"input\",\"cwd\",\"session\",\"config\"}; only tool is needed. `config` is\n\
    a policy or the path of one, in place of the layers; `session` is an id or {\"allow\",\"deny\",\"default\"}.\n\n\
    Exit codes: 0 allow or notify, 3 contain, ask or review, 2 deny, 1 error. A batch ends with 0; its\n\
    decisions are in its output.";

const HOOK_EXAMPLES: &str = "Example:\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"rm -rf /\"}}' | holdpoint hook claude-code\n\n\
    No output and exit code 0 mean that nothing objects: the agent's own permissions decide.";

const ACP_EXAMPLES: &str = "Example:\n  \
    holdpoint acp -- gemini --acp\n\n\
    The agent decides when it asks, so this is no gate by itself: keep its hooks (`holdpoint init`).";

const INIT_EXAMPLES: &str = "Examples:\n  \
    holdpoint init --dry-run                  show what would change, for every agent found\n  \
    holdpoint init --yes                      do it\n  \
    holdpoint init claude-code                all your sessions: ~/.claude/settings.json\n  \
    holdpoint init claude-code --project      everybody's in this project: .claude/settings.json\n  \
    holdpoint init codex gemini --managed     the machine's, where only root writes\n  \
    holdpoint init git                        scan what is about to be committed in this repository\n  \
    holdpoint init --observe                  look first: everything is recorded, nothing is stopped\n  \
    holdpoint init --enforce                  hold calls to the policy from now on";

const REPORT_EXAMPLES: &str = "Examples:\n  \
    holdpoint report                          everything, into holdpoint-report.html\n  \
    holdpoint report --since 7d -o week.html\n  \
    holdpoint report --since 2026-11-01 --until 2026-12-01 --json";

/// What to report and where to.
#[derive(Debug, Args)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) span: Span,
    /// The page; `-` is standard output
    ///
    /// Without it, holdpoint-report.html in this directory. An older report is replaced, any other
    /// file is not.
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that is no report
    #[arg(long, conflicts_with = "json")]
    pub(crate) force: bool,
    /// Print the figures as JSON and write no page
    #[arg(long)]
    pub(crate) json: bool,
}

/// The call to judge, and under what.
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// A shell command, as one quoted word (`-` reads it from standard input)
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// The tool; a COMMAND alone is a call of Bash
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The tool's arguments as a JSON object (`-` reads them from standard input)
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) under: PolicyArgs,
}

impl Call {
    /// Whether the arguments describe no call at all.
    pub(crate) fn names_nothing(&self) -> bool {
        self.command.is_none() && self.tool.is_none() && self.input.is_none()
    }
}

/// What a call is judged under.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// The directory the agent works in; without it, this one
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A policy file in place of all layers
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A ready-made policy in place of all layers (see `holdpoint profiles`)
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub(crate) profile: Option<String>,
    /// The session whose rules apply
    #[arg(
        long,
        value_name = "ID",
        env = "HOLDPOINT_SESSION",
        default_value = "default"
    )]
    pub(crate) session: String,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) call: Call,
    /// Print the decision as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge calls from standard input, one JSON object a line, decisions out in the same order
    #[arg(long, conflicts_with_all = ["command", "tool", "input"])]
    pub(crate) batch: bool,
    /// The agent that asks, as the ledger names it
    #[arg(long, value_name = "NAME", default_value = "check", value_parser = live_agent)]
    pub(crate) agent: String,
    /// Only say what would be decided: count nothing against a session and record nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The name of an agent that asks now. Calls of the past are counted apart by their agent's name.
fn live_agent(name: &str) -> Result<String, String> {
    if Agent::from_name(name).is_some() {
        return Err(format!(
            "`{name}` is what its hook is recorded as: name your own program"
        ));
    }
    if name.starts_with(REPLAYED_AGENT) {
        return Err(format!(
            "names that start with `{REPLAYED_AGENT}` are for calls read from transcripts"
        ));
    }
    Ok(name.to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) call: Call,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) call: Call,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The copy, or the start of its name; without it, the newest
    #[arg(value_name = "ID", conflicts_with = "list")]
    pub(crate) id: Option<String>,
    /// List the copies there are, the newest first
    #[arg(long)]
    pub(crate) list: bool,
    /// Show what would change and change nothing
    #[arg(long, conflicts_with = "list")]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with_all = ["list", "dry_run"])]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The file; without it, every policy file of this project
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Trust the file no longer
    #[arg(long, conflicts_with = "list")]
    pub(crate) revoke: bool,
    /// List what is trusted
    #[arg(long)]
    pub(crate) list: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
