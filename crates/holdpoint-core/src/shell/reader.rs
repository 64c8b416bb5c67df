//! Reads a bash text into its syntax tree.
//!
//! The reader follows bash and works from a list of what it knows: anything else is refused,
//! so a tree that comes back accounts for every byte of the text. Depth and work are bounded;
//! input of any shape ends in a tree or a refusal. It expands nothing and judges nothing.
//!
//! Lists, pipelines, simple commands and redirects are here; `compound` has the rest of the
//! grammar, `words`, `quotes`, `expansions` and `heredocs` what the grammar is made of.

use super::cursor::{Budget, END, MAX_TEXT, Origin, Reader, ends_word};
use super::quotes::Quoting;
use super::refusal::{Refusal, RefusalReason};
use super::tree::{
    CommandKind, CommandNode, Connector, Item, Part, Pipeline, Redirect, RedirectKind, Script,
    Simple, Word,
};
use super::words::{Entry, Position};

/// Reads a text as bash would read it.
pub fn read(text: &str) -> Result<Script, Refusal> {
    check(text)?;
    Reader::new(text, Origin::Same, 0, &Budget::new()).whole_script()
}

/// Reads text that bash expands without running it as a command: the inside of a variable's
/// subscript or of an arithmetic expression kept in quotes.
pub(super) fn read_expanding(text: &str) -> Result<Vec<Part>, Refusal> {
    check(text)?;
    Reader::new(text, Origin::Same, 0, &Budget::new()).expanding_text(Quoting::Document)
}

fn check(text: &str) -> Result<(), Refusal> {
    if text.len() > MAX_TEXT {
        return Err(Refusal {
            reason: RefusalReason::TooLong,
            at: MAX_TEXT,
        });
    }
    if let Some(at) = text.find('\0') {
        return Err(Refusal {
            reason: RefusalReason::NulByte,
            at,
        });
    }
    Ok(())
}

/// Words that end a list when they stand where a command would begin.
const CLOSERS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

/// Every reserved word that can stand where a command begins.
const RESERVED: [&str; 20] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "time", "coproc", "{", "}", "!", "[[",
];

/// Commands whose arguments may be assignments of arrays.
const DECLARING: [&str; 8] = [
    "declare", "typeset", "local", "export", "readonly", "alias", "eval", "let",
];

/// Whether a command is given a here-document.
fn has_document(node: &CommandNode) -> bool {
    let document = |redirect: &Redirect| matches!(redirect.kind, RedirectKind::HereDocument(_));
    node.redirects.iter().any(document)
}

impl Reader<'_> {
    /// Reads a text to its end.
    pub(super) fn whole_script(&mut self) -> Result<Script, Refusal> {
        let items = self.list()?;
        if self.peek() != END {
            return self.unexpected();
        }
        Ok(Script {
            items,
            here_documents: std::mem::take(&mut self.here.read),
            span: self.span_from(0),
        })
    }

    /// Reads commands until something that cannot begin one.
    pub(super) fn list(&mut self) -> Result<Vec<Item>, Refusal> {
        let mut items = Vec::new();
        loop {
            self.skip_lines()?;
            if self.list_ends() {
                return Ok(items);
            }
            let start = self.pos;
            let pipeline = self.pipeline()?;
            let documented = self.enclosing > 0
                && !self.here.is_empty()
                && !pipeline.commands.last().is_some_and(has_document);
            self.skip_blanks();
            let connector = match (self.peek(), self.second()) {
                (b'&', b'&') => Connector::And,
                (b'|', b'|') => Connector::Or,
                (b'&', _) => Connector::Background,
                (b';', b';' | b'&') => Connector::Sequence,
                (b';' | b'\n' | b')' | END, _) => Connector::Sequence,
                // `if (a) then (b) fi`: no separator is needed after a compound command.
                _ if self.list_ends() => Connector::Sequence,
                _ => return self.unexpected(),
            };
            items.push(Item {
                pipeline,
                connector,
            });
            match connector {
                Connector::And | Connector::Or => {
                    self.bump();
                    self.bump();
                    self.skip_lines()?;
                    if self.list_ends() {
                        return self.unexpected();
                    }
                }
                Connector::Background => self.bump(),
                Connector::Sequence => match (self.peek(), self.second()) {
                    (b';', b';' | b'&') => return Ok(items),
                    (b';', _) => {
                        self.bump();
                        self.skip_blanks();
                        // bash 5.2 writes such code down without the `;` and reads it again.
                        if documented && self.peek() != b'\n' && !self.list_ends() {
                            return self.refuse_at(RefusalReason::AmbiguousParentheses, start);
                        }
                    }
                    _ => {}
                },
            }
        }
    }

    /// Reads a list that must hold a command.
    pub(super) fn full_list(&mut self) -> Result<Vec<Item>, Refusal> {
        let items = self.list()?;
        if items.is_empty() {
            return self.unexpected();
        }
        Ok(items)
    }

    fn list_ends(&mut self) -> bool {
        match (self.peek(), self.second()) {
            (END | b')', _) | (b';', b';' | b'&') => true,
            _ => self.reserved().is_some_and(|word| CLOSERS.contains(&word)),
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Refusal> {
        self.pay()?;
        let mut pipeline = Pipeline {
            negated: false,
            timed: false,
            commands: Vec::new(),
        };
        if !self.prefixes(&mut pipeline)? {
            return Ok(pipeline);
        }
        loop {
            pipeline.commands.push(self.command()?);
            self.skip_blanks();
            if self.peek() != b'|' || self.second() == b'|' {
                return Ok(pipeline);
            }
            self.bump();
            self.eat(b'&');
            self.skip_lines()?;
        }
    }

    /// Takes any `!` and `time` that stand here; false if no command follows them.
    fn prefixes(&mut self, pipeline: &mut Pipeline) -> Result<bool, Refusal> {
        loop {
            let timed = match self.reserved() {
                Some("!") => {
                    pipeline.negated = !pipeline.negated;
                    false
                }
                Some("time") => {
                    pipeline.timed = true;
                    true
                }
                Some(_) | None => return Ok(true),
            };
            self.pay()?;
            self.take_reserved();
            self.skip_blanks();
            if timed {
                for option in [b"-p".as_slice(), b"--"] {
                    self.skip_option(option);
                }
            }
            if matches!(self.peek(), END | b'\n' | b';' | b')') {
                return Ok(false);
            }
        }
    }

    /// Takes an option of `time` if it stands here as a whole word.
    fn skip_option(&mut self, option: &[u8]) {
        self.peek();
        let end = self.pos + option.len();
        if self.bytes.get(self.pos..end) == Some(option) && ends_word(self.byte(end)) {
            self.pos = end;
            self.skip_blanks();
        }
    }

    /// Reads one command with its redirects.
    pub(super) fn command(&mut self) -> Result<CommandNode, Refusal> {
        self.pay()?;
        self.peek();
        let start = self.pos;
        let reserved = self.reserved();
        let opens = self.peek() == b'(';
        let mut node = match reserved {
            Some(word) if CLOSERS.contains(&word) => return self.unexpected(),
            // After a bar it is a program like any other.
            Some("time") => return self.simple(start),
            Some(word) => self.deeper(|inside| inside.reserved_command(word))?,
            None if opens => self.deeper(|inside| inside.parenthesised())?,
            None => return self.simple(start),
        };
        loop {
            self.skip_blanks();
            let Some(redirect) = self.redirect()? else {
                break;
            };
            node.redirects.push(redirect);
        }
        node.span = self.span_from(start);
        Ok(node)
    }

    /// Reads `A=1 program words < file`, or a function definition without its reserved word.
    fn simple(&mut self, start: usize) -> Result<CommandNode, Refusal> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        let mut declares = false;
        let mut end = self.pos;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                end = self.pos;
                continue;
            }
            let next = self.peek();
            if next == b'(' && simple.words.len() == 1 && simple.assignments.is_empty() {
                return self.named_function(start, simple, redirects);
            }
            let process = matches!(next, b'<' | b'>') && self.second() == b'(';
            if ends_word(next) && !process {
                break;
            }
            let first = simple.words.is_empty();
            let entry = if first {
                self.entry(Position::Program)?
            } else if declares {
                self.entry(Position::Argument)?
            } else {
                Entry::Word(self.read_word(Position::Argument)?)
            };
            self.pay()?;
            match entry {
                Entry::Assignment(assignment) if first => simple.assignments.push(assignment),
                Entry::Assignment(assignment) => {
                    let word = self.assigning_word(assignment)?;
                    simple.words.push(word);
                }
                Entry::Word(word) => {
                    if first {
                        declares = word.plain().is_some_and(|name| DECLARING.contains(&name));
                    }
                    simple.words.push(word);
                }
            }
            end = self.pos;
        }
        if end == start {
            return self.unexpected();
        }
        let resume = std::mem::replace(&mut self.pos, end);
        let span = self.span_from(start);
        self.pos = resume;
        Ok(CommandNode {
            kind: CommandKind::Simple(simple),
            redirects,
            span,
        })
    }

    /// An assignment among the arguments is a word like the others to whoever walks the tree.
    fn assigning_word(&mut self, assignment: super::tree::AssignmentNode) -> Result<Word, Refusal> {
        let mut parts = Vec::new();
        self.push_text(&mut parts, &assignment.name, false)?;
        if let Some(mut subscript) = assignment.subscript {
            self.push_text(&mut parts, "[", false)?;
            parts.append(&mut subscript);
            self.push_text(&mut parts, "]", false)?;
        }
        let sign = if assignment.append { "+=" } else { "=" };
        self.push_text(&mut parts, sign, false)?;
        parts.extend(assignment.value.parts);
        Ok(Word {
            parts,
            span: assignment.span,
        })
    }

    fn named_function(
        &mut self,
        start: usize,
        simple: Simple,
        redirects: Vec<Redirect>,
    ) -> Result<CommandNode, Refusal> {
        self.bump();
        self.skip_blanks();
        let mut words = simple.words;
        let (Some(name), true, true) = (words.pop(), redirects.is_empty(), self.eat(b')')) else {
            return self.unexpected();
        };
        let kind = self.deeper(|inside| inside.function_body(name))?;
        Ok(CommandNode {
            kind,
            redirects: Vec::new(),
            span: self.span_from(start),
        })
    }

    /// Reads a redirect if one stands here.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, Refusal> {
        self.peek();
        let start = self.pos;
        let sign = self.after_descriptor();
        let first = self.byte(sign);
        let second = self.byte(self.settle(sign + 1));
        let redirects = match first {
            b'<' | b'>' => second != b'(',
            b'&' => sign == start && second == b'>',
            _ => false,
        };
        if !redirects {
            return Ok(None);
        }
        self.pay()?;
        let descriptor = self
            .slice(start, sign)
            .replace("\\\n", "")
            .trim_matches(['{', '}'])
            .to_owned();
        self.pos = sign;
        let (kind, strip_tabs) = self.redirect_kind();
        self.skip_spaces();
        let (kind, target) = if let RedirectKind::HereDocument(_) = kind {
            let delimiter = self.read_word(Position::Delimiter)?;
            let number = self.announce(&delimiter, strip_tabs)?;
            (RedirectKind::HereDocument(number), delimiter)
        } else {
            (kind, self.read_word(Position::Argument)?)
        };
        Ok(Some(Redirect {
            descriptor: (!descriptor.is_empty()).then_some(descriptor),
            kind,
            target,
            span: self.span_from(start),
        }))
    }

    /// Where the sign of a redirect would stand: after digits or `{name}`.
    fn after_descriptor(&self) -> usize {
        let mut at = self.pos;
        if self.byte(at) == b'{' {
            let mut end = self.settle(at + 1);
            while super::cursor::continues_name(self.byte(end)) {
                end = self.settle(end + 1);
            }
            let named = end > at + 1 && self.byte(end) == b'}';
            return if named { self.settle(end + 1) } else { at };
        }
        while self.byte(at).is_ascii_digit() {
            at = self.settle(at + 1);
        }
        at
    }

    /// Takes the sign of a redirect; the flag is set for `<<-`.
    fn redirect_kind(&mut self) -> (RedirectKind, bool) {
        let sign = (self.peek(), self.second(), self.third());
        let (kind, length, strip_tabs) = match sign {
            (b'&', b'>', b'>') => (RedirectKind::AppendBoth, 3, false),
            (b'&', ..) => (RedirectKind::WriteBoth, 2, false),
            (b'<', b'<', b'<') => (RedirectKind::HereString, 3, false),
            (b'<', b'<', b'-') => (RedirectKind::HereDocument(0), 3, true),
            (b'<', b'<', _) => (RedirectKind::HereDocument(0), 2, false),
            (b'<', b'&', _) => (RedirectKind::DuplicateInput, 2, false),
            (b'<', b'>', _) => (RedirectKind::ReadWrite, 2, false),
            (b'<', ..) => (RedirectKind::Read, 1, false),
            (_, b'>', _) => (RedirectKind::Append, 2, false),
            (_, b'&', _) => (RedirectKind::DuplicateOutput, 2, false),
            (_, b'|', _) => (RedirectKind::Clobber, 2, false),
            _ => (RedirectKind::Write, 1, false),
        };
        for _ in 0..length {
            self.bump();
        }
        (kind, strip_tabs)
    }

    /// Skips spaces and tabs.
    pub(super) fn skip_spaces(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') || self.ends_line() {
            self.pos += 1;
        }
    }

    /// Skips spaces, and a comment if one follows.
    pub(super) fn skip_blanks(&mut self) {
        self.skip_spaces();
        if self.peek() == b'#' {
            self.take_run(|byte| byte != b'\n');
        }
    }

    /// Skips blanks, comments and empty lines.
    pub(super) fn skip_lines(&mut self) -> Result<(), Refusal> {
        self.skip_blanks();
        while self.peek() == b'\n' {
            self.end_line()?;
            self.skip_blanks();
        }
        Ok(())
    }

    /// The reserved word that stands here, if a whole word here is one.
    pub(super) fn reserved(&mut self) -> Option<&'static str> {
        let first = self.peek();
        if !b"itefwudcs{}![".contains(&first) {
            return None;
        }
        RESERVED.into_iter().find(|word| self.stands_here(word))
    }

    /// Whether these bytes stand here, unquoted, as a whole word.
    pub(super) fn stands_here(&self, word: &str) -> bool {
        let mut at = self.settle(self.pos);
        for byte in word.bytes() {
            if self.byte(at) != byte {
                return false;
            }
            at = self.settle(at + 1);
        }
        let process =
            matches!(self.byte(at), b'<' | b'>') && self.byte(self.settle(at + 1)) == b'(';
        let line_ends = self.byte(at) == b'\r' && matches!(self.byte(at + 1), b'\n' | END);
        (ends_word(self.byte(at)) || line_ends) && !process
    }

    /// Takes the word that `stands_here` found.
    pub(super) fn take_reserved(&mut self) {
        while !ends_word(self.peek()) && !self.ends_line() {
            self.bump();
        }
    }
}
