//! Code that lies in the project: what test runners, task runners and interpreters load of their own
//! accord, and what those files load in turn.
//!
//! What a repository has committed is the person's and is left alone. What the session wrote, or what
//! git says is untracked or changed, is the agent's words: it is read here and judged like code in the
//! call itself, and what of it cannot be read is marked. Which files a program loads stands in
//! `programs.toml`. Where there is no repository nobody knows who wrote what: files a program looks for
//! by name are then read for what they do, but not asked about for being unreadable.
//!
//! Files that are merely in reach, because something could import them, count when they are named by
//! what is loaded, when the project had them before, or when what is loaded finds code by computed names.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::code::{self, Source};
use super::commands::Wrapping;
use super::consoles;
use super::files::tidy;
use super::input::Input;
use super::interpreters;
use super::launchers;
use super::reader::read;
use super::refusal::Refusal;
use super::scripts::{Asks, ScriptSource};
use super::texts::Argument;
use super::unwrapping::{SHELLS, Unwrapped};
use super::walk::{Start, opaque_origin};
use super::wrappers;
use crate::budget::{MAX_FILES, Resource};
use crate::code::Language;
use crate::opaque::Reason;
use crate::paths::{Entry, Surroundings, Tracking, Written, base_name, is_within};
use crate::project_files::pattern::Pattern;
use crate::project_files::{CommandLines, compose, literals, manifest, package_json, settings};
use crate::rules::{FORMATS, LOADERS, LOADS, Loads, Reader};

/// Entries of directories that are looked at for one command, those nearest to where it runs first: each is
/// a look at the disk, and so many take some milliseconds. Of what lies beyond, only what the session remembers
/// counts; where its memory has gaps, what lies beyond is a question ([`Search::cut`]).
const MAX_WALKED: usize = 1500;
/// Files kept for what the agent wrote, when what the person wrote is read for the names in it. Half of what is
/// read for a call: what is loaded is rarely more.
const RESERVED_FILES: usize = MAX_FILES / 2;
/// Files and directories a command may name that are looked up: each is some looks at the disk. A command
/// that names more is a question.
const MAX_GIVEN: usize = 512;

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

/// By what code comes to a user's home or the root: with one of these in it, a place it computes may
/// be one of them.
const REMARKABLE: &[&str] = &[
    "HOME",
    "home()",
    "homedir",
    "expanduser",
    "USERPROFILE",
    "getpwuid",
    "Dir.home",
    "'~",
    "\"~",
    "'/'",
    "\"/\"",
    "'/home",
    "\"/home",
    "os.sep",
    "path.sep",
    "anchor",
];

/// Where the steps lie by which a database is changed.
const MIGRATING: &[&str] = &[
    "/migrate/",
    "/migration/",
    "/migrations/",
    "/seeders/",
    "/seeds/",
    "/versions/",
];

/// By what code takes a text out of a code nobody reads.
const DECODING: &[&str] = &[
    "b64decode",
    "b32decode",
    "b16decode",
    "a85decode",
    "base64",
    "fromhex",
    "unhexlify",
    "codecs",
    "rot13",
    "rot_13",
    "zlib",
    "marshal",
    "chr(",
    "atob",
    "fromCharCode",
    "Buffer.from",
    "[::-1]",
    "reverse()",
    "unpack",
    "Base64",
    "pack(",
];

/// A file a command may load.
#[derive(Debug, Clone)]
struct Candidate {
    /// Its real path.
    real: String,
    /// How it is named to the command, relative to where that runs if it lies below.
    shown: String,
    author: Author,
    /// It was found by walking, and the session does not remember it: that it cannot be read is no
    /// news.
    spare: bool,
    /// Who loads it says how to read it, if its name does not.
    told: bool,
}

/// Whose words a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    /// The agent's, in a file the project had before.
    AgentChanged,
    /// The agent's, in a file of its own.
    AgentNew,
    /// The agent's, where nobody knows what the project had.
    AgentUnplaced,
    /// Nobody knows.
    Unknown,
    /// The person's.
    Person,
}

impl Author {
    /// Whether what cannot be read is asked about.
    fn is_agent(self) -> bool {
        match self {
            Author::AgentChanged | Author::AgentNew | Author::AgentUnplaced => true,
            Author::Unknown | Author::Person => false,
        }
    }
}

/// Lists what a program loads of the project's files.
pub(super) fn load(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let Some(rows) = rows_of(name).or_else(|| rows_of(stem)) else {
        return match is_followed(name) || crate::supposed::is_data(name) {
            true => Ok(()),
            // Nobody has said what it does with the files it is given.
            false => command.load_row(&UNKNOWN, name),
        };
    };
    for row in rows.iter().filter_map(|at| LOADS.get(*at)) {
        if command.holds(row) {
            command.load_row(row, name)?;
        }
    }
    // `python manage.py`, `php artisan`, `node node_modules/.bin/jest`: the script is the runner.
    let script = match interpreters::is_interpreter(name) {
        true => command.rest(1).iter().find_map(|word| word.known()),
        false => None,
    };
    let Some(rows) = script.and_then(|script| rows_of(base_name(script))) else {
        return Ok(());
    };
    for row in rows.iter().filter_map(|at| LOADS.get(*at)) {
        command.load_row(row, name)?;
    }
    Ok(())
}

/// What a program nobody has described may load: code it is given, and files named after itself.
static UNKNOWN: Loads = Loads {
    operand: true,
    ..Loads::NONE
};

/// Whether what a program starts is listed by a reader of its own.
fn is_followed(name: &str) -> bool {
    SHELLS.contains(&name)
        || matches!(name, "." | "source")
        || launchers::is_launcher(name)
        || interpreters::is_interpreter(name)
        || wrappers::find(name, None).is_some()
}

/// The rows about a program.
fn rows_of(name: &str) -> Option<&'static [usize]> {
    let at = LOADERS.binary_search_by(|(known, _)| known.cmp(&name));
    at.ok()
        .and_then(|at| LOADERS.get(at))
        .map(|(_, rows)| *rows)
}

/// Whether a program loads files of a project.
pub(super) fn is_loader(name: &str) -> bool {
    rows_of(name).is_some()
}

/// What the search for one command's files goes by.
struct Search<'a> {
    row: &'static Loads,
    /// The program, if nobody has said which files it looks for.
    unknown: Option<String>,
    /// Names with stars that the command is given.
    patterns: Vec<String>,
    around: &'a Surroundings<'a>,
    written: Arc<Written>,
    /// Where the command runs.
    bases: Vec<String>,
    /// Directories files are looked for in.
    roots: Vec<String>,
    /// Texts of what is loaded, the command's own words among them.
    texts: Vec<Arc<str>>,
    /// Files that are loaded by name.
    wanted: Vec<Candidate>,
    /// Files that may be loaded by these.
    reach: Vec<Candidate>,
    known: HashSet<String>,
    /// Files the line itself writes, by real path.
    in_line: Vec<String>,
    walked: usize,
    /// Something on the disk was not looked at.
    cut: bool,
    /// Something that is run for where it lies was not looked at.
    unlisted: bool,
    /// Something that is loaded was not read for the names in it.
    unread: bool,
}

impl Unwrapped<'_, '_> {
    /// Whether a row speaks of this command.
    fn holds(&self, row: &Loads) -> bool {
        let mut operands = Vec::new();
        for word in self.rest(1) {
            let text = word.unquoted();
            if matches!(text, "--help" | "--version") || row.without.contains(&text) {
                return false;
            }
            if operands.len() < 3 && (!text.starts_with('-') || row.subcommand.contains(&text)) {
                operands.push(text);
            }
        }
        row.subcommand.is_empty() || operands.iter().any(|word| row.subcommand.contains(word))
    }

    fn load_row(&mut self, row: &'static Loads, name: &str) -> Result<(), Refusal> {
        let Some(around) = self.listing.around else {
            return Ok(());
        };
        let bases: Vec<String> = self.listing.environment.names_of(".");
        let bases: Vec<String> = bases
            .iter()
            .filter_map(|base| {
                let base = if base.is_empty() { "." } else { base };
                around.resolve(base).ok()
            })
            .collect();
        if bases.is_empty() {
            return Ok(());
        }
        let unknown = std::ptr::eq(row, &UNKNOWN);
        let mut search = Search {
            row,
            unknown: unknown.then(|| name.to_owned()),
            patterns: Vec::new(),
            around,
            written: around.lookup.written(),
            roots: bases.clone(),
            bases,
            texts: Vec::new(),
            wanted: Vec::new(),
            reach: Vec::new(),
            known: HashSet::new(),
            in_line: self.written_in_line(),
            walked: 0,
            cut: false,
            unlisted: false,
            unread: false,
        };
        self.command_texts(&mut search);
        let read_before = self.given_files(&mut search);
        search.remembered();
        // Paths that are not kept can only be met on the disk.
        if !row.remembered || !search.written.sealed.is_empty() {
            search.on_disk();
        }
        self.read_all(&mut search, &read_before, name)?;
        if row.language == Some(Reader::Manifest) {
            self.manifest_in_input(row)?;
        }
        // What the session is known to have written was found without looking around.
        if search.unlisted || (search.cut && search.written.has_gaps()) {
            self.mark(Reason::OverBudget);
        }
        Ok(())
    }

    /// A manifest on the input is the agent's words, whoever typed it.
    fn manifest_in_input(&mut self, row: &Loads) -> Result<(), Refusal> {
        let mut words = self.rest(1).iter().map(|word| word.unquoted());
        let mut told = false;
        let reads = words.any(|word| {
            let before = std::mem::replace(&mut told, row.flags.contains(&word));
            (before && word == "-") || matches!(word, "-f-" | "-f=-" | "--filename=-")
        });
        match self.start.input.clone() {
            Input::Known(text) if reads => {
                let found = manifest::commands(&text);
                if found.cut {
                    self.mark(Reason::OverBudget);
                }
                self.follow_lines(None, &found.lines)
            }
            Input::Known(_)
            | Input::Partly(_)
            | Input::Unknown(_)
            | Input::Inherited
            | Input::Empty => Ok(()),
        }
    }

    /// Whether a file holds the agent's words: the session or the line wrote it, or git says that it is
    /// not what was committed.
    pub(super) fn is_agents(&self, path: &str) -> bool {
        let Some(around) = self.listing.around else {
            return false;
        };
        let Ok(real) = around.resolve(path) else {
            return true;
        };
        let written = around.lookup.written();
        author(around, &written, &self.written_in_line(), &real).is_agent()
    }

    /// The files a name with stars stands for, below a directory. More than are listed are a question: all of
    /// them are run.
    pub(super) fn names_like(&mut self, directory: Option<&str>, name: &str) -> Vec<String> {
        let Some(around) = self.listing.around.filter(|_| name.contains(['*', '?'])) else {
            return vec![name.to_owned()];
        };
        let (below, last) = name.rsplit_once('/').unwrap_or(("", name));
        let place = match directory {
            Some(directory) => super::environment::joined(directory, below),
            None => below.to_owned(),
        };
        let place = self.listing.environment.names_of(&place);
        let mut names = Vec::new();
        for place in &place {
            let place = if place.is_empty() { "." } else { place };
            let Ok(real) = around.resolve(place) else {
                continue;
            };
            match around.lookup.names(&real, MAX_WALKED) {
                Some(more) => names.extend(more),
                None if around.lookup.entry(&real) == Entry::Directory => {
                    self.mark(Reason::OverBudget);
                }
                None => {}
            }
        }
        let names = names.into_iter().map(|(name, _)| name);
        names
            .filter(|name| Pattern(last).matches(name))
            .map(|name| match below {
                "" => name,
                below => format!("{below}/{name}"),
            })
            .collect()
    }

    /// The files commands before this one write.
    fn written_in_line(&self) -> Vec<String> {
        let files = &self.listing.environment.files;
        files
            .names()
            // What this command itself leaves behind comes after it has loaded anything.
            .filter(|(_, file)| file.at < self.place)
            .filter_map(|(name, _)| self.listing.around?.resolve(name).ok())
            .collect()
    }

    /// The command's own words may name what it loads: `python -c 'import x'`.
    fn command_texts(&self, search: &mut Search<'_>) {
        let words: Vec<&str> = self.rest(1).iter().map(|word| word.unquoted()).collect();
        search.texts.push(Arc::from(words.join(" ")));
        search.patterns = words
            .iter()
            // What only reads or changes files is given them, too.
            .filter(|_| search.row.operand)
            .filter(|word| word.contains('*') && word.contains('.') && !word.contains(' '))
            .map(|word| word.trim_start_matches("./").to_owned())
            .take(MAX_GIVEN)
            .collect();
        // `PYTEST_PLUGINS=x`, `FLASK_APP=x`.
        if let Some(command) = self.listing.commands.get(self.place) {
            for assignment in &command.assignments {
                search.texts.push(Arc::from(assignment.value.text.as_str()));
            }
        }
        match &self.start.input {
            Input::Known(text) => search.texts.push(Arc::clone(text)),
            Input::Partly(partial) => search.texts.push(Arc::from(&*partial.written)),
            Input::Unknown(_) | Input::Inherited | Input::Empty => {}
        }
    }

    /// Finds the files the command's words name; those that were followed already come back.
    fn given_files(&mut self, search: &mut Search<'_>) -> Vec<String> {
        let row = search.row;
        let mut names: Vec<(String, bool)> = Vec::new();
        let mut operands = 0;
        let mut at = 1;
        while let Some(word) = self.words.get(at) {
            at += 1;
            let text = word.unquoted();
            let (flag, glued) = match text.split_once('=') {
                Some((flag, value)) if text.starts_with('-') => (flag, Some(value)),
                _ => (text, None),
            };
            // `-m pytest`, or `-mpytest`.
            let glued_module = row
                .module
                .filter(|module| module.len() == 2 && !text.starts_with("--"))
                .and_then(|module| text.strip_prefix(module))
                .filter(|module| !module.is_empty());
            if row.module == Some(flag) || glued_module.is_some() {
                let next = || self.words.get(at).map(|word| word.unquoted());
                if let Some(module) = glued_module.or_else(next) {
                    let files = module_files(module);
                    names.extend(files.into_iter().map(|file| (file, true)));
                }
                // What follows is the module's.
                break;
            }
            if row.flags.contains(&flag) {
                let value = glued.or_else(|| self.words.get(at).map(|next| next.unquoted()));
                names.extend(value.map(|value| (value.to_owned(), true)));
                // Its value is no operand.
                at += usize::from(glued.is_none());
                continue;
            }
            // `-nf FILE`
            let bundled = |flag: &&&str| {
                let letters = text.strip_prefix('-').unwrap_or_default();
                flag.len() == 2
                    && (2..=4).contains(&letters.len())
                    && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && letters.ends_with(flag.trim_start_matches('-'))
            };
            if !text.starts_with("--") && row.flags.iter().any(|flag| bundled(&flag)) {
                let value = self.words.get(at).map(|next| next.unquoted());
                names.extend(value.map(|value| (value.to_owned(), true)));
            }
            let short = row
                .flags
                .iter()
                .find(|flag| flag.len() == 2 && text.len() > 2 && text.starts_with(**flag));
            if let Some(flag) = short {
                let value = text.get(flag.len()..);
                names.extend(value.map(|value| (value.to_owned(), true)));
                continue;
            }
            if let Some(value) = glued.filter(|_| search.unknown.is_some()) {
                names.push((value.to_owned(), false));
            }
            if row.operand && !text.starts_with('-') && !row.subcommand.contains(&text) {
                // `tests/test_x.py::test_it`
                let path = text.split_once("::").map_or(text, |(path, _)| path);
                // The first is run; the others may be anything it is given.
                names.push((path.to_owned(), operands == 0 && search.unknown.is_none()));
                operands += 1;
            }
        }
        if row.language == Some(Reader::Compose)
            && let Some(command) = self.listing.commands.get(self.place)
        {
            let set = command.assignments.iter();
            let files = set.filter(|one| one.name == "COMPOSE_FILE");
            let files = files.flat_map(|one| one.value.text.split(':'));
            names.extend(files.map(|file| (file.to_owned(), true)));
        }
        if names.len() > MAX_GIVEN {
            self.mark(Reason::OverBudget);
            names.truncate(MAX_GIVEN);
        }
        let before: Vec<String> = self
            .listing
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect();
        for (name, told) in names {
            for path in self.listing.environment.names_of(&name) {
                search.given(&path, told);
            }
        }
        before
    }

    /// Reads what was found, and what that names.
    fn read_all(
        &mut self,
        search: &mut Search<'_>,
        read_before: &[String],
        name: &str,
    ) -> Result<(), Refusal> {
        // An interpreter's script has been followed, whoever wrote it.
        let followed = interpreters::is_interpreter(name);
        let judged = |candidate: &Candidate| {
            // Not what it has read in a language that is none of its own.
            let other = candidate.real.ends_with(".ipynb")
                || (candidate.real.ends_with(".lua")
                    && code::language(name) == Some(Language::Vim));
            !(followed && !other && read_before.contains(&candidate.real))
        };
        // The person's come last: they are only read for the names in them, and take from what may be read.
        let wanted = std::mem::take(&mut search.wanted);
        let (persons, agents): (Vec<Candidate>, Vec<Candidate>) = wanted
            .into_iter()
            .partition(|one| one.author == Author::Person);
        for candidate in &agents {
            self.load_file(search, candidate, judged(candidate))?;
        }
        self.read_reached(search)?;
        for candidate in &persons {
            if search.reach.is_empty() {
                break;
            }
            let left = self.listing.budget().left(Resource::Files);
            if left <= search.reach.len().min(RESERVED_FILES) {
                search.unread = true;
                break;
            }
            self.load_file(search, candidate, judged(candidate))?;
        }
        self.read_reached(search)
    }

    /// Reads what is in reach of what was read, and what that brings into reach.
    fn read_reached(&mut self, search: &mut Search<'_>) -> Result<(), Refusal> {
        loop {
            let left = std::mem::take(&mut search.reach);
            let (now, later): (Vec<Candidate>, Vec<Candidate>) =
                left.into_iter().partition(|one| search.reaches(one, self));
            search.reach = later;
            if now.is_empty() {
                return Ok(());
            }
            for candidate in &now {
                self.load_file(search, candidate, true)?;
            }
        }
    }

    fn load_file(
        &mut self,
        search: &mut Search<'_>,
        candidate: &Candidate,
        judged: bool,
    ) -> Result<(), Refusal> {
        let key = (
            candidate.real.clone(),
            search.bases.first().cloned().unwrap_or_default(),
        );
        let first = self.listing.loaded.insert(key);
        // Reading it would say that there is nothing left to read it with.
        if candidate.spare && self.listing.budget().left(Resource::Files) == 0 {
            search.cut = true;
            return Ok(());
        }
        for found in self.look_up(&candidate.shown, Asks::Project) {
            let reason = match found {
                ScriptSource::Text { text, path } => {
                    search.texts.push(Arc::clone(&text));
                    if judged && first && candidate.author != Author::Person {
                        let path = path.unwrap_or_else(|| Arc::from(candidate.shown.as_str()));
                        self.read_loaded(search.row, candidate, &text, &path)?;
                    }
                    continue;
                }
                ScriptSource::Built | ScriptSource::Missing => continue,
                ScriptSource::Compiled => Reason::NotText,
                ScriptSource::Unread(reason) => reason,
                ScriptSource::From(origin) => opaque_origin(Some(origin), Reason::ChangedBefore),
            };
            let is_code = format_of(base_name(&candidate.real)).is_some();
            if judged && candidate.author.is_agent() && !candidate.spare && is_code {
                self.mark(reason);
            }
        }
        Ok(())
    }

    /// Lists what a file that is loaded does.
    fn read_loaded(
        &mut self,
        row: &Loads,
        candidate: &Candidate,
        text: &str,
        path: &Arc<str>,
    ) -> Result<(), Refusal> {
        let asks = candidate.author.is_agent() && !candidate.spare;
        // What is left out of a file may be what would have been refused, whoever wrote it.
        let counts = !candidate.spare;
        let fallback = row.language.filter(|_| candidate.told);
        let reader = reader_of(base_name(&candidate.real), text, fallback);
        if candidate.real.ends_with(".ipynb") {
            return self.load_notebook(text, path, asks);
        }
        let language = match reader {
            Some(Reader::Python) => Language::Python,
            Some(Reader::Javascript) => Language::JavaScript,
            Some(Reader::Ruby) => Language::Ruby,
            Some(Reader::Perl) => Language::Perl,
            Some(Reader::Php) => Language::Php,
            Some(Reader::Lua) => Language::Lua,
            Some(Reader::Awk) => Language::Awk,
            Some(Reader::Vim) => Language::Vim,
            Some(Reader::Sed) => {
                if asks && interpreters::sed_runs(text) {
                    self.mark(Reason::InlineCode);
                }
                return Ok(());
            }
            Some(Reader::Shell) => return self.load_shell(text, path, asks),
            Some(Reader::Package) => {
                let words: Vec<&str> = self
                    .rest(1)
                    .iter()
                    .filter_map(|word| word.known())
                    .collect();
                let Ok(lines) = package_json::lines_for(text, &words) else {
                    // Some managers read more than JSON.
                    if asks {
                        self.mark(Reason::Unreadable);
                    }
                    return Ok(());
                };
                return self.load_lines(path, &lines);
            }
            Some(Reader::Compose) => {
                return self.load_settings(path, &compose::commands(text), counts);
            }
            Some(Reader::Manifest) => {
                return self.load_settings(path, &manifest::commands(text), counts);
            }
            Some(Reader::Lines) => {
                return self.load_settings(path, &settings::command_lines(text), counts);
            }
            Some(reader @ (Reader::Literals | Reader::Unread)) => {
                let found = literals::read(text);
                if asks && found.hidden && reader == Reader::Unread {
                    self.mark(Reason::InlineCode);
                }
                if counts && found.cut {
                    self.mark(Reason::OverBudget);
                }
                return self.load_lines(path, &found.lines);
            }
            None => return Ok(()),
        };
        let span = self.span();
        let source = Source::Loaded {
            asks,
            decodes: DECODING.iter().any(|word| text.contains(word)),
            migrates: MIGRATING.iter().any(|part| candidate.real.contains(part)),
        };
        let quiet = !REMARKABLE.iter().any(|word| text.contains(word));
        let outer = std::mem::replace(&mut self.listing.quiet, quiet);
        let walked = self.in_file(Some(path), |command| {
            code::run(command, language, text, &span, source)
        });
        self.listing.quiet = outer;
        walked
    }

    /// The code cells of a notebook: Python, with lines for a shell in it.
    fn load_notebook(&mut self, text: &str, path: &Arc<str>, asks: bool) -> Result<(), Refusal> {
        let Ok(notebook) = serde_json::from_str::<serde_json::Value>(text) else {
            if asks {
                self.mark(Reason::Unreadable);
            }
            return Ok(());
        };
        let cells = notebook.get("cells").and_then(|cells| cells.as_array());
        let code = cells.into_iter().flatten().filter(|cell| {
            let kind = cell.get("cell_type").and_then(|kind| kind.as_str());
            kind.is_none_or(|kind| kind == "code")
        });
        for cell in code.filter_map(|cell| cell.get("source")) {
            let mut source = String::new();
            crate::understand::collect_texts(cell, &mut |text| source.push_str(text));
            let word = Argument::literal("", self.span());
            let span = self.span();
            let source_of = Source::Loaded {
                asks,
                decodes: DECODING.iter().any(|word| source.contains(word)),
                migrates: false,
            };
            self.in_file(Some(path), |command| {
                let python = consoles::notebook(command, &source, &word)?;
                code::run(command, Language::Python, &python, &span, source_of)
            })?;
        }
        Ok(())
    }

    fn span(&self) -> super::tree::Span {
        let first = self.words.first();
        first.map_or(0..0, |word| word.text.span.clone())
    }

    fn load_shell(&mut self, text: &str, path: &Arc<str>, asks: bool) -> Result<(), Refusal> {
        let functions = path.ends_with(".bats").then(|| with_functions(text));
        let text = functions.as_deref().unwrap_or(text);
        if read(text).is_err() {
            if asks {
                self.mark(Reason::Unreadable);
            }
            return Ok(());
        }
        let start = Start {
            in_shell: false,
            positional: None,
            input: Input::Empty,
            ..self.start.clone()
        };
        let (place, span) = (self.place, self.span());
        self.in_file(Some(path), |command| {
            command
                .listing
                .known_code(place, Wrapping::Commanding, text, &span, &start)
        })
    }

    /// Settings hold much that is no command; what no shell reads is none.
    fn load_settings(
        &mut self,
        path: &Arc<str>,
        found: &CommandLines,
        counts: bool,
    ) -> Result<(), Refusal> {
        if counts && found.cut {
            self.mark(Reason::OverBudget);
        }
        self.load_lines(path, &found.lines)
    }

    fn load_lines(&mut self, path: &Arc<str>, lines: &[String]) -> Result<(), Refusal> {
        let lines: Vec<String> = lines
            .iter()
            .filter(|line| read(line).is_ok())
            .cloned()
            .collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.follow_lines(Some(path), &lines)
    }
}

impl Search<'_> {
    /// A path the command names: a file, a directory with one in it, or one without its ending.
    fn given(&mut self, path: &str, told: bool) {
        let Ok(real) = self.around.resolve(path) else {
            return;
        };
        // A file that is merely given is loaded if it is code; data it is given says nothing.
        let name = base_name(&real);
        let row = self.row;
        let loaded = || {
            told || format_of(name).is_some_and(is_code)
                || row.reach.iter().any(|one| Pattern(one).last_matches(name))
        };
        if self.unknown.is_some() && !self.is_agents_own(&real) {
            return;
        }
        match self.around.lookup.entry(&real) {
            // What an unknown program does with a directory nobody knows.
            Entry::Directory if self.unknown.is_some() => {}
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

    fn root(&mut self, directory: String) {
        if directory.len() > 1 && !self.roots.contains(&directory) {
            self.roots.push(directory);
        }
    }

    /// Notes that a file is loaded, if it is there; `told` if who loads it says how to read it.
    fn want(&mut self, real: &str, told: bool) {
        let there = self.in_line.iter().any(|path| path == real)
            || matches!(
                self.around.lookup.entry(real),
                Entry::Other | Entry::Link(_) | Entry::Unreadable
            );
        if !there || !self.known.insert(real.to_owned()) {
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

    fn candidate(&self, real: &str, author: Author, spare: bool) -> Candidate {
        let relative = self.bases.first().and_then(|base| relative(real, base));
        Candidate {
            real: real.to_owned(),
            shown: relative.unwrap_or(real).to_owned(),
            author,
            spare,
            told: false,
        }
    }

    /// Whether a file holds the agent's words for sure: where there is no repository, only what the session
    /// or the line wrote does.
    fn is_agents_own(&self, real: &str) -> bool {
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
        head.eq_ignore_ascii_case(program) && format_of(file).is_some()
    }

    fn is_remembered(&self, real: &str) -> bool {
        self.written.holds(real) || self.in_line.iter().any(|path| path == real)
    }

    fn author(&self, real: &str) -> Author {
        author(self.around, &self.written, &self.in_line, real)
    }

    /// What the session wrote, and what the line itself writes.
    fn remembered(&mut self) {
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
    fn on_disk(&mut self) {
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
            for pattern in self.row.files {
                if !pattern.contains("**") {
                    let parts: Vec<&str> = pattern.split('/').collect();
                    self.expand(root, &parts);
                }
            }
            self.walk(root);
        }
    }

    /// What is in a directory, as far as there is still to be looked at.
    fn names(&mut self, directory: &str) -> Vec<(String, bool)> {
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

    /// Looks into the directories below one: into all of them if files are looked for at any depth,
    /// else into those what is loaded names.
    fn walk(&mut self, root: &str) {
        let wide = !self.patterns.is_empty()
            || self.row.files.iter().any(|pattern| pattern.contains("**"));
        if !wide && self.row.reach.is_empty() {
            return;
        }
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
        (reached && (wide || self.is_named(stem_of(path)))).then_some(Place::Reach)
    }

    fn is_named(&self, word: &str) -> bool {
        self.texts.iter().any(|text| has_word(text, word))
    }

    /// Whether what is loaded comes to a file.
    fn reaches(&self, candidate: &Candidate, command: &Unwrapped<'_, '_>) -> bool {
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
        self.is_named(stem_of(&candidate.real))
            // What was not read may name it.
            || (own && self.unread)
            || (own
                && self
                    .texts
                    .iter()
                    .any(|text| COMPUTED.iter().any(|word| has_word(text, word))))
    }
}

/// Whose words a file holds.
fn author(around: &Surroundings<'_>, written: &Written, in_line: &[String], real: &str) -> Author {
    author_by(around.lookup.tracking(real), written, in_line, real)
}

/// Whose words a file holds, by how it stands to its repository.
fn author_by(tracking: Tracking, written: &Written, in_line: &[String], real: &str) -> Author {
    let session = written.holds(real)
        || (tracking == Tracking::NoRepository && written.holds_around(real))
        || in_line.iter().any(|path| path == real)
        || (written.more && tracking == Tracking::NoRepository);
    match (tracking, session) {
        // The session may have written it and put it into the repository.
        (Tracking::Committed, false) if written.more => Author::Unknown,
        (Tracking::Committed, false) => Author::Person,
        (Tracking::Committed | Tracking::Changed, _) => Author::AgentChanged,
        (Tracking::Untracked, _) => Author::AgentNew,
        (Tracking::NoRepository, true) => Author::AgentUnplaced,
        (Tracking::NoRepository, false) => Author::Unknown,
    }
}

/// Where a file lies to whoever loads files.
#[derive(Clone, Copy)]
enum Place {
    /// It is looked for by name.
    Looked,
    /// Something may load it.
    Reach,
}

/// A path below a directory.
fn relative<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}

/// What a module's name may lead to.
fn module_files(module: &str) -> Vec<String> {
    let path = tidy(&module.replace('.', "/"));
    let mut files = vec![
        format!("{path}.py"),
        format!("{path}/__init__.py"),
        format!("{path}/__main__.py"),
    ];
    if let Some((package, _)) = path.split_once('/') {
        files.push(format!("{package}/__init__.py"));
    }
    files
}

/// The name other code has for a file: its own without the ending, or its directory's.
fn stem_of(path: &str) -> &str {
    let name = base_name(path);
    let stem = match name
        .char_indices()
        .skip(1)
        .find(|(_, letter)| *letter == '.')
    {
        Some((dot, _)) => name.get(..dot).unwrap_or(name),
        None => name,
    };
    if matches!(stem, "__init__" | "__main__" | "index" | "mod" | "init") {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        return base_name(directory);
    }
    stem
}

/// A file of bats with its tests as blocks: `@test "name" {`.
fn with_functions(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let test = line.trim_start().strip_prefix("@test ");
        let body = test.and_then(|test| test.rfind('{').and_then(|at| test.get(at..)));
        // A test on one line has its braces in it.
        let body = match (test, body) {
            (Some(test), Some(_)) => test.split_once("\" ").or_else(|| test.split_once("' ")),
            _ => None,
        };
        plain.push_str(body.map_or(line, |(_, body)| body));
        plain.push('\n');
    }
    plain
}

/// Whether a word stands in a text by itself.
fn has_word(text: &str, word: &str) -> bool {
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

/// How a file is read: by its first line, its name, or what its runner says.
fn reader_of(name: &str, text: &str, fallback: Option<Reader>) -> Option<Reader> {
    if let Some(program) = super::scripts::named_interpreter(text) {
        if SHELLS.contains(&program) {
            return Some(Reader::Shell);
        }
        let read = match code::language(program) {
            Some(Language::Python) => Some(Reader::Python),
            Some(Language::JavaScript) => Some(Reader::Javascript),
            Some(Language::Ruby) => Some(Reader::Ruby),
            Some(Language::Perl) => Some(Reader::Perl),
            Some(Language::Php) => Some(Reader::Php),
            Some(Language::Lua) => Some(Reader::Lua),
            Some(Language::Awk | Language::Vim | Language::PowerShell) | None => None,
        };
        if read.is_some() {
            return read;
        }
    }
    match (format_of(name), fallback) {
        // Settings of any kind are read as what loads them says.
        (Some(Reader::Lines), Some(told @ (Reader::Compose | Reader::Manifest))) => Some(told),
        (format, fallback) => format.or(fallback),
    }
}

/// How a file of a name is read.
fn format_of(name: &str) -> Option<Reader> {
    FORMATS
        .iter()
        .find(|(_, names)| names.iter().any(|one| Pattern(one).matches(name)))
        .map(|(reader, _)| *reader)
}

/// Whether what is read so is a program, not settings.
fn is_code(reader: Reader) -> bool {
    match reader {
        Reader::Python
        | Reader::Javascript
        | Reader::Ruby
        | Reader::Perl
        | Reader::Php
        | Reader::Lua
        | Reader::Awk
        | Reader::Vim
        | Reader::Sed
        | Reader::Shell => true,
        Reader::Package
        | Reader::Compose
        | Reader::Manifest
        | Reader::Lines
        | Reader::Literals
        | Reader::Unread => false,
    }
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

    #[test]
    fn a_module_is_a_file_or_a_directory() {
        assert_eq!(
            module_files("a.b"),
            [
                "a/b.py",
                "a/b/__init__.py",
                "a/b/__main__.py",
                "a/__init__.py"
            ]
        );
    }
}
