//! All calls at a glance.

use std::collections::BTreeMap;
use std::io::Write;

use holdpoint_agents::replay::Outcome;
use holdpoint_engine::Verdict;
use holdpoint_ledger::REPLAYED_AGENT;
use serde_json::{Map, Value, json};

use super::judging::RunFacts;
use super::tally::Tally;
use crate::cli::Replay;
use crate::layout::{cell_width, cut, fitted};
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::{counted, grouped, percent};

/// The strictest first: it is what people look for.
const VERDICTS: [Verdict; 6] = [
    Verdict::Deny,
    Verdict::Review,
    Verdict::Ask,
    Verdict::Contain,
    Verdict::Notify,
    Verdict::Allow,
];

/// How wide a table is where output is not a terminal.
const WIDTH: usize = 120;

/// How many tools are in the table; the rest is counted.
const MAX_TOOLS: usize = 20;

pub(super) fn text(
    tally: &Tally,
    facts: &RunFacts,
    args: &Replay,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    head(tally, facts, terminal)?;
    if tally.calls > 0 {
        verdicts(tally, terminal)?;
        rules(tally, terminal)?;
        tools(tally, terminal)?;
        if let Some(name) = &args.against {
            comparison(tally, name, terminal)?;
        }
    }
    remarks(tally, facts, terminal)
}

fn head(tally: &Tally, facts: &RunFacts, terminal: &mut Terminal) -> anyhow::Result<()> {
    let transcripts: u64 = facts.transcripts.values().sum();
    let mut agents: Vec<String> = facts
        .transcripts
        .iter()
        .map(|(writer, count)| format!("{} {}", writer.name(), grouped(*count)))
        .collect();
    agents.sort();
    let mut line = format!(
        "{} in {}",
        counted(tally.calls, "call"),
        counted(transcripts, "transcript")
    );
    if !agents.is_empty() {
        line.push_str(&format!(" ({})", agents.join(", ")));
    }
    if let Some((first, last)) = tally.span {
        let (first, last) = (first.date(), last.date());
        if first == last {
            line.push_str(&format!(", {first}"));
        } else {
            line.push_str(&format!(", {first} to {last}"));
        }
    }
    writeln!(terminal.out, "{line}")?;
    Ok(())
}

/// The verdicts, and what happened to those calls then.
fn verdicts(tally: &Tally, terminal: &mut Terminal) -> anyhow::Result<()> {
    let columns: Vec<Option<Outcome>> = Outcome::ALL
        .into_iter()
        .map(Some)
        .chain([None])
        .filter(|outcome| tally.then.keys().any(|(_, then)| then == outcome))
        .collect();
    let told = columns.iter().any(Option::is_some);
    let mut header = format!("  {:<7}  {:>9}  {:>6}", "verdict", "calls", "");
    if told {
        header.push_str("   then:");
        for column in &columns {
            header.push_str(&format!(
                " {:>9}",
                column.map_or("not told", Outcome::as_str)
            ));
        }
    }
    writeln!(terminal.out, "\n{}", terminal.faint(header.trim_end()))?;
    for verdict in VERDICTS {
        let Some(calls) = tally.verdicts.get(&verdict) else {
            continue;
        };
        let word = terminal.like(verdict, &fitted(verdict.as_str(), 7));
        let mut line = format!(
            "  {word}  {:>9}  {:>6}",
            grouped(*calls),
            percent(*calls, tally.calls)
        );
        if told {
            line.push_str("        ");
            for column in &columns {
                let number = tally.then.get(&(verdict, *column)).copied();
                let number = number.map_or_else(|| "-".to_owned(), grouped);
                line.push_str(&format!(" {number:>9}"));
            }
        }
        writeln!(terminal.out, "{line}")?;
    }
    Ok(())
}

fn rules(tally: &Tally, terminal: &mut Terminal) -> anyhow::Result<()> {
    if tally.rules.is_empty() {
        return Ok(());
    }
    let mut rules: Vec<_> = tally.rules.iter().collect();
    rules.sort_by(|((verdict, rule), kind), ((other, another), other_kind)| {
        (other, other_kind.calls, rule).cmp(&(verdict, kind.calls, another))
    });
    let longest = rules.iter().map(|((_, rule), _)| cell_width(rule));
    let longest = longest.max().unwrap_or_default().clamp(4, 40);
    let width = terminal.width().unwrap_or(WIDTH);
    let room = width.saturating_sub(longest + 23).max(20);
    let header = format!(
        "  {:<longest$}  verdict  {:>8}  for example",
        "rule", "calls"
    );
    writeln!(terminal.out, "\n{}", terminal.faint(&header))?;
    for ((verdict, rule), kind) in rules {
        let word = terminal.like(*verdict, &fitted(verdict.as_str(), 7));
        writeln!(
            terminal.out,
            "  {}  {word}  {:>8}  {}",
            fitted(rule, longest),
            grouped(kind.calls),
            // What is shown once is not escaped again.
            cut(&kind.example, room)
        )?;
    }
    Ok(())
}

fn tools(tally: &Tally, terminal: &mut Terminal) -> anyhow::Result<()> {
    let total = |verdicts: &BTreeMap<Verdict, u64>| verdicts.values().sum::<u64>();
    let mut tools: Vec<_> = tally.tools.iter().collect();
    tools.sort_by_key(|(name, verdicts)| (u64::MAX - total(verdicts), *name));
    let longest = tools.iter().map(|(name, _)| cell_width(name));
    let longest = longest.max().unwrap_or_default().clamp(4, 40);
    let header = format!("  {:<longest$}  {:>8}", "tool", "calls");
    writeln!(terminal.out, "\n{}", terminal.faint(&header))?;
    for (name, verdicts) in tools.iter().take(MAX_TOOLS) {
        let words: Vec<String> = VERDICTS
            .iter()
            .filter(|verdict| **verdict > Verdict::Allow)
            .filter_map(|verdict| {
                let number = verdicts.get(verdict)?;
                Some(format!(
                    "{} {}",
                    grouped(*number),
                    terminal.verdict(*verdict)
                ))
            })
            .collect();
        let line = format!(
            "  {}  {:>8}  {}",
            fitted(name, longest),
            grouped(total(verdicts)),
            words.join(", ")
        );
        writeln!(terminal.out, "{}", line.trim_end())?;
    }
    if let Some(more) = tools.len().checked_sub(MAX_TOOLS).filter(|more| *more > 0) {
        writeln!(terminal.out, "  and {more} more")?;
    }
    Ok(())
}

fn comparison(tally: &Tally, name: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let name = escape_for_display(name, 100);
    let differing = tally.moved(|_| true, |_| true) - unmoved(tally);
    writeln!(
        terminal.out,
        "\nUnder {name} instead, {} of {} would be judged differently.",
        grouped(differing),
        counted(tally.calls, "call")
    )?;
    for ((from, to), number) in &tally.transitions {
        if from == to {
            continue;
        }
        let length = from.as_str().len() + to.as_str().len();
        let words = format!("{} → {}", terminal.verdict(*from), terminal.verdict(*to));
        // Colour takes room the eye does not see.
        let gap = " ".repeat(12usize.saturating_sub(length));
        writeln!(terminal.out, "  {words}{gap}  {:>9}", grouped(*number))?;
    }
    if differing > 0 {
        let balance = Balance::from_tally(tally);
        let saved =
            |saved: u64, more: u64| format!("{} saved, {} more", grouped(saved), grouped(more));
        writeln!(
            terminal.out,
            "  asks: {}; newly denied: {}; no longer denied: {}",
            saved(balance.asks_saved, balance.asks_added),
            grouped(balance.newly_denied),
            grouped(balance.no_longer_denied)
        )?;
    }
    Ok(())
}

/// What a change of policy comes to.
struct Balance {
    /// Asked before, and run after.
    asks_saved: u64,
    /// Run before, and asked after.
    asks_added: u64,
    newly_denied: u64,
    no_longer_denied: u64,
}

impl Balance {
    fn from_tally(tally: &Tally) -> Self {
        let asks = |verdict: Verdict| matches!(verdict, Verdict::Ask | Verdict::Review);
        // What is contained asks nobody.
        let runs = |verdict: Verdict| verdict <= Verdict::Contain;
        let denies = |verdict: Verdict| verdict == Verdict::Deny;
        Self {
            asks_saved: tally.moved(asks, runs),
            asks_added: tally.moved(runs, asks),
            newly_denied: tally.moved(|verdict| !denies(verdict), denies),
            no_longer_denied: tally.moved(denies, |verdict| !denies(verdict)),
        }
    }
}

fn unmoved(tally: &Tally) -> u64 {
    let same = tally
        .transitions
        .iter()
        .filter(|((from, to), _)| from == to);
    same.map(|(_, number)| number).sum()
}

/// What a person should know about these numbers.
fn remarks(tally: &Tally, facts: &RunFacts, terminal: &mut Terminal) -> anyhow::Result<()> {
    let mut remarks = Vec::new();
    if facts.interrupted {
        remarks.push("Interrupted: this is what was read so far.".to_owned());
    }
    if tally.unread_lines > 0 {
        let lines = counted(tally.unread_lines, "line");
        remarks.push(format!("{lines} cannot be read."));
    }
    if facts.repeats > 0 {
        let calls = counted(facts.repeats, "call");
        remarks.push(format!(
            "{calls} told again, in another file or later in the same, left out."
        ));
    }
    if facts.placed_here > 0 {
        let calls = counted(facts.placed_here, "call");
        remarks.push(format!(
            "{calls} in transcripts that do not say where: judged as if made here (--cwd)."
        ));
    }
    if facts.others > 0 {
        let files = counted(facts.others, "other file");
        remarks.push(format!("{files} in the directories: no transcripts."));
    }
    if let Some(recorded) = tally.recorded {
        let findings = counted(recorded, "finding");
        remarks.push(format!(
            "{findings} recorded: see `holdpoint log --agent '{REPLAYED_AGENT}*'`."
        ));
    }
    if !remarks.is_empty() {
        writeln!(terminal.out)?;
    }
    for remark in remarks {
        writeln!(terminal.out, "{}", terminal.faint(&remark))?;
    }
    Ok(())
}

pub(super) fn json(
    tally: &Tally,
    facts: &RunFacts,
    args: &Replay,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let by_verdict = |verdicts: &BTreeMap<Verdict, u64>| {
        let numbers = VERDICTS.iter().rev().map(|verdict| {
            let number = verdicts.get(verdict).copied().unwrap_or_default();
            (verdict.as_str().to_owned(), Value::from(number))
        });
        Value::Object(numbers.collect::<Map<String, Value>>())
    };
    let transcripts: Map<String, Value> = facts
        .transcripts
        .iter()
        .map(|(writer, count)| (writer.name().to_owned(), Value::from(*count)))
        .collect();
    let rules: Vec<Value> = tally
        .rules
        .iter()
        .rev()
        .map(|((verdict, rule), kind)| {
            json!({"rule": rule, "verdict": verdict, "calls": kind.calls,
                "example": {"call": kind.example, "file": kind.file, "line": kind.line}})
        })
        .collect();
    let tools: Vec<Value> = tally
        .tools
        .iter()
        .map(|(tool, verdicts)| json!({"tool": tool, "verdicts": by_verdict(verdicts)}))
        .collect();
    let then: Vec<Value> = tally
        .then
        .iter()
        .map(|((verdict, outcome), calls)| {
            json!({"verdict": verdict, "then": outcome.map(Outcome::as_str), "calls": calls})
        })
        .collect();
    let problems: Vec<Value> = tally
        .problems
        .iter()
        .map(|problem| json!({"file": problem.file, "line": problem.line, "problem": problem.what}))
        .collect();
    let mut document = json!({
        "v": 1,
        "kind": "summary",
        "calls": tally.calls,
        "subagents": tally.subagents,
        "transcripts": transcripts,
        "bytes": facts.bytes,
        "first": tally.span.map(|(first, _)| first.to_string()),
        "last": tally.span.map(|(_, last)| last.to_string()),
        "verdicts": by_verdict(&tally.verdicts),
        "rules": rules,
        "tools": tools,
        "then": then,
        "repeats": facts.repeats,
        "placed_here": facts.placed_here,
        "other_files": facts.others,
        "unread_lines": tally.unread_lines,
        "unread_files": tally.unread_files,
        "problems": problems,
        "interrupted": facts.interrupted,
    });
    if let (Some(name), Some(fields)) = (&args.against, document.as_object_mut()) {
        let balance = Balance::from_tally(tally);
        let transitions: Vec<Value> = tally
            .transitions
            .iter()
            .map(|((from, to), calls)| json!({"from": from, "to": to, "calls": calls}))
            .collect();
        let against = json!({
            "policy": escape_for_display(name, 500),
            "transitions": transitions,
            "asks_saved": balance.asks_saved,
            "asks_added": balance.asks_added,
            "newly_denied": balance.newly_denied,
            "no_longer_denied": balance.no_longer_denied,
        });
        fields.insert("against".into(), against);
    }
    if let (Some(recorded), Some(fields)) = (tally.recorded, document.as_object_mut()) {
        fields.insert("recorded".into(), recorded.into());
    }
    serde_json::to_writer(&mut terminal.out, &document)?;
    writeln!(terminal.out)?;
    Ok(())
}
