//! What an allow says in so many words.
//!
//! `head*` allows `head ~/.aws/credentials` as it allows a thousand harmless things: whoever wrote it
//! was not thinking of credentials. `rm -rf build*` can be about nothing but deleting. The difference
//! is found by reading what a rule spells out, its wildcards filled with nothing in particular, as a
//! call of its own: if that alone raises a question, the rule answers the question.

use std::cell::RefCell;

use serde_json::{Map, Value};

use super::{Judgement, matching_rules};
use crate::call::ToolCall;
use crate::catalogue::Shape;
use crate::glob::Glob;
use crate::understand::{collect_texts, understand};

/// The most rules read in one judgement; a line that needs more of them is asked about.
const MAX_READ: usize = 64;

/// What wildcards are filled with: some word, or nothing.
const FILLINGS: [&str; 2] = ["x", ""];

/// What of a call an allow says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spelled {
    /// Its tool, whatever it is given.
    Tool,
    /// A command, as a pattern.
    Command(String),
    /// The text form of a call, as a pattern.
    Form(String),
    /// An argument and what it starts with.
    Argument(String, String),
    /// A file, as a pattern.
    Place(String),
    /// Nothing: it speaks of what a call does.
    Effects,
}

/// What was read of rules so far, with the questions each raises.
#[derive(Debug, Default)]
pub(super) struct Spellings(RefCell<Vec<(Spelled, Vec<String>)>>);

impl Judgement<'_> {
    /// Whether what an allow spells out raises the question of this rule by itself.
    pub(super) fn says(&self, spelled: &Spelled, rule: &str) -> bool {
        if let Spelled::Form(pattern) = spelled
            && Glob::new(pattern).only().is_some()
        {
            // The call, letter by letter.
            return true;
        }
        let mut read = self.spellings.0.borrow_mut();
        if let Some((_, raised)) = read.iter().find(|(known, _)| known == spelled) {
            return raised.iter().any(|one| one == rule);
        }
        if read.len() >= MAX_READ {
            return false;
        }
        let calls = self.calls_spelled(spelled);
        let raised: Vec<String> = calls
            .into_iter()
            .flat_map(|call| {
                let action = understand(call, self.policy, &self.around);
                matching_rules(&action, self.policy.packs(), &self.around)
            })
            .collect();
        let says = raised.iter().any(|one| one == rule);
        read.push((spelled.clone(), raised));
        says
    }

    /// The calls a rule spells out.
    fn calls_spelled(&self, spelled: &Spelled) -> Vec<ToolCall> {
        let inputs: Vec<Value> = match spelled {
            Spelled::Tool => vec![Value::Object(Map::new())],
            Spelled::Effects => Vec::new(),
            Spelled::Command(pattern) => {
                let key = match self.view.shape {
                    Shape::Shell { command } => command,
                    Shape::Plain => "command",
                };
                let texts = filled(pattern).into_iter();
                texts.map(|text| input([(key, text)])).collect()
            }
            Spelled::Form(pattern) => filled(pattern).iter().map(|text| arguments(text)).collect(),
            Spelled::Argument(argument, value) => vec![input([(argument.as_str(), value.clone())])],
            Spelled::Place(pattern) => {
                let texts = filled(pattern);
                texts.iter().map(|text| self.input_naming(text)).collect()
            }
        };
        let tool = self.view.call.tool();
        let calls = inputs.into_iter().filter_map(|input| {
            let call = ToolCall::new(tool, input).ok()?;
            Some(match self.view.call.cwd() {
                Some(cwd) => call.in_directory(cwd),
                None => call,
            })
        });
        calls.collect()
    }

    /// The call's own arguments with another file in place of each it names.
    fn input_naming(&self, file: &str) -> Value {
        let mut input = self.view.call.input().clone();
        for value in input.values_mut() {
            let mut names = false;
            collect_texts(value, &mut |text| {
                names |= self.view.paths().iter().any(|path| path.text == text);
            });
            if names {
                *value = Value::from(file);
            }
        }
        Value::Object(input)
    }
}

/// A pattern with its wildcards filled; each text once.
fn filled(pattern: &str) -> Vec<String> {
    let glob = Glob::new(pattern);
    let mut texts: Vec<String> = FILLINGS.iter().map(|star| glob.example(star)).collect();
    texts.dedup();
    texts
}

fn input<'k>(pairs: impl IntoIterator<Item = (&'k str, String)>) -> Value {
    let pairs = pairs.into_iter();
    let map: Map<String, Value> = pairs
        .map(|(key, text)| (key.to_owned(), Value::String(text)))
        .collect();
    Value::Object(map)
}

/// The arguments of a text form: `name(key=value, key=value)`.
fn arguments(form: &str) -> Value {
    let inner = form.split_once('(').map_or("", |(_, inner)| inner);
    let inner = inner.strip_suffix(')').unwrap_or(inner);
    let pairs = inner.split(", ").filter_map(|one| one.split_once('='));
    input(pairs.map(|(key, value)| (key, value.to_owned())))
}
