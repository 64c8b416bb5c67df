//! `holdpoint rules show`: everything about one rule.

use std::io::Write;

use anyhow::bail;
use holdpoint_core::ExampleCall;
use holdpoint_engine::{Guard, Method, Pack, Policy, Switched};
use serde_json::{Map, Value, json};

use super::{in_force, policy};
use crate::cli::RulesUnder;
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

pub(super) fn run(id: &str, under: &RulesUnder, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let policy = policy(under)?;
    let Some(guard) = policy.guard(id) else {
        let hint = policy.nearest_guards(id);
        bail!("there is no rule `{}`: {hint}", escape_for_display(id, 100));
    };
    let examples = Examples::for_guard(&guard, &policy)?;
    if under.json {
        serde_json::to_writer_pretty(&mut terminal.out, &json(&guard, &examples))?;
        writeln!(terminal.out)?;
    } else {
        print(&guard, &examples, terminal)?;
    }
    Ok(Exit::Fine)
}

/// The examples of a rule, as they are written.
struct Examples {
    matches: Vec<String>,
    not_matches: Vec<String>,
}

impl Examples {
    fn for_guard(guard: &Guard<'_>, policy: &Policy) -> anyhow::Result<Self> {
        let shipped = Pack::shipped()?;
        let found = shipped
            .iter()
            .chain(policy.packs())
            .flat_map(Pack::descriptions)
            .find(|rule| rule.id == guard.id);
        let texts = |list: &[ExampleCall]| list.iter().map(|one| one.text.clone()).collect();
        Ok(match found {
            Some(rule) => Self {
                matches: texts(rule.matches),
                not_matches: texts(rule.not_matches),
            },
            None => Self {
                matches: Vec::new(),
                not_matches: Vec::new(),
            },
        })
    }
}

fn json(guard: &Guard<'_>, examples: &Examples) -> Value {
    let cases: Vec<Map<String, Value>> = guard
        .cases()
        .into_iter()
        .map(|keys| {
            keys.into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()
        })
        .collect();
    json!({
        "v": 1,
        "id": guard.id,
        "pack": { "name": guard.pack, "title": guard.title, "file": guard.place },
        "verdict": in_force(guard),
        "pack_verdict": guard.verdict,
        "risk": guard.risk,
        "method": guard.method,
        "reason": guard.reason,
        "instead": guard.instead,
        "help": guard.help().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "switches": guard.switches,
        "cases": cases,
        "matches": examples.matches,
        "not_matches": examples.not_matches,
    })
}

fn print(guard: &Guard<'_>, examples: &Examples, terminal: &mut Terminal) -> anyhow::Result<()> {
    let width = terminal.width();
    let id = terminal.heading(guard.id);
    writeln!(terminal.out, "{id}")?;
    let verdict = match guard.in_force {
        Some(verdict) => terminal.verdict(verdict),
        None => terminal.faint("off"),
    };
    let mut row = |name: &str, value: &str| {
        let value = hanging(value, 11, width);
        writeln!(terminal.out, "  {name:<8} {value}")
    };
    row("verdict", &verdict)?;
    row("risk", guard.risk.as_str())?;
    row("reason", &escape_for_display(guard.reason, 500))?;
    row("instead", &escape_for_display(guard.instead, 500))?;
    for (key, value) in guard.help() {
        row(key, &escape_for_display(&value.to_string(), 700))?;
    }
    let pack = format!(
        "{}: {} ({})",
        guard.pack,
        escape_for_display(guard.title, 200),
        guard
            .place
            .map_or("shipped".to_owned(), |place| escape_for_display(place, 300))
    );
    row("pack", &pack)?;
    heading("What the policy makes of it", terminal)?;
    for line in standing(guard) {
        let line = hanging(&line, 2, width);
        writeln!(terminal.out, "  {line}")?;
    }
    let title = if guard.cases().len() == 1 {
        "Holds if all of this does"
    } else {
        "Holds if all of one of these does"
    };
    heading(title, terminal)?;
    for (number, keys) in (1..).zip(guard.cases()) {
        for (at, (key, value)) in keys.iter().enumerate() {
            let mark = if at == 0 {
                format!("{number}.")
            } else {
                String::new()
            };
            let value = hanging(&escape_for_display(&words(value), 2000), 20, width);
            writeln!(terminal.out, "  {mark:<3}{key:<14} {value}")?;
        }
    }
    for (title, list) in [
        ("Matches, for example", &examples.matches),
        ("Does not match", &examples.not_matches),
    ] {
        heading(title, terminal)?;
        for example in list {
            writeln!(terminal.out, "  {}", escape_for_display(example, 500))?;
        }
    }
    Ok(())
}

fn heading(text: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let text = terminal.heading(text);
    writeln!(terminal.out, "{text}")?;
    Ok(())
}

/// Which layers speak of the rule, and what comes of it.
fn standing(guard: &Guard<'_>) -> Vec<String> {
    let mut lines: Vec<String> = guard
        .switches
        .iter()
        .map(|switch| said(guard, switch))
        .collect();
    if guard.method == Method::SelfProtection {
        lines.push("It protects Holdpoint itself: no layer switches it off.".into());
    } else if guard.switches.is_empty() {
        lines.push(format!(
            "No layer speaks of it, so it wants what its pack says: {}.",
            guard.verdict.as_str()
        ));
        lines.push(format!(
            "To change that: \"guards\": {{ \"rules\": {{ \"{}\": \"off\" }} }} in a policy file.",
            guard.id
        ));
    } else {
        lines.push(format!(
            "The pack says {}; in force is {}.",
            guard.verdict.as_str(),
            in_force(guard)
        ));
    }
    lines
}

fn said(guard: &Guard<'_>, switch: &Switched<'_>) -> String {
    let key = match switch.key {
        "guards.rules" => format!("guards.rules[\"{}\"]", guard.id),
        "guards.packs" => format!("guards.packs[\"{}\"]", guard.pack),
        other => other.to_owned(),
    };
    // `enabled` is no switch with words but a yes or no.
    let value = if switch.key == "guards.enabled" {
        "false"
    } else {
        switch.value
    };
    let note = match (switch.counts, switch.trusted) {
        (true, _) => "",
        (false, _) if guard.method == Method::SelfProtection => "  (does not count)",
        (false, false) => "  (does not count: the file is not trusted, so it only tightens)",
        (false, true) => "  (does not count: it would loosen what a layer above says)",
    };
    format!(
        "{:<8} {}: {key} = {value}{note}",
        switch.authority.as_str(),
        escape_for_display(switch.layer, 300)
    )
}

/// What a key asks for, as a person writes it.
fn words(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            texts.join(", ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}
