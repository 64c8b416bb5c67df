//! Paths a command may not change in a tree it may write: those that are there, those that are not, and the
//! directories above them, which could otherwise be carried away with them.
//!
//! What does not exist gets a *placeholder*: an empty directory, also where a file is expected. Git does not see empty
//! directories, and taking one away can never take content with it. A placeholder is written to a journal before it is
//! made, and locked while a run stands on it: a run that was killed leaves both, and the next one sweeps.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::sys;

/// How many links are followed from one protected path to the next. A longer chain is an error of the kernel's too.
const MAX_LINKS: usize = 40;

/// What is to be done to paths so that nothing protected changes.
#[derive(Debug, Default)]
pub(super) struct Protection {
    /// Directories on the way to a protected path: they cannot be renamed or removed, and can still be written to.
    pub(super) passages: Vec<PathBuf>,
    /// What is there, read-only.
    pub(super) present: Vec<PathBuf>,
    /// What is not there: the first missing part of each path.
    missing: Vec<PathBuf>,
}

impl Protection {
    /// Of these paths, as far as they lie in these trees. Trees are real paths.
    pub(super) fn new(paths: &[PathBuf], trees: &[PathBuf]) -> io::Result<Self> {
        let mut protection = Self::default();
        for path in paths {
            protection.add(path, trees, MAX_LINKS)?;
        }
        for list in [
            &mut protection.passages,
            &mut protection.present,
            &mut protection.missing,
        ] {
            // What is above comes first: it must not cover what hangs below it.
            list.sort_unstable();
            list.dedup();
        }
        let present = &protection.present;
        protection.passages.retain(|path| !present.contains(path));
        Ok(protection)
    }

    fn add(&mut self, path: &Path, trees: &[PathBuf], links: usize) -> io::Result<()> {
        let Some(tree) = trees
            .iter()
            .filter(|tree| path.starts_with(tree))
            .min_by_key(|tree| tree.as_os_str().len())
        else {
            return Ok(());
        };
        let Ok(rest) = path.strip_prefix(tree) else {
            return Ok(());
        };
        let mut here = tree.clone();
        let mut parts = rest.components().peekable();
        while let Some(part) = parts.next() {
            here.push(part);
            let found = match fs::symlink_metadata(&here) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.missing.push(here);
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            if found.is_symlink() {
                self.present.push(here.clone());
                let Some(left) = links.checked_sub(1) else {
                    return Err(io::Error::from_raw_os_error(libc::ELOOP));
                };
                // A link that leads nowhere can still be filled from the other end.
                let target = match fs::canonicalize(&here) {
                    Ok(target) => target,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        let parent = here.parent().unwrap_or(tree);
                        parent.join(fs::read_link(&here)?)
                    }
                    Err(error) => return Err(error),
                };
                return self.add(&target.join(parts.collect::<PathBuf>()), trees, left);
            }
            if parts.peek().is_some() && found.is_dir() {
                self.passages.push(here.clone());
                continue;
            }
            // The path itself, or a file where a directory would have to be.
            self.present.push(here);
            return Ok(());
        }
        Ok(())
    }
}

/// Placeholders while a run stands on them.
#[derive(Debug)]
pub(super) struct Placeholders {
    /// Each with the lock that says it is in use.
    held: Vec<(PathBuf, File)>,
    journal: Option<Journal>,
}

/// The list of one run's placeholders, locked as long as it lives.
#[derive(Debug)]
struct Journal {
    path: PathBuf,
    _locked: File,
}

impl Placeholders {
    /// Makes what is missing, and adds it to what is present. What an earlier run still stands on is shared.
    pub(super) fn make(protection: &mut Protection, journals: &Path) -> io::Result<Self> {
        let mut placeholders = Self {
            held: Vec::new(),
            journal: None,
        };
        let shared = listed(journals);
        let adopted: Vec<PathBuf> = protection
            .present
            .iter()
            .filter(|path| shared.contains(path))
            .cloned()
            .collect();
        let wanted: Vec<&PathBuf> = protection.missing.iter().chain(&adopted).collect();
        if wanted.is_empty() {
            return Ok(placeholders);
        }
        placeholders.journal = Some(Journal::write(journals, &wanted)?);
        for path in wanted {
            if let Some(lock) = hold(path)? {
                placeholders.held.push((path.clone(), lock));
            }
        }
        protection.present.append(&mut protection.missing);
        protection.present.sort_unstable();
        protection.present.dedup();
        Ok(placeholders)
    }

    /// Takes away what no other run stands on.
    pub(super) fn take_away(self) {
        let mut all = true;
        for (path, lock) in &self.held {
            all &= remove(path, lock);
        }
        if let (Some(journal), true) = (&self.journal, all) {
            // One that stays is swept later: its placeholders are gone, so nothing is lost.
            let _ = fs::remove_file(&journal.path);
        }
    }
}

/// Makes a placeholder and says that it is in use. `None` if something else is there by now: it is present then.
fn hold(path: &Path) -> io::Result<Option<File>> {
    // Between making and locking another run may take it away; a few tries are enough for that.
    for _ in 0..16 {
        match fs::DirBuilder::new().mode(0o755).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let Ok(lock) = open_directory(path) else {
            if fs::symlink_metadata(path).is_ok() {
                return Ok(None);
            }
            continue;
        };
        if sys::lock(lock.as_fd(), false)? && is_at(&lock, path) {
            return Ok(Some(lock));
        }
    }
    Err(io::Error::from_raw_os_error(libc::EBUSY))
}

/// Takes a placeholder away if nobody else stands on it. `false` if somebody does.
fn remove(path: &Path, lock: &File) -> bool {
    match sys::lock(lock.as_fd(), true) {
        Ok(true) => {
            if is_at(lock, path) {
                // A directory with something in it is no placeholder any more, and stays.
                let _ = fs::remove_dir(path);
            }
            true
        }
        Ok(false) | Err(_) => false,
    }
}

fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(path)
}

/// Whether an open directory is still the one at its path.
fn is_at(open: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (open.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

/// What stands between two paths in a journal: no path holds it.
const BETWEEN: u8 = 0;

impl Journal {
    fn write(journals: &Path, paths: &[&PathBuf]) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(journals)?;
        // A number is one process's at a time, and a process makes one run after the other.
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let path = journals.join(format!("{}-{run}.placeholders", std::process::id()));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)?;
        sys::lock(file.as_fd(), true)?;
        let mut text = Vec::new();
        for path in paths {
            text.extend_from_slice(path.as_os_str().as_bytes());
            text.push(BETWEEN);
        }
        file.write_all(&text)?;
        Ok(Self {
            path,
            _locked: file,
        })
    }
}

/// The journals there are. A directory that cannot be read has none: it is made when it is needed.
fn journals_in(journals: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(journals) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "placeholders"))
        .collect()
}

/// Every path in the journals.
fn listed(journals: &Path) -> Vec<PathBuf> {
    journals_in(journals)
        .iter()
        .flat_map(|path| paths(path))
        .collect()
}

fn paths(journal: &Path) -> Vec<PathBuf> {
    let text = fs::read(journal).unwrap_or_default();
    text.split(|byte| *byte == BETWEEN)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())))
        .collect()
}

/// Takes away what runs that were killed left behind.
pub(super) fn sweep(journals: &Path) {
    for journal in journals_in(journals) {
        let Ok(file) = OpenOptions::new().read(true).open(&journal) else {
            continue;
        };
        // Its run is alive.
        if !matches!(sys::lock(file.as_fd(), true), Ok(true)) {
            continue;
        }
        let mut all = true;
        for path in paths(&journal) {
            match open_directory(&path) {
                Ok(lock) => all &= remove(&path, &lock),
                Err(error) => all &= error.kind() != io::ErrorKind::PermissionDenied,
            }
        }
        if all {
            let _ = fs::remove_file(&journal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("holdpoint-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(fs::canonicalize(path).unwrap())
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_missing_is_made_and_taken_away() {
        let place = Place::new("missing");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        let trees = [tree.clone()];
        let paths = [tree.join(".git/hooks"), tree.join(".env")];
        let mut protection = Protection::new(&paths, &trees).unwrap();
        assert_eq!(protection.passages, [tree.join(".git")]);
        let held = Placeholders::make(&mut protection, &journals).unwrap();
        assert_eq!(
            protection.present,
            [tree.join(".env"), tree.join(".git/hooks")]
        );
        assert!(tree.join(".env").is_dir());
        // A second run stands on the same ones, and the first leaves them to it.
        let mut again = Protection::new(&paths, &trees).unwrap();
        let second = Placeholders::make(&mut again, &journals).unwrap();
        held.take_away();
        assert!(tree.join(".env").is_dir());
        second.take_away();
        sweep(&journals);
        assert!(!tree.join(".env").exists() && !tree.join(".git/hooks").exists());
        assert!(tree.join(".git").is_dir());
        assert!(journals_in(&journals).is_empty());
    }

    #[test]
    fn what_a_killed_run_left_is_swept_and_content_never() {
        let place = Place::new("killed");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(&tree).unwrap();
        let paths = [tree.join(".env"), tree.join(".mcp.json")];
        let mut protection = Protection::new(&paths, std::slice::from_ref(&tree)).unwrap();
        let held = Placeholders::make(&mut protection, &journals).unwrap();
        fs::write(tree.join(".mcp.json/kept"), "x").unwrap();
        drop(held);
        sweep(&journals);
        assert!(!tree.join(".env").exists());
        assert!(tree.join(".mcp.json/kept").exists());
    }

    #[test]
    fn links_are_protected_at_both_ends() {
        let place = Place::new("links");
        let tree = place.0.join("w");
        fs::create_dir_all(tree.join("kept/hooks")).unwrap();
        std::os::unix::fs::symlink("kept", tree.join(".git")).unwrap();
        std::os::unix::fs::symlink("nowhere", tree.join(".env")).unwrap();
        let paths = [tree.join(".git/hooks"), tree.join(".env")];
        let protection = Protection::new(&paths, std::slice::from_ref(&tree)).unwrap();
        assert_eq!(
            protection.present,
            [
                tree.join(".env"),
                tree.join(".git"),
                tree.join("kept/hooks")
            ]
        );
        assert_eq!(protection.passages, [tree.join("kept")]);
        assert_eq!(protection.missing, [tree.join("nowhere")]);
    }
}
