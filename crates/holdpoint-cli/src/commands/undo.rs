//! `holdpoint undo`: take back what a call changed.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use anyhow::bail;
use holdpoint_engine::backup::{Backups, Change, Kind, Manifest, Plan, Purpose};
use holdpoint_engine::humanize::{bytes, counted};
use holdpoint_engine::{Locations, Recorder};
use holdpoint_ledger::Kind as RecordKind;
use serde_json::{Value, json};

use crate::cli;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The most changes that are shown to people: a screen full. The rest is counted.
const MAX_SHOWN: usize = 40;

pub(crate) fn run(args: &cli::Undo, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    let backups = Backups::at(&locations)?;
    if args.list {
        return list(&backups, args.json, terminal);
    }
    let manifest = match &args.id {
        Some(id) => backups.find_by_prefix(id)?,
        None => backups.newest()?,
    };
    let plan = backups.plan(&manifest)?;
    let mut kept = None;
    let asks = !args.yes && !args.dry_run && !plan.changes.is_empty();
    if asks {
        if args.json || !io::stdin().is_terminal() {
            bail!("there is nobody to ask: say --yes, or --dry-run to look only");
        }
        show(&manifest, &plan, terminal)?;
        if !agreed(terminal)? {
            return Ok(Exit::Error);
        }
    }
    if !args.dry_run && !plan.changes.is_empty() {
        kept = Some(restored(&locations, &backups, &manifest, &plan)?);
    }
    if !asks && !args.json {
        show(&manifest, &plan, terminal)?;
    }
    told(args, &manifest, &plan, kept.as_deref(), terminal)
}

/// Puts it on record, then restores it; the name of the backup of what was there.
fn restored(
    locations: &Locations,
    backups: &Backups,
    manifest: &Manifest,
    plan: &Plan,
) -> anyhow::Result<String> {
    let first = plan.changes.iter().take(10);
    let what = json!({
        "action": "undo",
        "backup": manifest.id,
        "call": manifest.call,
        "changes": plan.changes.len(),
        "first": first.map(|change| text_of(&change.path)).collect::<Vec<_>>(),
    });
    Recorder::at(locations)?.changes(RecordKind::Result, None, &what)?;
    Ok(backups.restore(manifest, plan)?.kept)
}

fn list(backups: &Backups, json: bool, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let all = backups.list()?;
    let out = &mut terminal.out;
    if all.is_empty() && !json {
        writeln!(out, "There is no backup yet.")?;
    }
    for manifest in all {
        let manifest = match manifest {
            Ok(manifest) => manifest,
            Err(error) if json => {
                writeln!(out, "{}", json!({"v": 1, "error": error.to_string()}))?;
                continue;
            }
            Err(error) => {
                writeln!(out, "{}", escape_for_display(&error.to_string(), 300))?;
                continue;
            }
        };
        if json {
            writeln!(out, "{}", row(&manifest))?;
            continue;
        }
        writeln!(
            out,
            "{}  {}, {}  {}",
            manifest.id,
            counted(manifest.copied(), "path"),
            bytes(manifest.bytes),
            escape_for_display(&what_for(&manifest), 100)
        )?;
    }
    Ok(Exit::Fine)
}

fn row(manifest: &Manifest) -> Value {
    json!({
        "v": 1,
        "id": manifest.id,
        "time": manifest.time,
        "purpose": manifest.purpose,
        "call": manifest.call,
        "about": manifest.about,
        "paths": manifest.copied(),
        "bytes": manifest.bytes,
        "left_out": manifest.left_out,
    })
}

fn what_for(manifest: &Manifest) -> String {
    match &manifest.purpose {
        Purpose::Call => manifest.about.clone(),
        Purpose::Undo(of) => format!("before {of} was restored"),
    }
}

/// What would be restored: each path, what is there now and what was there then.
fn show(manifest: &Manifest, plan: &Plan, terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    writeln!(
        out,
        "Backup {} of {}: {}",
        manifest.id,
        manifest
            .time
            .get(..19)
            .unwrap_or(&manifest.time)
            .replace('T', " "),
        escape_for_display(&what_for(manifest), 200)
    )?;
    for change in plan.changes.iter().take(MAX_SHOWN) {
        let path = escape_for_display(&text_of(&change.path), 300);
        let (now, then) = words(change);
        writeln!(out, "  {path}: {now} -> {then}")?;
    }
    let more = plan.changes.len().saturating_sub(MAX_SHOWN);
    if more > 0 {
        writeln!(out, "  … and {more} more")?;
    }
    if plan.same > 0 {
        writeln!(out, "  {} as it was then", counted(plan.same, "path"))?;
    }
    for left_out in &manifest.left_out {
        writeln!(out, "  not copied: {}", escape_for_display(left_out, 300))?;
    }
    Ok(())
}

fn words(change: &Change) -> (String, String) {
    let now = describe(&change.now);
    let then = match (&change.now, &change.then) {
        (_, Kind::Absent) => "removed".to_owned(),
        (
            Kind::File { object: one, .. },
            Kind::File {
                object: other,
                mode,
                ..
            },
        ) if one == other => {
            format!("mode {mode:o}")
        }
        (_, then) => describe(then),
    };
    (now, then)
}

fn describe(kind: &Kind) -> String {
    match kind {
        Kind::File { size, .. } => format!("file of {}", bytes(*size)),
        Kind::Directory { .. } => "directory".to_owned(),
        Kind::Link { target } => {
            format!("link to {}", escape_for_display(&target.to_string(), 100))
        }
        Kind::Absent => "nothing".to_owned(),
    }
}

/// Whether the person at the terminal wants it.
fn agreed(terminal: &mut Terminal) -> anyhow::Result<bool> {
    let out = &mut terminal.out;
    write!(out, "Restore? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let agreed = matches!(answer.trim(), "y" | "Y" | "yes");
    if !agreed {
        writeln!(out, "Nothing was changed.")?;
    }
    Ok(agreed)
}

fn told(
    args: &cli::Undo,
    manifest: &Manifest,
    plan: &Plan,
    kept: Option<&str>,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let out = &mut terminal.out;
    if args.json {
        let changes: Vec<Value> = plan
            .changes
            .iter()
            .map(|change| json!({"path": text_of(&change.path), "now": change.now, "then": change.then}))
            .collect();
        let row = json!({
            "v": 1,
            "id": manifest.id,
            "restored": kept.is_some(),
            "kept": kept,
            "same": plan.same,
            "changes": changes,
        });
        writeln!(out, "{row}")?;
        return Ok(Exit::Fine);
    }
    match kept {
        Some(kept) => {
            let count = counted(plan.changes.len(), "path");
            writeln!(
                out,
                "Restored {count}. `holdpoint undo {kept}` takes that back."
            )?;
        }
        None if plan.changes.is_empty() => writeln!(out, "Everything is as it was then.")?,
        None => writeln!(out, "Nothing was changed.")?,
    }
    Ok(Exit::Fine)
}

fn text_of(path: &Path) -> String {
    path.display().to_string()
}
