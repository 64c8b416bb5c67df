//! What git has of a file, by the index of its repository: no git is started for it.
//!
//! A file that is not in the index is untracked; one whose size or times are not those in the index is
//! changed. That is what git itself looks at first. Where the index cannot be read, is larger than is
//! read or of a form that is not known here, nobody can tell, and that is the answer.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::paths::Tracking;

use crate::store::read_bounded_as;
#[cfg(feature = "pipeline")]
use crate::store::{Unread, read_bounded};

/// The largest index that is read: some 150,000 files, read in some milliseconds. In a larger repository no file counts
/// as committed.
const MAX_INDEX: u64 = 16 << 20;

/// The most directories between a file and its repository that are looked at: deeper than people nest them. A file further
/// down counts as one that is in no repository.
const MAX_UP: usize = 64;

/// The bytes of an entry in front of its extended flags and its name.
const FIXED: usize = 62;

/// The flag of an entry that has further ones.
const EXTENDED: u16 = 0x4000;

/// Where an entry says what it is, and that it is a repository of its own.
#[cfg(feature = "pipeline")]
const MODE: usize = 24;
#[cfg(feature = "pipeline")]
const KIND: u32 = 0o170_000;
#[cfg(feature = "pipeline")]
const SUBMODULE: u32 = 0o160_000;

/// A file as the index has it.
#[derive(Debug, PartialEq, Eq)]
struct Indexed {
    path: Vec<u8>,
    changed: (u32, u32),
    modified: (u32, u32),
    size: u32,
    /// It is only announced, or in conflict.
    unsettled: bool,
}

/// An index that was read, and the file it was read from.
#[derive(Debug)]
struct Read {
    file: PathBuf,
    modified: (i64, i64, u64),
    /// By path; none if it could not be understood.
    entries: Option<Vec<Indexed>>,
}

/// The index that was read last: the files of a call lie in one repository.
static LATEST: Mutex<Option<Arc<Read>>> = Mutex::new(None);

/// How the file at an absolute path without links stands to its repository.
pub(crate) fn tracking(path: &str) -> Tracking {
    match path.rsplit_once('/') {
        Some(("", _)) => Repository::around("/").tracking(path),
        Some((directory, _)) => Repository::around(directory).tracking(path),
        None => Tracking::NoRepository,
    }
}

/// The same for files of one directory.
pub(crate) fn tracking_in(directory: &str, names: &[&str]) -> Vec<Tracking> {
    if names.is_empty() {
        return Vec::new();
    }
    let repository = Repository::around(directory);
    let paths = names.iter().map(|name| format!("{directory}/{name}"));
    paths.map(|path| repository.tracking(&path)).collect()
}

/// What the files of a directory are compared with.
enum Repository {
    /// There is none, or nobody can tell what is in it.
    Unknown,
    /// Nothing was added to it yet.
    Empty,
    Indexed {
        root: PathBuf,
        index: Arc<Read>,
    },
}

impl Repository {
    fn around(directory: &str) -> Self {
        let Some((root, file)) = repository_of(Path::new(directory)) else {
            return Self::Unknown;
        };
        match read(&file) {
            Some(index) => Self::Indexed { root, index },
            // A repository in which nothing was added yet has no index.
            None => match file.symlink_metadata() {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Empty,
                _ => Self::Unknown,
            },
        }
    }

    fn tracking(&self, path: &str) -> Tracking {
        let (root, index) = match self {
            Self::Unknown => return Tracking::NoRepository,
            Self::Empty => return Tracking::Untracked,
            Self::Indexed { root, index } => (root, index),
        };
        let (Ok(below), Some(entries)) = (Path::new(path).strip_prefix(root), &index.entries)
        else {
            return Tracking::NoRepository;
        };
        let wanted = below.as_os_str().as_encoded_bytes();
        let Ok(at) = entries.binary_search_by(|entry| entry.path.as_slice().cmp(wanted)) else {
            return Tracking::Untracked;
        };
        match (entries.get(at), fs::symlink_metadata(path)) {
            (Some(entry), Ok(found)) if entry.is_unchanged(&found) => Tracking::Committed,
            _ => Tracking::Changed,
        }
    }
}

/// The nearest repository that holds a directory: its own, and its index.
fn repository_of(path: &Path) -> Option<(PathBuf, PathBuf)> {
    for directory in path.ancestors().take(MAX_UP) {
        let git = directory.join(".git");
        let Ok(found) = fs::metadata(&git) else {
            continue;
        };
        if found.is_dir() {
            return Some((directory.to_owned(), git.join("index")));
        }
        // A worktree or a submodule says where its own is.
        let text = fs::read_to_string(&git).ok()?;
        let named = text.strip_prefix("gitdir:")?.trim();
        return Some((directory.to_owned(), directory.join(named).join("index")));
    }
    None
}

fn read(index: &Path) -> Option<Arc<Read>> {
    let stamp = |found: &Metadata| (found.mtime(), found.mtime_nsec(), found.len());
    let now = stamp(&fs::metadata(index).ok()?);
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(read) = &*latest
        && read.file == index
        && read.modified == now
    {
        return Some(Arc::clone(read));
    }
    let (bytes, found) = read_bounded_as(index, MAX_INDEX).ok()?;
    let read = Arc::new(Read {
        file: index.to_owned(),
        modified: stamp(&found),
        entries: entries(&bytes),
    });
    *latest = Some(Arc::clone(&read));
    Some(read)
}

impl Indexed {
    fn is_unchanged(&self, found: &Metadata) -> bool {
        let same = |(seconds, nanos): (u32, u32), now: i64, now_nanos: i64| {
            // The index keeps the low half of the seconds, and may keep no fractions.
            i64::from(seconds) == now & i64::from(u32::MAX)
                && (nanos == 0 || i64::from(nanos) == now_nanos)
        };
        !self.unsettled
            && u64::from(self.size) == found.len() & u64::from(u32::MAX)
            && same(self.modified, found.mtime(), found.mtime_nsec())
            && same(self.changed, found.ctime(), found.ctime_nsec())
    }
}

/// The directories of a repository that are repositories of their own by its index: git goes into them when it is asked how the
/// files of this one stand. `None` if nobody can tell.
#[cfg(feature = "pipeline")]
pub(crate) fn submodules(root: &Path) -> Option<Vec<PathBuf>> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let Some((_, index)) = repository_of(root).filter(|(found, _)| found == root) else {
        return Some(Vec::new());
    };
    let bytes = match read_bounded(&index, MAX_INDEX) {
        Ok(bytes) => bytes,
        Err(Unread::Missing) => return Some(Vec::new()),
        Err(_) => return None,
    };
    let mut all = Vec::new();
    each(&bytes, |entry, path| {
        if number(entry, MODE)? & KIND == SUBMODULE {
            all.push(PathBuf::from(OsStr::from_bytes(path)));
        }
        Some(())
    })?;
    Some(all)
}

/// The entries of an index, sorted by path as they stand in it.
fn entries(bytes: &[u8]) -> Option<Vec<Indexed>> {
    let mut found: Vec<Indexed> = Vec::new();
    each(bytes, |entry, path| {
        let flags = u16::from_be_bytes(entry.get(60..62)?.try_into().ok()?);
        let mut announced = false;
        if flags & EXTENDED != 0 {
            let more = u16::from_be_bytes(entry.get(FIXED..FIXED + 2)?.try_into().ok()?);
            announced = more & 0x2000 != 0;
        }
        found.push(Indexed {
            path: path.to_vec(),
            changed: (number(entry, 0)?, number(entry, 4)?),
            modified: (number(entry, 8)?, number(entry, 12)?),
            size: number(entry, 36)?,
            unsettled: announced || flags & 0x3000 != 0,
        });
        Some(())
    })?;
    Some(found)
}

/// Hands over each entry of an index, from where it begins, with its path. `None` if it is of a form that is not known here.
fn each(bytes: &[u8], mut take: impl FnMut(&[u8], &[u8]) -> Option<()>) -> Option<()> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(bytes, 4)?;
    let count = usize::try_from(number(bytes, 8)?).ok()?;
    if !(2..=4).contains(&version) || count > bytes.len() / FIXED {
        return None;
    }
    let mut path: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
        let more = if flags & EXTENDED != 0 { 2 } else { 0 };
        let name_at = at + FIXED + more;
        let next = if version == 4 {
            let (dropped, from) = offset(bytes, name_at)?;
            let rest = bytes.get(from..)?;
            let length = rest.iter().position(|byte| *byte == 0)?;
            path.truncate(path.len().checked_sub(dropped)?);
            path.extend_from_slice(rest.get(..length)?);
            from + length + 1
        } else {
            let rest = bytes.get(name_at..)?;
            let length = rest.iter().position(|byte| *byte == 0)?;
            path.clear();
            path.extend_from_slice(rest.get(..length)?);
            // Entries are padded with one to eight NULs to a multiple of eight.
            let whole = name_at - at + length;
            at + (whole / 8 + 1) * 8
        };
        take(bytes.get(at..)?, &path)?;
        at = next;
    }
    // An index that says only how it differs from another one is not followed there.
    (bytes.get(at..at + 4)? != b"link").then_some(())
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// A number of version 4, in groups of seven bits, and where it ends.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?;
        value += usize::from(byte & 0x7f);
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(directory: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b.example"])
            .args(arguments)
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    fn tracked(directory: &Path, name: &str) -> Tracking {
        tracking(directory.join(name).to_str().unwrap())
    }

    #[test]
    fn git_is_asked_without_starting_it() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().canonicalize().unwrap();
        assert_eq!(tracked(&place, "a.py"), Tracking::NoRepository);
        git(&place, &["init", "-q"]);
        fs::create_dir(place.join("sub")).unwrap();
        for name in ["a.py", "sub/b.py", "sub/bb.py", "new.py"] {
            fs::write(place.join(name), "x = 1\n").unwrap();
        }
        assert_eq!(tracked(&place, "a.py"), Tracking::Untracked);
        for version in ["2", "4"] {
            git(&place, &["config", "index.version", version]);
            git(&place, &["add", "a.py", "sub"]);
            git(&place, &["update-index", "--index-version", version]);
            git(&place, &["commit", "-q", "--allow-empty", "-m", "x"]);
            for name in ["a.py", "sub/b.py", "sub/bb.py"] {
                assert_eq!(
                    tracked(&place, name),
                    Tracking::Committed,
                    "{version} {name}"
                );
            }
            assert_eq!(tracked(&place, "new.py"), Tracking::Untracked);
            fs::write(place.join("sub/b.py"), "x = 2; y = 3\n").unwrap();
            assert_eq!(tracked(&place, "sub/b.py"), Tracking::Changed);
            fs::write(place.join("sub/b.py"), "x = 1\n").unwrap();
        }
        git(&place, &["add", "-N", "new.py"]);
        assert_eq!(tracked(&place, "new.py"), Tracking::Changed);
    }

    #[test]
    fn a_directory_of_files_is_answered_as_each_of_them() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().canonicalize().unwrap();
        let same = || {
            let names = ["a.py", "b.py", "missing.py"];
            for directory in [place.clone(), place.join("sub"), place.join("none")] {
                let directory = directory.to_str().unwrap();
                let each = names.map(|name| tracking(&format!("{directory}/{name}")));
                assert_eq!(tracking_in(directory, &names), each, "{directory}");
            }
        };
        same();
        fs::create_dir(place.join("sub")).unwrap();
        for name in ["a.py", "sub/a.py", "sub/b.py"] {
            fs::write(place.join(name), "x = 1\n").unwrap();
        }
        git(&place, &["init", "-q"]);
        same();
        git(&place, &["add", "a.py", "sub/b.py"]);
        same();
        fs::write(place.join("sub/b.py"), "x = 22\n").unwrap();
        same();
        assert_eq!(
            tracking_in(place.join("sub").to_str().unwrap(), &["a.py", "b.py"]),
            [Tracking::Untracked, Tracking::Changed]
        );
        git(&place.join("sub"), &["init", "-q"]);
        same();
        assert_eq!(tracked(&place, "sub/b.py"), Tracking::Untracked);
    }

    #[test]
    fn any_bytes_are_an_answer() {
        for bytes in [
            &b""[..],
            b"DIRC",
            b"DIRC\0\0\0\x02\xff\xff\xff\xff",
            b"DIRC\0\0\0\x02\0\0\0\x01",
            b"DIRC\0\0\0\x09\0\0\0\0",
        ] {
            assert_eq!(entries(bytes), None);
        }
        let mut long = b"DIRC\0\0\0\x04\0\0\0\x01".to_vec();
        long.extend(std::iter::repeat_n(0xff, 300));
        assert_eq!(entries(&long), None);
    }
}
