//! Reading the records a filter wants, in either direction, all or the last few.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Doing, LedgerError};
use crate::filter::Filter;
use crate::reader::{Line, Position, Reader};
use crate::record::Record;
use crate::segments::segment_path;
use crate::system::read_at;

/// What is wanted of a ledger.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Which records.
    pub filter: Filter,
    /// Only so many, the last ones.
    pub last: Option<usize>,
    /// The newest first.
    pub newest_first: bool,
}

/// What a query comes upon.
#[derive(Debug)]
pub enum Item<'a> {
    /// A record that is wanted, and its line.
    Record(&'a Record, Line<'a>),
    /// A line that is no record, and so neither wanted nor unwanted.
    Unreadable(String),
}

/// A stored line, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Where it starts.
    pub place: Position,
    /// How many bytes it has.
    pub length: usize,
}

impl Query {
    /// Whether an index spares reading: most records can be told from those wanted by what it
    /// holds, or only the last ones are wanted.
    pub fn gains_by_index(&self) -> bool {
        let filter = &self.filter;
        self.last.is_some()
            || filter.since.is_some()
            || filter.until.is_some()
            || filter.first.is_some()
            || filter.last.is_some()
            || !filter.kinds.is_empty()
            || !filter.verdicts.is_empty()
            || !filter.risks.is_empty()
            || !filter.agents.is_empty()
            || !filter.sessions.is_empty()
            || !filter.tools.is_empty()
            || !filter.rules.is_empty()
    }

    /// Reads the ledger in a directory from its first record to its last and hands over what is
    /// wanted. Where it ended, so that one can read on from there.
    pub fn scan<E: From<LedgerError>>(
        &self,
        directory: &Path,
        each: &mut dyn FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<Position, E> {
        let mut reader = Reader::new(directory);
        let streams = self.last.is_none() && !self.newest_first;
        let mut spots: VecDeque<Spot> = VecDeque::new();
        while let Some(line) = reader.next()? {
            let record = match line.record() {
                Ok(record) => record,
                Err(why) => {
                    each(Item::Unreadable(why))?;
                    continue;
                }
            };
            if !self.filter.matches(&record) {
                continue;
            }
            if streams {
                each(Item::Record(&record, line))?;
                continue;
            }
            spots.push_back(Spot {
                place: line.place,
                length: line.bytes.len(),
            });
            if self.last.is_some_and(|last| spots.len() > last) {
                spots.pop_front();
            }
        }
        let mut fetch = Fetch::new(directory);
        for at in 0..spots.len() {
            let at = if self.newest_first {
                spots.len() - 1 - at
            } else {
                at
            };
            if let Some(spot) = spots.get(at) {
                fetch.hand_over(*spot, &Filter::default(), each)?;
            }
        }
        Ok(reader.place())
    }
}

/// Reads lines again whose places are known.
#[derive(Debug)]
pub struct Fetch {
    directory: PathBuf,
    /// The segment read last.
    open: Option<(u32, File)>,
    line: Vec<u8>,
}

impl Fetch {
    /// Of the ledger in a directory.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            open: None,
            line: Vec::new(),
        }
    }

    /// Hands the record over if it is wanted; false if it is not.
    pub fn hand_over<E: From<LedgerError>>(
        &mut self,
        spot: Spot,
        filter: &Filter,
        each: &mut dyn FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let line = self.line(spot)?;
        match line.record() {
            Ok(record) if filter.matches(&record) => {
                each(Item::Record(&record, line))?;
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(why) => {
                each(Item::Unreadable(why))?;
                Ok(false)
            }
        }
    }

    /// The line at a place.
    pub fn line(&mut self, spot: Spot) -> Result<Line<'_>, LedgerError> {
        let path = segment_path(&self.directory, spot.place.segment);
        let failed = |error| LedgerError::io(Doing::Read, &path, error);
        let file = match self.open.take() {
            Some((segment, file)) if segment == spot.place.segment => file,
            _ => File::open(&path).map_err(failed)?,
        };
        self.line.resize(spot.length, 0);
        let read = read_at(&file, &mut self.line, spot.place.offset).map_err(failed)?;
        self.line.truncate(read);
        self.open = Some((spot.place.segment, file));
        Ok(Line {
            place: spot.place,
            bytes: &self.line,
        })
    }
}
