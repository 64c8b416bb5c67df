//! `holdpoint log verify`: whether the ledger is as it was written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use holdpoint_engine::Pinned;
use holdpoint_engine::{Locations, plain_words};
use holdpoint_ledger::{Fault, PublicKey, Verification, Verify};
use holdpoint_proof::Pins;
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

/// What is kept elsewhere than in the ledger.
pub(super) struct Kept<'a> {
    /// The key, or the file it is in.
    pub(super) key: Option<&'a str>,
    /// Signed notes.
    pub(super) notes: &'a [PathBuf],
    /// The keys of people that are pinned.
    pub(super) approvers: Option<&'a Path>,
}

pub(super) fn run(
    directory: &Path,
    kept: &Kept<'_>,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let (pins, unusable) = pins(kept.approvers)?;
    let verify = Verify {
        key: kept.key.map(public_key).transpose()?,
        notes: kept
            .notes
            .iter()
            .map(|file| text_of(file))
            .collect::<anyhow::Result<_>>()?,
        pins,
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
    let mut result = result?;
    if result.proofs > 0 {
        result.notes.extend(unusable);
    }
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

/// The keys that are pinned, and why those of this machine cannot be used.
fn pins(file: Option<&Path>) -> anyhow::Result<(Option<Pins>, Option<String>)> {
    let Some(file) = file else {
        return Ok(match Pinned::at(&Locations::of_this_machine()) {
            Pinned::Keys(pins) => (Some(pins), None),
            Pinned::Nobody => (None, None),
            Pinned::Unusable(why) => (None, Some(why)),
        });
    };
    let text = text_of(file)?;
    let pins = Pins::read(text.as_bytes()).with_context(|| place(file))?;
    Ok((Some(pins), None))
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
            "{} of people, verified again; {}.",
            counted(result.proofs, "signature"),
            match result.unpinned {
                None =>
                    "their keys are those on record, compared with no pinned ones (--approvers)"
                        .to_owned(),
                Some(0) => "all by keys that are pinned".to_owned(),
                Some(unpinned) => format!(
                    "{unpinned} by keys that are not pinned now: taken back since, or never theirs"
                ),
            }
        );
        writeln!(terminal.out, "{}", hanging(&text, 0, width))?;
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
        "unpinned": result.unpinned,
        "faults": result.faults.iter().map(fault).collect::<Vec<_>>(),
        "notes": result.notes,
    })
}
