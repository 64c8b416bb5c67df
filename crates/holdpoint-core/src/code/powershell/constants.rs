//! Variables of PowerShell that can only hold one text.
//!
//! A variable counts if the code gives it a value in one place, that value is a text that depends on
//! nothing, and nothing else in the code could give it another. What could is looked for in the text
//! as a whole, strings included: too much found only means that less is known.

use std::collections::{HashMap, HashSet};

/// Words that may give any variable a value, in lower case.
const ASSIGNERS: [&str; 12] = [
    "variable",
    "sv ",
    "nv ",
    "[ref]",
    "-ov",
    "-outv",
    "-pv",
    "-pipelinev",
    "param",
    "function",
    "filter",
    "-errorv",
];

/// What the code says of its variables.
#[derive(Default)]
pub(super) struct Constants {
    /// Variables with one assignment, of which nothing is known yet.
    once: HashSet<String>,
    /// Variables the code gives a value at all.
    assigned: HashSet<String>,
    known: HashMap<String, Held>,
}

/// What a variable holds.
#[derive(Clone)]
pub(super) enum Held {
    Text(String),
    /// A block, which was read where it stands.
    Block,
}

impl Constants {
    pub(super) fn of(code: &str) -> Self {
        let mut constants = Self::default();
        let mut spoiled: HashSet<String> = HashSet::new();
        let lower = code.to_ascii_lowercase();
        let any = ASSIGNERS.iter().any(|word| lower.contains(word));
        let mut rest = lower.as_str();
        let mut before = "";
        while let Some(at) = rest.find('$') {
            let (front, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            if !front.is_empty() {
                before = front;
            }
            let after = after.strip_prefix('$').unwrap_or_default();
            let inner = after.strip_prefix('{').unwrap_or(after);
            let end = inner
                .find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | ':'))
                .unwrap_or(inner.len());
            let (name, behind) = inner.split_at_checked(end).unwrap_or((inner, ""));
            let behind = behind.strip_prefix('}').unwrap_or(behind).trim_start();
            let changes = ["+=", "-=", "*=", "/=", "%=", "??=", "++", "--", ",", "in "];
            let base = name.rsplit(':').next().unwrap_or(name).to_owned();
            if changes.iter().any(|sign| behind.starts_with(sign))
                || before.trim_end().ends_with([',', '+', '-'])
                || (name.contains(':') && !name.starts_with("env:") && behind.starts_with('='))
            {
                spoiled.insert(base.clone());
            }
            if behind.starts_with('=') && !constants.assigned.insert(base.clone()) {
                spoiled.insert(base);
            }
            rest = after;
            before = "";
        }
        if !any {
            constants.once = constants.assigned.difference(&spoiled).cloned().collect();
        }
        constants
    }

    /// Remembers what a variable is given, if it can never hold anything else.
    pub(super) fn give(&mut self, name: &str, held: Held) {
        if self.once.contains(name) {
            self.known.insert(name.to_owned(), held);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Held> {
        self.known.get(name)
    }

    /// Whether the code gives a variable a value; a block it holds was then read where it stands.
    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }
}
