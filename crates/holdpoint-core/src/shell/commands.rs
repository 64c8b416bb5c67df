//! The commands a text would run.
//!
//! [`commands`] lists every simple command bash could come to run: in every branch, in
//! substitutions wherever they stand, in function bodies, in code handed to a shell, and
//! those that wrappers such as `sudo` or `xargs` start. Which of them would really run is not
//! asked. What cannot be known is marked on the command that hides it, never left out.
//!
//! The vocabulary is here; `walk` goes through the tree and `unwrapping` knows what programs
//! start other programs. What the commands are worth is left to policy.

use std::ops::Range;
use std::sync::Arc;

use super::environment::Whereabouts;
use super::reader::read;
use super::refusal::{Refusal, RefusalReason};
use super::texts::Argument;
use super::walk;
use crate::budget::Budget;
use crate::opaque::Opaque;
use crate::paths::{Surroundings, base_name, is_within};

/// The most commands a line may run; nobody reads a longer one before saying yes to it. The list of one
/// with more is longer than this and not complete, and whoever judges it refuses the line.
pub(crate) const MAX_COMMANDS: usize = 2000;

/// A command that would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Where it stands in the text; for code held by a word, where that word stands.
    pub span: Range<usize>,
    /// The assignments in front of it.
    pub assignments: Vec<Assignment>,
    /// Program and arguments; empty for a command that only assigns or redirects.
    pub words: Vec<Text>,
    /// Its redirects.
    pub redirects: Vec<Redirection>,
    /// How it comes to run.
    pub reached: Reached,
    /// What it does that cannot be known, and why; empty if all of it is.
    pub opaque: Vec<Opaque>,
    /// Where it runs.
    pub directory: Arc<Whereabouts>,
    /// The text it reads on its standard input, if that is known.
    pub input: Option<Arc<str>>,
    /// The script file it stands in, if it was found by following one.
    pub file: Option<Arc<str>>,
    /// That file is one a program loads of its own accord, such as a test: what it does to places it
    /// computes says nothing about it.
    pub loaded: bool,
    /// The commands whose output it reads, by their places in the list.
    pub fed_by: Range<usize>,
    /// The file system it sees, if that is not this machine's.
    pub container: Option<Arc<Container>>,
    /// Of a command that runs code: all of that was read to the end, so that all it does is in the commands found in it.
    pub whole: Option<bool>,
}

/// A file system of its own, with directories of this machine in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Container {
    /// Where a directory of this machine stands in it: there, then here.
    pub mounts: Vec<(String, String)>,
    /// The directory commands start in, if it is known.
    pub directory: Option<String>,
}

impl Container {
    /// What a path inside is on this machine, if it is anything here.
    pub(crate) fn on_host(&self, path: &str) -> Option<String> {
        let inside = match (&self.directory, path.starts_with('/')) {
            (_, true) => path.to_owned(),
            (Some(directory), false) => super::environment::joined(directory, path),
            (None, false) => return None,
        };
        let inside = tidy(&inside);
        self.mounts.iter().find_map(|(there, here)| {
            let there = tidy(there);
            // All of a directory above a mount is all of the mount, too.
            if is_within(
                there.trim_end_matches('/'),
                inside.trim_end_matches(['*', '/']),
            ) {
                return Some(here.clone());
            }
            let rest = inside.strip_prefix(there.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{here}{rest}"))
        })
    }
}

/// A path without `.` and `..`.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// A script that was followed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileRead {
    /// Its real path.
    pub path: String,
    /// `sha256:…` of its content.
    pub digest: String,
}

/// What a text would run, and the scripts that were read to know it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// The commands.
    pub commands: Vec<Command>,
    /// The scripts.
    pub files: Vec<FileRead>,
    /// Lines a command may run besides, each with its place in the list: texts of code that starts what is not
    /// known.
    pub may_run: Vec<(usize, String)>,
}

/// `name=value` in front of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The value.
    pub value: Text,
}

/// A word after quote removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text, or the source where it is dynamic.
    pub text: String,
    /// It depends on an expansion or on input.
    pub dynamic: bool,
    /// It holds an unquoted `*`, `?` or `[…]`.
    pub glob: bool,
    /// What is known of a dynamic word as a path: [`UNKNOWN`](super::UNKNOWN) stands for the rest.
    pub pattern: Option<String>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A redirect of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What it does.
    pub kind: RedirectionKind,
    /// The file, the descriptor, or the text of a here-document or here-string.
    pub target: Text,
    /// It is for what is printed about errors: `2>`.
    pub of_errors: bool,
}

/// What a redirect does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectionKind {
    /// Reads a file.
    Read,
    /// Writes a file.
    Write,
    /// Appends to a file.
    Append,
    /// Opens a file for both.
    ReadWrite,
    /// Writes a file even if it must not be overwritten.
    Clobber,
    /// Reads text that stands in the command.
    HereDocument,
    /// Reads a word of the command.
    HereString,
    /// Copies or closes a descriptor.
    Duplicate,
}

impl RedirectionKind {
    /// How a redirect that writes a file is written; none for the others.
    #[must_use]
    pub fn writing_sign(self) -> Option<&'static str> {
        match self {
            RedirectionKind::Write | RedirectionKind::Clobber => Some(">"),
            RedirectionKind::Append => Some(">>"),
            RedirectionKind::ReadWrite => Some("<>"),
            RedirectionKind::Read
            | RedirectionKind::HereDocument
            | RedirectionKind::HereString
            | RedirectionKind::Duplicate => None,
        }
    }
}

/// How a command comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reached {
    /// By the shell that reads the text.
    Directly,
    /// By another command.
    Within {
        /// The place in the list of the command that runs this one.
        wrapper: usize,
        /// What kind of wrapper that is.
        how: Wrapping,
    },
    /// For its output or channel: `$(…)`, `` `…` ``, `<(…)`.
    Substituted,
}

/// What a program that runs another one is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrapping {
    /// Adds nothing of its own: `timeout`, `nice`, `nohup`.
    Transparent,
    /// Is allowed for other reasons and here runs a command: `find -exec`, `xargs`, `env`.
    Incidental,
    /// Exists to run that command: `sudo`, `sh -c`, `ssh`, `docker exec`.
    Commanding,
}

impl Command {
    /// The program's name without its directory, if it is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Text::program)
    }

    /// The words with one space between them.
    #[must_use]
    pub fn line(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        words.join(" ")
    }
}

impl Text {
    /// The last part of a path that is fully known.
    pub(super) fn program(&self) -> Option<&str> {
        if self.dynamic || self.glob {
            return None;
        }
        Some(base_name(&self.text)).filter(|name| !name.is_empty())
    }
}

/// Every command a bash text could run.
pub fn commands(text: &str) -> Result<Vec<Command>, Refusal> {
    Ok(commands_in(text, None, &Budget::new())?.commands)
}

/// Every command a bash text could run in these surroundings, scripts it names included.
pub fn commands_in(
    text: &str,
    around: Option<&Surroundings<'_>>,
    budget: &Budget,
) -> Result<Listed, Refusal> {
    let script = read(text)?;
    walk::script(&script, text, around, budget)
}

/// Every command that starting a program with these words could run. The words are literal:
/// no shell reads them. Spans count bytes of the words joined by one space.
pub fn commands_of_words(words: &[&str]) -> Result<Vec<Command>, Refusal> {
    Ok(commands_of_words_in(words, None, &Budget::new())?.commands)
}

/// The same in these surroundings, scripts the words name included.
pub fn commands_of_words_in(
    words: &[&str],
    around: Option<&Surroundings<'_>>,
    budget: &Budget,
) -> Result<Listed, Refusal> {
    let mut arguments = Vec::new();
    let mut at = 0usize;
    for word in words {
        if let Some(nul) = word.bytes().position(|byte| byte == 0) {
            return Err(Refusal {
                reason: RefusalReason::NulByte,
                at: at + nul,
            });
        }
        arguments.push(Argument::literal(word, at..at + word.len()));
        at += word.len() + 1;
    }
    walk::words(arguments, around, budget)
}
