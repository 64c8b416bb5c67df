//! `holdpoint import`: a policy of other tools' settings.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};
use holdpoint_cli::import::{From, Imported, MAX_SETTINGS};
use holdpoint_cli::scan::staged::read_bounded;
use holdpoint_engine::humanize::counted;
use holdpoint_engine::{Locations, Recorder};
use holdpoint_ledger::Kind;
use serde_json::{Value, json};

use super::in_words;
use super::serve::may_loosen;
use crate::cli::Import;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(args: &Import, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    if args.files.is_empty() && args.from != From::Hooks {
        bail!("name the file of settings to read: see `holdpoint import --help`");
    }
    let mut files = Vec::new();
    for path in &args.files {
        let name = escape_for_display(&path.display().to_string(), 300);
        let bytes = File::open(path)
            .and_then(|mut file| read_bounded(&mut file, MAX_SETTINGS))
            .map_err(|error| anyhow::anyhow!("{name}: {}", in_words(&error)))?;
        files.push((name, bytes));
    }
    let imported = Imported::read(args.from, &files)?;
    let text = imported.text();
    if args.json {
        let remarks: Vec<Value> = imported
            .remarks()
            .iter()
            .map(|one| json!({"place": one.place, "outcome": one.outcome.as_str(), "why": one.why}))
            .collect();
        let whole = json!({"v": 1, "policy": text, "remarks": remarks});
        writeln!(terminal.out, "{whole}")?;
        return Ok(Exit::Fine);
    }
    match &args.write {
        Some(named) => {
            let locations = Locations::of_this_machine();
            let path = match named {
                Some(path) => path.clone(),
                None => locations
                    .user
                    .clone()
                    .context("no home directory is known: set HOME, or name a file")?,
            };
            write(&path, &text, &locations)?;
            let shown = escape_for_display(&path.display().to_string(), 300);
            writeln!(
                terminal.out,
                "{shown}: written. `holdpoint policy lint` looks it over."
            )?;
        }
        None => terminal.out.write_all(text.as_bytes())?,
    }
    terminal.out.flush()?;
    let mut err = io::stderr().lock();
    for one in imported.remarks() {
        let place = escape_for_display(&one.place, 200);
        let why = escape_for_display(&one.why, 300);
        writeln!(err, "holdpoint: {place} ({}): {why}", one.outcome.as_str())?;
    }
    if !imported.remarks().is_empty() {
        let count = u64::try_from(imported.remarks().len())?;
        writeln!(
            err,
            "holdpoint: {} not carried over as it was",
            counted(count, "entry")
        )?;
    }
    Ok(Exit::Fine)
}

/// Writes a policy where none is: what somebody has written is theirs.
fn write(path: &Path, text: &str, locations: &Locations) -> anyhow::Result<()> {
    may_loosen("write a policy", locations)?;
    let shown = escape_for_display(&path.display().to_string(), 300);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("{shown}: its directory cannot be made"))?;
    }
    let mut file = match File::create_new(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!(
                "{shown}: a policy is there already: print the new one without --write, and put together what you want of both"
            )
        }
        Err(error) => bail!("{shown}: it cannot be written ({})", error.kind()),
    };
    let what = json!({"action": "import", "file": path.display().to_string()});
    Recorder::at(locations)?.changes(Kind::PolicyChange, None, &what)?;
    file.write_all(text.as_bytes())?;
    Ok(())
}
