//! Words: what stands between blanks and operators, and assignments among them.
//!
//! Promises that a word ends where bash ends it and that every piece knows how it was quoted.
//! Brace, tilde and glob characters are marked, not expanded.

use super::cursor::{END, Reader, begins_name, continues_name, ends_word};
use super::refusal::{Refusal, RefusalReason};
use super::tree::{AssignmentNode, Part, Word};

/// Where a word stands, which decides what some characters mean in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The first word of a command: `name(` begins a function.
    Program,
    /// Any other word, and patterns: `@(` begins an extended pattern.
    Argument,
    /// The value of an assignment: a tilde may follow a colon.
    Value,
    /// The delimiter of a here-document: a carriage return belongs to it.
    Delimiter,
    /// The right side of `=~`: parentheses and bars belong to it.
    Regex,
}

/// What a command's next word is.
pub(super) enum Entry {
    Assignment(AssignmentNode),
    Word(Word),
}

impl Reader<'_> {
    /// Reads a word that must be there.
    pub(super) fn read_word(&mut self, position: Position) -> Result<Word, Refusal> {
        self.peek();
        let start = self.pos;
        let mut parts = Vec::new();
        self.word_parts(&mut parts, position)?;
        if self.pos == start {
            return self.unexpected();
        }
        Ok(Word {
            parts,
            span: self.span_from(start),
        })
    }

    /// Reads pieces until the word ends.
    pub(super) fn word_parts(
        &mut self,
        parts: &mut Vec<Part>,
        position: Position,
    ) -> Result<(), Refusal> {
        let mut braces = 0usize;
        self.tilde(parts)?;
        loop {
            let next = self.peek();
            match next {
                b'<' | b'>' if self.second() == b'(' => self.process(parts)?,
                b'(' | b'|' if position == Position::Regex => self.regex_group(parts)?,
                _ if ends_word(next) => return Ok(()),
                b'\r' if position != Position::Delimiter && self.ends_line() => return Ok(()),
                b'*' | b'?' | b'+' | b'@' | b'!'
                    if position == Position::Argument && self.second() == b'(' =>
                {
                    self.extended(parts)?;
                }
                b'*' | b'?' | b'[' => {
                    self.bump();
                    self.push(parts, Part::Glob(char::from(next)))?;
                }
                b'{' => {
                    self.bump();
                    braces += 1;
                    self.push(parts, Part::Brace('{'))?;
                }
                b',' | b'}' if braces > 0 => {
                    self.bump();
                    self.push(parts, Part::Brace(char::from(next)))?;
                }
                b':' if position == Position::Value => {
                    self.bump();
                    self.push_text(parts, ":", false)?;
                    self.tilde(parts)?;
                }
                _ if self.piece(parts)? => {}
                _ => {
                    let mut run = self.take_run(is_plain);
                    if run.is_empty() {
                        run = self.take_char();
                    }
                    self.push_text(parts, run, false)?;
                }
            }
        }
    }

    /// A carriage return here is the first half of a line's end.
    pub(super) fn ends_line(&self) -> bool {
        self.byte(self.pos) == b'\r' && matches!(self.byte(self.pos + 1), b'\n' | END)
    }

    /// Reads `~` or `~user` if it stands here.
    fn tilde(&mut self, parts: &mut Vec<Part>) -> Result<(), Refusal> {
        if self.peek() != b'~' {
            return Ok(());
        }
        let prefix =
            self.take_run(|byte| continues_name(byte) || matches!(byte, b'~' | b'-' | b'+' | b'.'));
        self.push(parts, Part::Tilde(prefix.to_owned()))
    }

    /// Reads `@(…)` and its like. Where `extglob` is off bash rejects the line and may go on
    /// with the next one, so a pattern must not reach over a line's end.
    fn extended(&mut self, parts: &mut Vec<Part>) -> Result<(), Refusal> {
        let start = self.pos;
        let mut inside = Vec::new();
        let sign = self.take_char();
        self.push_text(&mut inside, sign, false)?;
        self.deeper(|reader| reader.balanced(&mut inside))?;
        if self.slice(start, self.pos).contains('\n') {
            return self.refuse_at(RefusalReason::UnexpectedToken, start);
        }
        self.push(parts, Part::Extended(inside))
    }

    /// Reads a `|`, or a group with its parentheses, of a regular expression.
    fn regex_group(&mut self, parts: &mut Vec<Part>) -> Result<(), Refusal> {
        if self.peek() == b'|' {
            self.bump();
            return self.push_text(parts, "|", false);
        }
        self.deeper(|reader| reader.balanced(parts))
    }

    /// Reads parentheses and what they hold as text of a pattern.
    fn balanced(&mut self, parts: &mut Vec<Part>) -> Result<(), Refusal> {
        let start = self.pos;
        let mut open = 0usize;
        loop {
            match self.peek() {
                END => return self.refuse_at(RefusalReason::UnexpectedEnd, start),
                b'(' => {
                    open += 1;
                    self.bump();
                    self.push_text(parts, "(", false)?;
                }
                b')' => {
                    open = open.saturating_sub(1);
                    self.bump();
                    self.push_text(parts, ")", false)?;
                    if open == 0 {
                        return Ok(());
                    }
                }
                _ => {
                    if !self.piece(parts)? {
                        let text = self.take_char();
                        self.push_text(parts, text, false)?;
                    }
                }
            }
        }
    }

    /// Reads the next word of a command, where an assignment may stand.
    pub(super) fn entry(&mut self, position: Position) -> Result<Entry, Refusal> {
        self.peek();
        let start = self.pos;
        let Some(after_name) = self.name_ahead() else {
            return self.read_word(position).map(Entry::Word);
        };
        let subscripted = self.byte(after_name) == b'[';
        if !subscripted && self.assigns_at(after_name).is_none() {
            return self.read_word(position).map(Entry::Word);
        }
        self.pay()?;
        let name = self.take_name(after_name);
        let mut subscript = None;
        if subscripted {
            self.bump();
            // bash takes everything to the bracket into the word, blanks included.
            subscript = Some(self.deeper(|inside| inside.bracketed())?);
        }
        self.peek();
        let Some(append) = self.assigns_at(self.pos) else {
            let mut parts = Vec::new();
            self.push_text(&mut parts, &name, false)?;
            self.push(&mut parts, Part::Glob('['))?;
            parts.append(&mut subscript.unwrap_or_default());
            self.push_text(&mut parts, "]", false)?;
            self.word_parts(&mut parts, position)?;
            let span = self.span_from(start);
            return Ok(Entry::Word(Word { parts, span }));
        };
        if append {
            self.bump();
        }
        self.bump();
        let value = self.value()?;
        Ok(Entry::Assignment(AssignmentNode {
            name,
            subscript,
            append,
            value,
            span: self.span_from(start),
        }))
    }

    /// Reads what follows the `=` of an assignment.
    fn value(&mut self) -> Result<Word, Refusal> {
        self.peek();
        let start = self.pos;
        let mut parts = Vec::new();
        if self.eat(b'(') {
            let elements = self.deeper(|inside| inside.elements(start))?;
            self.push(&mut parts, Part::Array(elements))?;
        }
        // The word goes on after an array too: `x=(a)b` is one.
        self.word_parts(&mut parts, Position::Value)?;
        Ok(Word {
            parts,
            span: self.span_from(start),
        })
    }

    /// Reads the elements of an array up to its parenthesis.
    fn elements(&mut self, start: usize) -> Result<Vec<Word>, Refusal> {
        let mut elements = Vec::new();
        loop {
            self.skip_lines()?;
            match self.peek() {
                END => return self.refuse_at(RefusalReason::UnclosedCompound, start),
                b')' => {
                    self.bump();
                    return Ok(elements);
                }
                b'[' => {
                    let from = self.pos;
                    self.bump();
                    let mut parts = Vec::new();
                    self.push(&mut parts, Part::Glob('['))?;
                    parts.append(&mut self.deeper(|inside| inside.bracketed())?);
                    self.push_text(&mut parts, "]", false)?;
                    self.word_parts(&mut parts, Position::Argument)?;
                    let span = self.span_from(from);
                    elements.push(Word { parts, span });
                }
                _ => elements.push(self.read_word(Position::Argument)?),
            }
            if self.enclosing > 0 && elements.last().is_some_and(has_escaped_operator) {
                return self.refuse(RefusalReason::UnknownExpansion);
            }
            self.pay()?;
        }
    }

    /// Where a variable's name that begins at the cursor ends.
    pub(super) fn name_ahead(&self) -> Option<usize> {
        let mut at = self.settle(self.pos);
        if !begins_name(self.byte(at)) {
            return None;
        }
        while continues_name(self.byte(at)) {
            at = self.settle(at + 1);
        }
        Some(at)
    }

    /// Takes a name up to an index found by `name_ahead`.
    pub(super) fn take_name(&mut self, end: usize) -> String {
        let mut name = String::new();
        while self.settle(self.pos) < end {
            name.push(char::from(self.peek()));
            self.bump();
        }
        name
    }

    /// Whether `=` (`false`) or `+=` (`true`) stands at an index.
    fn assigns_at(&self, at: usize) -> Option<bool> {
        match self.byte(at) {
            b'=' => Some(false),
            b'+' if self.byte(self.settle(at + 1)) == b'=' => Some(true),
            _ => None,
        }
    }
}

/// A byte without meaning in any unquoted word.
/// `x=(\;)` within a substitution: bash puts such a text together again without its backslash, finds a
/// fault in it and goes on with the next line, whatever quotes that stands in.
fn has_escaped_operator(element: &Word) -> bool {
    element.parts.iter().any(|part| {
        matches!(part, Part::Literal { text, quoted: true } if text.contains([';', '&', '|', '(', ')', '<', '>']))
    })
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(
            byte,
            b'_' | b'-' | b'.' | b'/' | b'=' | b'%' | b'^' | b'~' | b'#'
        )
}
