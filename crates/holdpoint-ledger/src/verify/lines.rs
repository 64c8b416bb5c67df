//! The lines of segments as a verifier reads them: in pieces, each hashed and read by a thread of its own.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::thread;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::signed::{self, Released, SignedAnswer};
use crate::chain::RecordHash;
use crate::record::{Kind, MAX_LINE, Mend, VERSION};
use crate::recovery::CheckpointDetail;
use crate::system::read_at;

/// How much of a segment one thread reads at once: memory does not grow with the ledger.
const PIECE: usize = 1 << 20;

/// A part of a segment whose lines were hashed.
pub(super) struct Checked {
    pub(super) lines: Vec<CheckedLine>,
    /// The time the last line tells.
    pub(super) time: String,
}

pub(super) struct CheckedLine {
    pub(super) hash: RecordHash,
    pub(super) read: Result<ReadLine, Cow<'static, str>>,
}

pub(super) struct ReadLine {
    pub(super) seq: u64,
    pub(super) prev: RecordHash,
    pub(super) special: Option<Box<Special>>,
}

/// A record that says something about the ledger itself.
pub(super) enum Special {
    Checkpoint(CheckpointDetail),
    Mend(Mend),
    /// An answer somebody signed; why it proves nothing, if it does not.
    Signed(Result<SignedAnswer, String>),
    /// A release somebody had to sign.
    Release(Released),
}

/// Reads a segment in pieces that end with a line.
pub(super) struct Pieces {
    pub(super) file: File,
    pub(super) place: u64,
    pub(super) stop: u64,
    pub(super) rest: Vec<u8>,
}

impl Pieces {
    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        while self.place < self.stop {
            let mut piece = std::mem::take(&mut self.rest);
            let kept = piece.len();
            let left = usize::try_from(self.stop - self.place).unwrap_or(PIECE);
            piece.resize(kept + left.min(PIECE), 0);
            let count = read_at(
                &self.file,
                piece.get_mut(kept..).unwrap_or_default(),
                self.place,
            )?;
            piece.truncate(kept + count);
            self.place += u64::try_from(count).unwrap_or(u64::MAX);
            if count == 0 {
                // Somebody cuts the file while it is read.
                self.stop = self.place;
            }
            match piece.iter().rposition(|byte| *byte == b'\n') {
                Some(end) => {
                    self.rest = piece.split_off(end + 1);
                    return Ok(Some(piece));
                }
                // Longer than any record: it is looked at as it is.
                None if piece.len() > MAX_LINE => return Ok(Some(piece)),
                None => self.rest = piece,
            }
        }
        Ok(None)
    }
}

pub(super) fn checked_together(pieces: &[Vec<u8>]) -> io::Result<Vec<Checked>> {
    if let [piece] = pieces {
        return Ok(vec![checked(piece)]);
    }
    thread::scope(|scope| {
        let workers: Vec<_> = pieces
            .iter()
            .map(|piece| scope.spawn(|| checked(piece)))
            .collect();
        workers
            .into_iter()
            .map(|worker| {
                let stopped = |_| io::Error::other("a thread stopped");
                worker.join().map_err(stopped)
            })
            .collect()
    })
}

pub(super) fn checked(piece: &[u8]) -> Checked {
    let mut lines = Vec::with_capacity(piece.len() / 512);
    let mut time = "";
    for line in piece.split_inclusive(|byte| *byte == b'\n') {
        // A line that is too long counts as several, none of them a record.
        for part in line.chunks(MAX_LINE) {
            let (part, is_whole) = match part.strip_suffix(b"\n") {
                Some(rest) => (rest, part.len() == line.len()),
                None => (part, false),
            };
            let read = if is_whole {
                read_line(part).map(|(read, at)| {
                    time = at;
                    read
                })
            } else {
                Err("it is too long".into())
            };
            lines.push(CheckedLine {
                hash: RecordHash::from_line(part),
                read,
            });
        }
    }
    let time = time.to_owned();
    Checked { lines, time }
}

/// What a verifier has to know of a record. Fields it does not know are covered by the hash.
#[derive(Deserialize)]
struct Known<'a> {
    v: u32,
    seq: u64,
    prev: &'a str,
    time: &'a str,
    kind: Kind,
    #[serde(borrow)]
    detail: Option<&'a RawValue>,
    #[serde(borrow)]
    approver: Option<&'a RawValue>,
}

/// The record in a line, and the time it tells.
fn read_line(line: &[u8]) -> Result<(ReadLine, &str), Cow<'static, str>> {
    if line.is_empty() {
        return Err("it is empty".into());
    }
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
    let parsed = |error: serde_json::Error| error.to_string();
    let known: Known<'_> = serde_json::from_str(text).map_err(parsed)?;
    if known.v != VERSION {
        return Err(format!("it is of version {}", known.v).into());
    }
    let detail = known.detail.map_or("null", RawValue::get);
    let special = match known.kind {
        Kind::Checkpoint => Some(Special::Checkpoint(
            serde_json::from_str(detail).map_err(parsed)?,
        )),
        Kind::HoldAnswered => {
            let approver = known.approver.map(RawValue::get);
            let approver: Option<String> =
                approver.and_then(|text| serde_json::from_str(text).ok());
            signed::verified(detail, approver.as_deref()).map(Special::Signed)
        }
        Kind::Repair => Some(Special::Mend(serde_json::from_str(detail).map_err(parsed)?)),
        Kind::Release => signed::wanted(detail).map(Special::Release),
        Kind::Decision
        | Kind::HoldOpened
        | Kind::HoldExpired
        | Kind::Result
        | Kind::TextFinding
        | Kind::PolicyChange
        | Kind::SessionRule
        | Kind::Error => None,
    };
    let read = ReadLine {
        seq: known.seq,
        prev: known.prev.parse().map_err(|_| "`prev` is no hash")?,
        special: special.map(Box::new),
    };
    Ok((read, known.time))
}
