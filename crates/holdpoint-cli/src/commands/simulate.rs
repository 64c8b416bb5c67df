//! `holdpoint simulate`: what a call would do.

use std::io::Write;

use holdpoint_engine::simulate::simulate;
use holdpoint_engine::{Engine, Locations, working_directory};
use serde_json::json;

use super::check::{caller, read_call};
use crate::cli;
use crate::exit::Exit;
use crate::terminal::Terminal;

pub(crate) fn run(args: &cli::Simulate, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let under = &args.call.under;
    let directory = working_directory(under.cwd.as_deref())?;
    let engine = Engine::at(&Locations::of_this_machine());
    let caller = caller(&engine, "simulate", under, &directory);
    let decided = engine.decide(read_call(&args.call)?, caller)?;
    let workspace = directory.display().to_string();
    let simulation = simulate(decided.action(), &engine.surroundings(&workspace));
    let out = &mut terminal.out;
    if args.json {
        let row = json!({"v": 1, "complete": simulation.complete, "lines": simulation.lines});
        writeln!(out, "{row}")?;
        return Ok(Exit::Fine);
    }
    for line in &simulation.lines {
        writeln!(out, "{line}")?;
    }
    if !simulation.complete {
        let note = terminal.faint("This is not all the call may do.");
        writeln!(terminal.out, "{note}")?;
    }
    Ok(Exit::Fine)
}
