//! What stood where before a call ran.

use std::path::PathBuf;

use holdpoint_core::PathVerb;
use holdpoint_ledger::Timestamp;
use serde::{Deserialize, Serialize};

use super::raw_path::RawPath;

/// One backup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this form.
    pub v: u32,
    /// Its name: when it was made, and something to tell two of one second apart.
    pub id: String,
    /// When it was made.
    pub time: String,
    /// What for.
    pub purpose: Purpose,
    /// The digest of the call.
    pub call: String,
    /// What the call is, without secrets.
    pub about: String,
    /// The paths the call names.
    pub roots: Vec<Root>,
    /// What stood there and below; a directory stands before what is in it.
    pub entries: Vec<Entry>,
    /// The bytes of all files.
    pub bytes: u64,
    /// What the call may change that is not copied: it has no name before the call runs, or nobody
    /// knows what the call does with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What a backup is made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "for", content = "of")]
pub enum Purpose {
    /// A call that is about to run.
    Call,
    /// Taking back what a call changed: the name of the backup that is restored.
    Undo(String),
}

/// A path a call names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The path.
    pub path: RawPath,
    /// What the call does to it. What is only removed can have nothing new in it afterwards; where
    /// something is written, what is new goes when it is taken back.
    pub verb: PathVerb,
}

/// What stood at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The path.
    pub path: RawPath,
    /// What it was.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What stood at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Kind {
    /// A file.
    File {
        /// Its permissions.
        mode: u32,
        /// Its size.
        size: u64,
        /// The SHA-256 of its content.
        object: String,
    },
    /// A directory.
    #[serde(rename = "dir")]
    Directory {
        /// Its permissions.
        mode: u32,
    },
    /// A symbolic link.
    #[serde(rename = "symlink")]
    Link {
        /// Where it leads.
        target: RawPath,
    },
    /// Nothing.
    Absent,
}

/// A new name, by the clock and by chance.
pub(super) fn new_id(now: Timestamp, chance: [u8; 32]) -> String {
    let seconds = now.micros() / 1_000_000;
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let day = now.date().replace('-', "");
    // In order within a second, too: the newest is the one that is taken back.
    let micros = now.micros() % 1_000_000;
    let chance = chance.first().copied().unwrap_or_default();
    format!("{day}-{hour:02}{minute:02}{second:02}-{micros:05x}{chance:02x}")
}

/// Whether a text is a name as they are made. Nothing else is ever part of a path.
pub(super) fn is_id(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut is = |length: usize, hex: bool| {
        parts.next().is_some_and(|part| {
            part.len() == length
                && part.bytes().all(|byte| match hex {
                    true => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
                    false => byte.is_ascii_digit(),
                })
        })
    };
    is(8, false) && is(6, false) && is(7, true) && parts.next().is_none()
}

impl Manifest {
    /// How many files, directories and links it holds.
    pub fn copied(&self) -> usize {
        let copied = |entry: &&Entry| entry.kind != Kind::Absent;
        self.entries.iter().filter(copied).count()
    }

    pub(super) fn file_name(&self) -> PathBuf {
        PathBuf::from(format!("{}.json", self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_time_and_nothing_else_is_one() {
        let time = Timestamp::parse("2026-11-16T06:46:12.999999Z").unwrap();
        let id = new_id(time, [0xab; 32]);
        assert_eq!(id, "20261116-064612-f423fab");
        assert!(is_id(&id));
        for other in [
            "",
            "..",
            "20261116-064612-f423faG",
            "20261116-064612",
            "../../x-1-a",
        ] {
            assert!(!is_id(other), "{other}");
        }
    }
}
