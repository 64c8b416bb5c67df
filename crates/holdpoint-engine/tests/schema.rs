//! The published schema accepts what the reader accepts: every shipped profile, and every policy
//! of the decision cases.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

use std::fs;
use std::path::Path;

use holdpoint_core::document;
use holdpoint_engine::{Profile, json_schema};
use serde_json::{Value, json};

#[test]
fn the_schema_accepts_every_policy_the_reader_accepts() {
    let schema = json_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut policies: Vec<(String, String)> = Profile::ALL
        .iter()
        .map(|profile| (profile.name().to_owned(), profile.text().to_owned()))
        .collect();
    collect_policies(&corpus(), &mut policies);
    assert!(policies.len() > 300, "only {} policies", policies.len());
    for (name, text) in &policies {
        let policy: Value = document::read(name, text.as_bytes()).unwrap();
        if let Err(error) = validator.validate(&policy) {
            panic!("{name}: {error}\n{text}");
        }
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let validator = jsonschema::validator_for(&json_schema()).unwrap();
    for policy in [
        json!({"default": "allow"}),
        json!({"defaultPolicy": "maybe"}),
        json!({"version": "2.0"}),
        json!({"profile": "nobody"}),
        json!({"deny": {"tools": "Bash"}}),
        json!({"deny": {"arguments": {"t": {"a": "x"}}}}),
        json!({"tools": {"Bash": {"supervision": "sometimes"}}}),
        json!({"tools": {"Bash": {"checks": ["confirmation"]}}}),
        json!({"tools": {"Bash": {"conditions": {"arg_matches": "x"}}}}),
        json!({"tools": {"Bash": {"restrictions": [{"type": "unknown"}]}}}),
        json!({"files": {"write": {"never": []}}}),
        json!({"sanitization": {"path_scope": {"roots": []}}}),
    ] {
        let text = policy.to_string();
        assert!(
            holdpoint_engine::Policy::from_text("p", text.as_str()).is_err(),
            "{text}"
        );
        assert!(!validator.is_valid(&policy), "the schema accepts {text}");
    }
}

fn corpus() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/decisions")
}

/// Every policy in the case files below `directory`, except those of cases that want it refused.
fn collect_policies(directory: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_policies(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            let file: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
            let cases = file["case"].as_array().unwrap();
            let tables = cases
                .iter()
                .filter_map(toml::Value::as_table)
                .chain([&file]);
            for table in tables.filter(|table| !table.contains_key("refused")) {
                for key in ["policy", "managed", "project", "trusted_project"] {
                    if let Some(text) = table.get(key).and_then(toml::Value::as_str) {
                        found.push((path.display().to_string(), text.to_owned()));
                    }
                }
            }
        }
    }
}
