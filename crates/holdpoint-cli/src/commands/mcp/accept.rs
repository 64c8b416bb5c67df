//! `holdpoint mcp accept`: a person reads what a server says otherwise of its tools, and takes it.

use std::io::{self, BufRead, Write};

use anyhow::bail;
use holdpoint_core::digest_of;
use holdpoint_engine::display::whole_difference;
use holdpoint_engine::{Locations, Recorder};
use holdpoint_ledger::Kind;
use holdpoint_mcp::pins::Pins;
use serde_json::{Map, Value, json};

use super::pin_store::{self, Keep, PinStore};
use crate::cli::McpAccept;
use crate::commands::serve::may_loosen;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The most rows that are shown: nobody reads more, and what nobody reads nobody takes.
const MAX_ROWS: usize = 20_000;

/// How many characters of a line stand in a row.
const WIDTH: usize = 120;

/// What stands before the rest of a line that is longer than a row. No line of a difference begins so.
const GOES_ON: &str = "  ↳ ";

pub(crate) fn run(args: &McpAccept, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    if !args.show {
        may_loosen("take what a server says of its tools", &locations)?;
    }
    let kept = pin_store::all(&locations)?;
    for problem in &kept.problems {
        writeln!(io::stderr(), "holdpoint: {problem}")?;
    }
    let named = kept
        .servers
        .into_iter()
        .filter(|(_, pins)| pins.server == args.server);
    let named: Vec<(PinStore, Pins)> = named.collect();
    if named.is_empty() && !kept.problems.is_empty() {
        bail!(
            "`{}`: what is kept of it cannot be read, or it was never seen",
            escape_for_display(&args.server, 100)
        );
    }
    if named.is_empty() {
        bail!(
            "`{}`: no server of this name was ever seen: `holdpoint mcp scan` lists those that were",
            escape_for_display(&args.server, 100)
        );
    }
    let waiting = named.iter().filter(|(_, pins)| pins.changes().count() > 0);
    let waiting: Vec<&(PinStore, Pins)> = waiting.collect();
    if waiting.is_empty() {
        writeln!(
            terminal.out,
            "Nothing waits: {} says what it said.",
            args.server
        )?;
        return Ok(Exit::Fine);
    }
    let mut rows = Vec::new();
    for (store, pins) in &waiting {
        if !show(pins, &mut rows) {
            bail!(
                "{}: more waits there than anybody reads ({MAX_ROWS} lines, 1 MiB of a field), so it cannot be taken: the server has to say less of its tools",
                store.file().display()
            );
        }
    }
    for row in rows {
        writeln!(terminal.out, "{row}")?;
    }
    if args.show {
        return Ok(Exit::Held);
    }
    if !args.yes && !said_yes(terminal)? {
        writeln!(terminal.out, "Nothing was taken.")?;
        return Ok(Exit::Held);
    }
    let recorder = Recorder::at(&locations)?;
    for (store, shown) in waiting {
        let tools: Vec<Value> = shown
            .changes()
            .map(|(tool, _, now)| {
                let words = Value::Object(now.words.clone()).to_string();
                json!({"tool": tool, "digest": digest_of(words.as_bytes())})
            })
            .collect();
        let what = json!({"action": "mcp accept", "server": shown.server, "tools": tools});
        recorder.changes(Kind::PolicyChange, None, &what)?;
        store.change(|pins| (pins.accept(shown), Keep::Changed))?;
    }
    writeln!(
        terminal.out,
        "Taken. Agents see it once they list the tools again."
    )?;
    Ok(Exit::Fine)
}

/// What is said otherwise, tool by tool, all of it: what is not shown is not taken. False if it is too much.
fn show(pins: &Pins, rows: &mut Vec<String>) -> bool {
    let command = escape_for_display(&pins.command, 300);
    rows.push(format!("{} ({command})", pins.server));
    let nothing = Map::new();
    for (tool, before, now) in pins.changes() {
        rows.push(String::new());
        push_line("", &format!("{tool}: {}", now.why), rows);
        let Some(diff) = whole_difference(before.unwrap_or(&nothing), &now.words) else {
            return false;
        };
        for line in diff.lines() {
            push_line("  ", line, rows);
            if rows.len() > MAX_ROWS {
                return false;
            }
        }
    }
    true
}

/// A line in as many rows as it takes.
fn push_line(indent: &str, line: &str, rows: &mut Vec<String>) {
    let line = escape_for_display(line, usize::MAX);
    let mut row = indent.to_owned();
    for (count, c) in line.chars().enumerate() {
        if count > 0 && count % WIDTH == 0 {
            rows.push(std::mem::replace(&mut row, GOES_ON.to_owned()));
        }
        row.push(c);
    }
    rows.push(row);
}

fn said_yes(terminal: &mut Terminal) -> anyhow::Result<bool> {
    write!(terminal.out, "\nTake all of it? Type yes: ")?;
    terminal.out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().eq_ignore_ascii_case("yes"))
}
