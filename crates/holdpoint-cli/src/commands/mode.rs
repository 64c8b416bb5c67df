//! `holdpoint init --observe` and `--enforce`: whether calls are held to a person's own policy, or only put on record.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use holdpoint_cli::policy_text::{Change, PolicyEdit};
use holdpoint_core::policy::{Mode, Profile};
use holdpoint_engine::{Locations, Recorder, load_layers, working_directory};
use holdpoint_ledger::Kind;
use serde_json::json;

use super::init::{agreed, difference};
use crate::cli::Init;
use crate::terminal::{Terminal, escape_for_display};

/// Sets the mode, if the arguments name one: whether the agents are to be registered now.
pub(super) fn set(args: &Init, terminal: &mut Terminal) -> anyhow::Result<bool> {
    let mode = match (args.observe, args.enforce) {
        (true, _) => Mode::Observe,
        (false, true) => Mode::Enforce,
        (false, false) => return Ok(true),
    };
    let locations = Locations::of_this_machine();
    let edit = PolicyEdit::plan(&file(args, &locations)?, Change::Mode(mode))?;
    let path = escape_for_display(&edit.path.display().to_string(), 500);
    if edit.is_empty() {
        writeln!(
            terminal.out,
            "{path}: the mode is `{}` already.",
            mode.as_str()
        )?;
    } else {
        writeln!(terminal.out, "{path}")?;
        let before = edit.before.as_deref().unwrap_or_default();
        let after = edit.after.as_deref().unwrap_or_default();
        for line in difference(before, after) {
            writeln!(terminal.out, "{line}")?;
        }
        if !agreed(&args.setup, "the file", terminal)? {
            return Ok(args.setup.dry_run);
        }
        let what = json!({"action": mode.as_str(), "file": edit.path.display().to_string()});
        Recorder::at(&locations)?.changes(Kind::PolicyChange, None, &what)?;
        edit.carry_out()?;
    }
    say(mode, &locations, terminal)?;
    // Whoever turns enforcing on has registered their agents; named ones are looked at again.
    let named = !args.setup.agents.is_empty() || !args.setup.more_agents.is_empty();
    Ok(mode == Mode::Observe || named)
}

/// What putting this profile into the policy makes of it; none where it is there already.
pub(super) fn with_profile(
    args: &Init,
    profile: Profile,
    terminal: &mut Terminal,
) -> anyhow::Result<Option<PolicyEdit>> {
    let locations = Locations::of_this_machine();
    let edit = PolicyEdit::plan(&file(args, &locations)?, Change::Profile(profile))?;
    if edit.is_empty() {
        let path = escape_for_display(&edit.path.display().to_string(), 500);
        writeln!(
            terminal.out,
            "{path}: the profile is `{}` already.",
            profile.name()
        )?;
        return Ok(None);
    }
    Ok(Some(edit))
}

/// What is in force now, which another file may have a say in.
fn say(wanted: Mode, locations: &Locations, terminal: &mut Terminal) -> anyhow::Result<()> {
    let mode = load_layers(locations, &working_directory(None)?)?.mode();
    let text = match (wanted, mode) {
        (Mode::Observe, Mode::Observe) => {
            "Observing: calls are judged and put on record, and NOTHING IS STOPPED but what would harm Holdpoint \
             itself. `holdpoint report` shows what would have been said; `holdpoint init --enforce` turns it on."
        }
        (Mode::Enforce, Mode::Enforce) => "Enforcing: calls are held to the policy.",
        (Mode::Observe, Mode::Enforce) => {
            "NOT IN FORCE: the machine's policy is held to, and no file below it changes that."
        }
        (Mode::Enforce, Mode::Observe) => {
            "NOT IN FORCE: the machine's policy says `observe`. State `\"mode\": \"enforce\"` in your own to be held to \
             it, or have the machine's changed."
        }
    };
    writeln!(terminal.out, "{text}")?;
    Ok(())
}

/// The file in which it is said: a project has no say in it.
fn file(args: &Init, locations: &Locations) -> anyhow::Result<PathBuf> {
    use crate::cli::SettingsOf;
    let setup = &args.setup;
    let scope = setup.scope;
    let project = matches!(scope, Some(SettingsOf::Project | SettingsOf::Local));
    if setup.project || setup.local || project {
        bail!(
            "a project does not say whether it is guarded: leave out --project and --local, or name no mode"
        );
    }
    if setup.managed || scope == Some(SettingsOf::Managed) {
        return Ok(locations.managed.clone());
    }
    match locations.named.as_ref().or(locations.user.as_ref()) {
        Some(file) => Ok(file.clone()),
        None => bail!("no home directory is known, so there is no policy of yours: set HOME"),
    }
}
