//! Whether tests have passed since the last edit: which calls run tests so that their end says how they went, and which change
//! what was tested.

use crate::effects::places::TEMPORARY;
use crate::effects::{self, EffectKind, Subject};
use crate::policy::clauses::is_undescribed;
use crate::rules::{GROUPS, SHELLS, steering};
use crate::shell::tree::{CommandKind, Connector, Item, Span};
use crate::shell::{self, Reached};
use crate::understand::{Action, CommandView};

/// The group of programs that run tests.
const TEST: &str = "test";

/// Subcommands of git that leave the files of the worktree as they are.
const KEEPING: &[&str] = &[
    "add",
    "commit",
    "describe",
    "fetch",
    "notes",
    "push",
    "remote",
    "rev-parse",
    "stage",
    "tag",
];

/// Whether a line names a program that may run tests: only then is it worth reading the call for them.
pub fn may_run_tests(line: &str) -> bool {
    let groups = GROUPS.iter().filter(|(name, _)| *name == TEST);
    let mut programs = groups.flat_map(|(_, entries)| entries.iter().flat_map(|one| one.programs));
    programs.any(|program| line.contains(program))
}

/// Whether a call runs tests, and ends well only if they passed: they stand among the last commands that are joined by `&&`, and
/// no pipe, `||` or shell in between can hide how they went.
pub fn runs_tests(action: &Action) -> bool {
    let line = action.line.as_deref().unwrap_or_default();
    let Ok(script) = shell::read(line) else {
        return false;
    };
    let told = |item: &&Item| {
        matches!(item.pipeline.commands.as_slice(), [only] if matches!(only.kind, CommandKind::Simple(_)))
            && !item.pipeline.negated
            && item.connector != Connector::Background
    };
    // All of the line counts: what stands in front could end it, or be what is run by a test's name, and what stands behind could
    // change what was tested.
    let behind = script.items.len().saturating_sub(1);
    let joined = (script.items.iter().take(behind)).all(|item| item.connector == Connector::And);
    if !joined
        || !script.items.iter().all(|item| told(&item))
        || steering::named(line).next().is_some()
    {
        return false;
    }
    let spans: Vec<_> = (script.items.iter())
        .flat_map(|item| item.pipeline.commands.iter().map(|one| one.span.clone()))
        .collect();
    let counts = |view: &CommandView| {
        let span = &view.command.span;
        let inside = |one: &Span| one.start <= span.start && span.end <= one.end;
        view.command.file.is_none() && spans.iter().any(inside)
    };
    let by_shell = |view: &CommandView| match view.command.reached {
        Reached::Directly => false,
        Reached::Within { wrapper, .. } => (action.commands.get(wrapper))
            .and_then(CommandView::program)
            .is_none_or(|name| SHELLS.contains(name)),
        Reached::Substituted => true,
    };
    let is_own = |subject: &Subject<'_>| {
        let view = subject.command.and_then(|at| action.commands.get(at));
        view.is_some_and(|view| counts(view) && !by_shell(view) && is_by_name(view))
            && is_test(subject)
    };
    let only_looks = |view: &CommandView| {
        let changes_shell = view
            .program()
            .is_some_and(|name| OF_THE_SHELL.contains(&name));
        let looks = view.is_read_only() || view.program() == Some("cd");
        (looks && !changes_shell) || view.command.words.is_empty()
    };
    // What the tests themselves start or load is theirs, and who runs them waits for them.
    let tests: Vec<usize> = (effects::subjects(action).filter(&is_own))
        .filter_map(|subject| subject.command)
        .collect();
    let runs_another = |at: usize| {
        let mut inner = action.commands.iter().map(|view| view.command.reached);
        inner.any(|reached| matches!(reached, Reached::Within { wrapper, .. } if wrapper == at))
    };
    let others = effects::subjects(action).all(|subject| {
        let Some((at, view)) =
            (subject.command).zip(subject.command.and_then(|at| action.commands.get(at)))
        else {
            return true;
        };
        if is_started_by(action, at, &tests) {
            return true;
        }
        let stays = view
            .program()
            .is_none_or(|name| !OF_THE_SHELL.contains(&name));
        !writes_files(&subject)
            && (tests.contains(&at) || only_looks(view) || (stays && runs_another(at)))
    });
    others && !tests.is_empty()
}

/// Wrappers in wrappers that are followed; a line has fewer, and of what lies deeper nothing is said to be of a test.
const MAX_WRAPPERS: usize = 64;

/// Whether one of these commands starts a command, itself or through others.
fn is_started_by(action: &Action, at: usize, tests: &[usize]) -> bool {
    let mut inner = at;
    for _ in 0..MAX_WRAPPERS {
        match action.commands.get(inner).map(|view| view.command.reached) {
            Some(Reached::Within { wrapper, .. }) if tests.contains(&wrapper) => return true,
            Some(Reached::Within { wrapper, .. }) => inner = wrapper,
            Some(Reached::Directly | Reached::Substituted) | None => return false,
        }
    }
    false
}

/// Whether a command says itself that it writes a file that is not temporary: by a redirection, or a flag that names its report.
fn writes_files(subject: &Subject<'_>) -> bool {
    subject.effects.iter().any(|one| {
        let writes = matches!(
            one.kind,
            EffectKind::Write | EffectKind::Append | EffectKind::Delete
        );
        writes && one.classes != TEMPORARY
    })
}

/// What changes how the shell reads or ends the rest of the line.
const OF_THE_SHELL: &[&str] = &[
    ".", "alias", "bind", "builtin", "complete", "declare", "enable", "eval", "exec", "exit",
    "export", "hash", "local", "readonly", "return", "set", "shopt", "source", "trap", "typeset",
    "unalias", "unset",
];

/// Whether a program is the installed one of its name, and no file of that name.
fn is_by_name(view: &CommandView) -> bool {
    (view.command.words.first()).is_some_and(|word| !word.dynamic && !word.text.contains('/'))
}

/// Whether a call may change what was tested: it writes, moves or deletes something that is not temporary, or runs what nobody
/// has described.
pub fn edits(action: &Action) -> bool {
    effects::subjects(action).any(|subject| {
        let view = subject.command.and_then(|at| action.commands.get(at));
        may_edit(&subject, view)
    })
}

/// The same for one command of a line.
pub(super) fn command_edits(action: &Action, at: usize) -> bool {
    let mut subjects = effects::subjects(action).filter(|subject| subject.command == Some(at));
    subjects.any(|subject| may_edit(&subject, action.commands.get(at)))
}

fn may_edit(subject: &Subject<'_>, view: Option<&CommandView>) -> bool {
    if is_test(subject) {
        return writes_files(subject);
    }
    // Its redirections aside, which are effects.
    let read_only = view.is_some_and(CommandView::is_read_only);
    let begins = |words: &&str| {
        let reading = subject.reading.as_ref();
        reading.is_some_and(|reading| reading.begins_so(words).is_some())
    };
    let changes = |one: &effects::Effect| match one.kind {
        EffectKind::Write
        | EffectKind::Append
        | EffectKind::Delete
        | EffectKind::Mode
        | EffectKind::Either
        | EffectKind::Install
        | EffectKind::Run
        | EffectKind::Opaque => one.classes != TEMPORARY,
        EffectKind::Read
        | EffectKind::List
        | EffectKind::Show
        | EffectKind::Owner
        | EffectKind::Database
        | EffectKind::Privilege
        | EffectKind::Signal
        | EffectKind::Persist
        | EffectKind::Connect
        | EffectKind::History
        | EffectKind::Send
        | EffectKind::Publish
        | EffectKind::Infrastructure
        | EffectKind::Listen => false,
    };
    let keeps = subject.program == Some("git") && KEEPING.iter().any(begins);
    let by_git = subject.program == Some("git") && !keeps && !read_only;
    let unknown =
        subject.command.is_some() && !read_only && subject.program.is_none_or(is_undescribed);
    subject.opaque != 0 || by_git || unknown || (!keeps && subject.effects.iter().any(changes))
}

fn is_test(subject: &Subject<'_>) -> bool {
    let groups = GROUPS.iter().filter(|(name, _)| *name == TEST);
    let mut entries = groups.flat_map(|(_, entries)| entries.iter());
    subject
        .program
        .is_some_and(|program| entries.any(|entry| entry.holds(program, subject)))
}
