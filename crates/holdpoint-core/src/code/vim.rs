//! Vim: ex commands, one a line or after a bar.
//!
//! Commands are known by name and by what they may be shortened to. A command this list does
//! not know changes text in the editor, unless it begins with a capital: then somebody defined
//! it, and what it does is not followed.

use std::ops::Range;

use super::{CodeEffect, CodeEffectKind, Language, Limits, Operand, Reading, Unfollowed};
use crate::paths::base_name;
use crate::rules::SHELLS;

/// Prefixes such as `silent` in front of one command.
const MAX_PREFIXES: usize = 32;

/// Letters of a list of lines in which its end is looked for.
const MAX_LIST: usize = 2000;

pub(super) fn read(code: &str, limits: &Limits) -> Reading {
    let mut vim = Vim {
        limits,
        reading: Reading::default(),
    };
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        if !limits.token() {
            vim.opaque(Unfollowed::TooLong);
            break;
        }
        let span = start..start + line.len();
        vim.line(line.trim_end_matches(['\n', '\r']), &span);
        start += line.len();
    }
    vim.reading
}

/// What a command does with the rest of its line.
#[derive(Clone, Copy)]
enum Does {
    /// The rest is a command again.
    Prefix,
    /// A pattern, then a command.
    Global,
    /// `silent`-like, with one or more words before the command.
    AfterWords(usize),
    ReadFile,
    WriteFile,
    WriteBuffer,
    Edit,
    Shell,
    Program(&'static str),
    Execute,
    Normal,
    Set,
    Code(Language),
    /// Functions may stand in the rest.
    Expression,
    /// Keys that lead to commands.
    Maps,
}

/// A command: the shortest form, the rest of its name, and what it does.
static COMMANDS: &[(&str, &str, Does)] = &[
    ("r", "ead", Does::ReadFile),
    ("w", "rite", Does::WriteFile),
    ("up", "date", Does::WriteFile),
    ("sav", "eas", Does::WriteFile),
    ("mk", "exrc", Does::WriteFile),
    ("mks", "ession", Does::WriteFile),
    ("wundo", "", Does::WriteFile),
    ("wv", "iminfo", Does::WriteFile),
    ("wq", "", Does::WriteBuffer),
    ("x", "it", Does::WriteBuffer),
    ("exi", "t", Does::WriteBuffer),
    ("wa", "ll", Does::WriteBuffer),
    ("wqa", "ll", Does::WriteBuffer),
    ("xa", "ll", Does::WriteBuffer),
    ("wn", "ext", Does::WriteBuffer),
    ("e", "dit", Does::Edit),
    ("sp", "lit", Does::Edit),
    ("vs", "plit", Does::Edit),
    ("tabe", "dit", Does::Edit),
    ("tabnew", "", Does::Edit),
    ("vie", "w", Does::Edit),
    ("so", "urce", Does::Edit),
    ("ru", "ntime", Does::Edit),
    ("luafile", "", Does::Edit),
    ("pyf", "ile", Does::Edit),
    ("py3f", "ile", Does::Edit),
    ("ter", "minal", Does::Shell),
    ("mak", "e", Does::Program("make")),
    ("lmak", "e", Does::Program("make")),
    ("gr", "ep", Does::Program("grep -n")),
    ("lgr", "ep", Does::Program("grep -n")),
    ("exe", "cute", Does::Execute),
    ("norm", "al", Does::Normal),
    ("se", "t", Does::Set),
    ("setl", "ocal", Does::Set),
    ("setg", "lobal", Does::Set),
    ("lua", "", Does::Code(Language::Lua)),
    ("luado", "", Does::Code(Language::Lua)),
    ("py", "thon", Does::Code(Language::Python)),
    ("py3", "", Does::Code(Language::Python)),
    ("python3", "", Does::Code(Language::Python)),
    ("pyx", "", Does::Code(Language::Python)),
    ("pythonx", "", Does::Code(Language::Python)),
    ("pydo", "", Does::Code(Language::Python)),
    ("py3do", "", Does::Code(Language::Python)),
    ("pe", "rl", Does::Code(Language::Perl)),
    ("perld", "o", Does::Code(Language::Perl)),
    ("rub", "y", Does::Code(Language::Ruby)),
    ("rubyd", "o", Does::Code(Language::Ruby)),
    ("g", "lobal", Does::Global),
    ("v", "global", Does::Global),
    ("sil", "ent", Does::Prefix),
    ("noa", "utocmd", Does::Prefix),
    ("keepj", "umps", Does::Prefix),
    ("keepp", "atterns", Does::Prefix),
    ("kee", "pmarks", Does::Prefix),
    ("keepa", "lt", Does::Prefix),
    ("lockm", "arks", Does::Prefix),
    ("vert", "ical", Does::Prefix),
    ("lefta", "bove", Does::Prefix),
    ("rightb", "elow", Does::Prefix),
    ("to", "pleft", Does::Prefix),
    ("bo", "tright", Does::Prefix),
    ("tab", "", Does::Prefix),
    ("hid", "e", Does::Prefix),
    ("san", "dbox", Does::Prefix),
    ("uns", "ilent", Does::Prefix),
    ("conf", "irm", Does::Prefix),
    ("verb", "ose", Does::Prefix),
    ("bufd", "o", Does::Prefix),
    ("argdo", "", Does::Prefix),
    ("wind", "o", Does::Prefix),
    ("tabd", "o", Does::Prefix),
    ("cdo", "", Does::Prefix),
    ("cfdo", "", Does::Prefix),
    ("ld", "o", Does::Prefix),
    ("lfdo", "", Does::Prefix),
    ("fo", "lddoopen", Does::Prefix),
    ("au", "tocmd", Does::AfterWords(2)),
    ("com", "mand", Does::Maps),
    ("cal", "l", Does::Expression),
    ("ec", "ho", Does::Expression),
    ("echom", "sg", Does::Expression),
    ("echoe", "rr", Does::Expression),
    ("echon", "", Does::Expression),
    ("let", "", Does::Expression),
    ("cons", "t", Does::Expression),
    ("if", "", Does::Expression),
    ("elsei", "f", Does::Expression),
    ("wh", "ile", Does::Expression),
    ("for", "", Does::Expression),
    ("retu", "rn", Does::Expression),
    ("ev", "al", Does::Expression),
    ("pu", "t", Does::Expression),
    ("s", "ubstitute", Does::Expression),
    ("cex", "pr", Does::Expression),
    ("lex", "pr", Does::Expression),
];

/// What a function of Vim does with its constant arguments.
#[derive(Clone, Copy)]
enum Calls {
    Shell,
    Delete,
    Rename,
    WriteSecond,
    WriteFirst,
    ReadFirst,
    Commands,
    Opaque(Unfollowed),
}

static FUNCTIONS: &[(&str, Calls)] = &[
    ("system", Calls::Shell),
    ("systemlist", Calls::Shell),
    ("job_start", Calls::Shell),
    ("jobstart", Calls::Shell),
    ("term_start", Calls::Shell),
    ("termopen", Calls::Shell),
    ("delete", Calls::Delete),
    ("rename", Calls::Rename),
    ("writefile", Calls::WriteSecond),
    ("mkdir", Calls::WriteFirst),
    ("readfile", Calls::ReadFirst),
    ("execute", Calls::Commands),
    ("feedkeys", Calls::Opaque(Unfollowed::Evaluates)),
    ("luaeval", Calls::Opaque(Unfollowed::Evaluates)),
    ("pyeval", Calls::Opaque(Unfollowed::Evaluates)),
    ("py3eval", Calls::Opaque(Unfollowed::Evaluates)),
    ("pyxeval", Calls::Opaque(Unfollowed::Evaluates)),
    ("perleval", Calls::Opaque(Unfollowed::Evaluates)),
    ("eval", Calls::Opaque(Unfollowed::Evaluates)),
    ("call", Calls::Opaque(Unfollowed::DynamicName)),
    ("function", Calls::Opaque(Unfollowed::DynamicName)),
    ("funcref", Calls::Opaque(Unfollowed::DynamicName)),
    ("libcall", Calls::Opaque(Unfollowed::Native)),
    ("libcallnr", Calls::Opaque(Unfollowed::Native)),
    ("ch_open", Calls::Opaque(Unfollowed::Evaluates)),
];

struct Vim<'l> {
    limits: &'l Limits,
    reading: Reading,
}

impl Vim<'_> {
    fn effect(&mut self, kind: CodeEffectKind, span: &Range<usize>) {
        self.reading
            .effects
            .push(CodeEffect::plain(kind, span.clone()));
    }

    fn opaque(&mut self, why: Unfollowed) {
        self.reading.note(why);
    }

    fn inside(&mut self, language: Language, code: &str, span: &Range<usize>) {
        let inner = self.limits.read_inside(language, code);
        self.reading.absorb(inner, span);
    }

    /// What a shell or an interpreter is given to read of the text that is edited is its code.
    fn feeds(&mut self, command: &str) {
        let mut words = command.split_whitespace();
        let program = words.next().map(base_name).unwrap_or_default();
        let stem = program.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
        let runs = SHELLS.contains(program)
            || matches!(stem, "python" | "perl" | "ruby" | "node" | "php" | "lua");
        if runs && words.all(|word| word.starts_with('-')) {
            self.opaque(Unfollowed::Evaluates);
        }
    }

    /// The commands of a line. Each is cut off at its bar unless it takes the whole line.
    fn line(&mut self, line: &str, span: &Range<usize>) {
        let mut rest = line;
        loop {
            rest = match self.command(rest, span) {
                Some(after) => after,
                None => return,
            };
        }
    }

    /// One command; what follows its bar is handed back.
    fn command<'t>(&mut self, line: &'t str, span: &Range<usize>) -> Option<&'t str> {
        let mut rest = line;
        for _ in 0..MAX_PREFIXES {
            let whole = rest.trim_start_matches([' ', '\t', ':']);
            rest = after_range(whole);
            if rest.is_empty() || rest.starts_with('"') {
                return None;
            }
            if let Some(command) = rest.strip_prefix('!') {
                // With a range in front it reads these lines.
                if rest.len() < whole.len() {
                    self.feeds(command);
                }
                self.shell(command, span);
                return None;
            }
            let (name, after) = name(rest);
            if name.is_empty() {
                // `@:`, `&&`, `>`, `=`: keys, a repeated command, or a shift.
                if rest.starts_with(['@', '*']) {
                    self.opaque(Unfollowed::Evaluates);
                }
                return bar(rest).1;
            }
            if name.starts_with(|letter: char| letter.is_ascii_uppercase())
                && name != "Next"
                && name != "P"
            {
                self.opaque(Unfollowed::DynamicName);
                return None;
            }
            let after = after.strip_prefix('!').unwrap_or(after);
            let Some(does) = known(name) else {
                return bar(after).1;
            };
            match does {
                Does::Prefix => {
                    rest = after
                        .trim_start()
                        .trim_start_matches(|letter: char| letter.is_ascii_digit());
                }
                Does::AfterWords(words) => {
                    rest = after.trim_start();
                    for _ in 0..words {
                        rest = rest
                            .find([' ', '\t'])
                            .and_then(|at| rest.get(at..))
                            .unwrap_or("")
                            .trim_start();
                    }
                }
                Does::Global => {
                    let mut letters = after.char_indices();
                    let (_, delimiter) = letters.next()?;
                    let mut escaped = false;
                    let end = letters.find(|(_, letter)| {
                        let ends = *letter == delimiter && !escaped;
                        escaped = *letter == '\\' && !escaped;
                        ends
                    });
                    rest = end
                        .and_then(|(at, letter)| after.get(at + letter.len_utf8()..))
                        .unwrap_or("");
                }
                Does::ReadFile
                | Does::WriteFile
                | Does::WriteBuffer
                | Does::Edit
                | Does::Shell
                | Does::Program(_)
                | Does::Execute
                | Does::Normal
                | Does::Set
                | Does::Code(_)
                | Does::Expression
                | Does::Maps => return self.run(does, after, span),
            }
        }
        self.opaque(Unfollowed::TooDeep);
        None
    }

    fn run<'t>(&mut self, does: Does, after: &'t str, span: &Range<usize>) -> Option<&'t str> {
        let argument = after.trim_start();
        let (own, next) = bar(argument);
        let file = own.trim();
        match does {
            Does::ReadFile | Does::WriteFile | Does::Edit if argument.starts_with('!') => {
                self.feeds(argument.trim_start_matches('!'));
                self.shell(argument.trim_start_matches('!'), span);
                return None;
            }
            Does::ReadFile | Does::Edit => {
                let file = file
                    .split_whitespace()
                    .rfind(|word| !word.starts_with("++") && !word.starts_with('+'));
                if let Some(file) = file.filter(|file| !file.starts_with(['%', '#'])) {
                    let operand = Operand::Known(file.to_owned());
                    self.effect(
                        if file.contains("://") {
                            CodeEffectKind::Connect(operand)
                        } else {
                            CodeEffectKind::Read { path: operand }
                        },
                        span,
                    );
                }
                // `+command` of `:edit` runs a command.
                if let Some(command) = own.trim().strip_prefix('+') {
                    self.inside(Language::Vim, command, span);
                }
            }
            Does::WriteFile => {
                let append = file.strip_prefix(">>");
                let path = path(append.unwrap_or(file).trim());
                self.effect(
                    if append.is_some() {
                        CodeEffectKind::Append { path }
                    } else {
                        CodeEffectKind::Write { path }
                    },
                    span,
                );
            }
            Does::WriteBuffer => {
                let path = path(file);
                self.effect(CodeEffectKind::Write { path }, span);
            }
            Does::Shell => {
                self.shell(argument, span);
                return None;
            }
            Does::Program(program) => {
                let line = format!("{program} {}", own.trim());
                self.effect(
                    CodeEffectKind::Shell(Operand::Known(line.trim_end().to_owned())),
                    span,
                );
            }
            Does::Execute => match literal(file) {
                Some((code, "")) => self.inside(Language::Vim, &code, span),
                Some(_) | None => {
                    self.effect(CodeEffectKind::Eval, span);
                    self.opaque(Unfollowed::Evaluates);
                }
            },
            Does::Normal => {
                // Keys that reach the command line, a filter, a register or an expression.
                if argument.contains([':', '!', '@', '=', '\u{12}', '\u{1b}']) {
                    self.opaque(Unfollowed::Evaluates);
                }
                return None;
            }
            Does::Set => {
                let runs = [
                    "prg", "shell", "sh=", "expr", "func", "eval", "=%!", "modeline",
                ];
                if runs.iter().any(|word| own.contains(word)) && own.contains('=') {
                    self.opaque(Unfollowed::Evaluates);
                }
            }
            Does::Code(language) => {
                if argument.starts_with("<<") {
                    // The code stands on the next lines, which are read as commands here.
                    self.opaque(Unfollowed::Unreadable);
                } else if let Some(expression) = argument.strip_prefix('=') {
                    self.inside(language, expression, span);
                } else {
                    self.inside(language, argument, span);
                }
                return None;
            }
            Does::Expression => self.expression(own, span),
            Does::Maps => {
                self.opaque(Unfollowed::Evaluates);
                return None;
            }
            Does::Prefix | Does::Global | Does::AfterWords(_) => {}
        }
        next
    }

    fn shell(&mut self, line: &str, span: &Range<usize>) {
        // `%` and `#` stand for file names, `!` for the last command.
        let line = line.trim();
        let end = line.find(['%', '#', '!']);
        let operand = match end.and_then(|end| line.get(..end)) {
            Some("") => Operand::Unknown,
            Some(start) => Operand::Starts(start.to_owned()),
            None => Operand::Known(line.to_owned()),
        };
        self.effect(CodeEffectKind::Shell(operand), span);
    }

    /// Finds calls in an expression.
    fn expression(&mut self, text: &str, span: &Range<usize>) {
        let mut rest = text;
        while !rest.is_empty() {
            if rest.starts_with(['\'', '"']) {
                match literal(rest) {
                    Some((_, after)) => {
                        rest = after;
                        continue;
                    }
                    // A double quote without another begins a comment.
                    None if rest.starts_with('"') => return,
                    None => {
                        self.opaque(Unfollowed::Unreadable);
                        return;
                    }
                }
            }
            let (word, after) = name(rest);
            if word.is_empty() {
                let mut letters = rest.chars();
                letters.next();
                rest = letters.as_str();
                continue;
            }
            if let Some(arguments) = after.strip_prefix('(')
                && let Some((_, calls)) = FUNCTIONS.iter().find(|(known, _)| *known == word)
            {
                self.function(*calls, arguments, span);
            }
            rest = after;
        }
    }

    fn function(&mut self, calls: Calls, arguments: &str, span: &Range<usize>) {
        let (first, after) = constant(arguments);
        let second = after.trim_start().strip_prefix(',').map(constant);
        match calls {
            Calls::Shell => self.effect(CodeEffectKind::Shell(first), span),
            Calls::Delete => {
                let recursive = !after.trim_start().starts_with(')')
                    && !matches!(&second, Some((Operand::Known(flags), _)) if !flags.contains('r'));
                self.effect(
                    CodeEffectKind::Delete {
                        path: first,
                        recursive,
                    },
                    span,
                );
            }
            Calls::Rename => {
                let to = second.map_or(Operand::Unknown, |(to, _)| to);
                self.effect(CodeEffectKind::Rename { from: first, to }, span);
            }
            Calls::WriteSecond => {
                // The first argument is a list. Its end is not looked for where it is long.
                let near = arguments
                    .char_indices()
                    .nth(MAX_LIST)
                    .and_then(|(end, _)| arguments.get(..end))
                    .unwrap_or(arguments);
                let path = near
                    .rsplit_once(']')
                    .and_then(|(_, rest)| rest.trim_start().strip_prefix(','))
                    .map_or(Operand::Unknown, |rest| constant(rest).0);
                self.effect(CodeEffectKind::Write { path }, span);
            }
            Calls::WriteFirst => self.effect(CodeEffectKind::Write { path: first }, span),
            Calls::ReadFirst => self.effect(CodeEffectKind::Read { path: first }, span),
            Calls::Commands => match first {
                Operand::Known(code) => self.inside(Language::Vim, &code, span),
                Operand::Unknown | Operand::Starts(_) => {
                    self.effect(CodeEffectKind::Eval, span);
                    self.opaque(Unfollowed::Evaluates);
                }
            },
            Calls::Opaque(why) => self.opaque(why),
        }
    }
}

/// A constant argument, and what follows it.
fn constant(text: &str) -> (Operand, &str) {
    let text = text.trim_start();
    match literal(text) {
        Some((value, after)) => {
            let ends = after.trim_start();
            if ends.starts_with([')', ',']) || ends.is_empty() {
                (Operand::Known(value), after)
            } else if value.is_empty() {
                (Operand::Unknown, after)
            } else {
                (Operand::Starts(value), after)
            }
        }
        None => (Operand::Unknown, text),
    }
}

/// A string at the start of the text, and what follows it.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut letters = text.chars();
    let quote = letters
        .next()
        .filter(|letter| matches!(letter, '\'' | '"'))?;
    let mut value = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            // A doubled quote stands for one.
            '\'' if quote == '\'' => match letters.as_str().strip_prefix('\'') {
                Some(after) => {
                    value.push('\'');
                    letters = after.chars();
                }
                None => return Some((value, letters.as_str())),
            },
            '"' if quote == '"' => return Some((value, letters.as_str())),
            '\\' if quote == '"' => match letters.next()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

fn path(file: &str) -> Operand {
    if file.is_empty() || file.starts_with(['%', '#', '`']) {
        Operand::Unknown
    } else {
        Operand::Known(file.to_owned())
    }
}

/// Skips a range: `%`, `1,$`, `.,+3`, `'<,'>`, `/a/,/b/`.
fn after_range(text: &str) -> &str {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(|letter: char| {
            letter.is_ascii_digit()
                || matches!(
                    letter,
                    '%' | '$' | '.' | ',' | ';' | '+' | '-' | ' ' | '\t' | ':'
                )
        });
        rest = match trimmed.chars().next() {
            Some('\'') => trimmed
                .char_indices()
                .nth(2)
                .and_then(|(at, _)| trimmed.get(at..))
                .unwrap_or(""),
            Some(slash @ ('/' | '?')) => {
                let body = trimmed.get(1..).unwrap_or("");
                body.find(slash)
                    .and_then(|at| body.get(at + 1..))
                    .unwrap_or("")
            }
            Some(_) | None => return trimmed,
        };
    }
}

/// The name of a command or function, and what follows it.
fn name(text: &str) -> (&str, &str) {
    let end = text
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .unwrap_or(text.len());
    (text.get(..end).unwrap_or(""), text.get(end..).unwrap_or(""))
}

fn known(name: &str) -> Option<Does> {
    COMMANDS
        .iter()
        .find(|(short, rest, _)| {
            name.strip_prefix(short)
                .is_some_and(|more| rest.starts_with(more))
        })
        .map(|(_, _, does)| *does)
        // `s/a/b/` and `g/a/d` are cut at the delimiter already; `sil!` at its bang.
        .or_else(|| {
            name.starts_with("python")
                .then_some(Does::Code(Language::Python))
        })
}

/// A command's own text and what stands after its bar. Bars in quotes do not count.
fn bar(text: &str) -> (&str, Option<&str>) {
    let mut quote = None;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' | '"'
                if quote.is_none()
                    && text.get(at + 1..).is_some_and(|rest| rest.contains(letter)) =>
            {
                quote = Some(letter);
            }
            _ if quote == Some(letter) => quote = None,
            '|' if quote.is_none() => {
                return (text.get(..at).unwrap_or(text), text.get(at + 1..));
            }
            _ => {}
        }
    }
    (text, None)
}
