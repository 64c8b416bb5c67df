//! Commands that are typed into a terminal: `tmux`, `screen` and what pages or edits.

use crate::opaque::Reason;
use crate::project_files::literals;
use crate::shell::commands::Wrapping;
use crate::shell::input::Input;
use crate::shell::options::{self, Order, Spec};
use crate::shell::refusal::Refusal;
use crate::shell::texts::Argument;
use crate::shell::unwrapping::Unwrapped;

impl Unwrapped<'_, '_> {
    /// A pager told to run a command when it starts: `less +!cmd`.
    pub(super) fn paged(&mut self) -> Result<(), Refusal> {
        let codes: Vec<Argument> = self
            .words
            .iter()
            .filter_map(|word| {
                // `+!line`, and `+|mark line`, which is handed a part of the text; `++` does so for every file.
                let text = word.unquoted();
                let at = text.len() - text.trim_start_matches('+').len();
                let rest = text.get(at..).filter(|_| at > 0)?;
                let mark = rest.strip_prefix('|').and_then(|rest| rest.chars().next());
                match mark {
                    Some(mark) => Some(word.tail(at + 1 + mark.len_utf8())),
                    None => rest.starts_with(['!', '#']).then(|| word.tail(at + 1)),
                }
            })
            .collect();
        codes
            .iter()
            .try_for_each(|code| self.runs(Wrapping::Incidental, code))
    }

    /// Lines that are kept for a package's scripts, to be run by their name: `npm pkg set scripts.x='…'`.
    pub(super) fn kept_scripts(&mut self, from: usize) -> Result<(), Refusal> {
        let words = self.words;
        for word in words.iter().skip(from) {
            let text = word.unquoted();
            let script = match text.strip_prefix("scripts") {
                Some(rest) if rest.starts_with(['.', '[']) => text.find('=').map(|at| at + 1),
                _ => (self.known(1) == Some("set-script")).then_some(0),
            };
            if let Some(at) = script {
                self.runs(Wrapping::Incidental, &word.tail(at))?;
            }
        }
        Ok(())
    }

    /// What texts on the input start, in a language that is written to draw or to fill in: `system "…"`.
    pub(super) fn calls_in_input(&mut self) -> Result<(), Refusal> {
        match self.start.input.clone() {
            Input::Known(text) => {
                let found = literals::read(&text);
                if found.cut {
                    self.mark(Reason::OverBudget);
                }
                self.follow_lines(None, &found.lines)
            }
            Input::Inherited | Input::Empty | Input::Partly(_) | Input::Unknown(_) => Ok(()),
        }
    }

    /// The lines of `ed`, `dc`, `ftp` and their like that begin with `!` are commands.
    pub(super) fn edited(&mut self) -> Result<(), Refusal> {
        let Input::Known(text) = self.start.input.clone() else {
            return Ok(());
        };
        let span = self
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        for line in text
            .lines()
            .filter_map(|line| line.trim().strip_prefix('!'))
        {
            self.runs(Wrapping::Incidental, &Argument::literal(line, span.clone()))?;
        }
        Ok(())
    }

    /// `tmux if-shell CONDITION COMMAND [COMMAND]`: a line of the shell, and lines of tmux.
    pub(super) fn tmux_condition(&mut self) -> Result<(), Refusal> {
        let words = self.words;
        let operands = words
            .iter()
            .skip(2)
            .filter(|word| !word.unquoted().starts_with('-'));
        for (at, word) in operands.enumerate() {
            match at {
                0 => self.runs(Wrapping::Incidental, word)?,
                _ => {
                    let line = format!("tmux {}", word.unquoted());
                    let line = Argument::literal(&line, word.text.span.clone());
                    self.runs(Wrapping::Incidental, &line)?;
                }
            }
        }
        Ok(())
    }

    /// Lists what is typed into another terminal, up to the names of keys.
    pub(super) fn typed(&mut self, from: usize) -> Result<(), Refusal> {
        let keys = ["Enter", "C-m", "KPEnter", "C-j"];
        let mut at = from;
        while matches!(self.known(at), Some(flag) if flag.starts_with('-')) {
            at += if self.known(at) == Some("-t") { 2 } else { 1 };
        }
        let texts: Vec<&str> = self
            .rest(at)
            .iter()
            .map(Argument::unquoted)
            .filter(|word| !keys.contains(word))
            .collect();
        let span = self
            .words
            .get(at)
            .map_or(0..0, |word| word.text.span.clone());
        let code = texts.join(" ").replace("\\n", "\n").replace("^M", "\n");
        if self.rest(at).iter().any(|word| word.text.dynamic) {
            self.mark(Reason::DynamicCode);
        }
        let code = Argument::literal(&code, span);
        self.runs(Wrapping::Commanding, &code)
    }

    pub(super) fn tmux(&mut self) -> Result<(), Refusal> {
        let typed = [
            "send-keys",
            "send",
            "run-shell",
            "run",
            "if-shell",
            "if",
            "pipe-pane",
        ];
        let opened = [
            "new-session",
            "new",
            "new-window",
            "neww",
            "split-window",
            "splitw",
        ];
        for at in 1..self.words.len() {
            let Some(text) = self.known(at) else {
                continue;
            };
            if typed.contains(&text) {
                return self.typed(at + 1);
            }
            if opened.contains(&text) {
                const NEW: Spec = Spec {
                    values: "-c -e -F -f -n -s -t -x -y -l -p",
                    flags: "-A -d -D -E -P -X -a -b -k -S -h -v -f -Z -I",
                };
                for reading in options::read(
                    self.words,
                    at + 1,
                    NEW,
                    Order::OptionsFirst,
                    self.listing.budget(),
                ) {
                    if let Some(from) = reading.operands.first().copied() {
                        self.runs_joined(Wrapping::Commanding, from)?;
                    }
                }
                return Ok(());
            }
        }
        if let Input::Partly(_) | Input::Unknown(_) = self.start.input {
            self.mark(Reason::ScriptFromInput);
        }
        Ok(())
    }
}
