//! `holdpoint log checkpoint`, `key` and `repair`: what a person does for the ledger.

use std::fs;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, bail};
use holdpoint_engine::plain_words;
use holdpoint_ledger::{Ledger, Mend, PublicKey};

use super::source::total_bytes;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(super) fn checkpoint(directory: &Path, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let note = Ledger::at(directory).checkpoint()?;
    write!(terminal.out, "{note}")?;
    Ok(Exit::Fine)
}

pub(super) fn key(directory: &Path, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let Some(key) = public_key(directory)? else {
        bail!(
            "{}: there is no key yet: `holdpoint log checkpoint` makes one",
            escape_for_display(&directory.display().to_string(), 300)
        );
    };
    writeln!(terminal.out, "{key}")?;
    Ok(Exit::Fine)
}

/// The key that checks the ledger's checkpoints, if there is one.
pub(super) fn public_key(directory: &Path) -> anyhow::Result<Option<PublicKey>> {
    let path = directory.join("key.pub");
    let place = || escape_for_display(&path.display().to_string(), 300);
    match fs::read_to_string(&path) {
        Ok(text) => text.parse().map(Some).with_context(place),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => bail!(
            "{}: the key cannot be read ({})",
            place(),
            plain_words(&error)
        ),
    }
}

pub(super) fn repair(directory: &Path, yes: bool, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let place = escape_for_display(&directory.display().to_string(), 300);
    if total_bytes(directory)? == 0 {
        super::nothing_yet(directory, terminal)?;
        return Ok(Exit::Fine);
    }
    if !yes && io::stdin().is_terminal() {
        write!(
            terminal.out,
            "{place}\nA torn record is cut off; losses are acknowledged, the clock is accepted and \
             a missing key\nis made anew, each on record. Run `holdpoint log verify` first to see \
             what is wrong.\nRepair the ledger? [y/N] "
        )?;
        terminal.out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            writeln!(terminal.out, "Nothing was changed.")?;
            return Ok(Exit::Fine);
        }
    }
    let repaired = Ledger::at(directory).repair()?;
    // A repair always says, last, that a person took note.
    let mends = repaired
        .mends
        .iter()
        .filter(|mend| **mend != Mend::Acknowledged);
    let mut count = 0;
    for mend in mends {
        writeln!(terminal.out, "Mended: {}.", told(mend))?;
        count += 1;
    }
    if count == 0 {
        writeln!(terminal.out, "There was nothing to mend.")?;
    }
    writeln!(
        terminal.out,
        "It is on record that a person took note of it."
    )?;
    Ok(Exit::Fine)
}

/// What was mended, in words.
pub(super) fn told(mend: &Mend) -> String {
    match mend {
        Mend::Torn { bytes, .. } => format!("a torn record of {bytes} bytes was cut off"),
        Mend::Lost { expected, found } => format!(
            "{} of {expected} records are lost",
            expected.saturating_sub(*found)
        ),
        Mend::Unclaimed { expected, found } if expected == found => {
            "the last record is not the one that was written".to_owned()
        }
        Mend::Unclaimed { expected, found } => format!(
            "{} records stand there that nobody announced",
            found.saturating_sub(*expected)
        ),
        Mend::NoHead => "the head could not be read".to_owned(),
        Mend::Acknowledged => "a person took note of what was lost".to_owned(),
        Mend::Clock { last } => format!("the clock was accepted; the last record is of {last}"),
        Mend::NewKey => "a new key was made".to_owned(),
    }
}
