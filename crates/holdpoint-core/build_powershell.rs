//! Compiles `rules/powershell.toml` into the tables of `code/powershell`, sorted, so that finding a cmdlet by any of
//! its names is a binary search.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::load;

/// `powershell.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerShellFile {
    looks: Vec<String>,
    verbs: Vec<String>,
    named: Vec<String>,
    switches: Vec<String>,
    places: Vec<String>,
    programs: Vec<String>,
    keywords: Vec<String>,
    methods: Vec<String>,
    kinds: Vec<String>,
    members: Vec<String>,
    variables: BTreeMap<String, String>,
    #[serde(rename = "static")]
    methods_of_kinds: BTreeMap<String, String>,
    cmdlet: Vec<CmdletEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CmdletEntry {
    names: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    line: Option<String>,
    does: Option<String>,
    #[serde(default)]
    positions: Vec<String>,
    #[serde(default)]
    switches: Vec<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    dry: bool,
}

/// What a cmdlet can do, as written and as `code/powershell/tables` calls it.
const DEEDS: [(&str, &str); 15] = [
    ("append", "Append"),
    ("blocks", "Blocks"),
    ("change", "Change"),
    ("create", "Create"),
    ("evaluate", "Evaluate"),
    ("fetch", "Fetch"),
    ("list", "List"),
    ("look", "Look"),
    ("make", "Make"),
    ("question", "Question"),
    ("read", "Read"),
    ("remove", "Remove"),
    ("start", "Start"),
    ("stop", "Stop"),
    ("write", "Write"),
];

pub(super) fn write(file: &Path, target: &Path) {
    let file: PowerShellFile = load(file);
    let mut out = String::new();
    for (name, words) in [
        ("LOOKS", &file.looks),
        ("VERBS", &file.verbs),
        ("SWITCHES", &file.switches),
        ("PLACES", &file.places),
        ("PROGRAMS", &file.programs),
        ("KEYWORDS", &file.keywords),
        ("METHODS", &file.methods),
        ("KINDS", &file.kinds),
        ("MEMBERS", &file.members),
    ] {
        write_list(&mut out, name, words);
    }
    writeln!(out, "static NAMED: &[&str] = &{:?};", file.named).unwrap();
    for (name, pairs) in [
        ("VARIABLES", &file.variables),
        ("STATIC", &file.methods_of_kinds),
    ] {
        let pairs: BTreeMap<String, &String> = pairs
            .iter()
            .map(|(key, value)| (key.to_lowercase(), value))
            .collect();
        let pairs: Vec<(&String, &&String)> = pairs.iter().collect();
        writeln!(out, "static {name}: &[(&str, &str)] = &{pairs:?};").unwrap();
    }
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    writeln!(out, "static CMDLETS: &[Cmdlet] = &[").unwrap();
    let mut number = 0;
    for entry in &file.cmdlet {
        for name in &entry.names {
            write_cmdlet(&mut out, name, entry);
            assert!(
                names.insert(name.to_lowercase(), number).is_none(),
                "powershell.toml: `{name}` stands twice"
            );
            number += 1;
        }
        // Cmdlets that are described together do the same.
        for alias in &entry.aliases {
            assert!(
                names.insert(alias.to_lowercase(), number - 1).is_none(),
                "powershell.toml: `{alias}` stands twice"
            );
        }
    }
    writeln!(out, "];").unwrap();
    let names: Vec<(String, usize)> = names.into_iter().collect();
    writeln!(out, "static NAMES: &[(&str, usize)] = &{names:?};").unwrap();
    fs::write(target, out).unwrap();
}

fn write_cmdlet(out: &mut String, name: &str, entry: &CmdletEntry) {
    let does = match (&entry.line, &entry.does) {
        (Some(line), None) => format!("Does::Line({line:?})"),
        (None, Some(word)) => {
            let (_, does) = DEEDS
                .iter()
                .find(|(known, _)| known == word)
                .unwrap_or_else(|| panic!("powershell.toml: `{name}` does `{word}`"));
            format!("Does::{does}")
        }
        _ => panic!("powershell.toml: `{name}` needs `line` or `does`"),
    };
    let lower = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| word.to_lowercase()).collect()
    };
    writeln!(
        out,
        "    Cmdlet {{ name: {name:?}, does: {does}, positions: &{:?}, switches: &{:?}, values: &{:?}, dry: {} }},",
        lower(&entry.positions),
        lower(&entry.switches),
        lower(&entry.values),
        entry.dry
    )
    .unwrap();
}

fn write_list(out: &mut String, name: &str, words: &[String]) {
    let words: BTreeSet<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let words: Vec<String> = words.into_iter().collect();
    writeln!(out, "static {name}: &[&str] = &{words:?};").unwrap();
}
