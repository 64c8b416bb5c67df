//! `holdpoint demo`: a tour in the terminal, with a scripted agent on a throw-away project.
//!
//! The agent, its tools and the page it fetches are made up; whatever judges, asks, inspects and
//! records is what an agent of the user's would meet. It happens in a temporary directory, under the
//! policy that is compiled in, and leaves nothing behind.

mod directory;
mod scenes;
mod script;
mod sheet;
mod stage;
mod stand_ins;
mod visitor;

use std::io::Write;

use anyhow::Context;
use holdpoint_engine::escape_for_display;
use holdpoint_sandbox::interrupt;

use self::directory::TourDirectory;
use self::scenes::SCENES;
use self::sheet::Sheet;
use self::stage::Stage;
use self::visitor::{Left, Visitor};
use crate::cli;
use crate::exit::Exit;
use crate::terminal::Terminal;

pub(crate) fn run(args: &cli::Demo, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    // Whoever stops the tour does not stop the directory from being removed.
    interrupt::listen()?;
    let directory = TourDirectory::new()?;
    let mut stage = Stage::new(directory, Visitor::from_args(args), terminal)?;
    let ended = tour(&mut stage);
    let Stage {
        directory, sheet, ..
    } = stage;
    let put_away = put_away(directory, args.keep, sheet);
    match ended {
        Ok(()) => put_away.map(|()| Exit::Fine),
        Err(error) if error.is::<Left>() => put_away.map(|()| Exit::Interrupted),
        Err(error) => Err(error),
    }
}

/// Removes the directory, or leaves it and says where.
fn put_away(directory: TourDirectory, keep: bool, mut sheet: Sheet<'_>) -> anyhow::Result<()> {
    let root = escape_for_display(&directory.root().display().to_string(), 300);
    sheet.space()?;
    if keep {
        let ledger = escape_for_display(&directory.ledger().display().to_string(), 300);
        directory.keep();
        sheet.line(&format!("Kept: {root}"))?;
        sheet.line(&format!("Its ledger: holdpoint log --ledger {ledger}"))?;
    } else {
        directory.remove()?;
        sheet.line(&format!("Removed: {root}"))?;
    }
    Ok(())
}

fn tour(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    welcome(stage)?;
    for (number, scene) in (1..).zip(&SCENES) {
        stage.visitor.pause(stage.sheet.terminal)?;
        stage
            .sheet
            .scene(&format!("{number}/{}", SCENES.len()), scene.title)?;
        (scene.play)(stage)
            .with_context(|| format!("scene {number} ({}) did not end as promised", scene.title))?;
        stage.sheet.terminal.out.flush()?;
    }
    stage.sheet.heading("Every scene ended as promised")?;
    for (command, what) in NEXT {
        stage.sheet.command(command, what)?;
    }
    Ok(())
}

/// What to do next.
const NEXT: [(&str, &str); 3] = [
    ("holdpoint init", "puts it before an agent of yours"),
    (
        "holdpoint explain 'COMMAND'",
        "says how a command is judged, and why",
    ),
    ("holdpoint rules list", "shows what it knows to be harmful"),
];

fn welcome(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let root = escape_for_display(&stage.directory.root().display().to_string(), 300);
    stage
        .sheet
        .heading("Holdpoint, the gate between an AI agent and its tools")?;
    stage.sheet.say(
        "A scripted agent works on a project. The agent, its tools and its web page are made up; \
         the gate, the question, the inspection and the ledger are the real ones, with the rules \
         that are built in.",
    )?;
    stage.sheet.space()?;
    stage.sheet.line(&format!("All of it happens in {root}"))?;
    Ok(())
}
