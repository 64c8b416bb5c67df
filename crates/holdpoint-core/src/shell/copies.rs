//! Programs under other names: copies and links the text itself makes, and links on the disk.
//!
//! Promises that a copy of a program runs as that program, whatever it is called. A copy made in
//! one branch counts in all that follows: it is one reading more, never one less.

use super::commands::Wrapping;
use super::refusal::Refusal;
use super::starters::is_program;
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use crate::budget::Resource;
use crate::paths::{base_name, is_within};
use crate::rules::COPIERS;

/// Directories of programs that are installed.
const INSTALLED: [&str; 5] = ["/bin", "/opt", "/sbin", "/snap", "/usr"];

/// Copies a text may make; nobody honest makes more and runs them.
const MAX_COPIES: usize = 64;

/// A program under another name.
#[derive(Debug)]
pub(super) struct Copy {
    /// Where it lies, in every directory the shell may have been in.
    names: Vec<String>,
    /// Its name without a directory.
    base: String,
    /// What it is a copy of.
    program: String,
}

/// A program's name without its version.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | '-'))
}

/// Flags of programs that copy or link which take a value.
const VALUED: [&str; 8] = [
    "-t",
    "--target-directory",
    "-S",
    "--suffix",
    "-m",
    "-o",
    "-g",
    "--mode",
];

/// Notes a copy a command makes, or lists what a copy does.
pub(super) fn follow(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    if COPIERS.contains(name) {
        command.note_copy();
        return Ok(());
    }
    let Some(path) = command.known(0) else {
        return Ok(());
    };
    let named = path.contains('/');
    if command.listing.copies.is_empty() && !named {
        return Ok(());
    }
    match command.copied_program(path, name) {
        Some(program) => command.starts_as(&program),
        None => Ok(()),
    }
}

impl Unwrapped<'_, '_> {
    fn note_copy(&mut self) {
        let mut operands: Vec<&Argument> = Vec::new();
        let mut words = self.rest(1).iter();
        while let Some(word) = words.next() {
            let text = word.unquoted();
            if VALUED.contains(&text) {
                words.next();
            } else if !text.starts_with('-') || text == "-" {
                operands.push(word);
            }
        }
        let [source, target] = operands.as_slice() else {
            return;
        };
        let Some(target) = target.known() else {
            return;
        };
        let Some(program) = self.program_at(source) else {
            return;
        };
        let base = base_name(target);
        if base.is_empty() || base == program {
            return;
        }
        let copy = Copy {
            names: self.listing.environment.names_of(target),
            base: base.to_owned(),
            program,
        };
        if self.listing.copies.len() >= MAX_COPIES {
            self.listing.budget().overrun();
        } else {
            self.listing.copies.push(copy);
        }
    }

    /// The program a word is the path of.
    fn program_at(&self, word: &Argument) -> Option<String> {
        if let Some(path) = word.known() {
            if let Some(program) = self.copied_program(path, base_name(path)) {
                return Some(program);
            }
            let name = base_name(path);
            return is_program(name).then(|| name.to_owned());
        }
        // `$(which rm)`, `` `command -v rm` ``.
        let text = word.unquoted();
        let inside = text
            .strip_prefix("$(")
            .and_then(|rest| rest.strip_suffix(')'))
            .or_else(|| text.strip_prefix('`')?.strip_suffix('`'))?;
        let mut words = inside.split_whitespace();
        let asks = [
            "which", "command", "type", "whence", "readlink", "realpath", "where",
        ];
        let name = words
            .next()
            .filter(|first| asks.contains(first))
            .and(words.next_back())?;
        let name = base_name(name);
        is_program(name).then(|| name.to_owned())
    }

    /// What a program that is not installed under its name is a copy of.
    fn copied_program(&self, path: &str, name: &str) -> Option<String> {
        let installed = !path.split('/').any(|part| part == "..")
            && INSTALLED.iter().any(|directory| is_within(path, directory));
        if installed {
            return None;
        }
        let copies = &self.listing.copies;
        if !copies.is_empty() {
            let names = self.listing.environment.names_of(path);
            let is_copy = |copy: &&Copy| match path.contains('/') {
                true => copy.names.iter().any(|one| names.contains(one)),
                false => copy.base == name,
            };
            // The last one made is the one that lies there.
            if let Some(copy) = copies.iter().rev().find(is_copy) {
                return Some(copy.program.clone());
            }
        }
        if !path.contains('/') {
            return None;
        }
        self.linked_program(path, name)
    }

    /// What a link on the disk leads to, if that is a program that is installed.
    fn linked_program(&self, path: &str, name: &str) -> Option<String> {
        let around = self.listing.around?;
        let budget = self.listing.budget();
        if budget.spend(Resource::Steps, 16).is_err() {
            budget.overrun();
            return None;
        }
        let names = self.listing.environment.names_of(path);
        let real = around.resolve(names.first()?).ok()?;
        let target = base_name(&real);
        let installed = INSTALLED
            .iter()
            .any(|directory| is_within(&real, directory));
        // `python` is `python3.12` in most places.
        let other = unversioned(target) != unversioned(name);
        (installed && other && is_program(target)).then(|| target.to_owned())
    }

    /// Lists the command as one of another program.
    fn starts_as(&mut self, program: &str) -> Result<(), Refusal> {
        let mut words = self.words.to_vec();
        if let Some(first) = words.first_mut() {
            // By its path, so that no copy has its name.
            let span = first.text.span.clone();
            *first = Argument::literal(&format!("/bin/{program}"), span);
        }
        self.starts(Wrapping::Transparent, Vec::new(), words)
    }
}
