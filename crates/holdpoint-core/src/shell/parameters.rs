//! What `$x`, `${x:-y}`, `${x%.c}` and their like become.
//!
//! Promises bash's result for a known value and the operators it knows. Everything else is
//! unknown.

use std::sync::Arc;

use super::arithmetic;
use super::environment::{Origin, Partial, Value};
use super::readings;
use super::texts::{Expanded, Expander};
use super::tree::{Parameter, Part};
use crate::glob::Glob;

/// Longest text a pattern is tried on at every place; what becomes of a longer one is not known.
const MAX_MATCHED: usize = 4096;

/// Expands a parameter.
pub(super) fn expand(words: &Expander<'_>, parameter: &Parameter, quoted: bool) -> Expanded {
    let unknown = unknown(words, parameter);
    // The name and what follows it, expanded: `:-$y` has a value of its own.
    let operator = if parameter.parts.is_empty() {
        Some(String::new())
    } else if holds_many(&parameter.parts) {
        None
    } else {
        words.known(&parameter.parts)
    };
    if matches!(parameter.name.as_str(), "@" | "*") {
        return match operator.as_deref() {
            Some("") => positional(words, parameter).unwrap_or(unknown),
            Some(_) | None => unknown,
        };
    }
    let name = match parameter.prefix {
        Some('!') => match words.value(&parameter.name) {
            Some(Value::Known(name)) if is_name(&name) => name.to_string(),
            Some(_) | None => return unknown,
        },
        Some(_) | None => parameter.name.clone(),
    };
    let Some(value) = words.value(&name) else {
        // Whose value it is shows in the name, which an indirection does not have.
        return if parameter.prefix == Some('!') {
            Expanded::Partly(Partial::named(&name))
        } else {
            unknown
        };
    };
    let Some(mut operator) = operator.as_deref() else {
        // The value decides, if the rest is only for want of one.
        let default = [":-", "-", ":=", "=", ":?", "?"]
            .iter()
            .any(|sign| parameter.operator.starts_with(sign));
        return match value {
            Value::Known(text) if default && !text.is_empty() => Expanded::Text(text),
            Value::Known(_)
            | Value::Partly(_)
            | Value::Pattern(_)
            | Value::List(_)
            | Value::Unset
            | Value::Unknown(_) => unknown,
        };
    };
    // Quotes make a pattern literal; what they were is no longer to be seen.
    let patterns = operator.starts_with(['#', '%', '/', '^', ',']);
    if patterns && parameter.operator.contains(['\\', '\'', '"']) {
        return unknown;
    }
    // What its quotes protect is not split, and a backslash is not always taken off.
    let protects: &[char] = if quoted { &['\\'] } else { &['\\', '\'', '"'] };
    if parameter.operator.contains(protects) {
        return unknown;
    }
    let value = match element(words, value, &mut operator) {
        Element::One(value) => value,
        Element::All { items, joined } => {
            return match (parameter.prefix, operator) {
                (Some('#'), "") if items.iter().any(Value::splits) => unknown,
                (Some('#'), "") => Expanded::Text(Arc::from(items.len().to_string())),
                (None, "") => Expanded::Words { items, joined },
                _ => unknown,
            };
        }
        Element::Unknown => return unknown,
    };
    if let Value::Pattern(text) = &value {
        return if operator.is_empty() && parameter.prefix.is_none() {
            Expanded::Pattern(Arc::clone(text))
        } else {
            // A part of a pattern's matches: still somewhere near it.
            unknown
        };
    }
    let text = match value {
        Value::Known(text) => Some(text),
        Value::Unset => None,
        Value::Partly(partial) => {
            return match parameter.prefix {
                Some('#') => Expanded::Unknown(partial.origin),
                Some(_) | None if operator.is_empty() => Expanded::Partly(partial),
                Some(_) | None => Expanded::Partly(partial.changed()),
            };
        }
        Value::Pattern(_) | Value::List(_) | Value::Unknown(_) => return unknown,
    };
    // A tilde stands for a directory: what it is made of is not known.
    let stands = text.as_deref().is_some_and(|text| text.starts_with('~'))
        || (name == "PWD" && words.environment.variable("PWD").is_none());
    let signs = [":-", "-", ":=", "=", ":?", "?", ":+", "+"];
    let kept = operator.is_empty() || signs.iter().any(|sign| operator.starts_with(sign));
    let keeps = parameter.prefix != Some('#') && kept;
    if stands && !keeps {
        // What takes nothing off it leaves it what it is.
        let same = text.clone().filter(|_| operator.starts_with(['%', '#']));
        return match same
            .filter(|text| apply(words, Some(text.clone()), operator) == Some(text.clone()))
        {
            Some(text) => Expanded::Text(text),
            None => unknown,
        };
    }
    if parameter.prefix == Some('#') {
        let length = text.as_deref().unwrap_or_default().chars().count();
        return Expanded::Text(Arc::from(length.to_string()));
    }
    match apply(words, text, operator) {
        Some(text) => Expanded::Text(text),
        None => unknown,
    }
}

/// What a parameter becomes if what is done to it cannot be followed.
fn unknown(words: &Expander<'_>, parameter: &Parameter) -> Expanded {
    match words.value(&parameter.name) {
        Some(Value::Unknown(origin)) => Expanded::Unknown(origin),
        Some(Value::Partly(partial)) if parameter.prefix.is_none() => {
            Expanded::Partly(partial.changed())
        }
        Some(
            Value::Known(_) | Value::Partly(_) | Value::Pattern(_) | Value::List(_) | Value::Unset,
        )
        | None => Expanded::Unknown(Origin::Elsewhere),
    }
}

/// Whether a parameter may be several words even between quotes.
pub(super) fn is_many(parameter: &Parameter) -> bool {
    parameter.name == "@"
        || parameter.prefix == Some('!')
        || parameter.operator.starts_with("[@]")
        || holds_many(&parameter.parts)
}

/// Whether what stands for a value may be several words even between quotes.
fn holds_many(parts: &[Part]) -> bool {
    let mut many = false;
    readings::each_parameter(parts, readings::Within::Word, &mut |parameter| {
        many |= parameter.name == "@" || parameter.operator.starts_with("[@]");
    });
    many
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// `$@` and `$*`.
fn positional(words: &Expander<'_>, parameter: &Parameter) -> Option<Expanded> {
    if parameter.prefix.is_some() {
        return None;
    }
    let items = words.environment.positional.as_ref()?.to_vec();
    let joined = parameter.name == "*";
    Some(Expanded::Words { items, joined })
}

enum Element {
    One(Value),
    All { items: Vec<Value>, joined: bool },
    Unknown,
}

impl Element {
    /// One element of a list, whose place is known only if nothing before it may be several.
    fn at(items: &[Value], at: usize) -> Self {
        if items.iter().take(at.saturating_add(1)).any(Value::splits) {
            return Self::Unknown;
        }
        Self::One(items.get(at).cloned().unwrap_or(Value::Unset))
    }
}

/// Takes a subscript off the operator and picks what it names.
fn element(words: &Expander<'_>, value: Value, operator: &mut &str) -> Element {
    let subscript = operator.strip_prefix('[').and_then(|rest| {
        let (subscript, rest) = rest.split_once(']')?;
        *operator = rest;
        Some(subscript)
    });
    match (subscript, value) {
        (None, Value::List(items)) => Element::at(&items, 0),
        (None, value) => Element::One(value),
        (Some(all @ ("@" | "*")), Value::List(items)) => {
            // What follows is done to each element.
            if !operator.is_empty() {
                return Element::Unknown;
            }
            let items = items.to_vec();
            let joined = all == "*";
            Element::All { items, joined }
        }
        (Some(all @ ("@" | "*")), value @ (Value::Known(_) | Value::Unset))
            if operator.is_empty() =>
        {
            let items = Vec::from_iter(Some(value).filter(|value| *value != Value::Unset));
            let joined = all == "*";
            Element::All { items, joined }
        }
        // Whether that is a word depends on more than its text.
        (Some("@" | "*"), Value::Unset) => Element::Unknown,
        (Some(_), Value::Partly(partial)) => Element::One(Value::Partly(partial.changed())),
        (Some("@" | "*"), value) => Element::One(value),
        (Some(index), Value::List(items)) => {
            let Some(index) = arithmetic::evaluate(index, &|name| words.number(name)) else {
                return Element::Unknown;
            };
            let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
            if index < 0 && items.iter().any(Value::splits) {
                return Element::Unknown;
            }
            let index = if index < 0 { count + index } else { index };
            match usize::try_from(index) {
                Ok(at) => Element::at(&items, at),
                Err(_) => Element::Unknown,
            }
        }
        (Some("0"), value) => Element::One(value),
        (Some(_), _) => Element::Unknown,
    }
}

/// Applies an operator to the value of a variable, none if it is unset.
fn apply(words: &Expander<'_>, value: Option<Arc<str>>, operator: &str) -> Option<Arc<str>> {
    let text = value.clone().unwrap_or_else(|| Arc::from(""));
    if operator.is_empty() {
        return Some(text);
    }
    let empty = text.is_empty();
    for (sign, colon) in [
        (":-", true),
        (":=", true),
        (":?", true),
        ("-", false),
        ("=", false),
        ("?", false),
    ] {
        if let Some(default) = operator.strip_prefix(sign) {
            let missing = value.is_none() || (colon && empty);
            return Some(if missing { Arc::from(default) } else { text });
        }
    }
    for (sign, colon) in [(":+", true), ("+", false)] {
        if let Some(other) = operator.strip_prefix(sign) {
            let missing = value.is_none() || (colon && empty);
            return Some(Arc::from(if missing { "" } else { other }));
        }
    }
    if text.len() > MAX_MATCHED {
        return None;
    }
    let changed = match operator {
        "^^" | "@U" => text.to_uppercase(),
        ",," | "@L" => text.to_lowercase(),
        "^" | "@u" => first_letter(&text, |c| c.to_uppercase().collect()),
        "," => first_letter(&text, |c| c.to_lowercase().collect()),
        _ => return pattern_or_slice(words, &text, operator),
    };
    Some(Arc::from(changed))
}

fn first_letter(text: &str, change: impl Fn(char) -> String) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => change(first) + letters.as_str(),
        None => String::new(),
    }
}

fn pattern_or_slice(words: &Expander<'_>, text: &str, operator: &str) -> Option<Arc<str>> {
    if let Some(slice) = operator.strip_prefix(':') {
        return sliced(words, text, slice);
    }
    if let Some(rest) = operator.strip_prefix('/') {
        return replaced(text, rest);
    }
    let (sign, longest) = match operator.as_bytes() {
        [b'#', b'#', ..] => ('#', true),
        [b'#', ..] => ('#', false),
        [b'%', b'%', ..] => ('%', true),
        [b'%', ..] => ('%', false),
        _ => return None,
    };
    let pattern = operator.get(1 + usize::from(longest)..)?;
    if pattern.contains('\\') {
        return None;
    }
    let glob = Glob::new(pattern);
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    places.push(text.len());
    let fits = |at: &usize| {
        let (front, back) = text.split_at_checked(*at).unwrap_or((text, ""));
        glob.matches(if sign == '#' { front } else { back })
    };
    // The shortest front ends first; the shortest back begins last.
    let found = if (sign == '#') == longest {
        places.iter().rev().find(|at| fits(at))
    } else {
        places.iter().find(|at| fits(at))
    };
    let (front, back) = match found {
        Some(at) => text.split_at_checked(*at)?,
        None => return Some(Arc::from(text)),
    };
    Some(Arc::from(if sign == '#' { back } else { front }))
}

/// `:offset` and `:offset:length`.
fn sliced(words: &Expander<'_>, text: &str, slice: &str) -> Option<Arc<str>> {
    let (offset, length) = match slice.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (slice, None),
    };
    let number = |text: &str| arithmetic::evaluate(text, &|name| words.number(name));
    let letters: Vec<char> = text.chars().collect();
    let count = i64::try_from(letters.len()).ok()?;
    let offset = number(offset)?;
    let from = if offset < 0 { count + offset } else { offset };
    if from < 0 || from > count {
        return Some(Arc::from(""));
    }
    let to = match length {
        None => count,
        Some(length) => {
            let length = number(length)?;
            if length < 0 {
                count + length
            } else {
                (from + length).min(count)
            }
        }
    };
    if to < from {
        return None;
    }
    let piece = letters.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)?;
    Some(Arc::from(piece.iter().collect::<String>()))
}

/// `/pattern/text`, `//…`, `/#…`, `/%…`.
fn replaced(text: &str, rest: &str) -> Option<Arc<str>> {
    let (mode, rest) = match rest.chars().next() {
        Some(mode @ ('/' | '#' | '%')) => (Some(mode), rest.get(1..)?),
        Some(_) | None => (None, rest),
    };
    let (pattern, by) = rest.split_once('/').unwrap_or((rest, ""));
    // `&` stands for the match in newer shells.
    if pattern.is_empty() || pattern.contains('\\') || by.contains(['\\', '&']) {
        return None;
    }
    let glob = Glob::new(pattern);
    if let Some(literal) = glob.literal() {
        return Some(Arc::from(match mode {
            Some('/') => text.replace(literal, by),
            Some('#') => text
                .strip_prefix(literal)
                .map_or_else(|| text.to_owned(), |tail| format!("{by}{tail}")),
            Some('%') => text
                .strip_suffix(literal)
                .map_or_else(|| text.to_owned(), |head| format!("{head}{by}")),
            Some(_) | None => text.replacen(literal, by, 1),
        }));
    }
    if matches!(mode, Some('#' | '%')) || text.len() > 256 {
        return None;
    }
    let mut made = String::new();
    let mut left = text;
    while !left.is_empty() {
        // The longest match at each place.
        let end = left
            .char_indices()
            .map(|(at, letter)| at + letter.len_utf8())
            .rev()
            .find(|end| left.get(..*end).is_some_and(|piece| glob.matches(piece)));
        match end {
            Some(end) => {
                made.push_str(by);
                left = left.get(end..)?;
                if mode != Some('/') {
                    break;
                }
            }
            None => {
                let letter = left.chars().next()?;
                made.push(letter);
                left = left.get(letter.len_utf8()..)?;
            }
        }
    }
    made.push_str(left);
    Some(Arc::from(made))
}
