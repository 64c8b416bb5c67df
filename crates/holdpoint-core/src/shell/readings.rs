//! The ways to read a command whose variables may have several values.
//!
//! Promises a reading for every combination of the values of the variables a command uses, or
//! one in which they are unknown if there are too many.

use std::sync::Arc;

use super::arithmetic;
use super::environment::{Choice, Environment, Origin, Value};
use super::texts::{Argument, Expander};
use super::tree::{AssignmentNode, CommandKind, Item, Parameter, Part, Word};
use crate::paths::base_name;
use crate::rules::DESTROYERS;

/// Most readings of one command.
const MAX_READINGS: usize = 16;

/// The readings of a command with these words. Variables that only have a default are made
/// known as what they are: set to nobody knows what, or not set.
pub(super) fn choices(environment: &mut Environment, words: &[&Word]) -> Vec<Choice> {
    let within = Within::Substitutions;
    let mut names: Vec<String> = Vec::new();
    let destroys = words.first().is_some_and(|word| match word.plain() {
        Some(program) => {
            let name = base_name(program);
            DESTROYERS.contains(name)
        }
        None => true,
    });
    for word in words {
        each_parameter(&word.parts, within, &mut |parameter| {
            if has_default(parameter)
                && environment.variable(&parameter.name).is_none()
                && !OUTSIDE.contains(&parameter.name.as_str())
                && parameter
                    .name
                    .starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
            {
                let values = if parameter.name == "TMPDIR" {
                    vec![Value::Unset]
                } else {
                    vec![Value::Unset, Value::Unknown(Origin::Elsewhere)]
                };
                environment.assign_any(&parameter.name, values);
            }
            if parameter.name == "SHELL" && environment.variable("SHELL").is_none() {
                // Most likely bash, but nobody has said so.
                let values = vec![
                    Value::Known(Arc::from("/bin/bash")),
                    Value::Unknown(Origin::Elsewhere),
                ];
                environment.assign_any("SHELL", values);
            }
            if destroys {
                environment.doubt(&parameter.name);
            }
            if environment.count(&parameter.name) > 1 && !names.contains(&parameter.name) {
                names.push(parameter.name.clone());
            }
        });
    }
    if names.is_empty() {
        return vec![Choice::none()];
    }
    let product = names.iter().try_fold(1usize, |product, name| {
        product.checked_mul(environment.count(name))
    });
    if product.is_none_or(|product| product > MAX_READINGS) {
        // Each value on its own, and a reading that picks none, to which all of them are unknown.
        let most = names.iter().map(|name| environment.count(name)).max();
        let picked = (0..most.unwrap_or(1).min(MAX_READINGS))
            .map(|at| Choice::from_picks(names.iter().map(|name| (name.clone(), at)).collect()));
        return picked.chain([Choice::none()]).collect();
    }
    let mut choices = vec![Vec::new()];
    for name in &names {
        let count = environment.count(name);
        choices = choices
            .into_iter()
            .flat_map(|picked: Vec<(String, usize)>| {
                (0..count).map(move |at| {
                    let mut picked = picked.clone();
                    picked.push((name.clone(), at));
                    picked
                })
            })
            .collect();
    }
    choices.into_iter().map(Choice::from_picks).collect()
}

/// Variables whose value outside is known well enough.
const OUTSIDE: [&str; 5] = ["HOME", "PWD", "IFS", "SHELL", "BASH"];

/// Whether a parameter gets a value by being used: `${x:=y}`.
pub(super) fn gives_default(parameter: &Parameter) -> bool {
    parameter.operator.starts_with(":=") || parameter.operator.starts_with('=')
}

fn has_default(parameter: &Parameter) -> bool {
    [":-", "-", ":=", "="]
        .iter()
        .any(|sign| parameter.operator.starts_with(sign))
}

/// Where parameters are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// The word itself.
    Word,
    /// The word and the code it holds, whose output may depend on them.
    Substitutions,
}

/// Calls `found` for each parameter of these parts.
pub(super) fn each_parameter(parts: &[Part], within: Within, found: &mut dyn FnMut(&Parameter)) {
    for part in parts {
        match part {
            Part::Parameter(parameter) => {
                found(parameter);
                each_parameter(&parameter.parts, within, found);
            }
            Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
                each_parameter(inside, within, found);
            }
            Part::Arithmetic(arithmetic) => each_parameter(&arithmetic.parts, within, found),
            Part::Array(words) => {
                for word in words {
                    each_parameter(&word.parts, within, found);
                }
            }
            Part::Command(code) if within == Within::Substitutions => {
                for document in &code.script.here_documents {
                    each_parameter(&document.parts, within, found);
                }
                each_in_items(&code.script.items, found);
            }
            Part::Literal { .. }
            | Part::SingleQuoted(_)
            | Part::AnsiQuoted(_)
            | Part::Command(_)
            | Part::Process(_)
            | Part::Glob(_)
            | Part::Brace(_)
            | Part::Tilde(_) => {}
        }
    }
}

/// The parameters of commands whose output may be foreseen.
fn each_in_items(items: &[Item], found: &mut dyn FnMut(&Parameter)) {
    let within = Within::Substitutions;
    for node in items.iter().flat_map(|item| &item.pipeline.commands) {
        for redirect in &node.redirects {
            each_parameter(&redirect.target.parts, within, found);
        }
        match &node.kind {
            CommandKind::Simple(simple) => {
                let values = simple.assignments.iter().map(|one| &one.value);
                for word in simple.words.iter().chain(values) {
                    each_parameter(&word.parts, within, found);
                }
            }
            CommandKind::Group(inside) | CommandKind::Subshell(inside) => {
                each_in_items(inside, found);
            }
            CommandKind::If { .. }
            | CommandKind::Loop { .. }
            | CommandKind::Each { .. }
            | CommandKind::ForArithmetic { .. }
            | CommandKind::Case { .. }
            | CommandKind::Condition(_)
            | CommandKind::Arithmetic(_)
            | CommandKind::Function { .. }
            | CommandKind::Coproc { .. } => {}
        }
    }
}

/// Whether expanding these words leaves all variables as they are.
pub(super) fn assigns_nothing(words: &[Word]) -> bool {
    let mut nothing = true;
    for word in words {
        each_calculation(&word.parts, &mut |text, _| {
            nothing &= !arithmetic::assigns(text)
        });
        each_parameter(&word.parts, Within::Word, &mut |parameter| {
            nothing &= !parameter.operator.contains('=');
        });
    }
    nothing
}

/// The text of an arithmetic expression, blanks for what is expanded in it.
pub(super) fn calculated_text(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal { text: piece, .. }
            | Part::SingleQuoted(piece)
            | Part::AnsiQuoted(piece) => text.push_str(piece),
            Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
                text.push_str(&calculated_text(inside));
            }
            Part::Glob(sign) | Part::Brace(sign) => text.push(*sign),
            Part::Parameter(_)
            | Part::Command(_)
            | Part::Process(_)
            | Part::Arithmetic(_)
            | Part::Tilde(_)
            | Part::Array(_) => text.push(' '),
        }
    }
    text
}

/// What of a parameter's operator is calculated: a subscript with what may follow it, or where a part of
/// the value begins and ends.
pub(super) fn calculated_operator(parameter: &Parameter) -> Option<&str> {
    let operator = parameter.operator.as_str();
    if operator.starts_with('[') {
        return Some(operator);
    }
    let part = operator.strip_prefix(':')?;
    (!part.starts_with(['-', '=', '+', '?'])).then_some(part)
}

/// Calls `found` with the text and the parts of each arithmetic expression of these parts.
pub(super) fn each_calculation(parts: &[Part], found: &mut dyn FnMut(&str, &[Part])) {
    for part in parts {
        match part {
            Part::Arithmetic(arithmetic) => {
                found(&calculated_text(&arithmetic.parts), &arithmetic.parts);
                each_calculation(&arithmetic.parts, found);
            }
            Part::Parameter(parameter) => {
                let subscript = parameter.operator.strip_prefix('[');
                if let Some((subscript, _)) = subscript.and_then(|rest| rest.split_once(']')) {
                    found(subscript, &parameter.parts);
                }
                each_calculation(&parameter.parts, found);
            }
            Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
                each_calculation(inside, found);
            }
            Part::Array(words) => {
                for word in words {
                    each_calculation(&word.parts, found);
                }
            }
            Part::Literal { .. }
            | Part::SingleQuoted(_)
            | Part::AnsiQuoted(_)
            | Part::Command(_)
            | Part::Process(_)
            | Part::Glob(_)
            | Part::Brace(_)
            | Part::Tilde(_) => {}
        }
    }
}

/// What an assignment gives its variable.
pub(super) fn assigned(words: &Expander<'_>, node: &AssignmentNode, value: &Argument) -> Value {
    let origin = value.origin.unwrap_or(Origin::Elsewhere);
    // What is not followed is at least known by its name.
    let unknown = Value::partly(origin, value.unquoted(), None);
    let before = words.value(&node.name);
    if let [Part::Array(elements)] = node.value.parts.as_slice() {
        let Some(items) = words.array(elements) else {
            return unknown;
        };
        return match (node.append, before) {
            (false, _) | (true, Some(Value::Unset)) => Value::List(items),
            (true, Some(Value::List(first))) => {
                Value::List(first.iter().chain(items.iter()).cloned().collect())
            }
            (true, Some(_) | None) => unknown,
        };
    }
    if let Some(subscript) = &node.subscript {
        return element(words, subscript, before, value).unwrap_or(unknown);
    }
    if !node.append {
        return value.value();
    }
    match (before, value.value()) {
        (Some(Value::Known(first)), Value::Known(text)) => {
            Value::Known(Arc::from(format!("{first}{text}")))
        }
        (Some(Value::Unset), value) => value,
        (Some(before), value) => joined(&before, &value).unwrap_or(unknown),
        (None, _) => unknown,
    }
}

/// Two texts, one after the other, of which not all is known.
fn joined(first: &Value, second: &Value) -> Option<Value> {
    let parts = |value: &Value| match value {
        Value::Known(text) => Some((Origin::Elsewhere, text.to_string(), text.to_string())),
        Value::Partly(part) => Some((part.origin, part.written.clone(), part.pattern.clone())),
        Value::Pattern(_) | Value::List(_) | Value::Unset | Value::Unknown(_) => None,
    };
    let ((one, written, pattern), (other, more, further)) = (parts(first)?, parts(second)?);
    let pattern = pattern + &further;
    Some(Value::partly(
        one.max(other),
        &(written + &more),
        Some(&pattern),
    ))
}

/// An array after one of its elements is assigned, where the elements stay in order.
fn element(
    words: &Expander<'_>,
    subscript: &[Part],
    before: Option<Value>,
    value: &Argument,
) -> Option<Value> {
    let at: usize = words.known(subscript)?.trim().parse().ok()?;
    let mut items: Vec<Value> = match before {
        Some(Value::List(items)) if items.iter().any(Value::splits) => return None,
        Some(Value::List(items)) => items.to_vec(),
        Some(Value::Unset) | None => Vec::new(),
        Some(Value::Known(_) | Value::Partly(_) | Value::Pattern(_) | Value::Unknown(_)) => {
            return None;
        }
    };
    let text = value.element()?;
    let count = items.len();
    match items.get_mut(at) {
        Some(item) => *item = text,
        None if at == count => items.push(text),
        None => return None,
    }
    Some(Value::List(items.into()))
}
