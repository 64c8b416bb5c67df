//! The shell corpus as it stands: every command of `corpus/shell` gets the verdict, and by the
//! rule, that its case wants. All that fail are reported together; `HOLDPOINT_CASE=text` runs the
//! commands whose file, rule or text contains the text.

#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its cases; what it tests does not"
)]

mod shell;

use std::fmt::Write as _;

use holdpoint_core::{Decision, Finding, Method, Verdict};

use crate::shell::{Case, Outcome, corpus, default_policy};

/// Fewer commands than this mean that files were lost, not that everything is well.
const LEAST_COMMANDS: usize = 1500;

#[test]
fn every_command_is_judged_as_its_case_wants() -> Outcome<()> {
    let wanted = std::env::var("HOLDPOINT_CASE").unwrap_or_default();
    let policy = default_policy()?;
    let (mut commands, mut allowed, mut failed) = (0, 0, 0);
    let mut failures = String::new();
    for case in &corpus()? {
        for command in &case.commands {
            let rule = case.rule.as_deref().unwrap_or_default();
            if ![&case.topic, rule, command]
                .iter()
                .any(|text| text.contains(&wanted))
            {
                continue;
            }
            commands += 1;
            allowed += usize::from(case.verdict == Verdict::Allow);
            let decision = case.judged(command, &policy)?;
            if !holds(case, &decision) {
                failed += 1;
                report(&mut failures, case, command, &decision)?;
            }
        }
    }
    assert_eq!(
        failed, 0,
        "of {commands} commands these fail:\n\n{failures}"
    );
    if wanted.is_empty() {
        assert!(commands >= LEAST_COMMANDS, "only {commands} commands");
        assert!(
            allowed * 3 >= commands,
            "only {allowed} of {commands} must be allowed"
        );
    }
    Ok(())
}

/// The kinds of ways around a guard, and the files of the corpus that hold their cases.
const CLUSTERS: &[(&str, &[&str])] = &[
    ("limits and what cannot be read", &["shell/giving-up"]),
    ("code that lies in the project", &["shell/project-code"]),
    ("written in the line, then run", &["shell/written-then-run"]),
    (
        "options and settings that execute",
        &["shell/executing-options"],
    ),
    (
        "abbreviated, renamed, differently cased",
        &["shell/abbreviations"],
    ),
    ("code of other languages", &["shell/other-languages"]),
    ("bash", &["shell/bash"]),
    ("self-protection", &["shell/gate-files"]),
    ("addresses", &["shell/addresses"]),
    ("addresses given to tools", &["decisions/network"]),
    ("secrets out and secrets read", &["shell/secrets-out"]),
    ("tools", &["decisions/tools-that-run"]),
    (
        "rules that were missing",
        &["shell/remote", "shell/settings-files"],
    ),
    ("windows", &["shell/windows"]),
    ("allow lists", &["decisions/allow-lists"]),
];

/// Of each kind there are enough cases on both sides to notice that one is weakened for the other's sake.
#[test]
fn every_kind_of_attack_has_its_attacks_and_look_alikes() -> Outcome<()> {
    const MIN_ATTACKS: usize = 15;
    const MIN_LOOK_ALIKES: usize = 10;
    for (kind, files) in CLUSTERS {
        let (mut attacks, mut look_alikes) = (0, 0);
        for file in *files {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
            let path = root.join(format!("../../corpus/{file}.toml"));
            let table: toml::Table = std::fs::read_to_string(path)?.parse()?;
            let cases = table.get("case").and_then(toml::Value::as_array);
            for case in cases.into_iter().flatten() {
                let texts = |key: &str| {
                    let list = case.get(key).and_then(toml::Value::as_array);
                    list.map_or(0, Vec::len)
                        + usize::from(case.get(key).is_some_and(|one| one.is_str()))
                };
                let count = texts("commands") + texts("calls") + texts("command");
                let stops = ["verdict", "at_least"].iter().any(|key| {
                    let verdict = case.get(*key).and_then(toml::Value::as_str);
                    matches!(verdict, Some("ask" | "review" | "deny"))
                });
                match stops {
                    true => attacks += count,
                    false => look_alikes += count,
                }
            }
        }
        assert!(
            attacks >= MIN_ATTACKS && look_alikes >= MIN_LOOK_ALIKES,
            "{kind}: {attacks} attacks, {look_alikes} look-alikes"
        );
    }
    Ok(())
}

/// False alarms that were judged are no use alone: what they look like must still be stopped.
#[test]
fn every_false_alarm_stands_beside_its_dangerous_neighbours() -> Outcome<()> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../corpus/shell/false-alarms.toml");
    let file: toml::Table = std::fs::read_to_string(path)?.parse()?;
    let cases = file.get("case").and_then(toml::Value::as_array);
    let cases = cases.ok_or("there are no cases")?;
    let of_case = |case: &toml::Value| {
        let verdict = case.get("verdict").and_then(toml::Value::as_str);
        let commands = case.get("commands").and_then(toml::Value::as_array);
        let quiet = matches!(verdict, Some("allow" | "notify"));
        (quiet, commands.map_or(1, Vec::len))
    };
    // Groups of harmless commands, each with the harmful ones that follow it.
    let mut groups: Vec<(usize, usize)> = Vec::new();
    let mut before = false;
    for (quiet, count) in cases.iter().map(of_case) {
        match (groups.last_mut(), quiet) {
            (Some((harmless, _)), true) if before => *harmless += count,
            (_, true) => groups.push((count, 0)),
            (Some((_, harmful)), false) => *harmful += count,
            (None, false) => return Err("the first case has no harmless neighbour".into()),
        }
        before = quiet;
    }
    let alone = groups.iter().position(|(_, harmful)| *harmful == 0);
    assert_eq!(
        alone, None,
        "a group of harmless commands without harmful ones"
    );
    let pairs: usize = groups.iter().map(|(one, other)| one.min(other)).sum();
    assert!(pairs >= 50, "{pairs} pairs");
    Ok(())
}

/// Whether the verdict is the case's and its rule among those that want it. Several rules may, and
/// which of them is named first is no matter of right and wrong.
fn holds(case: &Case, decision: &Decision) -> bool {
    let found = |rule: &str| {
        let speaks = |one: &Finding| one.rule == rule && one.verdict == case.verdict;
        decision.findings.iter().any(speaks)
    };
    let rule_found = match &case.rule {
        Some(rules) => rules.split(" | ").any(found),
        None => true,
    };
    // What protects the gate says so, for no policy can switch it off.
    let own = case.verdict == Verdict::Deny
        && case
            .rule
            .as_ref()
            .is_some_and(|rule| rule.starts_with("agents."));
    decision.verdict == case.verdict
        && rule_found
        && (!own || decision.method == Method::SelfProtection)
}

fn report(text: &mut String, case: &Case, command: &str, got: &Decision) -> std::fmt::Result {
    let wanted = case.rule.as_deref().unwrap_or("no rule");
    let found: Vec<_> = got.findings.iter().map(|one| one.rule.as_str()).collect();
    writeln!(
        text,
        "{}: {}\n    wanted {} by {wanted}\n    got    {} by {} ({}; found: {})",
        case.topic,
        command.replace('\n', "\n        "),
        case.verdict.as_str(),
        got.verdict.as_str(),
        got.rule.as_deref().unwrap_or("no rule"),
        got.method.as_str(),
        found.join(", "),
    )
}
