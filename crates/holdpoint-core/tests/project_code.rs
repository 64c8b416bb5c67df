//! Code that lies in the project, over the whole table of `programs.toml`: a harmful file at every
//! place some program loads it from is never met with silence if the session wrote it, and the same
//! file is left alone if it is committed.

#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its tables; what it tests does not"
)]

#[allow(
    dead_code,
    reason = "what the corpus is read by; the cases here are made"
)]
mod shell;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use holdpoint_core::Verdict;

use crate::shell::{Case, Outcome, default_policy};

/// A file that removes a home, in the language its name says.
fn harmful(name: &str, reader: &str) -> String {
    let line = "rm -rf /home/dev";
    match reader {
        "python" => format!("import os\nos.system('{line}')\n"),
        "javascript" => format!("require('child_process').execSync('{line}')\n"),
        "ruby" | "perl" => format!("system('{line}');\n"),
        "php" => format!("<?php system('{line}');\n"),
        "lua" => format!("os.execute('{line}')\n"),
        "awk" => format!("BEGIN {{ system(\"{line}\") }}\n"),
        "vim" => format!("!{line}\n"),
        "sed" => format!("1e {line}\n"),
        "shell" => format!("{line}\n"),
        "package" => format!(
            r#"{{"scripts": {{"install": "{line}", "post-autoload-dump": "{line}"}}, "exec": "{line}", "tasks": {{"task": "{line}"}}}}"#
        ),
        "compose" => format!(
            "services:\n  a:\n    image: alpine\n    volumes:\n      - /:/host\n    command: {line}\n"
        ),
        "manifest" => {
            "spec:\n  containers:\n  - image: a\n  volumes:\n  - hostPath:\n      path: /\n"
                .to_owned()
        }
        "lines" => format!("run: {line}\n"),
        _ if name.ends_with(".xml") || name.contains("proj") || name.contains("Directory.") => {
            format!(
                "<a><Exec Command=\"{line}\"/><exec executable=\"rm\"><arg line=\"-rf /home/dev\"/></exec></a>"
            )
        }
        _ => format!("system(\"{line}\")\n"),
    }
}

/// A path a pattern stands for.
fn instance(pattern: &str) -> String {
    pattern.replace("**", "sub").replace(['*', '?'], "x")
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| fits(after, rest)))
        }),
    }
}

struct Table {
    loads: Vec<toml::Table>,
    formats: Vec<(String, Vec<String>)>,
}

fn texts(table: &toml::Table, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(toml::Value::as_array);
    let items = list.into_iter().flatten().filter_map(toml::Value::as_str);
    items.map(str::to_owned).collect()
}

fn table() -> Outcome<Table> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules/programs.toml");
    let file: toml::Table = fs::read_to_string(path)?.parse()?;
    let tables = |key: &str| -> Vec<toml::Table> {
        let list = file.get(key).and_then(toml::Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(|one| one.as_table().cloned())
            .collect()
    };
    let formats = tables("format");
    let formats = formats
        .iter()
        .filter_map(|one| Some((one.get("reader")?.as_str()?.to_owned(), texts(one, "files"))));
    Ok(Table {
        formats: formats.collect(),
        loads: tables("loads"),
    })
}

impl Table {
    fn reader(&self, row: &toml::Table, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path);
        let known = self
            .formats
            .iter()
            .find(|(_, files)| files.iter().any(|pattern| fits(pattern, name)));
        let own = row.get("language").and_then(toml::Value::as_str);
        // Settings of any kind are read as what loads them says.
        let told = own.filter(|own| matches!(*own, "compose" | "manifest"));
        known
            .map(|(reader, _)| reader.as_str())
            .filter(|reader| *reader != "lines" || told.is_none())
            .or(own)
            .unwrap_or("none")
            .to_owned()
    }
}

/// A file, and a command that loads it.
struct Loaded {
    path: String,
    text: String,
    command: String,
}

/// Every way each row has to load a file.
fn ways(table: &Table) -> Vec<Loaded> {
    let mut ways = Vec::new();
    for row in &table.loads {
        let programs = texts(row, "programs");
        let subcommands = texts(row, "subcommand");
        for (at, program) in programs.iter().enumerate() {
            let subcommand = subcommands
                .get(at % subcommands.len().max(1))
                .map(|word| format!(" {word}"))
                .unwrap_or_default();
            let start = format!("{program}{subcommand}");
            let mut add = |path: String, command: String| {
                let reader = table.reader(row, &path);
                let text = harmful(&path, &reader);
                ways.push(Loaded {
                    path,
                    text,
                    command,
                });
            };
            let mut files = texts(row, "files");
            if at > 0 && !files.is_empty() {
                // Programs of a row are alike: each of the others tries one.
                files = vec![files.swap_remove(at % files.len())];
            }
            for pattern in files {
                // What git has of a package's scripts is asked by name.
                let command = match pattern.ends_with("json") {
                    true => format!("{start} install task"),
                    false => start.clone(),
                };
                add(instance(&pattern), command);
            }
            if row.get("operand").is_some() {
                for pattern in texts(row, "reach").iter().take(2) {
                    let path = instance(pattern);
                    add(path.clone(), format!("{start} {path}"));
                    // Named by the words, reached by import.
                    if pattern.ends_with(".py") {
                        add("helper.py".into(), format!("{start} 'import helper'"));
                    }
                }
                for index in texts(row, "index") {
                    if index != "package.json" {
                        add(format!("dir/{index}"), format!("{start} dir"));
                    }
                }
            }
            for flag in texts(row, "flags") {
                let reach = texts(row, "reach");
                let Some(path) = reach.first().map(|pattern| instance(pattern)) else {
                    continue;
                };
                add(path.clone(), format!("{start} {flag} {path}"));
                if flag.starts_with("--") {
                    add(path.clone(), format!("{start} {flag}={path}"));
                }
            }
        }
    }
    ways
}

fn case(file: &Loaded, written: bool) -> Case {
    let name = vec![file.path.clone()];
    Case {
        verdict: Verdict::Deny,
        rule: None,
        note: None,
        commands: Vec::new(),
        cwd: None,
        files: BTreeMap::from([(file.path.clone(), file.text.clone())]),
        bytes: BTreeMap::new(),
        padding: 0,
        links: BTreeMap::new(),
        repository: true,
        written: if written { name.clone() } else { Vec::new() },
        fetched: Vec::new(),
        committed: if written { Vec::new() } else { name },
        changed: Vec::new(),
        topic: String::new(),
    }
}

/// The same place with nothing in it.
fn empty(file: &Loaded) -> Case {
    Case {
        files: BTreeMap::new(),
        ..case(file, false)
    }
}

#[test]
fn a_harmful_file_the_session_wrote_is_never_met_with_silence() -> Outcome<()> {
    let policy = default_policy()?;
    let table = table()?;
    let ways = ways(&table);
    assert!(ways.len() > 1000, "{}", ways.len());
    let mut silent = Vec::new();
    for way in &ways {
        let verdict = case(way, true).judged(&way.command, &policy)?.verdict;
        if matches!(verdict, Verdict::Allow | Verdict::Notify) {
            silent.push(format!("{} with {}", way.command, way.path));
        }
    }
    assert!(
        silent.is_empty(),
        "{} of {}:\n{}",
        silent.len(),
        ways.len(),
        silent.join("\n")
    );
    Ok(())
}

#[test]
fn a_committed_file_changes_nothing() -> Outcome<()> {
    let policy = default_policy()?;
    let table = table()?;
    for way in &ways(&table) {
        // Scripts an interpreter is given are followed, whoever wrote them.
        if way.command.split(' ').any(|word| word.ends_with(&way.path)) || way.path == "artisan" {
            continue;
        }
        let with = case(way, false).judged(&way.command, &policy)?.verdict;
        let without = empty(way).judged(&way.command, &policy)?.verdict;
        assert_eq!(with, without, "{} with {}", way.command, way.path);
    }
    Ok(())
}

/// Every way each row has to load what is read while it runs.
fn streamed(table: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &table.loads {
        let reader = match table.reader(row, "x").as_str() {
            // What is applied is a rule's affair.
            "manifest" => continue,
            "none" => "lines".to_owned(),
            reader => reader.to_owned(),
        };
        let text = harmful("x", &reader);
        let subcommand = texts(row, "subcommand")
            .first()
            .map(|word| format!(" {word}"));
        let subcommand = subcommand.unwrap_or_default();
        for (at, program) in texts(row, "programs").iter().enumerate() {
            let start = format!("{program}{subcommand}");
            let mut told: Vec<String> = texts(row, "flags")
                .iter()
                .map(|flag| format!("{start} {flag} "))
                .collect();
            if row.get("operand").is_some() {
                told.push(format!("{start} "));
            }
            if at > 0 && !told.is_empty() {
                // Programs of a row are alike: each of the others tries one.
                told = vec![told.swap_remove(at % told.len())];
            }
            for told in told {
                lines.push(format!("{told}/dev/stdin <<'END'\n{text}END\n"));
                lines.push(format!("{told}<(cat <<'END'\n{text}END\n)"));
            }
        }
    }
    lines
}

#[test]
fn what_a_loader_is_told_to_read_from_a_stream_is_never_met_with_silence() -> Outcome<()> {
    let policy = default_policy()?;
    let table = table()?;
    let lines = streamed(&table);
    assert!(lines.len() > 500, "{}", lines.len());
    let file = Loaded {
        path: "README".to_owned(),
        text: String::new(),
        command: String::new(),
    };
    let place = case(&file, false);
    let mut silent = Vec::new();
    for line in &lines {
        let verdict = place.judged(line, &policy)?.verdict;
        if matches!(verdict, Verdict::Allow | Verdict::Notify) {
            silent.push(line.clone());
        }
    }
    let count = silent.len();
    assert!(
        silent.is_empty(),
        "{count} of {}:\n{}",
        lines.len(),
        silent.join("\n")
    );
    Ok(())
}
