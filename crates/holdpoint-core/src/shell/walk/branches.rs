//! Subshells, conditions and cases: what each part is walked with, and what is known after it.

use std::sync::Arc;

use super::{Listing, Scope, failures::either};
use crate::shell::environment::{Environment, Value};
use crate::shell::input::Input;
use crate::shell::reader::read;
use crate::shell::refusal::Refusal;
use crate::shell::tree::{Arithmetic, Clause, CommandKind, ConditionToken, Item, Word};

impl<'w> Listing<'w> {
    /// Walks `((…))` as other shells than bash read it: subshells. Only code that is handed to a
    /// shell can meet one.
    pub(super) fn as_subshells(
        &mut self,
        arithmetic: &Arithmetic,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let text = scope
            .source
            .get(arithmetic.span.clone())
            .unwrap_or_default();
        let inside = text
            .strip_prefix("((")
            .and_then(|rest| rest.strip_suffix("))"));
        let (Some(_), Some(inside)) = (&scope.held, inside) else {
            return Ok(());
        };
        let Ok(script) = read(inside) else {
            return Ok(());
        };
        let inner = Scope {
            source: inside,
            documents: &script.here_documents,
            ..scope.clone()
        };
        self.apart(|listing| {
            listing.leveled(scope, &arithmetic.span, |listing| {
                listing.script(&script, &inner, input)
            })
        })
    }

    /// Walks what cannot change this shell's state; the files it writes stay.
    pub(super) fn apart(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before = self.environment.clone();
        let walked = self.until_its_end(walk);
        let after = std::mem::replace(&mut self.environment, before);
        self.environment.keep_files(after);
        walked
    }

    /// Walks what a shell of its own runs, and what its end runs.
    pub(super) fn until_its_end(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let outer = std::mem::take(&mut self.trapped);
        let set = std::mem::take(&mut self.exit_traps);
        let walked = walk(self).and_then(|()| self.trapped_code());
        self.trapped = outer;
        self.exit_traps = set;
        walked
    }

    pub(super) fn conditional(
        &mut self,
        branches: &[(Vec<Item>, Vec<Item>)],
        otherwise: Option<&[Item]>,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let mut after: Option<Environment> = None;
        for (condition, body) in branches {
            self.items(condition, scope, input)?;
            let skipped = self.environment.clone();
            self.items(body, scope, input)?;
            after = either(after, Some(self.environment.clone()));
            self.environment = skipped;
        }
        self.items(otherwise.unwrap_or_default(), scope, input)?;
        if let Some(after) = after {
            self.environment = self.environment.clone().either(after);
        }
        Ok(())
    }

    /// What a loop reads into is empty when there is nothing left to read.
    pub(super) fn read_to_the_end(&mut self, condition: &[Item]) {
        for node in condition.iter().flat_map(|item| &item.pipeline.commands) {
            let CommandKind::Simple(simple) = &node.kind else {
                continue;
            };
            let mut words = simple.words.iter().filter_map(Word::plain);
            if words.next() != Some("read") {
                continue;
            }
            for name in words {
                let Some(variable) = self.environment.variable(name) else {
                    continue;
                };
                let mut values = variable.values;
                values.push(Value::Known(Arc::from("")));
                self.environment.assign_any(name, values);
            }
        }
    }

    /// `case`.
    pub(super) fn cases(
        &mut self,
        subject: &Word,
        clauses: &[Clause],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        self.parts(&subject.parts, scope)?;
        let before = self.environment.clone();
        let mut after = before.clone();
        for clause in clauses {
            self.environment = before.clone();
            self.substitutions_in(&clause.patterns, scope)?;
            self.items(&clause.body, scope, input)?;
            after = after.either(self.environment.clone());
        }
        self.environment = after;
        Ok(())
    }

    /// `[[` evaluates operands of `-eq` and `-v` as arithmetic, quoted or not.
    pub(super) fn condition(
        &mut self,
        tokens: &[ConditionToken],
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let calculates = |at: Option<usize>| {
            let token = at.and_then(|at| tokens.get(at));
            matches!(token, Some(ConditionToken::Word(word)) if matches!(
                word.plain(),
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R")
            ))
        };
        for (at, token) in tokens.iter().enumerate() {
            let ConditionToken::Word(word) = token else {
                continue;
            };
            self.parts(&word.parts, scope)?;
            if !calculates(at.checked_sub(1)) && !calculates(Some(at + 1)) {
                continue;
            }
            let span = scope.held.clone().unwrap_or_else(|| word.span.clone());
            let operand = self.expander(scope).argument(word, &span);
            if let Some(text) = operand.known()
                && text.contains('[')
            {
                let start = scope.start(&Input::Inherited);
                self.evaluated(None, text, &span, &start)?;
            } else {
                // A name, or a variable with several values: each of them is calculated.
                let name = word.plain().unwrap_or_default();
                self.code_in_values(name, &word.parts, &word.span, scope)?;
            }
        }
        Ok(())
    }
}
