//! Scripts that are run from files: followed into the file where it can be read and is small.
//!
//! Promises that writing a script and running it is no way around: what the text itself writes
//! into a file is what running the file runs, and a file that is there already is read. A file
//! that cannot be followed is marked, or left alone where its name says all there is to know.

use std::rc::Rc;
use std::sync::Arc;

use super::code;
use super::commands::{FileRead, Opaque, Wrapping};
use super::environment::{Content, Origin, joined};
use super::refusal::Refusal;
use super::unwrapping::Unwrapped;
use super::walk::{Start, opaque_origin, parameters};
use crate::call::digest_of;
use crate::code::Language;
use crate::paths::{Entry, is_within};

/// Longest file followed.
const LONGEST: usize = 1 << 18;
/// Most files followed for one text.
const MOST_FILES: usize = 16;
/// Most commands taken from one file; a longer script is asked about.
const MOST_COMMANDS: usize = 1500;

/// Directories of programs that are installed: nobody writes those to get around a rule.
const INSTALLED: &[&str] = &["/bin", "/lib", "/opt", "/sbin", "/snap", "/usr"];

/// What a file that is run turned out to be.
enum Found {
    Text {
        text: Arc<str>,
        path: Option<Arc<str>>,
    },
    From(Origin),
    /// It is there and cannot be read, or not all of it.
    Unreadable,
    Nothing,
}

impl Unwrapped<'_, '_> {
    /// Lists what the shell script named by a word does.
    pub(super) fn follow_script(&mut self, at: usize) -> Result<(), Refusal> {
        let Some(path) = self.known(at).map(str::to_owned) else {
            return Ok(());
        };
        let found = self.look_up(&path);
        self.run_found(found, at, None)
    }

    /// Lists what the program of a command does, if it is a script.
    pub(super) fn follow_program(&mut self) -> Result<(), Refusal> {
        let Some(path) = self.known(0).map(str::to_owned) else {
            return Ok(());
        };
        let installed = INSTALLED
            .iter()
            .any(|directory| is_within(&path, directory));
        if installed {
            return Ok(());
        }
        let found = if path.contains('/') {
            self.look_up(&path)
        } else {
            self.look_up_in_search_path(&path)
        };
        let language = match &found {
            Found::Text { text, .. } => match interpreter_of(text) {
                Interpreter::Shell => None,
                Interpreter::Code(language) => Some(language),
                Interpreter::Other => return Ok(()),
            },
            // A program that is no text is what it is.
            Found::Unreadable => return Ok(()),
            Found::From(_) | Found::Nothing => None,
        };
        self.run_found(found, 0, language)
    }

    /// Lists what a script in another language does, named by a word.
    pub(super) fn follow_code(&mut self, at: usize, language: Language) -> Result<(), Refusal> {
        let Some(path) = self.known(at).map(str::to_owned) else {
            return Ok(());
        };
        let found = self.look_up(&path);
        self.run_found(found, at, Some(language))
    }

    /// Lists lines a file of a project says are run.
    pub(super) fn follow_lines(
        &mut self,
        path: Option<&Arc<str>>,
        lines: &[String],
    ) -> Result<(), Refusal> {
        let span = self
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        let start = Start {
            in_shell: false,
            ..self.start.clone()
        };
        let place = self.place;
        self.in_file(path, |command| {
            for line in lines {
                command
                    .listing
                    .known_code(place, Wrapping::Commanding, line, &span, &start)?;
            }
            Ok(())
        })
    }

    /// The text of a file of the project, relative to where the command runs, and its name if it
    /// is on the disk.
    pub(super) fn project_file(&mut self, name: &str) -> Option<(Arc<str>, Option<Arc<str>>)> {
        match self.look_up(name) {
            Found::Text { text, path } => Some((text, path)),
            Found::From(_) | Found::Unreadable | Found::Nothing => None,
        }
    }

    fn look_up(&mut self, path: &str) -> Found {
        match self.listing.environment.content(path) {
            Some(Content::Known(text)) => {
                return Found::Text {
                    text: Arc::clone(text),
                    path: None,
                };
            }
            Some(Content::Same(other)) if other != path => {
                let other = other.clone();
                return self.look_up_on_disk(&other);
            }
            Some(Content::From(Origin::Elsewhere) | Content::Same(_)) | None => {}
            Some(Content::From(origin)) => return Found::From(*origin),
        }
        self.look_up_on_disk(path)
    }

    /// A name is looked up where the text itself says programs are.
    fn look_up_in_search_path(&mut self, name: &str) -> Found {
        let search = Rc::clone(&self.listing.environment.search);
        for directory in search.iter() {
            let found = self.look_up(&joined(directory, name));
            if !matches!(found, Found::Nothing) {
                return found;
            }
        }
        Found::Nothing
    }

    fn look_up_on_disk(&mut self, path: &str) -> Found {
        let Some(around) = self.listing.around else {
            return Found::Nothing;
        };
        let directory = Arc::clone(&self.listing.environment.directory);
        if self.listing.files.len() >= MOST_FILES {
            return Found::Nothing;
        }
        let text = directory.places.iter().find_map(|directory| {
            let real = around.resolve(&joined(directory, path)).ok()?;
            let text = around.lookup.text(&real, LONGEST)?;
            Some((real, text))
        });
        let Some((real, text)) = text else {
            let there = directory.places.iter().any(|directory| {
                let real = around.resolve(&joined(directory, path));
                real.is_ok_and(|real| around.lookup.entry(&real) == Entry::Other)
            });
            return if there && around.lookup.reads() {
                Found::Unreadable
            } else {
                Found::Nothing
            };
        };
        let file = FileRead {
            path: real,
            digest: digest_of(text.as_bytes()),
        };
        if !self.listing.files.contains(&file) {
            self.listing.files.push(file);
        }
        Found::Text {
            text: Arc::from(text),
            path: Some(Arc::from(path)),
        }
    }

    fn run_found(
        &mut self,
        found: Found,
        at: usize,
        language: Option<Language>,
    ) -> Result<(), Refusal> {
        let (text, path) = match found {
            Found::Nothing => return Ok(()),
            Found::Unreadable => {
                self.mark(Opaque::Unreadable);
                return Ok(());
            }
            Found::From(origin) => {
                self.mark(opaque_origin(Some(origin), Opaque::PipedIntoShell));
                return Ok(());
            }
            Found::Text { text, path } => (text, path),
        };
        let span = self
            .words
            .get(at)
            .map_or(0..0, |word| word.text.span.clone());
        if let Some(language) = language {
            return self.in_file(path.as_ref(), |command| {
                code::run(command, language, &text, &span, code::Source::File)
            });
        }
        let start = Start {
            positional: parameters(self.rest(at + 1)),
            ..self.start.clone()
        };
        let place = self.place;
        self.in_file(path.as_ref(), |command| {
            command
                .listing
                .known_code(place, Wrapping::Commanding, &text, &span, &start)
        })
    }

    /// Walks with the commands that are found marked as a file's. A file that is too much is
    /// marked and otherwise left alone: it must not make the whole text unreadable.
    fn in_file(
        &mut self,
        path: Option<&Arc<str>>,
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Some(path) = path else {
            return walk(self);
        };
        let before = self.listing.commands.len();
        let outer = self.listing.file.replace(Arc::clone(path));
        let saved = self.listing.save();
        let walked = walk(self);
        self.listing.file = outer;
        let too_many = self.listing.commands.len() > before + MOST_COMMANDS;
        if walked.is_err() || too_many {
            self.listing.commands.truncate(before);
            self.listing.restore(saved);
            self.mark(Opaque::TooDeep);
        }
        Ok(())
    }
}

enum Interpreter {
    Shell,
    Code(Language),
    Other,
}

/// What the first line of a script says runs it.
fn interpreter_of(text: &str) -> Interpreter {
    let Some(first) = text.strip_prefix("#!").and_then(|rest| rest.lines().next()) else {
        // Without such a line the shell runs it itself.
        return Interpreter::Shell;
    };
    let program = first
        .split_whitespace()
        .filter_map(|word| word.rsplit('/').next())
        .find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))
        .unwrap_or_default();
    if ["sh", "bash", "dash", "zsh", "ksh", "ash"].contains(&program) {
        return Interpreter::Shell;
    }
    match code::language(program) {
        Some(language) => Interpreter::Code(language),
        None => Interpreter::Other,
    }
}
