//! What holds for the spellings of flags: a flag whose value runs is never silent about a command that
//! is refused, however it is written; and what the packs refuse they refuse with its long flags cut
//! short, too.

#![allow(
    clippy::disallowed_methods,
    reason = "the packs and the programs are files, and how many are tried is said from outside"
)]

mod shell;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_core::{Policy, Session, Surroundings, ToolCall, Verdict, judge_call};
use serde::Deserialize;

use crate::shell::{Outcome, corpus, default_policy};

#[derive(Deserialize)]
struct Programs {
    program: Vec<Program>,
    carrier: Vec<Carrier>,
}

#[derive(Deserialize)]
struct Program {
    names: Vec<String>,
    #[serde(default)]
    single_dash: bool,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    same: Vec<Vec<String>>,
    #[serde(default)]
    flag_operands: BTreeMap<String, String>,
    #[serde(default, rename = "case")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    flag_operands: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Carrier {
    programs: Vec<String>,
    #[serde(default)]
    subcommand: Vec<String>,
    #[serde(default)]
    runs: Vec<String>,
    #[serde(default)]
    loads: Vec<String>,
}

impl Program {
    /// The long flags something is said of.
    fn long_flags(&self) -> BTreeSet<&str> {
        let cases = self.cases.iter();
        let listed = cases.flat_map(|case| case.values.iter().chain(case.flag_operands.keys()));
        let own = self.values.iter().chain(self.flag_operands.keys());
        own.chain(self.same.iter().flatten())
            .chain(listed)
            .map(String::as_str)
            .filter(|flag| flag.starts_with("--"))
            .collect()
    }
}

fn rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules")
}

fn programs() -> Outcome<Programs> {
    Ok(toml::from_str(&fs::read_to_string(
        rules().join("programs.toml"),
    )?)?)
}

fn verdict(line: &str, policy: &Policy) -> Verdict {
    let around = Surroundings {
        workspace: Some("/work/app"),
        home: Some("/home/dev"),
        ..Surroundings::nowhere()
    };
    judge_call(&ToolCall::shell(line), policy, &Session::default(), &around).verdict
}

fn none(mut wrong: Vec<String>) {
    wrong.truncate(60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The ways to write a flag with a value in quotes.
fn spellings(flag: &str, value: &str, others: &BTreeSet<&str>) -> Vec<String> {
    // The sign at its end glues the value to it.
    if flag.ends_with([':', ',']) {
        return vec![format!("{flag}'{value}'")];
    }
    let mut all = vec![format!("{flag} '{value}'")];
    if flag.starts_with("--") {
        all.push(format!("{flag}='{value}'"));
        for length in 5..flag.len() {
            let Some(short) = flag.get(..length) else {
                continue;
            };
            if !others
                .iter()
                .any(|other| *other != flag && other.starts_with(short))
            {
                all.push(format!("{short}='{value}'"));
                all.push(format!("{short} '{value}'"));
            }
        }
    } else if flag.len() == 2 {
        all.push(format!("{flag}'{value}'"));
    } else if flag != "-TT" {
        all.push(format!("{flag}='{value}'"));
    }
    all
}

#[test]
fn a_flag_that_runs_its_value_is_never_silent_about_a_refused_one() -> Outcome<()> {
    let policy = default_policy()?;
    let file = programs()?;
    let mut wrong = Vec::new();
    let mut tried = 0;
    for carrier in &file.carrier {
        for name in &carrier.programs {
            let program = file.program.iter().find(|one| one.names.contains(name));
            let single_dash = program.is_some_and(|one| one.single_dash);
            let mut others: BTreeSet<&str> = program.map(Program::long_flags).unwrap_or_default();
            let all = || carrier.runs.iter().chain(&carrier.loads);
            others.extend(all().filter_map(|flag| flag.split('=').next()));
            let subcommand = carrier.subcommand.first().map_or("", String::as_str);
            for flag in all() {
                let (flag, begins) = flag.split_once('=').unwrap_or((flag.as_str(), ""));
                let value = format!("{begins}rm -rf /");
                for spelling in spellings(flag, &value, &others) {
                    // Whole words behind one dash have nothing glued to them.
                    if single_dash && flag.len() == 2 && !spelling.contains(' ') {
                        continue;
                    }
                    for line in [
                        format!("{name} {subcommand} {spelling} x"),
                        format!("{name} {subcommand} x {spelling}"),
                    ] {
                        tried += 1;
                        if verdict(&line, &policy) < Verdict::Ask {
                            wrong.push(line);
                        }
                    }
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
    none(wrong);
    Ok(())
}

/// Every line of the packs' examples that are to match.
fn examples() -> Outcome<Vec<String>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(rules())? {
        let path = entry?.path();
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        let pack: toml::Table = fs::read_to_string(&path)?.parse()?;
        let rules = pack.get("rule").and_then(toml::Value::as_array);
        for rule in rules.into_iter().flatten() {
            let matches = rule.get("matches").and_then(toml::Value::as_array);
            let texts = matches
                .into_iter()
                .flatten()
                .filter_map(toml::Value::as_str);
            lines.extend(texts.map(str::to_owned));
        }
    }
    Ok(lines)
}

#[test]
fn what_is_refused_is_refused_with_its_flags_cut_short() -> Outcome<()> {
    let policy = default_policy()?;
    let file = programs()?;
    let mut wrong = Vec::new();
    let mut tried = 0;
    for line in examples()? {
        let words: Vec<&str> = line.split(' ').collect();
        let plain = !line.contains(['\'', '"', '|', ';', '&', '`', '$', '\n']);
        let Some(program) = words
            .first()
            .and_then(|name| {
                file.program
                    .iter()
                    .find(|one| one.names.iter().any(|known| known == name))
            })
            .filter(|program| plain && !program.single_dash)
        else {
            continue;
        };
        let known = program.long_flags();
        let before = verdict(&line, &policy);
        if before < Verdict::Deny {
            continue;
        }
        for (at, word) in words.iter().enumerate() {
            let flag = word.split('=').next().unwrap_or_default();
            if !flag.starts_with("--") || flag.len() < 7 {
                continue;
            }
            for length in 6..flag.len() {
                let Some(short) = flag.get(..length) else {
                    continue;
                };
                if known
                    .iter()
                    .any(|other| *other != flag && other.starts_with(short))
                {
                    continue;
                }
                let mut other = words.clone();
                let respelled = format!("{short}{}", word.get(flag.len()..).unwrap_or_default());
                if let Some(place) = other.get_mut(at) {
                    *place = &respelled;
                }
                let other = other.join(" ");
                tried += 1;
                if verdict(&other, &policy) < before {
                    wrong.push(format!("{line}: {before:?}, and not {other}"));
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
    none(wrong);
    Ok(())
}

/// A program nobody has described that is handed a command in some way of its own.
const HANDED: [&str; 6] = [
    "thing --do 'LINE'",
    "thing --do='LINE'",
    "thing -x 'LINE' y",
    "thing on.exit='LINE'",
    "thing 'start:run(LINE)'",
    "THING_HOOK='LINE' thing",
];

#[test]
fn a_refused_command_among_the_words_of_an_unknown_program_is_asked_about() -> Outcome<()> {
    let policy = default_policy()?;
    let mut wrong = Vec::new();
    let mut tried = 0;
    for case in corpus()? {
        let lone = case.files.is_empty() && case.bytes.is_empty();
        if case.verdict != Verdict::Deny || !lone {
            continue;
        }
        for (at, line) in case
            .commands
            .iter()
            .enumerate()
            .filter(|(at, _)| at % 5 == 0)
        {
            // A plain command of a program that is known by its name.
            let plain = line
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || " -_./=~:@+".contains(letter));
            if !plain
                || !line.starts_with(|letter: char| letter.is_ascii_lowercase())
                || line.starts_with("thing")
                || !line.contains(' ')
                || line.contains('=')
                || case.judged(line, &policy)?.verdict < Verdict::Deny
            {
                continue;
            }
            let form = HANDED
                .get(at / 5 % HANDED.len())
                .copied()
                .unwrap_or_default();
            let handed = form.replace("LINE", line);
            tried += 1;
            if case.judged(&handed, &policy)?.verdict < Verdict::Ask {
                wrong.push(handed);
            }
        }
    }
    assert!(tried > 50, "{tried}");
    none(wrong);
    Ok(())
}
