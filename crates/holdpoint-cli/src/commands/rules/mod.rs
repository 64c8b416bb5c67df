//! `holdpoint rules`: the packs, what a policy makes of their rules, and their examples.

mod list;
mod show;
mod test;

use std::sync::Arc;

use holdpoint_engine::{
    Engine, Guard, Locations, Policy, PolicySource, Verdict, working_directory,
};

use crate::cli::{RulesAction, RulesUnder};
use crate::exit::Exit;
use crate::terminal::Terminal;

pub(crate) fn run(action: &RulesAction, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match action {
        RulesAction::List {
            pack,
            verdict,
            under,
        } => list::run(pack.as_deref(), *verdict, under, terminal),
        RulesAction::Show { id, under } => show::run(id, under, terminal),
        RulesAction::Test { files, json } => test::run(files, *json, terminal),
    }
}

/// The policy the arguments name.
fn policy(under: &RulesUnder) -> anyhow::Result<Arc<Policy>> {
    let engine = Engine::at(&Locations::of_this_machine());
    let which = match (&under.config, &under.profile) {
        (Some(file), _) => PolicySource::File(file.clone()),
        (None, Some(profile)) => PolicySource::Profile(profile.clone()),
        (None, None) => engine.layers(&working_directory(under.cwd.as_deref())?),
    };
    Ok(engine.policy(&which)?)
}

/// What a rule wants under a policy, as a word.
fn in_force(guard: &Guard<'_>) -> &'static str {
    guard.in_force.map_or("off", Verdict::as_str)
}
