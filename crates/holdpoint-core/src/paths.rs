//! Where a path really leads: symlinks, `..`, `~` and files that do not exist yet.
//!
//! The core reads no disk. A caller supplies a `Lookup` that says whether one path is a link; the
//! walk itself is here, bounded, and gives the same answer for the same look-ups. A path that
//! cannot be resolved is an error, and whoever asked decides what that is worth (never "inside").

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::call::digest_of;
use crate::facts::{Fact, FactValue};
use crate::seeded::SeededMap;

/// What stands at a path, without following it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A symbolic link with this target.
    Link(String),
    /// A directory.
    Directory,
    /// A file, or anything else that is not a link.
    Other,
    /// It cannot be looked at.
    Unreadable,
}

/// The file system, as far as the judge needs it.
pub trait Lookup {
    /// What stands at `path`, which is absolute and free of `.` and `..`.
    fn entry(&self, path: &str) -> Entry;

    /// Whether nothing is ever below what is missing, as on a disk: then one look says so of all that a
    /// path names there.
    fn has_nothing_below_missing(&self) -> bool {
        false
    }

    /// What tells the file at `path` from every other, where it has more than one name: then writing it
    /// writes what stands under the others, too.
    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        let _ = path;
        None
    }

    /// What is in the file at `path`, of which at most `most` bytes are wanted.
    fn read(&self, path: &str, most: usize) -> FileText {
        let _ = (path, most);
        FileText::NotRead
    }

    /// As much of a file that is too large or no text as can be judged besides the question it is: its lines without those of
    /// comment, at most `most` bytes of them ([`FileText::skimmed`]).
    fn skim(&self, path: &str, most: usize) -> Option<String> {
        let _ = (path, most);
        None
    }

    /// What is in the directory at `path`: each name, and whether it is a directory itself. None if
    /// that cannot be told, or there are more than `most`.
    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        let _ = (path, most);
        None
    }

    /// How the file at `path` stands to the repository it lies in.
    fn tracking(&self, path: &str) -> Tracking {
        let _ = path;
        Tracking::NoRepository
    }

    /// The same for files of one directory, in the order of their names: the repository is looked for
    /// once, which for a directory full of files is most of the looks.
    fn tracking_in(&self, directory: &str, names: &[&str]) -> Vec<Tracking> {
        let paths = names.iter().map(|name| format!("{directory}/{name}"));
        paths.map(|path| self.tracking(&path)).collect()
    }

    /// The files the session wrote that makes the call.
    fn written(&self) -> Arc<Written> {
        Arc::default()
    }

    /// Whether the session that makes the call made what is at `path`, and all that is in it: it was not there before, and is
    /// the same still. What has only the same name is not.
    fn is_own(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// Whether the session started this process, or one that started it; a later process of that number is another.
    fn is_own_process(&self, process: u32) -> bool {
        let _ = process;
        false
    }

    /// Whether something listens on this port of this machine, and all that does is the session's own.
    fn is_own_port(&self, port: u16) -> bool {
        let _ = port;
        false
    }

    /// Whether a shell of the session's own waits in this terminal, as tmux names it.
    fn is_own_terminal(&self, terminal: &str) -> bool {
        let _ = terminal;
        false
    }

    /// Whether the session opened this terminal, as tmux names it, whatever runs in it now.
    fn has_opened_terminal(&self, terminal: &str) -> bool {
        let _ = terminal;
        false
    }

    /// What is known of the world besides files. It is asked only where a rule wants to know, and must not take long.
    fn fact(&self, fact: &Fact) -> FactValue {
        let _ = fact;
        FactValue::Unknown
    }

    /// Where walking this directory led, if that is remembered: nearly every path of a call begins in
    /// the workspace, and each of its components would be looked up again.
    #[doc(hidden)]
    fn walked(&self, directory: &str) -> Option<Walked> {
        let _ = directory;
        None
    }

    /// How long the start of an absolute path is that names a directory of which that is remembered, and
    /// where it led.
    #[doc(hidden)]
    fn walked_above(&self, path: &str) -> Option<(usize, Walked)> {
        let _ = path;
        None
    }

    /// Remembers where walking a directory led.
    #[doc(hidden)]
    fn remember_walked(&self, directory: &str, walked: &Walked) {
        let _ = (directory, walked);
    }
}

/// How far a walk along a path has come.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Walked {
    /// The real place; empty is the root.
    place: String,
    links: usize,
    steps: usize,
}

impl Clone for Walked {
    /// With room to go on: whoever takes a walk up again goes further.
    fn clone(&self) -> Self {
        let mut place = String::with_capacity(self.place.len() + USUAL_REST);
        place.push_str(&self.place);
        Self { place, ..*self }
    }
}

/// How far most paths go below the directory they begin in, in bytes.
const USUAL_REST: usize = 48;

impl Walked {
    /// The real place.
    fn into_place(self) -> String {
        match self.place.is_empty() {
            true => "/".to_owned(),
            false => self.place,
        }
    }
}

/// How a file stands to the repository it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// It is what the repository has.
    Committed,
    /// The repository has another version of it.
    Changed,
    /// The repository does not have it.
    Untracked,
    /// There is no repository, or nobody can tell what is in it.
    NoRepository,
}

/// The files a session wrote: its agent's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Their real paths, each once, with the digest of what was written where that is known.
    pub files: BTreeMap<String, Option<String>>,
    /// Digests of paths that hold a secret themselves and so are not kept, as [`Written::seal`] makes
    /// them.
    pub sealed: BTreeSet<String>,
    /// Those among `files` that came from a network.
    pub fetched: BTreeSet<String>,
    /// There were more than are remembered.
    pub more: bool,
}

/// A file that a call writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its real path.
    pub path: String,
    /// The digest of what is written, where that stands in the call.
    pub digest: Option<String>,
    /// Whether it comes from a network.
    pub fetched: bool,
}

impl Written {
    /// What stands for a path that may not be written down.
    pub fn seal(path: &str) -> String {
        digest_of(path.as_bytes())
    }

    /// The session writes a file, over what was there: then that is no longer what came from a network.
    pub fn add(&mut self, file: WrittenFile) {
        match file.fetched {
            true => self.fetched.insert(file.path.clone()),
            false => self.fetched.remove(&file.path),
        };
        self.files.insert(file.path, file.digest);
    }

    /// Whether the session wrote files whose paths do not stand here.
    pub fn has_gaps(&self) -> bool {
        self.more || !self.sealed.is_empty()
    }

    /// Whether the session wrote this file.
    pub fn holds(&self, path: &str) -> bool {
        self.files.contains_key(path)
            || (!self.sealed.is_empty() && self.sealed.contains(&Self::seal(path)))
    }

    /// Whether the session wrote this file or a directory it lies in.
    pub fn holds_around(&self, path: &str) -> bool {
        self.holds(path)
            || self.files.keys().any(|one| is_within(path, one))
            || (!self.sealed.is_empty()
                && path
                    .match_indices('/')
                    .filter_map(|(at, _)| path.get(..at))
                    .any(|above| self.sealed.contains(&Self::seal(above))))
    }
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileText {
    /// This text.
    Text(String),
    /// A program in the system's own format, with nothing to read.
    Compiled,
    /// More than was wanted.
    TooLarge,
    /// Bytes that are neither text nor a program of the system.
    NotText,
    /// It is there and cannot be read, or is no plain file.
    Unreadable,
    /// Nothing is there.
    Missing,
    /// This look-up reads no files.
    NotRead,
}

/// The first bytes of a file that tell what it is.
pub const FILE_HEAD: usize = 512;

/// The most bytes of a file that are skimmed: reading them takes some milliseconds.
pub const MAX_SKIMMED: usize = 8 << 20;

impl FileText {
    /// What the bytes of a whole file are.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => FileText::Text(text),
            Err(error) if is_compiled(error.as_bytes()) => FileText::Compiled,
            Err(_) => FileText::NotText,
        }
    }

    /// What a file is that is longer than was wanted, by its first [`FILE_HEAD`] bytes.
    #[must_use]
    pub fn from_head(head: &[u8]) -> Self {
        if is_compiled(head) {
            FileText::Compiled
        } else {
            FileText::TooLarge
        }
    }

    /// The first `most` bytes of a file's lines, without empty ones and those of comment, which do nothing and are what a file
    /// is padded with; the first line says who reads it, and stays. What is no text in them is one letter nobody writes.
    #[must_use]
    pub fn skimmed(bytes: &[u8], most: usize) -> String {
        let mut text = String::new();
        for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let bare = line.trim_ascii_start();
            let comment = bare.starts_with(b"#") || bare.starts_with(b"//");
            if bare.is_empty() || (comment && at > 0) {
                continue;
            }
            if text.len() + line.len() > most {
                break;
            }
            text.push_str(&String::from_utf8_lossy(line));
        }
        text
    }

    /// The text, if all of it was read.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        match self {
            FileText::Text(text) => Some(text),
            FileText::Compiled
            | FileText::TooLarge
            | FileText::NotText
            | FileText::Unreadable
            | FileText::Missing
            | FileText::NotRead => None,
        }
    }
}

/// Whether a file that begins so is a program for the machine: ELF, Mach-O, PE, WebAssembly or a
/// Java class. A shell that is handed something the system does not run reads it as a script,
/// unless there is a NUL in its first line: so there must be one.
fn is_compiled(head: &[u8]) -> bool {
    const MAGIC: &[&[u8]] = &[
        b"\x7fELF",
        b"\xfe\xed\xfa\xce",
        b"\xfe\xed\xfa\xcf",
        b"\xce\xfa\xed\xfe",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"MZ",
        b"\0asm",
    ];
    /// Bytes of the first line that shells look at.
    const MAX_LOOKED_AT: usize = 80;
    let line = head.iter().take(MAX_LOOKED_AT);
    let first_line = line.take_while(|byte| **byte != b'\n');
    MAGIC.iter().any(|magic| head.starts_with(magic))
        && first_line.into_iter().any(|byte| *byte == 0)
}

/// A file system without links, for callers that have no disk to look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLinks;

impl Lookup for NoLinks {
    fn entry(&self, _path: &str) -> Entry {
        Entry::Other
    }
}

/// The world around a call: everything outside it that a judgement may depend on.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The directory the agent is meant to work in; relative paths of a policy start here.
    pub workspace: Option<&'a str>,
    /// The directory the call runs in; its relative paths start here. Without it, the workspace.
    pub directory: Option<&'a str>,
    /// The user's home, for `~`.
    pub home: Option<&'a str>,
    /// The file system.
    pub lookup: &'a dyn Lookup,
    /// Whether whoever makes the call can have a command run inside the sandbox instead. Where it cannot, what would be
    /// contained is asked about.
    pub can_contain: bool,
}

impl Surroundings<'static> {
    /// No directory, no home, no links: what a test or a policy linter has.
    pub fn nowhere() -> Self {
        Self {
            workspace: None,
            directory: None,
            home: None,
            lookup: &NoLinks,
            can_contain: false,
        }
    }
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("workspace", &self.workspace)
            .field("directory", &self.directory)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// Why a path leads nowhere that can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// Relative, and the working directory is not known.
    NoDirectory,
    /// `~`, and the home directory is not known.
    NoHome,
    /// `~name`: somebody else's home.
    OtherHome,
    /// Links that lead in a circle, or a path of absurd length.
    TooLong,
    /// A directory on the way cannot be looked at.
    Unreadable,
    /// A NUL byte.
    Nul,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unresolved::NoDirectory => "it is relative and the working directory is not known",
            Unresolved::NoHome => "the home directory is not known",
            Unresolved::OtherHome => "it starts in another user's home",
            Unresolved::TooLong => "its links lead in a circle or it is too long",
            Unresolved::Unreadable => "a directory on the way cannot be read",
            Unresolved::Nul => "it contains a NUL byte",
        })
    }
}

/// Links followed on the way, as on Linux; more lead nowhere that can be named.
const MAX_LINKS: usize = 40;
/// Components taken on the way, each of which is looked up; no real path has as many.
const MAX_STEPS: usize = 1024;

/// The longest path that is followed; systems take no longer one.
pub(crate) const MAX_PATH: usize = 4096;

/// What was seen of the disk while a call was read.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    entries: SeededMap<String, Entry>,
    /// Files that were asked for, with how much of them and what there was.
    texts: Vec<(String, usize, FileText)>,
    /// Directories that were listed, with how many names were wanted.
    names: BTreeMap<String, (usize, Listed)>,
    tracking: BTreeMap<String, Tracking>,
    written: OnceLock<Arc<Written>>,
}

/// In a longer list, looking for a name takes more time than asking the disk.
const MAX_COMPARED: usize = 128;

/// What is in a directory, if that can be told.
type Listed = Option<Vec<(String, bool)>>;

impl Seen {
    /// Whether all of it is still there and the same.
    pub(crate) fn is_current(&self, lookup: &dyn Lookup) -> bool {
        let mut entries = self.entries.iter();
        let mut texts = self.texts.iter();
        entries.all(|(path, entry)| lookup.entry(path) == *entry)
            && texts.all(|(path, most, text)| lookup.read(path, *most) == *text)
            && self.is_current_project(lookup)
    }

    /// The same for what is asked only of calls that run a project's code.
    fn is_current_project(&self, lookup: &dyn Lookup) -> bool {
        let mut names = self.names.iter();
        let mut tracking = self.tracking.iter();
        let written = self.written.get();
        names.all(|(path, (most, names))| lookup.names(path, *most) == *names)
            && tracking.all(|(path, tracking)| lookup.tracking(path) == *tracking)
            && written.is_none_or(|written| lookup.written() == *written)
    }

    /// Whether the directory of a path was listed and has no such name, in whatever letters.
    fn lists_without(&self, path: &str) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let Some((directory, name)) = path.rsplit_once('/') else {
            return false;
        };
        let Some((_, Some(names))) = self.names.get(directory) else {
            return false;
        };
        let differs = |(known, _): &(String, bool)| {
            // Other letters may be the same to a disk that does not tell `k` from `K`.
            known.is_ascii() && !known.eq_ignore_ascii_case(name)
        };
        names.len() <= MAX_COMPARED && name.is_ascii() && names.iter().all(differs)
    }

    fn text(&self, path: &str, most: usize) -> Option<&FileText> {
        let same = |one: &&(String, usize, _)| one.0 == path && one.1 == most;
        self.texts.iter().find(same).map(|(_, _, text)| text)
    }
}

/// A look-up that asks about each path once, and gives up after so many: one judgement sees one
/// state of the disk, and no call makes it look for ever.
pub(crate) struct Remembering<'a> {
    inner: &'a dyn Lookup,
    /// What was seen before.
    before: Option<&'a Seen>,
    seen: RefCell<Seen>,
    /// Where the directories led that paths began in.
    walked: RefCell<Vec<(String, Walked)>>,
}

impl<'a> Remembering<'a> {
    /// The most places that are looked at: a thousand times what a call that people write names, and
    /// still a fraction of a second. What lies beyond cannot be read, and so is asked about.
    const MAX_ENTRIES: usize = 20_000;

    /// The directories paths begin in: workspace, home, and where the call runs. Of others each
    /// component is looked up again.
    const MAX_WALKED: usize = 4;

    pub(crate) fn new(inner: &'a dyn Lookup) -> Self {
        Self {
            inner,
            before: None,
            seen: RefCell::default(),
            walked: RefCell::default(),
        }
    }

    /// A look-up to which nothing has changed since `before`.
    pub(crate) fn since(before: &'a Seen, inner: &'a dyn Lookup) -> Self {
        Self {
            before: Some(before),
            ..Self::new(inner)
        }
    }

    /// What was seen.
    pub(crate) fn into_seen(self) -> Seen {
        self.seen.into_inner()
    }
}

impl Lookup for Remembering<'_> {
    fn entry(&self, path: &str) -> Entry {
        let before = self.before.and_then(|before| before.entries.get(path));
        if let Some(entry) = before {
            return entry.clone();
        }
        let seen = &mut self.seen.borrow_mut();
        if let Some(entry) = seen.entries.get(path) {
            return entry.clone();
        }
        if seen.entries.len() >= Self::MAX_ENTRIES {
            return Entry::Unreadable;
        }
        let missing = self.inner.has_nothing_below_missing() && seen.lists_without(path);
        let entry = match missing {
            true => Entry::Missing,
            false => self.inner.entry(path),
        };
        seen.entries.insert(path.to_owned(), entry.clone());
        entry
    }

    fn has_nothing_below_missing(&self) -> bool {
        self.inner.has_nothing_below_missing()
    }

    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        let before = self.before.and_then(|before| before.entries.get(path));
        let seen = self.seen.borrow();
        match before.or_else(|| seen.entries.get(path)) {
            // What is not there has no other name.
            Some(Entry::Missing) => None,
            Some(Entry::Directory | Entry::Link(_) | Entry::Other | Entry::Unreadable) | None => {
                self.inner.twin(path)
            }
        }
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        let before = self.before.and_then(|before| before.text(path, most));
        if let Some(text) = before {
            return text.clone();
        }
        let seen = &mut self.seen.borrow_mut();
        if let Some(text) = seen.text(path, most) {
            return text.clone();
        }
        let text = self.inner.read(path, most);
        seen.texts.push((path.to_owned(), most, text.clone()));
        text
    }

    fn skim(&self, path: &str, most: usize) -> Option<String> {
        self.inner.skim(path, most)
    }

    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        let before = self.before.and_then(|before| before.names.get(path));
        let seen = &mut self.seen.borrow_mut();
        if let Some((_, names)) = before.or_else(|| seen.names.get(path)) {
            return names.clone();
        }
        let names = self.inner.names(path, most);
        seen.names.insert(path.to_owned(), (most, names.clone()));
        names
    }

    fn tracking(&self, path: &str) -> Tracking {
        let before = self.before.and_then(|before| before.tracking.get(path));
        let seen = &mut self.seen.borrow_mut();
        if let Some(tracking) = before.or_else(|| seen.tracking.get(path)) {
            return *tracking;
        }
        let tracking = self.inner.tracking(path);
        seen.tracking.insert(path.to_owned(), tracking);
        tracking
    }

    fn tracking_in(&self, directory: &str, names: &[&str]) -> Vec<Tracking> {
        let paths: Vec<String> = names.iter().map(|n| format!("{directory}/{n}")).collect();
        let seen = &mut self.seen.borrow_mut().tracking;
        let before = self.before.map(|before| &before.tracking);
        let known = |path: &String, seen: &BTreeMap<String, Tracking>| {
            let before = before.and_then(|before| before.get(path));
            before.or_else(|| seen.get(path)).copied()
        };
        let new: Vec<&str> = names
            .iter()
            .zip(&paths)
            .filter(|(_, path)| known(path, seen).is_none())
            .map(|(name, _)| *name)
            .collect();
        let asked = self.inner.tracking_in(directory, &new);
        for (name, tracking) in new.iter().zip(asked) {
            seen.insert(format!("{directory}/{name}"), tracking);
        }
        // A look-up that answers for fewer than it was asked about does not know of the others.
        let each = paths.iter().map(|path| known(path, seen));
        each.map(|one| one.unwrap_or(Tracking::NoRepository))
            .collect()
    }

    fn fact(&self, fact: &Fact) -> FactValue {
        // A judgement asks once, and the next one wants to know anew.
        self.inner.fact(fact)
    }

    fn is_own(&self, path: &str) -> bool {
        self.inner.is_own(path)
    }

    fn is_own_process(&self, process: u32) -> bool {
        self.inner.is_own_process(process)
    }

    fn is_own_port(&self, port: u16) -> bool {
        self.inner.is_own_port(port)
    }

    fn is_own_terminal(&self, terminal: &str) -> bool {
        self.inner.is_own_terminal(terminal)
    }

    fn has_opened_terminal(&self, terminal: &str) -> bool {
        self.inner.has_opened_terminal(terminal)
    }

    fn written(&self) -> Arc<Written> {
        let before = self.before.and_then(|before| before.written.get());
        if let Some(written) = before {
            return Arc::clone(written);
        }
        let seen = self.seen.borrow();
        Arc::clone(seen.written.get_or_init(|| self.inner.written()))
    }

    fn walked(&self, directory: &str) -> Option<Walked> {
        let known = self.walked.borrow();
        let mut known = known.iter();
        let (_, walked) = known.find(|(name, _)| name == directory)?;
        Some(walked.clone())
    }

    fn walked_above(&self, path: &str) -> Option<(usize, Walked)> {
        let known = self.walked.borrow();
        let above = known.iter().filter(|(name, _)| {
            let below = path.strip_prefix(name.as_str());
            below.is_some_and(|below| below.starts_with('/'))
        });
        let (name, walked) = above.max_by_key(|(name, _)| name.len())?;
        Some((name.len(), walked.clone()))
    }

    fn remember_walked(&self, directory: &str, walked: &Walked) {
        let known = &mut self.walked.borrow_mut();
        if known.len() < Self::MAX_WALKED {
            known.push((directory.to_owned(), walked.clone()));
        }
    }
}

impl Surroundings<'_> {
    /// The real place a path of the call leads to: absolute, links followed, the part that does
    /// not exist yet appended to the nearest directory that does.
    pub fn resolve(&self, path: &str) -> Result<String, Unresolved> {
        match self.directory {
            Some(directory) if !directory.starts_with('/') => {
                let directory = self.resolve_from(directory, self.workspace)?;
                self.resolve_from(path, Some(&directory))
            }
            directory => self.resolve_from(path, directory.or(self.workspace)),
        }
    }

    /// The real place a path of the policy leads to.
    pub fn resolve_root(&self, path: &str) -> Result<String, Unresolved> {
        self.resolve_from(path, self.workspace)
    }

    /// The real place of the workspace or of the home: what other paths begin with, too.
    pub(crate) fn resolve_directory(&self, path: &str) -> Result<String, Unresolved> {
        let plain = path.starts_with('/') && path.len() <= MAX_PATH;
        if !plain || path.bytes().any(|byte| byte == 0) {
            return self.resolve_root(path);
        }
        Ok(self.walk_directory(path)?.into_place())
    }

    fn resolve_from(&self, path: &str, directory: Option<&str>) -> Result<String, Unresolved> {
        // Letter by letter: a search has to be prepared, and paths are short.
        if path.bytes().any(|byte| byte == 0) {
            return Err(Unresolved::Nul);
        }
        if path.len() > MAX_PATH {
            return Err(Unresolved::TooLong);
        }
        let path = without_scheme(path);
        let start = if path.starts_with('~') {
            match path
                .strip_prefix('~')
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            {
                Some(_) => Some(self.home.ok_or(Unresolved::NoHome)?),
                None => return Err(Unresolved::OtherHome),
            }
        } else if !path.starts_with('/') {
            Some(directory.ok_or(Unresolved::NoDirectory)?)
        } else {
            None
        };
        let (mut walked, rest) = match start {
            Some(directory) => (
                self.walk_directory(directory)?,
                path.trim_start_matches('~'),
            ),
            // What is below a directory that was walked goes on from there.
            None => match self.lookup.walked_above(path) {
                Some((above, walked)) => (walked, path.get(above + 1..).unwrap_or_default()),
                None => (Walked::default(), path),
            },
        };
        walked.place.reserve(rest.len() + 1);
        self.walk(rest, &mut walked)?;
        Ok(walked.into_place())
    }

    /// Walks a directory that paths begin in, once.
    fn walk_directory(&self, directory: &str) -> Result<Walked, Unresolved> {
        if let Some(walked) = self.lookup.walked(directory) {
            return Ok(walked);
        }
        let mut walked = Walked::default();
        self.walk(directory, &mut walked)?;
        self.lookup.remember_walked(directory, &walked);
        Ok(walked)
    }

    /// Follows the components of `path` from where a walk has come.
    fn walk(&self, path: &str, walked: &mut Walked) -> Result<(), Unresolved> {
        let Walked {
            place,
            links,
            steps,
        } = walked;
        let mut text = Cow::Borrowed(path);
        // Where in it the components begin that are still to go.
        let mut next = Some(0);
        let mut below_missing = false;
        while let Some(from) = next {
            let rest = text.get(from..).unwrap_or_default();
            let slash = rest.bytes().position(|byte| byte == b'/');
            let component = rest.get(..slash.unwrap_or(rest.len())).unwrap_or_default();
            next = slash.map(|slash| from + slash + 1);
            *steps += 1;
            if *steps > MAX_STEPS {
                return Err(Unresolved::TooLong);
            }
            match component {
                "" | "." => continue,
                ".." => {
                    let slash = place.bytes().rposition(|byte| byte == b'/');
                    place.truncate(slash.unwrap_or(0));
                    below_missing = false;
                    continue;
                }
                name => {
                    place.push('/');
                    place.push_str(name);
                }
            }
            if below_missing {
                continue;
            }
            match self.lookup.entry(place) {
                Entry::Missing => below_missing = self.lookup.has_nothing_below_missing(),
                Entry::Directory | Entry::Other => {}
                Entry::Unreadable => return Err(Unresolved::Unreadable),
                Entry::Link(target) => {
                    *links += 1;
                    if *links > MAX_LINKS {
                        return Err(Unresolved::TooLong);
                    }
                    if target.len() > MAX_PATH {
                        return Err(Unresolved::TooLong);
                    }
                    if target.starts_with('/') {
                        place.clear();
                    } else {
                        place.truncate(place.rfind('/').unwrap_or(0));
                    }
                    let mut target = target;
                    if let Some(next) = next {
                        target.push('/');
                        target.push_str(text.get(next..).unwrap_or_default());
                    }
                    text = Cow::Owned(target);
                    next = Some(0);
                }
            }
        }
        Ok(())
    }
}

/// The path of a `file:` address, or the text itself.
pub(crate) fn without_scheme(text: &str) -> &str {
    let scheme = text.get(.."file:".len());
    if !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        return text;
    }
    let rest = text.get("file:".len()..).unwrap_or_default();
    let Some(rest) = rest.strip_prefix("//") else {
        return rest;
    };
    match rest.strip_prefix("localhost") {
        Some(path) if path.starts_with('/') => path,
        _ => rest,
    }
}

/// Whether resolved `path` is `directory` or lies below it; `/ws-evil` is not below `/ws`.
pub fn is_within(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `..` is a component of `path`; `foo..bar` has none (J-32).
pub fn climbs(path: &str) -> bool {
    path.split('/').any(|component| component == "..")
}

/// What stands behind the last slash. Names are short and asked for all the time: looking at them
/// letter by letter is several times cheaper than preparing a search.
pub(crate) fn base_name(word: &str) -> &str {
    let slash = word.bytes().rposition(|byte| byte == b'/');
    slash.map_or(word, |slash| word.get(slash + 1..).unwrap_or_default())
}

/// The name of a program given by the full path of a directory programs are installed in. A path
/// into any other directory stays, since `/tmp/x/ls` is not `ls`.
pub(crate) fn installed_name(word: &str) -> &str {
    const INSTALLED: &[&str] = &[
        "/bin",
        "/usr/bin",
        "/usr/local/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
    ];
    if !word.starts_with('/') {
        return word;
    }
    match word.rsplit_once('/') {
        Some((directory, name)) if INSTALLED.contains(&directory) && !name.is_empty() => name,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    struct Links(BTreeMap<&'static str, &'static str>);

    impl Lookup for Links {
        fn entry(&self, path: &str) -> Entry {
            match self.0.get(path) {
                Some(&"!") => Entry::Unreadable,
                Some(target) => Entry::Link((*target).into()),
                None => Entry::Missing,
            }
        }
    }

    fn resolve(links: &[(&'static str, &'static str)], path: &str) -> Result<String, Unresolved> {
        let links = Links(links.iter().copied().collect());
        Surroundings {
            workspace: Some("/ws"),
            directory: None,
            home: Some("/home/dev"),
            lookup: &links,
            can_contain: false,
        }
        .resolve(path)
    }

    #[test]
    fn plain_paths_are_made_absolute_and_tidy() {
        assert_eq!(resolve(&[], "a/./b//c").as_deref(), Ok("/ws/a/b/c"));
        assert_eq!(resolve(&[], "../etc/passwd").as_deref(), Ok("/etc/passwd"));
        assert_eq!(resolve(&[], "/../..").as_deref(), Ok("/"));
        assert_eq!(resolve(&[], "~/x").as_deref(), Ok("/home/dev/x"));
        assert_eq!(resolve(&[], "~").as_deref(), Ok("/home/dev"));
        assert_eq!(resolve(&[], "~root/x"), Err(Unresolved::OtherHome));
        assert_eq!(resolve(&[], "file:///etc/x").as_deref(), Ok("/etc/x"));
    }

    #[test]
    fn a_new_file_behind_a_link_is_where_the_link_leads() {
        let links = [("/ws/etclink", "/etc")];
        assert_eq!(
            resolve(&links, "etclink/newfile").as_deref(),
            Ok("/etc/newfile")
        );
        let chain = [("/ws/a", "b"), ("/ws/b", "../out")];
        assert_eq!(resolve(&chain, "a/x").as_deref(), Ok("/out/x"));
    }

    #[test]
    fn dots_after_a_link_start_from_its_target() {
        let links = [("/ws/link", "/var/data/deep")];
        assert_eq!(resolve(&links, "link/../x").as_deref(), Ok("/var/data/x"));
    }

    #[test]
    fn circles_and_unreadable_directories_are_errors() {
        assert_eq!(resolve(&[("/ws/a", "a")], "a"), Err(Unresolved::TooLong));
        assert_eq!(
            resolve(&[("/ws/a", "!")], "a/b"),
            Err(Unresolved::Unreadable)
        );
        assert_eq!(resolve(&[], "a\0b"), Err(Unresolved::Nul));
    }

    #[test]
    fn a_sibling_with_the_same_prefix_is_outside() {
        assert!(is_within("/ws/a", "/ws"));
        assert!(is_within("/ws", "/ws/"));
        assert!(is_within("/anything", "/"));
        assert!(!is_within("/ws-evil/a", "/ws"));
        assert!(climbs("a/../b") && !climbs("foo..bar/..."));
    }

    #[test]
    fn only_what_no_shell_would_read_is_a_compiled_program() {
        let compiled: &[&[u8]] = &[
            b"\x7fELF\x02\x01\x01\0\xff",
            b"\xcf\xfa\xed\xfe\x07\0\0\x01",
            b"MZ\x90\0\x03\0\xff",
        ];
        for bytes in compiled {
            assert_eq!(FileText::from_bytes(bytes.to_vec()), FileText::Compiled);
            assert_eq!(FileText::from_head(bytes), FileText::Compiled);
        }
        let scripts: &[&[u8]] = &[
            b"\x7fELF=1\nrm -rf /\n\xff",
            b"MZqFpD='\n\0'\nrm -rf /\n\xff",
            b"#!/bin/sh\nrm -rf /\n\xff",
        ];
        for bytes in scripts {
            assert_eq!(FileText::from_bytes(bytes.to_vec()), FileText::NotText);
            assert_eq!(FileText::from_head(bytes), FileText::TooLarge);
        }
    }

    /// A directory of files whose names are told apart by the case of their letters, or not.
    struct Directory {
        names: Vec<String>,
        tells_case: bool,
    }

    impl Lookup for Directory {
        fn entry(&self, path: &str) -> Entry {
            let same = |known: &String, name: &str| match self.tells_case {
                true => known == name,
                false => known.to_lowercase() == name.to_lowercase(),
            };
            let name = path.strip_prefix("/d/").unwrap_or_default();
            match self.names.iter().any(|known| same(known, name)) {
                true => Entry::Other,
                false => Entry::Missing,
            }
        }

        fn has_nothing_below_missing(&self) -> bool {
            true
        }

        fn names(&self, _: &str, _: usize) -> Option<Vec<(String, bool)>> {
            Some(
                self.names
                    .iter()
                    .map(|name| (name.clone(), false))
                    .collect(),
            )
        }
    }

    proptest! {
        #[test]
        fn what_a_listed_directory_lacks_is_not_there(
            names in prop::collection::vec("[akK\u{212a}]{1,2}", 0..4),
            name in "[akK\u{212a}]{1,2}",
            tells_case in any::<bool>(),
        ) {
            let directory = Directory { names, tells_case };
            let path = format!("/d/{name}");
            let listed = Remembering::new(&directory);
            prop_assert!(listed.names("/d", 9).is_some());
            prop_assert_eq!(listed.entry(&path), directory.entry(&path));
        }

        #[test]
        fn every_path_resolves_to_a_tidy_place_or_an_error(path in "[a~./]{0,40}") {
            if let Ok(place) = resolve(&[("/ws/a", "../a/aa")], &path) {
                prop_assert!(place.starts_with('/'));
                prop_assert!(!climbs(&place) && !place.contains("//"));
            }
        }

        #[test]
        fn where_a_directory_leads_may_be_remembered(
            paths in prop::collection::vec("(/ws/a/a|/home/dev)?[a~./]{0,20}", 1..4)
        ) {
            let links = Links([("/ws/a", "../a/aa"), ("/home/dev", "/ws/a")].into());
            let plain = Surroundings {
                workspace: Some("/ws/a/a"),
                directory: None,
                home: Some("/home/dev"),
                lookup: &links, can_contain: false };
            let lookup = Remembering::new(&links);
            let remembering = Surroundings { lookup: &lookup, ..plain };
            for directory in ["/ws/a/a", "/home/dev"] {
                let root = plain.resolve_root(directory);
                prop_assert_eq!(root, remembering.resolve_directory(directory));
            }
            for path in &paths {
                prop_assert_eq!(plain.resolve(path), remembering.resolve(path));
            }
        }
    }
}
