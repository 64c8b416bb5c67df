//! Empty directories and small files kept for placeholders and journals.
//!
//! A disk takes ten times as long to make and remove one as to move one, and a run has a dozen of them. So those of a run
//! that has ended are kept beside the journals and moved to where the next one needs them. Where they cannot be moved,
//! because the workspace is on another disk, they are made and removed.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{path_text, sys};

/// How many are kept of all kinds: enough for the protected paths of a few runs at once.
const MAX_SPARE: usize = 64;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An empty directory.
    Directory,
    /// A file that says where it is.
    Pin,
    /// A file that says nothing, for whoever may read it.
    Empty,
    /// An empty file of the user's alone.
    Journal,
}

impl Kind {
    /// What it says. What somebody has written to it meanwhile is theirs.
    pub(super) fn text(self) -> &'static [u8] {
        match self {
            Self::Pin => b".\n",
            Self::Directory | Self::Empty | Self::Journal => b"",
        }
    }

    /// Whether nobody has put anything into it.
    pub(super) fn is_untouched(self, path: &Path) -> bool {
        match self {
            Self::Directory => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
            Self::Pin | Self::Empty | Self::Journal => holds(path, self.text()),
        }
    }

    /// What the names of those that are kept begin with.
    fn letter(self) -> &'static str {
        match self {
            Self::Directory => "d",
            Self::Pin => "p",
            Self::Empty => "e",
            Self::Journal => "j",
        }
    }
}

/// All that is kept.
#[derive(Debug)]
pub(super) struct Spare {
    place: PathBuf,
    names: Vec<OsString>,
}

impl Spare {
    /// Where it is kept, beside the journals in this directory.
    pub(super) fn place(journals: &Path) -> PathBuf {
        journals.join("spare")
    }

    /// What there is. A directory that cannot be read has nothing.
    pub(super) fn beside(journals: &Path) -> Self {
        let place = Self::place(journals);
        let entries = fs::read_dir(&place).into_iter().flatten().flatten();
        let names = entries
            .take(MAX_SPARE)
            .map(|entry| entry.file_name())
            .collect();
        Self { place, names }
    }

    /// Moves one to a path. `false` if there is none that can be moved; an error if something is at the path already.
    pub(super) fn take(&mut self, kind: Kind, path: &Path) -> io::Result<bool> {
        while let Some(name) = self.next(kind) {
            match move_to(&self.place.join(&name), path) {
                Ok(()) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.names.push(name);
                    return Err(error);
                }
                // Another run has taken it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // What is true of one is true of all that would go there.
                Err(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    fn next(&mut self, kind: Kind) -> Option<OsString> {
        let begins = |name: &OsString| name.as_bytes().starts_with(kind.letter().as_bytes());
        let index = self.names.iter().rposition(begins)?;
        Some(self.names.swap_remove(index))
    }

    /// Keeps what nobody needs where it is. `false` if it is to be removed. What somebody has put something into stays where it
    /// is.
    pub(super) fn give(&mut self, kind: Kind, path: &Path) -> bool {
        static GIVEN: AtomicU32 = AtomicU32::new(0);
        if self.names.len() >= MAX_SPARE {
            return false;
        }
        let number = GIVEN.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{}-{number}", kind.letter(), std::process::id());
        let kept = self.place.join(&name);
        if move_to(path, &kept).is_err() {
            return false;
        }
        // Only now nobody finds it by its path any more: what is in it would be lost.
        if kind.is_untouched(&kept) {
            self.names.push(name.into());
        } else {
            // Where something else is at its path by now, what is in it is found here.
            let _ = move_to(&kept, path);
        }
        true
    }
}

/// Whether a file says this and no more. It may be of any size.
fn holds(path: &Path, text: &[u8]) -> bool {
    let mut found = Vec::new();
    let most = text.len() as u64 + 1;
    let read = fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut found));
    read.is_ok() && found == text
}

/// Moves something to where nothing is.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    sys::rename_to_nothing(&path_text(from)?, &path_text(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_moved_and_content_stays() {
        let place = std::env::temp_dir().join(format!("holdpoint-spare-{}", std::process::id()));
        let (journals, work) = (place.join("j"), place.join("w"));
        fs::create_dir_all(Spare::place(&journals)).unwrap();
        fs::create_dir_all(work.join("a")).unwrap();
        fs::create_dir_all(work.join("full")).unwrap();
        fs::write(work.join("full/x"), "x").unwrap();
        let mut spare = Spare::beside(&journals);
        assert!(
            !spare.take(Kind::Directory, &work.join("b")).unwrap(),
            "there is none"
        );
        assert!(spare.give(Kind::Directory, &work.join("a")) && !work.join("a").exists());
        assert!(spare.give(Kind::Directory, &work.join("full")));
        assert_eq!(fs::read(work.join("full/x")).unwrap(), b"x");
        let mut spare = Spare::beside(&journals);
        let taken = spare.take(Kind::Directory, &work.join("full"));
        assert_eq!(taken.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(spare.take(Kind::Directory, &work.join("b")).unwrap() && work.join("b").is_dir());
        assert!(!spare.take(Kind::Directory, &work.join("c")).unwrap());
        // Two that want the same one.
        assert!(spare.give(Kind::Directory, &work.join("b")));
        let mut other = Spare::beside(&journals);
        assert!(spare.take(Kind::Directory, &work.join("b")).unwrap());
        assert!(!other.take(Kind::Directory, &work.join("c")).unwrap());
        fs::remove_dir_all(&place).unwrap();
    }
}
