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

use super::reader::read;
use super::refusal::{Refusal, RefusalReason};
use super::texts::Argument;
use super::walk;

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
    /// Why what it runs cannot be known, if so.
    pub opaque: Option<Opaque>,
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

/// Why what a command runs cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opaque {
    /// The program is an expansion or a pattern.
    DynamicProgram,
    /// Code, or what decides where a wrapped command begins, is an expansion.
    DynamicCode,
    /// A shell reads its code from a pipe, a file or an expansion.
    PipedIntoShell,
    /// Code in a language this reader does not read.
    InlineCode,
    /// An interpreter reads its code from input.
    ScriptFromInput,
    /// A variable, option or setting makes the program run something else.
    ExecutableSetting,
    /// Code that stands in the text and that the reader refuses.
    Unreadable,
    /// The command is wrapped deeper than the reader follows.
    TooDeep,
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
        self.text.rsplit('/').next().filter(|name| !name.is_empty())
    }
}

/// Every command a bash text could run.
pub fn commands(text: &str) -> Result<Vec<Command>, Refusal> {
    let script = read(text)?;
    walk::script(&script, text)
}

/// Every command that starting a program with these words could run. The words are literal:
/// no shell reads them. Spans count bytes of the words joined by one space.
pub fn commands_of_words(words: &[&str]) -> Result<Vec<Command>, Refusal> {
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
    walk::words(arguments)
}
