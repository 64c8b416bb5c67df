//! What a pipeline leaves behind when it fails, for what runs only then, and where the states meet again.

use super::{Listing, Scope, simple::takes_any_text, substitutions::runs_code};
use crate::paths::Entry;
use crate::shell::environment::Environment;
use crate::shell::tree::{
    AssignmentNode, CommandKind, Connector, Item, Part, Pipeline, Redirect, Simple, Word,
};

/// What is left behind by a pipeline that fails.
enum Failure {
    /// It cannot fail.
    Never,
    /// All that it did.
    LeavesAll,
    /// This state.
    Leaves(Environment),
}

/// The states in a list that others than the next command go on from.
#[derive(Default)]
pub(super) struct Waiting {
    /// Of those who wait for `||` because something failed.
    failed: Option<Environment>,
    /// Of those who wait for `&&`.
    succeeded: Option<Environment>,
    /// In which the commands up to the next `;` begin.
    begun: Option<Environment>,
}

impl Waiting {
    /// The state a command of a list begins in.
    pub(super) fn begin(&mut self, connector: Connector, now: &Environment) -> Environment {
        match connector {
            Connector::Sequence | Connector::Background => self.begun = None,
            Connector::And | Connector::Or => {
                self.begun.get_or_insert_with(|| now.clone());
            }
        }
        now.clone()
    }
}

impl<'w> Listing<'w> {
    /// Goes on from a command of a list that ran, or did not, to what its connector leads to.
    ///
    /// Kept out of the walk itself: that recurses, and the states that are joined here would
    /// lie in each of its frames.
    #[inline(never)]
    pub(super) fn connect(&mut self, item: &Item, before: Environment, waiting: &mut Waiting) {
        if item.connector == Connector::Background {
            self.leave_running(&before);
        }
        let failure = self.after_failure(&item.pipeline, before);
        match item.connector {
            Connector::Sequence | Connector::Background => {
                let ends = self.environment.ends_on_error && item.connector == Connector::Sequence;
                // The same state twice is that state.
                let failure = match failure {
                    Failure::Leaves(state) if !ends => Some(state),
                    Failure::Leaves(_) | Failure::LeavesAll | Failure::Never => None,
                };
                let others = [failure, waiting.failed.take(), waiting.succeeded.take()];
                for other in others.into_iter().flatten() {
                    self.environment = self.environment.clone().either(other);
                }
            }
            Connector::And => {
                waiting.failed = either(waiting.failed.take(), self.state_after(failure));
                if let Some(succeeded) = waiting.succeeded.take() {
                    self.environment = self.environment.clone().either(succeeded);
                }
            }
            Connector::Or => {
                let success = self.environment.clone();
                waiting.succeeded = either(waiting.succeeded.take(), Some(success));
                match either(waiting.failed.take(), self.state_after(failure)) {
                    Some(failed) => self.environment = failed,
                    // What hardly ever fails may: then nothing of it may have happened.
                    None => {
                        if let Some(begun) = &waiting.begun {
                            self.environment = self.environment.clone().either(begun.clone());
                        }
                    }
                }
            }
        }
    }

    /// Begins a line of which an earlier one may have been cut short by an error.
    ///
    /// Out of the walk for the same reason.
    #[inline(never)]
    pub(super) fn begin_line(&mut self, scope: &Scope<'_>) {
        let Some(other) = self.environment.cut_short.clone() else {
            return;
        };
        self.environment = self.environment.clone().either(Environment::clone(&other));
        // Code that is evaluated leaves the lines around it out as well.
        if scope.depth == 0 {
            self.environment.cut_short = None;
        }
    }

    /// Goes back to the state before a command that runs on: what it writes is there at some time.
    fn leave_running(&mut self, before: &Environment) {
        let after = std::mem::replace(&mut self.environment, before.clone());
        self.environment.may_keep_files(&after);
    }

    /// The state a failure leaves, if it is possible.
    fn state_after(&self, failure: Failure) -> Option<Environment> {
        match failure {
            Failure::Never => None,
            Failure::LeavesAll => Some(self.environment.clone()),
            Failure::Leaves(state) => Some(state),
        }
    }

    /// The state if a pipeline fails.
    fn after_failure(&self, pipeline: &Pipeline, before: Environment) -> Failure {
        let [only] = pipeline.commands.as_slice() else {
            return Failure::Leaves(before);
        };
        let CommandKind::Simple(simple) = &only.kind else {
            return Failure::Leaves(before.either(self.environment.clone()));
        };
        if pipeline.negated {
            return Failure::LeavesAll;
        }
        if simple.words.is_empty() {
            // A subscript that comes to nothing is an error.
            if simple.assignments.iter().any(has_open_subscript) {
                return Failure::Leaves(before.either(self.environment.clone()));
            }
            // How the last substitution ended is how the assignment does.
            let values = simple.assignments.iter().map(|node| &node.value.parts);
            let mut runs = values.flatten().filter(|part| runs_code(part));
            return match runs.next() {
                Some(_) => Failure::LeavesAll,
                None => Failure::Never,
            };
        }
        let program = simple
            .words
            .first()
            .and_then(Word::plain)
            .unwrap_or_default();
        match program {
            _ if self.environment.redefines(program) => {
                Failure::Leaves(before.either(self.environment.clone()))
            }
            "local" if !self.environment.in_function => Failure::LeavesAll,
            // A number that is none is an error.
            "printf" if !simple.words.get(1).is_some_and(takes_any_text) => Failure::LeavesAll,
            ":" | "true" | "echo" | "printf" | "export" | "local" | "declare" | "set" | "shopt"
            | "mkdir" | "alias" | "exit" | "return" | "unset" => Failure::Never,
            "cd" | "pushd" if self.surely_changes(simple, &only.redirects) => Failure::Never,
            "cd" | "pushd" => Failure::Leaves(before),
            _ => Failure::LeavesAll,
        }
    }

    /// Whether a command that changes the directory cannot fail: one plain operand that is there,
    /// and nothing in the text that could have taken it away.
    fn surely_changes(&self, simple: &Simple, redirects: &[Redirect]) -> bool {
        let operands = simple.words.get(1..).unwrap_or_default();
        let plain = operands.len() <= 1
            && redirects.is_empty()
            && operands.iter().all(|word| {
                word.plain()
                    .is_none_or(|text| !text.starts_with('-') || text == "--")
            });
        let moved = self.commands.iter().any(|command| {
            matches!(
                command.program(),
                Some("mv" | "rm" | "rmdir" | "git" | "ln")
            )
        });
        let redefined = self.environment.functions.contains_key("cd");
        plain && !moved && !redefined && self.arrived()
    }

    /// Whether the directory the shell is in is there for sure.
    fn arrived(&self) -> bool {
        let (Some(around), [place]) = (self.around, self.environment.directory.places.as_slice())
        else {
            return false;
        };
        if matches!(place.as_str(), "" | "." | "~" | "/") {
            return true;
        }
        let real = around.resolve(place);
        real.is_ok_and(|real| around.lookup.entry(&real) == Entry::Directory)
    }
}

/// Whether an assignment is to a place of an array that is no plain number.
fn has_open_subscript(assignment: &AssignmentNode) -> bool {
    match assignment.subscript.as_deref() {
        None => false,
        Some([Part::Literal { text, .. }]) => {
            text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit())
        }
        Some(_) => true,
    }
}

pub(super) fn either(one: Option<Environment>, other: Option<Environment>) -> Option<Environment> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.either(other)),
        (one, other) => one.or(other),
    }
}
