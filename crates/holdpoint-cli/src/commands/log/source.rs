//! Where records come from: the ledger itself, or, if it is large, its index.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use holdpoint_core::digest_of;
use holdpoint_engine::{Locations, plain_words};
use holdpoint_index::{Anew, Index, IndexError, Keep};
use holdpoint_ledger::{Item, Position, Query, Reader, Stats};

use crate::cli::IndexWhen;
use crate::exit::Exit;
use crate::progress::{Progress, so_far};
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::{bytes, counted};

/// The size in bytes from which on an index is worth its making: less is read in a fraction of a second.
const MIN_INDEXED: u64 = 32 << 20;

/// A ledger to be asked.
pub(super) struct Source {
    directory: PathBuf,
    index: Option<Index>,
}

type Each<'a> = &'a mut dyn FnMut(Item<'_>) -> anyhow::Result<()>;

impl Source {
    pub(super) fn open(directory: PathBuf, when: IndexWhen) -> anyhow::Result<Self> {
        let wanted = match when {
            IndexWhen::Never => false,
            IndexWhen::Always => directory.exists(),
            IndexWhen::Auto => total_bytes(&directory)? > MIN_INDEXED,
        };
        let index = if wanted {
            opened(&directory, Keep::Sound)
        } else {
            None
        };
        Ok(Self { directory, index })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Hands over what the query wants. Where that ended, so that one can read on from there.
    pub(super) fn query(&mut self, query: &Query, each: Each<'_>) -> anyhow::Result<Position> {
        let Some(index) = &self.index else {
            return query.scan(&self.directory, each);
        };
        let mut handed_over = false;
        let asked = index.query(query, &mut |item| {
            handed_over = true;
            each(item)
        });
        match asked {
            Err(error) if !handed_over && is_index_damage(&error) => {
                // Damage nobody noticed before. Nothing was said yet, so it can be said anew.
                self.index = opened(&self.directory, Keep::Nothing);
                match &self.index {
                    Some(index) => index.query(query, each),
                    None => query.scan(&self.directory, each),
                }
            }
            asked => asked.context(
                "the index failed: make it anew with `holdpoint log index`, or use --index never",
            ),
        }
    }

    /// Counts what the query wants, and hands over the lines that are no records.
    pub(super) fn stats(&mut self, query: &Query, each: Each<'_>) -> anyhow::Result<Stats> {
        let mut stats = Stats::default();
        if let Some(index) = &self.index
            && query.filter.texts.is_empty()
            && index
                .briefs(&query.filter, &mut |record| stats.add(record))
                .is_ok()
        {
            index.unreadable(each)?;
            return Ok(stats);
        }
        stats = Stats::default();
        self.query(query, &mut |item| {
            if let Item::Record(record, _) = item {
                stats.add(record);
                return Ok(());
            }
            each(item)
        })?;
        Ok(stats)
    }
}

fn is_index_damage(error: &anyhow::Error) -> bool {
    let index = error.downcast_ref::<IndexError>();
    index.is_some_and(IndexError::is_damage)
}

/// All bytes of a ledger; none if it is not there.
pub(super) fn total_bytes(directory: &Path) -> anyhow::Result<u64> {
    Reader::total_bytes(directory).map_err(|error| {
        let place = escape_for_display(&directory.display().to_string(), 300);
        anyhow!(
            "{place}: the ledger cannot be read ({})",
            plain_words(&error)
        )
    })
}

/// The index, up to date. Without one the ledger itself still answers, only slower.
fn opened(directory: &Path, keep: Keep) -> Option<Index> {
    let note = |text: &str| {
        // A hint: whoever does not get it misses nothing.
        let _ = writeln!(io::stderr(), "holdpoint: {text}");
    };
    let mut progress = Progress::new();
    let opened = index_file(directory).and_then(|file| {
        let told = &mut |done, all| progress.tell(|| indexed(done, all));
        // Its own words: what caused it is in them already.
        Index::open(directory, &file, keep, told).map_err(|error| anyhow!("{error}"))
    });
    progress.clear();
    match opened {
        Ok(index) => {
            match index.anew {
                Some(Anew::Damaged) => note("the index was damaged and has been made anew"),
                Some(Anew::LedgerChanged) => note(
                    "the ledger is not what was indexed, so the index has been made anew: see \
                     `holdpoint log verify`",
                ),
                Some(Anew::First | Anew::Asked) | None => {}
            }
            Some(index)
        }
        Err(error) => {
            let why = escape_for_display(&error.to_string(), 300);
            note(&format!(
                "the index cannot be used ({why}), so the whole ledger is read"
            ));
            None
        }
    }
}

fn indexed(done: u64, all: u64) -> String {
    format!("indexed {}", so_far(done, all))
}

/// `holdpoint log index`.
pub(super) fn make_index(directory: &Path, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let size = total_bytes(directory)?;
    if size == 0 {
        super::nothing_yet(directory, terminal)?;
        return Ok(Exit::Fine);
    }
    let file = index_file(directory)?;
    let mut progress = Progress::new();
    let made = Index::open(directory, &file, Keep::Nothing, &mut |done, all| {
        progress.tell(|| indexed(done, all));
    });
    progress.clear();
    let place = escape_for_display(&file.display().to_string(), 300);
    let index = made.map_err(|error| anyhow!("{place}: the index cannot be made ({error})"))?;
    writeln!(
        terminal.out,
        "Indexed {} ({}) in {place}.",
        counted(index.records, "record"),
        bytes(size)
    )?;
    let mut unreadable = super::unreadable::Unreadable::default();
    index.unreadable::<anyhow::Error>(&mut |item| {
        if let Item::Unreadable(why) = item {
            unreadable.add(why);
        }
        Ok(())
    })?;
    unreadable.tell(terminal)
}

/// Where the index of a ledger is kept: with what can be removed at any time.
fn index_file(directory: &Path) -> anyhow::Result<PathBuf> {
    let real = fs::canonicalize(directory)?;
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(Locations::of_this_machine().home?.join(".cache")))
        .context("there is no home to keep an index in: set XDG_CACHE_HOME")?;
    let digest = digest_of(real.as_os_str().as_encoded_bytes());
    let name: String = digest
        .trim_start_matches("sha256:")
        .chars()
        .take(16)
        .collect();
    Ok(cache
        .join("holdpoint")
        .join(format!("ledger-{name}"))
        .join("index.sqlite"))
}
