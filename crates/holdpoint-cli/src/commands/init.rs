//! `holdpoint init` and `holdpoint uninstall`: what is Holdpoint's in the settings of agents.

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use holdpoint_agents::setup::{Around, HOSTS, Host, Plan, Scope, SetupError, host};
use holdpoint_cli::policy_text::PolicyEdit;
use holdpoint_core::policy::Profile;
use holdpoint_engine::{Locations, Recorder, real_directory};
use holdpoint_ledger::Kind;
use serde_json::json;

use super::first_policy::{self, FirstPolicy};
use super::{git_hook, mode, service};
use crate::cli::{FirstProfile, GIT, Init, SettingsOf, Setup};
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// What is to be done to the settings of one agent.
struct Work {
    host: &'static Host,
    plans: Vec<Plan>,
}

impl Work {
    fn is_empty(&self) -> bool {
        self.plans.iter().all(Plan::is_empty)
    }

    fn changes(&self) -> impl Iterator<Item = &Plan> {
        self.plans.iter().filter(|plan| !plan.is_empty())
    }
}

/// Sets the mode, if one is named, and puts Holdpoint before the tools of agents.
pub(crate) fn run(args: &Init, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match mode::set(args, terminal)? {
        true => register(args, terminal),
        false => Ok(Exit::Fine),
    }
}

fn register(init: &Init, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let args = &init.setup;
    let program = this_program()?;
    if args.agents.iter().any(|name| name == GIT) {
        git_hook::install(args, &program, terminal)?;
        if hosts_for(args).is_empty() {
            return Ok(Exit::Fine);
        }
    }
    let around = surroundings()?;
    let scope = scope(args)?;
    let mut hosts = hosts_for(args);
    if hosts.is_empty() {
        hosts = found(&around);
        if hosts.is_empty() {
            bail!(
                "no agent was found on this machine: name one ({})",
                HOSTS.map(|host| host.name()).join(", ")
            );
        }
        let titles: Vec<&str> = hosts.iter().map(|host| host.title()).collect();
        writeln!(terminal.out, "Found: {}.", titles.join(", "))?;
    }
    let planned = |host: &Host| Plan::to_register(host, scope, &around, &program);
    let (works, left_out) = planned_for(&hosts, planned, terminal)?;
    for work in works.iter().filter(|work| work.is_empty()) {
        let path = work
            .plans
            .first()
            .map(|plan| plan.path.display().to_string());
        let path = escape_for_display(&path.unwrap_or_default(), 500);
        writeln!(terminal.out, "{path}: Holdpoint is registered already.")?;
        warn(work, terminal)?;
    }
    let works: Vec<Work> = works.into_iter().filter(|work| !work.is_empty()).collect();
    let locations = Locations::of_this_machine();
    let policy = FirstWords::of(init, scope, !works.is_empty(), &locations, terminal)?;
    policy.show(terminal)?;
    let something = !works.is_empty() || policy.is_something();
    let done = something && carried_out("init", &works, &policy.diffs(), args, terminal)?;
    if done {
        for work in &works {
            said_of_registration(work, scope, terminal)?;
        }
        policy.write(&locations, terminal)?;
    }
    if scope == Scope::User && (init.service || done) && !args.dry_run {
        let asked = !args.yes && io::stdin().is_terminal();
        service::offer(init.service, asked, &locations, terminal)?;
    }
    ended(left_out)
}

/// What is done to the policy besides: a first one is written, or a profile put into the one there is.
enum FirstWords {
    Nothing,
    First(FirstPolicy),
    Profile(PolicyEdit, Profile),
}

impl FirstWords {
    fn of(
        init: &Init,
        scope: Scope,
        registers: bool,
        locations: &Locations,
        terminal: &mut Terminal,
    ) -> anyhow::Result<Self> {
        let wanted = init.profile.map(|profile| match profile {
            FirstProfile::Balanced => Profile::Balanced,
            FirstProfile::Autopilot => Profile::Autopilot,
            FirstProfile::Strict => Profile::Strict,
        });
        let first = FirstPolicy::missing(locations).filter(|_| scope == Scope::User);
        match (first, wanted) {
            (Some(first), Some(profile)) => Ok(FirstWords::First(first.starting_from(profile))),
            (Some(first), None) if registers => {
                let args = &init.setup;
                let profile = match !args.yes && !args.dry_run && io::stdin().is_terminal() {
                    true => first_policy::asked_profile(terminal)?,
                    false => Profile::Balanced,
                };
                Ok(FirstWords::First(first.starting_from(profile)))
            }
            (None, Some(profile)) => Ok(match mode::with_profile(init, profile, terminal)? {
                Some(edit) => FirstWords::Profile(edit, profile),
                None => FirstWords::Nothing,
            }),
            (Some(_) | None, None) => Ok(FirstWords::Nothing),
        }
    }

    fn is_something(&self) -> bool {
        !matches!(self, FirstWords::Nothing)
    }

    fn show(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        match self {
            FirstWords::First(first) => first.show(terminal),
            FirstWords::Nothing | FirstWords::Profile(..) => Ok(()),
        }
    }

    /// The files that are changed, as they are and as they would be.
    fn diffs(&self) -> Vec<&PolicyEdit> {
        match self {
            FirstWords::Profile(edit, _) => vec![edit],
            FirstWords::Nothing | FirstWords::First(_) => Vec::new(),
        }
    }

    fn write(&self, locations: &Locations, terminal: &mut Terminal) -> anyhow::Result<()> {
        match self {
            FirstWords::Nothing => Ok(()),
            FirstWords::First(first) => first.write(locations, terminal),
            FirstWords::Profile(edit, profile) => {
                let what = json!({
                    "action": "init",
                    "profile": profile.name(),
                    "file": edit.path.display().to_string(),
                });
                Recorder::at(locations)?.changes(Kind::PolicyChange, None, &what)?;
                edit.carry_out()?;
                writeln!(terminal.out, "The profile is `{}`.", profile.name())?;
                Ok(())
            }
        }
    }
}

/// What was left out has been said; the program still must not seem to have done it.
fn ended(left_out: usize) -> anyhow::Result<Exit> {
    match left_out {
        0 => Ok(Exit::Fine),
        1 => bail!("1 agent was left out"),
        many => bail!("{many} agents were left out"),
    }
}

fn said_of_registration(work: &Work, scope: Scope, terminal: &mut Terminal) -> anyhow::Result<()> {
    let results = match work.host.shows_results() {
        true => ", and has it look at what tools return",
        false => "",
    };
    writeln!(
        terminal.out,
        "Registered: from its next start, {} asks Holdpoint before each tool call{results}.",
        work.host.title()
    )?;
    warn(work, terminal)?;
    let out = &mut terminal.out;
    if let Some(remark) = work.host.remark(scope) {
        writeln!(out, "{remark}.")?;
    }
    let again = spelled(work.host, scope);
    let kept: Vec<String> = work
        .changes()
        .filter(|plan| plan.before.is_some())
        .map(|plan| plan.backup(&Locations::of_this_machine()))
        .map(|backup| Ok(escape_for_display(&backup?.display().to_string(), 500)))
        .collect::<Result<_, SetupError>>()?;
    match kept.is_empty() {
        true => writeln!(out, "`holdpoint uninstall {again}` undoes it.")?,
        false => writeln!(
            out,
            "`holdpoint uninstall {again}` undoes it; what was there is kept in {}.",
            kept.join(" and ")
        )?,
    }
    Ok(())
}

pub(crate) fn unregister(args: &Setup, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let program = this_program()?;
    if args.agents.iter().any(|name| name == GIT) {
        git_hook::remove(args, terminal)?;
        if hosts_for(args).is_empty() {
            return Ok(Exit::Fine);
        }
    }
    let around = surroundings()?;
    let scope = scope(args)?;
    let locations = Locations::of_this_machine();
    let named = hosts_for(args);
    let every = named.is_empty();
    let hosts = match every {
        // Also of one that has gone from the machine meanwhile, as far as it has such settings.
        true => HOSTS
            .into_iter()
            .filter(|host| host.parts(scope, &around, &program).is_ok())
            .collect(),
        false => named,
    };
    let planned = |host: &Host| Plan::to_unregister(host, scope, &around, &program, &locations);
    let (works, left_out) = planned_for(&hosts, planned, terminal)?;
    for work in works.iter().filter(|work| work.is_empty() && !every) {
        let path = work
            .plans
            .first()
            .map(|plan| plan.path.display().to_string());
        let path = escape_for_display(&path.unwrap_or_default(), 500);
        writeln!(terminal.out, "{path}: Holdpoint is not registered there.")?;
    }
    let works: Vec<Work> = works.into_iter().filter(|work| !work.is_empty()).collect();
    if works.is_empty() {
        if every {
            writeln!(
                terminal.out,
                "Holdpoint is registered in no agent's settings of the scope `{}`.",
                scope.name()
            )?;
        }
        return ended(left_out);
    }
    if carried_out("uninstall", &works, &[], args, terminal)? {
        for work in &works {
            writeln!(
                terminal.out,
                "Removed: from its next start, {} no longer asks Holdpoint.",
                work.host.title()
            )?;
        }
    }
    ended(left_out)
}

pub(crate) fn this_program() -> anyhow::Result<String> {
    let program = env::current_exe().context("this program cannot find itself")?;
    match program.to_str() {
        Some(program) => Ok(program.to_owned()),
        None => bail!("this program lies in a place whose name is not text: move it"),
    }
}

pub(crate) fn surroundings() -> anyhow::Result<Around> {
    let here = real_directory(None).context("the working directory cannot be used")?;
    Ok(Around::of_this_machine(&here))
}

fn hosts_for(args: &Setup) -> Vec<&'static Host> {
    let mut hosts: Vec<&'static Host> = Vec::new();
    for name in args.agents.iter().chain(&args.more_agents) {
        if hosts.iter().all(|known| known.name() != name) {
            hosts.extend(host(name));
        }
    }
    hosts
}

/// The agents whose program or directory is on the machine.
pub(super) fn found(around: &Around) -> Vec<&'static Host> {
    HOSTS
        .into_iter()
        .filter(|host| {
            host.home(around).is_some_and(|home| home.is_dir())
                || around.has_program(host.programs())
        })
        .collect()
}

/// What is to be done for each. Where one of several cannot be done, the others still are.
fn planned_for(
    hosts: &[&'static Host],
    plans: impl Fn(&Host) -> Result<Vec<Plan>, SetupError>,
    terminal: &mut Terminal,
) -> anyhow::Result<(Vec<Work>, usize)> {
    let mut works = Vec::new();
    let mut left_out = 0;
    for host in hosts {
        match plans(host) {
            Ok(plans) => works.push(Work { host, plans }),
            Err(error) if hosts.len() == 1 => return Err(error.into()),
            Err(error) => {
                left_out += 1;
                let heading = terminal.heading("LEFT OUT");
                writeln!(terminal.out, "{heading}: {}: {error}", host.title())?;
            }
        }
    }
    Ok((works, left_out))
}

/// Says if the agent will not ask after all: a guard that only seems to stand is worse than none.
fn warn(work: &Work, terminal: &mut Terminal) -> anyhow::Result<()> {
    for disabled_reason in work
        .plans
        .iter()
        .filter_map(|plan| plan.disabled_reason.as_ref())
    {
        let heading = terminal.heading("NOT IN FORCE");
        writeln!(
            terminal.out,
            "{heading}: {disabled_reason}: change that, or nothing is guarded."
        )?;
    }
    Ok(())
}

/// Shows what would change and does it, if that is wanted.
fn carried_out(
    action: &str,
    works: &[Work],
    policies: &[&PolicyEdit],
    args: &Setup,
    terminal: &mut Terminal,
) -> anyhow::Result<bool> {
    let out = &mut terminal.out;
    let settings = works.iter().flat_map(Work::changes);
    let settings = settings.map(|plan| (&plan.path, &plan.before, &plan.after));
    let policies = policies.iter();
    let policies = policies.map(|edit| (&edit.path, &edit.before, &edit.after));
    let files: Vec<_> = settings.chain(policies).collect();
    for (path, before, after) in &files {
        writeln!(
            out,
            "{}",
            escape_for_display(&path.display().to_string(), 500)
        )?;
        let before = before.as_deref().unwrap_or_default();
        let after = after.as_deref().unwrap_or_default();
        for line in difference(before, after) {
            writeln!(out, "{line}")?;
        }
    }
    let many = files.len() > 1;
    if !agreed(
        args,
        if many { "these files" } else { "the file" },
        terminal,
    )? {
        return Ok(false);
    }
    let locations = Locations::of_this_machine();
    let recorder = Recorder::at(&locations)?;
    for work in works {
        for plan in work.changes() {
            let what = json!({
                "action": action,
                "agent": work.host.name(),
                "file": plan.path.display().to_string(),
            });
            recorder.changes(Kind::PolicyChange, None, &what)?;
            plan.carry_out(&locations)?;
        }
    }
    Ok(true)
}

/// Whether what was shown is to be done.
pub(super) fn agreed(args: &Setup, what: &str, terminal: &mut Terminal) -> anyhow::Result<bool> {
    let out = &mut terminal.out;
    if args.dry_run {
        writeln!(out, "Nothing was changed (--dry-run).")?;
        return Ok(false);
    }
    // A script that calls this has decided; a person may still think better of it.
    if !args.yes && io::stdin().is_terminal() {
        write!(out, "Change {what}? [y/N] ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            writeln!(out, "Nothing was changed.")?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// The lines that differ, with two around them.
pub(super) fn difference(before: &str, after: &str) -> Vec<String> {
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
    /// The most cells of the table that compares two files, some thousand lines of each: 16 MB. Larger files are shown as
    /// replaced whole.
    const MAX_CELLS: usize = 4_000_000;
    let width = new.len() + 1;
    // How many lines the rests of both have in common, from each place on.
    let mut common: Vec<u32> = Vec::new();
    if (old.len() + 1).saturating_mul(width) <= MAX_CELLS {
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
    format!("{indent}{}", escape_for_display(text.trim_start(), 300))
}

/// The arguments that name the same settings again.
fn spelled(host: &Host, scope: Scope) -> String {
    let name = host.name();
    match scope {
        Scope::User => name.to_owned(),
        Scope::Project => format!("{name} --project"),
        Scope::Local => format!("{name} --local"),
        Scope::Managed => format!("{name} --managed"),
    }
}

fn scope(args: &Setup) -> anyhow::Result<Scope> {
    let flags = [
        (args.project, Scope::Project),
        (args.local, Scope::Local),
        (args.managed, Scope::Managed),
    ];
    let flagged = flags.into_iter().find(|(set, _)| *set);
    let scope = match (args.scope, flagged) {
        (Some(SettingsOf::User), _) | (None, None) => Scope::User,
        (Some(SettingsOf::Project), _) => Scope::Project,
        (Some(SettingsOf::Local), _) => Scope::Local,
        (Some(SettingsOf::Managed), _) => Scope::Managed,
        (None, Some((_, scope))) => scope,
    };
    if scope == Scope::Managed && !cfg!(target_os = "linux") {
        bail!("where agents look for the machine's settings is only known for Linux");
    }
    Ok(scope)
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
