//! The real file system, as the judge's look-up.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};

use holdpoint_core::facts::{Fact, FactValue};
use holdpoint_core::paths::{Entry, FILE_HEAD, FileText, Lookup, MAX_SKIMMED, Tracking};

use crate::facts;
#[cfg(unix)]
use crate::git_index;

/// Looks paths up on the machine's disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Lookup for Disk {
    fn entry(&self, path: &str) -> Entry {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => match fs::read_link(path) {
                Ok(target) => match target.into_os_string().into_string() {
                    Ok(target) => Entry::Link(target),
                    // A target that is not text cannot be followed as text.
                    Err(_) => Entry::Unreadable,
                },
                Err(_) => Entry::Unreadable,
            },
            Ok(found) if found.is_dir() => Entry::Directory,
            Ok(_) => Entry::Other,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Entry::Missing
            }
            Err(_) => Entry::Unreadable,
        }
    }

    fn has_nothing_below_missing(&self) -> bool {
        true
    }

    #[cfg(unix)]
    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(path).ok()?;
        let several = found.is_file() && found.nlink() > 1;
        several.then(|| (found.dev(), found.ino()))
    }

    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path).ok()? {
            let entry = entry.ok()?;
            if names.len() >= most {
                return None;
            }
            // A name that is not text is none that a program looks for.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            names.push((name, entry.file_type().is_ok_and(|kind| kind.is_dir())));
        }
        // A directory has no order; a reading is to be the same again.
        names.sort();
        Some(names)
    }

    fn fact(&self, fact: &Fact) -> FactValue {
        facts::gather(fact)
    }

    #[cfg(unix)]
    fn tracking(&self, path: &str) -> Tracking {
        git_index::tracking(path)
    }

    #[cfg(unix)]
    fn tracking_in(&self, directory: &str, names: &[&str]) -> Vec<Tracking> {
        git_index::tracking_in(directory, names)
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return FileText::Missing;
            }
            Err(_) => return FileText::Unreadable,
        };
        // Anything but a plain file may block, or never end.
        if !found.is_file() {
            return FileText::Unreadable;
        }
        let whole = usize::try_from(found.len()).is_ok_and(|length| length <= most);
        let wanted = if whole { most } else { FILE_HEAD };
        let mut bytes = Vec::new();
        // One byte more than is wanted tells a file that grew since it was looked at.
        let limit = u64::try_from(wanted).unwrap_or(u64::MAX).saturating_add(1);
        let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        match read {
            Err(_) => FileText::Unreadable,
            Ok(length) if whole && length <= most => FileText::from_bytes(bytes),
            Ok(_) => FileText::from_head(&bytes),
        }
    }

    fn skim(&self, path: &str, most: usize) -> Option<String> {
        // Anything but a plain file may block, or never end.
        if !fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(MAX_SKIMMED).unwrap_or(u64::MAX);
        let file = File::open(path).ok()?;
        file.take(limit).read_to_end(&mut bytes).ok()?;
        Some(FileText::skimmed(&bytes, most))
    }
}
