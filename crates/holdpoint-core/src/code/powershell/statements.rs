//! Statements and pipelines of PowerShell: what is given to variables, called or shown.

use super::Reader;
use super::constants::Held;
use super::paths::quoted_but_wild;
use super::tables;
use super::words::{Place, Word};
use crate::code::Unfollowed;

/// A command of a pipeline.
#[derive(Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
}

/// Where a command of a pipeline stands.
#[derive(Clone, Copy)]
pub(super) struct Pipe<'p> {
    /// The one whose output it reads.
    pub(super) before: Option<&'p Command>,
}

impl Pipe<'_> {
    pub(super) fn reads(self) -> bool {
        self.before.is_some()
    }
}

impl Reader<'_, '_> {
    /// Reads statements up to a closing bracket.
    pub(super) fn statements(&mut self, closes: Option<char>, depth: usize) {
        loop {
            let mut pipeline: Vec<Command> = Vec::new();
            let (ended, joint) = self.pipeline(&mut pipeline, closes, depth);
            self.translate(&pipeline, joint);
            if ended {
                return;
            }
        }
    }

    /// Reads one pipeline; says whether the closing bracket or the end came behind it, and what
    /// ties it to the next.
    fn pipeline(
        &mut self,
        pipeline: &mut Vec<Command>,
        closes: Option<char>,
        depth: usize,
    ) -> (bool, &'static str) {
        let mut command = Command::default();
        let mut joint = "\n";
        // The last word can be given a value.
        let mut target = false;
        let ended = loop {
            if !self.limits.token() {
                self.reading.note(Unfollowed::TooLong);
                self.rest = "";
            }
            self.skip_blanks();
            let mut letters = self.rest.chars();
            let Some(letter) = letters.next() else {
                if closes.is_some() {
                    self.reading.note(Unfollowed::Unreadable);
                }
                break true;
            };
            let next = letters.next();
            match letter {
                '\n' | '\r' | ';' => {
                    self.advance(1);
                    break false;
                }
                '|' if next == Some('|') => {
                    self.advance(2);
                    joint = " || ";
                    break false;
                }
                '&' if next == Some('&') => {
                    self.advance(2);
                    joint = " && ";
                    break false;
                }
                '|' => {
                    self.advance(1);
                    pipeline.push(std::mem::take(&mut command));
                    self.skip_lines();
                }
                // The call operator, or a job in the background.
                '&' if begins(&command) => {
                    self.advance(1);
                    command.words.push(Word::literal("&"));
                }
                '&' => {
                    self.advance(1);
                    break false;
                }
                ')' | '}' | ']' if closes == Some(letter) => {
                    self.advance(1);
                    break true;
                }
                ')' | '}' => {
                    self.reading.note(Unfollowed::Unreadable);
                    self.advance(1);
                }
                '-' if self.rest.starts_with("--%") => self.verbatim(&mut command),
                _ => {
                    if target && let Some(sign) = self.assignment() {
                        self.advance(sign.len());
                        command.words.push(Word {
                            assignment: true,
                            shell: sign.to_owned(),
                            ..Word::default()
                        });
                        target = false;
                        continue;
                    }
                    let first = begins(&command);
                    target = first && (letter == '$' || letter == '[' || self.in_table);
                    let place = match command.words.last().and_then(Word::bare).as_deref() {
                        _ if first => Place::First,
                        Some("function" | "filter" | "class" | "workflow" | "enum") => Place::Name,
                        Some(_) | None => Place::Other,
                    };
                    let word = self.word(place, depth);
                    command.words.push(word);
                }
            }
        };
        pipeline.push(command);
        (ended, joint)
    }

    /// `--%`: the rest of the line as it is.
    fn verbatim(&mut self, command: &mut Command) {
        self.advance("--%".len());
        let end = self.rest.find(['\n', '|']).unwrap_or(self.rest.len());
        let text = self.rest.get(..end).unwrap_or_default();
        let words = text.split_ascii_whitespace();
        command
            .words
            .extend(words.map(|word| Word::literal(&word.replace('"', ""))));
        self.rest = self.rest.get(end..).unwrap_or_default();
    }

    /// Adds what a pipeline does to the shell's line.
    fn translate(&mut self, pipeline: &[Command], joint: &str) {
        self.remember(pipeline);
        let mut made: Vec<String> = Vec::new();
        for (at, command) in pipeline.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| pipeline.get(before));
            let line = self.command(command, Pipe { before });
            if !line.is_empty() {
                made.push(line);
            }
        }
        let line = made.join(" | ");
        if line.is_empty() {
            return;
        }
        if !self.limits.copies(line.len()) {
            self.reading.note(Unfollowed::TooLong);
            return;
        }
        self.line.push_str(&line);
        self.line.push_str(joint);
    }

    /// Remembers the text or block a variable is given, if that is all it is given.
    fn remember(&mut self, pipeline: &[Command]) {
        let [command] = pipeline else { return };
        let [target, sign, value] = command.words.as_slice() else {
            return;
        };
        let name = target.variable.as_ref().filter(|_| sign.assignment);
        let Some(name) = name.filter(|_| sign.shell == "=") else {
            return;
        };
        let text = value.quoted || value.variable.is_some();
        match &value.known {
            _ if value.block => self.constants.give(name, Held::Block),
            Some(known) if text && value.items.is_empty() => {
                self.constants.give(name, Held::Text(known.clone()));
            }
            Some(_) | None => {}
        }
    }

    /// The shell's counterpart of a command.
    fn command(&mut self, command: &Command, pipe: Pipe<'_>) -> String {
        let (words, called) = program_of(&command.words);
        let redirections: String = words
            .iter()
            .filter(|word| word.redirection)
            .map(|word| format!(" {}", word.shell))
            .collect();
        let words: Vec<&Word> = words.iter().filter(|word| !word.redirection).collect();
        let Some((program, arguments)) = words.split_first() else {
            return match redirections.is_empty() {
                true => String::new(),
                false => format!("true{redirections}"),
            };
        };
        if program.block {
            return String::new();
        }
        let held = program.variable.as_ref();
        if called && held.is_some_and(|name| matches!(self.constants.get(name), Some(Held::Block)))
        {
            // It was read where it stands.
            return String::new();
        }
        let is_text = program.quoted || program.variable.is_some();
        let Some(name) = program.known.as_deref().filter(|_| !is_text || called) else {
            // A value: it goes to the next command, or is shown. What a bracket runs runs.
            let texts = shown(arguments);
            return match called {
                true => format!("{} {texts}{redirections}", program.shell),
                false => format!("echo {} {texts}{redirections}", program.shell.trim()),
            };
        };
        let lower = name.to_ascii_lowercase();
        let is_script = lower.ends_with(".ps1") || lower.ends_with(".psm1");
        if is_script {
            let path = program.path();
            return format!("pwsh -File {path} {}{redirections}", shown(arguments));
        }
        if name.contains(['/', '\\']) && !name.starts_with('/') || called && name.contains('/') {
            return format!("{} {}{redirections}", program.path(), shown(arguments));
        }
        let line = match tables::is_keyword(&lower) || is_number(&lower) {
            true => evaluated_words(arguments),
            false => self.cmdlet(name, arguments, pipe),
        };
        match line.is_empty() {
            true if redirections.is_empty() => line,
            true => format!("true{redirections}"),
            false => format!("{line}{redirections}"),
        }
    }
}

/// The words of what a command runs, and whether it is called: `$x = …`, `return …`, `& …`,
/// `foreach ($x in …)`.
pub(super) fn program_of(words: &[Word]) -> (&[Word], bool) {
    let mut words = words;
    let mut called = false;
    loop {
        match words {
            [_, sign, rest @ ..] if sign.assignment => {
                words = rest;
                called = false;
            }
            [item, sign, rest @ ..]
                if item.variable.is_some() && sign.bare().as_deref() == Some("in") =>
            {
                words = rest;
            }
            [first, rest @ ..] if first.bare().as_deref().is_some_and(is_prefix) => {
                called |= first.bare().is_some_and(|sign| sign == "&" || sign == ".");
                words = rest;
            }
            _ => return (words, called),
        }
    }
}

/// Whether the next word is the first of what a command runs.
fn begins(command: &Command) -> bool {
    let in_loop = command.words.len() == 2
        && command.words.last().and_then(Word::bare).as_deref() == Some("in");
    in_loop
        || command
            .words
            .last()
            .is_none_or(|last| last.assignment || last.bare().as_deref().is_some_and(is_prefix))
}

fn is_prefix(text: &str) -> bool {
    matches!(text, "&" | "." | "return" | "throw" | "exit" | "!" | "-not")
}

fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Words as a shell writes them, without blocks.
pub(super) fn shown(words: &[&Word]) -> String {
    let words = words.iter().filter(|word| !word.block);
    words
        .map(|word| word.shell.clone())
        .collect::<Vec<_>>()
        .join(" ")
}

/// What is run to make these words.
pub(super) fn evaluated_words(words: &[&Word]) -> String {
    let words = words.iter().filter(|word| word.shell.contains("$("));
    let words: Vec<&str> = words.map(|word| word.shell.as_str()).collect();
    match words.is_empty() {
        true => String::new(),
        false => format!("true {}", words.join(" ")),
    }
}

/// A name as a shell writes it.
pub(super) fn program(name: &str) -> String {
    quoted_but_wild(name)
}
