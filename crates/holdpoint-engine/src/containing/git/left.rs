//! What a contained command has left that git would run outside: the settings and hooks of repositories it has made or changed,
//! and steps of a rebase. They are compared with what was there before the run, and put aside.
//!
//! Somebody else contained may change names meanwhile, so nothing is read or moved by a path that a link could lead out of
//! the workspace.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use holdpoint_core::digest_of;
use holdpoint_core::shell::git_setting_runs;
use holdpoint_sandbox::beneath::{Directory, open_file};

use super::obeyed::path;
use super::{MAX_FILE, MAX_INCLUDED, PutAside, PutRight, settings};
use crate::store::make_private_directory;

/// The most names that are looked at in a workspace, those nearest to its root first: some 20 ms. What lies deeper is not looked
/// at, and nobody comes by there without meaning to.
const MAX_NAMES: usize = 30_000;

/// The most repositories that are looked into.
const MAX_REPOSITORIES: usize = 500;

/// The most programs of one directory of hooks. Git knows of some thirty.
const MAX_HOOKS: usize = 200;

/// Directories that hold what was fetched or built: many names, and nobody's work. They come last.
const LAST: [&str; 8] = [
    "node_modules",
    "target",
    ".venv",
    "venv",
    "vendor",
    "build",
    "dist",
    ".tox",
];

/// What a file is called that was put aside.
const ASIDE: &str = "held-by-holdpoint";

/// What git would run in a workspace before a command ran there.
#[derive(Debug)]
pub struct GitBefore {
    workspace: PathBuf,
    found: Found,
    /// What is found by the next run if this one is killed; locked as long as it lives.
    journal: Option<(PathBuf, File)>,
    /// What runs that were killed had left.
    earlier: PutRight,
}

/// How the names of journals end.
const JOURNALS: &str = "git";

/// The largest journal that is read.
const MAX_JOURNAL: u64 = 1 << 20;

/// What stands between two fields of a journal: no path holds it.
const BETWEEN: u8 = 0;

/// Something git would run, by the file that says so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Obeyed {
    /// Below the workspace.
    file: PathBuf,
    /// Of what would run.
    digest: String,
    why: String,
}

#[derive(Debug, Default)]
struct Found {
    obeyed: BTreeSet<Obeyed>,
    /// Files as they are, of those that could be changed so that git obeys them.
    texts: BTreeMap<PathBuf, Vec<u8>>,
    whole: bool,
}

impl GitBefore {
    /// Looks at a workspace before a command runs in it. What runs that were killed have left there or elsewhere is put right
    /// first, by what they noted beside the other journals.
    pub fn look(workspace: &Path, journals: &Path) -> Self {
        // One that cannot be found has nothing in it.
        let workspace = workspace.canonicalize().unwrap_or_default();
        let earlier = sweep(journals);
        let found = look(&workspace);
        Self {
            // Without one a run that is killed is not cleared up behind, and nothing else is lost.
            journal: write_journal(&workspace, &found.obeyed, journals).ok(),
            earlier,
            found,
            workspace,
        }
    }

    /// Looks again, and puts aside what git would obey and did not before.
    pub fn put_right(self) -> PutRight {
        let mut right = self.earlier;
        put_right(&self.workspace, &self.found, &mut right);
        if let Some((journal, _locked)) = self.journal {
            // One that stays is read by the next run, which finds nothing.
            let _ = fs::remove_file(journal);
        }
        right
    }
}

fn put_right(workspace: &Path, before: &Found, right: &mut PutRight) {
    let known = |one: &Obeyed| {
        let same = |other: &&Obeyed| other.file == one.file && other.digest == one.digest;
        before.obeyed.iter().any(|other| same(&other))
    };
    let after = look(workspace);
    right.whole &= after.whole || !before.whole;
    for new in after.obeyed.iter().filter(|one| !known(one)) {
        let file = workspace.join(&new.file);
        let text = before.texts.get(&new.file);
        match put_aside(workspace, &new.file, text.map(Vec::as_slice)) {
            Ok((name, restored)) => right.aside.push(PutAside {
                kept_as: file.with_file_name(name),
                file,
                restored,
                why: new.why.clone(),
            }),
            // Another run that ends now has done it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => right.failed.push((file, crate::plain_words(&error))),
        }
    }
}

/// Notes what git would obey before a run, for whoever clears up if it is killed.
fn write_journal(
    workspace: &Path,
    obeyed: &BTreeSet<Obeyed>,
    journals: &Path,
) -> io::Result<(PathBuf, File)> {
    // A number is one process's at a time.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    make_private_directory(journals)?;
    let path = journals.join(format!("{}-{run}.{JOURNALS}", std::process::id()));
    let mut text = workspace.as_os_str().as_bytes().to_vec();
    for one in obeyed {
        text.push(BETWEEN);
        text.extend(one.digest.as_bytes());
        text.push(BETWEEN);
        text.extend(one.file.as_os_str().as_bytes());
    }
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)?;
    // Whoever sweeps takes a journal that nobody has locked for one that was left; nobody waits for who does so now.
    file.try_lock()?;
    file.set_len(0)?;
    file.write_all(&text)?;
    Ok((path, file))
}

/// Puts right what runs that were killed have left.
fn sweep(journals: &Path) -> PutRight {
    let mut right = PutRight {
        whole: true,
        ..PutRight::default()
    };
    for entry in fs::read_dir(journals).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|kind| kind != JOURNALS) {
            continue;
        }
        let Ok(file) = File::open(&path) else {
            continue;
        };
        // Its run is alive.
        if file.try_lock().is_err() {
            continue;
        }
        let mut text = Vec::new();
        let read = (&file).take(MAX_JOURNAL).read_to_end(&mut text);
        let mut fields = text.split(|byte| *byte == BETWEEN);
        let workspace = Path::new(OsStr::from_bytes(fields.next().unwrap_or_default()));
        if read.is_ok() && workspace.is_absolute() {
            // Whether it was looked at to the end before is not noted, and is not missed.
            let mut before = Found::default();
            while let (Some(digest), Some(file)) = (fields.next(), fields.next()) {
                before.obeyed.insert(Obeyed {
                    file: PathBuf::from(OsStr::from_bytes(file)),
                    digest: String::from_utf8_lossy(digest).into_owned(),
                    why: String::new(),
                });
            }
            put_right(workspace, &before, &mut right);
        }
        let _ = fs::remove_file(&path);
    }
    right
}

/// Gives a file below a workspace another name, and puts back what was there.
fn put_aside(workspace: &Path, file: &Path, before: Option<&[u8]>) -> io::Result<(String, bool)> {
    let (parent, name) = match (file.parent(), file.file_name()) {
        (Some(parent), Some(name)) => (parent, name),
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    let directory = Directory::open(workspace, parent)?;
    let from = directory.name(name);
    let mut number = 0_u32;
    let kept = loop {
        let mut kept = format!("{}.{ASIDE}", name.to_string_lossy());
        if number > 0 {
            kept += &format!("-{number}");
        }
        let to = directory.name(OsStr::new(&kept));
        if to.symlink_metadata().is_err() {
            fs::rename(&from, &to)?;
            break kept;
        }
        number = number
            .checked_add(1)
            .filter(|number| *number < 1000)
            .ok_or(io::ErrorKind::AlreadyExists)?;
    };
    let Some(before) = before else {
        return Ok((kept, false));
    };
    let new = File::options().write(true).create_new(true).open(&from);
    let restored = new.and_then(|mut file| file.write_all(before));
    Ok((kept, restored.is_ok()))
}

fn look(workspace: &Path) -> Found {
    let (mut repositories, whole) = repositories(workspace);
    let (submodules, known) = match crate::git_index::submodules(workspace) {
        Some(submodules) => (submodules, true),
        None => (Vec::new(), false),
    };
    repositories.extend(submodules.into_iter().map(|path| path.join(".git")));
    let mut look = Look {
        workspace,
        found: Found {
            whole: whole && known,
            ..Found::default()
        },
    };
    for repository in &repositories {
        look.repository(repository);
    }
    look.found
}

/// Whatever git would take for a repository in a workspace, below it: a `.git`, or a directory that looks like one. And whether
/// everything was looked at.
fn repositories(workspace: &Path) -> (Vec<PathBuf>, bool) {
    let mut found = Vec::new();
    let (mut next, mut last) = (VecDeque::from([PathBuf::new()]), VecDeque::new());
    let mut names = 0_usize;
    while let Some(below) = next.pop_front().or_else(|| last.pop_front()) {
        let Ok(entries) = fs::read_dir(workspace.join(&below)) else {
            continue;
        };
        let (mut has_head, mut has_objects) = (false, false);
        for entry in entries.flatten() {
            names += 1;
            if names > MAX_NAMES || found.len() >= MAX_REPOSITORIES {
                return (found, false);
            }
            let name = entry.file_name();
            // Some file systems take any case for the same.
            if name.eq_ignore_ascii_case(".git") {
                found.push(below.join(name));
                continue;
            }
            has_head |= name.eq_ignore_ascii_case("HEAD");
            has_objects |=
                name.eq_ignore_ascii_case("objects") || name.eq_ignore_ascii_case("commondir");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let list = match LAST.iter().any(|last| name == *last) {
                    true => &mut last,
                    false => &mut next,
                };
                list.push_back(below.join(name));
            }
        }
        if has_head && has_objects {
            found.push(below);
        }
    }
    (found, true)
}

struct Look<'w> {
    workspace: &'w Path,
    found: Found,
}

impl Look<'_> {
    /// Notes what git obeys in a repository: a directory, or a file or link that leads to one.
    fn repository(&mut self, pointer: &Path) {
        let whole = self.workspace.join(pointer);
        let Some(own) = leads_to(&whole) else {
            return;
        };
        let said = fs::read_to_string(own.join("commondir")).ok();
        let shared = said.and_then(|said| own.join(said.trim()).canonicalize().ok());
        let shared = shared.unwrap_or_else(|| own.clone());
        // The working tree, where relative paths begin.
        let tree = whole.parent().unwrap_or(self.workspace).to_owned();
        for file in [shared.join("config"), own.join("config.worktree")] {
            self.settings(pointer, &file, &tree, MAX_INCLUDED);
        }
        self.hooks(&shared.join("hooks"));
        self.steps(&own.join("rebase-merge/git-rebase-todo"));
    }

    /// The path of a file below the workspace, and its bytes if it is an ordinary one that is not too large. `None` if it is
    /// elsewhere, where no contained command changes it, or is not there.
    fn read(&self, file: &Path) -> Option<(PathBuf, Option<Vec<u8>>)> {
        file.symlink_metadata().ok()?;
        let parent = file.parent()?.canonicalize().ok()?;
        let below = parent
            .strip_prefix(self.workspace)
            .ok()?
            .join(file.file_name()?);
        let mut bytes = Vec::new();
        let read = open_file(self.workspace, &below)
            .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
        let fits = read.is_ok() && u64::try_from(bytes.len()).is_ok_and(|size| size <= MAX_FILE);
        Some((below, fits.then_some(bytes)))
    }

    fn note(&mut self, file: PathBuf, what: &str, why: String) {
        self.found.obeyed.insert(Obeyed {
            file,
            digest: digest_of(what.as_bytes()),
            why,
        });
    }

    fn settings(&mut self, pointer: &Path, file: &Path, tree: &Path, included: usize) {
        let Some((below, bytes)) = self.read(file) else {
            return self.settings_elsewhere(pointer, file);
        };
        let Some(bytes) = bytes else {
            // A link, or more than anybody writes: nobody knows what is in it.
            let target = fs::read_link(file).unwrap_or_default();
            return self.note(
                below,
                &target.to_string_lossy(),
                "settings that cannot be read".into(),
            );
        };
        let runs = running(&bytes);
        for setting in &runs {
            let Some(value) = &setting.value else {
                continue;
            };
            let key = setting.key.to_ascii_lowercase();
            if key == "core.hookspath" {
                if let Some(hooks) = path(value, tree, None) {
                    self.hooks(&hooks);
                }
            } else if key.starts_with("include") && key.ends_with(".path") {
                let beside = file.parent().unwrap_or(tree);
                let next = path(value, beside, None).zip(included.checked_sub(1));
                if let Some((next, left)) = next {
                    self.settings(pointer, &next, tree, left);
                }
            }
        }
        if !runs.is_empty() {
            self.note(below.clone(), &listed(&runs), keys(&runs));
        }
        self.found.texts.insert(below, bytes);
    }

    /// The settings of a repository that lies elsewhere are its owner's. Where they run something, it would be in a tree of
    /// the command's choosing: what leads there is what is put aside.
    fn settings_elsewhere(&mut self, pointer: &Path, file: &Path) {
        let Ok(bytes) = crate::store::read_bounded(file, MAX_FILE) else {
            return;
        };
        let runs = running(&bytes);
        if !runs.is_empty() {
            let what = format!("{}\0{}", file.display(), listed(&runs));
            self.note(pointer.to_owned(), &what, keys(&runs));
        }
    }

    fn hooks(&mut self, directory: &Path) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in entries.take(MAX_HOOKS) {
            let (path, name) = (entry.path(), entry.file_name());
            let is_other = [".sample", ASIDE]
                .iter()
                .any(|end| name.to_str().is_some_and(|name| name.contains(end)));
            if is_other || !super::obeyed::is_program(&path) {
                continue;
            }
            if let Some((below, bytes)) = self.read(&path) {
                // One that leads elsewhere is known by where.
                let target = fs::read_link(&path).unwrap_or_default();
                let digest = bytes.as_deref().map(digest_of).unwrap_or_default();
                let what = format!("{digest}{}", target.display());
                self.note(below.clone(), &what, "a hook".into());
                self.found.texts.extend(bytes.map(|bytes| (below, bytes)));
            }
        }
    }

    /// The steps of a rebase that has begun, among which may be programs.
    fn steps(&mut self, file: &Path) {
        let Some((below, bytes)) = self.read(file) else {
            return;
        };
        let Some(bytes) = bytes else {
            return self.note(below, "", "steps of a rebase that cannot be read".into());
        };
        let text = String::from_utf8_lossy(&bytes);
        let runs: Vec<&str> = text
            .lines()
            .filter(|line| {
                let mut words = line.split_whitespace();
                matches!(words.next(), Some("exec" | "x"))
            })
            .collect();
        if !runs.is_empty() {
            self.note(below.clone(), &runs.join("\n"), "`exec` in a rebase".into());
        }
        self.found.texts.insert(below, bytes);
    }
}

/// The directory a repository is in, really.
fn leads_to(pointer: &Path) -> Option<PathBuf> {
    let found = pointer.metadata().ok()?;
    if found.is_dir() {
        return pointer.canonicalize().ok();
    }
    let text = crate::store::read_bounded(pointer, 4096).ok()?;
    let text = String::from_utf8_lossy(&text);
    let named = text.trim().strip_prefix("gitdir:")?.trim();
    pointer.parent()?.join(named).canonicalize().ok()
}

/// The settings that have git run something, or change files somewhere else.
fn running(bytes: &[u8]) -> Vec<settings::Setting> {
    let all = settings::read(bytes).into_iter();
    all.filter(|one| {
        git_setting_runs(&one.key, one.value.as_deref())
            || one.key.eq_ignore_ascii_case("core.worktree")
    })
    .collect()
}

fn listed(settings: &[settings::Setting]) -> String {
    let lines = settings
        .iter()
        .map(|one| format!("{}={:?}", one.key, one.value));
    lines.collect::<Vec<_>>().join("\n")
}

fn keys(settings: &[settings::Setting]) -> String {
    let keys: BTreeSet<String> = settings
        .iter()
        .map(|one| format!("`{}`", one.key))
        .collect();
    keys.into_iter().take(5).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_is_put_aside_by_the_next() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (work, journals) = (root.join("work"), root.join("journals"));
        for repository in ["old", "new"] {
            fs::create_dir_all(work.join(repository).join(".git")).unwrap();
        }
        let evil = "[core]\nfsmonitor = ./x\n";
        fs::write(work.join("old/.git/config"), evil).unwrap();
        let mut killed = GitBefore::look(&work, &journals);
        fs::write(work.join("new/.git/config"), evil).unwrap();
        // It lives, and so nobody else clears up behind it.
        let other = GitBefore::look(&root, &journals);
        assert!(work.join("new/.git/config").exists());
        drop(killed.journal.take());
        drop(other);
        let mut next = GitBefore::look(&work, &journals);
        assert!(!work.join("new/.git/config").exists());
        assert!(work.join("old/.git/config").exists());
        drop(next.journal.take());
        let said = GitBefore::look(&work, &journals).put_right();
        assert!(said.aside.is_empty() && said.failed.is_empty() && said.whole);
        assert_eq!(next.earlier.aside.len(), 1);
        assert_eq!(fs::read_dir(&journals).unwrap().count(), 0);
    }

    #[test]
    fn settings_that_were_changed_are_put_back() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let config = root.join("w/sub/.git/config");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(&config, "[remote \"o\"]\nurl = x\n").unwrap();
        let before = GitBefore::look(&root.join("w"), &root.join("j"));
        fs::write(&config, "[remote \"o\"]\nurl = y\n[alias]\nx = !evil\n").unwrap();
        let right = before.put_right();
        let aside = right.aside.first().unwrap();
        assert!(aside.restored && aside.file == config && aside.why == "`alias.x`");
        assert_eq!(fs::read(&config).unwrap(), b"[remote \"o\"]\nurl = x\n");
        assert!(aside.kept_as.ends_with("config.held-by-holdpoint"));
        // A second time under another name.
        let before = GitBefore::look(&root.join("w"), &root.join("j"));
        fs::write(&config, "[core]\npager = ./x\n").unwrap();
        let right = before.put_right();
        assert!(
            right
                .aside
                .first()
                .unwrap()
                .kept_as
                .ends_with("config.held-by-holdpoint-1")
        );
    }

    #[test]
    fn no_link_has_files_moved_or_written_elsewhere() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (work, other) = (root.join("w"), root.join("other"));
        fs::create_dir_all(work.join("sub/.git")).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("config"), "[alias]\nx = !theirs\n").unwrap();
        let before = GitBefore::look(&work, &root.join("j"));
        fs::remove_dir(work.join("sub/.git")).unwrap();
        symlink("../../other", work.join("sub/.git")).unwrap();
        assert!(put_aside(&work, Path::new("sub/.git/config"), Some(b"x")).is_err());
        let right = before.put_right();
        assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
        // What leads there is what is put aside.
        assert_eq!(right.aside.first().unwrap().file, work.join("sub/.git"));
    }
}
