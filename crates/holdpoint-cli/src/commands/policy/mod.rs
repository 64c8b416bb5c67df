//! `holdpoint policy`: policies people can trust themselves to write.
//!
//! Here 1 says that something was found and 5 that nothing could be looked at: whoever runs these
//! commands in a pipeline must be able to tell a policy that fails from a file that is missing.

mod cases;
mod diff;
mod history;
mod lint;
mod suggest;
mod test;

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use holdpoint_engine::{PolicySource, Profile};

use crate::cli::PolicyAction;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(action: &PolicyAction, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match action {
        PolicyAction::Test(args) => test::run(args, terminal),
        PolicyAction::Lint(args) => lint::run(args, terminal),
        PolicyAction::Suggest(args) => suggest::run(args, terminal),
        PolicyAction::Diff(args) => diff::run(args, terminal),
    }
}

/// Ends with a line on what was found, after everything that tells of it.
fn found(what: &str, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    terminal.out.flush()?;
    writeln!(io::stderr(), "holdpoint: {what}")?;
    Ok(Exit::Error)
}

/// The policy a word names: a profile, or a file.
pub(super) fn policy_named(name: &str, argument: &str) -> anyhow::Result<PolicySource> {
    if Profile::ALL.into_iter().any(|one| one.name() == name) {
        return Ok(PolicySource::Profile(name.to_owned()));
    }
    let path = Path::new(name);
    if path.exists() || name.contains(['/', '.', '\\']) {
        return Ok(PolicySource::File(path.to_owned()));
    }
    let known = Profile::ALL.map(Profile::name);
    bail!(
        "{argument}: there is no file and no profile `{}`: {}",
        escape_for_display(name, 60),
        holdpoint_core::document::hint(name, &known)
    )
}
