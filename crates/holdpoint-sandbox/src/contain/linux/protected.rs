//! Paths a command may not change in a tree it may write: those that are there, those that are not, and the
//! directories above them, which could otherwise be carried away with them.
//!
//! What does not exist gets a *placeholder*: an empty directory, also where a file is expected. Git does not see empty
//! directories, and taking one away can never take content with it. A placeholder is written to a journal before it is
//! made, and locked while a run stands on it: a run that was killed leaves both, and the next one sweeps.
//!
//! Git takes a directory in the place of one of its own files for damage. Where such a file would say where a
//! repository's settings lie, its placeholder is a file that says "here"; where it would hold settings, an empty one.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use super::spare::{Kind, Spare};
use super::sys;

/// How many links are followed from one protected path to the next. A longer chain is an error of the kernel's too.
const MAX_LINKS: usize = 40;

/// How often what another run has changed meanwhile is tried again: an agent has a few commands run at once.
const MAX_TRIES: usize = 16;

/// What is to be done to paths so that nothing protected changes.
#[derive(Debug, Default)]
pub(super) struct Protection {
    /// Directories on the way to a protected path: they cannot be renamed or removed, and can still be written to.
    pub(super) passages: Vec<PathBuf>,
    /// What is there, read-only.
    pub(super) present: Vec<PathBuf>,
    /// What is not there: the first missing part of each path.
    missing: Vec<PathBuf>,
    /// What is not there and is held by a file.
    pins: Vec<PathBuf>,
}

impl Protection {
    /// Of these paths, as far as they lie in these trees. Trees are real paths.
    pub(super) fn new(
        paths: &[PathBuf],
        pinned: &[PathBuf],
        trees: &[PathBuf],
    ) -> io::Result<Self> {
        let mut protection = Self::default();
        for path in pinned {
            protection.add(path, trees, MAX_LINKS)?;
        }
        let pinned = |path: &PathBuf| pinned.iter().any(|pin| pin.file_name() == path.file_name());
        (protection.pins, protection.missing) = protection.missing.into_iter().partition(pinned);
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

    /// Directories and links on the way to what is hidden: carried away with them it would be found by the next run.
    pub(super) fn keep_ways_to(&mut self, hidden: &[PathBuf], trees: &[PathBuf]) -> io::Result<()> {
        for path in hidden {
            let mut ways = Self::default();
            ways.add(path, trees, MAX_LINKS)?;
            ways.present.retain(|one| one.is_symlink());
            self.passages.append(&mut ways.passages);
            self.present.append(&mut ways.present);
        }
        for list in [&mut self.passages, &mut self.present] {
            list.sort_unstable();
            list.dedup();
        }
        self.passages.retain(|path| !self.present.contains(path));
        Ok(())
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

/// What stood at protected paths when a run began.
#[derive(Debug)]
pub(super) struct Stood(Vec<(PathBuf, Known)>);

/// What a file is known by. Its number alone is given to the next one that is made when it is gone, often at once.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    device: u64,
    number: u64,
    /// None where the file system does not say.
    made: Option<SystemTime>,
}

impl Known {
    fn at(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        Ok(Self {
            device: found.dev(),
            number: found.ino(),
            made: found.created().ok(),
        })
    }
}

impl Stood {
    pub(super) fn at(protection: &Protection) -> Self {
        let paths = protection.present.iter();
        Self(
            paths
                .filter_map(|path| Some((path.clone(), Known::at(path).ok()?)))
                .collect(),
        )
    }

    /// Where something else stands by now, or nothing that can be seen. Nobody inside can do that; who does so outside, as an
    /// editor that writes a new file, takes the wall away that hung there, and the system hangs up no other. Where
    /// nothing stands the command may have put something, had it read outside, and taken it away.
    pub(super) fn replaced(&self) -> Vec<PathBuf> {
        let same = |path: &Path, stood: &Known| Known::at(path).is_ok_and(|now| now == *stood);
        let all = self.0.iter().filter(|(path, stood)| !same(path, stood));
        all.map(|(path, _)| path.clone()).collect()
    }
}

/// Placeholders while a run stands on them.
#[derive(Debug)]
pub(super) struct Placeholders {
    /// Each with the lock that says it is in use.
    held: Vec<(PathBuf, File)>,
    journal: Option<Journal>,
    spare: Spare,
}

/// The list of one run's placeholders, locked as long as it lives.
#[derive(Debug)]
struct Journal {
    path: PathBuf,
    /// Locked.
    file: File,
}

impl Placeholders {
    /// Protects these paths as far as they lie in these trees, and makes what is missing of them.
    pub(super) fn protect(
        paths: &[PathBuf],
        pinned: &[PathBuf],
        trees: &[PathBuf],
        journals: &Path,
    ) -> io::Result<(Protection, Self)> {
        // Runs that end meanwhile take their placeholders with them; each try sees at least one of them gone.
        for _ in 0..MAX_TRIES {
            let mut protection = Protection::new(paths, pinned, trees)?;
            let placeholders = Self::make(&mut protection, journals)?;
            if !placeholders.vanished(&protection) {
                return Ok((protection, placeholders));
            }
            placeholders.take_away();
        }
        Err(io::Error::from_raw_os_error(libc::EBUSY))
    }

    /// Makes what is missing, and adds it to what is present. What an earlier run still stands on is shared.
    fn make(protection: &mut Protection, journals: &Path) -> io::Result<Self> {
        let mut placeholders = Self {
            held: Vec::new(),
            journal: None,
            spare: Spare::beside(journals),
        };
        let shared = listed(journals);
        let adopted: Vec<PathBuf> = protection
            .present
            .iter()
            .filter(|path| shared.contains(path))
            .cloned()
            .collect();
        let pins = &protection.pins;
        let made = protection.missing.iter().chain(pins);
        let wanted: Vec<&PathBuf> = made.chain(&adopted).collect();
        if wanted.is_empty() {
            return Ok(placeholders);
        }
        placeholders.journal = Some(Journal::write(journals, &wanted, &mut placeholders.spare)?);
        for path in wanted {
            let held = match pins.contains(path) {
                true => hold(path, || make_pin(path, &mut placeholders.spare)),
                false => hold(path, || make_directory(path, &mut placeholders.spare)),
            };
            if let Some(lock) = held? {
                placeholders.held.push((path.clone(), lock));
            }
        }
        protection.present.append(&mut protection.missing);
        protection.present.append(&mut protection.pins);
        protection.present.sort_unstable();
        protection.present.dedup();
        Ok(placeholders)
    }

    /// Takes away what no other run stands on.
    pub(super) fn take_away(mut self) {
        let mut all = true;
        for (path, lock) in &self.held {
            let own = self.journal.as_ref().map(|journal| journal.path.as_path());
            all &= remove(path, lock, own, &mut self.spare);
        }
        let Some(journal) = &self.journal else {
            return;
        };
        if all
            && !(journal.file.set_len(0).is_ok() && self.spare.give(Kind::Journal, &journal.path))
        {
            // One that stays is swept later: its placeholders are gone, so nothing is lost.
            let _ = fs::remove_file(&journal.path);
        }
        sys::unlock(journal.file.as_fd());
    }

    /// A path that was there and is gone by now: another run's placeholder that the other has taken away meanwhile. What
    /// was made for it is of no use then.
    fn vanished(&self, protection: &Protection) -> bool {
        let held = |path: &PathBuf| self.held.iter().any(|(one, _)| one == path);
        let gone = |path: &PathBuf| {
            let found = fs::symlink_metadata(path);
            matches!(found, Err(error) if error.kind() == io::ErrorKind::NotFound)
        };
        protection
            .present
            .iter()
            .any(|path| !held(path) && gone(path))
    }
}

/// The file in which git reads where they lie. Any other that is pinned holds settings, and stands empty.
const SAYS_WHERE: &str = "commondir";

fn make_pin(path: &Path, spare: &mut Spare) -> io::Result<()> {
    let kind = match path.file_name() {
        Some(name) if name == SAYS_WHERE => Kind::Pin,
        _ => Kind::Empty,
    };
    if spare.take(kind, path)? {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o644).open(path);
    file.and_then(|mut file| file.write_all(kind.text()))
}

fn make_directory(path: &Path, spare: &mut Spare) -> io::Result<()> {
    if spare.take(Kind::Directory, path)? {
        return Ok(());
    }
    fs::DirBuilder::new().mode(0o755).create(path)
}

/// Makes a placeholder and says that it is in use. `None` if something else is there by now: it is present then.
fn hold(path: &Path, mut make: impl FnMut() -> io::Result<()>) -> io::Result<Option<File>> {
    for _ in 0..MAX_TRIES {
        match make() {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let Ok(lock) = open_placeholder(path) else {
            if fs::symlink_metadata(path).is_ok() {
                return Ok(None);
            }
            continue;
        };
        if sys::lock(lock.as_fd(), false)? {
            if is_at(&lock, path).is_some() {
                return Ok(Some(lock));
            }
        } else {
            // Another run is about to take it away.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Err(io::Error::from_raw_os_error(libc::EBUSY))
}

/// Takes a placeholder of a journal away if nobody else stands on it: of several that end at once the system gives the lock to
/// one, because whoever asks for it alone first gives up its share. `false` if it is still the journal's to take away.
fn remove(path: &Path, lock: &File, journal: Option<&Path>, spare: &mut Spare) -> bool {
    match sys::lock(lock.as_fd(), true) {
        Ok(true) => {
            if let Some(found) = is_at(lock, path) {
                let kind = match (found.is_file(), found.len()) {
                    (false, _) => Kind::Directory,
                    (true, 0) => Kind::Empty,
                    (true, _) => Kind::Pin,
                };
                // What somebody outside has put something into is no placeholder any more, and stays.
                if kind.is_untouched(path) && !spare.give(kind, path) {
                    let _ = match kind {
                        Kind::Directory => fs::remove_dir(path),
                        Kind::Pin | Kind::Empty | Kind::Journal => fs::remove_file(path),
                    };
                }
            }
            // Processes of the run that are about to end have it open, too, and it may be kept for the next.
            sys::unlock(lock.as_fd());
            true
        }
        Ok(false) => journal.is_none_or(|journal| is_anothers(path, journal)),
        Err(_) => false,
    }
}

/// Whether a placeholder that somebody stands on is in another journal, which has it taken away later. A run that was killed may
/// give its journal up a moment before its placeholders, and then nobody else has it. Of two journals the later one keeps
/// it, so that two who look at once do not each leave it to the other.
fn is_anothers(path: &Path, journal: &Path) -> bool {
    let all = journal.parent().map(journals_in).unwrap_or_default();
    let mut later = all.iter().filter(|other| other.as_path() > journal);
    later.any(|other| paths(other).iter().any(|listed| listed == path))
}

/// A directory, or a file that says nothing, or nothing but "here".
fn open_placeholder(path: &Path) -> io::Result<File> {
    let mut opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let found = opened.metadata()?;
    if found.is_dir() {
        return Ok(opened);
    }
    if found.is_file() && found.len() == 0 {
        return Ok(opened);
    }
    let here = Kind::Pin.text();
    let mut text = Vec::new();
    let same = found.is_file() && found.len() == here.len() as u64;
    if same && opened.read_to_end(&mut text).is_ok() && text == here {
        return Ok(opened);
    }
    Err(io::ErrorKind::NotADirectory.into())
}

/// What an open directory or file is, if it is still the one at its path.
fn is_at(open: &File, path: &Path) -> Option<Metadata> {
    let (ours, there) = (open.metadata().ok()?, fs::symlink_metadata(path).ok()?);
    ((ours.dev(), ours.ino()) == (there.dev(), there.ino())).then_some(there)
}

/// What stands between two paths in a journal: no path holds it.
const BETWEEN: u8 = 0;

impl Journal {
    fn write(journals: &Path, paths: &[&PathBuf], spare: &mut Spare) -> io::Result<Self> {
        // A number is one process's at a time, and a process makes one run after the other.
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let path = journals.join(format!("{}-{run}.placeholders", std::process::id()));
        let mut text = Vec::new();
        for path in paths {
            text.extend_from_slice(path.as_os_str().as_bytes());
            text.push(BETWEEN);
        }
        for _ in 0..MAX_TRIES {
            // What a killed process of the same number left is in the way of a kept one, and is written over.
            if !matches!(spare.take(Kind::Journal, &path), Ok(true)) {
                fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(Spare::place(journals))?;
            }
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path)?;
            if sys::lock(file.as_fd(), true)? && is_at(&file, &path).is_some() {
                file.write_all(&text)?;
                return Ok(Self { path, file });
            }
            // Another run took it for one that was left, and sweeps it away.
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(io::Error::from_raw_os_error(libc::EBUSY))
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
    let mut spare = None;
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
            match open_placeholder(&path) {
                Ok(lock) => {
                    let spare = spare.get_or_insert_with(|| Spare::beside(journals));
                    all &= remove(&path, &lock, Some(&journal), spare);
                }
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

    #[test]
    fn a_journal_is_given_up_only_if_another_has_its_placeholders() {
        let place = Place::new("given-up");
        let (journals, path) = (place.0.join("journals"), place.0.join(".claude"));
        fs::create_dir_all(Spare::place(&journals)).unwrap();
        fs::create_dir(&path).unwrap();
        let text = [path.as_os_str().as_bytes(), &[BETWEEN]].concat();
        let (first, second) = (
            journals.join("1-0.placeholders"),
            journals.join("2-0.placeholders"),
        );
        fs::write(&first, &text).unwrap();
        // A process that was killed has given its journal up, and not yet what is in it.
        let dying = open_placeholder(&path).unwrap();
        assert!(sys::lock(dying.as_fd(), false).unwrap());
        sweep(&journals);
        assert!(first.exists() && path.exists());
        fs::write(&second, &text).unwrap();
        sweep(&journals);
        assert!(!first.exists() && second.exists());
        drop(dying);
        sweep(&journals);
        assert!(!second.exists() && !path.exists());
    }

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
    fn what_no_longer_stands_is_replaced() {
        let place = Place::new("stood");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        let paths = [
            ".env",
            ".mcp.json",
            ".git/config",
            ".git/hooks/a",
            "kept",
            "made",
        ]
        .map(|name| tree.join(name));
        fs::create_dir(tree.join(".git/hooks")).unwrap();
        for path in &paths[2..5] {
            fs::write(path, "x").unwrap();
        }
        let trees = [tree.clone()];
        let (protection, held) = Placeholders::protect(&paths, &[], &trees, &journals).unwrap();
        let stood = Stood::at(&protection);
        assert!(stood.replaced().is_empty());
        // A placeholder that is gone, and one in whose place a file is.
        fs::remove_dir(&paths[0]).unwrap();
        fs::remove_dir(&paths[1]).unwrap();
        fs::write(&paths[1], "x").unwrap();
        // A new file that may have the number of the old one.
        std::thread::sleep(Duration::from_millis(20));
        fs::remove_file(&paths[2]).unwrap();
        fs::write(&paths[2], "x").unwrap();
        // What is above it is no directory any more.
        fs::remove_dir_all(tree.join(".git/hooks")).unwrap();
        fs::write(tree.join(".git/hooks"), "x").unwrap();
        // What is changed where it is stays behind the wall.
        fs::write(&paths[4], "y").unwrap();
        fs::write(paths[5].join("inner"), "y").unwrap();
        let mut told = paths[..4].to_vec();
        told.sort_unstable();
        assert_eq!(stood.replaced(), told);
        held.take_away();
    }

    #[test]
    fn what_is_missing_is_made_and_taken_away() {
        let place = Place::new("missing");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        let trees = [tree.clone()];
        let paths = [tree.join(".git/hooks"), tree.join(".env")];
        let mut protection = Protection::new(&paths, &[], &trees).unwrap();
        assert_eq!(protection.passages, [tree.join(".git")]);
        let held = Placeholders::make(&mut protection, &journals).unwrap();
        assert_eq!(
            protection.present,
            [tree.join(".env"), tree.join(".git/hooks")]
        );
        assert!(tree.join(".env").is_dir());
        // A second run stands on the same ones, and the first leaves them to it.
        let mut again = Protection::new(&paths, &[], &trees).unwrap();
        let second = Placeholders::make(&mut again, &journals).unwrap();
        held.take_away();
        assert!(tree.join(".env").is_dir());
        second.take_away();
        sweep(&journals);
        assert!(!tree.join(".env").exists() && !tree.join(".git/hooks").exists());
        assert!(tree.join(".git").is_dir());
        assert!(journals_in(&journals).is_empty());
    }

    /// Its first process shares what the supervisor has open, and ends when the system comes to it.
    #[test]
    fn a_run_that_is_still_ending_keeps_nothing_from_the_next() {
        let place = Place::new("ending");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        let (trees, pins) = ([tree.clone()], [tree.join(".git/commondir")]);
        let paths = [tree.join(".env"), tree.join(".claude")];
        let mut ending = Vec::new();
        for round in 0..3 {
            let made = Placeholders::protect(&paths, &pins, &trees, &journals);
            let (protection, held) = made.unwrap_or_else(|error| panic!("{round}: {error}"));
            assert_eq!(protection.present.len(), 3);
            let journal = held.journal.as_ref().map(|journal| &journal.file);
            for open in held.held.iter().map(|(_, lock)| lock).chain(journal) {
                ending.push(open.try_clone().unwrap());
            }
            held.take_away();
            assert!(!paths[0].exists() && !pins[0].exists());
        }
        drop(ending);
    }

    #[test]
    fn what_a_killed_run_left_is_swept_and_content_never() {
        let place = Place::new("killed");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(&tree).unwrap();
        let paths = [tree.join(".env"), tree.join(".mcp.json")];
        let mut protection = Protection::new(&paths, &[], std::slice::from_ref(&tree)).unwrap();
        let held = Placeholders::make(&mut protection, &journals).unwrap();
        fs::write(tree.join(".mcp.json/kept"), "x").unwrap();
        drop(held);
        sweep(&journals);
        assert!(!tree.join(".env").exists());
        assert!(tree.join(".mcp.json/kept").exists());
    }

    #[test]
    fn a_file_that_says_where_settings_lie_is_pinned() {
        let place = Place::new("pinned");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        let (trees, pins) = ([tree.clone()], [tree.join(".git/commondir")]);
        let mut protection = Protection::new(&[], &pins, &trees).unwrap();
        let held = Placeholders::make(&mut protection, &journals).unwrap();
        assert_eq!(protection.present, pins);
        assert_eq!(fs::read(&pins[0]).unwrap(), Kind::Pin.text());
        let mut again = Protection::new(&[], &pins, &trees).unwrap();
        let second = Placeholders::make(&mut again, &journals).unwrap();
        held.take_away();
        assert!(pins[0].exists());
        second.take_away();
        assert!(!pins[0].exists());
        // A killed run's is swept, and somebody's own file never.
        let mut protection = Protection::new(&[], &pins, &trees).unwrap();
        drop(Placeholders::make(&mut protection, &journals).unwrap());
        sweep(&journals);
        assert!(!pins[0].exists());
        fs::write(&pins[0], "../x\n").unwrap();
        let mut protection = Protection::new(&[], &pins, &trees).unwrap();
        Placeholders::make(&mut protection, &journals)
            .unwrap()
            .take_away();
        sweep(&journals);
        assert_eq!(fs::read(&pins[0]).unwrap(), b"../x\n");
    }

    #[test]
    fn a_file_of_settings_is_pinned_by_an_empty_one() {
        let place = Place::new("empty");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        let (trees, pins) = ([tree.clone()], [tree.join(".git/config.worktree")]);
        // The second time it is one that was kept.
        for _ in 0..2 {
            let (protection, held) = Placeholders::protect(&[], &pins, &trees, &journals).unwrap();
            assert_eq!(protection.present, pins);
            assert_eq!(fs::read(&pins[0]).unwrap(), b"");
            held.take_away();
            assert!(!pins[0].exists());
        }
        fs::write(&pins[0], "[core]\n").unwrap();
        let (_, held) = Placeholders::protect(&[], &pins, &trees, &journals).unwrap();
        held.take_away();
        assert_eq!(fs::read(&pins[0]).unwrap(), b"[core]\n");
    }

    /// Whoever is outside may do so while a command runs, and is not to lose it when that ends.
    #[test]
    fn what_a_person_writes_to_a_placeholder_stays() {
        let place = Place::new("persons");
        let (tree, journals) = (place.0.join("w"), place.0.join("j"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        let (trees, paths) = ([tree.clone()], [tree.join(".claude")]);
        let pins = [".git/commondir", ".git/config.worktree"].map(|name| tree.join(name));
        let written = |path: &Path| fs::read(path).unwrap();
        // As the run that ends takes them away, and as the one after a run that was killed does.
        for is_killed in [false, true] {
            let protect = || Placeholders::protect(&paths, &pins, &trees, &journals).unwrap();
            let (_, held) = protect();
            fs::write(paths[0].join("settings.json"), "{}").unwrap();
            fs::write(&pins[0], "../elsewhere\n").unwrap();
            fs::write(&pins[1], "[user]\n").unwrap();
            match is_killed {
                false => held.take_away(),
                true => drop(held),
            }
            sweep(&journals);
            assert_eq!(written(&paths[0].join("settings.json")), b"{}");
            assert_eq!(written(&pins[0]), b"../elsewhere\n");
            assert_eq!(written(&pins[1]), b"[user]\n");
            fs::remove_dir_all(&paths[0]).unwrap();
            pins.iter().for_each(|pin| fs::remove_file(pin).unwrap());
            // None of it comes back as the next run's placeholder.
            let (_, held) = protect();
            assert_eq!(written(&pins[0]), b".\n");
            assert_eq!(written(&pins[1]), b"");
            assert!(fs::read_dir(&paths[0]).unwrap().next().is_none());
            held.take_away();
            sweep(&journals);
            assert!(paths.iter().chain(&pins).all(|path| !path.exists()));
        }
    }

    #[test]
    fn links_are_protected_at_both_ends() {
        let place = Place::new("links");
        let tree = place.0.join("w");
        fs::create_dir_all(tree.join("kept/hooks")).unwrap();
        std::os::unix::fs::symlink("kept", tree.join(".git")).unwrap();
        std::os::unix::fs::symlink("nowhere", tree.join(".env")).unwrap();
        let paths = [tree.join(".git/hooks"), tree.join(".env")];
        let protection = Protection::new(&paths, &[], std::slice::from_ref(&tree)).unwrap();
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
