//! `holdpoint log verify`: whether the ledger is as it was written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use holdpoint_engine::plain_words;
use holdpoint_ledger::{Fault, PublicKey, Verification, Verify};
use serde_json::{Value, json};

use super::nothing_yet;
use super::source::total_bytes;
use crate::exit::Exit;
use crate::layout::hanging;
use crate::progress::{Progress, so_far};
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::{bytes, counted};

/// The most faults that are shown, and the most notes: a screen has room for them. The rest is counted.
const MAX_SHOWN: usize = 20;

/// The largest key or note that is read: either has some lines. A larger file is neither.
const MAX_FILE: u64 = 64 << 10;

pub(super) fn run(
    directory: &Path,
    key: Option<&str>,
    notes: &[PathBuf],
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let verify = Verify {
        key: key.map(public_key).transpose()?,
        notes: notes
            .iter()
            .map(|file| text_of(file))
            .collect::<anyhow::Result<_>>()?,
    };
    let empty = total_bytes(directory)? == 0;
    let unasked = verify.key.is_none() && verify.notes.is_empty();
    // Without a directory there never was a ledger, as far as can be told from here.
    if empty && unasked && !json && !directory.exists() {
        nothing_yet(directory, terminal)?;
        return Ok(Exit::Fine);
    }
    let mut progress = Progress::new();
    let result = verify.run(directory, &mut |done, all| {
        progress.tell(|| format!("verified {}", so_far(done, all)));
    });
    progress.clear();
    let result = result?;
    // There never was a ledger; one whose records are gone is a fault.
    if empty && result.is_intact() && !json {
        nothing_yet(directory, terminal)?;
        return Ok(Exit::Fine);
    }
    if json {
        serde_json::to_writer_pretty(&mut terminal.out, &as_json(&result))?;
        writeln!(terminal.out)?;
    } else {
        print(&result, directory, terminal)?;
    }
    Ok(if result.is_intact() {
        Exit::Fine
    } else {
        Exit::Tampered
    })
}

/// A key as it is written, or the file it is in.
fn public_key(text: &str) -> anyhow::Result<PublicKey> {
    if let Ok(key) = text.parse() {
        return Ok(key);
    }
    let path = Path::new(text);
    let written = text_of(path)?;
    let key = written.parse();
    key.with_context(|| place(path))
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    let problem = |error: io::Error| {
        anyhow!(
            "{}: the file cannot be read ({})",
            place(path),
            plain_words(&error)
        )
    };
    let found = fs::metadata(path).map_err(problem)?;
    if !found.is_file() || found.len() > MAX_FILE {
        bail!("{}: this is no key and no note", place(path));
    }
    fs::read_to_string(path).map_err(problem)
}

fn place(path: &Path) -> String {
    escape_for_display(&path.display().to_string(), 300)
}

fn print(result: &Verification, directory: &Path, terminal: &mut Terminal) -> anyhow::Result<()> {
    let size = format!(
        "{} in {} ({})",
        counted(result.records, "record"),
        counted(result.segments, "segment"),
        bytes(result.bytes)
    );
    let width = terminal.width();
    if result.is_intact() {
        let intact = terminal.like(holdpoint_engine::Verdict::Allow, "Intact");
        writeln!(terminal.out, "{intact}: {size}.")?;
    } else {
        let faults = u64::try_from(result.faults.len()).unwrap_or(u64::MAX);
        let bad = terminal.like(holdpoint_engine::Verdict::Deny, "Not intact");
        let more = if faults >= 100 { "at least " } else { "" };
        writeln!(
            terminal.out,
            "{bad}: {more}{} in {size}.",
            counted(faults, "fault")
        )?;
        for fault in result.faults.iter().take(MAX_SHOWN) {
            let text = hanging(&escape_for_display(&fault.to_string(), 600), 4, width);
            writeln!(terminal.out, "  - {text}")?;
        }
        let hidden = result.faults.len().saturating_sub(MAX_SHOWN);
        if hidden > 0 {
            writeln!(terminal.out, "  and {hidden} more (--json names them)")?;
        }
    }
    let signed = if result.signed == 0 {
        "Nothing is signed yet: `holdpoint log checkpoint` does it.".to_owned()
    } else {
        // The checkpoint itself stands behind what it signs.
        let after = result
            .records
            .saturating_sub(result.signed)
            .saturating_sub(1);
        let unsigned = match after {
            0 => "nothing stands unsigned after them".to_owned(),
            _ => format!("{} after them not yet", counted(after, "record")),
        };
        format!(
            "Signed up to record {} of {} ({}); {unsigned}.",
            result.signed,
            result.records,
            counted(result.checkpoints, "checkpoint"),
        )
    };
    writeln!(terminal.out, "{}", hanging(&signed, 0, width))?;
    if result.proofs > 0 {
        let text = format!(
            "{} of people, verified again.",
            counted(result.proofs, "signature")
        );
        writeln!(terminal.out, "{text}")?;
    }
    for note in result.notes.iter().take(MAX_SHOWN) {
        let text = hanging(&escape_for_display(note, 600), 6, width);
        writeln!(terminal.out, "Note: {text}")?;
    }
    let hidden = result.notes.len().saturating_sub(MAX_SHOWN);
    if hidden > 0 {
        writeln!(terminal.out, "and {hidden} more notes (--json has them)")?;
    }
    writeln!(terminal.out, "{}", terminal.faint(&place(directory)))?;
    Ok(())
}

fn as_json(result: &Verification) -> Value {
    let fault = |fault: &Fault| {
        json!({
            "file": fault.file,
            "line": fault.line,
            "record": fault.record,
            "found": fault.found.to_string(),
        })
    };
    json!({
        "v": 1,
        "intact": result.is_intact(),
        "records": result.records,
        "bytes": result.bytes,
        "segments": result.segments,
        "checkpoints": result.checkpoints,
        "signed": result.signed,
        "proofs": result.proofs,
        "faults": result.faults.iter().map(fault).collect::<Vec<_>>(),
        "notes": result.notes,
    })
}
