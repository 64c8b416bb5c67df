//! The arguments of `holdpoint policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Span;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    holdpoint policy test                          the cases beside the policy files in force\n  \
    holdpoint policy lint permissions.json\n  \
    holdpoint policy suggest --since 7d\n  \
    holdpoint policy diff permissions.json         what that file would change, on recorded calls\n\n\
    Exit codes: 0 nothing to say, 1 a case does not hold, lint warns, or verdicts differ,\n\
    5 a policy, a file of cases or the ledger cannot be used.";

const TEST_EXAMPLES: &str = "Cases stand beside the policy: those of permissions.json in permissions.test.json.\n\n  \
    { \"cases\": [\n      \
      { \"command\": \"cargo test\", \"want\": \"allow\" },\n      \
      { \"command\": \"npm publish\", \"want\": \"ask\", \"rule\": \"packages.publish-npm\" },\n      \
      { \"tool\": \"Read\", \"input\": { \"file_path\": \".env\" }, \"cwd\": \"web\", \"want\": \"ask\" }\n  \
    ] }\n\n\
    Exit codes: 0 all hold, 1 some do not, 5 a policy or a file of cases cannot be used.";

const LINT_EXAMPLES: &str =
    "Exit codes: 0 no warning, 1 warnings, 5 the file cannot be used. Notes are no warnings.";

const SUGGEST_EXAMPLES: &str = "Nothing is changed: copy the lines you want into the file that is named, and try them with\n\
    `holdpoint policy test` and `holdpoint policy diff`.\n\n\
    Exit codes: 0 done, 5 the ledger or the policy cannot be used.";

const DIFF_EXAMPLES: &str = "Examples:\n  \
    holdpoint policy diff strict                    what profile strict would change here\n  \
    holdpoint policy diff old.json new.json --since 30d\n  \
    holdpoint policy diff new.json --transcripts ~/.claude/projects\n\n\
    Exit codes: 0 nothing changes, 1 something does, 5 a policy or the history cannot be used.";

#[derive(Debug, Args)]
pub(crate) struct PolicyTools {
    #[command(subcommand)]
    pub(crate) action: PolicyAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyAction {
    /// Try the cases beside a policy: calls, and what is wanted for each
    ///
    /// They are judged in the workspace /work/app of a user whose home is /home/dev, on an empty disk and
    /// with a sandbox in reach, so they say the same everywhere; `--look` judges them here instead.
    #[command(after_help = TEST_EXAMPLES)]
    Test(PolicyTest),
    /// Look for rules that do not say what they seem to
    ///
    /// A pattern that covers more than it seems, an allow nothing can use, a deny that never speaks, a
    /// tool nobody has, a tool in two lists, an allow too broad to answer a question of high risk.
    #[command(after_help = LINT_EXAMPLES)]
    Lint(PolicyLint),
    /// Find allow lines that would have saved questions, and what else they would let through
    ///
    /// Made of what the ledger says was asked and released, each time; never of what a person refused.
    /// Each line is tried on the policy in force first.
    #[command(after_help = SUGGEST_EXAMPLES)]
    Suggest(PolicySuggest),
    /// See which verdicts a change of policy would change, on recorded calls
    ///
    /// Judges every call in the ledger, or in transcripts, under both policies. With one policy the other
    /// is the one in force where each call was made.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(PolicyDiff),
}

/// Which cases, under which policy.
#[derive(Debug, Args)]
pub(crate) struct PolicyTest {
    /// A policy file in place of all layers; without one, the policy in force here
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A ready-made policy in place of all layers (see `holdpoint profiles`)
    #[arg(long, value_name = "NAME", conflicts_with = "file", requires = "cases")]
    pub(crate) profile: Option<String>,
    /// A file of cases in place of those beside the policy
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Vec<PathBuf>,
    /// The directory whose policy is in force; without it, this one
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Judge in that directory, with what is on the disk
    #[arg(long)]
    pub(crate) look: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which files.
#[derive(Debug, Args)]
pub(crate) struct PolicyLint {
    /// A policy file, alone; without one, every file in force here, under all of them
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The directory whose policy is in force; without it, this one
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which part of the ledger.
#[derive(Debug, Args)]
pub(crate) struct PolicySuggest {
    #[command(flatten)]
    pub(crate) span: Span,
    /// How often something must have been released to be worth a line
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_least: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which policies, on which history.
#[derive(Debug, Args)]
pub(crate) struct PolicyDiff {
    /// The old policy and the new one, each a file or a profile; of one alone, it is the new one
    #[arg(value_name = "POLICY", required = true, num_args = 1..=2)]
    pub(crate) policies: Vec<String>,
    /// Transcripts, or directories of them, in place of the ledger
    #[arg(long, value_name = "PATH")]
    pub(crate) transcripts: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Look at the disk: follow links, and read the scripts calls run as they are today
    #[arg(long)]
    pub(crate) look: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
