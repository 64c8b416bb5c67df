//! Flags whose values run: `tar --to-command`, `go test -exec`, `gcc -fplugin`.
//!
//! Which they are is in `programs.toml` (`[[carrier]]`). They are looked for anywhere among the
//! words, in every spelling a program takes: such a value is rarely an operand by accident, and
//! listing one too many costs less than missing one.

use super::commands::Wrapping;
use super::refusal::Refusal;
use super::scripts::{Asks, ScriptSource};
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use super::walk::{Start, opaque_origin};
use crate::opaque::Reason;
use crate::paths::{base_name, is_within};
use crate::rules::{self, Carrier, RESPONSE_FILES, Role};

/// Built-ins that call back: the code sees the shell's variables, and may change them.
const SHELL_CALLBACKS: [&str; 2] = ["mapfile", "readarray"];

/// Directories of what is installed, and loaded by its path for honest reasons.
const INSTALLED: [&str; 3] = ["/usr", "/opt", "/lib"];

/// Lists what flags of a program run; does nothing for one without such flags.
pub(super) fn carried(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    let carriers = rules::carriers(name);
    if carriers.is_empty() {
        return Ok(());
    }
    let single_dash = rules::program(name).is_some_and(|program| program.single_dash);
    let words = command.words;
    let listed = match RESPONSE_FILES.contains(name) {
        true => command.words_in_files(),
        false => Vec::new(),
    };
    for carrier in carriers {
        let named = |word: &Argument| carrier.subcommand.contains(&word.unquoted());
        if carrier.subcommand.is_empty() || command.rest(1).iter().any(named) {
            command.carried_by(carrier, name, single_dash, words)?;
            if !listed.is_empty() {
                command.carried_by(carrier, name, single_dash, &listed)?;
            }
        }
    }
    Ok(())
}

impl Unwrapped<'_, '_> {
    fn carried_by(
        &mut self,
        carrier: &Carrier,
        name: &str,
        single_dash: bool,
        words: &[Argument],
    ) -> Result<(), Refusal> {
        let how = match carrier.commanding {
            true => Wrapping::Commanding,
            false => Wrapping::Incidental,
        };
        for (at, word) in words.iter().enumerate().skip(1) {
            // A value that is not known may still be a flag: what it says would be one.
            if !word.unquoted().starts_with('-') {
                if carrier.statement_operands && is_statement(word) {
                    self.states(word)?;
                }
                continue;
            }
            let flags = Flags {
                carrier,
                name,
                single_dash,
            };
            for flag in carrier.runs {
                if let Some(code) = flags.value(flag, word, words.get(at + 1)) {
                    // What lies where anybody can put it may be another program when it is run.
                    if !carrier.commanding && (is_temporary(&code) || only_deletes(&code)) {
                        self.mark(Reason::ExecutableSetting);
                    }
                    match SHELL_CALLBACKS.contains(&name) {
                        true => self.calls_back(&code)?,
                        false => self.runs(how, &code)?,
                    }
                }
            }
            for flag in carrier.statements {
                if let Some(statements) = flags.value(flag, word, words.get(at + 1)) {
                    self.states(&statements)?;
                }
            }
            for flag in carrier.loads {
                if let Some(value) = flags.value(flag, word, words.get(at + 1))
                    && (flag.contains('=') || brings_code(&value))
                {
                    self.mark(Reason::ExecutableSetting);
                }
            }
        }
        Ok(())
    }

    /// The words in the files a command names behind `@`, behind one that stands for the program. What cannot be
    /// read of them is marked.
    fn words_in_files(&mut self) -> Vec<Argument> {
        let mut all = Vec::new();
        for word in self.words {
            let Some(file) = word.known().and_then(|text| text.strip_prefix('@')) else {
                continue;
            };
            let span = word.text.span.clone();
            for found in self.look_up(file, Asks::Runner) {
                match found {
                    ScriptSource::Text { text, .. } => {
                        let words = text.split_whitespace();
                        let plain = words.map(|word| word.trim_matches(['"', '\'']));
                        all.extend(plain.map(|word| Argument::literal(word, span.clone())));
                    }
                    ScriptSource::Unread(reason) => self.mark(reason),
                    ScriptSource::From(origin) => {
                        self.mark(opaque_origin(Some(origin), Reason::ChangedBefore));
                    }
                    ScriptSource::Compiled | ScriptSource::Built | ScriptSource::Missing => {}
                }
            }
        }
        if let Some(program) = self.words.first().filter(|_| !all.is_empty()) {
            all.insert(0, program.clone());
        }
        all
    }

    /// Lists code the shell itself runs between other things, as often as it likes or never.
    fn calls_back(&mut self, code: &Argument) -> Result<(), Refusal> {
        let before = self.listing.environment.clone();
        let start = Start {
            in_shell: true,
            ..self.start.clone()
        };
        let walked = self
            .listing
            .code(self.place, Wrapping::Commanding, code, &start);
        let after = self.listing.environment.clone();
        self.listing.environment = before.either(after);
        walked
    }

    /// Lists what is told to a database elsewhere as a client of it that is told the same.
    pub(super) fn states(&mut self, statements: &Argument) -> Result<(), Refusal> {
        let literal = |text: &str| Argument::literal(text, statements.text.span.clone());
        let words = vec![literal(CLIENT), literal("--query"), statements.clone()];
        self.starts_apart(Wrapping::Commanding, words)
    }
}

/// A client of a database whose dialect is nobody's in particular.
const CLIENT: &str = "trino";

/// Whether an operand is more than a name. What is not known may be.
fn is_statement(word: &Argument) -> bool {
    word.text.dynamic || word.unquoted().contains(char::is_whitespace)
}

/// Whether a program is named by a path in a directory for temporary files.
fn is_temporary(code: &Argument) -> bool {
    let program = code
        .unquoted()
        .split_whitespace()
        .next()
        .unwrap_or_default();
    TEMPORARY
        .iter()
        .any(|directory| is_within(program, directory))
}

/// Whether a program that deletes its operands is given none: `rg --pre=rm` adds what it finds.
fn only_deletes(code: &Argument) -> bool {
    let mut words = code.unquoted().split_whitespace();
    let program = words
        .next()
        .and_then(|word| rules::program(base_name(word)));
    let role = program.and_then(|program| program.roles.operands);
    matches!(role, Some(Role::Delete | Role::Move)) && words.all(|word| word.starts_with('-'))
}

/// Directories anybody writes to.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Whether what is loaded is more than a name of something that is installed.
fn brings_code(value: &Argument) -> bool {
    let text = value.unquoted();
    let installed = !text.split('/').any(|part| part == "..")
        && INSTALLED.iter().any(|directory| is_within(text, directory));
    value.text.dynamic
        || (!installed && text.contains(['/', ',', '$', '!', '|', ';']))
        || text.contains(char::is_whitespace)
}

/// How a program spells its flags.
struct Flags<'c> {
    carrier: &'c Carrier,
    name: &'c str,
    single_dash: bool,
}

impl Flags<'_> {
    /// The value of a flag, if a word gives it, alone or with the next one.
    fn value(&self, flag: &str, word: &Argument, next: Option<&Argument>) -> Option<Argument> {
        let (flag, begins) = match flag.split_once('=') {
            Some((flag, begins)) => (flag, begins),
            None => (flag, ""),
        };
        let value = match self.given(flag, word.unquoted())? {
            Given::Next => next?.clone(),
            Given::From(at) => word.tail(at),
        };
        let text = value.unquoted();
        let front = text.get(..begins.len())?;
        if !front.eq_ignore_ascii_case(begins) {
            return None;
        }
        if begins.is_empty() {
            return Some(value);
        }
        let rest = text.get(begins.len()..).unwrap_or_default();
        let left = rest.trim_start_matches(['=', ' ', '\t']).len();
        Some(value.tail(text.len() - left))
    }

    fn given(&self, flag: &str, text: &str) -> Option<Given> {
        if flag.len() == 2 && !self.single_dash {
            return self.letter(flag, text);
        }
        // `-javaagent:FILE`, `-Wl,-plugin,FILE`: the sign at its end glues the value to the flag.
        if flag.ends_with([':', ',']) {
            return text.starts_with(flag).then_some(Given::From(flag.len()));
        }
        let dashes = |text: &str| text.len() - text.trim_start_matches('-').len();
        let one_dash = dashes(flag) == 1;
        let (name, equals) = match text.find('=') {
            Some(equals) => (text.get(..equals)?, Some(equals)),
            None => (text, None),
        };
        let given = || match equals {
            Some(equals) => Given::From(equals + 1),
            None => Given::Next,
        };
        let same = match one_dash {
            // Programs with whole words behind one dash take two as well.
            true => name.trim_start_matches('-') == flag.trim_start_matches('-'),
            false => name == flag,
        };
        if same {
            return Some(given());
        }
        if one_dash {
            // `-B./dir`: glued to a flag of one letter.
            let glued = flag.len() == 2 && text.starts_with(flag) && text.len() > 2;
            return glued.then_some(Given::From(2));
        }
        let cut_short = name.len() > 2 && flag.starts_with(name) && !self.is_flag(name);
        cut_short.then(given)
    }

    /// A flag of one letter: alone, glued to its value, or last of a bundle.
    fn letter(&self, flag: &str, text: &str) -> Option<Given> {
        let letters = text.strip_prefix('-')?;
        if letters.starts_with('-') {
            return None;
        }
        for (at, letter) in letters.char_indices() {
            let rest = 1 + at + letter.len_utf8();
            if flag.ends_with(letter) {
                let equals = usize::from(text.get(rest..)?.starts_with('='));
                return Some(match text.len() == rest {
                    true => Given::Next,
                    false => Given::From(rest + equals),
                });
            }
            let ends = |one: &&str| one.len() == 2 && one.ends_with(letter);
            let takes = self
                .carrier
                .values
                .iter()
                .chain(self.carrier.runs)
                .any(ends);
            if takes || !letter.is_ascii_alphanumeric() {
                return None;
            }
        }
        None
    }

    /// Whether the program has a flag of exactly this name.
    fn is_flag(&self, name: &str) -> bool {
        let listed = |list: &[&str]| list.iter().any(|one| one.split('=').next() == Some(name));
        listed(self.carrier.runs)
            || listed(self.carrier.loads)
            || rules::program(self.name).is_some_and(|program| {
                program.roles.values.contains(&name)
                    || program.same.iter().any(|group| group.contains(&name))
            })
    }
}

/// Where the value of a flag stands.
enum Given {
    /// In the next word.
    Next,
    /// In the same word, from this byte on.
    From(usize),
}
