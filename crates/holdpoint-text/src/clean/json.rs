//! JSON values without what was found in their texts.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Cleaner;
use crate::Origin;
use crate::inspection::{Family, Inspection, Part, leaves};

/// A JSON value after cleaning.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanedJson {
    /// What is left of it.
    pub value: Value,
    /// What was found in its texts before, with spans in all of them joined by line breaks.
    pub inspection: Inspection,
    /// How many pieces of which kind were taken out.
    pub removed: BTreeMap<Family, usize>,
}

impl Cleaner<'_> {
    /// The value without what was found in its texts: strings, read together, and the keys of
    /// objects. Numbers and the shape of the value stay.
    pub fn json(&self, value: &Value, origin: Origin) -> CleanedJson {
        let mut value = value.clone();
        let mut places = strings(&mut value);
        let texts = places
            .iter_mut()
            .map(|leaf| std::mem::take(*leaf))
            .collect();
        let (cleaned, mut inspection, mut removed) = self.texts(texts, origin);
        for (leaf, text) in places.into_iter().zip(cleaned) {
            *leaf = text;
        }
        let (_, keys) = leaves(&value, Part::Keys);
        let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
        let (cleaned, of_keys, taken) = self.texts(keys.clone(), origin);
        let renamed: BTreeMap<String, String> = keys
            .into_iter()
            .zip(cleaned)
            .filter(|(key, cleaned)| key != cleaned)
            .collect();
        if !renamed.is_empty() {
            rename(&mut value, &renamed);
        }
        for (family, count) in taken {
            *removed.entry(family).or_default() += count;
        }
        inspection.action = inspection.action.max(of_keys.action);
        inspection.score = inspection.score.max(of_keys.score);
        inspection.findings.extend(of_keys.findings);
        CleanedJson {
            value,
            inspection,
            removed,
        }
    }
}

/// The strings of a value, in its order. Without recursion, as everything here: a value may be
/// nested as deep as memory allows.
fn strings(value: &mut Value) -> Vec<&mut String> {
    let mut leaves = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => leaves.push(text),
            Value::Array(items) => open.extend(items.iter_mut().rev()),
            Value::Object(members) => open.extend(members.values_mut().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    leaves
}

/// Gives keys other names; where two would be the same, the second is numbered.
fn rename(value: &mut Value, names: &BTreeMap<String, String>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                if members.keys().any(|key| names.contains_key(key)) {
                    let before = std::mem::take(members);
                    let kept = |key: &String| !names.contains_key(key);
                    let (mut after, others): (Map<_, _>, Map<_, _>) =
                        before.into_iter().partition(|(key, _)| kept(key));
                    for (key, member) in others {
                        let name = names.get(&key).cloned().unwrap_or(key);
                        let free = (1..=after.len() + 1)
                            .map(|number| match number {
                                1 => name.clone(),
                                _ => format!("{name} {number}"),
                            })
                            .find(|name| !after.contains_key(name));
                        after.insert(free.unwrap_or_default(), member);
                    }
                    *members = after;
                }
                open.extend(members.values_mut());
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
