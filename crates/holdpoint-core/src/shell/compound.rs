//! Compound commands: everything that begins with a reserved word or a parenthesis.
//!
//! Promises that each branch and body is in the tree. Which of them would run is not asked:
//! whoever walks the tree takes all of them.

use super::cursor::{END, MAX_DEPTH, Reader};
use super::expansions::{Parentheses, Search};
use super::refusal::{Refusal, RefusalReason};
use super::tree::{Arithmetic, Clause, CommandKind, CommandNode, ConditionToken, Item, Part, Word};
use super::words::Position;

impl Reader<'_> {
    /// Reads the command that a reserved word begins, the cursor on the word.
    pub(super) fn reserved_command(&mut self, word: &str) -> Result<CommandNode, Refusal> {
        let start = self.pos;
        self.take_reserved();
        let kind = match word {
            "{" => {
                let items = self.full_list()?;
                self.close("}", start)?;
                CommandKind::Group(items)
            }
            "if" => self.conditional(start)?,
            "while" | "until" => {
                let condition = self.full_list()?;
                let body = self.do_body(start)?;
                CommandKind::Loop {
                    until: word == "until",
                    condition,
                    body,
                }
            }
            "for" => self.each(start, false)?,
            "select" => self.each(start, true)?,
            "case" => self.case(start)?,
            "function" => {
                self.skip_blanks();
                let name = self.read_word(Position::Program)?;
                self.skip_blanks();
                if self.peek() == b'(' {
                    self.bump();
                    self.skip_blanks();
                    if !self.eat(b')') {
                        return self.unexpected();
                    }
                }
                self.function_body(name)?
            }
            "coproc" => self.coproc()?,
            "[[" => self.condition(start)?,
            // A `!` after a bar.
            _ => return self.refuse_at(RefusalReason::UnexpectedToken, start),
        };
        Ok(node(kind))
    }

    /// Reads `( … )` or `(( … ))`, the cursor on the parenthesis.
    pub(super) fn parenthesised(&mut self) -> Result<CommandNode, Refusal> {
        let start = self.pos;
        if self.second() == b'(' && !self.not_arithmetic.contains_key(&start) {
            self.bump();
            self.bump();
            match self.parentheses(start, Search::Decide)? {
                Parentheses::Arithmetic(parts) => {
                    let span = self.span_from(start);
                    // Other shells take each parenthesis for a subshell, and nobody calculates so.
                    if self.opens_at(start) > MAX_DEPTH {
                        return self.refuse_at(RefusalReason::TooDeep, start);
                    }
                    return Ok(node(CommandKind::Arithmetic(Arithmetic { parts, span })));
                }
                Parentheses::Nested(_) => self.pos = start,
            }
        }
        self.bump();
        let items = self.full_list()?;
        if self.peek() == END {
            return self.refuse_at(RefusalReason::UnclosedCompound, start);
        }
        if !self.eat(b')') {
            return self.unexpected();
        }
        // Having taken `((` for arithmetic first, bash reads the text a second time and looks
        // for the bodies of here-documents in the wrong place.
        let reread = self.not_arithmetic.contains_key(&start);
        if reread && self.mentions_document(start) {
            return self.refuse_at(RefusalReason::AmbiguousParentheses, start);
        }
        Ok(node(CommandKind::Subshell(items)))
    }

    /// How many parentheses open one after another from here.
    fn opens_at(&self, start: usize) -> usize {
        self.slice(start, self.pos)
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .take_while(|byte| *byte == b'(')
            .count()
    }

    /// Reads what follows `name()` or `function name`.
    pub(super) fn function_body(&mut self, name: Word) -> Result<CommandKind, Refusal> {
        self.skip_lines()?;
        if !self.compound_ahead() {
            return self.unexpected();
        }
        let body = Box::new(self.command()?);
        Ok(CommandKind::Function { name, body })
    }

    fn compound_ahead(&mut self) -> bool {
        self.peek() == b'('
            || self
                .reserved()
                .is_some_and(|word| !matches!(word, "!" | "time"))
    }

    fn coproc(&mut self) -> Result<CommandKind, Refusal> {
        let rewritten = self.enclosing > 0;
        self.skip_blanks();
        let mut name = None;
        if !self.compound_ahead()
            && let Some(after) = self.name_ahead()
            && matches!(self.byte(after), b' ' | b'\t')
        {
            // A name counts as one only in front of a compound command.
            let start = self.pos;
            let word = self.take_name(after);
            self.skip_blanks();
            if self.compound_ahead() {
                name = Some(word);
            } else {
                self.pos = start;
            }
        }
        let body = Box::new(self.command()?);
        Ok(CommandKind::Coproc {
            name,
            body,
            rewritten,
        })
    }

    fn conditional(&mut self, start: usize) -> Result<CommandKind, Refusal> {
        let mut branches = Vec::new();
        loop {
            let condition = self.full_list()?;
            self.close("then", start)?;
            let body = self.full_list()?;
            branches.push((condition, body));
            match self.reserved() {
                Some("elif") => self.take_reserved(),
                Some("else") => {
                    self.take_reserved();
                    let otherwise = Some(self.full_list()?);
                    self.close("fi", start)?;
                    return Ok(CommandKind::If {
                        branches,
                        otherwise,
                    });
                }
                Some(_) | None => {
                    self.close("fi", start)?;
                    return Ok(CommandKind::If {
                        branches,
                        otherwise: None,
                    });
                }
            }
        }
    }

    /// Takes the reserved word that ends a part of the compound command begun at `start`.
    fn close(&mut self, word: &str, start: usize) -> Result<(), Refusal> {
        if self.reserved() == Some(word) {
            self.take_reserved();
            return Ok(());
        }
        if self.peek() == END {
            return self.refuse_at(RefusalReason::UnclosedCompound, start);
        }
        self.unexpected()
    }

    fn do_body(&mut self, start: usize) -> Result<Vec<Item>, Refusal> {
        self.close("do", start)?;
        let body = self.full_list()?;
        self.close("done", start)?;
        Ok(body)
    }

    /// Reads a loop's body, which may also be written between braces.
    fn loop_body(&mut self, start: usize) -> Result<Vec<Item>, Refusal> {
        self.skip_lines()?;
        if self.reserved() == Some("{") {
            self.take_reserved();
            let body = self.full_list()?;
            self.close("}", start)?;
            return Ok(body);
        }
        self.do_body(start)
    }

    fn each(&mut self, start: usize, select: bool) -> Result<CommandKind, Refusal> {
        self.skip_blanks();
        if !select && self.peek() == b'(' && self.second() == b'(' {
            return self.for_arithmetic(start);
        }
        let word = self.read_word(Position::Argument)?;
        let Some(name) = word.plain().map(str::to_owned) else {
            return self.unexpected();
        };
        self.skip_lines()?;
        let mut words = None;
        if self.stands_here("in") {
            self.take_reserved();
            let mut list = Vec::new();
            loop {
                self.skip_blanks();
                if matches!(self.peek(), b';' | b'\n' | END) {
                    break;
                }
                self.pay()?;
                list.push(self.read_word(Position::Argument)?);
            }
            words = Some(list);
        }
        if self.peek() == b';' {
            self.bump();
        }
        let body = self.loop_body(start)?;
        Ok(CommandKind::Each {
            select,
            name,
            words,
            body,
        })
    }

    fn for_arithmetic(&mut self, start: usize) -> Result<CommandKind, Refusal> {
        let open = self.pos;
        self.bump();
        self.bump();
        let Parentheses::Arithmetic(parts) = self.parentheses(open, Search::Decide)? else {
            return self.refuse_at(RefusalReason::UnexpectedToken, open);
        };
        let span = self.span_from(open);
        self.skip_blanks();
        self.eat(b';');
        let body = self.loop_body(start)?;
        Ok(CommandKind::ForArithmetic {
            header: Arithmetic { parts, span },
            body,
        })
    }

    fn case(&mut self, start: usize) -> Result<CommandKind, Refusal> {
        self.skip_blanks();
        let subject = self.read_word(Position::Argument)?;
        self.skip_lines()?;
        if !self.stands_here("in") {
            return self.unexpected();
        }
        self.take_reserved();
        let mut clauses = Vec::new();
        loop {
            self.skip_lines()?;
            if self.reserved() == Some("esac") {
                self.take_reserved();
                return Ok(CommandKind::Case { subject, clauses });
            }
            if self.peek() == END {
                return self.refuse_at(RefusalReason::UnclosedCompound, start);
            }
            self.pay()?;
            if self.eat(b'(') {
                self.skip_blanks();
            }
            let mut patterns = Vec::new();
            loop {
                patterns.push(self.read_word(Position::Argument)?);
                self.pay()?;
                self.skip_blanks();
                if !self.eat(b'|') {
                    break;
                }
                self.skip_blanks();
            }
            if !self.eat(b')') {
                return self.unexpected();
            }
            let body = self.list()?;
            clauses.push(Clause { patterns, body });
            match (self.peek(), self.second(), self.third()) {
                (b';', b';', b'&') => {
                    self.bump();
                    self.bump();
                    self.bump();
                }
                (b';', ..) => {
                    self.bump();
                    self.bump();
                }
                _ => {
                    // The last clause may end without `;;`.
                    self.close("esac", start)?;
                    return Ok(CommandKind::Case { subject, clauses });
                }
            }
        }
    }

    /// Reads `[[ … ]]`.
    fn condition(&mut self, start: usize) -> Result<CommandKind, Refusal> {
        let mut tokens = Vec::new();
        let mut open = 0usize;
        loop {
            self.skip_lines()?;
            self.pay()?;
            let next = (self.peek(), self.second());
            let operator = match next {
                (END, _) => return self.refuse_at(RefusalReason::UnclosedCompound, start),
                (b'&', b'&') => "&&",
                (b'|', b'|') => "||",
                (b'(', _) => "(",
                (b')', _) => ")",
                (b'<', byte) if byte != b'(' => "<",
                (b'>', byte) if byte != b'(' => ">",
                _ => "",
            };
            if operator.is_empty() {
                let word = self.read_word(Position::Argument)?;
                if word.span.len() == 2 && is_plain_pair(&word, "]]") {
                    if open > 0 || tokens.is_empty() {
                        return self.unexpected();
                    }
                    return Ok(CommandKind::Condition(tokens));
                }
                let matches_regex = word.plain() == Some("=~");
                tokens.push(ConditionToken::Word(word));
                if matches_regex {
                    self.skip_blanks();
                    tokens.push(ConditionToken::Word(self.read_word(Position::Regex)?));
                }
                continue;
            }
            match operator {
                "(" => open += 1,
                ")" => match open.checked_sub(1) {
                    Some(left) => open = left,
                    None => return self.unexpected(),
                },
                _ => {}
            }
            for _ in operator.bytes() {
                self.bump();
            }
            tokens.push(ConditionToken::Operator(operator));
        }
    }
}

fn is_plain_pair(word: &Word, wanted: &str) -> bool {
    matches!(word.parts.as_slice(), [Part::Literal { text, quoted: false }] if text == wanted)
}

fn node(kind: CommandKind) -> CommandNode {
    CommandNode {
        kind,
        redirects: Vec::new(),
        span: 0..0,
    }
}
