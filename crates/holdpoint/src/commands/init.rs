//! `holdpoint init` and `holdpoint uninstall`: Holdpoint's entry in an agent's settings.

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use holdpoint::hook::Agent;
use holdpoint::setup::{Plan, Scope};
use holdpoint::{Locations, Recorder, real_directory};
use holdpoint_ledger::Kind;
use serde_json::json;

use crate::cli::{AgentName, Setup};
use crate::exit::Exit;
use crate::terminal::{Terminal, shown};

pub(crate) fn register(args: &Setup, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let program = env::current_exe().context("this program cannot find itself")?;
    let Some(program) = program.to_str() else {
        bail!("this program lies in a place whose name is not text: move it");
    };
    let agent = Agent::from(args.agent);
    let here = real_directory(None).context("the working directory cannot be used")?;
    let plan = Plan::to_register(agent, Scope::from(args), &here, program)?;
    let path = shown(&plan.path.display().to_string(), 500);
    if plan.is_empty() {
        writeln!(terminal.out, "{path}: Holdpoint is registered already.")?;
        warn(&plan, agent, terminal)?;
        return Ok(Exit::Fine);
    }
    if !carried_out("init", &plan, args, terminal)? {
        return Ok(Exit::Fine);
    }
    let again = spelled(args);
    writeln!(
        terminal.out,
        "Registered: from its next start, {} asks Holdpoint before each tool call.",
        full_name(agent)
    )?;
    warn(&plan, agent, terminal)?;
    let out = &mut terminal.out;
    let backup = plan.backup(&Locations::of_this_machine())?;
    writeln!(
        out,
        "`holdpoint uninstall {again}` undoes it; the file as it was is kept in {}.",
        shown(&backup.display().to_string(), 500)
    )?;
    Ok(Exit::Fine)
}

pub(crate) fn unregister(args: &Setup, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let agent = Agent::from(args.agent);
    let here = real_directory(None).context("the working directory cannot be used")?;
    let locations = Locations::of_this_machine();
    let plan = Plan::to_unregister(agent, Scope::from(args), &here, &locations)?;
    let path = shown(&plan.path.display().to_string(), 500);
    if plan.is_empty() {
        writeln!(terminal.out, "{path}: Holdpoint is not registered there.")?;
        return Ok(Exit::Fine);
    }
    if carried_out("uninstall", &plan, args, terminal)? {
        writeln!(
            terminal.out,
            "Removed: from its next start, {} no longer asks Holdpoint.",
            full_name(agent)
        )?;
    }
    Ok(Exit::Fine)
}

/// Says if the agent will not ask after all: a guard that only seems to stand is worse than none.
fn warn(plan: &Plan, agent: Agent, terminal: &mut Terminal) -> anyhow::Result<()> {
    if let Some(hindrance) = plan.hindrance(agent) {
        let heading = terminal.heading("NOT IN FORCE");
        writeln!(
            terminal.out,
            "{heading}: {hindrance}: change that, or nothing is guarded."
        )?;
    }
    Ok(())
}

/// Shows what would change and does it, if that is wanted.
fn carried_out(
    action: &str,
    plan: &Plan,
    args: &Setup,
    terminal: &mut Terminal,
) -> anyhow::Result<bool> {
    let out = &mut terminal.out;
    writeln!(out, "{}", shown(&plan.path.display().to_string(), 500))?;
    let before = plan.before.as_deref().unwrap_or_default();
    let after = plan.after.as_deref().unwrap_or_default();
    for line in difference(before, after) {
        writeln!(out, "{line}")?;
    }
    if args.dry_run {
        writeln!(out, "Nothing was changed (--dry-run).")?;
        return Ok(false);
    }
    // A script that calls this has decided; a person may still think better of it.
    if !args.yes && io::stdin().is_terminal() {
        write!(out, "Change the file? [y/N] ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            writeln!(out, "Nothing was changed.")?;
            return Ok(false);
        }
    }
    let locations = Locations::of_this_machine();
    let what = json!({
        "action": action,
        "agent": Agent::from(args.agent).name(),
        "file": plan.path.display().to_string(),
    });
    Recorder::at(&locations)?.changes(Kind::PolicyChange, None, &what)?;
    plan.carry_out(&locations)?;
    Ok(true)
}

/// The lines that differ, with two around them. What changes is one stretch of the file.
fn difference(before: &str, after: &str) -> Vec<String> {
    const AROUND: usize = 2;
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()).saturating_sub(same);
    let same_end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(|(a, b)| a == b)
        .count();
    let line = |mark: &str, text: &&str| format!("{mark} {}", shown_line(text));
    let middle = |lines: &[&str]| -> Vec<String> {
        let end = lines.len().saturating_sub(same_end);
        let changed = lines.get(same..end).unwrap_or_default();
        changed.iter().map(|text| (*text).to_owned()).collect()
    };
    let start = same.saturating_sub(AROUND);
    let mut lines: Vec<String> = Vec::new();
    let before_it = new.get(start..same).unwrap_or_default();
    lines.extend(before_it.iter().map(|text| line(" ", text)));
    for (mark, changed) in [("-", middle(&old)), ("+", middle(&new))] {
        lines.extend(changed.iter().map(|text| line(mark, &text.as_str())));
    }
    let end = new.len().saturating_sub(same_end);
    let behind_it = new.iter().skip(end).take(AROUND);
    lines.extend(behind_it.map(|text| line(" ", text)));
    lines
}

/// A line of the file as it looks, without what a terminal would act on.
fn shown_line(text: &str) -> String {
    let indent: String = text
        .chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .collect();
    format!("{indent}{}", shown(text.trim_start(), 300))
}

fn full_name(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Claude Code",
    }
}

/// The arguments that name the same file again.
fn spelled(args: &Setup) -> String {
    let name = Agent::from(args.agent).name();
    match Scope::from(args) {
        Scope::User => name.to_owned(),
        Scope::Project => format!("{name} --project"),
        Scope::Local => format!("{name} --local"),
    }
}

impl From<AgentName> for Agent {
    fn from(name: AgentName) -> Self {
        match name {
            AgentName::ClaudeCode => Agent::ClaudeCode,
        }
    }
}

impl From<&Setup> for Scope {
    fn from(args: &Setup) -> Self {
        match (args.project, args.local) {
            (true, _) => Scope::Project,
            (_, true) => Scope::Local,
            (false, false) => Scope::User,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_goes_and_what_comes() {
        assert_eq!(
            difference("a\nb\nc\nd\ne\n", "a\nb\nc\nX\n  Y\ne\n"),
            ["  b", "  c", "- d", "+ X", "+   Y", "  e"]
        );
        assert_eq!(difference("", "{}\n"), ["+ {}"]);
        assert_eq!(difference("{}\n", ""), ["- {}"]);
        // Lines that repeat are not counted for both ends.
        assert_eq!(difference("a\na\n", "a\na\na\n"), ["  a", "  a", "+ a"]);
    }
}
