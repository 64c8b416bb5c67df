//! The arguments of `holdpoint plan`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::span::seconds;

pub(super) const EXAMPLES: &str = "Examples:
  holdpoint plan check plan.toml             what of it would be denied, asked about or allowed, and why
  holdpoint plan approve plan.toml           put it before a person; once released, what it covers is not asked again
  holdpoint plan approve plan.toml --for 2h
  holdpoint plan status                      how far it is: calls covered by each phase, and those outside
  holdpoint plan close

Exit codes of check and approve:
  0 all of it would run, or it is open   3 some of it stays asked about   2 some of it is denied, or
  a person said no   1 the manifest is at fault, or nobody could be asked";

/// The longest a plan stays open.
const LONGEST: u64 = 7 * 24 * 60 * 60;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(subcommand)]
    pub(crate) action: PlanAction,
    /// The session; without it, that of the agent that works in this directory
    #[arg(long, value_name = "ID", env = "HOLDPOINT_SESSION", global = true)]
    pub(crate) session: Option<String>,
    /// The directory the agent works in; without it, this one
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanAction {
    /// Judge all that a plan declares, under the policy in force
    ///
    /// For each command, path, tool, host and package: whether it would be denied, asked about or allowed, why, and
    /// whether an open plan would answer the question. Nothing is run, asked or recorded.
    Check {
        /// The manifest: TOML, or JSON by its name (.json, .jsonc)
        file: PathBuf,
    },
    /// Show a plan as a person is asked about it
    Show {
        /// The manifest
        file: PathBuf,
    },
    /// Put a plan before a person, and open it if they release it
    ///
    /// The request is answered like that of a held call: on the page, with `holdpoint approve` or in `holdpoint
    /// watch`. An agent may put a plan there; only a person releases it. What is released is what is shown, for one
    /// directory and one session, and it ends by itself.
    Approve {
        /// The manifest
        file: PathBuf,
        /// How long it stays open: 30m, 8h, 2d; at most 7d
        #[arg(long = "for", value_name = "TIME", default_value = "8h", value_parser = lasting)]
        lasts: Lasting,
    },
    /// Show the plan that is open, and how far it is
    Status {
        /// A manifest to compare it with
        file: Option<PathBuf>,
    },
    /// Close the plan that is open: calls come under the policy alone again
    Close,
    /// Print the JSON Schema of a manifest
    Schema,
}

/// How long a plan stays open.
#[derive(Clone, Debug)]
pub(crate) struct Lasting {
    /// As it was written.
    pub(crate) text: String,
    pub(crate) time: Duration,
}

fn lasting(text: &str) -> Result<Lasting, String> {
    match seconds(text) {
        Some(time @ 60..=LONGEST) => Ok(Lasting {
            text: text.to_owned(),
            time: Duration::from_secs(time),
        }),
        Some(_) | None => Err("write a time between 1m and 7d, such as 30m, 8h or 2d".into()),
    }
}
