//! Arithmetic: the code in it, and the variables it assigns.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Listing, Scope, loops::is_plain_number};
use crate::budget::Resource;
use crate::shell::arithmetic;
use crate::shell::environment::{Origin, Value};
use crate::shell::input::Input;
use crate::shell::readings;
use crate::shell::refusal::Refusal;
use crate::shell::tree::{Arithmetic, Part, Span, Word};

/// Variables one expression uses, by their values, too. A line that calculates with more is refused.
const MAX_CALCULATED: usize = 64;

impl<'w> Listing<'w> {
    /// Forgets the variables that arithmetic in these parts may assign.
    pub(super) fn calculated(&mut self, parts: &[Part]) {
        let mut names: Vec<String> = Vec::new();
        readings::each_calculation(parts, &mut |text, inside| {
            self.names_assigned(text, inside, &mut names);
        });
        self.forget_all(&names);
    }

    /// Lists the code an arithmetic expression runs, and forgets the variables it may assign.
    pub(super) fn calculation(
        &mut self,
        arithmetic: &Arithmetic,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let mut names: Vec<String> = Vec::new();
        let text = readings::calculated_text(&arithmetic.parts);
        self.code_in_values(&text, &arithmetic.parts, &arithmetic.span, scope)?;
        self.names_assigned(&text, &arithmetic.parts, &mut names);
        self.forget_all(&names);
        self.calculated(&arithmetic.parts);
        Ok(())
    }

    /// Lists the code in values an expression uses: they are expressions, too, and what stands
    /// in a subscript is expanded.
    pub(super) fn code_in_values(
        &mut self,
        text: &str,
        parts: &[Part],
        span: &Span,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let values = self.values_used(text, parts);
        self.evaluated_values(&values, span, scope)
    }

    fn evaluated_values(
        &mut self,
        values: &[Arc<str>],
        span: &Span,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let span = scope.place(span);
        let start = scope.start(&Input::Inherited);
        let runs =
            |value: &&Arc<str>| value.contains('[') && (value.contains('$') || value.contains('`'));
        for value in values.iter().filter(runs) {
            // A value may use itself, or others that use it.
            self.pay(Resource::Evaluations, 1, &span)?;
            self.evaluated(None, value, &span, &start)?;
        }
        Ok(())
    }

    /// Lists the code in values that the word's own arithmetic replaces, while they are known:
    /// `$((x++))` runs what is in `x` first.
    pub(super) fn code_in_forgotten(
        &mut self,
        word: &Word,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let mut values: Vec<Arc<str>> = Vec::new();
        readings::each_calculation(&word.parts, &mut |text, inside| {
            // Values are expressions, too: `=` in one of them is enough to forget it.
            let used = self.values_used(text, inside);
            if arithmetic::assigns(text) || used.iter().any(|value| arithmetic::assigns(value)) {
                values.extend(used);
            }
        });
        self.evaluated_values(&values, &word.span, scope)
    }

    /// Lists the code in a value that is calculated because its variable holds numbers.
    pub(super) fn code_in_number(
        &mut self,
        name: &str,
        given: &[(String, Value)],
        span: &Span,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let start = scope.start(&Input::Inherited);
        for (_, value) in given.iter().filter(|(known, _)| known == name) {
            if let Value::Known(text) = value {
                self.evaluated(None, text, &scope.place(span), &start)?;
                self.code_in_values(text, &[], span, scope)?;
            }
        }
        Ok(())
    }

    /// What is known of the values of the variables an expression uses, and of those they use in turn:
    /// a value is an expression, too.
    fn values_used(&self, text: &str, parts: &[Part]) -> Vec<Arc<str>> {
        let mut names: Vec<String> = names_in(text).map(str::to_owned).collect();
        readings::each_parameter(parts, readings::Within::Word, &mut |parameter| {
            names.push(parameter.name.clone());
        });
        let mut seen: HashSet<String> = HashSet::new();
        let mut used: Vec<Arc<str>> = Vec::new();
        while let Some(name) = names.pop() {
            let Some(variable) = self.environment.variable(&name) else {
                continue;
            };
            // An expression of a thousand uses of one variable uses one.
            if !seen.insert(name) {
                continue;
            }
            if seen.len() > MAX_CALCULATED {
                self.budget().overrun();
                break;
            }
            for value in variable.values {
                let Value::Known(text) = value else { continue };
                if !is_plain_number(&text) {
                    names.extend(names_in(&text).map(str::to_owned));
                    used.push(text);
                }
            }
        }
        used
    }

    pub(super) fn forget_all(&mut self, names: &[String]) {
        for name in names {
            let value = Value::Unknown(Origin::Elsewhere);
            self.environment.assign(name, value);
        }
    }

    /// The variables an expression may assign, or the values of those it uses, which are
    /// expressions, too.
    fn names_assigned(&self, text: &str, parts: &[Part], names: &mut Vec<String>) {
        let mut texts = vec![Arc::from(text)];
        texts.extend(self.values_used(text, parts));
        if texts.iter().any(|text| arithmetic::assigns(text)) {
            names.extend(
                texts
                    .iter()
                    .flat_map(|text| names_in(text))
                    .map(str::to_owned),
            );
        }
    }
}

/// The names in an arithmetic expression.
pub(in crate::shell) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let letter = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let words = text.split(move |c: char| !letter(c));
    words.filter(|word| word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
}

/// Whether a word holds `${x@P}`, which runs the substitutions in a variable's value.
pub(super) fn evaluates(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Parameter(parameter) => {
            parameter.operator.ends_with("@P") || evaluates(&parameter.parts)
        }
        Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
            evaluates(inside)
        }
        Part::Array(words) => words.iter().any(|word| evaluates(&word.parts)),
        Part::Literal { .. }
        | Part::SingleQuoted(_)
        | Part::AnsiQuoted(_)
        | Part::Command(_)
        | Part::Process(_)
        | Part::Arithmetic(_)
        | Part::Glob(_)
        | Part::Brace(_)
        | Part::Tilde(_) => false,
    })
}
