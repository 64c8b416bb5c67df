//! A command as rules see it: its program, flags and spellings, whatever it was written like.

use std::sync::OnceLock;

use crate::effects::places;
use crate::flags;
use crate::paths::{base_name, installed_name};
use crate::rules::{READ_ONLY, READ_ONLY_WHEN};
use crate::shell::Command;

/// Signs that look like the dash of a flag.
const DASHES: [char; 8] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{fe63}', '\u{ff0d}',
];
/// Stands for white space inside a quoted word.
pub(crate) const INNER_SPACE: char = '\u{e000}';
/// Stands for a word that is no name of anything: with white space in it, or longer than any.
const INNER: &str = "\u{e000}";
/// No program or subcommand that is listed has a longer name.
const MAX_NAME: usize = 64;

/// One command of a line, in the spellings rules compare with.
#[derive(Debug)]
pub(crate) struct CommandView {
    pub(crate) command: Command,
    /// Where the program's name begins in the first word, if that is known before running.
    name_from: Option<usize>,
    /// Made when somebody asks: most policies have no patterns.
    spellings: OnceLock<Spellings>,
    /// Single letters (`-r`), whole clusters (`-rf`) and long flags (`--force`).
    pub(crate) flags: Vec<String>,
    /// The same for the options before a subcommand.
    pub(crate) outer_flags: Vec<String>,
    read_only: bool,
}

/// The words of a command as texts that patterns are compared with.
#[derive(Debug)]
struct Spellings {
    line: String,
    flagless: String,
    valueless: Option<String>,
}

/// What a word of a command is, by how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordKind {
    /// An option before a subcommand, or its value.
    Outer,
    /// `-r`, `--force`.
    Flag,
    /// `--`.
    NoMoreFlags,
    /// The program, and every other word.
    Operand,
}

impl CommandView {
    pub(super) fn from_command(command: Command) -> Self {
        let first = command.words.first().filter(|word| !word.dynamic);
        let name_from = first.map(|word| word.text.len() - base_name(&word.text).len());
        let mut view = Self {
            command,
            name_from,
            spellings: OnceLock::new(),
            flags: Vec::new(),
            outer_flags: Vec::new(),
            read_only: false,
        };
        let (mut flags, mut outer_flags) = (Vec::new(), Vec::new());
        let program = view.first_name();
        let mut operands = [""; 3];
        let mut places = operands.iter_mut();
        for (kind, text) in view.kinds() {
            match kind {
                WordKind::Outer if text.starts_with('-') => {
                    flags::push(&mut outer_flags, program, text);
                }
                WordKind::Flag => flags::push(&mut flags, program, text),
                WordKind::Operand => {
                    if let Some(place) = places.next() {
                        // A word with blanks in it is no name of anything.
                        let name = text.len() <= MAX_NAME && !text.contains(char::is_whitespace);
                        *place = if name { text } else { INNER };
                    }
                }
                WordKind::Outer | WordKind::NoMoreFlags => {}
            }
        }
        flags::add_other_names(&mut flags, operands.into_iter());
        let [_, second, _] = operands;
        let read_only = view
            .program()
            .is_some_and(|program| only_reads(program, second, &flags));
        view.flags = flags;
        view.outer_flags = outer_flags;
        view.read_only = read_only;
        view
    }

    /// Words joined by single spaces, the program without the directory it is installed in. White
    /// space inside a quoted word is replaced, so that a rule of two words never matches inside it.
    pub(crate) fn line(&self) -> &str {
        &self.spelled().line
    }

    /// The same without flags and without the options before a subcommand, for rules that do not
    /// care where flags stand.
    pub(crate) fn flagless(&self) -> &str {
        &self.spelled().flagless
    }

    /// The same without the word behind each flag, which may be its value; if that differs.
    pub(crate) fn valueless(&self) -> Option<&str> {
        self.spelled().valueless.as_deref()
    }

    fn spelled(&self) -> &Spellings {
        self.spellings.get_or_init(|| {
            let words = self.command.words.iter();
            let length: usize = words.map(|word| word.text.len() + 1).sum();
            let mut line = String::with_capacity(length);
            for assignment in &self.command.assignments {
                let text = format!("{}={}", assignment.name, assignment.value.text);
                push_word(&mut line, &text);
            }
            let mut flagless = String::with_capacity(length);
            let mut valueless: Option<String> = None;
            let mut value_next = false;
            for (at, (kind, text)) in self.kinds().enumerate() {
                let written = match at {
                    0 => self.first_word().map_or("", installed_name),
                    _ => text,
                };
                push_word(&mut line, written);
                match kind {
                    WordKind::Outer => {
                        value_next = text.starts_with('-') && !text.contains('=');
                        valueless.get_or_insert_with(|| flagless.clone());
                    }
                    WordKind::Flag | WordKind::NoMoreFlags => {
                        value_next = kind == WordKind::Flag && !text.contains('=');
                        valueless.get_or_insert_with(|| flagless.clone());
                    }
                    WordKind::Operand => {
                        push_word(&mut flagless, text);
                        if let (false, Some(valueless)) =
                            (std::mem::take(&mut value_next), &mut valueless)
                        {
                            push_word(valueless, text);
                        }
                    }
                }
            }
            Spellings {
                line,
                valueless: valueless.filter(|text| *text != flagless),
                flagless,
            }
        })
    }

    fn first_word(&self) -> Option<&str> {
        self.command.words.first().map(|word| word.text.as_str())
    }

    /// The program's name without its directory, known or not.
    fn first_name(&self) -> &str {
        self.first_word().map_or("", base_name)
    }

    /// The words, the program without its directory, each with what it is.
    fn kinds(&self) -> impl Iterator<Item = (WordKind, &str)> {
        let program = self.first_name();
        let words = || self.command.words.iter().map(|word| word.text.as_str());
        let hidden = flags::before_subcommand(program, words().skip(1));
        let mut operands_only = false;
        words().enumerate().map(move |(index, text)| {
            let flag = index > 0 && !operands_only && text.len() > 1 && text.starts_with('-');
            let kind = match (index, flag) {
                (0, _) => return (WordKind::Operand, program),
                (index, _) if index <= hidden => WordKind::Outer,
                (_, true) if text == "--" => {
                    operands_only = true;
                    WordKind::NoMoreFlags
                }
                (_, true) => WordKind::Flag,
                (_, false) => WordKind::Operand,
            };
            (kind, text)
        })
    }

    /// The program's name without its directory, where it is known before running.
    pub(crate) fn program(&self) -> Option<&str> {
        let name_from = self.name_from?;
        self.command.words.first()?.text.get(name_from..)
    }

    /// Every flag, wherever it stands.
    pub(crate) fn all_flags(&self) -> impl Iterator<Item = &String> {
        self.flags.iter().chain(&self.outer_flags)
    }

    /// A program or flag written with letters of other scripts, or with invisible ones: it may be
    /// read as something it is not, by a person as by a rule.
    pub(crate) fn disguised(&self) -> Option<&str> {
        let words = self.command.words.iter();
        let unusual = words.enumerate().filter(|(_, word)| !word.text.is_ascii());
        let mut suspects = unusual.filter_map(|(at, word)| {
            let text = word.text.as_str();
            let flag = text.starts_with(DASHES) || (text.starts_with('-') && !self.only_prints());
            let name = text.split('=').next().unwrap_or_default();
            match at {
                0 => Some(base_name(text)),
                _ if flag => Some(name),
                _ => None,
            }
        });
        suspects.find(|text| {
            let short = text.len() <= 64 && !text.contains(' ');
            short && !text.is_ascii()
        })
    }

    /// Whether any word depends on something only the shell will know.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.command.words.iter().any(|word| word.dynamic)
    }

    /// Whether its program is known to change nothing outside itself, its redirections aside.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether an option makes a program that otherwise only looks write a file.
    pub(crate) fn writes_by_option(&self) -> bool {
        let has = |wanted: &[&str]| {
            self.flags
                .iter()
                .any(|flag| wanted.iter().any(|start| flag.starts_with(start)))
        };
        match self.program() {
            Some("find") => has(&["-fprint", "-fls"]),
            Some("time" | "gtime" | "strace" | "ltrace") => has(&["-o", "--output"]),
            Some(_) | None => false,
        }
    }

    /// Whether the command only prints its arguments, so that they are data.
    pub(crate) fn only_prints(&self) -> bool {
        matches!(
            self.program(),
            Some("echo" | "printf" | ":" | "true" | "false")
        )
    }

    /// The files it writes by redirections, each with its sign.
    pub(crate) fn writes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.command.redirects.iter().filter_map(|redirect| {
            let target = redirect.target.text.as_str();
            let sign = redirect.kind.writing_sign()?;
            (!places::is_stream(target)).then_some((sign, target))
        })
    }

    /// The line with its redirections to files, or nothing if it has none that write one.
    pub(crate) fn line_with_writes(&self) -> Option<String> {
        self.writes().next()?;
        let mut text = self.line().to_owned();
        if text.is_empty() {
            // A redirection without a command writes like the command that does nothing.
            text.push(':');
        }
        for (sign, target) in self.writes() {
            push_word(&mut text, sign);
            push_word(&mut text, target);
        }
        Some(text)
    }
}

/// Whether a program changes nothing outside itself, by its first operand and its flags.
fn only_reads(program: &str, operand: &str, flags: &[String]) -> bool {
    READ_ONLY.contains(program)
        || READ_ONLY_WHEN.iter().any(|when| {
            let begins = |flag: &String| when.without.iter().any(|one| flag.starts_with(one));
            when.program == program
                && (when.subcommand.is_empty() || when.subcommand.contains(&operand))
                && !flags.iter().any(begins)
        })
}

fn push_word(line: &mut String, word: &str) {
    if !line.is_empty() {
        line.push(' ');
    }
    if !word.is_ascii() {
        line.extend(
            word.chars()
                .map(|c| if c.is_whitespace() { INNER_SPACE } else { c }),
        );
        return;
    }
    // What nearly every word is: looked at byte by byte, and copied piece by piece.
    let bytes = word.bytes().enumerate();
    let mut from = 0;
    for (at, _) in bytes.filter(|(_, byte)| matches!(byte, b' ' | b'\t'..=b'\r')) {
        line.push_str(word.get(from..at).unwrap_or_default());
        line.push(INNER_SPACE);
        from = at + 1;
    }
    line.push_str(word.get(from..).unwrap_or_default());
}
