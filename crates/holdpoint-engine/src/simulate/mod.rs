//! What a call would do, where that can be found out without doing any of it (O-18).
//!
//! Deletions are counted on the disk, git is asked by commands that only read, and a few tools have
//! a dry run that changes nothing. Where none of this is honest it says so: a simulation that guesses
//! is worse than none.

mod deletions;
mod dry_runs;
mod find;
mod git;
mod quiet;

use std::path::Path;
use std::time::Duration;

use holdpoint_core::{Action, Explained, ExplainedCommand, Surroundings, explained};
use serde::Serialize;

use crate::{escape_for_display, text_without_secrets};

/// The most paths, commits or lines of one kind that are listed: what a person reads. The rest is counted.
const MAX_LISTED: usize = 20;

/// The most commands of a line that are simulated, since each may start a program; beyond it the simulation says
/// that it is not whole.
const MAX_COMMANDS: usize = 20;

/// Whether nothing is uncommitted in the worktree around a directory; none if git does not say so in time.
pub(crate) fn is_clean(directory: &Path, time: Duration) -> Option<bool> {
    git::is_clean(directory, time)
}

/// What a call would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Simulation {
    /// In lines, without secrets; what is part of a line above is indented.
    pub lines: Vec<String>,
    /// Whether that is all the call would change on this machine, as things stand now.
    pub complete: bool,
}

/// What is known of one command.
#[derive(Debug, Default)]
struct Known {
    lines: Vec<String>,
    complete: bool,
}

impl Known {
    fn all(lines: Vec<String>) -> Self {
        Self {
            lines,
            complete: true,
        }
    }

    fn part(lines: Vec<String>) -> Self {
        Self {
            lines,
            complete: false,
        }
    }

    fn nothing(why: &str) -> Self {
        Self::part(vec![why.to_owned()])
    }
}

/// Says what a call would do. Nothing is changed, but files are looked at and `git` or `find` may be
/// run; it takes seconds at most.
pub fn simulate(action: &Action, around: &Surroundings<'_>) -> Simulation {
    let explained = explained(action, around);
    let mut simulation = Simulation {
        lines: Vec::new(),
        complete: true,
    };
    if let Some(why) = &explained.unreadable {
        simulation.add(Known::nothing(&format!(
            "the command cannot be read: {why}"
        )));
        return simulation;
    }
    if explained.commands.is_empty() {
        simulation.add(deletions::simulate(None, &explained.effects));
    }
    let mut simulated = 0;
    for (at, command) in explained.commands.iter().enumerate() {
        let Some(known) = of_command(command, &explained, at) else {
            continue;
        };
        simulated += 1;
        if simulated > MAX_COMMANDS {
            simulation.add(Known::nothing("there are more commands than are looked at"));
            break;
        }
        simulation.lines.push(format!("`{}`", command.text));
        simulation.add(known);
    }
    if simulation.lines.is_empty() {
        simulation
            .lines
            .push("nothing on this machine would change".into());
    }
    for line in &mut simulation.lines {
        let indent = line.len() - line.trim_start().len();
        *line = format!(
            "{:indent$}{}",
            "",
            text_without_secrets(&escape_for_display(line.trim_start(), 400))
        );
    }
    simulation
}

impl Simulation {
    /// What is known, a sentence each, without the places in detail and without what is not known.
    pub(crate) fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        let mut command = "";
        for line in &self.lines {
            match line.len() - line.trim_start().len() {
                0 => command = line,
                2 if !line.contains(NO_SIMULATION) => {
                    told.push(format!("{command} {}", line.trim()).trim().to_owned());
                }
                _ => {}
            }
        }
        told
    }

    fn add(&mut self, known: Known) {
        self.complete &= known.complete;
        self.lines
            .extend(known.lines.into_iter().map(|line| format!("  {line}")));
    }
}

/// Says what one command would do; none for one that changes nothing itself.
fn of_command(command: &ExplainedCommand, all: &Explained, at: usize) -> Option<Known> {
    let program = command.words.first()?.as_str();
    if command.within.last().is_some_and(|outer| outer == "find") {
        // Said with `find` itself.
        return None;
    }
    if let Some(unknown) = command.unknown {
        let why = format!("no honest simulation exists: {unknown}");
        return Some(Known::nothing(&why));
    }
    let directory = match (command.directories.as_slice(), command.directory_unknown) {
        ([only], false) => Some(Path::new(only)),
        (_, _) => None,
    };
    match program {
        "git" => return git::simulate(command, directory),
        "find" => return find::simulate(command, all, at, directory),
        "rsync" => return Some(dry_runs::rsync(command, directory)),
        _ => {}
    }
    if let Some(advice) = dry_runs::advice(&command.words) {
        return Some(Known::nothing(&advice));
    }
    let kinds = || command.effects.iter().map(|effect| effect.kind);
    let looks = command.only_looks || HARMLESS.contains(&program);
    if looks && kinds().all(|kind| matches!(kind, "run" | "read" | "list")) {
        return None;
    }
    if command.effects.is_empty() {
        return (!runs_others(command, all, at)).then(|| Known::nothing(NO_SIMULATION));
    }
    if kinds().all(|kind| matches!(kind, "read" | "list")) {
        return None;
    }
    Some(deletions::simulate(Some(program), &command.effects))
}

/// Whether a command is answered for by those it runs: `bash -c '…'`, `env X=1 …`.
/// Code of other languages may do more than the commands that are seen in it.
fn runs_others(command: &ExplainedCommand, all: &Explained, at: usize) -> bool {
    let only_runs = command
        .words
        .first()
        .is_some_and(|program| RUNNERS.contains(&program.as_str()));
    if !only_runs {
        return false;
    }
    let inside = |inner: &ExplainedCommand| {
        inner.span[0] >= command.span[0]
            && inner.span[1] <= command.span[1]
            && inner.within.len() > command.within.len()
            && inner.within.get(command.within.len()) == command.words.first()
    };
    all.commands.iter().skip(at + 1).any(inside)
}

/// What is said where nothing can be.
const NO_SIMULATION: &str = "no honest simulation exists";

/// Programs and words of the shell that change nothing outside of the shell.
const HARMLESS: &[&str] = &[
    ":", "[", "cd", "echo", "export", "false", "printf", "pwd", "set", "sleep", "test", "true",
];

/// Programs that do nothing but run the commands that are seen in them.
const RUNNERS: &[&str] = &[
    ".", "bash", "builtin", "command", "dash", "env", "eval", "exec", "ksh", "nice", "nohup",
    "setsid", "sh", "source", "stdbuf", "time", "timeout", "xargs", "zsh",
];

#[cfg(test)]
#[cfg(unix)]
mod tests;
