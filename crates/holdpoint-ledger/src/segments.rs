//! The files of a ledger: their names, and which there are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The lock, which also keeps the head.
pub(crate) const LOCK: &str = "lock";
/// The key that signs.
pub(crate) const KEY: &str = "key";
/// The key that checks.
pub(crate) const PUBLIC_KEY: &str = "key.pub";
/// The last note that was signed without being asked for, and when: each takes the place of the one before.
pub(crate) const LATEST_NOTE: &str = "latest.checkpoint";
/// Room to record a refusal on a full disk.
pub(crate) const RESERVE: &str = "reserve";

/// The segment of a number.
pub fn segment_path(directory: &Path, number: u32) -> PathBuf {
    directory.join(segment_name(number))
}

/// The name of the segment of a number.
pub fn segment_name(number: u32) -> String {
    format!("{number:08}.jsonl")
}

/// The note of the checkpoint over so many records.
pub(crate) fn note_path(directory: &Path, size: u64) -> PathBuf {
    directory.join(note_name(size))
}

/// The name of the note of the checkpoint over so many records.
pub(crate) fn note_name(size: u64) -> String {
    format!("{size:012}.checkpoint")
}

/// The numbers of the segments in a directory, in order.
pub fn segment_numbers(directory: &Path) -> io::Result<Vec<u32>> {
    numbered(directory, ".jsonl", segment_name)
}

/// The sizes the notes in a directory are about, in order.
pub(crate) fn note_sizes(directory: &Path) -> io::Result<Vec<u64>> {
    numbered(directory, ".checkpoint", note_name)
}

/// The numbers in the names of files. Only the one spelling a writer uses counts.
fn numbered<N: FromStr + Copy + Ord>(
    directory: &Path,
    ending: &str,
    spelled: fn(N) -> String,
) -> io::Result<Vec<N>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // A pipe would be waited for, and a link leads elsewhere: no writer makes either.
        if !entry.file_type()?.is_file() {
            continue;
        }
        let name = entry.file_name();
        let number: Option<N> = name
            .to_str()
            .and_then(|name| name.strip_suffix(ending))
            .and_then(|number| number.parse().ok())
            .filter(|number| name.to_str() == Some(&spelled(*number)));
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}
