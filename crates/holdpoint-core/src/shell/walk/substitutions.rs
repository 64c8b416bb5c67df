//! Substitutions and parameters in words, and the code they run.

use super::{Listing, Scope};
use crate::shell::commands::Reached;
use crate::shell::environment::{Origin, Value};
use crate::shell::input::Input;
use crate::shell::readings;
use crate::shell::refusal::Refusal;
use crate::shell::tree::{CommandNode, Parameter, Part, Simple, Substitution, Word};

impl<'w> Listing<'w> {
    /// Lists the substitutions in the words, values and redirects of a command.
    pub(super) fn code_in(
        &mut self,
        node: &CommandNode,
        simple: &Simple,
        given: &[(String, Value)],
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let mut before = Vec::new();
        for (at, assignment) in simple.assignments.iter().enumerate() {
            if let Some(subscript) = &assignment.subscript {
                self.parts(subscript, scope)?;
                let text = readings::calculated_text(subscript);
                self.code_in_values(&text, subscript, &assignment.value.span, scope)?;
            }
            self.parts(&assignment.value.parts, scope)?;
            if self.environment.is_odd(&assignment.name) {
                self.code_in_number(&assignment.name, given, &assignment.value.span, scope)?;
            }
            if at + 1 == simple.assignments.len() {
                continue;
            }
            // Code in those that follow may see this one.
            let name = &assignment.name;
            let held = self.environment.variable(name);
            let mut values = held.clone().map_or(Vec::new(), |held| held.values);
            values.extend(
                given
                    .iter()
                    .filter(|(known, _)| known == name)
                    .map(|(_, value)| value.clone()),
            );
            self.environment.assign_any(name, values);
            before.push((name, held));
        }
        for (name, held) in before.into_iter().rev() {
            self.environment.restore(name, held);
        }
        self.substitutions_in(&simple.words, scope)?;
        self.redirects(&node.redirects, scope)
    }

    pub(super) fn substitutions_in<'t>(
        &mut self,
        words: impl IntoIterator<Item = &'t Word>,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        words
            .into_iter()
            .try_for_each(|word| self.parts(&word.parts, scope))
    }

    /// Lists the code inside the parts of a word.
    pub(super) fn parts(&mut self, parts: &[Part], scope: &Scope<'_>) -> Result<(), Refusal> {
        for part in parts {
            match part {
                Part::Literal { .. }
                | Part::SingleQuoted(_)
                | Part::AnsiQuoted(_)
                | Part::Glob(_)
                | Part::Brace(_)
                | Part::Tilde(_) => {}
                Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
                    self.parts(inside, scope)?;
                }
                Part::Parameter(parameter) => {
                    self.parts(&parameter.parts, scope)?;
                    self.code_in_parameter(parameter, scope)?;
                }
                Part::Arithmetic(arithmetic) => {
                    self.parts(&arithmetic.parts, scope)?;
                    self.calculation(arithmetic, scope)?;
                }
                Part::Command(code) | Part::Process(code) => self.substituted(code, scope)?,
                Part::Array(words) => self.substitutions_in(words, scope)?,
            }
        }
        Ok(())
    }

    /// Lists the code in values that a parameter calculates with: `${a[x]}`, `${x:y}`, and `${!x}`,
    /// whose value may be a name with a subscript.
    fn code_in_parameter(
        &mut self,
        parameter: &Parameter,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let span = &parameter.span;
        if let Some(text) = readings::calculated_operator(parameter) {
            self.code_in_values(text, &[], span, scope)?;
        }
        if parameter.prefix == Some('!') {
            self.code_in_values(&parameter.name, &[], span, scope)?;
        }
        Ok(())
    }

    fn substituted(&mut self, code: &Substitution, scope: &Scope<'_>) -> Result<(), Refusal> {
        let scope = Scope {
            reached: Reached::Substituted,
            ..scope.clone()
        };
        // A `>(…)` reads what the command writes; treating every one so loses nothing.
        let writes_into = scope
            .source
            .as_bytes()
            .get(code.span.start)
            .is_some_and(|byte| *byte == b'>');
        let input = if writes_into {
            Input::Unknown(Origin::Elsewhere)
        } else {
            Input::Inherited
        };
        self.apart(|listing| listing.script(&code.script, &scope, &input))
    }
}

/// Whether a part of a word holds code.
pub(super) fn runs_code(part: &Part) -> bool {
    match part {
        Part::Command(_) | Part::Process(_) => true,
        Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
            inside.iter().any(runs_code)
        }
        Part::Parameter(parameter) => parameter.parts.iter().any(runs_code),
        Part::Arithmetic(arithmetic) => arithmetic.parts.iter().any(runs_code),
        Part::Array(words) => words.iter().flat_map(|word| &word.parts).any(runs_code),
        Part::Literal { .. }
        | Part::SingleQuoted(_)
        | Part::AnsiQuoted(_)
        | Part::Glob(_)
        | Part::Brace(_)
        | Part::Tilde(_) => false,
    }
}
