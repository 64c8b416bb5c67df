//! Redacts JSON values: every text in them, and what their keys say about it.

use serde_json::{Map, Value};

use super::Redactor;
use super::marker::{Kinds, Marker};
use super::names;
use super::programs;
use super::values::{is_placeholder, is_reference};

/// Values deeper than this are left out.
const MAX_DEPTH: usize = 128;

/// What is left where a value stands too deep.
const TOO_DEEP: &str = "[nested too deep]";

impl Redactor {
    pub(super) fn value(
        &self,
        value: &Value,
        said: Option<Marker>,
        depth: usize,
        kinds: &mut Kinds,
    ) -> Value {
        if depth > MAX_DEPTH {
            return Value::String(TOO_DEEP.to_owned());
        }
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                let text = number.to_string();
                match said {
                    Some(marker) if self.wants(marker) => self.marked(marker, &text, kinds),
                    Some(_) | None => {
                        let (redacted, found) = self.text_counted(&text);
                        kinds.add(found);
                        match found.is_empty() {
                            true => value.clone(),
                            false => Value::String(redacted.into_string()),
                        }
                    }
                }
            }
            Value::String(text) => match said {
                Some(marker) => self.kept(marker, text, kinds),
                None => self.plain(text, kinds),
            },
            Value::Array(items) => self.array(items, said, None, depth, kinds),
            Value::Object(map) => Value::Object(self.object(map, said, depth, kinds)),
        }
    }

    pub(super) fn object(
        &self,
        map: &Map<String, Value>,
        said: Option<Marker>,
        depth: usize,
        kinds: &mut Kinds,
    ) -> Map<String, Value> {
        // `{"name": "DB_PASSWORD", "value": "…"}`
        let named = ["name", "key", "Name", "Key", "header", "variable"]
            .iter()
            .find_map(|key| map.get(*key)?.as_str())
            .and_then(|name| names::kept_under(name.as_bytes()));
        // `{"command": "mysql", "args": ["-p…"]}`
        let program = ["command", "cmd", "program", "executable", "file", "bin"]
            .iter()
            .find_map(|key| map.get(*key)?.as_str());
        let mut redacted = Map::new();
        for (key, value) in map {
            let (plain, found) = self.text_counted(key);
            kinds.add(found);
            let mut shown = plain.into_string();
            for number in 2..1000 {
                if !redacted.contains_key(&shown) || *key == shown {
                    break;
                }
                shown = format!("{shown} ({number})");
            }
            let by_key = names::kept_under(key.as_bytes())
                .or(said)
                .or(named.filter(|_| matches!(key.as_str(), "value" | "Value" | "default")));
            let kept = if let (Value::Array(items), None) = (value, by_key) {
                self.array(items, None, program, depth + 1, kinds)
            } else {
                self.value(value, by_key, depth + 1, kinds)
            };
            redacted.insert(shown, kept);
        }
        redacted
    }

    fn array(
        &self,
        items: &[Value],
        said: Option<Marker>,
        program: Option<&str>,
        depth: usize,
        kinds: &mut Kinds,
    ) -> Value {
        let texts: Option<Vec<&[u8]>> = items
            .iter()
            .map(|item| item.as_str().map(str::as_bytes))
            .collect();
        let arguments = texts.filter(|texts| said.is_none() && !texts.is_empty());
        let mut secrets: Vec<(usize, usize, usize, Marker)> = Vec::new();
        if let Some(texts) = arguments {
            // The program may be named beside its arguments, and be among them too.
            let lead: Vec<&[u8]> = program.map(str::as_bytes).into_iter().collect();
            let words: Vec<&[u8]> = lead.iter().chain(&texts).copied().collect();
            programs::in_arguments(&words, |at, start, end, marker| {
                if let Some(at) = at.checked_sub(lead.len()) {
                    secrets.push((at, start, end, marker));
                }
            });
            // `["Authorization", "Bearer …"]`
            if let [name, _] = texts.as_slice()
                && let Some(marker) = names::kept_under(name)
            {
                secrets.push((1, 0, usize::MAX, marker));
            }
        }
        let redacted = items.iter().enumerate().map(|(at, item)| {
            let known = secrets.iter().find(|(index, ..)| *index == at);
            match (item, known) {
                (Value::String(text), Some((_, start, end, marker))) if self.wants(*marker) => {
                    let end = (*end).min(text.len());
                    match (text.get(..*start), text.get(*start..end), text.get(end..)) {
                        (Some(before), Some(secret), Some(behind)) => {
                            let Value::String(marked) = self.kept(*marker, secret, kinds) else {
                                return Value::Null;
                            };
                            let (before, behind) = (self.text(before), self.text(behind));
                            Value::String(format!("{before}{marked}{behind}"))
                        }
                        _ => self.marked(*marker, text, kinds),
                    }
                }
                _ => self.value(item, said, depth + 1, kinds),
            }
        });
        Value::Array(redacted.collect())
    }

    /// A text under a key that holds secrets.
    fn kept(&self, marker: Marker, text: &str, kinds: &mut Kinds) -> Value {
        let scheme = super::headers::scheme(text.as_bytes()).filter(|_| marker == Marker::Token);
        let (lead, secret) = text
            .split_at_checked(scheme.unwrap_or(0))
            .unwrap_or(("", text));
        let bytes = secret.as_bytes();
        if !self.wants(marker) || is_reference(bytes) || is_placeholder(bytes) {
            return self.plain(text, kinds);
        }
        kinds.note(marker);
        Value::String(format!("{lead}{}", self.mark(marker, secret)))
    }

    fn plain(&self, text: &str, kinds: &mut Kinds) -> Value {
        let (redacted, found) = self.text_counted(text);
        kinds.add(found);
        Value::String(redacted.into_string())
    }

    fn marked(&self, marker: Marker, secret: &str, kinds: &mut Kinds) -> Value {
        kinds.note(marker);
        Value::String(self.mark(marker, secret))
    }
}
