//! Reading a file that is loaded, by what is in it.

use std::sync::Arc;

use super::{authors::Author, search::Candidate, search::RESERVED_FILES, search::Search};
use crate::budget::Resource;
use crate::code::Language;
use crate::opaque::Reason;
use crate::paths::base_name;
use crate::project_files::pattern::Pattern;
use crate::project_files::{CommandLines, compose, literals, manifest, package_json, settings};
use crate::rules::{FORMATS, Reader, SHELLS};
use crate::shell::code::{self, Source};
use crate::shell::commands::Wrapping;
use crate::shell::consoles;
use crate::shell::input::Input;
use crate::shell::interpreters;
use crate::shell::reader::read;
use crate::shell::refusal::Refusal;
use crate::shell::scripts::{self, Asks, ScriptSource};
use crate::shell::texts::Argument;
use crate::shell::unwrapping::Unwrapped;
use crate::shell::walk::{Start, opaque_origin};

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

impl Unwrapped<'_, '_> {
    /// Reads what was found, and what that names.
    pub(super) fn read_all(
        &mut self,
        search: &mut Search<'_>,
        read_before: &[String],
        name: &str,
    ) -> Result<(), Refusal> {
        // An interpreter's script has been followed, whoever wrote it.
        let followed = interpreters::is_interpreter(name);
        let judged = |candidate: &Candidate| {
            // Not what it has read in a language that is none of its own.
            // Nor settings, which it may have been read for names in.
            let format = format_of(base_name(&candidate.real));
            let other = candidate.real.ends_with(".ipynb")
                || format.is_some_and(|reader| !is_code(reader))
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
        // What these name, and what that names; each file is wanted once.
        loop {
            let named = std::mem::take(&mut search.wanted);
            if named.is_empty() {
                break;
            }
            for candidate in &named {
                self.load_file(search, candidate, judged(candidate))?;
            }
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
                    if candidate.author.is_agent()
                        && names_files(&candidate.real)
                        && let Some((directory, _)) = candidate.real.rsplit_once('/')
                        && search.named_in(&text, directory)
                        && !candidate.spare
                    {
                        self.mark(Reason::OverBudget);
                    }
                    if judged && first && candidate.author != Author::Person {
                        let path = path.unwrap_or_else(|| Arc::from(candidate.shown.as_str()));
                        self.read_loaded(search.row.language, candidate, &text, &path)?;
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
    pub(super) fn read_loaded(
        &mut self,
        language: Option<Reader>,
        candidate: &Candidate,
        text: &str,
        path: &Arc<str>,
    ) -> Result<(), Refusal> {
        let asks = candidate.author.is_agent() && !candidate.spare;
        if candidate.author.is_agent() {
            self.recipe(&candidate.real, text);
        }
        // What is left out of a file may be what would have been refused, whoever wrote it.
        let counts = !candidate.spare;
        let fallback = language.filter(|_| candidate.told);
        let reader = reader_of(base_name(&candidate.real), text, fallback);
        // `swipl x.pl`: what runs it says in which language it is, whatever its name says.
        if fallback == Some(Reader::Unread) && reader.is_some_and(is_code) {
            self.load_lines(path, &literals::read(text).lines)?;
        }
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
                // `nx run app:test` and `concurrently npm:test` name a script behind something else.
                let words: Vec<&str> = self
                    .rest(1)
                    .iter()
                    .filter_map(|word| word.known())
                    .flat_map(|word| [word, word.rsplit(':').next().unwrap_or(word)])
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
                self.load_settings(path, &settings::command_lines(text), counts)?;
                // Some settings are a language of their own: `run-shell '…'`, `process { script: '…' }`.
                return self.load_lines(path, &literals::read(text).lines);
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
            own: candidate.author.is_agent(),
            decodes: DECODING.iter().any(|word| text.contains(word)),
            migrates: MIGRATING.iter().any(|part| candidate.real.contains(part)),
        };
        let quiet = !REMARKABLE.iter().any(|word| text.contains(word));
        let outer = std::mem::replace(&mut self.listing.quiet, quiet);
        let walked = self.in_file(Some(path), |command| {
            code::run(command, language, text, &span, source, Some(path.as_ref()))
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
                own: asks,
                decodes: DECODING.iter().any(|word| source.contains(word)),
                migrates: false,
            };
            self.in_file(Some(path), |command| {
                let python = consoles::notebook(command, &source, &word)?;
                code::run(
                    command,
                    Language::Python,
                    &python,
                    &span,
                    source_of,
                    Some(path.as_ref()),
                )
            })?;
        }
        Ok(())
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

/// Whether a file is settings, which name other files, whatever they are written in.
fn names_files(real: &str) -> bool {
    let name = base_name(real);
    let settings = matches!(
        format_of(name),
        Some(Reader::Package | Reader::Compose | Reader::Lines)
    );
    (settings && !name.ends_with(".md"))
        || name.contains(".config.")
        || name.ends_with("rc.js")
        || (name.starts_with("requirements") && name.ends_with(".txt"))
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

/// How a file is read: by its first line, its name, or what its runner says.
pub(super) fn reader_of(name: &str, text: &str, fallback: Option<Reader>) -> Option<Reader> {
    if let Some(program) = scripts::named_interpreter(text) {
        if SHELLS.contains(program) {
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
pub(super) fn format_of(name: &str) -> Option<Reader> {
    FORMATS
        .iter()
        .find(|(_, names)| names.iter().any(|one| Pattern(one).matches(name)))
        .map(|(reader, _)| *reader)
}

/// Whether what is read so is a program, not settings.
pub(super) fn is_code(reader: Reader) -> bool {
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
