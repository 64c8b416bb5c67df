//! The facts one judgement asks for: each once, and only when a rule wants to know.

use std::cell::RefCell;

use super::tested::command_edits;
use super::{Fact, FactConditions, FactUsed, FactValue, LocalTime, Names, Purpose, WorktreeState};
use crate::effects::EffectKind;
use crate::paths::{Entry, Surroundings, is_within};
use crate::shell::tree::{CommandKind, Connector, Item};
use crate::shell::{self, Reached, Whereabouts, joined};
use crate::understand::{Action, CommandView};

/// The most facts a judgement asks for: more than the rules of any policy that people write. Beyond it they are unknown,
/// so that no call makes it look for ever.
const MAX_ASKED: usize = 64;

/// The most directories a command may run in whose repositories are looked at; of more nobody knows which it is.
const MAX_DIRECTORIES: usize = 4;

/// Subcommands of git that may leave another branch checked out, or call it otherwise.
const BRANCH_MOVERS: &[&str] = &[
    "bisect",
    "branch",
    "checkout",
    "clone",
    "init",
    "rebase",
    "stash branch",
    "switch",
    "symbolic-ref",
    "update-ref",
    "worktree",
];

/// Commands of other programs that do.
const OTHER_MOVERS: &[(&str, &str)] = &[
    ("gh", "pr checkout"),
    ("gh", "co"),
    ("glab", "mr checkout"),
    ("hub", "checkout"),
    ("jj", ""),
    ("gt", ""),
    ("git-switch", ""),
    ("git-checkout", ""),
];

/// What was asked for while a call was judged.
pub(crate) struct Gathered<'a> {
    view: &'a Action,
    around: Surroundings<'a>,
    known: RefCell<Vec<(Fact, FactValue)>>,
    used: RefCell<Vec<FactUsed>>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(view: &'a Action, around: Surroundings<'a>) -> Self {
        Self {
            view,
            around,
            known: RefCell::default(),
            used: RefCell::default(),
        }
    }

    /// Every fact that was asked for, in that order.
    pub(crate) fn into_used(self) -> Vec<FactUsed> {
        self.used.into_inner()
    }

    /// The facts that conditions rest on, if they hold for a command, or for the call itself. What is asked for first costs
    /// least, and nothing is asked for behind what does not hold.
    pub(crate) fn hold(
        &self,
        conditions: &FactConditions,
        purpose: Purpose,
        command: Option<usize>,
    ) -> Option<Vec<FactUsed>> {
        let mut rests_on: Vec<FactUsed> = Vec::new();
        let unknown = purpose == Purpose::Tighten;
        let mut check = |used: FactUsed, holds: Option<bool>| {
            self.note(&used);
            if !rests_on.contains(&used) {
                rests_on.push(used);
            }
            holds.unwrap_or(unknown).then_some(())
        };
        if let Some(wanted) = conditions.ci {
            let (used, is) = self.ci();
            check(used, is.map(|is| is == wanted))?;
        }
        for (fact, any, none) in [
            (Fact::User, &conditions.user, &conditions.not_user),
            (
                Fact::Hostname,
                &conditions.hostname,
                &conditions.not_hostname,
            ),
        ] {
            if !any.is_empty() || !none.is_empty() {
                let (used, name) = self.name(fact);
                check(used, name.map(|name| fits(any, none, &name)))?;
            }
        }
        if conditions.hours.is_some() || !conditions.weekday.is_empty() {
            let fits = |time: LocalTime| {
                conditions.hours.is_none_or(|hours| hours.hold(time))
                    && (conditions.weekday.is_empty() || conditions.weekday.contains(&time.weekday))
            };
            let (used, time) = self.time();
            check(used, time.map(fits))?;
        }
        for (names, wanted) in [(&conditions.exists, true), (&conditions.missing, false)] {
            for path in names.as_slice() {
                let is = self.exists(path, command);
                let one = used("exists", Some(path.clone()), is.map(yes_or_no));
                check(one, is.map(|is| is == wanted))?;
            }
        }
        if let Some(wanted) = conditions.tests_passed {
            let (used, passed) = self.tests_passed(command);
            check(used, passed.map(|passed| passed == wanted))?;
        }
        let (any, none) = (&conditions.branch, &conditions.not_branch);
        if !any.is_empty() || !none.is_empty() {
            let (used, branch) = self.branch(command);
            check(used, branch.map(|name| fits(any, none, &name)))?;
        }
        if let Some(wanted) = conditions.worktree {
            let (used, clean) = self.worktree(command);
            check(
                used,
                clean.map(|clean| clean == (wanted == WorktreeState::Clean)),
            )?;
        }
        Some(rests_on)
    }

    /// A text with facts in place of `{branch}` and its like. What is filled in is a name or a word of ours, in one line.
    pub(crate) fn fill_in(&self, template: &str, command: Option<usize>) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                break;
            };
            let used = match name {
                "branch" => self.branch(command).0,
                "worktree" => self.worktree(command).0,
                "ci" => self.ci().0,
                "hostname" => self.name(Fact::Hostname).0,
                "user" => self.name(Fact::User).0,
                "time" => self.time().0,
                "tests_passed" => self.tests_passed(command).0,
                // A text was looked through when it was read.
                _ => used(name, None, None),
            };
            self.note(&used);
            let value = used.value.as_deref().unwrap_or("unknown");
            text.extend(value.chars().filter(|c| !c.is_control() && *c != '`'));
            rest = after;
        }
        text.push_str(rest);
        text
    }

    fn ci(&self) -> (FactUsed, Option<bool>) {
        let is = match self.ask(Fact::Ci) {
            FactValue::Is(is) => Some(is),
            FactValue::Text(_) | FactValue::Time(_) | FactValue::Unknown => None,
        };
        (used("ci", None, is.map(yes_or_no)), is)
    }

    fn name(&self, fact: Fact) -> (FactUsed, Option<String>) {
        let word = match fact {
            Fact::User => "user",
            Fact::Hostname => "hostname",
            Fact::Branch(_) | Fact::Clean(_) | Fact::Ci | Fact::Time | Fact::TestsPassed => "name",
        };
        let name = text_of(self.ask(fact));
        (used(word, None, name.clone()), name)
    }

    fn time(&self) -> (FactUsed, Option<LocalTime>) {
        let time = match self.ask(Fact::Time) {
            FactValue::Time(time) => Some(time),
            FactValue::Text(_) | FactValue::Is(_) | FactValue::Unknown => None,
        };
        (used("time", None, time.map(|time| time.to_string())), time)
    }

    fn branch(&self, command: Option<usize>) -> (FactUsed, Option<String>) {
        let (of, branch) = self.of_repository(Fact::Branch, command, moves_branch);
        let branch = text_of(branch);
        (used("branch", of, branch.clone()), branch)
    }

    fn worktree(&self, command: Option<usize>) -> (FactUsed, Option<bool>) {
        let (of, clean) = self.of_repository(Fact::Clean, command, changes_files);
        let clean = match clean {
            FactValue::Is(clean) => Some(clean),
            FactValue::Text(_) | FactValue::Time(_) | FactValue::Unknown => None,
        };
        let word = clean.map(|clean| if clean { "clean" } else { "changed" }.to_owned());
        (used("worktree", of, word), clean)
    }

    /// Unknown where another command of the line may edit something first.
    fn tests_passed(&self, command: Option<usize>) -> (FactUsed, Option<bool>) {
        let edits = |at: usize, _: &CommandView| command_edits(self.view, at);
        let passed = match self.may_be_changed(command, edits) {
            true => FactValue::Unknown,
            false => self.ask(Fact::TestsPassed),
        };
        let passed = match passed {
            FactValue::Is(passed) => Some(passed),
            FactValue::Text(_) | FactValue::Time(_) | FactValue::Unknown => None,
        };
        (used("tests_passed", None, passed.map(yes_or_no)), passed)
    }

    fn note(&self, used: &FactUsed) {
        let mut all = self.used.borrow_mut();
        if !all.contains(used) && all.len() < MAX_ASKED {
            all.push(used.clone());
        }
    }

    fn ask(&self, fact: Fact) -> FactValue {
        let mut known = self.known.borrow_mut();
        if let Some((_, value)) = known.iter().find(|(one, _)| *one == fact) {
            return value.clone();
        }
        if known.len() >= MAX_ASKED {
            return FactValue::Unknown;
        }
        let value = self.around.lookup.fact(&fact);
        known.push((fact, value.clone()));
        value
    }

    /// Whether something is at a path of a rule; unknown where another command of the line may change that.
    fn exists(&self, path: &str, command: Option<usize>) -> Option<bool> {
        let place = self.around.resolve_root(path).ok()?;
        let touches = |at: usize, view: &CommandView| {
            let meaning = self.view.meanings.get(at);
            let mut effects = meaning.into_iter().flat_map(|meaning| meaning.effects());
            let near = |other: &str| is_within(&place, other) || is_within(other, &place);
            !view.command.opaque.is_empty()
                || effects.any(|effect| {
                    is_change(effect.kind)
                        && (effect.dynamic
                            || effect.glob
                            || effect.place.path.as_deref().is_none_or(near))
                })
        };
        if self.may_be_changed(command, touches) {
            return None;
        }
        match self.around.lookup.entry(&place) {
            Entry::Missing => Some(false),
            Entry::Link(_) | Entry::Directory | Entry::Other => Some(true),
            Entry::Unreadable => None,
        }
    }

    /// A fact of the repository a command runs in, and which directory that is, if it is not the call's own. Unknown where
    /// that is not known, several repositories disagree, or another command of the line may have changed it.
    fn of_repository(
        &self,
        fact: impl Fn(String) -> Fact,
        command: Option<usize>,
        changes: impl Fn(&Action, usize, &CommandView) -> bool,
    ) -> (Option<String>, FactValue) {
        let unknown = (None, FactValue::Unknown);
        if self.may_be_changed(command, |at, view| changes(self.view, at, view)) {
            return unknown;
        }
        let Some(places) = self.directories(command) else {
            return unknown;
        };
        let mut found: Option<(Option<String>, FactValue)> = None;
        for place in &places {
            let Ok(directory) = self.around.resolve(place) else {
                return unknown;
            };
            let of = (!place.is_empty() && place != ".").then(|| directory.clone());
            let value = self.ask(fact(directory));
            match &found {
                Some((_, before)) if *before != value => return unknown,
                Some(_) => {}
                None => found = Some((of, value)),
            }
        }
        found.unwrap_or(unknown)
    }

    /// Where a command runs, as it names that; none if nobody can say.
    fn directories(&self, command: Option<usize>) -> Option<Vec<String>> {
        let here = || vec![".".to_owned()];
        let Some(at) = command else {
            return Some(here());
        };
        let view = self.view.commands.get(at)?;
        if view.command.container.is_some() {
            return None;
        }
        let start: &Whereabouts = &view.command.directory;
        if start.unknown || start.places.len() > MAX_DIRECTORIES {
            return None;
        }
        let mut places: Vec<String> = start.places.clone();
        if let Some(reading) = self.view.meanings.get(at).and_then(|one| one.reading(view)) {
            // What makes git look elsewhere than where it stands.
            let elsewhere = (view.command.assignments.iter())
                .any(|one| one.name.starts_with("GIT_"))
                || reading.has("--git-dir | --work-tree");
            if view.program() == Some("git") && elsewhere {
                return None;
            }
            let goes_to = reading
                .program()
                .map_or(&[][..], |program| program.directory);
            for (value, word) in reading.values_of(goes_to) {
                if word.dynamic || word.glob {
                    return None;
                }
                for place in &mut places {
                    *place = joined(place, value);
                }
            }
        }
        let named = |place: &mut String| {
            if place.is_empty() {
                ".".clone_into(place);
            }
        };
        places.iter_mut().for_each(named);
        Some(places)
    }

    /// Whether another command of the line may have changed something when one runs: those in front of it, and where the line
    /// does not simply run from its front to its end, those behind it.
    fn may_be_changed(
        &self,
        command: Option<usize>,
        changes: impl Fn(usize, &CommandView) -> bool,
    ) -> bool {
        let at = command.unwrap_or(usize::MAX);
        let others = || {
            let all = self.view.commands.iter().enumerate();
            all.filter(move |(other, _)| *other != at)
        };
        if others().any(|(other, view)| other < at && changes(other, view)) {
            return true;
        }
        others().any(|(other, view)| changes(other, view)) && !self.runs_in_order()
    }

    /// Whether the commands of the line run one after the other, each at most once: no loop, function or script, and nothing in
    /// the background, for later or by another command.
    fn runs_in_order(&self) -> bool {
        let plain = |view: &CommandView| {
            view.command.reached == Reached::Directly
                && view.command.file.is_none()
                && !matches!(view.program(), Some("trap" | "eval" | "alias") | None)
        };
        let simple = |item: &Item| {
            let mut commands = item.pipeline.commands.iter();
            item.connector != Connector::Background
                && commands.all(|one| matches!(one.kind, CommandKind::Simple(_)))
        };
        let read = self.view.line.as_deref().map(shell::read);
        self.view.commands.iter().all(plain)
            && read.is_some_and(|read| read.is_ok_and(|script| script.items.iter().all(simple)))
    }
}

fn used(fact: &str, of: Option<String>, value: Option<String>) -> FactUsed {
    FactUsed {
        fact: fact.to_owned(),
        of,
        value,
    }
}

fn yes_or_no(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn text_of(value: FactValue) -> Option<String> {
    match value {
        FactValue::Text(text) => Some(text),
        FactValue::Is(_) | FactValue::Time(_) | FactValue::Unknown => None,
    }
}

fn fits(any: &Names, none: &Names, text: &str) -> bool {
    (any.is_empty() || any.fit(text)) && !none.fit(text)
}

fn is_change(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Write | EffectKind::Append | EffectKind::Delete | EffectKind::Either
    )
}

/// Whether a command may leave another branch checked out than was before.
fn moves_branch(view: &Action, at: usize, command: &CommandView) -> bool {
    if command.is_read_only() {
        return false;
    }
    let Some(reading) = view.meanings.get(at).and_then(|one| one.reading(command)) else {
        return !command.command.opaque.is_empty();
    };
    let begins =
        |subcommand: &str| subcommand.is_empty() || reading.begins_so(subcommand).is_some();
    let moves = match command.program() {
        Some("git") => BRANCH_MOVERS.iter().any(|one| begins(one)),
        Some(name) => OTHER_MOVERS
            .iter()
            .any(|(program, subcommand)| *program == name && begins(subcommand)),
        None => true,
    };
    moves || !command.command.opaque.is_empty()
}

/// Whether a command may leave files other than they were.
fn changes_files(view: &Action, at: usize, command: &CommandView) -> bool {
    let effects = view
        .meanings
        .get(at)
        .into_iter()
        .flat_map(|one| one.effects());
    let git = command.program() == Some("git") && !command.is_read_only();
    git || !command.command.opaque.is_empty() || effects.into_iter().any(|one| is_change(one.kind))
}
