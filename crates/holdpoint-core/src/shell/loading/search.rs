//! Finding the files a program loads by itself, in the line and on disk.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::{
    authors::Author, authors::author, authors::author_by, contents::format_of, contents::is_code,
};
use crate::budget::{MAX_FILES, Resource};
use crate::paths::{Entry, Surroundings, Written, base_name, is_within};
use crate::project_files::pattern::Pattern;
use crate::rules::{LOADS, Loads, Reader};
use crate::shell::unwrapping::Unwrapped;

/// Words by which code finds other code under a name it makes itself.
const COMPUTED: &[&str] = &[
    "importlib",
    "__import__",
    "runpy",
    "pkgutil",
    "exec",
    "eval",
    "execfile",
    "import_module",
    "spec_from_file_location",
    "createRequire",
    "require_relative",
    "autoload",
    "load_module",
    "dofile",
    "loadfile",
    "instance_eval",
    "getattr",
    "glob",
    "listdir",
    "readdirSync",
    "iterdir",
];
/// Entries of directories that are looked at for one command, those nearest to where it runs first: each is
/// a look at the disk, and so many take some milliseconds. Of what lies beyond, only what the session remembers
/// counts; where its memory has gaps, what lies beyond is a question ([`Search::cut`]).
pub(super) const MAX_WALKED: usize = 1500;
/// Files kept for what the agent wrote, when what the person wrote is read for the names in it. Half of what is
/// read for a call: what is loaded is rarely more.
pub(super) const RESERVED_FILES: usize = MAX_FILES / 2;
/// Directories nobody writes code into: installed packages, caches, what was built. They are not walked;
/// what the session wrote there counts all the same.
const SKIPPED: &[&str] = &[
    ".cache",
    ".git",
    ".gradle",
    ".hg",
    ".idea",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vscode",
    "__pycache__",
    "bower_components",
    "build",
    "coverage",
    "dist",
    "env",
    "htmlcov",
    "node_modules",
    "out",
    "site-packages",
    "target",
    "third_party",
    "tmp",
    "vendor",
    "venv",
];

/// A file a command may load.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Its real path.
    pub(super) real: String,
    /// How it is named to the command, relative to where that runs if it lies below.
    pub(super) shown: String,
    pub(super) author: Author,
    /// It was found by walking, and the session does not remember it: that it cannot be read is no
    /// news.
    pub(super) spare: bool,
    /// Who loads it says how to read it, if its name does not.
    pub(super) told: bool,
}

/// What the search for one command's files goes by.
pub(super) struct Search<'a> {
    pub(super) row: &'static Loads,
    /// The program, if nobody has said which files it looks for.
    pub(super) unknown: Option<String>,
    /// Nobody has said anything about it: it may be a runner like those that are listed.
    pub(super) undescribed: bool,
    /// Names with stars that the command is given.
    pub(super) patterns: Vec<String>,
    pub(super) around: &'a Surroundings<'a>,
    pub(super) written: Arc<Written>,
    /// Where the command runs.
    pub(super) bases: Vec<String>,
    /// Directories files are looked for in.
    pub(super) roots: Vec<String>,
    /// Texts of what is loaded, the command's own words among them.
    pub(super) texts: Vec<Arc<str>>,
    /// What it is told to load that is read while it runs.
    pub(super) streams: Vec<String>,
    /// Files that are loaded by name.
    pub(super) wanted: Vec<Candidate>,
    /// Files that may be loaded by these.
    pub(super) reach: Vec<Candidate>,
    pub(super) known: HashSet<String>,
    /// Files the line itself writes, by real path.
    pub(super) in_line: Vec<String>,
    pub(super) walked: usize,
    /// Something on the disk was not looked at.
    pub(super) cut: bool,
    /// Something that is run for where it lies was not looked at.
    pub(super) unlisted: bool,
    /// Something that is loaded was not read for the names in it.
    pub(super) unread: bool,
}

/// Where a file lies to whoever loads files.
#[derive(Clone, Copy)]
enum Place {
    /// It is looked for by name.
    Looked,
    /// Something may load it.
    Reach,
}

impl Search<'_> {
    /// A path the command names: a file, a directory with one in it, or one without its ending.
    pub(super) fn given(&mut self, path: &str, told: bool) {
        let Ok(real) = self.around.resolve(path) else {
            return;
        };
        // A file that is merely given is loaded if it is code; data it is given says nothing.
        let name = base_name(&real);
        let row = self.row;
        let loaded = || {
            told || format_of(name).is_some_and(|reader| is_code(reader) || self.is_source(reader))
                || row.reach.iter().any(|one| Pattern(one).last_matches(name))
        };
        let entry = self.around.lookup.entry(&real);
        // Git is asked whose a file is, which takes longer than all else here: not of what is none.
        let is_file = match &entry {
            Entry::Directory => false,
            Entry::Missing => self.in_line.contains(&real),
            Entry::Other | Entry::Link(_) | Entry::Unreadable => true,
        };
        if self.unknown.is_some() && (!is_file || !self.is_agents_own(&real)) {
            return;
        }
        match entry {
            Entry::Directory => {
                self.root(real.clone());
                for name in self.row.index {
                    if !name.contains('*') {
                        self.want(&format!("{real}/{name}"), true);
                        continue;
                    }
                    let before = std::mem::take(&mut self.cut);
                    self.expand(&real, &[name]);
                    // Everything that lies there is run, by whoever it was written.
                    self.unlisted |= self.cut && *name == "*";
                    self.cut |= before;
                }
            }
            Entry::Missing => {
                if self.in_line.contains(&real) && loaded() {
                    self.want(&real, told);
                }
                for ending in self.row.extensions {
                    self.want(&format!("{real}{ending}"), told);
                }
            }
            Entry::Other | Entry::Link(_) | Entry::Unreadable => {
                if !loaded() {
                    return;
                }
                if let Some((directory, _)) = real.rsplit_once('/') {
                    self.root(directory.to_owned());
                }
                self.want(&real, told);
            }
        }
    }

    /// Whether a source without a reader of its own may be what a runner is given to run. Compilers and
    /// linters, which are described otherwise, are given sources all day.
    fn is_source(&self, reader: Reader) -> bool {
        matches!(reader, Reader::Literals | Reader::Unread)
            && (self.unknown.is_none() || self.undescribed)
    }

    pub(super) fn root(&mut self, directory: String) {
        if directory.len() > 1 && !self.roots.contains(&directory) {
            self.roots.push(directory);
        }
    }

    /// Whether there is a file, or will be.
    pub(super) fn is_there(&self, real: &str) -> bool {
        self.in_line.iter().any(|path| path == real)
            || matches!(
                self.around.lookup.entry(real),
                Entry::Other | Entry::Link(_) | Entry::Unreadable
            )
    }

    /// Notes that a file is loaded, if it is there; `told` if who loads it says how to read it.
    pub(super) fn want(&mut self, real: &str, told: bool) {
        if !self.is_there(real) || !self.known.insert(real.to_owned()) {
            return;
        }
        let mut candidate = self.candidate(real, self.author(real), false);
        candidate.told = told;
        self.wanted.push(candidate);
    }

    /// Notes files that were come upon in a directory, each with how it may come to be loaded.
    fn come_upon(&mut self, directory: &str, files: &[(String, Place)]) {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let tracking = self.around.lookup.tracking_in(directory, &names);
        for ((name, place), tracking) in files.iter().zip(tracking) {
            let path = format!("{directory}/{name}");
            let author = author_by(tracking, &self.written, &self.in_line, &path);
            // What the person wrote brings nothing but names into what is loaded.
            if matches!(place, Place::Reach) && author == Author::Person {
                continue;
            }
            if !self.known.insert(path.clone()) {
                continue;
            }
            match place {
                Place::Looked => {
                    let mut candidate = self.candidate(&path, author, !self.is_remembered(&path));
                    candidate.told = true;
                    self.wanted.push(candidate);
                }
                Place::Reach => {
                    let candidate = self.candidate(&path, author, true);
                    self.reach.push(candidate);
                }
            }
        }
    }

    pub(super) fn candidate(&self, real: &str, author: Author, spare: bool) -> Candidate {
        Candidate {
            real: real.to_owned(),
            shown: self.shown(real),
            author,
            spare,
            told: false,
        }
    }

    /// How a file is named to the command.
    pub(super) fn shown(&self, real: &str) -> String {
        let relative = self.bases.first().and_then(|base| relative(real, base));
        relative.unwrap_or(real).to_owned()
    }

    /// Whether a file holds the agent's words for sure: where there is no repository, only what the session
    /// or the line wrote does.
    pub(super) fn is_agents_own(&self, real: &str) -> bool {
        match self.author(real) {
            Author::AgentChanged | Author::AgentNew | Author::AgentUnplaced => true,
            Author::Unknown | Author::Person => false,
        }
    }

    /// Whether a program of this name looks for a file of that name: `conanfile.py` is conan's,
    /// `.latexmkrc` latexmk's.
    fn is_named_after(&self, file: &str) -> bool {
        let Some(program) = self.unknown.as_deref().filter(|name| name.len() > 1) else {
            return false;
        };
        let bare = file.trim_start_matches('.');
        let head = bare.get(..program.len()).unwrap_or_default();
        let named = head.eq_ignore_ascii_case(program);
        (named || self.undescribed) && format_of(file).is_some() && (named || is_looked_for(file))
    }

    fn is_remembered(&self, real: &str) -> bool {
        self.written.holds(real) || self.in_line.iter().any(|path| path == real)
    }

    pub(super) fn author(&self, real: &str) -> Author {
        author(self.around, &self.written, &self.in_line, real)
    }

    /// What the session wrote, and what the line itself writes.
    pub(super) fn remembered(&mut self) {
        let mut paths: Vec<String> = self.written.files.keys().cloned().collect();
        paths.extend(self.in_line.iter().cloned());
        for path in paths {
            match self.place_of(&path) {
                Some(Place::Looked) => self.want(&path, true),
                Some(Place::Reach) if self.known.insert(path.clone()) => {
                    let there = self.in_line.contains(&path)
                        || !matches!(self.around.lookup.entry(&path), Entry::Missing);
                    if there {
                        let author = self.author(&path);
                        let candidate = self.candidate(&path, author, false);
                        self.reach.push(candidate);
                    }
                }
                Some(Place::Reach) | None => {}
            }
        }
    }

    /// Whether programs look for a file by name from one of the roots, or may come to it.
    fn place_of(&self, path: &str) -> Option<Place> {
        for root in &self.roots {
            if let Some(below) = relative(path, root) {
                let given = self.patterns.iter().any(|one| {
                    Pattern(one).matches(below)
                        || (!one.contains('/') && Pattern(one).last_matches(base_name(below)))
                });
                let named = !below.contains('/') && self.is_named_after(below);
                if given || named || self.row.files.iter().any(|one| Pattern(one).matches(below)) {
                    return Some(Place::Looked);
                }
            }
            // Runners look upwards, too.
            let beside = path.rsplit_once('/').is_some_and(|(directory, name)| {
                is_within(root, directory)
                    && self.within_workspace(directory)
                    && self.row.files.iter().any(|one| Pattern(one).matches(name))
            });
            if beside {
                return Some(Place::Looked);
            }
        }
        let name = base_name(path);
        let mut reach = self.row.reach.iter();
        reach
            .any(|one| Pattern(one).last_matches(name))
            .then_some(Place::Reach)
    }

    fn within_workspace(&self, directory: &str) -> bool {
        let workspace = self.around.workspace;
        workspace.is_none_or(|workspace| is_within(directory, workspace))
    }

    /// What git says is not the person's, and where there is no repository all that is looked for.
    pub(super) fn on_disk(&mut self) {
        let roots = self.roots.clone();
        if self.unknown.is_some() {
            // Only what is named after the program, and only where it runs.
            for base in self.bases.clone() {
                let names = self.names(&base).into_iter();
                let named: Vec<(String, Place)> = names
                    .filter(|(name, is_directory)| !is_directory && self.is_named_after(name))
                    .filter(|(name, _)| self.is_agents_own(&format!("{base}/{name}")))
                    .map(|(name, _)| (name, Place::Looked))
                    .collect();
                self.come_upon(&base, &named);
            }
            return;
        }
        for root in &roots {
            // A directory that is listed anyway is listed first: what it lacks is then not looked for.
            if self.lists_roots() {
                self.around.lookup.names(root, MAX_WALKED);
            }
            for pattern in self.row.files {
                if !is_deep(pattern) {
                    let parts: Vec<&str> = pattern.split('/').collect();
                    self.expand(root, &parts);
                }
            }
            self.walk(root);
        }
    }

    /// What is in a directory, as far as there is still to be looked at.
    pub(super) fn names(&mut self, directory: &str) -> Vec<(String, bool)> {
        let Some(mut names) = self.around.lookup.names(directory, MAX_WALKED) else {
            // Where no directory is, nothing was left out.
            self.cut |= self.around.lookup.entry(directory) == Entry::Directory;
            return Vec::new();
        };
        names.sort();
        let left = MAX_WALKED.saturating_sub(self.walked);
        self.cut |= names.len() > left;
        names.truncate(left);
        self.walked += names.len();
        names
    }

    /// The files a pattern without `**` stands for.
    fn expand(&mut self, directory: &str, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else {
            return;
        };
        if !part.contains(['*', '?']) {
            let path = format!("{directory}/{part}");
            match rest {
                [] => self.want(&path, true),
                rest => self.expand(&path, rest),
            }
            return;
        }
        let mut names = self.names(directory);
        names.retain(|(name, _)| Pattern(part).matches(name) && !SKIPPED.contains(&name.as_str()));
        let (below, files): (Vec<_>, Vec<_>) = names.into_iter().partition(|(_, is)| *is);
        if !rest.is_empty() {
            for (name, _) in below {
                self.expand(&format!("{directory}/{name}"), rest);
            }
            return;
        }
        let files = files.into_iter().map(|(name, _)| (name, Place::Looked));
        self.come_upon(directory, &files.collect::<Vec<_>>());
    }

    /// Whether files are looked for at any depth.
    fn is_wide(&self) -> bool {
        !self.patterns.is_empty() || self.row.files.iter().any(|pattern| is_deep(pattern))
    }

    /// Whether what is in the directories is looked through.
    fn lists_roots(&self) -> bool {
        self.is_wide() || !self.row.reach.is_empty()
    }

    /// Looks into the directories below one: into all of them if files are looked for at any depth,
    /// else into those what is loaded names.
    pub(super) fn walk(&mut self, root: &str) {
        if !self.lists_roots() {
            return;
        }
        let wide = self.is_wide();
        let mut open = VecDeque::from([root.to_owned()]);
        while let Some(directory) = open.pop_front() {
            let mut files = Vec::new();
            for (name, is_directory) in self.names(&directory) {
                if SKIPPED.contains(&name.as_str()) {
                    continue;
                }
                let path = format!("{directory}/{name}");
                if is_directory {
                    if wide || self.is_named(&name) {
                        open.push_back(path);
                    }
                } else if let Some(place) = self.walked_to(root, &path, wide) {
                    files.push((name, place));
                }
            }
            self.come_upon(&directory, &files);
        }
    }

    /// How a file below a root that was come upon may be loaded.
    fn walked_to(&self, root: &str, path: &str, wide: bool) -> Option<Place> {
        if self.known.contains(path) {
            return None;
        }
        let below = relative(path, root).unwrap_or(path);
        let given = |one: &String| {
            Pattern(one).matches(below)
                || (!one.contains('/') && Pattern(one).last_matches(base_name(below)))
        };
        if self.row.files.iter().any(|one| Pattern(one).matches(below))
            || self.patterns.iter().any(given)
        {
            return Some(Place::Looked);
        }
        let reached = self.row.reach.iter().any(|one| Pattern(one).matches(below));
        (reached && (wide || self.is_file_named(path))).then_some(Place::Reach)
    }

    /// Whether what is loaded names a file: by its stem or its directory's name, or both for `require('./index')`, or only
    /// the directory it lies in itself, for `require('.')`.
    fn is_file_named(&self, path: &str) -> bool {
        let stem = stem_of(path);
        let own = own_stem(path);
        self.is_named(stem)
            || (own != stem
                && (self.is_named(own) || self.texts.iter().any(|text| names_here(text))))
    }

    fn is_named(&self, word: &str) -> bool {
        self.texts.iter().any(|text| has_word(text, word))
    }

    /// Whether what is loaded comes to a file.
    pub(super) fn reaches(&self, candidate: &Candidate, command: &Unwrapped<'_, '_>) -> bool {
        match candidate.author {
            // The project's own code uses it.
            Author::AgentChanged | Author::AgentUnplaced => return true,
            Author::AgentNew | Author::Unknown => {}
            Author::Person => return false,
        }
        let length: usize = self.texts.iter().map(|text| text.len()).sum();
        let budget = command.listing.budget();
        if budget.spend(Resource::Steps, 16 + length / 16).is_err() {
            // Nobody can say that it is not.
            return true;
        }
        let own = candidate.author == Author::AgentNew && !candidate.spare;
        self.is_file_named(&candidate.real)
            // What was not read may name it.
            || (own && self.unread)
            || (own
                && self
                    .texts
                    .iter()
                    .any(|text| COMPUTED.iter().any(|word| has_word(text, word))))
    }
}

/// Whether a pattern stands for files at any depth. Letter by letter: a search has to be prepared.
fn is_deep(pattern: &str) -> bool {
    let signs = pattern.bytes().zip(pattern.bytes().skip(1));
    signs.into_iter().any(|pair| pair == (b'*', b'*'))
}

/// A path below a directory.
fn relative<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}

/// Whether a word stands in a text by itself.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    if word.is_empty() {
        return false;
    }
    let inside = |letter: Option<char>| letter.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(word)) {
        let start = from + found;
        let end = start + word.len();
        let before = text
            .get(..start)
            .and_then(|before| before.chars().next_back());
        let after = text.get(end..).and_then(|after| after.chars().next());
        if !inside(before) && !inside(after) {
            return true;
        }
        from = end;
    }
    false
}

/// Whether code loads the directory it lies in itself, or the one above.
fn names_here(text: &str) -> bool {
    [
        "'.'", "\".\"", "'./'", "\"./\"", "'..'", "\"..\"", "'../'", "\"../\"",
    ]
    .iter()
    .any(|here| text.contains(here))
}

/// A file's name without its endings.
fn own_stem(path: &str) -> &str {
    let name = base_name(path);
    let dot = (name.char_indices().skip(1)).find(|(_, letter)| *letter == '.');
    dot.and_then(|(dot, _)| name.get(..dot)).unwrap_or(name)
}

/// The name other code has for a file: its own without the ending, or its directory's.
pub(super) fn stem_of(path: &str) -> &str {
    let stem = own_stem(path);
    if matches!(stem, "__init__" | "__main__" | "index" | "mod" | "init") {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        return base_name(directory);
    }
    stem
}

/// Whether some runner looks for a file of this name.
fn is_looked_for(name: &str) -> bool {
    let mut rows = LOADS.iter();
    rows.any(|row| row.files.iter().any(|one| Pattern(one).matches(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_by_itself() {
        assert!(has_word("import evil", "evil"));
        assert!(has_word("require('./evil.js')", "evil"));
        assert!(!has_word("evils devil evil_x", "evil"));
        assert!(!has_word("", "x") && !has_word("x", ""));
    }

    #[test]
    fn a_file_is_named_by_its_stem_or_its_directory() {
        assert_eq!(stem_of("/a/b.test.ts"), "b");
        assert_eq!(stem_of("/a/pkg/__init__.py"), "pkg");
        assert_eq!(stem_of("/a/lib/index.js"), "lib");
        assert_eq!(stem_of("/a/.exrc"), ".exrc");
    }
}
