//! Files that are opened: which, and whether to be read, written or run.

use std::ops::Range;

use super::{args::Args, is_url};
use crate::code::carried;
use crate::code::tables::Parameter;
use crate::code::values::Value;
use crate::code::walker::Walker;
use crate::code::{CodeEffectKind, Operand};

#[derive(Clone, Copy)]
enum Opening {
    Read,
    Write,
    Append,
}

impl Opening {
    /// `"w"`, `"r+"`, `"ab"`
    fn from_mode(mode: &str) -> Self {
        if mode.contains(['w', 'x', '+', 'c']) {
            Opening::Write
        } else if mode.contains('a') {
            Opening::Append
        } else {
            Opening::Read
        }
    }

    /// `">"`, `">>"`, `"+<"`
    fn of_signs(mode: &str) -> Self {
        if mode.contains(">>") {
            Opening::Append
        } else if mode.contains(['>', '+']) {
            Opening::Write
        } else {
            Opening::Read
        }
    }
}

impl Walker<'_, '_> {
    pub(super) fn open(
        &mut self,
        args: &Args,
        path: Parameter,
        mode: Parameter,
        span: &Range<usize>,
    ) -> Option<Value> {
        let how = match args.at(mode) {
            None | Some(Value::Map(_) | Value::Function) => Opening::Read,
            Some(value) => match value.text() {
                Some(mode) => Opening::from_mode(mode),
                None => Opening::Write,
            },
        };
        let mut content = None;
        for path in args.operands(path) {
            if matches!(how, Opening::Read) {
                content = Some(carried::content(path.clone()));
            }
            self.opened(how, path, span);
        }
        content
    }

    fn opened(&mut self, how: Opening, path: Operand, span: &Range<usize>) {
        let kind = match how {
            Opening::Read => CodeEffectKind::Read { path },
            Opening::Write => CodeEffectKind::Write { path },
            Opening::Append => CodeEffectKind::Append { path },
        };
        self.effect(kind, span);
    }

    /// Ruby's `open`: a bar in front makes it a command.
    pub(super) fn open_piped(
        &mut self,
        args: &Args,
        path: Parameter,
        mode: Parameter,
        span: &Range<usize>,
    ) -> Option<Value> {
        match args.at(path).map(Value::operand) {
            Some(Operand::Known(text)) if text.starts_with('|') => {
                let line = text.trim_start_matches('|').trim_start().to_owned();
                self.effect(CodeEffectKind::Shell(Operand::Known(line)), span);
            }
            Some(Operand::Starts(text)) if text.starts_with('|') => {
                let line = text.trim_start_matches('|').trim_start().to_owned();
                self.effect(CodeEffectKind::Shell(Operand::Starts(line)), span);
            }
            Some(host @ (Operand::Known(_) | Operand::Starts(_))) if matches!(&host, Operand::Known(text) | Operand::Starts(text) if is_url(text)) =>
            {
                self.sends(&host, args, span);
                self.effect(CodeEffectKind::Connect(host), span);
            }
            Some(Operand::Known(_) | Operand::Starts(_) | Operand::Unknown) | None => {
                return self.open(args, path, mode, span);
            }
        }
        None
    }

    /// Perl's `open(HANDLE, MODE, PATH)` and `open(HANDLE, "mode and path")`.
    pub(super) fn open_handle(&mut self, args: &Args, span: &Range<usize>) {
        let Some(second) = args.list.get(1) else {
            if args.open {
                self.effect(CodeEffectKind::Shell(Operand::Unknown), span);
            }
            return;
        };
        if args.list.len() > 2 {
            let path = args.list.get(2).map_or(Operand::Unknown, Value::operand);
            let mode = second.text().map(|mode| mode.trim().to_owned());
            match mode.as_deref() {
                Some("-|" | "|-") if args.list.len() > 3 => {
                    let words = args.operands_from(2);
                    self.effect(CodeEffectKind::Run(words), span);
                }
                Some("-|" | "|-") => self.effect(CodeEffectKind::Shell(path), span),
                Some(mode) => self.opened(Opening::of_signs(mode), path, span),
                None => match second.operand() {
                    Operand::Starts(mode) => self.opened(Opening::of_signs(&mode), path, span),
                    Operand::Known(_) | Operand::Unknown => self.opened(Opening::Write, path, span),
                },
            }
            return;
        }
        let operand = second.operand();
        let (Operand::Known(text) | Operand::Starts(text)) = &operand else {
            self.effect(CodeEffectKind::Shell(Operand::Unknown), span);
            return;
        };
        let trimmed = text.trim();
        let rebuilt = |rest: &str| match &operand {
            Operand::Known(_) => Operand::Known(rest.trim().to_owned()),
            Operand::Starts(_) | Operand::Unknown if rest.trim().is_empty() => Operand::Unknown,
            Operand::Starts(_) | Operand::Unknown => Operand::Starts(rest.trim_start().to_owned()),
        };
        if let Some(line) = trimmed.strip_prefix('|') {
            self.effect(CodeEffectKind::Shell(rebuilt(line)), span);
        } else if let (Some(line), Operand::Known(_)) = (trimmed.strip_suffix('|'), &operand) {
            self.effect(CodeEffectKind::Shell(rebuilt(line)), span);
        } else {
            let rest = trimmed.trim_start_matches(['<', '>', '+']);
            let signs = trimmed.strip_suffix(rest).unwrap_or("");
            // `open(F, $x)` could still end in a bar.
            if signs.is_empty() && !matches!(operand, Operand::Known(_)) {
                self.effect(CodeEffectKind::Shell(rebuilt(rest)), span);
            } else {
                let path = rebuilt(rest);
                self.opened(Opening::of_signs(signs), path, span);
            }
        }
    }

    /// What Perl's `<>` opens: a name with a bar is a command.
    pub(in crate::code) fn opened_by_diamond(&mut self, names: &Value, span: &Range<usize>) {
        for name in names.operands() {
            let args = Args {
                list: vec![Value::Unknown, Value::Text(name)],
                ..Args::default()
            };
            self.open_handle(&args, span);
        }
    }
}

/// `"w"`, `"rb+"`: a mode and nothing else, since `Image.open("a.png")` has a path there.
pub(super) fn is_mode_that_writes(mode: &str) -> bool {
    mode.len() <= 4
        && mode.chars().all(|letter| "rwaxbtU+".contains(letter))
        && mode.contains(['w', 'a', 'x', '+'])
}
