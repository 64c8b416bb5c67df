//! How the ledger really ends, read from the segments, and how that differs from what the head says.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::Timestamp;
use crate::chain::{RecordHash, hex};
use crate::error::{Doing, LedgerError};
use crate::head::{Head, State};
use crate::merkle::Tree;
use crate::record::{MAX_LINE, Mend};
use crate::segments::{segment_numbers, segment_path};
use crate::system::read_at;

/// Where the next record goes and what it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) segment: u32,
    /// The size of the segment; nothing has been written to it yet if it is 0.
    pub(crate) size: u64,
    /// The number of records in all segments.
    pub(crate) records: u64,
    /// The hash of the last record.
    pub(crate) hash: RecordHash,
    /// The time of the last record.
    pub(crate) time: Timestamp,
}

impl End {
    /// The end of a ledger that has no record.
    pub(crate) fn of_nothing() -> Self {
        Self {
            segment: 1,
            size: 0,
            records: 0,
            hash: RecordHash::NONE,
            time: Timestamp::default(),
        }
    }
}

/// The bytes of a record without an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    pub(crate) bytes: u64,
    sha256: String,
}

/// The end as the segments have it, and the bytes of a record without an end after it.
pub(crate) fn found(directory: &Path) -> Result<(End, Option<Torn>), LedgerError> {
    let failed = |error| LedgerError::io(Doing::Read, directory, error);
    let numbers = match segment_numbers(directory) {
        Ok(numbers) => numbers,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(failed(error)),
    };
    let Some(last) = numbers.last().copied() else {
        return Ok((End::of_nothing(), None));
    };
    let mut end = End {
        segment: last,
        ..End::of_nothing()
    };
    let mut torn = None;
    for number in numbers.iter().rev().copied() {
        let path = segment_path(directory, number);
        let failed = |error| LedgerError::io(Doing::Read, &path, error);
        let file = File::open(&path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let whole = after_last_break(&file, size).map_err(failed)?;
        if number == last {
            end.size = whole;
            if whole < size {
                torn = Some(Torn {
                    bytes: size - whole,
                    sha256: hex(&digest(Sha256::new(), &file, whole, size).map_err(failed)?),
                });
            }
        }
        let Some(stop) = whole.checked_sub(1) else {
            continue;
        };
        let start = after_last_break(&file, stop).map_err(failed)?;
        let leaf = RecordHash::leaf();
        end.hash = RecordHash(digest(leaf, &file, start, stop).map_err(failed)?);
        let mut line = vec![0; usize::try_from(stop - start).unwrap_or(0).min(MAX_LINE)];
        read_at(&file, &mut line, start).map_err(failed)?;
        match serde_json::from_slice::<Opening>(&line) {
            Ok(opening) => {
                end.records = opening.seq.saturating_add(1);
                end.time = Timestamp::parse(opening.time).unwrap_or_default();
            }
            // Damaged, but evidence: it stays, and the chain goes on from its bytes.
            Err(_) => end.records = count_lines(directory, &numbers)?,
        }
        break;
    }
    Ok((end, torn))
}

/// What every record starts with.
#[derive(Deserialize)]
struct Opening<'a> {
    seq: u64,
    time: &'a str,
}

/// How much is read at once: files may be of any size.
const CHUNK: usize = 64 << 10;

/// The place after the last line break before `stop`.
fn after_last_break(file: &File, stop: u64) -> io::Result<u64> {
    let mut chunk = vec![0; CHUNK];
    let mut stop = stop;
    while stop > 0 {
        let start = stop.saturating_sub(u64::try_from(CHUNK).unwrap_or(u64::MAX));
        let length = usize::try_from(stop - start).unwrap_or(CHUNK);
        let part = chunk.get_mut(..length).unwrap_or_default();
        read_at(file, part, start)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + u64::try_from(at).unwrap_or(0) + 1);
        }
        stop = start;
    }
    Ok(0)
}

fn digest(mut hasher: Sha256, file: &File, start: u64, stop: u64) -> io::Result<[u8; 32]> {
    let mut chunk = vec![0; CHUNK];
    let mut place = start;
    while place < stop {
        let length = usize::try_from(stop - place).unwrap_or(CHUNK).min(CHUNK);
        let part = chunk.get_mut(..length).unwrap_or_default();
        let count = read_at(file, part, place)?;
        if count == 0 {
            break;
        }
        hasher.update(part.get(..count).unwrap_or_default());
        place += u64::try_from(count).unwrap_or(u64::MAX);
    }
    Ok(hasher.finalize().into())
}

fn count_lines(directory: &Path, numbers: &[u32]) -> Result<u64, LedgerError> {
    let mut count: u64 = 0;
    for number in numbers {
        each_line(&segment_path(directory, *number), |_| {
            count = count.saturating_add(1);
        })?;
    }
    Ok(count)
}

/// Hands over the hash of each line of a segment.
fn each_line(path: &Path, mut each: impl FnMut(RecordHash)) -> Result<(), LedgerError> {
    let failed = |error| LedgerError::io(Doing::Read, path, error);
    let file = File::open(path).map_err(failed)?;
    let mut reader = BufReader::with_capacity(CHUNK, file);
    let mut hasher = RecordHash::leaf();
    loop {
        let bytes = reader.fill_buf().map_err(failed)?;
        if bytes.is_empty() {
            return Ok(());
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(rest) => {
                    hasher.update(rest);
                    let whole = std::mem::replace(&mut hasher, RecordHash::leaf());
                    each(RecordHash(whole.finalize().into()));
                }
                None => hasher.update(part),
            }
        }
        let count = bytes.len();
        reader.consume(count);
    }
}

/// What is wrong with the end, going by what the last writer left in the head.
pub(crate) fn compared(head: Option<&Head>, end: &End, torn: Option<&Torn>) -> Vec<Mend> {
    let mut mends = Vec::new();
    if let Some(torn) = torn {
        mends.push(Mend::Torn {
            bytes: torn.bytes,
            sha256: torn.sha256.clone(),
        });
    }
    let Some(head) = head else {
        if end.records > 0 {
            mends.push(Mend::NoHead);
        }
        return mends;
    };
    // What was only announced may be there, in part or not at all.
    let least = match head.state {
        State::Settled => head.records,
        State::Announced => head.before,
    };
    let found = end.records;
    if found < least {
        let expected = least;
        mends.push(Mend::Lost { expected, found });
    } else if found > head.records
        || (found == head.records && end.hash != head.hash)
        // A writer that came to its end leaves nothing torn.
        || (torn.is_some() && head.state == State::Settled)
    {
        let expected = head.records;
        mends.push(Mend::Unclaimed { expected, found });
    }
    mends
}

/// The tree over all records, which end with the segment `last`. Only what stands behind the last checkpoint is read, or that
/// segment if it opens with one.
pub(crate) fn tree(directory: &Path, last: u32, records: u64) -> Result<Tree, LedgerError> {
    let path = segment_path(directory, last);
    if let Some(tree) = tree_from_the_end(&path)?
        && tree.size() == records
    {
        return Ok(tree);
    }
    if let Some(mut tree) = opening_tree(&path)? {
        each_line(&path, |leaf| tree.add(leaf))?;
        return Ok(tree);
    }
    let failed = |error| LedgerError::io(Doing::Read, directory, error);
    let mut tree = Tree::default();
    for number in segment_numbers(directory).map_err(failed)? {
        each_line(&segment_path(directory, number), |leaf| tree.add(leaf))?;
    }
    Ok(tree)
}

/// The tree over all records by the last checkpoint of a segment and the lines behind it; none if it has no checkpoint. What is read
/// is about what was written since, so that signing often costs no more than signing seldom.
fn tree_from_the_end(path: &Path) -> Result<Option<Tree>, LedgerError> {
    let failed = |error| LedgerError::io(Doing::Read, path, error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let size = file.metadata().map_err(failed)?.len();
    let mut wanted = u64::try_from(CHUNK).unwrap_or(u64::MAX);
    while wanted <= MAX_HELD {
        let start = size.saturating_sub(wanted);
        let mut bytes = vec![0; usize::try_from(size - start).unwrap_or(0)];
        let read = read_at(&file, &mut bytes, start).map_err(failed)?;
        bytes.truncate(read);
        // What has no end is no record; nor is the first line whole where something stands before it.
        let mut behind = Vec::new();
        let mut lines = bytes.split(|byte| *byte == b'\n').rev();
        lines.next();
        for line in lines {
            if is_checkpoint(line)
                && let Some(mut tree) = tree_before(line)
            {
                tree.add(RecordHash::from_line(line));
                behind.iter().rev().for_each(|leaf| tree.add(*leaf));
                return Ok(Some(tree));
            }
            behind.push(RecordHash::from_line(line));
        }
        if start == 0 {
            break;
        }
        wanted = wanted.saturating_mul(4);
    }
    Ok(None)
}

/// Whether the last record of a segment is a checkpoint.
pub(crate) fn ends_with_checkpoint(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let start = size.saturating_sub(u64::try_from(MAX_LINE).unwrap_or(u64::MAX));
    let mut bytes = vec![0; usize::try_from(size - start).unwrap_or(0)];
    read_at(&file, &mut bytes, start)?;
    let mut lines = bytes.split(|byte| *byte == b'\n').rev();
    lines.next();
    Ok(lines.next().is_some_and(is_checkpoint))
}

/// The most of a segment that is held at once: twice what one has. A larger one, which no writer makes, is read in pieces.
const MAX_HELD: u64 = 16 << 20;

/// Whether a line is a checkpoint as a writer spells one. It is asked of many lines, so nothing else of them is read.
fn is_checkpoint(line: &[u8]) -> bool {
    // `,"prev":"`, 64 digits, `","time":"`, 27 signs and a quote stand between the number and the kind.
    const BETWEEN: usize = 9 + 64 + 10 + 27 + 1;
    line.strip_prefix(b"{\"v\":1,\"seq\":")
        .and_then(|rest| {
            let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
            rest.get(digits.saturating_add(BETWEEN)..)
        })
        .is_some_and(|rest| rest.starts_with(b",\"kind\":\"checkpoint\""))
}

/// The tree a segment's first record says there was before it.
fn opening_tree(path: &Path) -> Result<Option<Tree>, LedgerError> {
    let failed = |error| LedgerError::io(Doing::Read, path, error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut line = vec![0; MAX_LINE];
    let length = read_at(&file, &mut line, 0).map_err(failed)?;
    line.truncate(length);
    let first = line.split(|byte| *byte == b'\n').next();
    Ok(first.and_then(tree_before))
}

fn tree_before(line: &[u8]) -> Option<Tree> {
    let first: CheckpointLine = serde_json::from_slice(line).ok()?;
    if first.kind != "checkpoint" {
        return None;
    }
    let peaks: Option<Vec<RecordHash>> = first
        .detail
        .tree
        .iter()
        .map(|peak| peak.parse().ok())
        .collect();
    Tree::resume(first.seq, peaks?)
}

/// A record that is a checkpoint.
#[derive(Deserialize)]
pub(crate) struct CheckpointLine {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    pub(crate) detail: CheckpointDetail,
}

/// What such a record says.
#[derive(Deserialize)]
pub(crate) struct CheckpointDetail {
    pub(crate) note: String,
    pub(crate) key: String,
    pub(crate) tree: Vec<String>,
    /// Whether nobody asked for it; older versions, which made none such, do not say.
    #[serde(default)]
    pub(crate) automatic: Option<bool>,
}
