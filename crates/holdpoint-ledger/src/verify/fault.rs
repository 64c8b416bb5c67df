//! What can be wrong with a ledger, and how that is told.

use std::fmt;

use crate::record::Mend;

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line in it, from 1; none if it is about the whole file.
    pub line: Option<u64>,
    /// The number of the record, from 0.
    pub record: Option<u64>,
    /// What is wrong.
    pub found: Defect,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A line is no record.
    NoRecord(String),
    /// A record does not follow the one before it.
    BrokenChain,
    /// A record has another number than its place.
    WrongNumber(u64),
    /// The last record has no end, though its writer came to its end.
    NoEnd,
    /// A segment is missing.
    MissingSegment,
    /// A segment does not open with a checkpoint.
    NoCheckpoint,
    /// The file of a checkpoint's note is missing or says something else.
    OtherNote(u64),
    /// The file of the latest note is missing or empty.
    NoLatestNote,
    /// A checkpoint's note or signature is wrong.
    BadCheckpoint(String),
    /// A checkpoint is about other records than there are.
    OtherRecords,
    /// A checkpoint is about more records than there are.
    MissingRecords(u64),
    /// The key is missing, damaged, or not the one given.
    Key(String),
    /// The head cannot be read.
    NoHead,
    /// The head says something else of the last record than the record itself.
    OtherHead,
    /// The head names more records than there are.
    Truncated(u64),
    /// There are more records than the head names.
    Added(u64),
    /// The last record is not the one the head names.
    LastChanged,
    /// What somebody signed to release a call proves nothing.
    Unproved(String),
    /// There was a ledger, and nothing is left of it.
    Emptied,
    /// A repair says that records were lost, and nobody took note of it.
    Loss(Mend),
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Defect::NoRecord(why) => write!(f, "this is no record ({why})"),
            Defect::BrokenChain => f.write_str(
                "it does not follow the record before: one of the two was changed, or records were \
                 removed, added or moved between them",
            ),
            Defect::WrongNumber(number) => write!(
                f,
                "it says it is record {number}: records were removed, added or moved"
            ),
            Defect::NoEnd => f.write_str("the last record has no end: it was cut or changed"),
            Defect::MissingSegment => f.write_str("the segment is missing"),
            Defect::NoCheckpoint => f.write_str("the segment does not open with a checkpoint"),
            Defect::OtherNote(size) => write!(
                f,
                "the note of the checkpoint over {size} records is missing or says something else"
            ),
            Defect::NoLatestNote => f.write_str("the latest note is missing"),
            Defect::BadCheckpoint(why) => write!(f, "the checkpoint is not genuine: {why}"),
            Defect::OtherRecords => f.write_str(
                "the checkpoint was signed over other records: one before it was changed",
            ),
            Defect::MissingRecords(size) => write!(
                f,
                "the checkpoint was signed over {size} records: some of them were removed"
            ),
            Defect::Key(why) => write!(f, "the key cannot be relied on: {why}"),
            Defect::NoHead => f.write_str("the head cannot be read: it was changed or removed"),
            Defect::OtherHead => {
                f.write_str("the head was changed: it does not fit the last record")
            }
            Defect::Truncated(records) => write!(
                f,
                "{records} records were written: the last ones were removed, or power was lost"
            ),
            Defect::Added(records) => write!(
                f,
                "{records} records were written: the ones after them were added"
            ),
            Defect::LastChanged => f.write_str("the last record was changed"),
            Defect::Unproved(why) => write!(f, "the release is not a person's: {why}"),
            Defect::Emptied => f.write_str(
                "a ledger was kept here, and all of its records are gone: its key or notes are left",
            ),
            Defect::Loss(mend) => match mend {
                Mend::Lost { expected, found } => write!(
                    f,
                    "{} records before it were lost or removed: take note with `holdpoint log \
                     repair`",
                    expected.saturating_sub(*found)
                ),
                Mend::Torn { .. }
                | Mend::Unclaimed { .. }
                | Mend::NoHead
                | Mend::Acknowledged
                | Mend::Clock { .. }
                | Mend::NewKey => f.write_str(
                    "it tells of records nobody announced, or of a lost head: take note with \
                     `holdpoint log repair`",
                ),
            },
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(record) = self.record {
            write!(f, ": record {record}")?;
        }
        write!(f, ": {}", self.found)
    }
}
