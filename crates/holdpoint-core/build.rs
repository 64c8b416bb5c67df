//! Compiles the packs under `rules/` into tables, so that a hook process parses nothing.
//!
//! A mistake in a pack is an error of the build: an unknown key or word, a rule without
//! examples, an id that stands twice.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::indexing_slicing,
    dead_code,
    reason = "a build script stops the build by failing loudly, and it reads files"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/rules/data_format.rs"]
mod data_format;
#[path = "src/rules/format.rs"]
mod format;
#[path = "build_powershell.rs"]
mod powershell;
#[path = "build_tools.rs"]
mod tools;
#[path = "src/rules/traces.rs"]
mod traces;
#[path = "src/rules/words.rs"]
mod words;

use data_format::{ClassesFile, DatabaseEntry, ProgramEntry, ProgramsFile, Recursive, RolesEntry};
use format::{CaseEntry, OneOrMany, PackFile};

/// Files beside the packs that are none.
const DATA: &[&str] = &[
    "path-classes.toml",
    "powershell.toml",
    "programs.toml",
    "tools.toml",
];

fn main() {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../rules");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut packs: Vec<PathBuf> = fs::read_dir(&root)
        .expect("the rule packs are missing")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .filter(|path| !DATA.iter().any(|name| path.ends_with(name)))
        .collect();
    packs.sort();
    let classes: ClassesFile = load(&root.join("path-classes.toml"));
    let programs: ProgramsFile = load(&root.join("programs.toml"));
    let mut out = String::new();
    let named: Vec<&str> = classes
        .class
        .iter()
        .map(|class| class.name.as_str())
        .collect();
    let mut targets: Vec<&str> = words::TARGETS.to_vec();
    for name in &named {
        if !targets.contains(name) {
            targets.push(name);
        }
    }
    assert!(targets.len() <= 64, "more than 64 classes of targets");
    writeln!(out, "pub(crate) static TARGETS: &[&str] = &{targets:?};").unwrap();
    write_classes(&mut out, &classes, &targets);
    write_programs(&mut out, &programs);
    write_program_lists(&mut out, &programs);
    write_loads(&mut out, &programs);
    write_packs(&mut out, &packs, &targets);
    let target = PathBuf::from(std::env::var("OUT_DIR").unwrap());
    fs::write(target.join("packs.rs"), out).unwrap();
    tools::write(&root.join("tools.toml"), &target.join("tools.rs"));
    powershell::write(&root.join("powershell.toml"), &target.join("powershell.rs"));
}

fn load<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Path patterns are filed under their first name without wildcards, or under their ending.
fn write_classes(out: &mut String, classes: &ClassesFile, targets: &[&str]) {
    let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut by_ending: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Those of several names, under each of them.
    let mut by_part: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut wild: Vec<String> = Vec::new();
    let mut wild_edges: Vec<(Option<u8>, Option<u8>)> = Vec::new();
    let mut wild_letters: Vec<u32> = Vec::new();
    for class in &classes.class {
        let bit = words::bit(targets, &class.name).unwrap();
        let all = class.paths.iter().map(|path| (path, false));
        for (path, except) in all.chain(class.except.iter().map(|path| (path, true))) {
            let path = path.to_lowercase();
            let path = path.trim_end_matches('/');
            let (anchor, rest) = match path.strip_prefix("~/") {
                Some(rest) => ("Home", rest),
                None => match path.strip_prefix('/') {
                    Some(rest) => ("Root", rest),
                    None => match path.strip_prefix("./") {
                        Some(rest) => ("Workspace", rest),
                        None => ("Anywhere", path),
                    },
                },
            };
            let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
            let skip = usize::from(parts.first() == Some(&"**"));
            let anchor = if skip == 1 { "Anywhere" } else { anchor };
            let parts = &parts[skip..];
            let first = parts
                .first()
                .unwrap_or_else(|| panic!("{}: empty path", class.name));
            let entry = format!(
                "PathRule {{ class: {bit}, except: {except}, anchor: Anchor::{anchor}, parts: &{parts:?} }}"
            );
            let wild_letter = |letter: &u8| b"*?[]".contains(letter);
            let edge = |letter: Option<&u8>| letter.copied().filter(|letter| !wild_letter(letter));
            let edges = (
                edge(first.as_bytes().first()),
                edge(first.as_bytes().last()),
            );
            let ending = first
                .strip_prefix("*.")
                .filter(|rest| !rest.contains(['*', '?', '[', '.']));
            let plain = !first.contains(['*', '?', '[']);
            if !except && parts.len() > 1 && (plain || ending.is_some()) {
                for part in parts {
                    by_part
                        .entry((*part).to_owned())
                        .or_default()
                        .insert(entry.clone());
                }
            }
            if plain {
                by_name.entry((*first).to_owned()).or_default().push(entry);
            } else if let Some(ending) = ending {
                by_ending.entry(ending.to_owned()).or_default().push(entry);
            } else {
                wild.push(entry);
                wild_edges.push(edges);
                // What stands in brackets is a choice, and none of it need be there.
                let needed = first.split('[').next().unwrap_or_default();
                wild_letters.push(traces::letters(needed.as_bytes()));
            }
        }
    }
    let by_part: BTreeMap<String, Vec<String>> = by_part
        .into_iter()
        .map(|(part, rules)| (part, rules.into_iter().collect()))
        .collect();
    for (name, table) in [
        ("PATHS_BY_NAME", &by_name),
        ("PATHS_BY_ENDING", &by_ending),
        ("PATHS_BY_PART", &by_part),
    ] {
        writeln!(out, "pub(crate) static {name}: &[(&str, &[PathRule])] = &[").unwrap();
        for (key, rules) in table {
            writeln!(out, "    ({key:?}, &[{}]),", rules.join(", ")).unwrap();
        }
        writeln!(out, "];").unwrap();
    }
    for (name, table) in [("PATHS_BY_NAME", &by_name), ("PATHS_BY_PART", &by_part)] {
        let names = table.keys().map(String::as_str);
        write_slots(out, &format!("{name}_SLOTS"), names);
    }
    writeln!(
        out,
        "pub(crate) static PATHS_BY_PATTERN: &[PathRule] = &[{}];",
        wild.join(", ")
    )
    .unwrap();
    writeln!(
        out,
        "pub(crate) static PATTERN_LETTERS: &[u32] = &{wild_letters:?};"
    )
    .unwrap();
    // By the first and the last letter of a name, which patterns may fit it.
    let words = wild.len().div_ceil(64);
    for (name, edge) in [("PATTERNS_BY_FIRST", 0), ("PATTERNS_BY_LAST", 1)] {
        let row = |letter: u8| {
            let mut set = vec![0u64; words];
            for (at, edges) in wild_edges.iter().enumerate() {
                let wanted = if edge == 0 { edges.0 } else { edges.1 };
                if wanted.is_none_or(|wanted| wanted == letter) {
                    set[at / 64] |= 1 << (at % 64);
                }
            }
            format!("{set:?}")
        };
        let rows: Vec<String> = (0..=u8::MAX).map(row).collect();
        writeln!(
            out,
            "pub(crate) static {name}: [[u64; {words}]; 256] = [{}];",
            rows.join(", ")
        )
        .unwrap();
    }
}

fn role(word: &str) -> String {
    variant("Role", words::ROLES, word)
}

/// The variant of an enum that is called like a word.
fn variant(name: &str, known: &[&str], word: &str) -> String {
    assert!(
        known.contains(&word),
        "`{word}` in programs.toml is no {name}"
    );
    let mut letters = word.chars();
    let first = letters.next().unwrap().to_uppercase();
    format!("{name}::{first}{}", letters.as_str())
}

fn roles(entry: &RolesEntry) -> String {
    let option = |word: &Option<String>| match word {
        Some(word) => format!("Some({})", role(word)),
        None => "None".to_owned(),
    };
    let pairs = |map: &BTreeMap<String, String>| {
        let pairs: Vec<String> = map
            .iter()
            .map(|(key, word)| format!("({key:?}, {})", role(word)))
            .collect();
        format!("&[{}]", pairs.join(", "))
    };
    let recursive = match &entry.recursive {
        None => "Recursive::Unsaid".to_owned(),
        Some(Recursive::Always(yes)) => format!("Recursive::Always({yes})"),
        Some(Recursive::With(flags)) => format!("Recursive::With(&{flags:?})"),
    };
    let effects = match &entry.effects {
        None => "None".to_owned(),
        Some(list) => {
            let mask = list.iter().fold(0, |mask, word| {
                mask | words::bit(words::EFFECTS, word)
                    .unwrap_or_else(|| panic!("unknown effect `{word}` in programs.toml"))
            });
            format!("Some({mask})")
        }
    };
    let leaves = match &entry.leaves {
        None => "None".to_owned(),
        Some(word) => format!("Some({})", variant("Leaves", words::LEAVES, word)),
    };
    format!(
        "Roles {{ values: &{:?}, operands: {}, first: {}, first_unless: &{:?}, last: {}, default: {:?}, \
         flag_operands: {}, at_file: &{:?}, named_file: &{:?}, bare_file: &{:?}, data: &{:?}, looks_up: {}, prefixed: {}, recursive: {recursive}, effects: {effects}, \
         leaves: {leaves}, fills: {:?}, named_by_address: {:?}, takes_off: &{:?} }}",
        entry.values,
        option(&entry.operands),
        option(&entry.first),
        entry.first_unless,
        option(&entry.last),
        entry.default,
        pairs(&entry.flag_operands),
        entry.at_file,
        entry.named_file,
        entry.bare_file,
        entry.data,
        entry.looks_up,
        pairs(&entry.prefixed),
        entry.fills,
        entry.named_by_address,
        entry.takes_off,
    )
}

/// Whether a program changes files by its words in some case.
fn writes(program: &ProgramEntry) -> bool {
    let cases = program.case.iter().map(|case| &case.roles);
    cases.chain([&program.roles]).any(|roles| {
        let operands = [&roles.operands, &roles.first, &roles.last];
        let operands = operands.into_iter().flatten();
        let others = roles.flag_operands.values().chain(roles.prefixed.values());
        let mut all = operands.chain(others);
        all.any(|role| matches!(role.as_str(), "write" | "append"))
            || roles.fills.is_some()
            || roles.named_by_address == Some(true)
            || !roles.takes_off.is_empty()
    })
}

/// Whether what a program leaves in the files it writes is foreseen in some case.
fn foreseen(program: &ProgramEntry) -> bool {
    let cases = program.case.iter().map(|case| &case.roles);
    let mut leaves = cases.chain([&program.roles]).map(|roles| &roles.leaves);
    leaves.any(|leaves| matches!(leaves.as_deref(), Some("copies" | "links" | "input")))
}

fn database(entry: &DatabaseEntry) -> String {
    let language = variant("StatementLanguage", words::STATEMENTS, &entry.language);
    format!(
        "Database {{ language: {language}, statements: &{:?}, files: &{:?}, operands: {:?} }}",
        entry.statements, entry.files, entry.operands
    )
}

fn write_programs(out: &mut String, programs: &ProgramsFile) {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wild: Vec<(&str, usize)> = Vec::new();
    writeln!(out, "pub(crate) static PROGRAMS: &[Program] = &[").unwrap();
    for (at, program) in programs.program.iter().enumerate() {
        for name in &program.names {
            if name.contains(['*', '?']) {
                wild.push((name, at));
            } else {
                assert!(
                    names.insert(name, at).is_none(),
                    "programs.toml: `{name}` stands twice"
                );
            }
        }
        let cases: Vec<String> = program
            .case
            .iter()
            .map(|case| {
                format!(
                    "ProgramCase {{ first_words: {}, subcommand: &{:?}, flags: &{:?}, without: &{:?}, most_operands: {:?}, roles: {} }}",
                    any_trace(case.subcommand.iter().filter_map(|words| words.split(' ').next())),
                    case.subcommand,
                    case.flags,
                    case.without,
                    case.most_operands,
                    roles(&case.roles)
                )
            })
            .collect();
        let same: Vec<String> = program
            .same
            .iter()
            .map(|group| format!("&{group:?}"))
            .collect();
        writeln!(
            out,
            "    Program {{ before: &{:?}, single_dash: {}, dashless: {}, options_first: {}, pairs: &{:?}, glued: &{:?}, directory: &{:?}, operands_in: &{:?}, remote: {}, items: {}, revisions: {}, searches: {}, addresses_in: &{:?}, same: &[{}], \
             writes: {}, foreseen: {}, database: {}, roles: {}, cases: &[{}] }},",
            program.before,
            program.single_dash,
            program.dashless,
            program.options_first,
            program.pairs,
            program.glued,
            program.directory,
            program.operands_in,
            program.remote,
            program.items,
            program.revisions,
            program.searches,
            program.addresses_in,
            same.join(", "),
            writes(program),
            foreseen(program),
            match &program.database {
                None => "None".to_owned(),
                Some(entry) => format!("Some({})", database(entry)),
            },
            roles(&program.roles),
            cases.join(", ")
        )
        .unwrap();
    }
    writeln!(out, "];").unwrap();
    let table: Vec<String> = names
        .iter()
        .map(|(name, at)| format!("({name:?}, {at})"))
        .collect();
    writeln!(
        out,
        "pub(crate) static PROGRAM_NAMES: &[(&str, usize)] = &[{}];",
        table.join(", ")
    )
    .unwrap();
    write_slots(out, "PROGRAM_NAMES_SLOTS", names.keys().copied());
    let table: Vec<String> = wild
        .iter()
        .map(|(name, at)| format!("({name:?}, {at})"))
        .collect();
    writeln!(
        out,
        "pub(crate) static PROGRAM_PATTERNS: &[(&str, usize)] = &[{}];",
        table.join(", ")
    )
    .unwrap();
}

/// The flags whose values run, by program.
fn write_carriers(out: &mut String, programs: &ProgramsFile) {
    let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in &programs.carrier {
        assert!(
            !entry.runs.is_empty()
                || !entry.loads.is_empty()
                || !entry.statements.is_empty()
                || entry.statement_operands,
            "programs.toml: a carrier {:?} of nothing",
            entry.programs
        );
        for name in &entry.programs {
            by_name.entry(name).or_default().push(format!(
                "Carrier {{ subcommand: &{:?}, runs: &{:?}, loads: &{:?}, values: &{:?}, commanding: {}, statements: &{:?}, statement_operands: {} }}",
                entry.subcommand,
                entry.runs,
                entry.loads,
                entry.values,
                entry.commanding,
                entry.statements,
                entry.statement_operands
            ));
        }
    }
    writeln!(
        out,
        "pub(crate) static CARRIERS: &[(&str, &[Carrier])] = &["
    )
    .unwrap();
    for (name, carriers) in &by_name {
        writeln!(out, "    ({name:?}, &[{}]),", carriers.join(", ")).unwrap();
    }
    writeln!(out, "];").unwrap();
    write_slots(out, "CARRIERS_SLOTS", by_name.keys().copied());
}

/// The lists of programs that stand above their table.
fn write_program_lists(out: &mut String, programs: &ProgramsFile) {
    write_carriers(out, programs);
    for (name, list) in [
        ("READ_ONLY", &programs.read_only),
        ("HELPFUL", &programs.helpful),
        ("SENDERS", &programs.senders),
        ("PRINTERS", &programs.printers),
        ("SAYERS", &programs.sayers),
        ("SHELLS", &programs.shells),
        ("REQUESTERS", &programs.requesters),
        ("FETCHERS", &programs.fetchers),
        ("COPIERS", &programs.copiers),
        ("MOVERS", &programs.movers),
        ("RESPONSE_FILES", &programs.response_files),
        ("LISTERS", &programs.listers),
        ("FINDERS", &programs.finders),
        ("PASSERS", &programs.passers),
        ("SPEAKERS", &programs.speakers),
        ("TALKERS", &programs.talkers),
        ("KEEPERS", &programs.keepers),
        ("DESTROYERS", &programs.destroyers),
        ("SECRET_VARIABLES", &programs.secret_variables),
        ("STEERING", &programs.steering),
        ("CREDENTIAL_FLAGS", &programs.credential_flags),
        ("DATA", &programs.data),
    ] {
        let mut sorted = list.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), list.len(), "{name}: a name stands twice");
        // Patterns are tried one by one.
        if matches!(name, "SECRET_VARIABLES" | "STEERING" | "CREDENTIAL_FLAGS") {
            writeln!(out, "pub(crate) static {name}: &[&str] = &{sorted:?};").unwrap();
            continue;
        }
        write_slots(
            out,
            &format!("{name}_SLOTS"),
            sorted.iter().map(String::as_str),
        );
        writeln!(
            out,
            "pub(crate) static {name}: NameList = NameList {{ names: &{sorted:?}, slots: {name}_SLOTS }};"
        )
        .unwrap();
    }
    for (name, table) in [
        ("DECODERS", &programs.decoders),
        ("HOOKED", &programs.hooked),
        ("SET_UPS", &programs.set_ups),
    ] {
        writeln!(out, "pub(crate) static {name}: &[(&str, &[&str])] = &[").unwrap();
        for (program, words) in table {
            writeln!(out, "    ({program:?}, &{words:?}),").unwrap();
        }
        writeln!(out, "];").unwrap();
    }
    write_groups(out, programs);
    writeln!(out, "pub(crate) static READ_ONLY_WHEN: &[ReadOnly] = &[").unwrap();
    for entry in &programs.read_only_when {
        writeln!(
            out,
            "    ReadOnly {{ program: {:?}, subcommand: &{:?}, without: &{:?} }},",
            entry.program, entry.subcommand, entry.without
        )
        .unwrap();
    }
    writeln!(out, "];").unwrap();
}

/// The programs policies allow by what they are for, by the name of the group.
fn write_groups(out: &mut String, programs: &ProgramsFile) {
    let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in &programs.group {
        assert!(
            !entry.programs.is_empty(),
            "programs.toml: a part of the group {:?} without programs",
            entry.name
        );
        let only = match &entry.only {
            Some(only) => format!("Some(&{only:?})"),
            None => "None".to_owned(),
        };
        let operands = match entry.operands.as_deref() {
            None => "Any",
            Some("names") => "Names",
            Some("refs") => "Refs",
            Some(other) => panic!("programs.toml: operands of a group are no {other:?}"),
        };
        by_name.entry(&entry.name).or_default().push(format!(
            "Group {{ programs: &{:?}, subcommand: &{:?}, flags: &{:?}, without: &{:?}, only: {only}, \
             without_words: &{:?}, operands: GroupOperands::{operands}, most_operands: {:?} }}",
            entry.programs,
            entry.subcommand,
            entry.flags,
            entry.without,
            entry.without_words,
            entry.most_operands
        ));
    }
    writeln!(out, "pub(crate) static GROUPS: &[(&str, &[Group])] = &[").unwrap();
    for (name, entries) in &by_name {
        writeln!(out, "    ({name:?}, &[{}]),", entries.join(", ")).unwrap();
    }
    writeln!(out, "];").unwrap();
}

/// What programs load of a project's files, and how such files are read.
fn write_loads(out: &mut String, programs: &ProgramsFile) {
    let reader = |word: &str| {
        let known = [
            "python",
            "javascript",
            "ruby",
            "perl",
            "php",
            "lua",
            "awk",
            "vim",
            "sed",
            "shell",
            "package",
            "compose",
            "manifest",
            "lines",
            "literals",
            "unread",
        ];
        assert!(known.contains(&word), "unknown reader `{word}`");
        let (first, rest) = word.split_at(1);
        format!("Reader::{}{rest}", first.to_uppercase())
    };
    writeln!(out, "pub(crate) static LOADS: &[Loads] = &[").unwrap();
    for entry in &programs.loads {
        writeln!(
            out,
            "    Loads {{ subcommand: &{:?}, without: &{:?}, operand: {}, index: &{:?}, \
             extensions: &{:?}, flags: &{:?}, module: {:?}, files: &{:?}, reach: &{:?}, remembered: {}, \
             language: {} }},",
            entry.subcommand,
            entry.without,
            entry.operand,
            entry.index,
            entry.extensions,
            entry.flags,
            entry.module,
            entry.files,
            entry.reach,
            entry.remembered,
            entry.language.as_deref().map_or("None".to_owned(), |word| format!("Some({})", reader(word))),
        )
        .unwrap();
    }
    writeln!(out, "];").unwrap();
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, entry) in programs.loads.iter().enumerate() {
        for name in &entry.programs {
            names.entry(name).or_default().push(at);
        }
    }
    write_slots(out, "LOADERS_SLOTS", names.keys().copied());
    writeln!(out, "pub(crate) static LOADERS: &[(&str, &[usize])] = &[").unwrap();
    for (name, rows) in names {
        writeln!(out, "    ({name:?}, &{rows:?}),").unwrap();
    }
    writeln!(out, "];").unwrap();
    writeln!(out, "pub(crate) static FORMATS: &[(Reader, &[&str])] = &[").unwrap();
    for entry in &programs.format {
        writeln!(out, "    ({}, &{:?}),", reader(&entry.reader), entry.files).unwrap();
    }
    writeln!(out, "];").unwrap();
    write_sources(out, programs);
}

/// Where package managers are told to get packages.
fn write_sources(out: &mut String, programs: &ProgramsFile) {
    let usual = &programs.usual_sources;
    writeln!(
        out,
        "pub(crate) static USUAL_SOURCES: &[&str] = &{usual:?};"
    )
    .unwrap();
    let mut names: BTreeMap<&str, &data_format::SourcesEntry> = BTreeMap::new();
    for entry in &programs.sources {
        // A file that is found and never understood is no question, only a row that looks like one.
        for file in entry.files.iter().chain(&entry.locks) {
            let understood = file.ends_with(".txt")
                || (programs.source_format.iter())
                    .any(|format| format.files.iter().any(|end| file.ends_with(end.as_str())));
            assert!(
                understood,
                "programs.toml: sources are looked for in `{file}`, which has no [[source_format]]"
            );
        }
        for name in &entry.programs {
            let before = names.insert(name, entry);
            assert!(
                before.is_none(),
                "programs.toml: sources of `{name}` stand twice"
            );
        }
    }
    write_slots(out, "SOURCES_SLOTS", names.keys().copied());
    writeln!(out, "pub(crate) static SOURCES: &[(&str, Sources)] = &[").unwrap();
    for (name, entry) in names {
        writeln!(
            out,
            "    ({name:?}, Sources {{ fetching: &{:?}, bare: {:?}, files: &{:?}, locks: &{:?} }}),",
            entry.fetching,
            entry.bare.iter().any(|bare| bare == name),
            entry.files,
            entry.locks
        )
        .unwrap();
    }
    writeln!(out, "];").unwrap();
    writeln!(
        out,
        "pub(crate) static SOURCE_FORMATS: &[(&[&str], SourceForm)] = &["
    )
    .unwrap();
    for entry in &programs.source_format {
        let keys = &entry.keys;
        let form = match entry.form.as_deref() {
            None => format!("SourceForm::Keys(&{keys:?})"),
            Some("any") => "SourceForm::Any".to_owned(),
            Some("dependencies") => "SourceForm::Dependencies".to_owned(),
            Some("replacements") => "SourceForm::Replacements".to_owned(),
            Some("repositories") => "SourceForm::Repositories".to_owned(),
            Some(other) => panic!("programs.toml: unknown form of sources `{other}`"),
        };
        writeln!(out, "    (&{:?}, {form}),", entry.files).unwrap();
    }
    writeln!(out, "];").unwrap();
}

fn write_packs(out: &mut String, packs: &[PathBuf], targets: &[&str]) {
    let mut ids = BTreeSet::new();
    let mut by_program: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut by_pattern: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut rules = String::new();
    let mut filters: Vec<String> = Vec::new();
    let mut first_words: Vec<u128> = Vec::new();
    let mut general_filters: Vec<String> = Vec::new();
    let mut general_needs: Vec<u64> = Vec::new();
    let mut sources = String::new();
    let mut count = 0usize;
    for path in packs {
        let file: PackFile = load(path);
        let place = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(
            path.file_stem().unwrap().to_string_lossy(),
            file.pack,
            "{place}: the pack is named like its file"
        );
        writeln!(
            sources,
            "    ({:?}, {:?}, include_str!({:?})),",
            file.pack,
            file.title,
            fs::canonicalize(path).unwrap()
        )
        .unwrap();
        let method = match file.method.as_deref() {
            None => "Method::Guard",
            Some("file_guard") => "Method::FileGuard",
            Some("self_protection") => "Method::SelfProtection",
            Some(other) => panic!("{place}: unknown method `{other}`"),
        };
        for rule in &file.rule {
            let id = &rule.id;
            assert!(ids.insert(id.clone()), "{place}: `{id}` stands twice");
            assert!(
                id.starts_with(&format!("{}.", file.pack)),
                "{place}: `{id}` does not begin with its pack"
            );
            assert!(
                rule.matches.len() >= 2 && rule.not_matches.len() >= 2,
                "{place}: `{id}` has fewer than two examples of a kind"
            );
            let verdict = match rule.verdict.as_str() {
                "notify" => "Notify",
                "contain" => "Contain",
                "ask" => "Ask",
                "review" => "Review",
                "deny" => "Deny",
                other => panic!("{place}: `{id}` has the unknown verdict `{other}`"),
            };
            let risk = match rule.risk.as_str() {
                "low" => "Low",
                "medium" => "Medium",
                "high" => "High",
                "critical" => "Critical",
                other => panic!("{place}: `{id}` has the unknown risk `{other}`"),
            };
            assert!(
                rule.tell.is_none()
                    && rule.rewrite.is_none()
                    && rule.when.iter().all(|case| case.facts.is_none()),
                "{place}: `{id}` asks about facts, tells or rewrites: a shipped rule means the same on every machine, and changes no command"
            );
            let general = rule.when.iter().any(asks_no_program);
            let mut cases = Vec::new();
            for (number, case) in rule.when.iter().enumerate() {
                cases.push(case_of(case, targets, &format!("{place}: `{id}`")));
                let filter = filter_of(case, (count, general), number, targets);
                let programs = case.program.clone().into_list();
                if programs.is_empty() {
                    general_filters.push(filter);
                    general_needs.push(need_of(case));
                    continue;
                }
                for name in programs {
                    // Programs are compared without case.
                    let name = name.to_ascii_lowercase();
                    let table = match name.contains(['*', '?']) {
                        true => &mut by_pattern,
                        false => &mut by_program,
                    };
                    table.entry(name).or_default().insert(filters.len());
                }
                filters.push(filter);
                first_words.push(first_word_trace(case));
            }
            writeln!(
                rules,
                "    Rule {{ id: Cow::Borrowed({id:?}), pack: Cow::Borrowed({:?}), method: {method}, \
                 verdict: Verdict::{verdict}, risk: Risk::{risk}, reason: Cow::Borrowed({:?}), \
                 instead: Cow::Borrowed({:?}), when: Cow::Borrowed(&[{}]), help: None }},",
                file.pack,
                rule.reason,
                rule.instead,
                cases.join(", ")
            )
            .unwrap();
            count += 1;
        }
    }
    writeln!(out, "pub(crate) static RULES: &[Rule] = &[\n{rules}];").unwrap();
    for (name, table) in [("FILTERS", &filters), ("GENERAL_FILTERS", &general_filters)] {
        let table = table.join(",\n    ");
        writeln!(out, "pub(crate) static {name}: &[Filter] = &[{table}];").unwrap();
    }
    let needing = |bit: u32| {
        let mut set = vec![0u64; general_needs.len().div_ceil(64)];
        for (at, needs) in general_needs.iter().enumerate() {
            set[at / 64] |= (needs >> bit & 1) << (at % 64);
        }
        format!("{set:?}")
    };
    let rows: Vec<String> = (0..64).map(needing).collect();
    writeln!(
        out,
        "pub(crate) static GENERAL_BY_NEED: [[u64; {}]; 64] = [{}];",
        general_needs.len().div_ceil(64),
        rows.join(", ")
    )
    .unwrap();
    writeln!(
        out,
        "pub(crate) static PACKS: &[(&str, &str, &str)] = &[\n{sources}];"
    )
    .unwrap();
    for (name, table) in [
        ("FILTERS_BY_PROGRAM", &by_program),
        ("FILTERS_BY_PATTERN", &by_pattern),
    ] {
        let rows = table.iter().map(|(name, filters)| {
            let filters: Vec<&usize> = filters.iter().collect();
            format!("({name:?}, &{filters:?})")
        });
        let rows: Vec<String> = rows.collect();
        writeln!(
            out,
            "pub(crate) static {name}: &[(&str, &[u16])] = &[{}];",
            rows.join(", ")
        )
        .unwrap();
    }
    writeln!(
        out,
        "pub(crate) static FILTERS_BY_SUBCOMMAND: &[u128] = &{first_words:?};"
    )
    .unwrap();
    let names = by_program.keys().map(String::as_str);
    write_slots(out, "FILTERS_BY_PROGRAM_SLOTS", names);
}

/// Whether a case is about any program, or about names nobody can list.
fn asks_no_program(case: &CaseEntry) -> bool {
    let programs = case.program.clone().into_list();
    programs.is_empty() || programs.iter().any(|name| name.contains(['*', '?']))
}

/// Where each name of a table is found by its hash: its place and one, or none.
fn write_slots<'n>(out: &mut String, table: &str, names: impl Iterator<Item = &'n str> + Clone) {
    let mut slots = vec![0u16; (names.clone().count() * 2).next_power_of_two()];
    for (at, name) in names.enumerate() {
        let mut slot = traces::slot(name, slots.len());
        while slots[slot] != 0 {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = u16::try_from(at + 1).unwrap();
    }
    writeln!(out, "pub(crate) static {table}: &[u16] = &{slots:?};").unwrap();
}

/// What a case asks for at the least.
fn filter_of(
    case: &CaseEntry,
    (rule, general): (usize, bool),
    number: usize,
    targets: &[&str],
) -> String {
    let mask = |field: &OneOrMany, known: &[&str]| {
        let words = field.clone().into_list();
        words
            .iter()
            .fold(0, |mask, word| mask | words::bit(known, word).unwrap())
    };
    let asks = |field: &OneOrMany| !field.clone().into_list().is_empty();
    let programs = case.program.clone().into_list();
    let paths = case.path.clone().into_list();
    format!(
        "Filter {{ rule: {rule}, general: {general}, case: {number}, assigns: {}, within: {}, sql: {}, effect: {}, \
         target: {}, opaque: {}, program: {}, subcommand: {}, words: {}, tool: {}, path: {} }}",
        asks(&case.assigns),
        asks(&case.within),
        asks(&case.sql),
        mask(&case.effect, words::EFFECTS),
        mask(&case.target, targets),
        mask(&case.opaque, words::OPAQUE),
        any_trace(programs.iter().map(String::as_str)),
        first_word_trace(case),
        word_trace(case),
        any_trace(case.tool.clone().into_list().iter().map(String::as_str)),
        all_traces(paths.iter().map(|path| traces::of_path_pattern(path))),
    )
}

/// One bit, of several, that a subject must have for a case to hold.
fn need_of(case: &CaseEntry) -> u64 {
    let words = |field: &OneOrMany| field.clone().into_list();
    let effects = words(&case.effect);
    if !effects.is_empty() {
        let bit = |word: &String| words::bit(words::EFFECTS, word).unwrap();
        return effects.iter().fold(0, |all, word| all | bit(word));
    }
    let others = [
        (&case.opaque, words::NEEDS_OPAQUE),
        (&case.assigns, words::NEEDS_ASSIGNS),
        (&case.within, words::NEEDS_WITHIN),
        (&case.sql, words::NEEDS_SQL),
    ];
    others
        .into_iter()
        .find(|(field, _)| !words(field).is_empty())
        .map_or(words::NEEDS_NOTHING, |(_, bit)| bit)
}

/// The traces of patterns of which a word has to fit one; none if one fits whatever it is.
fn any_trace<'n>(patterns: impl IntoIterator<Item = &'n str>) -> u128 {
    all_traces(patterns.into_iter().map(traces::of_word_pattern))
}

/// The traces of the words its subcommands begin with.
fn first_word_trace(case: &CaseEntry) -> u128 {
    let subcommands = case.subcommand.clone().into_list();
    let first_words = subcommands
        .iter()
        .filter_map(|words| words.split(' ').next());
    any_trace(first_words)
}

/// The traces of the words a case cannot do without, by the one that tells most.
fn word_trace(case: &CaseEntry) -> u128 {
    let specs = case.words.clone().into_list();
    let alternatives = |spec: &String| any_trace(spec.split(" | ").map(str::trim));
    let known = specs.iter().map(alternatives).filter(|bits| *bits != 0);
    known.min_by_key(|bits| bits.count_ones()).unwrap_or(0)
}

/// All of several traces; none if nothing is known of one.
fn all_traces(sets: impl IntoIterator<Item = u128>) -> u128 {
    sets.into_iter()
        .try_fold(0, |all, set| (set != 0).then_some(all | set))
        .unwrap_or(0)
}

fn case_of(case: &CaseEntry, targets: &[&str], place: &str) -> String {
    let list = |field: &OneOrMany| {
        let texts: Vec<String> = field
            .clone()
            .into_list()
            .iter()
            .map(|text| format!("Cow::Borrowed({text:?})"))
            .collect();
        format!("Cow::Borrowed(&[{}])", texts.join(", "))
    };
    let mask = |field: &OneOrMany, known: &[&str], what: &str| {
        field.clone().into_list().iter().fold(0u64, |mask, word| {
            mask | words::bit(known, word)
                .unwrap_or_else(|| panic!("{place}: unknown {what} `{word}`"))
        })
    };
    let paths = case.path.clone().into_list();
    let path_marks: Vec<u32> = paths
        .iter()
        .map(|path| traces::mark_of_path_pattern(path))
        .collect();
    format!(
        "Case {{ program: {}, subcommand: {}, not_subcommand: {}, flags: {}, without: {}, operands: {}, not_operands: {}, \
         least_operands: {:?}, most_operands: {:?}, words: {}, effect: {}, target: {}, path: {}, \
         path_marks: Cow::Borrowed(&{:?}), not_path: {}, host: {}, not_host: {}, recursive: {:?}, forced: {:?}, sql: {}, opaque: {}, assigns: {}, \
         not_program: {}, within: {}, not_within: {}, tool: {}, facts: None }}",
        list(&case.program),
        list(&case.subcommand),
        list(&case.not_subcommand),
        list(&case.flags),
        list(&case.without),
        list(&case.operands),
        list(&case.not_operands),
        case.least_operands,
        case.most_operands,
        list(&case.words),
        mask(&case.effect, words::EFFECTS, "effect"),
        mask(&case.target, targets, "target"),
        list(&case.path),
        path_marks,
        list(&case.not_path),
        list(&case.host),
        list(&case.not_host),
        case.recursive,
        case.forced,
        list(&case.sql),
        mask(&case.opaque, words::OPAQUE, "reason"),
        list(&case.assigns),
        list(&case.not_program),
        list(&case.within),
        list(&case.not_within),
        list(&case.tool),
    )
}
