//! Reading the records again: from the start or any place, and on as they are written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{Doing, LedgerError};
use crate::record::{MAX_LINE, Record};
use crate::segments::{segment_name, segment_numbers, segment_path};

/// A place between two records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The segment; 0 stands for the first there is.
    pub segment: u32,
    /// The bytes before it in that segment.
    pub offset: u64,
}

/// A stored line.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Where it starts.
    pub place: Position,
    /// Its bytes, without the line break.
    pub bytes: &'a [u8],
}

impl Line<'_> {
    /// The record, or what is wrong with the line.
    pub fn record(&self) -> Result<Record, String> {
        Record::parse(self.bytes).map_err(|error| {
            let file = segment_name(self.place.segment);
            let at = self.place.offset;
            format!("{file}, byte {at}: this is no record ({error}): run `holdpoint log verify`")
        })
    }
}

/// Reads a ledger record by record, in constant memory. At the end it can be asked again later.
#[derive(Debug)]
pub struct Reader {
    directory: PathBuf,
    place: Position,
    file: Option<BufReader<File>>,
    line: Vec<u8>,
}

impl Reader {
    /// Reads from the first record on.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self::from(directory, Position::default())
    }

    /// Reads from a place on.
    pub fn from(directory: impl Into<PathBuf>, place: Position) -> Self {
        Self {
            directory: directory.into(),
            place,
            file: None,
            line: Vec::new(),
        }
    }

    /// Where the next line starts.
    pub fn place(&self) -> Position {
        self.place
    }

    /// How many bytes all segments have now.
    pub fn total_bytes(directory: &Path) -> io::Result<u64> {
        let mut total = 0;
        for number in segments_in(directory)? {
            total += segment_path(directory, number).metadata()?.len();
        }
        Ok(total)
    }

    /// The next whole line; none at the end for now.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows from the reader"
    )]
    pub fn next(&mut self) -> Result<Option<Line<'_>>, LedgerError> {
        let failed = |directory: &Path, error| LedgerError::io(Doing::Read, directory, error);
        loop {
            if self.file.is_none() && !self.open().map_err(|e| failed(&self.directory, e))? {
                return Ok(None);
            }
            let start = self.place;
            let read = self.read_line().map_err(|e| failed(&self.directory, e))?;
            if read {
                let bytes = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                return Ok(Some(Line {
                    place: start,
                    bytes,
                }));
            }
            let next = segments_in(&self.directory)
                .map_err(|e| failed(&self.directory, e))?
                .into_iter()
                .find(|number| *number > self.place.segment);
            match next {
                Some(segment) => {
                    self.place = Position { segment, offset: 0 };
                    self.file = None;
                }
                None => {
                    // What is written meanwhile is read the next time.
                    self.file = None;
                    return Ok(None);
                }
            }
        }
    }

    fn open(&mut self) -> io::Result<bool> {
        if self.place.segment == 0 {
            match segments_in(&self.directory)?.first() {
                Some(first) => self.place.segment = *first,
                None => return Ok(false),
            }
        }
        let path = segment_path(&self.directory, self.place.segment);
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.place.offset))?;
        self.file = Some(BufReader::with_capacity(1 << 16, file));
        Ok(true)
    }

    /// Reads one line; false if there is no whole one. A line longer than any record is handed over
    /// in pieces, which are no records either.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let Some(file) = &mut self.file else {
            return Ok(false);
        };
        let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let count = file.take(most).read_until(b'\n', &mut self.line)?;
        if !self.line.ends_with(b"\n") && count < MAX_LINE {
            return Ok(false);
        }
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.place.offset = self.place.offset.saturating_add(count);
        Ok(true)
    }
}

fn segments_in(directory: &Path) -> io::Result<Vec<u32>> {
    match segment_numbers(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        numbers => numbers,
    }
}
