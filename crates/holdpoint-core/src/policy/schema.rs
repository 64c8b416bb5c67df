//! The JSON Schema of a policy file, derived from the types that read it.

use serde_json::{Map, Value, json};

use super::clauses;
use super::document::{DOCUMENT_ALIASES, Document, PARAMETER_ALIASES, TOOL_RULE_ALIASES};
use super::injection::{INJECTION_ALIASES, THRESHOLD_ALIASES};
use super::second_opinion::SECOND_OPINION_ALIASES;

/// The schema as a JSON value.
pub fn json_schema() -> Value {
    let mut schema = Value::from(schemars::schema_for!(Document));
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), json!("Holdpoint policy"));
    }
    if let Some(root) = schema.as_object_mut() {
        spell_otherwise(root, DOCUMENT_ALIASES);
    }
    for (name, aliases) in [
        ("ToolRule", TOOL_RULE_ALIASES),
        ("Parameter", PARAMETER_ALIASES),
        ("Injection", INJECTION_ALIASES),
        ("SecondOpinion", SECOND_OPINION_ALIASES),
        ("Injection", THRESHOLD_ALIASES),
        ("Thresholds", THRESHOLD_ALIASES),
    ] {
        if let Some(definition) = definition(&mut schema, name) {
            spell_otherwise(definition, aliases);
        }
    }
    one_or_many(&mut schema, "Conditions", "Condition");
    add_words(&mut schema, "Supervision", SUPERVISION_WORDS);
    for (name, words) in clauses::words() {
        if let Some(definition) = definition(&mut schema, name) {
            definition.insert("enum".into(), json!(words));
        }
    }
    schema
}

/// Other words for the levels of supervision; the reader has them as aliases.
const SUPERVISION_WORDS: &[&str] = &[
    "allow",
    "allowed",
    "restricted",
    "ask",
    "review",
    "forbidden",
];

fn definition<'s>(schema: &'s mut Value, name: &str) -> Option<&'s mut Map<String, Value>> {
    schema.get_mut("$defs")?.get_mut(name)?.as_object_mut()
}

/// Adds the other spellings of some keys, each with the schema of its key.
fn spell_otherwise(object: &mut Map<String, Value>, aliases: &[(&str, &[&str])]) {
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (key, spellings) in aliases {
        let Some(meaning) = properties.get(*key).cloned() else {
            continue;
        };
        for spelling in *spellings {
            properties.insert((*spelling).into(), meaning.clone());
        }
    }
}

fn one_or_many(schema: &mut Value, name: &str, item: &str) {
    if let Some(definition) = definition(schema, name) {
        let item = json!({ "$ref": format!("#/$defs/{item}") });
        definition.remove("type");
        definition.remove("items");
        definition.insert(
            "anyOf".into(),
            json!([item, { "type": "array", "items": item }]),
        );
    }
}

fn add_words(schema: &mut Value, name: &str, words: &[&str]) {
    if let Some(definition) = definition(schema, name) {
        let described = definition.remove("oneOf");
        definition.insert(
            "anyOf".into(),
            json!([{ "oneOf": described }, { "enum": words }]),
        );
    }
}
