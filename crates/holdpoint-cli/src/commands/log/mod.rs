//! `holdpoint log`: the ledger, listed, shown, counted, exported and verified.

mod export;
mod follow;
mod list;
mod show;
mod source;
mod stats;
mod table;
mod unreadable;
mod upkeep;
mod verify;
mod words;

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use holdpoint_engine::{Locations, RecordError};
use holdpoint_ledger::Record;

use crate::cli::{LedgerPlace, Log, LogAction};
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(args: &Log, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match &args.action {
        None => list::run(&args.list, terminal),
        Some(LogAction::Show { seq, json, place }) => {
            show::run(directory(place)?, *seq, *json, terminal)
        }
        Some(LogAction::Stats { wanted, top, json }) => stats::run(wanted, *top, *json, terminal),
        Some(LogAction::Export {
            format,
            output,
            wanted,
        }) => export::run(*format, output.as_deref(), wanted, terminal),
        Some(LogAction::Verify {
            key,
            checkpoint,
            approvers,
            json,
            place,
        }) => {
            let kept = verify::Kept {
                key: key.as_deref(),
                notes: checkpoint,
                approvers: approvers.as_deref(),
            };
            verify::run(&directory(place)?, &kept, *json, terminal)
        }
        Some(LogAction::Checkpoint { place }) => upkeep::checkpoint(&directory(place)?, terminal),
        Some(LogAction::Key { place }) => upkeep::key(&directory(place)?, terminal),
        Some(LogAction::Repair { yes, place }) => {
            upkeep::repair(&directory(place)?, *yes, terminal)
        }
        Some(LogAction::Index { place }) => source::make_index(&directory(place)?, terminal),
        Some(LogAction::Schema) => {
            serde_json::to_writer_pretty(&mut terminal.out, &Record::schema())?;
            writeln!(terminal.out)?;
            Ok(Exit::Fine)
        }
    }
}

/// The ledger that is meant.
fn directory(place: &LedgerPlace) -> anyhow::Result<PathBuf> {
    match &place.ledger {
        Some(directory) if !directory.is_dir() => bail!(
            "{}: there is no ledger: name the directory that holds its segments",
            escape_for_display(&directory.display().to_string(), 300)
        ),
        Some(directory) => Ok(directory.clone()),
        None => Ok(Locations::of_this_machine()
            .ledger()
            .ok_or(RecordError::NoPlace)?),
    }
}

/// A ledger nobody has written to.
fn nothing_yet(place: &std::path::Path, terminal: &mut Terminal) -> anyhow::Result<()> {
    writeln!(
        terminal.out,
        "Nothing is recorded yet in {}.",
        crate::terminal::escape_for_display(&place.display().to_string(), 300)
    )?;
    Ok(())
}
