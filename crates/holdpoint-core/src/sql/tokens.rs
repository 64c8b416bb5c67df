//! SQL text as tokens: what is a word, what is a literal and what is a comment.
//!
//! Databases disagree on quotes, comments and backslashes, and a wrong guess hides statements. A
//! [`Flavour`] says how one reading takes them; [`Flavour::readings`] says which readings a text
//! needs so that none hides anything.

use std::iter::Peekable;
use std::str::Chars;

use super::Dialect;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or bare name.
    Word,
    /// A name between quotes.
    Quoted,
    /// A literal text.
    Text,
    /// A number.
    Number,
    /// A parameter or variable: `?`, `$1`, `@x`, `:'x'`.
    Variable,
    /// `:x`, for which `psql` puts in any text before the server sees it.
    Spliced,
    /// One character of punctuation.
    Symbol(u8),
    /// A backslash outside quotes, where the client takes commands.
    Backslash,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a backslash outside quotes means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backslash {
    Psql,
    Mysql,
    Nothing,
}

/// How `[` is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brackets {
    /// A subscript.
    Subscript,
    /// A name.
    Name,
    /// A name unless it follows something that can be subscripted.
    Either,
}

/// One way to read a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flavour {
    pub(super) dialect: Dialect,
    pub(super) backslash: Backslash,
    /// `'\''` is one literal.
    escapes: bool,
    /// `"x"` is a literal.
    double_quoted_text: bool,
    hash_comments: bool,
    nested_comments: bool,
    dollar_quotes: bool,
    backtick_names: bool,
    brackets: Brackets,
    /// `--` begins a comment only before a blank.
    dashes_need_blank: bool,
    at_variables: bool,
    /// What `/*! … */` holds is run.
    conditional_comments_run: bool,
}

const POSTGRES: Flavour = Flavour {
    dialect: Dialect::Postgres,
    backslash: Backslash::Psql,
    escapes: false,
    double_quoted_text: false,
    hash_comments: false,
    nested_comments: true,
    dollar_quotes: true,
    backtick_names: false,
    brackets: Brackets::Subscript,
    dashes_need_blank: false,
    at_variables: false,
    conditional_comments_run: false,
};

const MYSQL: Flavour = Flavour {
    dialect: Dialect::MySql,
    backslash: Backslash::Mysql,
    escapes: true,
    double_quoted_text: true,
    hash_comments: true,
    nested_comments: false,
    dollar_quotes: false,
    backtick_names: true,
    brackets: Brackets::Subscript,
    dashes_need_blank: true,
    at_variables: true,
    conditional_comments_run: true,
};

const SQLITE: Flavour = Flavour {
    dialect: Dialect::Sqlite,
    backslash: Backslash::Nothing,
    nested_comments: false,
    dollar_quotes: false,
    backtick_names: true,
    brackets: Brackets::Name,
    at_variables: true,
    ..POSTGRES
};

const OTHER: Flavour = Flavour {
    dialect: Dialect::Other,
    backtick_names: true,
    brackets: Brackets::Either,
    at_variables: true,
    ..POSTGRES
};

impl Flavour {
    /// The ways in which a server or client could take this text.
    pub(super) fn readings(text: &str, dialect: Dialect) -> Vec<Self> {
        match dialect {
            Dialect::Postgres => {
                let mut readings = vec![POSTGRES];
                if mentions(text, "standard_conforming_strings") {
                    readings.push(Flavour {
                        escapes: true,
                        ..POSTGRES
                    });
                }
                readings
            }
            Dialect::Sqlite => vec![SQLITE],
            Dialect::MySql => mysql_readings(text, Dialect::MySql),
            Dialect::Other => {
                let mut readings = vec![OTHER];
                if text.bytes().any(|byte| b"\\#$`".contains(&byte))
                    || text.contains("/*")
                    || text.contains("--")
                {
                    readings.extend(mysql_readings(text, Dialect::Other));
                }
                readings
            }
        }
    }
}

impl Flavour {
    /// `||` is `OR` rather than the joining of texts.
    pub(super) fn pipes_mean_or(self) -> bool {
        self.backslash == Backslash::Mysql
    }
}

/// MySQL's readings: a conditional comment depends on the server's version, quotes on its mode.
fn mysql_readings(text: &str, dialect: Dialect) -> Vec<Flavour> {
    let plain = Flavour { dialect, ..MYSQL };
    let mut readings = vec![plain];
    if text.contains("/*!") || text.contains("/*M!") {
        readings.push(Flavour {
            conditional_comments_run: false,
            ..plain
        });
    }
    if mentions(text, "sql_mode") {
        readings.push(Flavour {
            escapes: false,
            ..plain
        });
        readings.push(Flavour {
            double_quoted_text: false,
            ..plain
        });
    }
    readings
}

/// Whether a setting is named; only where the text changes settings at all.
fn mentions(text: &str, setting: &str) -> bool {
    text.as_bytes()
        .windows(setting.len())
        .any(|window| window.eq_ignore_ascii_case(setting.as_bytes()))
}

/// Takes tokens off a text.
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    bytes: &'t [u8],
    pub(super) pos: usize,
    pub(super) flavour: Flavour,
    /// A quote or comment ran to the end of the text.
    pub(super) unclosed: bool,
    /// `[` would be a subscript here.
    after_operand: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, flavour: Flavour) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            flavour,
            unclosed: false,
            after_operand: false,
        }
    }

    fn at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// Whether `prefix` stands here.
    pub(super) fn starts_with(&self, prefix: &str) -> bool {
        self.bytes
            .get(self.pos..)
            .is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    /// Whether nothing is left.
    pub(super) fn ended(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// Where the line ends, before its line feed.
    pub(super) fn line_end(&self) -> usize {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n');
        self.pos + length.unwrap_or(rest.len())
    }

    fn find(&self, wanted: &[u8], from: usize) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        rest.windows(wanted.len())
            .position(|window| window == wanted)
            .map(|found| from + found)
    }

    /// Skips blanks and comments.
    pub(super) fn skip(&mut self) {
        loop {
            match self.at(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'-' if self.at(1) == b'-' && self.dashes_begin_comment() => {
                    self.pos = self.line_end();
                }
                b'#' if self.flavour.hash_comments => self.pos = self.line_end(),
                b'/' if self.at(1) == b'*' => self.comment(),
                // The end of a conditional comment whose inside was read.
                b'*' if self.at(1) == b'/' && self.flavour.conditional_comments_run => {
                    self.pos += 2
                }
                _ => return,
            }
        }
    }

    fn dashes_begin_comment(&self) -> bool {
        !self.flavour.dashes_need_blank || self.at(2) <= b' '
    }

    fn comment(&mut self) {
        let opener = match (self.at(2), self.at(3)) {
            (b'!', _) => 3,
            (b'M', b'!') => 4,
            _ => 0,
        };
        if opener > 0 && self.flavour.conditional_comments_run {
            self.pos += opener;
            while self.at(0).is_ascii_digit() {
                self.pos += 1;
            }
            return;
        }
        self.pos += 2;
        let mut depth = 1usize;
        while depth > 0 {
            if self.ended() {
                self.unclosed = true;
                return;
            }
            match (self.at(0), self.at(1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    self.pos += 2;
                }
                (b'/', b'*') if self.flavour.nested_comments => {
                    depth += 1;
                    self.pos += 2;
                }
                _ => self.pos += 1,
            }
        }
    }

    /// The next token; none at the end.
    pub(super) fn next(&mut self) -> Option<Token> {
        self.skip();
        if self.ended() {
            return None;
        }
        let start = self.pos;
        let kind = self.token();
        self.after_operand = match kind {
            TokenKind::Word | TokenKind::Quoted | TokenKind::Variable | TokenKind::Spliced => true,
            TokenKind::Symbol(symbol) => matches!(symbol, b']' | b')'),
            TokenKind::Text | TokenKind::Number | TokenKind::Backslash => false,
        };
        Some(Token {
            kind,
            start,
            end: self.pos,
        })
    }

    fn token(&mut self) -> TokenKind {
        let byte = self.at(0);
        match byte {
            b'\'' => self.quoted(byte, self.flavour.escapes, TokenKind::Text),
            b'"' if self.flavour.double_quoted_text => {
                self.quoted(byte, self.flavour.escapes, TokenKind::Text)
            }
            b'"' => self.quoted(byte, false, TokenKind::Quoted),
            b'`' if self.flavour.backtick_names => self.quoted(byte, false, TokenKind::Quoted),
            b'[' if self.bracket_is_name() => self.quoted(b']', false, TokenKind::Quoted),
            b'e' | b'E' if self.at(1) == b'\'' && self.flavour.dialect != Dialect::MySql => {
                self.pos += 1;
                self.quoted(b'\'', true, TokenKind::Text)
            }
            b'0'..=b'9' => self.number(),
            b'.' if self.at(1).is_ascii_digit() && !self.after_operand => self.number(),
            b'$' if self.flavour.dollar_quotes && self.dollar_tag().is_some() => {
                self.dollar_quoted()
            }
            b'$' if self.at(1).is_ascii_digit() => self.variable(),
            b'?' => self.variable(),
            b'@' if self.flavour.at_variables && (is_name(self.at(1)) || self.at(1) == b'@') => {
                self.pos += 1;
                self.variable()
            }
            b':' => self.colon(),
            b'\\' => self.backslash(),
            byte if is_name(byte) => {
                while is_name(self.at(0)) {
                    self.pos += 1;
                }
                TokenKind::Word
            }
            byte => {
                self.pos += 1;
                TokenKind::Symbol(byte)
            }
        }
    }

    fn bracket_is_name(&self) -> bool {
        match self.flavour.brackets {
            Brackets::Subscript => false,
            Brackets::Name => true,
            Brackets::Either => !self.after_operand,
        }
    }

    /// A quoted stretch; the cursor stands on its opening quote.
    fn quoted(&mut self, close: u8, escapes: bool, kind: TokenKind) -> TokenKind {
        self.pos += 1;
        loop {
            if self.ended() {
                self.unclosed = true;
                return kind;
            }
            let byte = self.at(0);
            if byte == b'\\' && escapes {
                self.pos = (self.pos + 2).min(self.bytes.len());
            } else if byte == close && self.at(1) == close && close != b']' {
                self.pos += 2;
            } else {
                self.pos += 1;
                if byte == close {
                    return kind;
                }
            }
        }
    }

    fn number(&mut self) -> TokenKind {
        if self.at(0) == b'0' && matches!(self.at(1), b'x' | b'X') {
            self.pos += 2;
            while self.at(0).is_ascii_hexdigit() {
                self.pos += 1;
            }
            return TokenKind::Number;
        }
        while self.at(0).is_ascii_digit() || self.at(0) == b'.' {
            self.pos += 1;
        }
        let signed = usize::from(matches!(self.at(1), b'+' | b'-'));
        if matches!(self.at(0), b'e' | b'E') && self.at(1 + signed).is_ascii_digit() {
            self.pos += 1 + signed;
            while self.at(0).is_ascii_digit() {
                self.pos += 1;
            }
        }
        TokenKind::Number
    }

    /// How long the `$tag$` here is, if one begins here.
    fn dollar_tag(&self) -> Option<usize> {
        if self.at(1).is_ascii_digit() {
            return None;
        }
        let mut length = 1;
        while is_name(self.at(length)) && self.at(length) != b'$' {
            length += 1;
        }
        (self.at(length) == b'$').then_some(length + 1)
    }

    fn dollar_quoted(&mut self) -> TokenKind {
        let Some(length) = self.dollar_tag() else {
            self.pos += 1;
            return TokenKind::Symbol(b'$');
        };
        let inside = self.pos + length;
        let tag = self.bytes.get(self.pos..inside).unwrap_or_default();
        match self.find(tag, inside) {
            Some(close) => self.pos = close + length,
            None => {
                self.unclosed = true;
                self.pos = self.bytes.len();
            }
        }
        TokenKind::Text
    }

    fn variable(&mut self) -> TokenKind {
        self.pos += 1;
        while is_name(self.at(0)) {
            self.pos += 1;
        }
        TokenKind::Variable
    }

    /// `:x` and its like; `::` and `:=` are operators.
    fn colon(&mut self) -> TokenKind {
        let after_colon = self.pos > 0 && self.bytes.get(self.pos - 1) == Some(&b':');
        match self.at(1) {
            quote @ (b'\'' | b'"') if !after_colon && self.flavour.backslash == Backslash::Psql => {
                self.pos += 1;
                self.quoted(quote, false, TokenKind::Variable)
            }
            byte if !after_colon && is_name(byte) && !byte.is_ascii_digit() => {
                self.variable();
                match self.flavour.backslash {
                    Backslash::Psql => TokenKind::Spliced,
                    Backslash::Mysql | Backslash::Nothing => TokenKind::Variable,
                }
            }
            _ => {
                self.pos += 1;
                TokenKind::Symbol(b':')
            }
        }
    }

    fn backslash(&mut self) -> TokenKind {
        self.pos += 1;
        match self.flavour.backslash {
            Backslash::Mysql if self.at(0) == b'N' => {
                self.pos += 1;
                TokenKind::Number
            }
            Backslash::Psql | Backslash::Mysql => TokenKind::Backslash,
            Backslash::Nothing => TokenKind::Symbol(b'\\'),
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// What a literal or quoted name stands for.
pub(super) fn unquote(source: &str, escapes: bool) -> String {
    let mut chars = source.chars();
    let Some(quote) = chars.next() else {
        return String::new();
    };
    match quote {
        'e' | 'E' => return unquote(chars.as_str(), true),
        '[' => return chars.as_str().trim_end_matches(']').to_owned(),
        '$' => {
            let tag = source
                .bytes()
                .skip(1)
                .position(|byte| byte == b'$')
                .map_or(0, |at| at + 2);
            let inside = source.get(tag..).unwrap_or_default();
            let closing = source.get(..tag).unwrap_or_default();
            return inside.strip_suffix(closing).unwrap_or(inside).to_owned();
        }
        _ => {}
    }
    let mut out = String::with_capacity(source.len());
    let mut rest = chars.peekable();
    while let Some(char) = rest.next() {
        match char {
            '\\' if escapes => out.extend(escaped(&mut rest)),
            char if char == quote => {
                if rest.next_if_eq(&quote).is_some() {
                    out.push(quote);
                }
            }
            char => out.push(char),
        }
    }
    out
}

/// The character an escape stands for; the cursor stands behind its backslash.
fn escaped(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let (radix, longest) = match rest.next()? {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'x' => (16, 2),
        'u' => (16, 4),
        'U' => (16, 8),
        other => return Some(other),
    };
    let mut code = 0u32;
    for _ in 0..longest {
        let Some(digit) = rest.peek().and_then(|next| next.to_digit(radix)) else {
            break;
        };
        code = code.wrapping_mul(radix).wrapping_add(digit);
        rest.next();
    }
    char::from_u32(code)
}

/// Whether backslashes escape inside this flavour's literals.
pub(super) fn escapes(flavour: Flavour) -> bool {
    flavour.escapes
}
