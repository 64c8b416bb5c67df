//! `holdpoint mcp accept`: a person reads what a server says otherwise of its tools, and takes it.

use std::io::{self, BufRead, Write};

use anyhow::bail;
use holdpoint_core::digest_of;
use holdpoint_engine::display::diff_of_arguments;
use holdpoint_engine::{Locations, Recorder};
use holdpoint_ledger::Kind;
use holdpoint_mcp::pins::Pins;
use serde_json::{Map, Value, json};

use super::pin_store::{self, Keep, PinStore};
use crate::cli::McpAccept;
use crate::commands::serve::may_loosen;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(args: &McpAccept, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    if !args.show {
        may_loosen("take what a server says of its tools", &locations)?;
    }
    let known = pin_store::all(&locations)?;
    let named = known
        .into_iter()
        .filter(|(_, pins)| pins.server == args.server);
    let named: Vec<(PinStore, Pins)> = named.collect();
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
    for (_, pins) in &waiting {
        shown(pins, terminal)?;
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

/// What is said otherwise, tool by tool.
fn shown(pins: &Pins, terminal: &mut Terminal) -> anyhow::Result<()> {
    let command = escape_for_display(&pins.command, 300);
    writeln!(terminal.out, "{} ({command})", pins.server)?;
    let nothing = Map::new();
    for (tool, before, now) in pins.changes() {
        let tool = escape_for_display(tool, 200);
        writeln!(terminal.out, "\n{tool}: {}", now.why)?;
        let diff = diff_of_arguments(before.unwrap_or(&nothing), &now.words);
        for line in diff.lines() {
            writeln!(terminal.out, "  {}", escape_for_display(line, 2000))?;
        }
    }
    Ok(())
}

fn said_yes(terminal: &mut Terminal) -> anyhow::Result<bool> {
    write!(terminal.out, "\nTake all of it? Type yes: ")?;
    terminal.out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().eq_ignore_ascii_case("yes"))
}
