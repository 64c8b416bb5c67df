//! Compiles `rules/tools.toml` into the tables of `catalogue`, sorted, so that finding a tool by any
//! of its names is a binary search and no process builds anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::load;

/// `tools.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolsFile {
    housekeeping: Vec<String>,
    words: BTreeMap<String, Vec<String>>,
    names: BTreeMap<String, Vec<String>>,
    /// Programs by the words tools are named with.
    programs: BTreeMap<String, Vec<String>>,
    /// Interpreters by the words for their languages; the first that fits counts.
    language: Vec<LanguageEntry>,
    tool: Vec<ToolEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageEntry {
    interpreter: String,
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolEntry {
    name: String,
    meaning: String,
    effect: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    runs: Option<String>,
    #[serde(default)]
    runs_in: BTreeMap<String, String>,
    #[serde(default)]
    part_of: Vec<String>,
    operations: Option<String>,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    files: bool,
    #[serde(default)]
    arguments: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    spelled: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    texts: BTreeMap<String, BTreeMap<String, String>>,
}

/// One name of a tool.
struct Row<'t> {
    tool: usize,
    entry: &'t ToolEntry,
    described: bool,
}

pub(super) fn write(file: &Path, target: &Path) {
    let file: ToolsFile = load(file);
    // A set of tools is the bits of one number.
    assert!(file.tool.len() <= 64, "more than 64 tools");
    let mut names: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    for (tool, entry) in file.tool.iter().enumerate() {
        let described = entry.effect.is_some();
        let own = std::iter::once(&entry.name).chain(&entry.names);
        let all = own.map(|name| (name, described));
        for (name, described) in all.chain(entry.also.iter().map(|name| (name, false))) {
            // What a server calls its tool proves nothing.
            assert!(
                !name.to_lowercase().starts_with("mcp"),
                "{name}: a server's tool cannot be listed"
            );
            let row = Row {
                tool,
                entry,
                described,
            };
            assert!(names.insert(name, row).is_none(), "{name} stands twice");
        }
    }
    let mut out = String::new();
    write_tools(&mut out, &file, &names);
    write_names(&mut out, &names);
    let housekeeping: BTreeSet<&String> = file.housekeeping.iter().collect();
    writeln!(
        out,
        "static HOUSEKEEPING: &[&str] = &{:?};",
        housekeeping.iter().collect::<Vec<_>>()
    )
    .unwrap();
    for key in [
        "command",
        "code",
        "argv",
        "directory",
        "path",
        "program",
        "operation",
        "typed",
        "typing",
        "prose",
    ] {
        let words: BTreeSet<&String> = file.words[key].iter().collect();
        for word in &words {
            assert_eq!(**word, folded(word), "words are written folded");
        }
        writeln!(
            out,
            "static {}_WORDS: &[&str] = &{:?};",
            key.to_uppercase(),
            words.iter().collect::<Vec<_>>()
        )
        .unwrap();
    }
    for (key, words) in &file.names {
        writeln!(
            out,
            "static {}_WORDS: &[&str] = &{words:?};",
            key.to_uppercase()
        )
        .unwrap();
    }
    writeln!(
        out,
        "static COMMAND_ENDINGS: &[&str] = &{:?};",
        file.words["command_endings"]
    )
    .unwrap();
    writeln!(out, "static PROGRAMS_BY_NAME: &[(&str, &[&str])] = &[").unwrap();
    for (program, names) in &file.programs {
        writeln!(out, "({program:?}, &{names:?}),").unwrap();
    }
    writeln!(out, "];\nstatic LANGUAGES: &[(&str, &[&str])] = &[").unwrap();
    for LanguageEntry { interpreter, names } in &file.language {
        writeln!(out, "({interpreter:?}, &{names:?}),").unwrap();
    }
    writeln!(out, "];").unwrap();
    fs::write(target, out).unwrap();
}

fn write_tools(out: &mut String, file: &ToolsFile, names: &BTreeMap<&str, Row<'_>>) {
    let mut consts = String::new();
    writeln!(out, "static TOOLS: &[Tool] = &[").unwrap();
    for (number, tool) in file.tool.iter().enumerate() {
        // A rule that allows must find one meaning in the name that stands for a tool.
        assert_eq!(names[tool.name.as_str()].tool, number);
        let part_of = tool.part_of.iter().fold(0u64, |set, name| {
            set | 1
                << names
                    .get(name.as_str())
                    .unwrap_or_else(|| panic!("{name}: no tool"))
                    .tool
        });
        let operations = match tool.operations.as_deref() {
            None => "Operations::One",
            Some("patch") => "Operations::Patch",
            Some("editor") => "Operations::Editor",
            Some(other) => panic!("{}: operations `{other}`", tool.name),
        };
        let mut arguments = String::new();
        for (argument, others) in &tool.arguments {
            let all = std::iter::once(argument).chain(others);
            let mut same: Vec<String> = Vec::new();
            for name in all.map(|name| folded(name)) {
                assert!(!same.contains(&name), "{}: {name} stands twice", tool.name);
                same.push(name);
            }
            write!(
                arguments,
                "Argument {{ name: {argument:?}, folded: &{same:?} }}, "
            )
            .unwrap();
        }
        writeln!(
            out,
            "    Tool {{ number: {number}, name: {:?}, meaning: {:?}, part_of: ToolSet({part_of}), \
             operations: {operations}, network: {}, files: {}, arguments: &[{arguments}] }},",
            tool.name, tool.meaning, tool.network, tool.files
        )
        .unwrap();
        let word = match tool.name.as_str() {
            "Read" => "READ",
            "Write" => "WRITE",
            "Edit" => "EDIT",
            "Delete" => "DELETE",
            _ => continue,
        };
        writeln!(consts, "const {word}: ToolSet = ToolSet(1 << {number});").unwrap();
    }
    writeln!(out, "];\n{consts}").unwrap();
}

fn write_names(out: &mut String, names: &BTreeMap<&str, Row<'_>>) {
    writeln!(out, "static NAMES: &[Name] = &[").unwrap();
    let mut used = BTreeSet::new();
    for (name, row) in names {
        let entry = row.entry;
        let effect = match entry.effect.as_deref().filter(|_| row.described) {
            None => "Unknown",
            Some("none") => "None",
            Some("read") => "Read",
            Some("write") => "Write",
            Some("delete") => "Delete",
            Some("execute") => "Execute",
            Some(other) => panic!("{name}: effect `{other}`"),
        };
        let runs = entry.runs_in.get(*name).or(entry.runs.as_ref());
        let runs = runs.filter(|_| row.described);
        let pairs = |table: &BTreeMap<String, BTreeMap<String, String>>| -> Vec<(String, String)> {
            let pairs = table.get(*name).into_iter().flatten();
            pairs
                .map(|(argument, key)| {
                    assert!(entry.arguments.contains_key(argument), "{name}: {argument}");
                    (argument.clone(), key.clone())
                })
                .collect()
        };
        let tool = row.tool;
        writeln!(
            out,
            "    Name {{ name: {name:?}, tool: {tool}, effect: Effect::{effect}, command: {runs:?}, \
             spelled: &{:?}, texts: &{:?} }},",
            pairs(&entry.spelled),
            pairs(&entry.texts)
        )
        .unwrap();
        used.insert((*name).to_owned());
    }
    writeln!(out, "];").unwrap();
    super::write_slots(out, "NAME_SLOTS", names.keys().copied());
    for row in names.values() {
        let entry = row.entry;
        let tables = entry.spelled.keys().chain(entry.texts.keys());
        for name in tables.chain(entry.runs_in.keys()) {
            assert!(used.contains(name), "{name} is no name of a tool");
        }
    }
    // Names that differ in case only are names of the same tool: some rules do not mind the case.
    let mut folded: BTreeMap<String, usize> = BTreeMap::new();
    for (name, row) in names {
        let known = folded.entry(name.to_lowercase()).or_insert(row.tool);
        assert_eq!(*known, row.tool, "{name} is the name of two tools");
    }
    writeln!(
        out,
        "static IN_LOWER_CASE: &[(&str, u8)] = &{:?};",
        folded.into_iter().collect::<Vec<_>>()
    )
    .unwrap();
}

/// As `catalogue::arguments` compares names.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}
