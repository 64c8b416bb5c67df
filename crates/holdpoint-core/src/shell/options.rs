//! Where a program's options end and its operands begin.
//!
//! Follows the conventions of getopt for an option list given as data. An option that is not
//! in the list may or may not take the next word; both readings are returned, so that a
//! command hidden behind an unknown option is still found. What options mean is left to others.

use super::texts::Argument;
use crate::budget::{Budget, Resource};

/// A program's options, separated by blanks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    /// Options that take a value.
    pub(super) values: &'static str,
    /// Options that take none.
    pub(super) flags: &'static str,
}

/// Whether options may follow operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Everything from the first operand on is operands.
    OptionsFirst,
    /// Options may stand anywhere before `--`.
    Mixed,
}

/// One way to read a command's words.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// Options by their listed name, with their values.
    pub(super) options: Vec<(String, Option<Argument>)>,
    /// Places of the operands.
    pub(super) operands: Vec<usize>,
}

impl Reading {
    /// The value of the first of these options that is given.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Argument> {
        self.values(names).next()
    }

    /// The values of each time one of these options is given.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Argument> {
        let named = |(name, _): &&(String, Option<Argument>)| names.contains(&name.as_str());
        self.options
            .iter()
            .filter(named)
            .filter_map(|(_, value)| value.as_ref())
    }

    /// Whether one of these options is given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }
}

/// Readings followed whatever follows an unknown option; each such option could double them.
/// Beyond, an option is only taken to have a value where that is what could hide a command: the
/// next word is no option, and options stop at the first operand.
const MAX_READINGS: usize = 4;

/// The ways to read the words of a command from a place on.
pub(super) fn read(
    words: &[Argument],
    from: usize,
    spec: Spec,
    order: Order,
    budget: &Budget,
) -> Vec<Reading> {
    let mut finished = Vec::new();
    let mut open = vec![(from, Reading::default())];
    while let Some((mut at, mut reading)) = open.pop() {
        while let Some(word) = words.get(at) {
            match step(word, spec) {
                Step::Operand if order == Order::OptionsFirst => break,
                Step::Operand => reading.operands.push(at),
                Step::End => {
                    at += 1;
                    break;
                }
                Step::Flags(names) => {
                    let flags = names.into_iter().map(|name| (name, None));
                    reading.options.extend(flags);
                }
                Step::Attached(names, value) => {
                    push(&mut reading, names, Some(value));
                }
                Step::Separate(names) => {
                    at += 1;
                    push(&mut reading, names, words.get(at).cloned());
                }
                Step::Unknown => {
                    let hides = order == Order::OptionsFirst
                        && words
                            .get(at + 1)
                            .is_some_and(|next| !next.unquoted().starts_with('-'));
                    if open.len() + finished.len() + 1 < MAX_READINGS || hides {
                        let copied = reading.options.len() + 1;
                        if budget.spend(Resource::Steps, copied).is_err() {
                            budget.overrun();
                            return finished;
                        }
                        open.push((at + 2, reading.clone()));
                    }
                }
            }
            at += 1;
        }
        reading.operands.extend(at..words.len());
        finished.push(reading);
    }
    finished
}

fn push(reading: &mut Reading, mut names: Vec<String>, value: Option<Argument>) {
    let last = names.pop();
    reading
        .options
        .extend(names.into_iter().map(|name| (name, None)));
    reading.options.extend(last.map(|name| (name, value)));
}

enum Step {
    Operand,
    End,
    Flags(Vec<String>),
    /// The last name has this value.
    Attached(Vec<String>, Argument),
    /// The last name has the next word as its value.
    Separate(Vec<String>),
    Unknown,
}

fn step(word: &Argument, spec: Spec) -> Step {
    let text = word.unquoted();
    if text == "--" {
        return Step::End;
    }
    if listed(spec.values, text) {
        return Step::Separate(vec![text.to_owned()]);
    }
    if listed(spec.flags, text) {
        return Step::Flags(vec![text.to_owned()]);
    }
    if text.starts_with("--") {
        return long(word, text, spec);
    }
    match text.strip_prefix('-') {
        None | Some("") => Step::Operand,
        // An old spelling of a number, as in `nice -10`.
        Some(rest) if rest.bytes().all(|byte| byte.is_ascii_digit()) => Step::Flags(Vec::new()),
        Some(rest) => short(word, rest, spec),
    }
}

fn long(word: &Argument, text: &str, spec: Spec) -> Step {
    if let Some((name, _)) = text.split_once('=') {
        let full = abbreviated(spec.values, name).unwrap_or(name);
        return Step::Attached(vec![full.to_owned()], word.tail(name.len() + 1));
    }
    if let Some(full) = abbreviated(spec.values, text) {
        return Step::Separate(vec![full.to_owned()]);
    }
    match abbreviated(spec.flags, text) {
        Some(full) => Step::Flags(vec![full.to_owned()]),
        None => Step::Unknown,
    }
}

fn short(word: &Argument, letters: &str, spec: Spec) -> Step {
    let mut names = Vec::new();
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        if listed(spec.values, &name) {
            names.push(name);
            let rest = 1 + at + letter.len_utf8();
            if rest > letters.len() {
                return Step::Separate(names);
            }
            return Step::Attached(names, word.tail(rest));
        }
        if !listed(spec.flags, &name) {
            return Step::Unknown;
        }
        names.push(name);
    }
    Step::Flags(names)
}

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

fn abbreviated(list: &'static str, name: &str) -> Option<&'static str> {
    list.split_ascii_whitespace()
        .find(|known| name.len() > 2 && known.starts_with(name))
}
