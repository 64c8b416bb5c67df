//! What is left of a call's text when it is recorded or shown: redacted, and no longer than is of use.
//!
//! Long text is cut twice, far behind the limit before it is redacted and at the limit after, so that
//! no half of a secret is left.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use holdpoint_core::text::redaction::{Marker, Redacted, RedactedJson, Redactor};
use holdpoint_core::{Decision, ToolCall};
use serde_json::{Map, Value};

/// The most bytes of a command that are recorded, and of any other argument: a record says what was
/// asked, it is no copy of the files that were written. More is cut, and the cut is marked.
const MAX_COMMAND: usize = 8 << 10;
const MAX_ARGUMENT: usize = 400;

/// A secret is no longer than this, so what is cut this far behind its end cannot show half of one.
pub const MAX_SECRET: usize = 16 << 10;

/// The most arguments that are recorded, counting what is inside of lists and objects.
const MAX_ARGUMENTS: usize = 100;

/// The most bytes of the name of an argument that is recorded: no tool has longer ones, and of a longer one only
/// the length is.
const MAX_KEY: usize = 128;

/// The most bytes of all arguments together, so that a record with them is no longer than any may be.
const MAX_INPUT: usize = 40 << 10;

/// How much is left of the arguments of a call.
struct Room {
    /// How many arguments, counting what is inside of lists and objects.
    arguments: usize,
    /// How many bytes of the text under a key.
    text: fn(&str) -> usize,
    /// How many bytes of all of it as JSON.
    whole: usize,
}

/// A record says what was asked.
const TO_RECORD: Room = Room {
    arguments: MAX_ARGUMENTS,
    text: limit_of,
    whole: MAX_INPUT,
};

/// Whoever decides about a call sees all of it, unless it is longer than anybody reads.
const TO_DECIDE: Room = Room {
    arguments: 10_000,
    text: |_| 256 << 10,
    whole: 512 << 10,
};

/// The most bytes of a text that is shown; nobody reads more, and more is cut.
const MAX_SHOWN: usize = 64 << 10;

/// The most bytes of reasons and parts that are recorded: a paragraph. More is cut.
const MAX_TEXT: usize = 1000;

/// What takes secrets out of what people are shown. What is no secret stays: whoever reads it has to
/// recognise the call.
pub fn showing() -> Redactor {
    Redactor::new()
        .keeping(Marker::Email)
        .keeping(Marker::Phone)
}

/// Text as it is shown to anybody: without secrets, and no longer than is of use.
pub fn text_without_secrets(text: &str) -> String {
    let whole = cut(text, MAX_SHOWN + MAX_SECRET);
    let redacted = showing().text(whole).shortened(MAX_SHOWN);
    redacted.into_string()
}

/// The arguments of a call as they are shown to anybody: without secrets, the long ones cut.
pub fn arguments_without_secrets(call: &ToolCall) -> Map<String, Value> {
    value_without_secrets(&Value::Object(call.input().clone()))
}

/// The fields of a value as they are shown to anybody: without secrets, the long ones cut.
pub(crate) fn value_without_secrets(value: &Value) -> Map<String, Value> {
    fields(recorded(&showing(), value))
}

/// The fields of a value as they are sent to somebody who decides: without secrets, and complete unless they are enormous.
pub(crate) fn whole_without_secrets(value: &Value) -> Map<String, Value> {
    fields(fitted(&showing(), value, &TO_DECIDE))
}

fn fields(arguments: RedactedJson) -> Map<String, Value> {
    match arguments.into_value() {
        Value::Object(arguments) => arguments,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// A decision as it is shown to anybody: without the secrets of the call it is about.
pub fn without_secrets(mut decision: Decision) -> Decision {
    each_text(&mut decision, |text| *text = text_without_secrets(text));
    decision
}

/// Texts that were found to hold no secret, for a stream of decisions: most of them have one of a few
/// reasons, which need to be looked at once. What does hold one is not kept.
#[derive(Debug, Default)]
pub(crate) struct CleanTexts {
    known: Mutex<Vec<Box<str>>>,
}

impl CleanTexts {
    /// A decision as it is shown to anybody: without the secrets of the call it is about.
    pub(crate) fn without_secrets(&self, mut decision: Decision) -> Decision {
        each_text(&mut decision, |text| self.clean(text));
        decision
    }

    fn clean(&self, text: &mut String) {
        // What is kept is whole between any two statements.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().any(|one| **one == **text) {
            return;
        }
        let clean = text_without_secrets(text);
        if clean == *text && known.len() < MAX_BRIEFS && text.len() <= MAX_BRIEF {
            known.push(text.as_str().into());
        }
        *text = clean;
    }
}

/// Whatever of a decision may be of the call's own words.
fn each_text(decision: &mut Decision, mut clean: impl FnMut(&mut String)) {
    clean(&mut decision.reason);
    decision.rule.as_mut().map(&mut clean);
    for finding in &mut decision.findings {
        clean(&mut finding.reason);
        clean(&mut finding.rule);
        finding.part.as_mut().map(&mut clean);
    }
    if let Some(rewrite) = &mut decision.rewrite {
        clean(&mut rewrite.line);
    }
    for said in &mut decision.external {
        said.reason.as_mut().map(&mut clean);
    }
    for fact in &mut decision.facts {
        fact.of.as_mut().map(&mut clean);
        fact.value.as_mut().map(&mut clean);
    }
}

/// A value as it is recorded: shortened and redacted. What is long is cut twice, far behind the
/// limit before it is redacted and at the limit after, so that no half of a secret is left.
pub(crate) fn recorded(redactor: &Redactor, value: &Value) -> RedactedJson {
    fitted(redactor, value, &TO_RECORD)
}

/// The arguments of a call as they are shown to whoever decides about it: without secrets, and
/// complete unless they are enormous.
pub(crate) fn whole_arguments(redactor: &Redactor, call: &ToolCall) -> Map<String, Value> {
    let input = Value::Object(call.input().clone());
    fields(fitted(redactor, &input, &TO_DECIDE))
}

fn fitted(redactor: &Redactor, value: &Value, room: &Room) -> RedactedJson {
    let mut left = room.arguments;
    let redacted = if fits(value, "", &mut left, 0, room) {
        redactor.json(value)
    } else {
        let mut left = room.arguments;
        redactor.json(&bounded(value, "", &mut left, 0, room))
    };
    fitted_again(redacted.0, room)
}

/// A value that was cut far behind the limit and then redacted, cut at the limit.
fn fitted_again(redacted: RedactedJson, room: &Room) -> RedactedJson {
    let mut redacted = redacted.shortened(room.text);
    if most_bytes(redacted.as_value()) <= room.whole {
        return redacted;
    }
    // Many arguments of some length each, or characters that are written as six: the longest ones
    // give way until the record is one.
    for share in [4, 16, 64, 256] {
        if redacted.to_string().len() <= room.whole {
            break;
        }
        redacted = redacted.shortened(|key| (room.text)(key) / share);
    }
    redacted
}

/// The arguments of a call as they are recorded.
pub(crate) fn recorded_arguments(redactor: &Redactor, call: &ToolCall) -> RedactedJson {
    let (input, room) = (call.input(), &TO_RECORD);
    let mut left = room.arguments.saturating_sub(1);
    if fields_fit(input, &mut left, 0, room) {
        fitted_again(redactor.fields(input).0, room)
    } else {
        recorded(redactor, &Value::Object(input.clone()))
    }
}

/// Texts as they are recorded, for records that are made together: their agent, session, directory,
/// tool and reason are mostly the same, and need to be looked at once.
pub(crate) struct Briefs {
    redactor: Redactor,
    known: RefCell<Vec<(String, Redacted)>>,
}

/// The most texts that are kept, and the longest of them: more would take longer to look through
/// than a short text takes to redact.
const MAX_BRIEFS: usize = 24;
const MAX_BRIEF: usize = 256;

impl Briefs {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            known: RefCell::default(),
        }
    }

    /// What takes the secrets out.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// A text as it is recorded.
    pub(crate) fn brief(&self, text: &str) -> Redacted {
        let mut known = self.known.borrow_mut();
        if let Some((_, brief)) = known.iter().find(|(one, _)| one == text) {
            return brief.clone();
        }
        let brief = brief(&self.redactor, text);
        if known.len() < MAX_BRIEFS && text.len() <= MAX_BRIEF {
            known.push((text.to_owned(), brief.clone()));
        }
        brief
    }
}

/// A text as it is recorded, cut twice for the same reason.
pub(crate) fn brief(redactor: &Redactor, text: &str) -> Redacted {
    let text = cut(text, MAX_TEXT + MAX_SECRET);
    redactor.text(text).shortened(MAX_TEXT)
}

/// A key as it is recorded. No tool has long ones, and half of one might be half of a secret.
fn key_of(name: &str) -> String {
    if name.len() <= MAX_KEY {
        name.to_owned()
    } else {
        format!("… ({} bytes)", name.len())
    }
}

/// At most so many bytes of a text.
fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// How much of the text under a key is recorded.
fn limit_of(key: &str) -> usize {
    if holdpoint_core::names_command(key) {
        MAX_COMMAND
    } else {
        MAX_ARGUMENT
    }
}

/// Whether nothing of a value would be cut before it is redacted.
fn fits(value: &Value, key: &str, left: &mut usize, depth: usize, room: &Room) -> bool {
    if *left == 0 || depth > 32 {
        return false;
    }
    *left -= 1;
    match value {
        Value::String(text) => text.len() <= (room.text)(key) + MAX_SECRET,
        Value::Array(items) => items
            .iter()
            .all(|item| fits(item, key, left, depth + 1, room)),
        Value::Object(fields) => fields_fit(fields, left, depth, room),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn fields_fit(fields: &Map<String, Value>, left: &mut usize, depth: usize, room: &Room) -> bool {
    fields
        .iter()
        .all(|(name, field)| name.len() <= MAX_KEY && fits(field, name, left, depth + 1, room))
}

/// No fewer bytes than a value has as JSON: a sign may be written as six.
fn most_bytes(value: &Value) -> usize {
    let quoted = |text: &str| text.len() * 6 + 2;
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => items.iter().map(|item| most_bytes(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            let field = |(name, field): (&String, &Value)| quoted(name) + most_bytes(field) + 2;
            fields.iter().map(field).sum::<usize>() + 2
        }
        // No number is longer than this.
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
    }
}

fn bounded(value: &Value, key: &str, left: &mut usize, depth: usize, room: &Room) -> Value {
    if *left == 0 || depth > 32 {
        return Value::String("…".into());
    }
    *left -= 1;
    match value {
        Value::String(text) => {
            let most = (room.text)(key) + MAX_SECRET;
            Value::String(cut(text, most).to_owned())
        }
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map_while(|item| (*left > 0).then(|| bounded(item, key, left, depth + 1, room)))
                .collect(),
        ),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map_while(|(name, field)| {
                    (*left > 0).then(|| (key_of(name), bounded(field, name, left, depth + 1, room)))
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
