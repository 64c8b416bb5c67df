//! What the shell's own commands do to its state: `cd`, `read`, `export`, `set`, `unset`, …
//!
//! Promises that a variable a built-in may change is not taken for what it was.

use std::rc::Rc;
use std::sync::Arc;

use super::environment::{Environment, Origin, Value};
use super::foreseen;
use super::input::Input;
use super::texts::Argument;
use super::walk::{names_in, parameters};
use crate::paths::Surroundings;

/// Aliases of one text; where a shell forks they are copied. More leave the call over its budget.
const MAX_ALIASES: usize = 256;

/// Lines of a text that are read into a variable one after the other: as many as a loop over words
/// has. Of more, what says where something is may be among them.
const MAX_LINES: usize = 128;

/// Applies a command to the state, if it is a built-in that changes it.
pub(super) fn apply(
    environment: &mut Environment,
    words: &[Argument],
    input: &Input,
    _around: Option<&Surroundings<'_>>,
) {
    let Some((program, rest)) = words.split_first() else {
        return;
    };
    match program.known() {
        Some("cd") => change_directory(environment, rest),
        Some("pushd") => {
            environment.push_directory();
            change_directory(environment, rest);
        }
        Some("popd") => environment.pop_directory(),
        Some("exit" | "return") => environment.ended = true,
        Some("set") => set(environment, rest),
        Some("shift") => shift(environment, rest),
        Some("unset") => unset(environment, rest),
        Some(name @ ("export" | "declare" | "local" | "readonly" | "typeset")) => {
            declare(environment, name, rest);
        }
        Some("alias") => alias(environment, rest),
        Some("read") => read(environment, rest, input),
        Some("mapfile" | "readarray") => map_lines(environment, rest, input),
        Some("printf") => print_into(environment, rest),
        Some("let") => {
            for word in rest.iter().filter_map(Argument::known) {
                for name in names_in(word) {
                    environment.assign(name, Value::Unknown(Origin::Elsewhere));
                }
            }
        }
        Some("getopts") => {
            for word in rest.iter().skip(1).take(1).filter_map(Argument::known) {
                environment.assign(word, Value::Unknown(Origin::Elsewhere));
            }
            environment.assign("OPTARG", Value::Unknown(Origin::Elsewhere));
        }
        Some(_) | None => {}
    }
}

fn change_directory(environment: &mut Environment, words: &[Argument]) {
    let target = words.iter().find(|word| {
        let text = word.unquoted();
        text == "-" || !text.starts_with('-')
    });
    match target {
        None => environment.go("~"),
        Some(word) => match word.known() {
            Some("-") => environment.get_lost(),
            None => match word.text.pattern.as_deref() {
                Some(pattern) => environment.get_lost_in(pattern),
                None => environment.get_lost(),
            },
            Some(text) if word.text.glob => environment.get_lost_in(text),
            Some(text) => {
                environment.go(text);
                // A search path for directories may lead elsewhere.
                let searched =
                    environment.variable("CDPATH").is_some() && !text.starts_with(['/', '.', '~']);
                if searched {
                    environment.get_lost();
                }
            }
        },
    }
}

fn set(environment: &mut Environment, words: &[Argument]) {
    let mut at = 0;
    let mut given = false;
    while let Some(word) = words.get(at) {
        let text = word.unquoted();
        if text == "--" || text == "-" {
            at += 1;
            given = true;
            break;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else {
            given = true;
            break;
        };
        if text.starts_with('-') {
            let named = letters.contains('o')
                && words.get(at + 1).and_then(Argument::known) == Some("errexit");
            environment.ends_on_error |= letters.contains('e') || named;
        } else {
            environment.ends_on_error &= !letters.contains('e');
        }
        at += 1 + usize::from(letters.ends_with('o'));
    }
    if given {
        environment.positional = parameters(words.get(at..).unwrap_or_default());
    }
}

fn unset(environment: &mut Environment, words: &[Argument]) {
    let flagged = |flag: &str| words.iter().any(|word| word.known() == Some(flag));
    let names = words.iter().filter_map(Argument::known);
    for name in names.filter(|name| !name.starts_with('-')) {
        if !flagged("-v") {
            environment.doubt_function(name);
        }
        if flagged("-f") {
            continue;
        }
        match name.split_once('[') {
            // The elements behind it stay where they are, which is not followed.
            Some((array, _)) => environment.assign(array, Value::Unknown(Origin::Elsewhere)),
            None => environment.assign(name, Value::Unset),
        }
    }
}

fn shift(environment: &mut Environment, words: &[Argument]) {
    let by = match words.first().map(Argument::known) {
        None => Some(1),
        Some(Some(count)) => count.parse().ok(),
        Some(None) => None,
    };
    environment.positional = match (by, &environment.positional) {
        (Some(by), Some(values)) if !values.iter().take(by).any(Value::splits) => {
            // Too many are not shifted at all.
            Some(values.get(by..).unwrap_or(values).into())
        }
        (_, _) => None,
    };
}

fn declare(environment: &mut Environment, builtin: &str, words: &[Argument]) {
    let flagged = |letters: &[char]| {
        words.iter().any(|word| {
            let text = word.unquoted();
            text.starts_with('-') && text.contains(letters)
        })
    };
    let own = matches!(builtin, "local" | "declare" | "typeset") && !flagged(&['g']);
    let changes = builtin != "export" && flagged(&['l', 'u', 'c', 'i', 'n']);
    for word in words
        .iter()
        .filter(|word| !word.unquoted().starts_with('-'))
    {
        let (name, value) = word
            .unquoted()
            .split_once('=')
            .unwrap_or((word.unquoted(), ""));
        if builtin == "export" || flagged(&['x']) {
            environment.export(name);
        }
        if own {
            Rc::make_mut(&mut environment.locals).push(name.to_owned());
        }
        if changes {
            environment.make_odd(name);
            if flagged(&['l', 'u', 'c']) {
                environment.make_cased(name);
            }
            if flagged(&['n']) && !value.is_empty() {
                environment.make_odd(value);
            }
        }
    }
    // `-n` makes a name for another variable: what either holds is then anybody's guess.
    let renames = flagged(&['n']);
    for word in words {
        let text = word.unquoted();
        let Some((name, value)) = text.split_once('=') else {
            continue;
        };
        let pattern = word.text.pattern.as_deref();
        let pattern = pattern.and_then(|text| Some(text.split_once('=')?.1));
        let target = value;
        let value = match word.known() {
            Some(_) if !renames && !name.ends_with('+') && !value.starts_with('(') => {
                Value::Known(Arc::from(value))
            }
            Some(_) | None => Value::partly(
                word.origin.unwrap_or(Origin::Elsewhere),
                value,
                pattern.filter(|_| !renames && !name.ends_with('+') && !value.starts_with('(')),
            ),
        };
        if name == "PATH" {
            environment.search_in(text.split_once('=').map_or("", |(_, value)| value));
        }
        let name = name.trim_end_matches('+');
        let mut values = vec![value];
        if builtin == "local" && !environment.in_function {
            // Outside of a function most shells refuse it.
            let before = environment.variable(name);
            values.extend(before.map_or(vec![Value::Unset], |before| before.values));
        }
        if word.text.dynamic && is_computed(name) {
            environment.doubt_variables();
        }
        assign_named(environment, name, values);
        if renames {
            environment.refer(name, target);
        }
        if builtin == "readonly" || flagged(&['r']) {
            environment.freeze(name);
        }
    }
}

fn alias(environment: &mut Environment, words: &[Argument]) {
    for word in words.iter().filter_map(Argument::known) {
        if let Some((name, text)) = word.split_once('=') {
            if environment.aliases.len() >= MAX_ALIASES {
                environment.budget.overrun();
                return;
            }
            let aliases = Rc::make_mut(&mut environment.aliases);
            let before = aliases.insert(name.to_owned(), Arc::from(text));
            if let Some(before) = before.filter(|before| &**before != text) {
                let former = Rc::make_mut(&mut environment.former_aliases);
                let known = former.insert(name.to_owned(), Arc::clone(&before));
                if known.is_some_and(|known| known != before) {
                    environment.budget.overrun();
                }
            }
        }
    }
}

fn read(environment: &mut Environment, words: &[Argument], input: &Input) {
    let mut names: Vec<&str> = Vec::new();
    let mut plain = true;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.unquoted();
        let letters = text.strip_prefix('-').filter(|rest| !rest.is_empty());
        let Some(letters) = letters.filter(|_| names.is_empty()) else {
            names.push(text);
            continue;
        };
        // The rest of the word is the value of the first letter that takes one, or else the next word.
        let valued = letters.find(['a', 'd', 'i', 'n', 'N', 'p', 't', 'u']);
        let (flags, value) = match valued {
            Some(place) => letters.split_at_checked(place + 1).unwrap_or((letters, "")),
            None => (letters, ""),
        };
        plain &= !flags.contains(['a', 'd', 'n', 'N', 'u']);
        let next = words.get(at).map(Argument::unquoted);
        at += usize::from(valued.is_some() && value.is_empty());
        if flags.ends_with('a') {
            let array = Some(value).filter(|value| !value.is_empty()).or(next);
            names.extend(array);
            // What follows is none of its names.
            break;
        }
    }
    if words.iter().any(|word| word.text.dynamic) && names.iter().any(|name| is_computed(name)) {
        environment.doubt_variables();
    }
    if names.is_empty() {
        names.push("REPLY");
    }
    let raw = words.iter().any(|word| {
        let text = word.unquoted();
        text.starts_with('-') && text.contains('r')
    });
    // Other separators, and backslashes that join lines, are not followed.
    let separators = environment.variable("IFS").map(|variable| variable.values);
    let whole = separators == Some(vec![Value::Known(Arc::from(""))]);
    plain &= separators.is_none() || (whole && names.len() == 1);
    let lines: Vec<&str> = match input {
        Input::Known(text) if plain && (raw || !text.contains('\\')) => {
            text.lines().take(MAX_LINES + 1).collect()
        }
        Input::Known(_)
        | Input::Partly(_)
        | Input::Inherited
        | Input::Empty
        | Input::Unknown(_) => Vec::new(),
    };
    for (at, name) in names.iter().enumerate() {
        let mut values: Vec<Value> = lines
            .iter()
            .take(MAX_LINES)
            .map(|line| match whole && names.len() == 1 {
                true => Value::Known(Arc::from(*line)),
                false => Value::Known(Arc::from(field(line, at, names.len()))),
            })
            .collect();
        if values.is_empty() {
            values.push(input.unknown_value());
        }
        if lines.len() > MAX_LINES {
            values.push(Value::Unknown(Origin::Crowd));
        }
        assign_named(environment, name, values);
    }
}

/// The part of a line the `at`-th of `count` variables gets.
fn field(line: &str, at: usize, count: usize) -> String {
    if count == 1 {
        return line.trim().to_owned();
    }
    let fields: Vec<&str> = line.split_whitespace().collect();
    if at + 1 < count {
        return fields.get(at).copied().unwrap_or_default().to_owned();
    }
    fields.get(at..).unwrap_or_default().join(" ")
}

fn map_lines(environment: &mut Environment, words: &[Argument], input: &Input) {
    let name = words
        .iter()
        .filter_map(Argument::known)
        .rfind(|word| !word.starts_with('-'))
        .unwrap_or("MAPFILE");
    let plain = words
        .iter()
        .all(|word| matches!(word.unquoted(), "-t") || word.unquoted() == name);
    let value = match input {
        Input::Known(text) if plain => {
            let lines = text.lines().map(|line| Value::Known(Arc::from(line)));
            Value::List(lines.collect())
        }
        Input::Known(_)
        | Input::Partly(_)
        | Input::Inherited
        | Input::Empty
        | Input::Unknown(_) => input.unknown_value(),
    };
    environment.assign(name, value);
}

/// `printf -v name …`, `printf -vname …`.
fn print_into(environment: &mut Environment, words: &[Argument]) {
    let Some((flag, rest)) = words.split_first() else {
        return;
    };
    let (name, rest) = match flag.unquoted().strip_prefix("-v") {
        Some("") => match rest.split_first() {
            Some((name, rest)) => (name.unquoted(), rest),
            None => return,
        },
        Some(name) => (name, rest),
        None => return,
    };
    if is_computed(name) {
        environment.doubt_variables();
        return;
    }
    let value = foreseen::said(rest, foreseen::printf);
    assign_named(environment, name, vec![value]);
}

/// Whether the name of a variable is only known when the line runs.
fn is_computed(name: &str) -> bool {
    name.contains(['$', '`'])
}

/// Assigns to a variable or to an element of one; the first element is what the name of an array alone stands for.
fn assign_named(environment: &mut Environment, name: &str, mut values: Vec<Value>) {
    let array = name.split_once('[').map(|(array, _)| array);
    if let Some(array) = array {
        let before = environment.variable(array);
        values.extend(before.map_or(vec![Value::Unset], |before| before.values));
    }
    environment.assign_any(array.unwrap_or(name), values);
}
