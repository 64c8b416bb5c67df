//! What `rules/powershell.toml` says of cmdlets, parameters, kinds and variables; tables made by `build.rs`.

/// A name of a shell's variable that nothing gives a value.
pub(super) const UNKNOWN_VARIABLE: &str = "PSVARIABLE";

/// What a cmdlet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// What this line does.
    Line(&'static str),
    Look,
    List,
    Read,
    Remove,
    Write,
    Append,
    Create,
    Change,
    Fetch,
    Evaluate,
    Start,
    Stop,
    Blocks,
    Make,
    Question,
}

/// A cmdlet as it is described.
#[derive(Debug)]
pub(super) struct Cmdlet {
    /// The name rules know it by.
    pub(super) name: &'static str,
    pub(super) does: Does,
    /// The parameters its operands are.
    pub(super) positions: &'static [&'static str],
    switches: &'static [&'static str],
    values: &'static [&'static str],
    /// `-WhatIf` makes it do nothing.
    pub(super) dry: bool,
}

/// What follows a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    Unknown,
}

/// The cmdlet of a name or alias in lower case.
pub(super) fn cmdlet(lower: &str) -> Option<&'static Cmdlet> {
    let at = NAMES.binary_search_by_key(&lower, |(name, _)| name).ok()?;
    NAMES.get(at).and_then(|(_, number)| CMDLETS.get(*number))
}

/// Whether a parameter of a cmdlet takes a value. What may be a switch is one: the word behind it
/// then counts as an operand as well.
pub(super) fn takes(cmdlet: Option<&Cmdlet>, given: &str) -> Takes {
    let begins = |names: &[&str]| names.iter().any(|name| name.starts_with(given));
    let own = |names: fn(&Cmdlet) -> &'static [&'static str]| {
        cmdlet.is_some_and(|one| begins(names(one)))
    };
    let values = own(|one| one.values) || own(|one| one.positions) || begins(PLACES);
    let switches = own(|one| one.switches) || begins(SWITCHES);
    match (switches, values) {
        (true, _) => Takes::Nothing,
        (false, true) => Takes::Value,
        (false, false) => Takes::Unknown,
    }
}

pub(super) fn is_place(parameter: &str) -> bool {
    PLACES.contains(&parameter)
}

/// Whether a parameter, cut short, may be one whose value is a place.
pub(super) fn may_be_place(given: &str) -> bool {
    PLACES.iter().any(|name| name.starts_with(given))
}

/// `Verb-Noun` with a verb of cmdlets that look.
pub(super) fn looks(lower: &str) -> bool {
    has_verb(lower, LOOKS)
}

/// `Verb-Noun` with any verb of a cmdlet.
pub(super) fn is_cmdlet(lower: &str) -> bool {
    has_verb(lower, VERBS)
}

fn has_verb(lower: &str, verbs: &[&str]) -> bool {
    lower.split_once('-').is_some_and(|(verb, noun)| {
        listed(verbs, verb) && noun.starts_with(|letter: char| letter.is_ascii_alphabetic())
    })
}

/// A cmdlet's name as rules write it.
pub(super) fn known_name(name: &str) -> Option<&'static str> {
    NAMED
        .iter()
        .copied()
        .find(|known| known.eq_ignore_ascii_case(name))
}

pub(super) fn is_program(lower: &str) -> bool {
    listed(PROGRAMS, lower)
}

pub(super) fn is_keyword(lower: &str) -> bool {
    listed(KEYWORDS, lower)
}

pub(super) fn is_harmless_method(lower: &str) -> bool {
    listed(METHODS, lower)
}

pub(super) fn is_harmless_kind(lower: &str) -> bool {
    listed(KINDS, lower)
}

pub(super) fn is_property(lower: &str) -> bool {
    listed(MEMBERS, lower)
}

/// The place a variable holds.
pub(super) fn variable(lower: &str) -> Option<&'static str> {
    let found = VARIABLES
        .binary_search_by_key(&lower, |(name, _)| name)
        .ok()?;
    VARIABLES.get(found).map(|(_, place)| *place)
}

/// The program that does what a static method does.
pub(super) fn static_method(kind: &str, method: &str) -> Option<&'static str> {
    let name = format!("{kind}::{method}");
    let found = STATIC
        .binary_search_by_key(&name.as_str(), |(name, _)| name)
        .ok()?;
    STATIC.get(found).map(|(_, program)| *program)
}

fn listed(list: &[&str], name: &str) -> bool {
    list.binary_search(&name).is_ok()
}

include!(concat!(env!("OUT_DIR"), "/powershell.rs"));
