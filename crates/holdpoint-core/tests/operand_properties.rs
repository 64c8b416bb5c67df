//! What holds for the words of every program of `rules/programs.toml`, and of every command of
//! `corpus/shell`: another operand never loosens a verdict, and the value of a flag is the same glued
//! to it, behind it and behind `=`, for packs and for file rules alike.
//!
//! A run tries some of the programs' flags, rotating; `HOLDPOINT_FORMS=all` tries all.

#![allow(
    clippy::disallowed_methods,
    reason = "the programs are a file, and how many are tried is said from outside"
)]

mod shell;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use holdpoint_core::{Decision, Policy, Session, Surroundings, ToolCall, judge_call};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::shell::{Outcome, corpus, default_policy};

/// One of so many programs or flags is tried, unless all are asked for.
const OF_ALL: usize = 7;

#[derive(Deserialize)]
struct Programs {
    program: Vec<Program>,
}

/// What is needed of an entry of `programs.toml`.
#[derive(Deserialize)]
struct Program {
    names: Vec<String>,
    #[serde(default)]
    single_dash: bool,
    #[serde(default)]
    dashless: bool,
    #[serde(default)]
    glued: Vec<String>,
    #[serde(flatten)]
    own: Part,
    #[serde(default, rename = "case")]
    cases: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    subcommand: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    flag_operands: BTreeMap<String, String>,
    #[serde(default)]
    at_file: Vec<String>,
    last: Option<String>,
}

impl Program {
    /// A name it is run by; `time` is a word of the shell, with flags of its own.
    fn name(&self) -> Option<&str> {
        let plain = |name: &&String| !name.contains(['*', '?', '/']) && *name != "time";
        self.names.iter().find(plain).map(String::as_str)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.own).chain(&self.cases)
    }

    /// The spellings of a flag with a value that its program takes for the same.
    fn spellings(&self, flag: &str, value: &str) -> Vec<String> {
        let long = flag.starts_with("--") || self.single_dash;
        let glued = match long {
            true => self.glued.iter().any(|one| one == flag),
            false => flag.len() == 2 && flag.starts_with('-'),
        };
        let mut all = vec![format!("{flag} {value}")];
        all.extend(long.then(|| format!("{flag}={value}")));
        all.extend(glued.then(|| format!("{flag}{value}")));
        all
    }
}

impl Part {
    /// The words behind the program that make it hold.
    fn front(&self) -> Option<String> {
        let subcommand = self.subcommand.first().map(String::as_str).unwrap_or("");
        let flags = self
            .flags
            .iter()
            .filter_map(|flag| flag.split(" | ").next());
        let words: Vec<&str> = subcommand.split_whitespace().chain(flags).collect();
        let plain = words.iter().all(|word| !word.contains(['*', '?', '=']));
        plain.then(|| words.join(" "))
    }
}

fn programs() -> Outcome<Vec<Program>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules/programs.toml");
    let file: Programs = toml::from_str(&fs::read_to_string(path)?)?;
    Ok(file.program)
}

fn rotation() -> usize {
    let all = std::env::var("HOLDPOINT_FORMS").is_ok_and(|text| text == "all");
    if all { 1 } else { OF_ALL }
}

fn policy(text: &Value) -> Outcome<Policy> {
    Ok(Policy::from_text("test", text.to_string())?)
}

/// A policy of file rules alone, under which reading, writing and neither differ.
fn file_rules() -> Outcome<Policy> {
    policy(&json!({
        "defaultPolicy": "allow",
        "guards": { "enabled": false },
        "files": {
            "read": { "ask": ["secrets"] },
            "write": { "deny": ["secrets"] },
            "delete": { "deny": ["secrets"] },
        },
    }))
}

fn judged(line: &str, policy: &Policy) -> Decision {
    let around = Surroundings {
        workspace: Some("/work/app"),
        home: Some("/home/dev"),
        ..Surroundings::nowhere()
    };
    judge_call(&ToolCall::shell(line), policy, &Session::default(), &around)
}

fn none(mut wrong: Vec<String>) {
    wrong.truncate(60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn another_operand_of_any_program_never_loosens() -> Outcome<()> {
    let rotation = rotation();
    let (packs, files) = (default_policy()?, file_rules()?);
    let mut wrong = Vec::new();
    let programs = programs()?;
    let named = programs.iter().filter_map(|one| Some((one.name()?, one)));
    let fronts = named.flat_map(|(name, program)| {
        let fronts = program.parts().filter_map(Part::front);
        fronts.map(move |front| format!("{name} {front}"))
    });
    for front in fronts.step_by(rotation) {
        // The first operand says where to, the second what; what is not said is not known.
        if front == "git push" {
            continue;
        }
        for (policy, operand) in [
            (&files, "secrets"),
            (&packs, "~/.ssh/id_rsa"),
            (&packs, "/"),
            (&packs, "/etc/passwd"),
        ] {
            let before = judged(&format!("{front} {operand}"), policy).verdict;
            for more in ["zz", "zz yy", "/tmp/zz"] {
                let line = format!("{front} {operand} {more}");
                let after = judged(&line, policy).verdict;
                if after < before {
                    wrong.push(format!("{line}: {before:?}, so {after:?}"));
                }
            }
        }
    }
    none(wrong);
    Ok(())
}

/// Programs to which their first operand says what to run in place of their input or of an installation, or which
/// of all variables to print: with one where they had none they do something else.
const DO_SOMETHING_ELSE: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "ssh",
    "env",
    "sudo",
    "doas",
    "printenv",
    "export",
    "declare",
    "redis-cli",
    "yarn",
    "ocaml",
    // `gh workflow run` asks which one.
    "run",
];

/// Whether a command ends in one of these programs, with nothing but flags and what it reads behind it.
fn has_no_operand(last: &str) -> bool {
    let told = last.split('<').next().unwrap_or_default();
    let words = told.split(|letter: char| letter.is_whitespace() || "'\"/".contains(letter));
    let mut words = words.filter(|word| !word.is_empty() && !word.starts_with('-'));
    let program = words.next_back().unwrap_or_default();
    let program = program.trim_end_matches(".exe").to_ascii_lowercase();
    DO_SOMETHING_ELSE.contains(&program.as_str())
}

#[test]
fn another_operand_of_a_command_never_loosens() -> Outcome<()> {
    let policy = default_policy()?;
    let programs = programs()?;
    let moved = programs
        .iter()
        .filter(|one| one.parts().any(|part| part.last.is_some()));
    let mut others: BTreeSet<&str> = moved
        .flat_map(|one| one.names.iter().map(String::as_str))
        .collect();
    // Another target is made in place of the first.
    others.insert("make");
    let rotation = rotation();
    let mut wrong = Vec::new();
    let cases = corpus()?;
    let commands = cases
        .iter()
        .flat_map(|case| case.commands.iter().map(move |command| (case, command)));
    for (case, command) in commands.step_by(rotation) {
        let last = command.rsplit(['|', ';', '&']).next().unwrap_or_default();
        let mut words =
            last.split(|letter: char| letter.is_whitespace() || "'\"/".contains(letter));
        // What stands behind a comment or a heredoc is no operand, and what a function or an
        // interpreter with code for its input does with one is another matter; to PowerShell it is more code.
        let other = ["\n", "#", "<<<", "<&", "function", "pwsh ", "powershell "]
            .iter()
            .any(|sign| command.contains(sign));
        // A makefile that is run as a script makes another target then, as `make` does.
        let makes = |text: &String| text.starts_with("#!/usr/bin/make");
        let plain = |word: &str| word.trim_end_matches(".exe").to_ascii_lowercase();
        if other
            || has_no_operand(last)
            || words.any(|word| others.contains(plain(word).as_str()))
            || case.files.values().any(makes)
        {
            continue;
        }
        let before = case.judged(command, &policy)?.verdict;
        let line = format!("{command} zz");
        let after = case.judged(&line, &policy)?;
        // `{ …; } zz` is no line of the shell: nothing of it runs.
        let unreadable = after.rule.as_deref() == Some("shell.unreadable");
        if after.verdict < before && !unreadable {
            wrong.push(format!("{line}: {before:?}, so {:?}", after.verdict));
        }
    }
    none(wrong);
    Ok(())
}

/// Programs that take the word for another thing glued to a flag: interpreters, of which a letter in a
/// cluster may bring code (`-De`, so they are asked about), and those that take no value behind `=`.
const READ_OTHERWISE: &[&str] = &[
    "bash", "fish", "gdb", "expect", "Rscript", "julia", "tclsh", "swift", "emacs", "env",
];

#[test]
fn a_flags_value_is_judged_the_same_in_every_spelling() -> Outcome<()> {
    let rotation = rotation();
    let (packs, files) = (default_policy()?, file_rules()?);
    let programs = programs()?;
    let mut lines: Vec<Vec<String>> = Vec::new();
    for program in &programs {
        let Some(name) = program.name().filter(|name| !READ_OTHERWISE.contains(name)) else {
            continue;
        };
        for part in program.parts() {
            let Some(front) = part.front() else { continue };
            let takes =
                |flag: &&String| part.values.contains(flag) || program.own.values.contains(flag);
            let flags: BTreeSet<&String> = part
                .values
                .iter()
                .chain(part.flag_operands.keys())
                .filter(takes)
                .collect();
            for flag in flags {
                // A cluster without its dash has no value glued to it.
                let given = part.flags.iter().any(|one| one.contains(flag.as_str()));
                if given || (program.dashless && flag.len() == 2) {
                    continue;
                }
                let at = part.at_file.contains(flag) || program.own.at_file.contains(flag);
                let value = if at { "@./secrets" } else { "./secrets" };
                let spellings = program.spellings(flag, value);
                let line = |spelling: &String| format!("{name} {front} {spelling} x");
                lines.push(spellings.iter().map(line).collect());
            }
        }
    }
    let mut wrong = Vec::new();
    for spelled in lines.iter().filter(|one| one.len() > 1).step_by(rotation) {
        for (policy, value) in [(&files, "./secrets"), (&packs, "/home/dev/.ssh/id_rsa")] {
            let told = |line: &String| {
                let decision = judged(&line.replace("./secrets", value), policy);
                (decision.verdict, decision.rule)
            };
            let first = spelled.first().map(told);
            for line in spelled.iter().skip(1) {
                let other = Some(told(line));
                if first != other {
                    wrong.push(format!("{spelled:?}: {first:?} and {other:?}"));
                }
            }
        }
    }
    assert!(lines.len() > 5000, "{}", lines.len());
    none(wrong);
    Ok(())
}
