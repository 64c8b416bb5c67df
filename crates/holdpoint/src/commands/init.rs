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
        "Registered: from its next start, {} asks Holdpoint before each tool call, and has it look at \
         what tools return.",
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

/// The lines that differ, with two around them.
fn difference(before: &str, after: &str) -> Vec<String> {
    const AROUND: usize = 2;
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let edits = edits(&old, &new);
    let changes: Vec<usize> = (0..)
        .zip(&edits)
        .filter(|(_, (mark, _))| *mark != ' ')
        .map(|(at, _)| at)
        .collect();
    let mut lines: Vec<String> = Vec::new();
    let mut last = None;
    for (at, (mark, text)) in edits.iter().enumerate() {
        let next = changes.partition_point(|change| change + AROUND < at);
        if changes.get(next).is_none_or(|change| *change > at + AROUND) {
            continue;
        }
        if last.is_some_and(|last| last + 1 < at) {
            lines.push("  …".to_owned());
        }
        lines.push(format!("{mark} {}", shown_line(text)));
        last = Some(at);
    }
    lines
}

/// What becomes of each line: it stays, goes or comes.
fn edits<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    /// A file that differs in more places than this is shown as another one.
    const MOST: usize = 4_000_000;
    let width = new.len() + 1;
    // How many lines the rests of both have in common, from each place on.
    let mut common: Vec<u32> = Vec::new();
    if (old.len() + 1).saturating_mul(width) <= MOST {
        common = vec![0; (old.len() + 1) * width];
    }
    let at = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, gone) in old.iter().enumerate().rev() {
        for (j, come) in new.iter().enumerate().rev() {
            let longest = match gone == come {
                true => at(&common, i + 1, j + 1) + 1,
                false => at(&common, i + 1, j).max(at(&common, i, j + 1)),
            };
            if let Some(slot) = common.get_mut(i * width + j) {
                *slot = longest;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(|| {
        let (gone, come) = (old.get(i), new.get(j));
        match (gone, come) {
            (Some(gone), Some(come)) if gone == come => {
                (i, j) = (i + 1, j + 1);
                Some((' ', *gone))
            }
            (Some(gone), come)
                if come.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) =>
            {
                i += 1;
                Some(('-', *gone))
            }
            (_, Some(come)) => {
                j += 1;
                Some(('+', *come))
            }
            (_, None) => None,
        }
    })
    .collect()
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
    if agent == Agent::ClaudeCode {
        "Claude Code"
    } else {
        agent.name()
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
        // What stands between two changes stays what it is.
        assert_eq!(
            difference("a\nb\nc\nd\ne\nf\ng\n", "a\nX\nb\nc\nd\ne\nf\ng\nY\n"),
            ["  a", "+ X", "  b", "  c", "  …", "  f", "  g", "+ Y"]
        );
        // Lines that repeat are not counted for both ends.
        assert_eq!(difference("a\na\n", "a\na\na\n"), ["  a", "  a", "+ a"]);
    }
}
