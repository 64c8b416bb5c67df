//! Code in other languages: what a light reading finds in it becomes commands of the list.
//!
//! `shutil.rmtree("x")` is listed as `rm -r x`, run by the interpreter, so that one set of rules
//! judges both. What cannot be followed is marked on the interpreter.

use super::commands::Wrapping;
use super::refusal::Refusal;
use super::texts::{Argument, UNKNOWN};
use super::tree::Span;
use super::unwrapping::Unwrapped;
use crate::code::{self, Deed, DeedKind, Language, Operand, Unfollowed};
use crate::opaque::Reason;

/// Deeds of one piece of code that are listed; each is a command. What has more is marked.
const MAX_DEEDS: usize = 500;

/// Where code comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// It stands in the command.
    Inline,
    /// It stands in a file, where not following everything is no news.
    File,
}

/// The language an interpreter runs, by its name without a version.
pub(super) fn language(program: &str) -> Option<Language> {
    let stem = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    Some(match stem {
        "python" | "pypy" | "ipython" => Language::Python,
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => Language::JavaScript,
        "ruby" | "jruby" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        "awk" | "gawk" | "mawk" | "nawk" => Language::Awk,
        "vim" | "nvim" | "vi" | "ex" | "view" | "gvim" => Language::Vim,
        _ => return None,
    })
}

/// Whether a program runs code in another language.
pub(crate) fn is_interpreter(program: &str) -> bool {
    language(program).is_some()
}

/// Lists what a piece of code does.
pub(super) fn run(
    command: &mut Unwrapped<'_, '_>,
    language: Language,
    text: &str,
    span: &Span,
    source: Source,
) -> Result<(), Refusal> {
    let reading = code::read(language, text, command.listing.budget());
    if source == Source::Inline && reading.opaque.is_some() {
        command.mark(Reason::InlineCode);
    }
    // A file is text that could have been read; that it does what only running it shows is no news.
    let unread = match reading.opaque {
        Some(Unfollowed::TooLong | Unfollowed::TooDeep) => Some(Reason::OverBudget),
        Some(Unfollowed::Unreadable) if source == Source::File => Some(Reason::Unreadable),
        Some(
            Unfollowed::Unreadable
            | Unfollowed::Evaluates
            | Unfollowed::DynamicName
            | Unfollowed::Native,
        )
        | None => None,
    };
    if let Some(reason) = unread {
        command.mark(reason);
    }
    if reading.deeds.len() > MAX_DEEDS {
        command.mark(Reason::OverBudget);
    }
    let unknown = |deed: &Deed| match &deed.kind {
        DeedKind::Delete { path, .. }
        | DeedKind::Write { path }
        | DeedKind::Append { path }
        | DeedKind::ChangeMode { path } => *path == Operand::Unknown,
        DeedKind::Rename { from, to } => *from == Operand::Unknown || *to == Operand::Unknown,
        DeedKind::Run(words) => words.first() == Some(&Operand::Unknown),
        DeedKind::Read { .. } | DeedKind::Shell(_) | DeedKind::Connect(_) | DeedKind::Eval => false,
    };
    // What it changes is not known, so neither is what it does.
    if source == Source::Inline && language != Language::Vim && reading.deeds.iter().any(unknown) {
        command.mark(Reason::InlineCode);
    }
    for deed in reading.deeds.iter().take(MAX_DEEDS) {
        let words = |program: &[&str], operands: &[&Operand]| -> Vec<Argument> {
            let program = program
                .iter()
                .map(|word| Argument::literal(word, span.clone()));
            program
                .chain(operands.iter().map(|operand| argument(operand, span)))
                .collect()
        };
        let words = match &deed.kind {
            DeedKind::Delete { path, recursive } => {
                let program: &[&str] = if *recursive { &["rm", "-r"] } else { &["rm"] };
                words(program, &[path])
            }
            DeedKind::Write { path } => words(&["tee"], &[path]),
            DeedKind::Append { path } => words(&["tee", "-a"], &[path]),
            DeedKind::Read { path } => words(&["cat"], &[path]),
            DeedKind::ChangeMode { path } => words(&["chmod", "u+rw"], &[path]),
            DeedKind::Rename { from, to } => words(&["mv"], &[from, to]),
            DeedKind::Connect(address) => words(&["curl"], &[address]),
            DeedKind::Run(operands) => {
                let operands: Vec<&Operand> = operands.iter().collect();
                words(&[], &operands)
            }
            DeedKind::Shell(Operand::Known(line)) => {
                let line = Argument::literal(line, span.clone());
                command.runs(Wrapping::Commanding, &line)?;
                continue;
            }
            DeedKind::Shell(Operand::Starts(line)) => {
                command.mark(Reason::InlineCode);
                let line = Argument::literal(line, span.clone());
                command.runs(Wrapping::Commanding, &line)?;
                continue;
            }
            DeedKind::Shell(Operand::Unknown) | DeedKind::Eval => {
                if source == Source::Inline {
                    command.mark(Reason::InlineCode);
                }
                continue;
            }
        };
        command.starts_apart(Wrapping::Commanding, words)?;
    }
    Ok(())
}

fn argument(operand: &Operand, span: &Span) -> Argument {
    match operand {
        Operand::Known(text) => Argument::literal(text, span.clone()),
        Operand::Unknown => {
            Argument::supplied("{}", span.clone()).filled_with(Some(UNKNOWN.to_string()))
        }
        Operand::Starts(text) => {
            let pattern = format!("{text}{UNKNOWN}");
            Argument::supplied(text, span.clone()).filled_with(Some(pattern))
        }
    }
}
