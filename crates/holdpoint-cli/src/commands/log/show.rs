//! `holdpoint log show`: everything a record says.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use holdpoint_engine::Risk;
use holdpoint_ledger::{Filter, Item, Line, Query, Record, RecordHash, segment_name};
use serde_json::Value;

use super::source::Source;
use super::unreadable::Unreadable;
use super::words::stored;
use crate::cli::IndexWhen;
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::duration;

/// The most characters that are shown of a line of a field: a record holds no more.
const MAX_FIELD: usize = 20_000;

/// The room names take.
const NAMES: usize = "directory".len();

pub(super) fn run(
    directory: PathBuf,
    seq: u64,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let query = Query {
        filter: Filter {
            first: Some(seq),
            last: Some(seq),
            ..Filter::default()
        },
        ..Query::default()
    };
    let mut source = Source::open(directory, IndexWhen::Auto)?;
    let mut unreadable = Unreadable::default();
    let mut found = 0;
    source.query(&query, &mut |item| {
        match item {
            Item::Record(record, line) => {
                found += 1;
                if json {
                    let line = stored(line.bytes, terminal);
                    terminal.out.write_all(&line)?;
                    writeln!(terminal.out)?;
                } else {
                    print(record, &line, terminal)?;
                }
            }
            Item::Unreadable(why) => unreadable.add(why),
        }
        Ok(())
    })?;
    if found == 0 {
        unreadable.tell(terminal)?;
        bail!("there is no record {seq}: `holdpoint log` lists those there are");
    }
    unreadable.tell(terminal)
}

fn print(record: &Record, line: &Line<'_>, terminal: &mut Terminal) -> anyhow::Result<()> {
    let title = terminal.heading(&format!("record {}", record.seq));
    writeln!(terminal.out, "{title}")?;
    let verdict = record.verdict.map(|verdict| terminal.verdict(verdict));
    let mut field = |name: &str, text: Option<String>| -> anyhow::Result<()> {
        let Some(text) = text else { return Ok(()) };
        let text = hanging(&text, NAMES + 4, terminal.width());
        let name = terminal.faint(&format!("{name:<NAMES$}"));
        writeln!(terminal.out, "  {name}  {text}")?;
        Ok(())
    };
    let plain = |text: &Option<String>| {
        text.as_deref()
            .map(|text| escape_for_display(text, MAX_FIELD))
    };
    field("time", Some(escape_for_display(&record.time, MAX_FIELD)))?;
    field("kind", Some(record.kind.as_str().to_owned()))?;
    field("agent", plain(&record.agent))?;
    field("session", plain(&record.session))?;
    field("directory", plain(&record.directory))?;
    field("tool", plain(&record.tool))?;
    field("verdict", verdict)?;
    field("method", plain(&record.method))?;
    field("rule", plain(&record.rule))?;
    field("risk", record.risk.map(Risk::as_str).map(str::to_owned))?;
    field("reason", plain(&record.reason))?;
    field("part", plain(&record.part))?;
    field("approver", plain(&record.approver))?;
    field("took", record.duration_us.map(duration))?;
    field("sandbox", plain(&record.sandbox))?;
    field("call", plain(&record.call))?;
    field("policy", plain(&record.policy))?;
    field("before", Some(escape_for_display(&record.prev, MAX_FIELD)))?;
    field("hash", Some(RecordHash::from_line(line.bytes).to_string()))?;
    let file = segment_name(line.place.segment);
    field(
        "stored",
        Some(format!("{file}, byte {}", line.place.offset)),
    )?;
    for (name, value) in [("input", &record.input), ("detail", &record.detail)] {
        if let Some(value) = value {
            print_value(name, value, terminal)?;
        }
    }
    Ok(())
}

/// JSON on lines of its own; a text of several lines is shown as such.
fn print_value(name: &str, value: &Value, terminal: &mut Terminal) -> anyhow::Result<()> {
    let title = terminal.faint(name);
    writeln!(terminal.out, "  {title}")?;
    let Some(members) = value.as_object() else {
        return print_json(value, terminal);
    };
    for (name, value) in members {
        let Some(text) = value.as_str() else {
            writeln!(terminal.out, "    {}:", escape_for_display(name, 100))?;
            print_json(value, terminal)?;
            continue;
        };
        let name = escape_for_display(name, 100);
        let used = 4 + name.chars().count() + 2;
        let mut lines = text.lines().map(|line| escape_for_display(line, MAX_FIELD));
        let first = lines.next().unwrap_or_default();
        let first = hanging(&first, used, terminal.width());
        writeln!(terminal.out, "    {name}: {first}")?;
        for line in lines {
            writeln!(terminal.out, "{:used$}{line}", "")?;
        }
    }
    Ok(())
}

fn print_json(value: &Value, terminal: &mut Terminal) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    for line in text.lines() {
        writeln!(
            terminal.out,
            "      {}",
            escape_for_display(line, MAX_FIELD)
        )?;
    }
    Ok(())
}
