//! Explicit attacks in every disguise there is a reader for: at least 95 of 100 in each family are found.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test reads its cases, shows what it measured and fails loudly"
)]

mod disguise;
mod encodings;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use holdpoint_text::inspection::inspect;
use holdpoint_text::{Origin, Severity};
use serde::Deserialize;

use disguise::{FAMILIES, Family};

/// What must be found of each family, in parts of a hundred.
const RECALL: usize = 95;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attacks {
    attack: Vec<Attack>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    text: String,
    #[expect(dead_code, reason = "for the reader of the file")]
    lang: String,
}

fn attacks() -> Vec<Attack> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/inspection/explicit.toml");
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str::<Attacks>(&text).unwrap().attack
}

/// Where a disguised sentence may stand.
const CARRIERS: [fn(&str) -> String; 5] = [
    str::to_owned,
    |text| {
        format!(
            "# tiny-cache\n\nA small cache for small programs.\n\n{text}\n\n## Licence\n\nMIT\n"
        )
    },
    |text| {
        let lines: Vec<String> = text.lines().map(|line| format!("    // {line}")).collect();
        format!(
            "fn load(path: &Path) -> io::Result<String> {{\n{}\n    fs::read_to_string(path)\n}}\n",
            lines.join("\n")
        )
    },
    |text| {
        let text = serde_json::to_string(text).unwrap();
        format!("{{\"status\": \"ok\", \"items\": [{{\"id\": 7, \"note\": {text}}}]}}")
    },
    |text| {
        format!(
            "2024-06-07 10:44:01 INFO worker started\n2024-06-07 10:44:02 WARN {text}\n\
             2024-06-07 10:44:03 INFO request done in 12 ms\n"
        )
    },
];

fn is_found(text: &str) -> bool {
    inspect(text, Origin::Tool).severity() >= Some(Severity::Medium)
}

#[test]
fn explicit_attacks_are_found_undisguised_in_every_carrier() {
    let mut missed = Vec::new();
    let attacks = attacks();
    for attack in &attacks {
        for carrier in CARRIERS {
            let text = carrier(&attack.text);
            if !is_found(&text) {
                missed.push(text);
            }
        }
    }
    let all = attacks.len() * CARRIERS.len();
    assert!(
        missed.len() * 100 <= (100 - RECALL) * all,
        "{} of {all} are missed:\n{}",
        missed.len(),
        missed.join("\n---\n")
    );
}

#[test]
fn explicit_attacks_are_found_in_every_disguise() {
    let attacks = attacks();
    let mut short = Vec::new();
    for family in FAMILIES {
        let measured = Measured::of(family, &attacks);
        println!("{measured}");
        if measured.found * 100 < RECALL * measured.all {
            short.push(measured.to_string());
        }
    }
    assert!(short.is_empty(), "\n{}", short.join("\n"));
}

/// What was found of a family.
struct Measured {
    name: &'static str,
    all: usize,
    found: usize,
    /// Missed by the dress, though the same sentence is found undisguised in the same place.
    by_dress: BTreeMap<usize, Vec<String>>,
}

impl Measured {
    fn of(family: &Family, attacks: &[Attack]) -> Self {
        let mut measured = Self {
            name: family.name,
            all: 0,
            found: 0,
            by_dress: BTreeMap::new(),
        };
        for (place, attack) in attacks.iter().enumerate() {
            for (dress, text) in (family.dress)(&attack.text).into_iter().enumerate() {
                // Carriers take turns: each dress meets each of them, and the test stays short.
                let carrier = CARRIERS[(place + dress) % CARRIERS.len()];
                let text = carrier(&text);
                measured.all += 1;
                if is_found(&text) {
                    measured.found += 1;
                } else if is_found(&carrier(&attack.text)) {
                    measured.by_dress.entry(dress).or_default().push(text);
                }
            }
        }
        measured
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:16} {:4} of {:4} found",
            self.name, self.found, self.all
        )?;
        for (dress, texts) in &self.by_dress {
            let example: String = texts.concat().chars().take(150).collect();
            write!(
                f,
                "\n    dress {dress} alone hides {:3}: {example:?}",
                texts.len()
            )?;
        }
        Ok(())
    }
}
