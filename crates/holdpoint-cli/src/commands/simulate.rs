//! `holdpoint simulate`: what a call would do.

use std::io::Write;

use serde_json::json;

use super::check::{policy_for, read_call};
use crate::cli;
use crate::desk::{Desk, directory};
use crate::exit::Exit;
use crate::terminal::Terminal;

pub(crate) fn run(args: &cli::Simulate, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let under = &args.call.under;
    let directory = directory(under.cwd.as_deref())?;
    let call = read_call(&args.call)?;
    let mut desk = Desk::new();
    let policy = desk.policy(&policy_for(under, &directory))?;
    let simulation = desk.simulated(&call, &policy, &directory)?;
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
