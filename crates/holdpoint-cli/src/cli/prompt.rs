//! The arguments of `holdpoint prompt`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use holdpoint_core::plan::Kind;
use holdpoint_core::text::Origin;

pub(super) const EXAMPLES: &str = "Examples:
  holdpoint prompt build plan.toml
  holdpoint prompt build plan.toml --untrusted file:notes.md --untrusted web:page.html
  holdpoint prompt build plan.toml --kind bug-fix --json

Exit codes: 0 built   2 a text holds orders to the model   1 error";

#[derive(Debug, Args)]
pub(crate) struct Prompts {
    #[command(subcommand)]
    pub(crate) action: PromptAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptAction {
    /// Put a prompt for an agent together from a plan: eleven sections, and text from elsewhere fenced
    ///
    /// The sections come from the template of the kind of task and from the plan. Each text from elsewhere is inspected;
    /// one with orders to a model in it is refused, any other stands between two lines with a boundary nobody can guess.
    Build {
        /// The manifest of a plan (docs/plans.md)
        file: PathBuf,
        /// The kind of task, where the manifest names none: feature, bug-fix, refactor, review, test, documentation,
        /// migration, security
        #[arg(long, value_parser = kind)]
        kind: Option<Kind>,
        /// A text from elsewhere, with where it comes from: user, tool, file, web or description
        #[arg(long, value_name = "ORIGIN:FILE", value_parser = untrusted)]
        untrusted: Vec<Untrusted>,
        /// Print JSON: text, digest, boundary, notes
        #[arg(long)]
        json: bool,
    },
}

/// A text from elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Untrusted {
    pub(crate) origin: Origin,
    pub(crate) file: PathBuf,
}

fn untrusted(text: &str) -> Result<Untrusted, String> {
    let (origin, file) = text
        .split_once(':')
        .ok_or("write where it comes from and the file, such as web:page.html")?;
    let origin =
        Origin::named(origin).ok_or("it comes from user, tool, file, web or description")?;
    Ok(Untrusted {
        origin,
        file: PathBuf::from(file),
    })
}

fn kind(text: &str) -> Result<Kind, String> {
    let word = text.replace('-', "_");
    serde_json::from_value(serde_json::Value::String(word)).map_err(|_| {
        "one of feature, bug-fix, refactor, review, test, documentation, migration, security"
            .to_owned()
    })
}
