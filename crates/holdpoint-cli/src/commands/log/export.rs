//! `holdpoint log export`: records in the forms other systems read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use holdpoint_engine::plain_words;
use holdpoint_ledger::{Exporter, Format, Item, Origin, Query};
use holdpoint_sandbox::interrupt;

use super::directory;
use super::source::Source;
use super::unreadable::Unreadable;
use super::upkeep::public_key;
use crate::cli::Wanted;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::counted;

pub(super) fn run(
    format: Format,
    output: Option<&Path>,
    wanted: &Wanted,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let query = Query {
        filter: wanted.filter(),
        ..Query::default()
    };
    let when = wanted.index.where_it_helps(query.gains_by_index());
    let mut source = Source::open(directory(&wanted.place)?, when)?;
    let key = public_key(source.directory()).ok().flatten();
    let origin = Origin {
        ledger: key.map(|key| key.name().to_owned()).unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut unreadable = Unreadable::default();
    match output.filter(|path| *path != Path::new("-")) {
        None => {
            let exporter = Exporter::new(format, origin, &mut terminal.out)?;
            export(&mut source, &query, exporter, &mut unreadable)?;
        }
        Some(path) => {
            let place = escape_for_display(&path.display().to_string(), 300);
            let problem = |error: io::Error| {
                anyhow!(
                    "{place}: the file cannot be written ({})",
                    plain_words(&error)
                )
            };
            interrupt::listen()?;
            let draft = Draft::beside(path).map_err(problem)?;
            let out = BufWriter::with_capacity(1 << 16, draft.file().map_err(problem)?);
            let exporter = Exporter::new(format, origin, out).map_err(problem)?;
            let count = export(&mut source, &query, exporter, &mut unreadable)?;
            draft.keep().map_err(problem)?;
            writeln!(
                terminal.out,
                "Exported {} to {place}.",
                counted(count, "record")
            )?;
        }
    }
    unreadable.tell(terminal)
}

/// Exports what the query wants; how many records that is.
fn export<W: Write>(
    source: &mut Source,
    query: &Query,
    mut exporter: Exporter<W>,
    unreadable: &mut Unreadable,
) -> anyhow::Result<u64> {
    let mut count = 0;
    source.query(query, &mut |item| {
        if interrupt::was_told() {
            bail!("stopped before the end: nothing was written");
        }
        match item {
            Item::Record(record, line) => {
                exporter.add(record, line.bytes)?;
                count += 1;
            }
            Item::Unreadable(why) => unreadable.add(why),
        }
        Ok(())
    })?;
    exporter.finish()?;
    Ok(count)
}

/// A file that takes its place once it is whole, and leaves nothing behind if it never is.
struct Draft {
    draft: PathBuf,
    /// Where it belongs; none if it is written in place, as a device or a pipe is.
    target: Option<PathBuf>,
}

impl Draft {
    fn beside(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path).ok();
        if found.as_ref().is_some_and(|found| !found.is_file()) {
            return Ok(Self {
                draft: path.to_owned(),
                target: None,
            });
        }
        // A link stays a link: what it leads to is replaced.
        let target = match found {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_owned(),
        };
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".draft-{}", std::process::id()));
        let draft = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        private(&mut options);
        let file = options.open(&draft)?;
        let made = Self {
            draft,
            target: Some(target),
        };
        if let Some(found) = found {
            file.set_permissions(found.permissions())?;
        }
        Ok(made)
    }

    fn file(&self) -> io::Result<File> {
        OpenOptions::new().write(true).open(&self.draft)
    }

    fn keep(mut self) -> io::Result<()> {
        if let Some(target) = &self.target {
            self.file()?.sync_data()?;
            fs::rename(&self.draft, target)?;
        }
        self.target = None;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.target.is_some() {
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// A new file is for its owner alone, as the ledger is.
#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private(_options: &mut OpenOptions) {}
