//! The arguments of `scan` and `clean`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) const SCAN_EXAMPLES: &str = "Examples:\n  \
    holdpoint scan                            every text below this directory\n  \
    holdpoint scan README.md docs/            these files and directories\n  \
    curl -s https://example.com | holdpoint scan --origin web\n  \
    holdpoint scan --staged --fail-at critical   what git is about to commit (`holdpoint init git`)\n  \
    holdpoint scan --in-repo --against origin/main --baseline .holdpoint/scan-baseline.json .\n  \
    holdpoint scan --advisories advisory-db .  lock files too, against advisories on the disk\n  \
    holdpoint scan --format sarif . > holdpoint.sarif\n  \
    holdpoint scan --batch < texts.jsonl\n\n\
    A line of a batch is {\"text\",\"origin\"}; only text is needed. Its answer is one line\n\
    {\"v\",\"severity\",\"action\",\"score\",\"findings\"}, in the same order.\n\n\
    Origins: user, tool, file, web, description. Severities: info, low, medium, high, critical.\n\n\
    Exit codes: 0 pass, 3 annotate, 2 quarantine or block, 1 error, 130 interrupted. With --fail-at,\n\
    2 if a finding is at least so bad and 0 otherwise. A batch ends with 0, with 1 if a line could\n\
    not be read.\n\n\
    In a repository (--staged, --in-repo) a secret is critical if it is certain and high if it is likely,\n\
    what is high is critical in files that agents read by themselves (AGENTS.md, README, rules, skills,\n\
    MCP settings), and a policy that loosens against the last commit is a finding. docs/commits.md";

/// What to look at, for what, and how to tell it.
#[derive(Debug, Args)]
pub(crate) struct Scan {
    /// Files and directories (`-` is standard input); without one, standard input, or this directory
    /// if that is a terminal
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Where the texts come from, which decides what their findings lead to; without it, `file` for
    /// files and `tool` for standard input and for lines that do not say
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Option<String>,
    /// Look at what git is about to commit, as it is staged; of these paths only, if there are any
    #[arg(long)]
    pub(crate) staged: bool,
    /// Rank what is found by what it does in a repository that others and their agents read (--staged does)
    #[arg(long)]
    pub(crate) in_repo: bool,
    /// Compare policies and agents' settings with what they were there; without it, with the last commit
    #[arg(long, value_name = "REVISION")]
    pub(crate) against: Option<String>,
    /// Leave out what this file lists; with --staged, as it is staged, and nothing if it is not
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write what is found into the baseline, as what you have looked at and live with
    #[arg(long, requires = "baseline", conflicts_with_all = ["staged", "fail_at"])]
    pub(crate) update_baseline: bool,
    /// Look up what lock files name in a database on this disk: a file or directory of OSV's or RustSec's
    #[arg(long, value_name = "PATH")]
    pub(crate) advisories: Vec<PathBuf>,
    /// Inspect texts from standard input, one JSON object a line, answers out in the same order
    #[arg(long, conflicts_with_all = ["paths", "staged", "in_repo", "against", "baseline", "advisories", "format", "explain", "second_opinion", "min", "binary"])]
    pub(crate) batch: bool,
    /// How to print what is found
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show what each finding rests on: disguises that were taken off, language, wrappers, ideas, score beside
    /// its thresholds, what decided, and the words that weighed
    #[arg(long)]
    pub(crate) explain: bool,
    /// Have the approval daemon ask the model server of the policy about what is uncertain
    #[arg(long)]
    pub(crate) second_opinion: bool,
    /// Show findings from this severity on; without it, from `medium` in text and all in other formats
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) min: Option<String>,
    /// End with 2 if a finding is at least so bad, and with 0 if none is; `never` always ends with 0
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_at: Option<String>,
    /// Look for secrets, too (the default)
    #[arg(long, overrides_with = "no_secrets")]
    pub(crate) secrets: bool,
    /// Do not look for secrets
    #[arg(long)]
    pub(crate) no_secrets: bool,
    /// Walk into what .gitignore and .ignore leave out, too
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Look at files and directories whose names start with a dot, too (the default)
    #[arg(long, overrides_with = "no_hidden")]
    pub(crate) hidden: bool,
    /// Pass over files and directories whose names start with a dot
    #[arg(long)]
    pub(crate) no_hidden: bool,
    /// Read pictures, programs and the like, too
    #[arg(long)]
    pub(crate) binary: bool,
    /// A policy file in place of all layers
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A ready-made policy in place of all layers (see `holdpoint profiles`)
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub(crate) profile: Option<String>,
    /// Print nothing; the exit code tells
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines for people
    Text,
    /// One document
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

pub(crate) const CLEAN_EXAMPLES: &str = "Examples:\n  \
    some-tool | holdpoint clean                     without what nobody sees\n  \
    curl -s https://example.com | holdpoint clean --mode redact --origin web\n  \
    holdpoint clean --mode fence notes.md           between lines nobody can have guessed\n  \
    holdpoint clean --in-place docs/*.md            in the files themselves\n  \
    holdpoint clean --check docs/*.md               only say whether anything would change\n\n\
    Modes:\n  \
    strip    takes out invisible characters and what a terminal would act on, and nothing else\n  \
    remove   takes out what is found\n  \
    redact   puts a short note in place of what is found\n  \
    escape   keeps what is found readable, so that nothing takes it for an order\n  \
    fence    takes out nothing and marks where the text begins and ends\n\n\
    A text in which nothing is found stays as it is to the byte. Exit codes: 0 done, 1 error; with\n\
    --check 0 if nothing would change and 2 if something would.";

/// What to clean and how.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// The file (`-` is standard input); without one, standard input. Several with --in-place or
    /// --check
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How to clean: strip, remove, redact, escape or fence
    #[arg(long, value_name = "MODE", default_value = "strip")]
    pub(crate) mode: String,
    /// Where the text comes from; without it, `file` for files and `tool` for standard input
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Option<String>,
    /// Make a single space of all white space in a row; code does not survive that
    #[arg(long)]
    pub(crate) collapse_whitespace: bool,
    /// Put a marker in place of every secret, too
    #[arg(long)]
    pub(crate) secrets: bool,
    /// Change the files themselves, each in one step
    #[arg(long, short, requires = "files", conflicts_with = "check")]
    pub(crate) in_place: bool,
    /// Write nothing and end with 2 if something would change
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) check: bool,
    /// Say on standard error what was taken out, as JSON, one object a text
    #[arg(long)]
    pub(crate) report: bool,
    /// A policy file in place of all layers
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A ready-made policy in place of all layers (see `holdpoint profiles`)
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub(crate) profile: Option<String>,
}
