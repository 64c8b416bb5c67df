//! Scripts that are run from files: followed into the file where it can be read and is small.
//!
//! Promises that writing a script and running it is no way around: what the text itself writes
//! into a file is what running the file runs, and a file that is there already is read. A file
//! that is there and is not followed to its end is marked with the reason. One that is not there
//! runs nothing, and a compiled program is what it is, unless the text itself brings it along.

use std::rc::Rc;
use std::sync::Arc;

use super::code;
use super::commands::{FileRead, Wrapping};
use super::environment::{Origin, joined};
use super::files::{Content, Disturbance, Written};
use super::refusal::Refusal;
use super::unwrapping::Unwrapped;
use super::walk::{Start, opaque_origin, parameters};
use crate::budget::{MAX_FILE, Resource};
use crate::call::digest_of;
use crate::code::Language;
use crate::opaque::Reason;
use crate::paths::{FileText, Unresolved, is_within};

/// Commands taken from one file; whoever runs a longer script is asked about it.
const MAX_COMMANDS: usize = 1500;

/// Directories of programs that are installed: nobody writes those to get around a rule.
const INSTALLED: &[&str] = &["/bin", "/lib", "/opt", "/sbin", "/snap", "/usr"];

/// What a file that is run turned out to be.
enum Found {
    /// A text, and the file it stands in, if it is on the disk.
    Text {
        text: Arc<str>,
        path: Option<Arc<str>>,
    },
    /// Text that comes from there.
    From(Origin),
    /// A program of the system's, with nothing to read in it.
    Compiled,
    /// It is there and is not read, or it is not what it was.
    Unread(Reason),
    /// It is not there.
    Missing,
}

/// Who asks for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// Something that runs it.
    Runner,
    /// A build or a package manager, which runs code by its nature whatever was checked out.
    Project,
}

impl Unwrapped<'_, '_> {
    /// Lists what the shell script named by a word does.
    pub(super) fn follow_script(&mut self, at: usize) -> Result<(), Refusal> {
        let Some(path) = self.known(at).map(str::to_owned) else {
            return Ok(());
        };
        for found in self.look_up(&path, Asks::Runner) {
            self.run_found(found, at, None)?;
        }
        Ok(())
    }

    /// Lists what the program of a command does, if it is a script.
    pub(super) fn follow_program(&mut self) -> Result<(), Refusal> {
        let Some(path) = self.known(0).map(str::to_owned) else {
            return Ok(());
        };
        // `/usr/../tmp/x` begins like an installed program and is none.
        let installed = !path.split('/').any(|part| part == "..")
            && INSTALLED
                .iter()
                .any(|directory| is_within(&path, directory));
        if installed {
            return Ok(());
        }
        let all = if path.contains('/') {
            self.look_up(&path, Asks::Runner)
        } else {
            self.look_up_in_search_path(&path)
        };
        for found in all {
            let language = match &found {
                Found::Text { text, .. } => match interpreter_of(text) {
                    Interpreter::Shell => None,
                    Interpreter::Code(language) => Some(language),
                    Interpreter::Other => continue,
                },
                Found::From(_) | Found::Compiled | Found::Unread(_) | Found::Missing => None,
            };
            self.run_found(found, 0, language)?;
        }
        Ok(())
    }

    /// Lists what a script in another language does, named by a word.
    pub(super) fn follow_code(&mut self, at: usize, language: Language) -> Result<(), Refusal> {
        let Some(path) = self.known(at).map(str::to_owned) else {
            return Ok(());
        };
        for found in self.look_up(&path, Asks::Runner) {
            self.run_found(found, at, Some(language))?;
        }
        Ok(())
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

    /// The texts a file of the project may hold, relative to where the command runs, each with the
    /// file's name if it is on the disk. What of it cannot be known is marked.
    pub(super) fn project_file(&mut self, name: &str) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        let mut texts = Vec::new();
        for found in self.look_up(name, Asks::Project) {
            match found {
                Found::Text { text, path } => texts.push((text, path)),
                Found::From(origin) => {
                    self.mark(opaque_origin(Some(origin), Reason::ChangedBefore));
                }
                Found::Compiled => self.mark(Reason::NotText),
                Found::Unread(reason) => self.mark(reason),
                Found::Missing => {}
            }
        }
        texts
    }

    /// Everything a file may be when it is run.
    fn look_up(&mut self, path: &str, asks: Asks) -> Vec<Found> {
        let files = Rc::clone(&self.listing.environment.files);
        if files.is_empty() {
            return self.look_up_on_disk(path);
        }
        let names = self.listing.environment.names_of(path);
        let written = names.iter().find_map(|name| files.get(name));
        let written = written.or_else(|| {
            let real = self.real(path)?;
            files
                .names()
                .find(|(name, _)| self.real_name(name).as_deref() == Some(real.as_str()))
                .map(|(_, file)| file)
        });
        let mut all = match written {
            Some(file) => self.look_up_written(path, file),
            None => self.look_up_on_disk(path),
        };
        if asks == Asks::Project {
            return all;
        }
        let since = written.map_or(0, |file| file.at);
        for disturbed in files.disturbed() {
            let is_text = all.iter().any(|found| matches!(found, Found::Text { .. }));
            let counts = match disturbed.how {
                Disturbance::Unpacked => true,
                // What is not under the project's control is not touched.
                Disturbance::CheckedOut => is_text,
            };
            if counts && disturbed.at >= since && self.is_below(&names, disturbed.below.as_deref())
            {
                all.push(Found::Unread(Reason::ChangedBefore));
                break;
            }
        }
        all
    }

    /// What a file is that the text wrote.
    fn look_up_written(&mut self, path: &str, file: &Written) -> Vec<Found> {
        let mut all: Vec<Found> = Vec::new();
        if file.doubtful {
            all.extend(self.look_up_on_disk(path));
        }
        let mut edited = false;
        for content in &file.contents {
            match content {
                Content::Known(text) => all.push(Found::Text {
                    text: Arc::clone(text),
                    path: None,
                }),
                Content::Same(other) => all.extend(self.look_up_name(other)),
                Content::From(Origin::Elsewhere) => {
                    all.push(Found::Unread(Reason::ChangedBefore));
                }
                Content::From(origin) => all.push(Found::From(*origin)),
                Content::Edited => edited = true,
            }
        }
        // Where nothing is, nothing is edited.
        let there = all.iter().any(|found| !matches!(found, Found::Missing));
        if edited && there {
            all.push(Found::Unread(Reason::ChangedBefore));
        }
        all
    }

    /// Whether a file is below a directory that was changed.
    fn is_below(&self, names: &[String], below: Option<&str>) -> bool {
        let Some(below) = below else {
            return true;
        };
        names.iter().any(|name| {
            let relative = !name.starts_with(['/', '~']) && !name.starts_with("..");
            (below.is_empty() && relative)
                || is_within(name, below)
                || match (self.real_name(name), self.real_name(below)) {
                    (Some(name), Some(below)) => is_within(&name, &below),
                    _ => false,
                }
        })
    }

    /// Where a path leads, if the shell is in one directory.
    fn real(&self, path: &str) -> Option<String> {
        let names = self.listing.environment.names_of(path);
        self.real_name(names.first()?)
    }

    /// Where a path that was put together with its directory leads.
    fn real_name(&self, name: &str) -> Option<String> {
        let around = self.listing.around?;
        let name = if name.is_empty() { "." } else { name };
        if self.listing.budget().spend(Resource::Steps, 16).is_err() {
            self.listing.budget().overrun();
            return None;
        }
        around.resolve(name).ok()
    }

    /// A name is looked up where the text itself says programs are.
    fn look_up_in_search_path(&mut self, name: &str) -> Vec<Found> {
        let search = Rc::clone(&self.listing.environment.search);
        for directory in search.iter() {
            let all = self.look_up(&joined(directory, name), Asks::Runner);
            if all.iter().any(|found| !matches!(found, Found::Missing)) {
                return all;
            }
        }
        Vec::new()
    }

    /// What is on the disk now, in every directory the shell may be in.
    fn look_up_on_disk(&mut self, path: &str) -> Vec<Found> {
        let names = self.listing.environment.names_of(path);
        let mut all = Vec::new();
        for name in &names {
            all.extend(self.look_up_name(name));
        }
        all
    }

    /// What is on the disk now at a path that was put together with its directory.
    fn look_up_name(&mut self, name: &str) -> Option<Found> {
        let around = self.listing.around?;
        let real = match around.resolve(name) {
            Ok(real) => real,
            Err(Unresolved::Unreadable) => return Some(Found::Unread(Reason::CannotRead)),
            // It may lead to a file by more steps than are taken.
            Err(Unresolved::TooLong) => return Some(Found::Unread(Reason::OverBudget)),
            Err(
                Unresolved::NoDirectory
                | Unresolved::NoHome
                | Unresolved::OtherHome
                | Unresolved::Nul,
            ) => return None,
        };
        let text = match self.listing.texts.get(&real) {
            Some(text) => text.clone(),
            None => {
                let text = around.lookup.read(&real, MAX_FILE);
                self.listing.texts.insert(real.clone(), text.clone());
                if let FileText::Text(text) = &text {
                    let budget = self.listing.budget();
                    let spent = budget.spend(Resource::Files, 1);
                    if spent
                        .and_then(|()| budget.spend(Resource::FileBytes, text.len()))
                        .is_err()
                    {
                        self.listing.texts.insert(real, FileText::TooLarge);
                        return Some(Found::Unread(Reason::OverBudget));
                    }
                }
                text
            }
        };
        let text = match text {
            FileText::Text(text) => text,
            FileText::Compiled => return Some(Found::Compiled),
            FileText::TooLarge => return Some(Found::Unread(Reason::TooLarge)),
            FileText::NotText => return Some(Found::Unread(Reason::NotText)),
            FileText::Unreadable => return Some(Found::Unread(Reason::CannotRead)),
            FileText::Missing | FileText::NotRead => return Some(Found::Missing),
        };
        let file = FileRead {
            path: real,
            digest: digest_of(text.as_bytes()),
        };
        if !self.listing.files.contains(&file) {
            self.listing.files.push(file);
        }
        Some(Found::Text {
            text: Arc::from(text),
            path: Some(Arc::from(name)),
        })
    }

    fn run_found(
        &mut self,
        found: Found,
        at: usize,
        language: Option<Language>,
    ) -> Result<(), Refusal> {
        let (text, path) = match found {
            Found::Missing => return Ok(()),
            // What is installed, committed or built is run as what it is; what the text brings
            // along was found before.
            Found::Compiled => return Ok(()),
            Found::Unread(reason) => {
                self.mark(reason);
                return Ok(());
            }
            Found::From(origin) => {
                self.mark(opaque_origin(Some(origin), Reason::ChangedBefore));
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
        let walked = walk(self).and_then(|()| self.listing.checked(&(0..0)));
        self.listing.file = outer;
        let too_many = self.listing.commands.len() > before + MAX_COMMANDS;
        if walked.is_ok() && !too_many {
            return Ok(());
        }
        self.mark(Reason::OverBudget);
        self.listing.commands.truncate(before);
        self.listing.restore(saved);
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
