//! Expansions: `$x`, `${…}`, `$(…)`, backquotes, `$((…))`, `$[…]`, `<(…)`.
//!
//! Promises that the code inside an expansion is parsed wherever bash would run it, and that
//! an expansion ends where bash ends it; where bash versions or its own two passes disagree,
//! the text is refused. Values are left to later stages.

use super::cursor::{Copy, END, Origin, Reader, begins_name, continues_name};
use super::quotes::Quoting;
use super::refusal::{Refusal, RefusalReason};
use super::tree::{Arithmetic, CommandKind, Item, Parameter, Part, Script, Substitution};

/// What a `((` turned out to be.
pub(super) enum Parentheses {
    /// Arithmetic, read to its end.
    Arithmetic(Vec<Part>),
    /// Parentheses around parentheses; the last one closes here.
    Nested(usize),
}

/// How far to look at a `((` that is not arithmetic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// To the first parenthesis that settles the question, as for the command `((`.
    Decide,
    /// To the end of the outer parentheses, as for `$((`.
    Close,
}

impl Reader<'_> {
    /// Reads what a `$` begins.
    pub(super) fn dollar(
        &mut self,
        parts: &mut Vec<Part>,
        quoting: Quoting,
    ) -> Result<(), Refusal> {
        self.peek();
        let start = self.pos;
        let next = self.second();
        let bare = quoting == Quoting::Bare;
        match next {
            b'(' if self.third() == b'(' => {
                let part = self.deeper(|inside| inside.double_parentheses(start))?;
                self.push(parts, part)
            }
            b'(' => {
                self.bump();
                let substitution = self.substitution(start)?;
                self.push(parts, Part::Command(substitution))
            }
            b'{' => {
                let parameter = self.deeper(|inside| inside.braced(start, quoting))?;
                self.push(parts, Part::Parameter(parameter))
            }
            b'[' => {
                self.bump();
                self.bump();
                let inside = self.deeper(|inside| inside.bracketed())?;
                let span = self.span_from(start);
                self.push(
                    parts,
                    Part::Arithmetic(Arithmetic {
                        parts: inside,
                        span,
                    }),
                )
            }
            b'\'' if bare => {
                self.bump();
                self.peek();
                let text = self.ansi_quoted()?;
                self.push(parts, Part::AnsiQuoted(text))
            }
            b'"' if bare => {
                self.bump();
                self.peek();
                let inside = self.double_quoted()?;
                self.push(parts, Part::Localized(inside))
            }
            _ if begins_parameter(next) => {
                self.bump();
                let name = self.parameter_name();
                let span = self.span_from(start);
                self.push(
                    parts,
                    Part::Parameter(Parameter {
                        name,
                        prefix: None,
                        operator: String::new(),
                        parts: Vec::new(),
                        span,
                    }),
                )
            }
            _ => {
                self.bump();
                self.push_text(parts, "$", !bare)
            }
        }
    }

    /// Reads the name of a parameter without braces: a name, one digit or one sign.
    fn parameter_name(&mut self) -> String {
        let mut name = String::new();
        let first = self.peek();
        self.bump();
        name.push(char::from(first));
        if begins_name(first) {
            self.rest_of_name(&mut name);
        }
        name
    }

    fn rest_of_name(&mut self, name: &mut String) {
        while continues_name(self.peek()) {
            name.push(char::from(self.peek()));
            self.bump();
        }
    }

    /// Reads `${…}`.
    fn braced(&mut self, start: usize, quoting: Quoting) -> Result<Parameter, Refusal> {
        self.bump();
        self.bump();
        let mut prefix = None;
        if matches!(self.peek(), b'!' | b'#') && begins_parameter(self.second()) {
            prefix = Some(char::from(self.peek()));
            self.bump();
        }
        let first = self.peek();
        // What is left out here is a command in newer shells: `${ list; }`, `${|list; }`.
        if !begins_parameter(first) {
            return self.refuse_at(RefusalReason::UnknownExpansion, start);
        }
        let mut name = self.parameter_name();
        if first.is_ascii_digit() {
            self.rest_of_name(&mut name);
        }
        if !b"}:-=+?#%/^,@[*~".contains(&self.peek()) && self.peek() != END {
            return self.refuse_at(RefusalReason::UnknownExpansion, start);
        }
        let operator_start = self.pos;
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                END => return self.refuse_at(RefusalReason::UnclosedExpansion, start),
                b'}' => break,
                b'\'' if quoting != Quoting::Bare => self.paired_quotes(&mut parts, quoting)?,
                b'$' if quoting != Quoting::Bare && self.second() == b'\'' => {
                    self.bump();
                    self.peek();
                    self.paired_quotes(&mut parts, quoting)?;
                }
                b'$' => self.dollar(&mut parts, quoting)?,
                b'`' => self.backquoted(&mut parts, quoting)?,
                b'<' | b'>' if quoting == Quoting::Bare && self.second() == b'(' => {
                    self.process(&mut parts)?;
                }
                _ => {
                    if !self.piece(&mut parts)? {
                        let text = self.take_char();
                        self.push_text(&mut parts, text, false)?;
                    }
                }
            }
        }
        let operator = self.slice(operator_start, self.pos).to_owned();
        self.bump();
        Ok(Parameter {
            name,
            prefix,
            operator,
            parts,
            span: self.span_from(start),
        })
    }

    /// Reads `(…)` as code, the cursor on the parenthesis.
    pub(super) fn substitution(&mut self, start: usize) -> Result<Substitution, Refusal> {
        self.bump();
        let script = self.deeper(|inside| inside.enclosed_script(start))?;
        Ok(Substitution {
            script,
            span: self.span_from(start),
        })
    }

    fn enclosed_script(&mut self, start: usize) -> Result<Script, Refusal> {
        let outer = std::mem::take(&mut self.here);
        self.enclosing += 1;
        let inside = self.pos;
        let items = self.list()?;
        self.enclosing -= 1;
        let span = self.span_from(inside);
        if self.peek() == END {
            return self.refuse_at(RefusalReason::UnclosedSubstitution, start);
        }
        if !self.eat(b')') {
            return self.unexpected();
        }
        let here = std::mem::replace(&mut self.here, outer);
        if !here.announced.is_empty() {
            return self.refuse(RefusalReason::UnclosedHereDoc);
        }
        // bash writes such code down and reads it again, and does not always get it right.
        if !here.read.is_empty() && holds_case(&items) {
            return self.refuse_at(RefusalReason::AmbiguousParentheses, start);
        }
        Ok(Script {
            items,
            here_documents: here.read,
            span,
        })
    }

    /// Reads `<(…)` or `>(…)`.
    pub(super) fn process(&mut self, parts: &mut Vec<Part>) -> Result<(), Refusal> {
        self.peek();
        let start = self.pos;
        self.bump();
        let substitution = self.substitution(start)?;
        self.push(parts, Part::Process(substitution))
    }

    /// Reads `` `…` ``: the code is what remains after one level of backslashes.
    pub(super) fn backquoted(
        &mut self,
        parts: &mut Vec<Part>,
        quoting: Quoting,
    ) -> Result<(), Refusal> {
        self.peek();
        let start = self.pos;
        self.pos += 1;
        let mut code = Copy::default();
        loop {
            let from = self.pos;
            self.take_run(|byte| !matches!(byte, b'`' | b'\\'));
            self.copy(from, self.pos, &mut code);
            match self.byte(self.pos) {
                END => return self.refuse_at(RefusalReason::UnclosedSubstitution, start),
                b'`' => break,
                _ => {}
            }
            let backslash = self.pos;
            self.pos += 1;
            match self.byte(self.pos) {
                b'\n' => self.pos += 1,
                b'$' | b'`' | b'\\' => {
                    self.pos += 1;
                    self.copy(backslash + 1, self.pos, &mut code);
                }
                b'"' if quoting == Quoting::Double => {
                    self.pos += 1;
                    self.copy(backslash + 1, self.pos, &mut code);
                }
                _ => {
                    self.take_char();
                    self.copy(backslash, self.pos, &mut code);
                }
            }
        }
        // One more stretch gives the end a place.
        self.copy(self.pos, self.pos, &mut code);
        self.pos += 1;
        let script = self.deeper(|outer| {
            let origin = Origin::Copied(code.stretches);
            Reader::new(&code.text, origin, outer.depth, outer.budget).whole_script()
        })?;
        let span = self.span_from(start);
        self.push(parts, Part::Command(Substitution { script, span }))
    }

    /// Reads `$((…))`, or `$( (…) )` written without the blank.
    fn double_parentheses(&mut self, start: usize) -> Result<Part, Refusal> {
        let close = match self.not_arithmetic.get(&start).copied() {
            Some(close) => close,
            None => {
                self.bump();
                self.bump();
                self.bump();
                match self.parentheses(start, Search::Close)? {
                    Parentheses::Arithmetic(parts) => {
                        let span = self.span_from(start);
                        // bash looks once more, and runs it if it has doubts.
                        let whole = self.slice(start, self.pos);
                        let inside = whole.strip_prefix("$((");
                        let inside = inside.and_then(|rest| rest.strip_suffix("))"));
                        if !is_balanced(inside.unwrap_or(whole)) {
                            return self.refuse_at(RefusalReason::AmbiguousParentheses, start);
                        }
                        return Ok(Part::Arithmetic(Arithmetic { parts, span }));
                    }
                    Parentheses::Nested(close) => close,
                }
            }
        };
        self.pos = start;
        self.bump();
        let substitution = self.substitution(start)?;
        // bash has already decided where this ends, by counting parentheses. If reading it as
        // code ends elsewhere, what follows would be code to bash and hidden from us. And where it
        // was counting within double quotes it has taken `$'…'` apart: what was text is code then.
        if self.pos != close || self.mentions_document(start) || self.mentions_ansi_quotes(start) {
            return self.refuse_at(RefusalReason::AmbiguousParentheses, start);
        }
        Ok(Part::Command(substitution))
    }

    /// Whether `$'` stands anywhere since `start`.
    fn mentions_ansi_quotes(&self, start: usize) -> bool {
        self.slice(start, self.pos)
            .replace("\\\n", "")
            .contains("$'")
    }

    /// Reads on after a `((` that began at `start` and decides what it is.
    pub(super) fn parentheses(
        &mut self,
        start: usize,
        search: Search,
    ) -> Result<Parentheses, Refusal> {
        let mut parts = Vec::new();
        let mut open = 2usize;
        let mut inner_closed = None;
        loop {
            match self.peek() {
                END => return self.refuse_at(RefusalReason::UnclosedArithmetic, start),
                b')' => {
                    let here = self.pos;
                    self.bump();
                    open -= 1;
                    if open == 1 && inner_closed.is_none() {
                        inner_closed = Some(self.pos);
                        let decided = self.peek() != b')';
                        if decided && search == Search::Decide {
                            break;
                        }
                        continue;
                    }
                    if open == 0 {
                        if inner_closed.map(|closed| self.settle(closed)) == Some(here) {
                            return Ok(Parentheses::Arithmetic(parts));
                        }
                        break;
                    }
                    self.push_text(&mut parts, ")", true)?;
                }
                b'(' => {
                    self.bump();
                    open += 1;
                    self.push_text(&mut parts, "(", true)?;
                }
                _ => self.arithmetic_piece(&mut parts)?,
            }
        }
        let close = self.pos;
        self.pay_reread(close - start)?;
        self.not_arithmetic.insert(start, close);
        Ok(Parentheses::Nested(close))
    }

    /// Reads up to the `]` that closes a `$[` or a subscript.
    pub(super) fn bracketed(&mut self) -> Result<Vec<Part>, Refusal> {
        let start = self.pos;
        let mut parts = Vec::new();
        let mut open = 1usize;
        loop {
            match self.peek() {
                END => return self.refuse_at(RefusalReason::UnclosedArithmetic, start),
                b']' => {
                    self.bump();
                    open -= 1;
                    if open == 0 {
                        return Ok(parts);
                    }
                    self.push_text(&mut parts, "]", true)?;
                }
                b'[' => {
                    self.bump();
                    open += 1;
                    self.push_text(&mut parts, "[", true)?;
                }
                _ => self.arithmetic_piece(&mut parts)?,
            }
        }
    }

    /// Reads one piece of arithmetic: expansions are live even between single quotes.
    fn arithmetic_piece(&mut self, parts: &mut Vec<Part>) -> Result<(), Refusal> {
        match self.peek() {
            b'\'' => self.paired_quotes(parts, Quoting::Double),
            b'$' if self.second() == b'\'' => {
                self.bump();
                self.peek();
                self.paired_quotes(parts, Quoting::Double)
            }
            b'<' | b'>' if self.second() == b'(' => {
                // `1 <(2)` is a comparison to arithmetic and code to a careless reader; bash
                // compares. The parenthesis is counted by the caller.
                let sign = self.take_char();
                self.push_text(parts, sign, true)
            }
            _ => {
                if !self.piece(parts)? {
                    let text = self.take_char();
                    self.push_text(parts, text, true)?;
                }
                Ok(())
            }
        }
    }
}

/// Whether a list holds a `case`, directly or in a group.
fn holds_case(items: &[Item]) -> bool {
    let nodes = items.iter().flat_map(|item| &item.pipeline.commands);
    nodes.into_iter().any(|node| match &node.kind {
        CommandKind::Case { .. } => true,
        CommandKind::Group(inside) | CommandKind::Subshell(inside) => holds_case(inside),
        CommandKind::Loop {
            condition, body, ..
        } => holds_case(condition) || holds_case(body),
        CommandKind::Each { body, .. } | CommandKind::ForArithmetic { body, .. } => {
            holds_case(body)
        }
        CommandKind::If {
            branches,
            otherwise,
        } => {
            let branch = |(condition, body): &(Vec<Item>, Vec<Item>)| {
                holds_case(condition) || holds_case(body)
            };
            branches.iter().any(branch) || otherwise.as_deref().is_some_and(holds_case)
        }
        CommandKind::Simple(_)
        | CommandKind::Condition(_)
        | CommandKind::Arithmetic(_)
        | CommandKind::Function { .. }
        | CommandKind::Coproc { .. } => false,
    })
}

/// Whether the parentheses of a text are in pairs, to a reader that knows quotes and nothing else.
fn is_balanced(text: &str) -> bool {
    let mut open = 0usize;
    let mut quote = None;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => {
                bytes.next();
            }
            (b'\'' | b'"', None) => quote = Some(byte),
            (_, Some(mark)) if byte == mark => quote = None,
            (b'(', None) => open += 1,
            (b')', None) => match open.checked_sub(1) {
                Some(fewer) => open = fewer,
                None => return false,
            },
            (_, _) => {}
        }
    }
    open == 0 && quote.is_none()
}

/// A byte that makes an expansion of the `$` before it.
fn begins_parameter(byte: u8) -> bool {
    continues_name(byte) || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}
