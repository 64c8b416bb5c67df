//! What a program starts: the step from a listed command to those it runs.
//!
//! Promises that for every program known here the commands among its words are listed, that
//! code it is given is read as code, and that whatever hides one or the other is marked on
//! the program. Shells, built-ins and plain wrappers are here; programs with subcommands or
//! a syntax of their own are in `launchers`.

use std::rc::Rc;

use super::commands::{Reached, Wrapping};
use super::consoles;
use super::copies;
use super::environment::{Origin, Value};
use super::input::Input;
use super::interpreters;
use super::launchers;
use super::loading;
use super::options::{self, Order};
use super::reader::read;
use super::refusal::Refusal;
use super::requests;
use super::settings;
use super::texts::Argument;
use super::walk::{Listing, Start, opaque_origin, parameters};
use super::wrappers::{self, Wrapper};
use crate::opaque::Reason;
use crate::rules::{SET_UPS, SHELLS};

/// A listed command whose words are being looked at.
pub(super) struct Unwrapped<'l, 'w> {
    pub(super) listing: &'l mut Listing<'w>,
    /// Its place in the list.
    pub(super) place: usize,
    /// Its words, program first.
    pub(super) words: &'l [Argument],
    /// How what it starts is started, but for `reached`.
    pub(super) start: &'l Start,
}

/// Lists what a listed command starts.
pub(super) fn unwrap(
    listing: &mut Listing<'_>,
    place: usize,
    words: &[Argument],
    start: &Start,
) -> Result<(), Refusal> {
    let Some(name) = words.first().and_then(|word| word.text.program()) else {
        return Ok(());
    };
    // What these run, the shell runs itself.
    let start = &Start {
        in_shell: start.in_shell && matches!(name, "eval" | "source" | "." | "command" | "builtin"),
        ..start.clone()
    };
    let mut command = Unwrapped {
        listing,
        place,
        words,
        start,
    };
    interpreters::interpret(&mut command, name)?;
    consoles::run(&mut command, name)?;
    command.follow_program()?;
    command.follow_statements();
    requests::follow(&mut command, name)?;
    copies::follow(&mut command, name)?;
    command.builtin(name)?;
    launchers::launch(&mut command, name)?;
    loading::load(&mut command, name)?;
    if SHELLS.contains(name) || (name == "exe" && is_own_program(words)) {
        return command.shell(1);
    }
    match wrappers::find_in(name, words) {
        // `uv run -` is the interpreter on its input.
        Some((_, from)) if name == "uv" && first_operand(words, from) == Some("-") => {
            let span = words.first().map_or(0..0, |word| word.text.span.clone());
            let python = ["python3", "-"].map(|word| Argument::literal(word, span.clone()));
            command.starts(Wrapping::Incidental, Vec::new(), python.to_vec())
        }
        Some((wrapper, from)) => command.wrapper(wrapper, from),
        None => Ok(()),
    }
}

/// The first word from a place on that is no flag.
fn first_operand(words: &[Argument], from: usize) -> Option<&str> {
    let mut words = words.iter().skip(from).map(Argument::unquoted);
    words.find(|word| *word == "-" || !word.starts_with('-'))
}

/// Whether code is nothing but what one of them prints.
fn is_set_up(code: &str) -> bool {
    let inside = code
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or_default();
    let mut words = inside.split_whitespace();
    let program = words.next().unwrap_or_default();
    let plain = inside
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || " -_.=/".contains(c));
    plain
        && SET_UPS
            .iter()
            .filter(|(name, _)| *name == program)
            .any(|(_, words)| words.is_empty() || words.iter().any(|word| inside.contains(word)))
}

/// `/proc/self/exe`: whoever starts a program under this name starts itself, here the shell.
fn is_own_program(words: &[Argument]) -> bool {
    words
        .first()
        .is_some_and(|word| word.unquoted().starts_with("/proc/"))
}

/// Files that are an open descriptor or a connection: what is read there is not on the disk.
pub(super) fn is_stream(path: &str) -> bool {
    ["/dev/fd/", "/dev/tcp/", "/dev/udp/"]
        .iter()
        .any(|start| path.starts_with(start))
        || (path.starts_with("/proc/") && path.contains("/fd/"))
}

/// Places a shell can name to read its own input.
pub(super) const STANDARD_INPUT: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Built-ins that take names of variables, whose subscripts bash evaluates even when quoted.
const NAMING: [&str; 15] = [
    "let",
    "getopts",
    "test",
    "[",
    "printf",
    "read",
    "unset",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "mapfile",
    "readarray",
    "wait",
];

/// Built-ins whose words may be assignments.
const ASSIGNING: [&str; 5] = ["export", "declare", "typeset", "local", "readonly"];

impl Unwrapped<'_, '_> {
    pub(super) fn mark(&mut self, reason: Reason) {
        self.listing.mark(self.place, reason);
    }

    /// Says whether some code it runs was read to the end.
    pub(super) fn mark_whole(&mut self, whole: bool) {
        if let Some(command) = self.listing.commands.get_mut(self.place) {
            command.whole = Some(whole && command.whole != Some(false));
        }
    }

    /// The words from a place on.
    pub(super) fn rest(&self, from: usize) -> &[Argument] {
        self.words.get(from..).unwrap_or_default()
    }

    /// The known text of a word.
    pub(super) fn known(&self, at: usize) -> Option<&str> {
        self.words.get(at).and_then(Argument::known)
    }

    fn within(&self, how: Wrapping) -> Start {
        Start {
            reached: Reached::Within {
                wrapper: self.place,
                how,
            },
            ..self.start.clone()
        }
    }

    /// Lists a command this one starts with these words.
    pub(super) fn starts(
        &mut self,
        how: Wrapping,
        assignments: Vec<(String, Argument)>,
        words: Vec<Argument>,
    ) -> Result<(), Refusal> {
        if words.is_empty() {
            return Ok(());
        }
        let start = self.within(how);
        self.listing.start(assignments, words, start)
    }

    /// Lists a command this one starts, which reads nothing of what this one reads.
    pub(super) fn starts_apart(
        &mut self,
        how: Wrapping,
        words: Vec<Argument>,
    ) -> Result<(), Refusal> {
        self.starts_with(how, Vec::new(), words, Input::Empty)
    }

    /// Lists a command this one starts, which reads this.
    pub(super) fn starts_with(
        &mut self,
        how: Wrapping,
        assignments: Vec<(String, Argument)>,
        words: Vec<Argument>,
        input: Input,
    ) -> Result<(), Refusal> {
        if words.is_empty() {
            return Ok(());
        }
        let mut start = self.within(how);
        start.input = input;
        self.listing.start(assignments, words, start)
    }

    /// Lists the commands of a word that is code.
    pub(super) fn runs(&mut self, how: Wrapping, code: &Argument) -> Result<(), Refusal> {
        self.listing.code(self.place, how, code, self.start)
    }

    /// Lists the commands of several words that are code when joined.
    pub(super) fn runs_joined(&mut self, how: Wrapping, from: usize) -> Result<(), Refusal> {
        let words = self.words.get(from..).unwrap_or_default();
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return Ok(());
        };
        let span = first.text.span.start..last.text.span.end.max(first.text.span.start);
        let texts: Vec<&str> = words.iter().map(Argument::unquoted).collect();
        if words.len() == 1 && is_set_up(first.unquoted()) {
            return Ok(());
        }
        if words.iter().any(|word| word.text.dynamic || word.text.glob) {
            let origin = words.iter().filter_map(|word| word.origin).max();
            self.listing
                .mark(self.place, opaque_origin(origin, Reason::DynamicCode));
        }
        let code = texts.join(" ");
        self.listing
            .known_code(self.place, how, &code, &span, self.start)
    }

    /// Lists what a shell reads from its input.
    pub(super) fn reads_input(&mut self) -> Result<(), Refusal> {
        match &self.start.input {
            Input::Known(text) => {
                // What it decodes to is known, and still nobody writes code like that openly.
                if self.listing.fed_by_decoder() {
                    self.listing.mark(self.place, Reason::Decoded);
                }
                self.read_code(text)
            }
            Input::Partly(partial) => {
                self.mark(opaque_origin(Some(partial.origin), Reason::PipedIntoShell));
                // What is known of it is still listed: it may be worth a denial.
                self.read_code(&partial.written)
            }
            Input::Unknown(origin) => {
                self.mark(opaque_origin(Some(*origin), Reason::PipedIntoShell));
                Ok(())
            }
            Input::Inherited => {
                self.mark(Reason::ScriptFromInput);
                Ok(())
            }
            Input::Empty => Ok(()),
        }
    }

    fn read_code(&mut self, text: &str) -> Result<(), Refusal> {
        let first = self.words.first();
        let span = first.map_or(0..0, |word| word.text.span.clone());
        let start = Start {
            input: Input::Empty,
            ..self.start.clone()
        };
        self.listing
            .known_code(self.place, Wrapping::Commanding, text, &span, &start)
    }

    /// Lists what a program that runs a shell for want of a command reads from its input.
    pub(super) fn may_read_input(&mut self) -> Result<(), Refusal> {
        match self.start.input {
            Input::Known(_) | Input::Partly(_) | Input::Unknown(_) => self.reads_input(),
            Input::Inherited | Input::Empty => Ok(()),
        }
    }

    /// Words in front of a wrapped command that could become several hide where it begins.
    fn mark_splits(&mut self, before: usize) {
        let front = self.words.get(1..before).unwrap_or_default();
        if front.iter().any(|word| word.splits) {
            self.mark(Reason::DynamicCode);
        }
    }

    fn wrapper(&mut self, wrapper: &Wrapper, from: usize) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            from,
            wrapper.spec,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            if reading.has(wrapper.idle) {
                continue;
            }
            let mut at = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            at += wrapper.operands;
            // A second `--` may stand between the operands and the command.
            if wrapper.operands > 0 && self.known(at) == Some("--") {
                at += 1;
            }
            let (assignments, at) = if wrapper.assigns {
                self.assignments_from(at)
            } else {
                (Vec::new(), at)
            };
            self.mark_splits(at);
            if at >= self.words.len() {
                if wrapper.shell {
                    self.may_read_input()?;
                }
                continue;
            }
            if matches!(self.known(at), Some("-c" | "--command")) {
                // `flock file -c code`.
                if let Some(code) = self.words.get(at + 1) {
                    self.runs(wrapper.how, code)?;
                }
                continue;
            }
            // `yarn exec 'rm -rf x'`: no program's name has a blank and an option in it, so a shell reads it.
            if self
                .known(at)
                .is_some_and(|text| text.contains(" -") || crate::supposed::is_line(text))
                && let Some(line) = self.words.get(at)
            {
                self.runs(wrapper.how, line)?;
                continue;
            }
            let words = self.rest(at).to_vec();
            let before = self.changed_directory(&reading, &["-D", "--chdir"]);
            let walked = self.starts(wrapper.how, assignments, words);
            self.listing.environment.directory = before;
            walked?;
        }
        Ok(())
    }

    /// The assignments that stand in front of a wrapped command, and where they end.
    pub(super) fn assignments_from(&self, mut at: usize) -> (Vec<(String, Argument)>, usize) {
        let mut assignments = Vec::new();
        while let Some(assignment) = self.words.get(at).and_then(settings::assignment) {
            assignments.push(assignment);
            at += 1;
        }
        (assignments, at)
    }

    /// Reads the options of a shell from a place on, and lists its code.
    pub(super) fn shell(&mut self, from: usize) -> Result<(), Refusal> {
        let mut at = from;
        let mut takes_code = false;
        let mut reads_input = false;
        while let Some(word) = self.words.get(at) {
            let text = word.unquoted();
            if word.text.dynamic && !takes_code {
                break;
            }
            match text {
                "--" => {
                    at += 1;
                    break;
                }
                "--help" | "--version" => return Ok(()),
                "--rcfile" | "--init-file" => {
                    self.mark(Reason::ExecutableSetting);
                    at += 1;
                }
                "--command" | "--init-command" | "-C" => takes_code = true,
                _ if text.starts_with("--command=") || text.starts_with("--init-command=") => {
                    let value = text.find('=').map_or(0, |equals| equals + 1);
                    return self.runs(Wrapping::Commanding, &word.tail(value));
                }
                _ if text.starts_with("--") => {}
                _ if text.len() > 1 && text.starts_with(['-', '+']) => {
                    if text.starts_with('-') && text.contains('n') {
                        // It only checks the syntax.
                        return Ok(());
                    }
                    takes_code |= text.starts_with('-') && text.contains('c');
                    reads_input |= text.starts_with('-') && text.contains('s');
                    at += text
                        .bytes()
                        .filter(|byte| matches!(byte, b'o' | b'O'))
                        .count();
                }
                _ => break,
            }
            at += 1;
        }
        self.mark_splits(at);
        let Some(operand) = self.words.get(at) else {
            return if takes_code {
                Ok(())
            } else {
                self.reads_input()
            };
        };
        if takes_code {
            // What follows the code is its `$0`, `$1` …
            let start = Start {
                positional: parameters(self.rest(at + 1)).and_then(without_name),
                ..self.start.clone()
            };
            let code = operand.clone();
            return self
                .listing
                .code(self.place, Wrapping::Commanding, &code, &start);
        }
        let text = operand.unquoted();
        if reads_input || STANDARD_INPUT.contains(&text) {
            return self.reads_input();
        }
        self.script_file(at)
    }

    /// Follows the file a shell reads, or marks one whose name or content is made when it runs.
    fn script_file(&mut self, at: usize) -> Result<(), Refusal> {
        let Some(operand) = self.words.get(at) else {
            return Ok(());
        };
        let text = operand.unquoted();
        if text.starts_with("<(") {
            // What it prints may be foreseen, and is then the script.
            if let Input::Known(code) = self.printed_by(text) {
                let span = operand.text.span.clone();
                let start = self.start.clone();
                return self.listing.known_code(
                    self.place,
                    Wrapping::Commanding,
                    &code,
                    &span,
                    &start,
                );
            }
            self.mark(opaque_origin(operand.origin, Reason::PipedIntoShell));
        } else if is_stream(text) {
            self.mark(Reason::PipedIntoShell);
        } else if operand.text.dynamic || operand.text.glob {
            self.mark(Reason::DynamicCode);
        }
        self.follow_script(at)
    }

    /// What a process substitution prints, `<(…)` included in its text.
    pub(super) fn printed_by(&self, substitution: &str) -> Input {
        let inside = substitution.strip_prefix("<(").unwrap_or(substitution);
        let inside = inside.strip_suffix(')').unwrap_or(inside);
        match read(inside) {
            Ok(script) => self.listing.foreseen(&script, inside),
            Err(_) => Input::Unknown(Origin::Elsewhere),
        }
    }

    fn builtin(&mut self, name: &str) -> Result<(), Refusal> {
        match name {
            "eval" => {
                let from = if self.known(1) == Some("--") { 2 } else { 1 };
                self.runs_joined(Wrapping::Commanding, from)?;
            }
            "trap" => self.trap()?,
            "source" | "." => {
                let at = if self.known(1) == Some("--") { 2 } else { 1 };
                let input = self.words.get(at).map(Argument::unquoted);
                if input.is_some_and(|text| STANDARD_INPUT.contains(&text)) {
                    self.reads_input()?;
                } else {
                    self.script_file(at)?;
                }
            }
            "alias" => {
                for word in self.words.get(1..).unwrap_or_default() {
                    if let Some(equals) = word.unquoted().find('=') {
                        self.runs(Wrapping::Commanding, &word.tail(equals + 1))?;
                    }
                }
            }
            "hash" | "enable" | "bind" | "complete" => {
                let setting = ["-p", "-f", "-x", "-C", "-F", "-u"];
                // What completes a word runs where somebody types: never in an agent's line.
                let completes = |word: &str| name == "complete" && word == "-F";
                let given = |word: &Argument| {
                    setting.contains(&word.unquoted()) && !completes(word.unquoted())
                };
                // `bind '"\C-a": "line\n"'` types the line.
                let typed = |word: &Argument| name == "bind" && word.unquoted().contains("\":");
                if self.rest(1).iter().any(|word| given(word) || typed(word)) {
                    self.mark(Reason::ExecutableSetting);
                }
                self.expanded_list()?;
            }
            "compgen" => {
                if self.rest(1).iter().any(|word| word.unquoted() == "-F") {
                    self.mark(Reason::ExecutableSetting);
                }
                self.expanded_list()?;
            }
            "jobs" if self.known(1) == Some("-x") => {
                let words = self.rest(2).to_vec();
                self.starts(Wrapping::Transparent, Vec::new(), words)?;
            }
            "fc" => self.mark(Reason::DynamicCode),
            "at" | "batch" => {
                let idle = ["-l", "-c", "-r", "-d", "-f"];
                if !self
                    .rest(1)
                    .iter()
                    .any(|word| idle.contains(&word.unquoted()))
                {
                    self.reads_input()?;
                }
            }
            "crontab" if matches!(self.known(1), Some("-")) || self.words.len() == 1 => {
                match self.start.input.clone() {
                    Input::Known(text) => self.crontab(&text)?,
                    Input::Partly(_) | Input::Unknown(_) => self.mark(Reason::PipedIntoShell),
                    Input::Inherited | Input::Empty => {}
                }
            }
            _ => {}
        }
        if NAMING.contains(&name) {
            self.evaluated_names(name)?;
        }
        if ASSIGNING.contains(&name) {
            let assigned = self.rest(1).iter().filter_map(settings::assignment);
            let runs = assigned
                .into_iter()
                .any(|(name, value)| settings::variable_runs(&name, &value));
            if runs {
                self.mark(Reason::ExecutableSetting);
            }
        }
        Ok(())
    }

    /// The word behind `-W` is expanded though it was quoted: `compgen -W '$(…)'`.
    fn expanded_list(&mut self) -> Result<(), Refusal> {
        let Some(at) = self.words.iter().position(|word| word.unquoted() == "-W") else {
            return Ok(());
        };
        let Some(list) = self.words.get(at + 1) else {
            return Ok(());
        };
        if !list.unquoted().contains(['$', '`']) {
            return Ok(());
        }
        let code = Argument::literal(&format!(": {}", list.unquoted()), list.text.span.clone());
        self.runs(Wrapping::Commanding, &code)
    }

    /// Lists the commands of a table of jobs: what follows the five times, or `@daily`.
    fn crontab(&mut self, table: &str) -> Result<(), Refusal> {
        let span = self
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        for line in table.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fields = if line.starts_with('@') { 1 } else { 5 };
            let mut rest = line;
            for _ in 0..fields {
                rest = rest.trim_start();
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
            }
            let code = Argument::literal(rest.trim(), span.clone());
            self.runs(Wrapping::Commanding, &code)?;
        }
        Ok(())
    }

    fn trap(&mut self) -> Result<(), Refusal> {
        let from = if self.known(1) == Some("--") { 2 } else { 1 };
        match self.words.get(from) {
            Some(word) if matches!(word.unquoted(), "-" | "-l" | "-p" | "") => Ok(()),
            // With one operand it only resets a signal.
            Some(word) if self.words.len() > from + 1 || word.text.dynamic => {
                let code = word.clone();
                let signals = self.words.get(from + 1..).unwrap_or_default();
                let at_end = |word: &Argument| {
                    let name = word.known().unwrap_or_default();
                    name == "0" || name.eq_ignore_ascii_case("EXIT")
                };
                let only_at_end = !signals.is_empty() && signals.iter().all(at_end);
                let start = Start {
                    in_shell: true,
                    ..self.start.clone()
                };
                let place = self.place;
                self.listing.trap(place, code, start, only_at_end)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Lists what stands in `name[$(…)]` though it was quoted.
    fn evaluated_names(&mut self, name: &str) -> Result<(), Refusal> {
        for (at, word) in self.words.iter().enumerate().skip(1) {
            let Some(text) = word.known() else {
                continue;
            };
            let Some(text) = self.named_at(name, at, text) else {
                continue;
            };
            let names = text.find('[').is_some_and(|bracket| {
                let front = text.get(..bracket).unwrap_or_default();
                let letter = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
                !front.is_empty() && front.bytes().all(letter)
            });
            if names || name == "let" || text.len() < word.text.text.len() {
                let span = word.text.span.clone();
                let place = Some(self.place);
                self.listing.evaluated(place, text, &span, self.start)?;
            }
        }
        Ok(())
    }

    /// What a word of a built-in says the name of a variable with, or a number, if it is one of
    /// those that do.
    fn named_at<'t>(&self, builtin: &str, at: usize, text: &'t str) -> Option<&'t str> {
        let before = self.words.get(at.saturating_sub(1));
        let after = self.words.get(at + 1);
        let is = |word: Option<&Argument>, flags: &[&str]| {
            word.is_some_and(|word| word.known().is_none_or(|text| flags.contains(&text)))
        };
        match builtin {
            // Only the variable to print into has a name; the rest is text.
            "printf" => match text.strip_prefix("-v") {
                Some(name) if !name.is_empty() => Some(name),
                Some(_) | None => is(before, &["-v"]).then_some(text),
            },
            // Shells other than bash calculate with the numbers they compare.
            "test" | "[" => {
                let numbers = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
                let named = is(before, &["-v", "-R"]);
                (named || is(before, numbers) || is(after, numbers)).then_some(text)
            }
            "declare" | "typeset" | "local" | "export" | "readonly" => {
                // A number is calculated, and a name for another variable may have a subscript.
                let calculates = self.words.iter().any(|word| {
                    let text = word.unquoted();
                    text.starts_with('-') && text.contains(['i', 'n'])
                });
                match text.split_once('=') {
                    Some((_, value)) if calculates => Some(value),
                    Some(_) | None => Some(text),
                }
            }
            _ => Some(text),
        }
    }
}

/// The parameters of code, without the `$0` in front of them.
fn without_name(words: Rc<[Value]>) -> Option<Rc<[Value]>> {
    match &*words {
        [] => Some(words),
        [name, ..] if name.splits() => None,
        [_, rest @ ..] => Some(rest.into()),
    }
}
