//! A text as its statements: where each one ends, and what the client takes for itself.

use std::ops::Range;

use super::act::StatementEffect;
use super::clients::{self, Taken};
use super::tokens::{Backslash, Flavour, Lexer, Token, TokenKind};
use super::verbs::{is_one_of, is_verb, rule};
use super::{Dialect, Statement, StatementKind};

/// Statements listed; more end in one unreadable statement.
const MAX_STATEMENTS: usize = 10_000;
/// Literals inside literals that are followed.
const MAX_DEPTH: usize = 8;
/// Bytes of literals that are read as SQL; each may be copied once a level.
const MAX_INNER: usize = 1 << 20;

/// What has been found so far.
#[derive(Default)]
pub(super) struct Statements {
    pub(super) statements: Vec<Statement>,
    /// Names given to prepared statements whose text is known.
    pub(super) prepared: Vec<String>,
    inner: usize,
    full: bool,
}

impl Statements {
    pub(super) fn push(&mut self, statement: Statement) {
        if self.statements.len() < MAX_STATEMENTS {
            self.statements.push(statement);
        } else if !self.full {
            self.full = true;
            let kind = StatementKind::Unreadable;
            self.statements
                .push(StatementEffect::new(kind).at(statement.span, false));
        }
    }

    pub(super) fn unreadable(&mut self, span: Range<usize>) {
        self.push(StatementEffect::new(StatementKind::Unreadable).at(span, false));
    }

    /// Remembers a prepared statement whose text was read.
    pub(super) fn prepare(&mut self, name: Option<String>) {
        if self.prepared.len() < MAX_PREPARED {
            self.prepared.extend(name);
        }
    }

    /// Takes over what another reading of the same text shows and this one does not.
    pub(super) fn add(&mut self, other: Statements) {
        if self.statements.is_empty() {
            *self = other;
            return;
        }
        let known = self.statements.len().min(MAX_COMPARED);
        for statement in other.statements {
            let is_known = self
                .statements
                .iter()
                .take(known)
                .any(|old| *old == statement);
            if !is_known {
                self.push(statement);
            }
        }
    }
}

/// Statements with which those of a second reading are compared; beyond, they are listed twice.
const MAX_COMPARED: usize = 200;

/// Prepared statements remembered by name.
const MAX_PREPARED: usize = 64;

/// Reads one text in one way.
pub(super) struct Reader<'t> {
    pub(super) lexer: Lexer<'t>,
    /// Where the literal stands that holds this text.
    within: Option<Range<usize>>,
    pub(super) stored: bool,
    depth: usize,
    /// What ends a statement besides `;` (`DELIMITER //`).
    delimiter: Option<String>,
    /// A block was never closed, so that none is believed any more.
    block_left_open: bool,
    /// No line `\.` is left.
    no_rows_left: bool,
}

/// Why a statement ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Separator,
    Backslash,
    Text,
    /// The text ended inside a block.
    OpenBlock,
}

/// Whether `;` inside `BEGIN … END` of a routine belongs to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blocks {
    Kept,
    Ignored,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, flavour: Flavour) -> Self {
        Self {
            lexer: Lexer::new(text, flavour),
            within: None,
            stored: false,
            depth: 0,
            delimiter: None,
            block_left_open: false,
            no_rows_left: false,
        }
    }

    pub(super) fn text(&self) -> &'t str {
        self.lexer.text
    }

    pub(super) fn flavour(&self) -> Flavour {
        self.lexer.flavour
    }

    pub(super) fn run(&mut self, found: &mut Statements) {
        let mut tokens = Vec::new();
        loop {
            self.lexer.skip();
            if self.lexer.ended() || found.full {
                break;
            }
            if self.client_line(found) || self.delimiter_here() {
                continue;
            }
            let start = self.lexer.pos;
            let mut end = self.collect(&mut tokens, self.blocks());
            if end == End::OpenBlock {
                self.block_left_open = true;
                self.lexer.pos = start;
                end = self.collect(&mut tokens, Blocks::Ignored);
            }
            if !tokens.is_empty() {
                self.statement(&tokens, found);
            }
            if end == End::Backslash {
                self.client_command(found);
            }
        }
        if self.lexer.unclosed {
            let start = tokens.last().map_or(0, |token| token.start);
            self.push(
                StatementEffect::new(StatementKind::Unreadable),
                start..self.text().len(),
                found,
            );
        }
    }

    /// The mysql client ends a statement at its delimiter and knows no blocks; servers do.
    fn blocks(&self) -> Blocks {
        let client_splits = self.flavour().backslash == Backslash::Mysql
            && self.delimiter.is_none()
            && self.depth == 0;
        if client_splits || self.block_left_open {
            Blocks::Ignored
        } else {
            Blocks::Kept
        }
    }

    /// Lists one act with the span of `span`, or of the literal this text stands in.
    pub(super) fn push(&self, act: StatementEffect, span: Range<usize>, found: &mut Statements) {
        found.push(act.at(self.within.clone().unwrap_or(span), self.stored));
    }

    /// Reads a literal as SQL that runs now, or as the body of a routine.
    pub(super) fn inner(
        &self,
        text: &str,
        span: Range<usize>,
        stored: bool,
        found: &mut Statements,
    ) {
        let span = self.within.clone().unwrap_or(span);
        found.inner += text.len();
        if self.depth >= MAX_DEPTH || found.inner > MAX_INNER {
            found.unreadable(span);
            return;
        }
        // What a server reads holds no client commands, but listing them does no harm.
        Reader {
            lexer: Lexer::new(text, self.flavour()),
            within: Some(span),
            stored: stored || self.stored,
            depth: self.depth + 1,
            delimiter: None,
            block_left_open: false,
            no_rows_left: false,
        }
        .run(found);
    }

    fn delimiter_here(&mut self) -> bool {
        match &self.delimiter {
            Some(delimiter) if self.lexer.starts_with(delimiter) => {
                self.lexer.pos += delimiter.len();
                true
            }
            _ => false,
        }
    }

    /// Takes the tokens of one statement.
    fn collect(&mut self, tokens: &mut Vec<Token>, blocks: Blocks) -> End {
        tokens.clear();
        let mut nesting = 0usize;
        let mut routine = false;
        let mut verb = false;
        loop {
            self.lexer.skip();
            if self.delimiter_here() {
                return End::Separator;
            }
            let before = self.lexer.pos;
            let Some(token) = self.lexer.next() else {
                return if nesting > 0 {
                    End::OpenBlock
                } else {
                    End::Text
                };
            };
            match token.kind {
                TokenKind::Symbol(b';') if nesting == 0 => return End::Separator,
                TokenKind::Backslash => return End::Backslash,
                TokenKind::Word => {
                    let word = self.word_at(&token);
                    if self.runs_on(tokens, word) {
                        self.lexer.pos = before;
                        return End::Separator;
                    }
                    if tokens.is_empty() {
                        verb = word.eq_ignore_ascii_case("create");
                    }
                    routine |= verb && tokens.len() < ROUTINE_WITHIN && is_one_of(word, ROUTINES);
                    if routine && blocks == Blocks::Kept {
                        nesting = self.nesting(nesting, tokens, word);
                    }
                }
                TokenKind::Quoted
                | TokenKind::Text
                | TokenKind::Number
                | TokenKind::Variable
                | TokenKind::Spliced
                | TokenKind::Symbol(_) => {}
            }
            tokens.push(token);
        }
    }

    fn word_at(&self, token: &Token) -> &'t str {
        self.text().get(token.start..token.end).unwrap_or_default()
    }

    /// The word after the cursor.
    fn ahead(&self) -> &'t str {
        let mut ahead = Lexer::new(self.text(), self.flavour());
        ahead.pos = self.lexer.pos;
        ahead
            .next()
            .filter(|token| token.kind == TokenKind::Word)
            .map_or("", |token| self.word_at(&token))
    }

    /// How deep in blocks of a routine the statement is after `word`. A name may be `begin`, so
    /// only one before a statement opens a block.
    fn nesting(&self, nesting: usize, tokens: &[Token], word: &str) -> usize {
        let after_end = tokens
            .last()
            .is_some_and(|last| self.word_at(last).eq_ignore_ascii_case("end"));
        if word.eq_ignore_ascii_case("begin") {
            let next = self.ahead();
            return nesting
                + usize::from(next.eq_ignore_ascii_case("atomic") || rule(next).is_some());
        }
        if nesting > 0 && word.eq_ignore_ascii_case("case") && !after_end {
            return nesting + 1;
        }
        if word.eq_ignore_ascii_case("end") && !is_one_of(self.ahead(), ENDED_BY_NAME) {
            return nesting.saturating_sub(1);
        }
        nesting
    }

    /// Whether a statement ends before `word` although nothing separates them, as T-SQL allows
    /// and clients that take `GO` on a line of its own.
    fn runs_on(&self, tokens: &[Token], word: &str) -> bool {
        let Some(first) = tokens.first() else {
            return false;
        };
        if self.flavour().dialect != Dialect::Other {
            return false;
        }
        if word.eq_ignore_ascii_case("go") {
            return tokens.last().is_some_and(|last| {
                self.text()
                    .get(last.end..self.lexer.pos)
                    .is_some_and(|gap| gap.contains('\n'))
            });
        }
        // These hold such words themselves.
        if is_one_of(
            self.word_at(first),
            &["create", "alter", "grant", "revoke", "with", "explain"],
        ) {
            return false;
        }
        match word {
            _ if word.eq_ignore_ascii_case("drop") => super::verbs::is_droppable(self.ahead()),
            _ if word.eq_ignore_ascii_case("delete") => self.ahead().eq_ignore_ascii_case("from"),
            _ if word.eq_ignore_ascii_case("truncate") => {
                self.ahead().eq_ignore_ascii_case("table")
            }
            _ if is_one_of(word, &["exec", "execute"]) => !self.ahead().is_empty(),
            _ => false,
        }
    }

    /// A line the client takes for itself where a statement could begin.
    fn client_line(&mut self, found: &mut Statements) -> bool {
        let start = self.lexer.pos;
        let rest = self.text().get(start..).unwrap_or_default();
        let Some(command) = clients::line_command(rest, self.flavour()) else {
            return false;
        };
        let end = self.lexer.line_end();
        let line = self.text().get(start..end).unwrap_or_default();
        let taken = command.take(line);
        self.take(taken, start..end, found);
        self.lexer.pos = end;
        true
    }

    fn take(&mut self, taken: Taken, span: Range<usize>, found: &mut Statements) {
        if let Some(delimiter) = taken.delimiter {
            self.delimiter = Some(delimiter).filter(|delimiter| delimiter != ";");
        }
        for act in taken.acts {
            self.push(act, span.clone(), found);
        }
        if let Some(sql) = taken.sql {
            self.inner(&sql, span, false, found);
            self.skip_rows();
        }
    }

    /// A command behind a backslash, which the cursor has passed.
    fn client_command(&mut self, found: &mut Statements) {
        let start = self.lexer.pos;
        let end = self.lexer.line_end();
        let line = self.text().get(start..end).unwrap_or_default();
        let taken = clients::backslash(line, self.flavour());
        let after = start + taken.length;
        self.lexer.pos = after;
        self.take(taken, start.saturating_sub(1)..after, found);
    }

    /// Skips the rows behind `COPY … FROM STDIN`, which end at a line `\.`. Without such a line
    /// they may not be rows, and are read as SQL.
    pub(super) fn skip_rows(&mut self) {
        if self.no_rows_left {
            return;
        }
        let from = self.lexer.line_end();
        let rest = self.text().get(from..).unwrap_or_default();
        let mut at = from;
        for line in rest.split_inclusive('\n') {
            at += line.len();
            if line.trim_end() == "\\." {
                self.lexer.pos = at;
                return;
            }
        }
        self.no_rows_left = true;
    }

    /// Whether any statement can begin with the word of this token.
    pub(super) fn begins_statement(&self, token: &Token) -> bool {
        token.kind == TokenKind::Word && is_verb(self.word_at(token))
    }
}

const ROUTINES: &[&str] = &[
    "procedure",
    "function",
    "trigger",
    "event",
    "package",
    "proc",
];
/// `CREATE DEFINER = 'a'@'b' … PROCEDURE`: the word comes within the first tokens.
const ROUTINE_WITHIN: usize = 16;
/// `END IF` closes an `IF`, which is not counted.
const ENDED_BY_NAME: &[&str] = &["if", "loop", "while", "repeat", "for"];
