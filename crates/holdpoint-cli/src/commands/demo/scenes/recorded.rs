//! The ledger of the tour: verified, then changed in a copy, where the change is found.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use holdpoint_engine::humanize::counted;
use holdpoint_engine::{Verdict, plain_words};
use holdpoint_ledger::{Reader, Record, Verification, Verify, segment_name};

use super::promised;
use crate::commands::demo::stage::Stage;

/// What the forger writes in place of what.
const TRUE: &str = r#""verdict":"deny""#;
const FALSE: &str = r#""verdict":"allow""#;

pub(super) fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let ledger = stage.directory.ledger();
    stage.sheet.say("What this tour has put on record:")?;
    stage.sheet.space()?;
    let mut records = Reader::new(&ledger);
    while let Some(line) = records.next()? {
        let record = line.record().map_err(anyhow::Error::msg)?;
        show(stage, &record)?;
    }
    let genuine = verified(&ledger)?;
    stage.sheet.space()?;
    let text = format!(
        "intact: {}, each with the hash of the one before",
        counted(genuine.records, "record")
    );
    stage.sheet.painted("verified", &text, |terminal, text| {
        terminal.like(Verdict::Allow, text)
    })?;
    promised(genuine.is_intact(), "the ledger should be intact")?;

    let copy = stage.directory.root().join("forged-ledger");
    let line = forge(&ledger, &copy)?;
    let forged = verified(&copy)?;
    stage.sheet.space()?;
    stage.sheet.field(
        "forgery",
        &format!("in a copy, the denied deletion of record {line} becomes an allowed one"),
    )?;
    let fault = forged.faults.first();
    let text = fault.map_or_else(
        || "intact".to_owned(),
        |fault| format!("not intact: {fault}"),
    );
    stage.sheet.painted("verified", &text, |terminal, text| {
        terminal.like(Verdict::Deny, text)
    })?;
    promised(!forged.is_intact(), "the forgery should have been found")?;
    let named = fault.and_then(|fault| fault.record);
    promised(
        named.is_some_and(|found| found == line || found == line + 1),
        "the forgery should have been found where it is",
    )
}

fn show(stage: &mut Stage<'_>, record: &Record) -> anyhow::Result<()> {
    let what = match (record.verdict, &record.rule) {
        (Some(verdict), Some(rule)) => format!("{}, {rule}", verdict.as_str()),
        (Some(verdict), None) => verdict.as_str().to_owned(),
        (None, Some(rule)) => rule.clone(),
        (None, None) => String::new(),
    };
    let tool = record.tool.as_deref().unwrap_or_default();
    let kind = record.kind.as_str().replace('_', " ");
    let text = format!("{kind:<15}{tool:<10}{what}");
    stage
        .sheet
        .field(&format!("record {}", record.seq), text.trim_end())?;
    Ok(())
}

fn verified(ledger: &Path) -> anyhow::Result<Verification> {
    Ok(Verify::default().run(ledger, &mut |_, _| {})?)
}

/// Copies the ledger and turns its first denial into an allow; the number of that record.
fn forge(ledger: &Path, copy: &Path) -> anyhow::Result<u64> {
    copy_files(ledger, copy)
        .map_err(|error| anyhow!("the ledger cannot be copied ({})", plain_words(&error)))?;
    let segment = copy.join(segment_name(1));
    let text = fs::read_to_string(&segment)?;
    let number = text
        .lines()
        .position(|line| line.contains(TRUE))
        .context("the denial should be on record")?;
    fs::write(&segment, text.replacen(TRUE, FALSE, 1))?;
    Ok(u64::try_from(number)?)
}

fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_files(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
