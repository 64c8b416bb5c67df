//! The scratch tree that stands in for the home and the project of the people whose commands they were, and what a session makes
//! of it.
//!
//! `/home/dev` and `/tmp` are read from a directory of our own; the project is a repository in which the usual files of a project,
//! and the files that the commands name, are committed. Nothing is run: what a command writes, makes and deletes by its words is
//! noted for the rest of its session, so that a later command finds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use holdpoint::{Disk, Entry, Lookup};
use holdpoint_core::Explained;
use holdpoint_core::paths::{FileText, Tracking, Written, WrittenFile, is_within};

/// The home and the project, as the commands name them.
pub(super) const HOME: &str = "/home/dev";
const PROJECT: &str = "/home/dev/app";

/// The project of agents that work in a container.
const CONTAINED_PROJECT: &str = "/app";

/// The trees that are faked, and what stands in for each.
const FAKED: [(&str, &str); 3] = [
    (HOME, "home"),
    (CONTAINED_PROJECT, "home/app"),
    ("/tmp", "tmp"),
];

/// Where a session works: in the container's project if its commands name that and nothing of the home.
pub(super) fn project<'c>(mut commands: impl Iterator<Item = &'c str> + Clone) -> &'static str {
    let in_container = |command: &str| command.contains("/app/") || command.contains("cd /app");
    let names_home = commands.clone().any(|command| command.contains(HOME));
    match !names_home && commands.any(in_container) {
        true => CONTAINED_PROJECT,
        false => PROJECT,
    }
}

/// What most projects have.
const USUAL: [(&str, &str); 8] = [
    ("README.md", "# App\n"),
    (
        "Makefile",
        "all:\n\tcc -o app src/main.c\ntest:\n\tpytest\n",
    ),
    (
        "package.json",
        r#"{"name":"app","scripts":{"build":"tsc","test":"vitest run","lint":"eslint .","dev":"vite","start":"node dist/index.js"}}"#,
    ),
    ("pyproject.toml", "[project]\nname = \"app\"\n"),
    (
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\n",
    ),
    ("src/main.rs", "fn main() {}\n"),
    ("tests/test_app.py", "def test_app():\n    assert True\n"),
    (".gitignore", "target/\nnode_modules/\n"),
];

/// How files begin that the commands name, by the ends of their names. What is read is never more than this.
const TEXTS: [(&str, &str); 12] = [
    (".c", "int main(void) { return 0; }\n"),
    (".csv", "a,b\n1,2\n"),
    (".h", "#pragma once\n"),
    (".js", "console.log(1);\n"),
    (".json", "{}\n"),
    (".md", "# Text\n"),
    (".py", "print(1)\n"),
    (".rs", "fn f() {}\n"),
    (".sh", "echo done\n"),
    (".toml", "\n"),
    (".ts", "console.log(1);\n"),
    (".txt", "text\n"),
];

/// The tree on the disk, taken away again at the end.
pub(super) struct World {
    root: PathBuf,
    /// Nothing is in the project, and nothing is left in it.
    empty: bool,
}

impl World {
    /// A tree with what these commands name; without any, an empty one.
    pub(super) fn new<'c>(commands: Option<impl Iterator<Item = &'c str>>) -> Result<Self> {
        let root = std::env::temp_dir().join(format!("holdpoint-stops-{}", std::process::id()));
        let empty = commands.is_none();
        let world = Self { root, empty };
        let project = world.on_disk(PROJECT).context("the project has a place")?;
        fs::create_dir_all(&project).context("a scratch tree")?;
        fs::create_dir_all(world.root.join("tmp"))?;
        let usual: &[(&str, &str)] = if empty { &[] } else { &USUAL };
        for (name, text) in usual {
            write(&project.join(name), text)?;
        }
        let all: Vec<Named> = commands
            .into_iter()
            .flatten()
            .flat_map(named_files)
            .collect();
        // What a command makes was not there before.
        let made: BTreeSet<&str> = (all.iter().filter(|one| one.made))
            .map(|one| one.name.as_str())
            .collect();
        for Named { name, text, .. } in &all {
            if made.contains(name.as_str()) {
                continue;
            }
            let path = project.join(name);
            // A name that is a directory's in another command is left to it.
            if fs::symlink_metadata(&path).is_err() && write(&path, text).is_err() {
                continue;
            }
        }
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A", "-f"],
            &[
                "-c",
                "user.name=dev",
                "-c",
                "user.email=dev@example.com",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "All",
            ],
        ] {
            let mut git = Command::new("git");
            let done = git.arg("-C").arg(&project).args(arguments).status()?;
            ensure!(
                done.success(),
                "git {} failed in the scratch tree",
                arguments.join(" ")
            );
        }
        Ok(world)
    }

    /// The home's stand-in, for programs that run.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Where a path lies on the disk; none if it is not faked.
    fn on_disk(&self, path: &str) -> Option<PathBuf> {
        FAKED.iter().find_map(|(tree, name)| {
            let rest = path.strip_prefix(tree)?;
            let whole = rest.is_empty() || rest.starts_with('/');
            whole.then(|| self.root.join(name).join(rest.trim_start_matches('/')))
        })
    }

    fn at(&self, path: &str) -> String {
        let there = self.on_disk(path);
        let there = there.and_then(|path| path.into_os_string().into_string().ok());
        there.unwrap_or_else(|| path.to_owned())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            eprintln!("stops: {}: {error}", self.root.display());
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(fs::write(path, text)?)
}

/// A file of the project that a command names.
struct Named {
    name: String,
    text: &'static str,
    /// The command writes it.
    made: bool,
}

/// The files of the project that a command names by words with an end that is known, each with what is in it. Those it names
/// elsewhere are not there.
fn named_files(command: &str) -> Vec<Named> {
    let of_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~');
    let mut at = 0;
    let words = command.split_inclusive(|c: char| !of_path(c));
    let found = words.filter_map(|piece| {
        let word = piece.trim_end_matches(|c: char| !of_path(c));
        let before = command.get(..at).unwrap_or_default().trim_end_matches(' ');
        let made = before.ends_with('>');
        at += piece.len();
        let roots = ["/home/dev/app/", "/app/"];
        let word = roots
            .iter()
            .find_map(|root| word.strip_prefix(root))
            .unwrap_or(word);
        let word = word.trim_start_matches("./");
        let (_, text) = TEXTS.iter().find(|(end, _)| word.ends_with(end))?;
        let stem = word.rsplit('/').next().unwrap_or_default();
        let plain = !word.starts_with(['/', '~', '.', '-'])
            && !stem.starts_with('.')
            && !word.contains("..")
            && !word.contains("//");
        plain.then(|| Named {
            name: word.to_owned(),
            text,
            made,
        })
    });
    found.collect()
}

/// What a session found at a path, or left there.
#[derive(Clone)]
enum Left {
    Directory,
    /// A file, with what is in it as far as that stands in the command.
    File(Option<String>),
    Gone,
}

/// The tree as a session sees it.
pub(super) struct SessionWorld<'w> {
    world: &'w World,
    left: BTreeMap<String, Left>,
    written: Arc<Written>,
    /// Terminals of tmux it has opened, each with what was typed there last.
    terminals: BTreeMap<String, String>,
}

impl<'w> SessionWorld<'w> {
    pub(super) fn new(world: &'w World) -> Self {
        Self {
            world,
            left: BTreeMap::new(),
            written: Arc::default(),
            terminals: BTreeMap::new(),
        }
    }

    /// Remembers what a call writes, as the engine does.
    pub(super) fn remember(&mut self, files: Vec<WrittenFile>) {
        let written = Arc::make_mut(&mut self.written);
        files.into_iter().for_each(|file| written.add(file));
    }

    /// Notes what a command leaves on the disk.
    pub(super) fn run(&mut self, line: &str, parts: &Explained) {
        if self.world.empty {
            return;
        }
        self.note_terminals(parts);
        for command in parts.commands.iter().filter(|one| one.file.is_none()) {
            let makes = command.words.first().is_some_and(|word| word == "mkdir");
            for effect in &command.effects {
                let Some(path) = effect.path.as_deref() else {
                    continue;
                };
                if self.world.on_disk(path).is_none() || path.contains(['*', '?', '…']) {
                    continue;
                }
                match effect.kind {
                    "write" if makes => self.leave(path, Left::Directory),
                    "write" | "append" if self.entry(path) != Entry::Directory => {
                        let text = here_document(line, command.span);
                        self.leave(path, Left::File(text));
                    }
                    "delete" => {
                        self.left.retain(|one, _| !is_within(one, path));
                        self.left.insert(path.to_owned(), Left::Gone);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Which terminals of tmux a line opens, and what it types there.
    fn note_terminals(&mut self, parts: &Explained) {
        for command in parts.commands.iter().filter(|one| one.file.is_none()) {
            let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["tmux", "new-session" | "new", rest @ ..] => {
                    let named = rest.windows(2).find(|pair| pair.first() == Some(&"-s"));
                    let name = named.and_then(|pair| pair.get(1)).copied().unwrap_or("0");
                    self.terminals.retain(|one, _| session_of(one) != name);
                    self.terminals.insert(name.to_owned(), String::new());
                }
                ["tmux", "kill-session", "-t", name, ..] => {
                    self.terminals.retain(|one, _| session_of(one) != *name);
                }
                ["tmux", "send-keys", "-t", name, keys, ..] => {
                    self.terminals
                        .insert((*name).to_owned(), (*keys).to_owned());
                }
                _ => {}
            }
        }
    }

    fn leave(&mut self, path: &str, what: Left) {
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        for directory in above.filter(|one| !one.is_empty()) {
            if self.entry(directory) == Entry::Missing {
                self.left.insert(directory.to_owned(), Left::Directory);
            }
        }
        self.left.insert(path.to_owned(), what);
    }

    /// What the session left at a path or above it.
    fn found(&self, path: &str) -> Option<&Left> {
        let gone = |above: &str| matches!(self.left.get(above), Some(Left::Gone));
        self.left.get(path).or_else(|| {
            let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
            above.any(gone).then_some(&Left::Gone)
        })
    }
}

/// The session of a terminal: `work` of `work:0.1`.
fn session_of(terminal: &str) -> &str {
    terminal.split(':').next().unwrap_or_default()
}

/// Programs that stay in a terminal until they are told to go.
const STAYING: &[&str] = &[
    "vim", "vi", "nano", "less", "more", "man", "top", "htop", "ssh",
];

/// The here-document of a command that stands at these places of a line, if it is to be taken as it is.
fn here_document(line: &str, span: [usize; 2]) -> Option<String> {
    let command = line.get(span[0]..span[1])?;
    let (_, behind) = command.split_once("<<")?;
    let delimiter = behind.trim_start_matches('-').trim_start();
    let delimiter = delimiter.strip_prefix(['\'', '"'])?;
    let delimiter = delimiter.split(['\'', '"']).next()?;
    let from = line.get(span[0]..)?.split_once('\n')?.1;
    let mut text = String::new();
    for one in from.lines() {
        if one.trim_start_matches('\t') == delimiter {
            return Some(text);
        }
        text.push_str(one);
        text.push('\n');
    }
    None
}

impl Lookup for SessionWorld<'_> {
    fn entry(&self, path: &str) -> Entry {
        match self.found(path) {
            Some(Left::Directory) => Entry::Directory,
            Some(Left::File(_)) => Entry::Other,
            Some(Left::Gone) => Entry::Missing,
            // On the disk the way to the stand-ins may be links; the faked trees have none above them.
            None if is_within(HOME, path) => Entry::Directory,
            None => Disk.entry(&self.world.at(path)),
        }
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        match self.found(path) {
            Some(Left::File(Some(text))) if text.len() <= most => FileText::Text(text.clone()),
            Some(Left::File(Some(_))) => FileText::TooLarge,
            Some(Left::File(None)) => FileText::Text(String::new()),
            Some(Left::Directory) => FileText::Unreadable,
            Some(Left::Gone) => FileText::Missing,
            None => Disk.read(&self.world.at(path), most),
        }
    }

    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        let listed = match self.found(path) {
            Some(Left::File(_) | Left::Gone) => return None,
            Some(Left::Directory) => Disk.names(&self.world.at(path), most).unwrap_or_default(),
            None => Disk.names(&self.world.at(path), most)?,
        };
        let mut names: BTreeMap<String, bool> = listed.into_iter().collect();
        for (one, left) in &self.left {
            let Some(name) = one
                .strip_prefix(path)
                .and_then(|rest| rest.strip_prefix('/'))
            else {
                continue;
            };
            match left {
                _ if name.contains('/') => {}
                Left::Directory => _ = names.insert(name.to_owned(), true),
                Left::File(_) => _ = names.insert(name.to_owned(), false),
                Left::Gone => _ = names.remove(name),
            }
        }
        (names.len() <= most).then(|| names.into_iter().collect())
    }

    fn tracking(&self, path: &str) -> Tracking {
        let on_disk = Disk.tracking(&self.world.at(path));
        match (self.left.get(path), on_disk) {
            (Some(_), Tracking::Committed) => Tracking::Changed,
            (_, tracking) => tracking,
        }
    }

    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        match self.found(path) {
            Some(_) => None,
            None => Disk.twin(&self.world.at(path)),
        }
    }

    fn is_own(&self, path: &str) -> bool {
        let made = |one: &str| {
            matches!(self.left.get(one), Some(Left::Directory | Left::File(_)))
                && Disk.entry(&self.world.at(one)) == Entry::Missing
        };
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        made(path) || above.any(|one| !one.is_empty() && made(one))
    }

    fn is_own_terminal(&self, terminal: &str) -> bool {
        let typed = self.terminals.get(terminal).map_or("", String::as_str);
        // What is typed to an editor stays in it, until it is told to go.
        let stays = typed
            .split(' ')
            .next()
            .is_some_and(|program| STAYING.contains(&program));
        let edits = typed.starts_with([':', '/']) && !matches!(typed, ":q" | ":wq" | ":q!" | ":x");
        let opened = self
            .terminals
            .keys()
            .any(|one| session_of(one) == session_of(terminal));
        opened && !stays && !edits
    }

    fn has_opened_terminal(&self, terminal: &str) -> bool {
        let session = session_of(terminal);
        self.terminals.keys().any(|one| session_of(one) == session)
    }

    fn written(&self) -> Arc<Written> {
        Arc::clone(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_project_are_named_by_their_ends() {
        let found = named_files(
            "cat src/a.py ./b.md /etc/c.txt ../d.sh ~/e.sh .f.json > /home/dev/app/g.txt",
        );
        let names: Vec<(&str, bool)> =
            (found.iter().map(|one| (one.name.as_str(), one.made))).collect();
        assert_eq!(
            names,
            [("src/a.py", false), ("b.md", false), ("g.txt", true)]
        );
    }

    #[test]
    fn a_here_document_is_what_stands_up_to_its_end() {
        let line = "cat > a << 'E'\nx\ny\nE\nls";
        assert_eq!(here_document(line, [0, 14]).as_deref(), Some("x\ny\n"));
        assert_eq!(here_document("cat > a << E\nx\nE", [0, 12]), None);
    }

    #[test]
    fn what_a_session_leaves_is_found_and_nothing_of_what_it_deletes() {
        let world = World::new(Some(["cat src/a.py"].into_iter())).unwrap();
        let mut session = SessionWorld::new(&world);
        assert_eq!(session.entry("/home/dev/app/src/a.py"), Entry::Other);
        assert_eq!(
            session.tracking("/home/dev/app/src/a.py"),
            Tracking::Committed
        );
        session.leave("/tmp/x/y", Left::File(None));
        assert_eq!(session.entry("/tmp/x"), Entry::Directory);
        assert_eq!(
            session.names("/tmp/x", 5).unwrap(),
            [("y".to_owned(), false)]
        );
        session
            .left
            .insert("/home/dev/app/src".to_owned(), Left::Gone);
        assert_eq!(session.entry("/home/dev/app/src/a.py"), Entry::Missing);
    }
}
