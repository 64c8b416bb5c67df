//! Variables of make and their expansion.
//!
//! An expansion gives every text it could come to: one, unless a variable is set in branches of a
//! condition. What is not known stands as `${NAME}`, so that a shell reader sees a variable.

use std::collections::HashMap;

use super::functions;

/// Texts one expansion may come to, since each is a line of its own; with more, the variable is
/// left unknown.
const MAX_TEXTS: usize = 6;
/// References inside references followed: each is a step down the stack. Beyond this and the
/// limits below, the recipe is said to be cut.
const MAX_DEPTH: usize = 40;
/// References followed, and bytes looked through for them, in one run of make.
const MAX_STEPS: usize = 100_000;
const MAX_BYTES: usize = 4 << 20;
/// Longest text of one expansion.
const MAX_TEXT: usize = 64 << 10;

/// How a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// `=`: expanded when used.
    Recursive,
    /// `:=`: expanded now.
    Simple,
    /// `?=`.
    IfUnset,
    /// `+=`.
    Append,
    /// `!=`: the output of a command.
    Shell,
}

/// A text an expansion comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// Something in it is not known.
    pub(super) unknown: bool,
}

impl Expanded {
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            unknown: false,
        }
    }

    /// A variable for the shell reader; a name no shell knows gets one it does.
    pub(super) fn unknown(name: &str) -> Self {
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.starts_with(|first: char| !first.is_ascii_digit());
        let name = if is_name { name } else { "MAKE_UNKNOWN" };
        Self {
            text: format!("${{{name}}}"),
            unknown: true,
        }
    }
}

/// A value a variable can have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    text: String,
    /// To be expanded when used.
    recursive: bool,
    unknown: bool,
}

#[derive(Clone, Debug, Default)]
struct Variable {
    values: Vec<Value>,
    /// Only set in one branch of a condition.
    maybe_unset: bool,
}

/// All variables, and the commands their expansion ran.
pub(super) struct Variables {
    set: HashMap<String, Variable>,
    overrides: HashMap<String, String>,
    locals: Vec<(String, Value)>,
    /// Where the locals of each rule or call begin.
    scopes: Vec<usize>,
    commands: Vec<(String, bool)>,
    steps: usize,
    bytes: usize,
    depth: usize,
    unknown: bool,
    /// A limit was met.
    cut: bool,
}

impl Variables {
    pub(super) fn new(overrides: &[(&str, &str)]) -> Self {
        Self {
            set: HashMap::new(),
            overrides: overrides
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            locals: Vec::new(),
            scopes: Vec::new(),
            commands: Vec::new(),
            steps: 0,
            bytes: 0,
            depth: 0,
            unknown: false,
            cut: false,
        }
    }

    /// Whether something was met whose effect is not known.
    pub(super) fn unknown(&self) -> bool {
        self.unknown
    }

    /// Whether something was left out because there is too much of it.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    pub(super) fn mark_cut(&mut self) {
        self.cut = true;
    }

    pub(super) fn mark_unknown(&mut self) {
        self.unknown = true;
    }

    /// The commands run since the last time.
    pub(super) fn take_commands(&mut self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.commands)
    }

    /// Notes a command that make itself runs; its output is not known.
    pub(super) fn run(&mut self, command: &Expanded) {
        let text = command.text.trim();
        if !text.is_empty() && !self.commands.iter().any(|(known, _)| known == text) {
            self.commands.push((text.to_owned(), command.unknown));
        }
    }

    /// Sets a variable as the file says.
    pub(super) fn assign(&mut self, name: &str, flavour: Flavour, text: &str, in_condition: bool) {
        let added = match flavour {
            Flavour::Recursive | Flavour::IfUnset | Flavour::Append => {
                vec![Value {
                    text: text.to_owned(),
                    recursive: true,
                    unknown: false,
                }]
            }
            Flavour::Simple => self
                .expand(text)
                .into_iter()
                .map(|expanded| Value {
                    text: expanded.text,
                    recursive: false,
                    unknown: expanded.unknown,
                })
                .collect(),
            Flavour::Shell => {
                for command in self.expand(text) {
                    self.run(&command);
                }
                let output = Expanded::unknown(name);
                vec![Value {
                    text: output.text,
                    recursive: false,
                    unknown: true,
                }]
            }
        };
        let mut added = added;
        // `X += $(shell …)` runs now if `X` was set by `:=`, and at every use otherwise.
        if flavour == Flavour::Append {
            self.expand(text);
        }
        let variable = self.set.entry(name.to_owned()).or_default();
        let was_unset = variable.values.is_empty();
        match flavour {
            Flavour::IfUnset if !was_unset => return,
            Flavour::Append if !was_unset => {
                let mut longer: Vec<Value> = variable
                    .values
                    .iter()
                    .flat_map(|old| added.iter().map(move |new| appended(old, new)))
                    .collect();
                if in_condition {
                    longer.splice(0..0, variable.values.drain(..));
                }
                variable.values = longer;
            }
            Flavour::Recursive
            | Flavour::Simple
            | Flavour::IfUnset
            | Flavour::Append
            | Flavour::Shell => {
                if in_condition {
                    variable.maybe_unset = was_unset;
                    variable.values.append(&mut added);
                } else {
                    variable.maybe_unset = false;
                    variable.values = added;
                }
            }
        }
        variable.values.truncate(MAX_TEXTS + 1);
    }

    /// Begins a rule: its automatic variables.
    pub(super) fn enter(&mut self, target: &str, prerequisites: &[String], stem: Option<&str>) {
        self.scopes.push(self.locals.len());
        let all = prerequisites.join(" ");
        let first = prerequisites.first().cloned().unwrap_or_default();
        for (name, value) in [
            ("@", target),
            ("<", first.as_str()),
            ("^", all.as_str()),
            ("+", all.as_str()),
            ("?", all.as_str()),
            ("|", ""),
            ("*", stem.unwrap_or_default()),
            ("%", ""),
        ] {
            self.locals.push((
                name.to_owned(),
                Value {
                    text: value.to_owned(),
                    recursive: false,
                    unknown: false,
                },
            ));
            for (suffix, part) in [("D", directory(value)), ("F", file_name(value))] {
                let value = Value {
                    text: part,
                    recursive: false,
                    unknown: false,
                };
                self.locals.push((format!("{name}{suffix}"), value));
            }
        }
    }

    /// Begins a call: its arguments are `$(1)`, `$(2)` …
    pub(super) fn enter_call(&mut self, arguments: &[Expanded]) {
        self.scopes.push(self.locals.len());
        for (index, argument) in arguments.iter().enumerate() {
            let Expanded { text, unknown } = argument.clone();
            self.locals.push((
                index.to_string(),
                Value {
                    text,
                    recursive: false,
                    unknown,
                },
            ));
        }
    }

    /// Sets a variable for the rule or loop at hand.
    pub(super) fn set_local(&mut self, name: &str, value: &str) {
        let value = Value {
            text: value.to_owned(),
            recursive: true,
            unknown: false,
        };
        self.locals.push((name.to_owned(), value));
    }

    /// Ends what the last `enter` began.
    pub(super) fn leave(&mut self) {
        let from = self.scopes.pop().unwrap_or(0);
        self.locals.truncate(from);
    }

    /// The only value of a variable, if it is known.
    pub(super) fn value(&mut self, name: &str) -> Option<String> {
        if !self.set.contains_key(name) {
            return None;
        }
        let mut texts = self.reference(name);
        texts
            .pop()
            .map(|expanded| expanded.text)
            .filter(|text| !text.is_empty())
    }

    /// The first text an expansion comes to, for names.
    pub(super) fn first(&mut self, text: &str) -> String {
        self.expand(text)
            .into_iter()
            .next()
            .unwrap_or_default()
            .text
    }

    /// Every text `text` could come to.
    pub(super) fn expand(&mut self, text: &str) -> Vec<Expanded> {
        if self.depth >= MAX_DEPTH {
            self.unknown = true;
            self.cut = true;
            return vec![Expanded::unknown("MAKE_UNKNOWN")];
        }
        self.depth += 1;
        let mut texts = vec![Expanded::default()];
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            self.cut |= push(&mut texts, before);
            if self.steps >= MAX_STEPS || self.bytes >= MAX_BYTES {
                self.unknown = true;
                self.cut = true;
                texts = vec![Expanded::unknown("MAKE_UNKNOWN")];
                rest = "";
                break;
            }
            self.steps += 1;
            let (pieces, after) = self.after_dollar(after);
            texts = joined(texts, pieces, &mut self.cut);
            self.bytes += texts.iter().map(|text| text.text.len()).sum::<usize>();
            rest = after;
        }
        self.cut |= push(&mut texts, rest);
        self.depth -= 1;
        texts
    }

    /// What a `$` and what follows it come to, and the rest.
    fn after_dollar<'t>(&mut self, after: &'t str) -> (Vec<Expanded>, &'t str) {
        let Some(first) = after.chars().next() else {
            return (vec![Expanded::known("$")], after);
        };
        let behind = after.get(first.len_utf8()..).unwrap_or_default();
        match first {
            '$' => (vec![Expanded::known("$")], behind),
            '(' | '{' => {
                let close = if first == '(' { ')' } else { '}' };
                let end = closing(behind, first, close);
                self.bytes += end;
                let inside = behind.get(..end).unwrap_or_default();
                let rest = behind.get(end + 1..).unwrap_or_default();
                (self.inside(inside), rest)
            }
            _ => {
                let name = after.get(..first.len_utf8()).unwrap_or_default();
                (self.reference(name), behind)
            }
        }
    }

    /// What stands between `$(` and `)`: a function or a variable.
    fn inside(&mut self, inside: &str) -> Vec<Expanded> {
        if let Some((name, arguments)) = functions::called(inside) {
            return functions::call(self, name, arguments);
        }
        let mut texts = Vec::new();
        for name in self.expand(inside) {
            if name.unknown {
                texts.push(Expanded::unknown("MAKE_UNKNOWN"));
                continue;
            }
            let replaced = name.text.split_once(':').and_then(|(name, change)| {
                let (from, to) = change.split_once('=')?;
                Some((name, from, to))
            });
            match replaced {
                Some((name, from, to)) => {
                    texts.extend(self.reference(name).into_iter().map(|value| Expanded {
                        text: super::words::replaced(&value.text, from, to),
                        unknown: value.unknown,
                    }))
                }
                None => texts.extend(self.reference(name.text.trim())),
            }
        }
        texts
    }

    /// The values of a variable.
    pub(super) fn reference(&mut self, name: &str) -> Vec<Expanded> {
        let local = self.locals.iter().rev().find(|(local, _)| local == name);
        let mut unset = false;
        let values: Vec<Value> = if let Some((_, value)) = local {
            let value = value.clone();
            // A target's own `X += y` refers to the variable outside.
            let refers = value.recursive && value.text.starts_with(&format!("$({name})"));
            if refers {
                self.outside(name, &value)
            } else {
                vec![value]
            }
        } else if let Some(value) = self.overrides.get(name) {
            vec![Value {
                text: value.clone(),
                recursive: true,
                unknown: false,
            }]
        } else if let Some(variable) = self.set.get(name) {
            unset = variable.maybe_unset;
            variable.values.clone()
        } else if let Some((_, value)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            vec![Value {
                text: (*value).to_owned(),
                recursive: true,
                unknown: false,
            }]
        } else {
            return vec![Expanded::unknown(name)];
        };
        let mut texts = Vec::new();
        for value in values {
            if value.recursive {
                texts.extend(self.expand(&value.text));
            } else {
                texts.push(Expanded {
                    text: value.text,
                    unknown: value.unknown,
                });
            }
        }
        if unset {
            texts.push(Expanded::unknown(name));
        }
        if texts.len() > MAX_TEXTS {
            texts = vec![Expanded::unknown(name)];
        }
        texts
    }

    /// The values of a variable set for all targets, with what one target appends.
    fn outside(&self, name: &str, added: &Value) -> Vec<Value> {
        let tail = added.text.get(name.len() + 3..).unwrap_or_default();
        let new = Value {
            text: tail.trim_start().to_owned(),
            recursive: true,
            unknown: false,
        };
        match self.set.get(name) {
            Some(variable) => variable
                .values
                .iter()
                .map(|old| appended(old, &new))
                .collect(),
            None => vec![new],
        }
    }
}

/// Where the reference closes that has been opened before `text`.
fn closing(text: &str, open: char, close: char) -> usize {
    let mut depth = 0usize;
    for (at, char) in text.char_indices() {
        if char == open {
            depth += 1;
        } else if char == close {
            match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return at,
            }
        }
    }
    text.len()
}

fn appended(old: &Value, new: &Value) -> Value {
    let escaped = |value: &Value| {
        if value.recursive {
            value.text.clone()
        } else {
            value.text.replace('$', "$$")
        }
    };
    let text = match (old.recursive, new.recursive) {
        (false, false) => format!("{} {}", old.text, new.text),
        _ => format!("{} {}", escaped(old), escaped(new)),
    };
    Value {
        text,
        recursive: old.recursive || new.recursive,
        unknown: old.unknown || new.unknown,
    }
}

/// Adds to every text; says whether that made one too long.
fn push(texts: &mut [Expanded], more: &str) -> bool {
    let mut cut = false;
    for text in texts {
        if text.text.len() + more.len() > MAX_TEXT {
            text.unknown = true;
            cut = true;
        } else {
            text.text.push_str(more);
        }
    }
    cut
}

/// Every text followed by every piece; too many become one unknown.
fn joined(texts: Vec<Expanded>, pieces: Vec<Expanded>, cut: &mut bool) -> Vec<Expanded> {
    let pieces = if texts.len() * pieces.len() > MAX_TEXTS {
        vec![Expanded::unknown("MAKE_UNKNOWN")]
    } else {
        pieces
    };
    let mut all = Vec::with_capacity(texts.len() * pieces.len());
    for text in &texts {
        for piece in &pieces {
            let mut whole = vec![text.clone()];
            *cut |= push(&mut whole, &piece.text);
            for mut one in whole {
                one.unknown |= piece.unknown;
                all.push(one);
            }
        }
    }
    all
}

fn directory(name: &str) -> String {
    name.rsplit_once('/')
        .map_or_else(|| ".".to_owned(), |(directory, _)| directory.to_owned())
}

fn file_name(name: &str) -> String {
    name.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Variables make sets itself, as far as recipes use them.
const BUILT_IN: &[(&str, &str)] = &[
    ("MAKE", "make"),
    ("MAKE_COMMAND", "make"),
    ("MAKEFLAGS", ""),
    ("MFLAGS", ""),
    ("MAKELEVEL", "0"),
    ("CURDIR", "$${PWD}"),
    ("SHELL", "/bin/sh"),
    (".SHELLFLAGS", "-c"),
    ("RM", "rm -f"),
    ("CC", "cc"),
    ("CXX", "g++"),
    ("CPP", "$(CC) -E"),
    ("LD", "ld"),
    ("AR", "ar"),
    ("AS", "as"),
    ("FC", "f77"),
    ("LEX", "lex"),
    ("YACC", "yacc"),
    ("ARFLAGS", "rv"),
];
