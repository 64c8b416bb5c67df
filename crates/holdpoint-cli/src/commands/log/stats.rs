//! `holdpoint log stats`: what the records add up to.

use std::io::Write;

use holdpoint_engine::Verdict;
use holdpoint_ledger::{Counts, Durations, Item, Kind, Query, Stats, Timestamp};
use serde_json::{Value, json};

use super::source::{Source, total_bytes};
use super::unreadable::Unreadable;
use super::{directory, nothing_yet};
use crate::cli::Wanted;
use crate::exit::Exit;
use crate::layout::{cell_width, fitted, hanging};
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::{counted, duration, grouped, percent};

/// The width of a list where output is no terminal, and the most it has on one.
const USUAL: usize = 78;

/// The width from which on two lists stand side by side.
const WIDE: usize = 120;

/// The longest bar.
const BAR: usize = 24;

pub(super) fn run(
    wanted: &Wanted,
    top: usize,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let query = Query {
        filter: wanted.filter(),
        ..Query::default()
    };
    // The index itself can count whatever asks for no texts.
    let helps = query.filter.texts.is_empty() || query.gains_by_index();
    let when = wanted.index.where_it_helps(helps);
    let mut source = Source::open(directory(&wanted.place)?, when)?;
    let mut unreadable = Unreadable::default();
    let stats = source.stats(&query, &mut |item| {
        if let Item::Unreadable(why) = item {
            unreadable.add(why);
        }
        Ok(())
    })?;
    if json {
        serde_json::to_writer_pretty(&mut terminal.out, &as_json(&stats))?;
        writeln!(terminal.out)?;
    } else if stats.records > 0 {
        print(&stats, top, terminal)?;
    } else if total_bytes(source.directory())? == 0 {
        nothing_yet(source.directory(), terminal)?;
    } else {
        writeln!(terminal.out, "No record is like that.")?;
    }
    unreadable.tell(terminal)
}

fn print(stats: &Stats, top: usize, terminal: &mut Terminal) -> anyhow::Result<()> {
    let mut summary = vec![counted(stats.records, "record")];
    if let Some((first, last)) = stats.span {
        summary.push(format!("from {} to {} UTC", minute(first), minute(last)));
    }
    let width = terminal.width();
    let line = |name: &str, text: &str, terminal: &mut Terminal| -> anyhow::Result<()> {
        let text = hanging(text, 11, width);
        let name = terminal.heading(&format!("{name:<9}"));
        writeln!(terminal.out, "{name}  {text}")?;
        Ok(())
    };
    line("Records", &summary.join(" "), terminal)?;
    let decisions = stats.of_kind(Kind::Decision);
    let (asked, _) = stats.asked();
    let mut judged = format!(
        "{}, {} of them asked a person",
        grouped(decisions),
        grouped(asked)
    );
    if decisions > 0 {
        judged.push_str(&format!(" ({})", percent(asked, decisions)));
    }
    line("Decisions", &judged, terminal)?;
    if let Some(times) = within(&stats.judging) {
        line("Judged", &times, terminal)?;
    }
    let opened = stats.of_kind(Kind::HoldOpened);
    let answered = stats.of_kind(Kind::HoldAnswered);
    if opened + answered + stats.of_kind(Kind::Release) > 0 {
        let mut holds = format!(
            "{} opened, {} answered, {} expired, {} released",
            grouped(opened),
            grouped(answered),
            grouped(stats.of_kind(Kind::HoldExpired)),
            grouped(stats.of_kind(Kind::Release))
        );
        let answers = stats.approved + stats.refused;
        if answers > 0 {
            let share = percent(stats.approved, answers);
            holds.push_str(&format!("; {share} of the answers approve"));
        }
        line("Holds", &holds, terminal)?;
    }
    if let Some(times) = within(&stats.answering) {
        line("Answered", &times, terminal)?;
    }
    if !stats.replayed.is_empty() {
        let words: Vec<String> = sorted("Verdicts", &stats.replayed)
            .into_iter()
            .map(|(word, number)| format!("{} {word}", grouped(number)))
            .collect();
        let text = format!(
            "{} (from transcripts, counted nowhere else)",
            words.join(", ")
        );
        line("Replayed", &text, terminal)?;
    }
    lists(stats, top, terminal)
}

fn minute(time: Timestamp) -> String {
    let text = time.to_string().replace('T', " ");
    text.get(..16).unwrap_or_default().to_owned()
}

fn within(durations: &Durations) -> Option<String> {
    let half = duration(durations.percentile(50)?);
    let most = duration(durations.percentile(95)?);
    Some(format!("half within {half}, 95 % within {most}"))
}

/// The lists, side by side where there is room.
fn lists(stats: &Stats, top: usize, terminal: &mut Terminal) -> anyhow::Result<()> {
    let other: Counts = stats
        .kinds
        .iter()
        .filter(|(kind, _)| *kind != Kind::Decision.as_str())
        .map(|(kind, count)| (kind.clone(), *count))
        .collect();
    let all = [
        ("Verdicts", &stats.verdicts),
        ("Methods", &stats.methods),
        ("Rules", &stats.rules),
        ("Tools", &stats.tools),
        ("Agents", &stats.agents),
        ("Sessions", &stats.sessions),
        ("Days", &stats.days),
        ("Other records", &other),
    ];
    let all: Vec<_> = all
        .into_iter()
        .filter(|(_, counts)| !counts.is_empty())
        .collect();
    let width = terminal.width();
    let columns = if width.is_some_and(|width| width >= WIDE) {
        2
    } else {
        1
    };
    let room = match width {
        Some(width) => (width / columns).saturating_sub(2).min(USUAL),
        None => USUAL,
    };
    for group in all.chunks(columns) {
        writeln!(terminal.out)?;
        let blocks: Vec<Vec<Line>> = group
            .iter()
            .map(|(title, counts)| list(title, counts, top, room, terminal))
            .collect();
        let height = blocks.iter().map(Vec::len).max().unwrap_or_default();
        for at in 0..height {
            let mut line = String::new();
            let mut due = 0;
            for block in &blocks {
                if let Some((text, width)) = block.get(at) {
                    line.push_str(&" ".repeat(due));
                    line.push_str(text);
                    due = (room + 4).saturating_sub(*width);
                } else {
                    due += room + 4;
                }
            }
            writeln!(terminal.out, "{line}")?;
        }
    }
    Ok(())
}

/// A line and the columns it takes; colour takes none.
type Line = (String, usize);

fn list(title: &str, counts: &Counts, top: usize, room: usize, terminal: &Terminal) -> Vec<Line> {
    let mut lines = vec![(terminal.heading(title), cell_width(title))];
    let sorted = sorted(title, counts);
    let total: u64 = counts.values().sum();
    let most = counts.values().max().copied().unwrap_or(1).max(1);
    let shown_rows = sorted.get(..top.min(sorted.len())).unwrap_or_default();
    let names = shown_rows
        .iter()
        .map(|(name, _)| cell_width(&escape_for_display(name, 100)))
        .max()
        .unwrap_or_default()
        .clamp(8, room.saturating_sub(24).max(8));
    let numbers = grouped(most).len();
    let bar_room = room
        .saturating_sub(2 + names + 2 + numbers + 2 + 7 + 2)
        .min(BAR);
    for (name, count) in shown_rows {
        let name = fitted(&escape_for_display(name, 100), names);
        let share = format!("{:>7}", percent(*count, total));
        let bar = "█".repeat(bar_length(*count, most, bar_room));
        let width = 2 + names + 2 + numbers + 2 + 7 + 2 + bar.chars().count();
        let bar = match Verdict::from_word(name.trim_end()) {
            Some(verdict) if title == "Verdicts" => terminal.like(verdict, &bar),
            _ => terminal.faint(&bar),
        };
        lines.push((
            format!("  {name}  {:>numbers$}  {share}  {bar}", grouped(count)),
            width,
        ));
    }
    let hidden = sorted.len().saturating_sub(shown_rows.len());
    if hidden > 0 {
        let text = format!("  and {hidden} more");
        lines.push((terminal.faint(&text), text.len()));
    }
    lines
}

/// Days and verdicts in their own order, the last days first; the rest by number.
fn sorted<'c>(title: &str, counts: &'c Counts) -> Vec<(&'c str, u64)> {
    let mut all: Vec<(&str, u64)> = counts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    match title {
        "Days" => all.reverse(),
        "Verdicts" => all.sort_by_key(|(name, _)| Verdict::from_word(name)),
        _ => all.sort_by(|(_, a), (_, b)| b.cmp(a)),
    }
    all
}

/// A bar of what is there at all has a length.
fn bar_length(count: u64, most: u64, room: usize) -> usize {
    let room = u128::try_from(room).unwrap_or_default();
    let length = (u128::from(count) * room).div_ceil(u128::from(most.max(1)));
    usize::try_from(length).unwrap_or_default()
}

fn as_json(stats: &Stats) -> Value {
    let (asked, ask_rate) = stats.asked();
    let times = |durations: &Durations| {
        json!({
            "count": durations.count(),
            "p50": durations.percentile(50),
            "p95": durations.percentile(95),
        })
    };
    json!({
        "v": 1,
        "records": stats.records,
        "first": stats.span.map(|(first, _)| first.to_string()),
        "last": stats.span.map(|(_, last)| last.to_string()),
        "kinds": stats.kinds,
        "verdicts": stats.verdicts,
        "methods": stats.methods,
        "rules": stats.rules,
        "tools": stats.tools,
        "agents": stats.agents,
        "sessions": stats.sessions,
        "days": stats.days,
        "asked": asked,
        "ask_rate": ask_rate,
        "holds": {
            "opened": stats.of_kind(Kind::HoldOpened),
            "answered": stats.of_kind(Kind::HoldAnswered),
            "approved": stats.approved,
            "refused": stats.refused,
            "expired": stats.of_kind(Kind::HoldExpired),
            "released": stats.of_kind(Kind::Release),
            "approval_rate": stats.approval(),
        },
        "replayed": stats.replayed,
        "judging_us": times(&stats.judging),
        "answering_us": times(&stats.answering),
    })
}
