//! The files of a project that a call's scripts load by name: what a release is bound to besides the scripts themselves.
//!
//! Whatever a name could stand for counts, in every directory it may be looked for in: a file that appears in front of
//! another is as much a change as one that is rewritten. What is installed with the system is left alone, and so is what a name
//! that is computed stands for.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs;
use std::path::{Component, Path, PathBuf};

use holdpoint_broker::CallContext;
use holdpoint_core::shell::{Import, Imports, imports_of_call, imports_of_file};
use holdpoint_core::{Action, Decision, PathVerb};

use crate::store::{Unread, read_bounded};

/// The most files that are read for what they load in turn: as many as are looked into. Of those behind them only the files
/// themselves are bound.
const MAX_READ: usize = 256;

/// The most bytes of a file that is read for names. A larger one is generated, and loads little by name.
const MAX_TEXT: u64 = 1 << 20;

/// The most bytes that are read for names in all, so that a person's answer is not kept waiting.
const MAX_TEXTS: usize = 16 << 20;

/// The most files that are bound. A script that loads more is a program with its libraries; the first it comes to count.
const MAX_FOUND: usize = 4096;

/// The most entries of a directory that are kept to look names up in. In a larger one each name is a look at the disk.
const MAX_ENTRIES: usize = 4096;

/// The most looks, so that a person's answer is not kept waiting: some tenths of a second.
const MAX_LOOKS: usize = 200_000;

/// The most directories names are looked for in: each costs a look a name.
const MAX_ROOTS: usize = 64;

/// Where the system keeps what is installed: not the project's, and not the agent's to write.
const INSTALLED: [&str; 7] = ["/bin", "/lib", "/lib64", "/opt", "/sbin", "/snap", "/usr"];

/// The files a call's scripts load.
#[derive(Default)]
pub(super) struct Modules {
    /// In order, without those the decision names itself.
    pub(super) files: Vec<PathBuf>,
    /// Whether a limit ended the search, so that there may be more.
    pub(super) is_cut: bool,
}

/// What the scripts of a call load.
pub(super) fn loaded(
    asked: &CallContext,
    action: &Action,
    decision: &Decision,
    paths: &[(String, PathVerb)],
) -> Modules {
    // What changes nothing runs no code that nobody has read to its end.
    if decision.only_looks {
        return Modules::default();
    }
    let mut search = Search::new(asked);
    let run = paths.iter().filter(|(_, verb)| *verb == PathVerb::Run);
    let scripts = decision.files.iter().map(|file| &file.path);
    for path in scripts.chain(run.map(|(path, _)| path)) {
        search.start(Path::new(path));
    }
    let in_call = imports_of_call(action);
    let directory = search.directory.clone();
    search.roots_of(&in_call, &directory);
    search.look(&in_call, &directory);
    search.follow();
    Modules {
        files: search.found.into_iter().collect(),
        is_cut: search.is_cut,
    }
}

struct Search {
    directory: PathBuf,
    workspace: PathBuf,
    /// Directories things are looked for in, besides those of who names them.
    roots: Vec<PathBuf>,
    /// Files to be read.
    queue: VecDeque<PathBuf>,
    seen: HashSet<PathBuf>,
    found: BTreeSet<PathBuf>,
    /// What is in a directory; nothing for one that is too large to keep.
    listed: HashMap<PathBuf, Option<HashSet<std::ffi::OsString>>>,
    looks: usize,
    is_cut: bool,
}

impl Search {
    fn new(asked: &CallContext) -> Self {
        let mut search = Self {
            directory: PathBuf::from(&asked.directory),
            workspace: PathBuf::from(&asked.workspace),
            roots: Vec::new(),
            queue: VecDeque::new(),
            seen: HashSet::new(),
            found: BTreeSet::new(),
            listed: HashMap::new(),
            looks: 0,
            is_cut: false,
        };
        for root in [search.directory.clone(), search.workspace.clone()] {
            for below in ["", "src", "lib"] {
                search.root(root.join(below));
            }
        }
        search
    }

    fn root(&mut self, directory: PathBuf) {
        if self.is_installed(&directory) || self.roots.contains(&directory) {
            return;
        }
        if self.roots.len() < MAX_ROOTS {
            self.roots.push(directory);
        } else {
            self.is_cut = true;
        }
    }

    /// Whether a path is the system's; a project may lie there, too, as in a container.
    fn is_installed(&self, path: &Path) -> bool {
        let within = self.workspace.parent().is_some() && path.starts_with(&self.workspace);
        !within && INSTALLED.iter().any(|place| path.starts_with(place))
    }

    /// A script the call runs, which is bound as that.
    fn start(&mut self, path: &Path) {
        if !self.is_installed(path) && self.seen.insert(path.to_owned()) {
            // Beside it is looked for whatever any of its modules names.
            if let Some(directory) = path.parent() {
                self.root(directory.to_owned());
            }
            self.queue.push_back(path.to_owned());
        }
    }

    fn follow(&mut self) {
        let mut read = 0;
        let mut bytes_read = 0;
        while let Some(path) = self.queue.pop_front() {
            if read >= MAX_READ || bytes_read >= MAX_TEXTS {
                self.is_cut = true;
                return;
            }
            read += 1;
            let bytes = match read_bounded(&path, MAX_TEXT) {
                Ok(bytes) => bytes,
                // What is not there loads nothing; what a directory runs is a name of its own.
                Err(Unread::Missing | Unread::Directory) => continue,
                Err(_) => {
                    self.is_cut = true;
                    continue;
                }
            };
            bytes_read += bytes.len();
            let (Some(name), Some(directory)) = (path.to_str(), path.parent()) else {
                continue;
            };
            let imports = imports_of_file(name, &String::from_utf8_lossy(&bytes));
            self.roots_of(&imports, directory);
            self.look(&imports, directory);
        }
    }

    /// Takes in the directories a text names.
    fn roots_of(&mut self, imports: &Imports, beside: &Path) {
        for name in &imports.directories {
            for base in [beside.to_owned(), self.directory.clone()] {
                let directory = tidy(&base.join(name));
                if self.looks < MAX_LOOKS && directory.is_dir() {
                    self.root(directory);
                }
                self.looks += 1;
            }
        }
    }

    fn look(&mut self, imports: &Imports, beside: &Path) {
        self.is_cut |= imports.is_cut;
        let mut places = vec![beside.to_owned()];
        // A package is named from above, and an installed one lies anywhere above.
        if beside.starts_with(&self.workspace) {
            let above = beside.ancestors().skip(1);
            let within = above.take_while(|above| above.starts_with(&self.workspace));
            places.extend(within.map(Path::to_owned));
        }
        for root in &self.roots {
            if !places.contains(root) {
                places.push(root.clone());
            }
        }
        for import in &imports.names {
            let places = match import.beside {
                true => places.get(..1).unwrap_or_default(),
                false => &places,
            };
            for place in places {
                self.look_for(import, place);
            }
        }
    }

    fn look_for(&mut self, import: &Import, place: &Path) {
        let base = tidy(&place.join(&import.path));
        if self.is_installed(&base) {
            return;
        }
        for end in import.ends {
            let mut path = base.clone().into_os_string();
            path.push(end);
            self.take(PathBuf::from(path));
        }
    }

    fn take(&mut self, path: PathBuf) {
        if self.seen.contains(&path) || !self.is_listed(&path) {
            return;
        }
        if self.found.len() >= MAX_FOUND {
            self.is_cut = true;
            return;
        }
        let Ok(found) = fs::metadata(&path) else {
            return;
        };
        if !found.is_file() {
            return;
        }
        self.seen.insert(path.clone());
        // A link and what it leads to are two things that may change.
        if let Ok(real) = path.canonicalize()
            && real != path
            && !self.is_installed(&real)
            && self.seen.insert(real.clone())
        {
            self.found.insert(real.clone());
            self.queue.push_back(real);
        }
        self.found.insert(path.clone());
        self.queue.push_back(path);
    }

    /// Whether something stands at a path, by what its directory was seen to hold.
    fn is_listed(&mut self, path: &Path) -> bool {
        self.looks += 1;
        if self.looks > MAX_LOOKS {
            self.is_cut = true;
            return false;
        }
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        if let Some(known) = self.listed.get(directory) {
            return known.as_ref().is_none_or(|names| names.contains(name));
        }
        let names = entries(directory);
        // Each name that is read and kept is work, too, and a link is a directory of its own.
        self.looks += names.as_ref().map_or(MAX_ENTRIES, HashSet::len);
        let there = names.as_ref().is_none_or(|names| names.contains(name));
        self.listed.insert(directory.to_owned(), names);
        there
    }
}

/// What is in a directory; none if that is too much to keep.
fn entries(directory: &Path) -> Option<HashSet<std::ffi::OsString>> {
    let Ok(all) = fs::read_dir(directory) else {
        return Some(HashSet::new());
    };
    let names: HashSet<_> = all
        .take(MAX_ENTRIES + 1)
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .collect();
    (names.len() <= MAX_ENTRIES).then_some(names)
}

/// A path without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidied.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => tidied.push(part),
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called_in(root: &Path) -> CallContext {
        CallContext {
            agent: "a".into(),
            session: "s".into(),
            tool: "Bash".into(),
            input: serde_json::Map::new(),
            directory: root.to_str().unwrap().into(),
            workspace: root.to_str().unwrap().into(),
            config: None,
            context: holdpoint_broker::Context::default(),
        }
    }

    #[test]
    fn files_load_files_and_a_ring_of_them_ends() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("run.py", "import a, os\nimport json");
        write("a.py", "from b import c");
        write("b/__init__.py", "import run, a");
        write("b/c.py", "");
        write("b/d.py", "");
        write("__pycache__/a.cpython-312.pyc", "");
        let asked = called_in(&root);
        let loaded = || {
            let mut search = Search::new(&asked);
            search.start(&root.join("run.py"));
            search.follow();
            assert!(!search.is_cut);
            let names = search
                .found
                .iter()
                .map(|path| path.strip_prefix(&root).unwrap());
            names
                .map(|path| path.to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(loaded(), ["a.py", "b/__init__.py", "b/c.py"]);
        // It would be loaded in place of the one that comes with the language.
        write("json.py", "");
        assert_eq!(loaded(), ["a.py", "b/__init__.py", "b/c.py", "json.py"]);
    }

    #[test]
    fn names_in_front_of_a_name_are_said_and_links_to_a_large_directory_are_not_read_for_ever() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let mut asked = called_in(&root);
        let names: Vec<String> = (0..1200).map(|number| format!("a{number}")).collect();
        let text = format!("# import {}\nimport helper", names.join(", "));
        fs::write(root.join("run.py"), text).unwrap();
        let mut search = Search::new(&asked);
        search.start(&root.join("run.py"));
        search.follow();
        assert!(search.is_cut);

        let large = root.join("large");
        fs::create_dir(&large).unwrap();
        for number in 0..2000 {
            fs::write(large.join(format!("x{number}")), "").unwrap();
        }
        let work = root.join("work");
        fs::create_dir(&work).unwrap();
        let mut text = String::new();
        for number in 0..900 {
            #[cfg(unix)]
            std::os::unix::fs::symlink(&large, work.join(format!("l{number}"))).unwrap();
            text.push_str(&format!("import l{number}.x\n"));
        }
        fs::write(work.join("run.py"), text).unwrap();
        asked.directory = work.to_str().unwrap().into();
        asked.workspace = asked.directory.clone();
        let mut search = Search::new(&asked);
        search.start(&work.join("run.py"));
        search.follow();
        let kept = search.listed.values().flatten().map(HashSet::len);
        assert!(kept.sum::<usize>() <= MAX_LOOKS + MAX_ENTRIES);
        assert!(search.is_cut || cfg!(not(unix)));
    }

    #[test]
    fn very_many_files_end_the_search() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let count = MAX_READ + 20;
        for number in 0..count {
            let text = format!("import m{}", number + 1);
            fs::write(root.join(format!("m{number}.py")), text).unwrap();
        }
        let mut search = Search {
            directory: root.clone(),
            workspace: root.clone(),
            roots: Vec::new(),
            queue: VecDeque::new(),
            seen: HashSet::new(),
            found: BTreeSet::new(),
            listed: HashMap::new(),
            looks: 0,
            is_cut: false,
        };
        search.start(&root.join("m0.py"));
        search.follow();
        assert_eq!(search.found.len(), MAX_READ);
        assert!(search.is_cut);
    }
}
