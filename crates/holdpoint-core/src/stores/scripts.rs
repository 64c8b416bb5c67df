//! JavaScript as tokens, enough to tell code from strings and comments. Lua's calls look alike.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A literal text, without its quotes.
    Text,
    /// A template with `${…}` in it, or a literal that never ends.
    Unknown,
    Number,
    /// A regular expression.
    Pattern,
    Symbol(char),
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) text: String,
}

impl Token {
    pub(super) fn is_symbol(&self, symbol: char) -> bool {
        self.kind == TokenKind::Symbol(symbol)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text == word
    }
}

/// The tokens of a text.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader {
        chars: text.chars(),
        tokens: Vec::new(),
    };
    while let Some(char) = reader.chars.next() {
        reader.token(char);
    }
    reader.tokens
}

struct Reader<'t> {
    chars: std::str::Chars<'t>,
    tokens: Vec<Token>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.clone().next()
    }

    fn push(&mut self, kind: TokenKind, text: String) {
        self.tokens.push(Token { kind, text });
    }

    fn token(&mut self, char: char) {
        match char {
            char if char.is_whitespace() => {}
            '/' if self.peek() == Some('/') => self.line_comment(),
            '/' if self.peek() == Some('*') => self.comment(),
            '/' => self.slash(),
            '"' | '\'' | '`' => self.literal(char),
            char if is_name(char) => {
                let mut text = String::from(char);
                while let Some(next) = self.peek().filter(|next| is_name(*next)) {
                    text.push(next);
                    self.chars.next();
                }
                let kind = if char.is_ascii_digit() {
                    TokenKind::Number
                } else {
                    TokenKind::Word
                };
                self.push(kind, text);
            }
            char => self.push(TokenKind::Symbol(char), String::new()),
        }
    }

    fn line_comment(&mut self) {
        while self
            .chars
            .next()
            .is_some_and(|char| !matches!(char, '\n' | '\r' | '\u{2028}' | '\u{2029}'))
        {}
    }

    fn comment(&mut self) {
        let rest = self.chars.as_str();
        let end = rest
            .get(1..)
            .and_then(|inside| inside.find("*/"))
            .map_or(rest.len(), |at| at + 3);
        self.chars = rest.get(end..).unwrap_or_default().chars();
    }

    /// A slash divides behind something that has a value, and begins a pattern elsewhere. Behind
    /// `)`, `}`, `++` and `--` only a parser can tell: it is taken for a division, and is unknown
    /// if a pattern there would hold a quote.
    fn slash(&mut self) {
        let mut last = self.tokens.iter().rev();
        let behind = match (last.next(), last.next()) {
            (None, _) => Behind::Nothing,
            (Some(last), before) => match last.kind {
                TokenKind::Symbol(')' | '}') => Behind::Either,
                TokenKind::Symbol(sign @ ('+' | '-')) => match before {
                    Some(before) if before.is_symbol(sign) => Behind::Either,
                    Some(_) | None => Behind::Nothing,
                },
                TokenKind::Symbol(']') => Behind::Value,
                TokenKind::Symbol(_) => Behind::Nothing,
                TokenKind::Word => {
                    let words = [
                        "return", "typeof", "case", "in", "of", "void", "delete", "do", "else",
                        "await", "yield",
                    ];
                    if words.contains(&last.text.as_str()) {
                        Behind::Nothing
                    } else {
                        Behind::Value
                    }
                }
                TokenKind::Text | TokenKind::Unknown | TokenKind::Number | TokenKind::Pattern => {
                    Behind::Value
                }
            },
        };
        match (behind, self.pattern()) {
            (Behind::Value, _) | (_, Pattern::None) => {
                self.push(TokenKind::Symbol('/'), String::new())
            }
            (_, Pattern::TooLong) => self.push(TokenKind::Unknown, String::new()),
            (Behind::Either, Pattern::Until { quotes, .. }) => {
                let kind = if quotes {
                    TokenKind::Unknown
                } else {
                    TokenKind::Symbol('/')
                };
                self.push(kind, String::new());
            }
            (Behind::Nothing, Pattern::Until { rest, .. }) => {
                self.chars = self.chars.as_str().get(rest..).unwrap_or_default().chars();
                self.push(TokenKind::Pattern, String::new());
            }
        }
    }

    /// The pattern that would begin here. It ends on its line.
    fn pattern(&self) -> Pattern {
        let mut in_class = false;
        let mut escaped = false;
        let mut quotes = false;
        for (at, char) in self.chars.as_str().char_indices() {
            if at > MAX_PATTERN {
                return Pattern::TooLong;
            }
            match char {
                '\n' => return Pattern::None,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    return Pattern::Until {
                        rest: at + 1,
                        quotes,
                    };
                }
                '"' | '\'' | '`' => quotes = true,
                _ => {}
            }
        }
        Pattern::None
    }

    fn literal(&mut self, quote: char) {
        let mut text = String::new();
        let mut kind = TokenKind::Text;
        loop {
            match self.chars.next() {
                None => {
                    kind = TokenKind::Unknown;
                    break;
                }
                Some('\\') => self.escape(&mut text),
                Some(char) if char == quote => break,
                Some('$') if quote == '`' && self.peek() == Some('{') => kind = TokenKind::Unknown,
                Some(char) => text.push(char),
            }
        }
        self.push(kind, text);
    }

    /// `\x64`, `\u0064` and `\u{64}` are letters; other escapes do not occur in names.
    fn escape(&mut self, text: &mut String) {
        let digits = match self.chars.next() {
            Some('x') => 2,
            Some('u') if self.peek() == Some('{') => 0,
            Some('u') => 4,
            Some(other) => {
                text.push(other);
                return;
            }
            None => return,
        };
        let mut code = String::new();
        if digits == 0 {
            self.chars.next();
            while let Some(char) = self.chars.next().filter(|char| *char != '}') {
                code.push(char);
            }
        } else {
            code.extend(self.chars.by_ref().take(digits));
        }
        text.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
    }
}

/// Longest regular expression believed.
const MAX_PATTERN: usize = 1_000;

/// What stands before a slash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// Nothing that could be divided.
    Nothing,
    Value,
    Either,
}

/// Whether a regular expression begins at a slash.
enum Pattern {
    None,
    /// One that ends before `rest`, and whether quotes are in it.
    Until {
        rest: usize,
        quotes: bool,
    },
    TooLong,
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$')
}
