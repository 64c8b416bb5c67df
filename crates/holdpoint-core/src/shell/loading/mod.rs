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
mod authors;
mod contents;
mod fetched;
mod given;
mod handed;
mod named_files;
mod search;
mod streams;

use std::collections::HashSet;

use super::commands::Reached;
use super::input::Input;
use super::interpreters;
use super::launchers;
use super::refusal::Refusal;
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use super::wrappers;
use crate::opaque::Reason;
use crate::paths::{Entry, base_name, installed_name};
use crate::project_files::manifest;
use crate::project_files::pattern::Pattern;
use crate::rules::{self, LOADS, Loads, Reader, SHELLS};
use authors::{Author, author};
use search::{MAX_WALKED, Search};
pub(super) use streams::is_streamed;

/// Lists what a program loads of the project's files.
pub(super) fn load(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    load_by_table(command, name)?;
    // What is known to be loaded is judged as that, and was read by now.
    handed::suppose(command, name);
    fetched::list(command, name)
}

/// Lists what the table says a program loads.
fn load_by_table(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    // `pytest-3`, `python3.12`
    let stem =
        name.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | '-'));
    let Some(rows) = rules::loads(name).or_else(|| rules::loads(stem)) else {
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
    let Some(rows) = script.and_then(|script| rules::loads(base_name(script))) else {
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

/// Whether a program is given by a path that is none of the system's: it is a file that is read itself. A path that goes
/// up and down again below the system's directories is still one of its programs.
pub(crate) fn is_file_of_somebody(path: &str) -> bool {
    let of_system = ["/usr/", "/bin/", "/sbin/"]
        .iter()
        .any(|front| path.starts_with(front));
    installed_name(path).contains('/') && !of_system
}

/// Whether what a program starts is listed by a reader of its own.
fn is_followed(name: &str) -> bool {
    SHELLS.contains(name)
        || matches!(name, "." | "source")
        || launchers::is_launcher(name)
        || interpreters::is_interpreter(name)
        || wrappers::find(name, None).is_some()
}

/// Whether a program loads files of a project.
pub(super) fn is_loader(name: &str) -> bool {
    rules::loads(name).is_some()
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
        let asked =
            |word: &Argument| matches!(word.unquoted(), "--help" | "--version" | "-h" | "-V");
        let undescribed = unknown
            && rules::program(name).is_none()
            // A line of settings may be anything; what stands in a file is answered for with it.
            && self.listing.file.is_none()
            && !name.contains([':', ' '])
            && !self.is_module()
            && !self.is_function(name)
            && !self.known(0).is_some_and(is_file_of_somebody)
            && !self.rest(1).iter().any(asked);
        let mut search = Search {
            row,
            unknown: unknown.then(|| name.to_owned()),
            undescribed,
            patterns: Vec::new(),
            around,
            written: around.lookup.written(),
            roots: bases.clone(),
            bases,
            texts: Vec::new(),
            streams: Vec::new(),
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
        self.read_streams(&search)?;
        search.remembered();
        // Paths that are not kept can only be met on the disk.
        if !row.remembered || !search.written.sealed.is_empty() {
            search.on_disk();
        }
        self.named_by_manifests(&mut search);
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

    /// Whether the line has a function of this name, which the shell runs in place of a program.
    fn is_function(&self, name: &str) -> bool {
        let commands = &self.listing.commands;
        let by_shell = match commands.get(self.place).map(|command| command.reached) {
            Some(Reached::Directly | Reached::Substituted) => true,
            // What these are given the shell itself runs.
            Some(Reached::Within { wrapper, .. }) => {
                let wrapper = commands.get(wrapper);
                // A shell of its own has the functions its text defines.
                let defined = format!("{name}()");
                let defines = wrapper.is_some_and(|command| {
                    let mut words = command.words.iter().skip(1);
                    command
                        .program()
                        .is_some_and(|shell| SHELLS.contains(shell))
                        && words.any(|word| word.text.contains(&defined))
                });
                let program = wrapper.and_then(|command| command.program());
                defines || matches!(program, Some("eval" | "source" | "." | "trap"))
            }
            None => false,
        };
        by_shell && self.listing.environment.functions.contains_key(name)
    }

    /// Whether it is a module an interpreter runs, which is read as that.
    fn is_module(&self) -> bool {
        let commands = &self.listing.commands;
        let Some(Reached::Within { wrapper, .. }) =
            commands.get(self.place).map(|command| &command.reached)
        else {
            return false;
        };
        let by = commands.get(*wrapper).and_then(|by| by.words.first());
        by.is_some_and(|program| interpreters::is_interpreter(base_name(&program.text)))
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

    /// Whether the session is known to have written a file, whatever git says of it.
    fn is_remembered(&self, path: &str) -> bool {
        let Some(around) = self.listing.around else {
            return false;
        };
        let Ok(real) = around.resolve(path) else {
            return false;
        };
        around.lookup.written().files.contains_key(&real) || self.written_in_line().contains(&real)
    }

    /// Whether a file is the person's for sure.
    pub(super) fn is_persons(&self, path: &str) -> bool {
        let Some(around) = self.listing.around else {
            return false;
        };
        let Ok(real) = around.resolve(path) else {
            return false;
        };
        let written = around.lookup.written();
        author(around, &written, &self.written_in_line(), &real) == Author::Person
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

    fn span(&self) -> super::tree::Span {
        let first = self.words.first();
        first.map_or(0..0, |word| word.text.span.clone())
    }
}
