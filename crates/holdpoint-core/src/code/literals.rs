//! The strings of the languages: quotes, here-documents, `%w[…]`, `q{…}`, backquotes, and what
//! stands between slashes.

use super::tokens::{Kind, Lexer, Literal, Piece, Tree, Until};
use super::{Language, Unfollowed};

/// How the inside of a string is read.
#[derive(Clone, Copy)]
struct Inside {
    escapes: Escapes,
    holes: Holes,
    /// A new line inside means that the string does not end.
    one_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// A backslash is a backslash, and does not protect the closing quote.
    None,
    /// It protects the closing quote and stays.
    Kept,
    /// It protects itself and the closing quote, and disappears there.
    Quotes,
    /// All of them. Before a letter without a meaning it disappears.
    Full,
    /// All of them. Before a letter without a meaning it stays.
    FullKept,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holes {
    None,
    /// `{x}`
    Braces,
    /// `${x}`
    Dollar,
    /// `#{x}`
    Hash,
    /// `$x`, `@x`, `@{[x]}`
    Perl,
    /// `$x`, `{$x}`
    Php,
}

const RAW: Inside = Inside {
    escapes: Escapes::None,
    holes: Holes::None,
    one_line: false,
};

const SINGLE: Inside = Inside {
    escapes: Escapes::Quotes,
    holes: Holes::None,
    one_line: false,
};

/// How strings with code in them are read in a language.
fn double(language: Language) -> Inside {
    let (escapes, holes, one_line) = match language {
        Language::Python => (Escapes::FullKept, Holes::None, true),
        Language::JavaScript => (Escapes::Full, Holes::None, true),
        Language::Ruby => (Escapes::Full, Holes::Hash, false),
        Language::Perl => (Escapes::Full, Holes::Perl, false),
        Language::Php => (Escapes::FullKept, Holes::Php, false),
        Language::Awk | Language::Lua | Language::Vim | Language::PowerShell => {
            (Escapes::Full, Holes::None, true)
        }
    };
    Inside {
        escapes,
        holes,
        one_line,
    }
}

impl<'t> Lexer<'t, '_> {
    /// Reads a literal, or a variable with a sigil, if one begins here.
    pub(super) fn special(&mut self, out: &[Tree<'t>], spaced: bool) -> Option<Kind<'t>> {
        let byte = self.ahead(0);
        let operand = self.after_operand(out);
        if self.syntax.sigils.contains(&byte)
            && let Some(kind) = self.variable(operand)
        {
            return Some(kind);
        }
        let found = match self.syntax.language {
            Language::Python => self.python(byte),
            Language::JavaScript => self.javascript(byte),
            Language::Ruby => self.ruby(byte, operand, spaced, out),
            Language::Perl => self.perl(byte, operand, out),
            Language::Php => {
                if self.looking_at("?>") {
                    self.page();
                    return Some(Kind::End);
                }
                self.php(byte)
            }
            Language::Lua => self.lua(byte),
            Language::Awk | Language::Vim | Language::PowerShell => self.quoted(byte, b"\""),
        };
        if let Some(kind) = found {
            return Some(kind);
        }
        // After a method and a blank, Ruby takes a slash without a blank for a regular expression.
        let argument = self.syntax.is(Language::Ruby)
            && spaced
            && !matches!(self.ahead(1), b' ' | b'=')
            && out
                .last()
                .and_then(Tree::as_word)
                .is_some_and(|word| TAKES_REGEX.contains(&word))
            && !self.after_variable(out);
        // A word of Perl that is not known to take a pattern could be a constant.
        let divides = operand
            || (self.syntax.is(Language::Perl)
                && out
                    .last()
                    .and_then(Tree::as_word)
                    .is_some_and(|word| !self.syntax.takes_operand.contains(&word)));
        if byte == b'/'
            && self.syntax.regex
            && (!divides || argument)
            && let Some(kind) = self.regex()
        {
            return Some(kind);
        }
        None
    }

    /// A string between quotes that read alike.
    fn quoted(&mut self, byte: u8, quotes: &[u8]) -> Option<Kind<'t>> {
        quotes.contains(&byte).then(|| {
            self.at += 1;
            let inside = double(self.syntax.language);
            Kind::Text(self.literal(&[byte], None, inside))
        })
    }

    fn python(&mut self, byte: u8) -> Option<Kind<'t>> {
        let mut length = 0;
        let (mut raw, mut holes) = (false, false);
        while length < 3 {
            match self.ahead(length) {
                b'r' | b'R' => raw = true,
                b'f' | b'F' | b't' | b'T' => holes = true,
                b'b' | b'B' | b'u' | b'U' => {}
                _ => break,
            }
            length += 1;
        }
        let quote = self.ahead(length);
        if !matches!(quote, b'"' | b'\'') || (length > 0 && !byte.is_ascii_alphabetic()) {
            return None;
        }
        self.at += length;
        let inside = Inside {
            escapes: if raw {
                Escapes::Kept
            } else {
                Escapes::FullKept
            },
            holes: if holes { Holes::Braces } else { Holes::None },
            one_line: true,
        };
        if self.ahead(1) == quote && self.ahead(2) == quote {
            self.at += 3;
            let inside = Inside {
                one_line: false,
                ..inside
            };
            return Some(Kind::Text(self.literal(&[quote; 3], None, inside)));
        }
        self.at += 1;
        Some(Kind::Text(self.literal(&[quote], None, inside)))
    }

    fn javascript(&mut self, byte: u8) -> Option<Kind<'t>> {
        if byte != b'`' {
            return self.quoted(byte, b"\"'");
        }
        self.at += 1;
        let inside = Inside {
            escapes: Escapes::Full,
            holes: Holes::Dollar,
            one_line: false,
        };
        let mut literal = self.literal(b"`", None, inside);
        literal.template = true;
        Some(Kind::Text(literal))
    }

    fn php(&mut self, byte: u8) -> Option<Kind<'t>> {
        if self.looking_at("<<<") {
            return self.php_document();
        }
        self.at += 1;
        match byte {
            b'\'' => Some(Kind::Text(self.literal(b"'", None, SINGLE))),
            b'"' => Some(Kind::Text(self.literal(b"\"", None, double(Language::Php)))),
            b'`' => Some(Kind::Shell(self.literal(b"`", None, double(Language::Php)))),
            _ => {
                self.at -= 1;
                None
            }
        }
    }

    /// The tag's line ends the document, and what follows the tag there is code.
    fn php_document(&mut self) -> Option<Kind<'t>> {
        let start = self.at;
        self.at += 3;
        while self.ahead(0) == b' ' {
            self.at += 1;
        }
        let quote = self.ahead(0);
        let quoted = matches!(quote, b'\'' | b'"');
        self.at += usize::from(quoted);
        let tag = self.tag();
        self.at += usize::from(quoted);
        if tag.is_empty() {
            self.at = start;
            return None;
        }
        self.skip_line();
        let body = self.at + 1;
        let mut line = body;
        let after = loop {
            let Some(rest) = self
                .text
                .get(line..self.end)
                .filter(|rest| !rest.is_empty())
            else {
                self.fail(Unfollowed::Unreadable);
                return Some(Kind::Text(Literal::default()));
            };
            let trimmed = rest.trim_start_matches([' ', '\t']);
            let ends = trimmed
                .strip_prefix(tag)
                .is_some_and(|after| !after.starts_with(is_word));
            if ends {
                break line + (rest.len() - trimmed.len()) + tag.len();
            }
            line += rest.find('\n').map_or(rest.len(), |found| found + 1);
        };
        let inside = if quote == b'\'' {
            RAW
        } else {
            double(Language::Php)
        };
        let literal = self.body(body..line.saturating_sub(1).max(body), inside);
        if !self.stopped() {
            self.at = after;
        }
        Some(Kind::Text(literal))
    }

    fn lua(&mut self, byte: u8) -> Option<Kind<'t>> {
        if byte == b'[' {
            let text = self.long_bracket()?;
            return Some(Kind::Text(Literal {
                pieces: vec![Piece::Text(text.to_owned())],
                template: false,
            }));
        }
        self.quoted(byte, b"\"'")
    }

    /// `[[…]]`, `[=[…]=]`.
    pub(super) fn long_bracket(&mut self) -> Option<&'t str> {
        let mut level = 0;
        while self.ahead(1 + level) == b'=' {
            level += 1;
        }
        if self.ahead(0) != b'[' || self.ahead(1 + level) != b'[' {
            return None;
        }
        let body = self.at + level + 2;
        let close = format!("]{}]", "=".repeat(level));
        let rest = self.text.get(body..self.end)?;
        match rest.find(&close) {
            Some(found) => {
                self.at = body + found + close.len();
                Some(self.slice(body..body + found))
            }
            None => {
                self.fail(Unfollowed::Unreadable);
                Some("")
            }
        }
    }

    fn ruby(
        &mut self,
        byte: u8,
        operand: bool,
        spaced: bool,
        out: &[Tree<'t>],
    ) -> Option<Kind<'t>> {
        let next = self.ahead(1);
        match byte {
            b'\'' => {
                self.at += 1;
                Some(Kind::Text(self.literal(b"'", None, SINGLE)))
            }
            b'"' => {
                self.at += 1;
                Some(Kind::Text(self.literal(
                    b"\"",
                    None,
                    double(Language::Ruby),
                )))
            }
            b'`' if !out.last().is_some_and(|tree| tree.is_word("def")) => {
                self.at += 1;
                Some(Kind::Shell(self.literal(
                    b"`",
                    None,
                    double(Language::Ruby),
                )))
            }
            b':' if next == b'"' && (!operand || spaced) => {
                self.at += 2;
                Some(Kind::Text(self.literal(
                    b"\"",
                    None,
                    double(Language::Ruby),
                )))
            }
            b':' if (is_word(char::from(next)) || next == b'`') && (!operand || spaced) => {
                let start = self.at + 1;
                self.at += 2;
                while next != b'`' && is_word(char::from(self.ahead(0))) {
                    self.at += 1;
                }
                Some(Kind::Text(Literal {
                    pieces: vec![Piece::Text(self.slice(start..self.at).to_owned())],
                    template: false,
                }))
            }
            b'%' if !operand
                || (spaced && !matches!(next, b' ' | b'=') && !self.after_variable(out)) =>
            {
                self.percent()
            }
            b'<' if self.looking_at("<<") => {
                let marked = matches!(self.ahead(2), b'~' | b'-');
                let opens = matches!(self.ahead(2 + usize::from(marked)), b'\'' | b'"')
                    || self.ahead(2 + usize::from(marked)).is_ascii_uppercase();
                let allowed = if marked {
                    opens
                } else {
                    opens && (!operand || (spaced && !self.after_variable(out)))
                };
                (allowed).then(|| self.document(2 + usize::from(marked), Language::Ruby))
            }
            _ => None,
        }
    }

    /// `%w[…]`, `%q(…)`, `%x{…}`, `%(…)`.
    fn percent(&mut self) -> Option<Kind<'t>> {
        let letter = self.ahead(1);
        let named = letter.is_ascii_alphabetic();
        let open = self.ahead(1 + usize::from(named));
        if !open.is_ascii_punctuation() || (named && !b"qQwWiIxrs".contains(&letter)) {
            return None;
        }
        self.at += 2 + usize::from(named);
        let inside = if matches!(letter, b'q' | b'w' | b'i' | b's') {
            SINGLE
        } else {
            double(Language::Ruby)
        };
        let literal = self.delimited(open, inside);
        Some(match letter {
            b'w' | b'W' | b'i' | b'I' => words(literal),
            b'x' => Kind::Shell(literal),
            b'r' => {
                self.skip_flags();
                Kind::Regex(holes(literal))
            }
            _ => Kind::Text(literal),
        })
    }

    fn perl(&mut self, byte: u8, operand: bool, out: &[Tree<'t>]) -> Option<Kind<'t>> {
        match byte {
            b'\'' => {
                self.at += 1;
                return Some(Kind::Text(self.literal(b"'", None, SINGLE)));
            }
            b'"' => {
                self.at += 1;
                return Some(Kind::Text(self.literal(
                    b"\"",
                    None,
                    double(Language::Perl),
                )));
            }
            b'`' => {
                self.at += 1;
                return Some(Kind::Shell(self.literal(
                    b"`",
                    None,
                    double(Language::Perl),
                )));
            }
            b'<' if self.looking_at("<<") && (!operand || prints_to(out)) => {
                let marked = self.ahead(2) == b'~';
                let next = self.ahead(2 + usize::from(marked));
                let opens = matches!(next, b'\'' | b'"' | b'`') || is_word(char::from(next));
                return (opens && !next.is_ascii_digit())
                    .then(|| self.document(2 + usize::from(marked), Language::Perl));
            }
            _ => {}
        }
        let after = out.last();
        if after.is_some_and(|tree| {
            tree.is_sign("->") || tree.is_sign("::") || tree.is_word("sub") || tree.is_sign("-")
        }) {
            return None;
        }
        self.quote_like()
    }

    /// `q(…)`, `qq{…}`, `qw(…)`, `qx(…)`, `m/…/`, `qr/…/`, `s/…/…/`, `tr/…/…/`, `y/…/…/`.
    fn quote_like(&mut self) -> Option<Kind<'t>> {
        let start = self.at;
        let name = ["qq", "qw", "qx", "qr", "tr", "q", "m", "s", "y"]
            .into_iter()
            .find(|name| self.looking_at(name) && !is_word(char::from(self.ahead(name.len()))))?;
        self.at += name.len();
        let adjacent = self.ahead(0);
        while matches!(self.ahead(0), b' ' | b'\t' | b'\n') {
            self.at += 1;
        }
        let open = self.ahead(0);
        let refused = !open.is_ascii_punctuation()
            || matches!(open, b';' | b')' | b']' | b'}' | b'>')
            || (open == b',' && (adjacent != b',' || matches!(name, "q" | "y")))
            || (open == b'#' && adjacent != b'#')
            || (open == b'=' && matches!(self.ahead(1), b'>' | b' ' | b'='))
            || (open == b'.' && adjacent != b'.');
        if refused {
            self.at = start;
            return None;
        }
        self.at += 1;
        let plain = open == b'\'' || matches!(name, "q" | "qw" | "tr" | "y");
        let inside = if plain {
            SINGLE
        } else {
            double(Language::Perl)
        };
        if !matches!(name, "m" | "qr" | "s" | "tr" | "y") {
            let literal = self.delimited(open, inside);
            return Some(match name {
                "qw" => words(literal),
                "qx" => Kind::Shell(literal),
                _ => Kind::Text(literal),
            });
        }
        let mut code = self.pattern(open);
        if matches!(name, "s" | "tr" | "y") {
            let mut second = open;
            if closing(open) != open {
                while matches!(self.ahead(0), b' ' | b'\t' | b'\n') {
                    self.at += 1;
                }
                second = self.ahead(0);
                self.at += 1;
            }
            let from = self.at;
            let literal = self.delimited(second, inside);
            let body = from..self.at.saturating_sub(1).max(from);
            let flags = self.skip_flags();
            if name == "s" && flags.contains('e') {
                // The replacement is code.
                if flags.contains("ee") {
                    self.note(Unfollowed::Evaluates);
                }
                code.extend(self.trees_of(body));
            } else {
                code.extend(holes(literal));
            }
        } else {
            self.skip_flags();
        }
        Some(Kind::Regex(code))
    }

    /// The pattern of a Perl match, whose code blocks are not followed.
    fn pattern(&mut self, open: u8) -> Vec<Tree<'t>> {
        let from = self.at;
        self.skip_delimited(open);
        let body = self.slice(from..self.at.saturating_sub(1).max(from));
        if body.contains("(?{") || body.contains("(??{") {
            self.note(Unfollowed::Evaluates);
        }
        match body.find("@{") {
            // Interpolated code: `@{[ … ]}`.
            Some(found) if open != b'\'' => {
                let end = from + body.len();
                let inside = double(Language::Perl);
                holes(self.body(from + found..end, inside))
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// A regular expression between slashes, if it closes on this line.
    fn regex(&mut self) -> Option<Kind<'t>> {
        if self.at < self.no_regex_before {
            return None;
        }
        let start = self.at;
        self.at += 1;
        let mut class = false;
        loop {
            match self.ahead(0) {
                b'\\' => self.at += 1,
                b'[' if !self.syntax.is(Language::Perl) => class = true,
                b']' => class = false,
                b'/' if !class => break,
                b'\n' if !matches!(self.syntax.language, Language::Perl | Language::Ruby) => {
                    return self.no_regex(start);
                }
                _ => {}
            }
            if self.done() {
                return self.no_regex(start);
            }
            self.at += 1;
        }
        let body = start + 1..self.at;
        self.at += 1;
        self.skip_flags();
        let text = self.slice(body.clone());
        if self.syntax.is(Language::Perl) && (text.contains("(?{") || text.contains("(??{")) {
            self.note(Unfollowed::Evaluates);
        }
        let interpolated = match self.syntax.language {
            Language::Ruby => text.contains("#{"),
            Language::Perl => text.contains("@{"),
            Language::Python
            | Language::JavaScript
            | Language::Php
            | Language::Awk
            | Language::Vim
            | Language::PowerShell
            | Language::Lua => false,
        };
        let code = if interpolated {
            holes(self.body(body, double(self.syntax.language)))
        } else {
            Vec::new()
        };
        Some(Kind::Regex(code))
    }

    fn no_regex(&mut self, start: usize) -> Option<Kind<'t>> {
        self.no_regex_before = self.at;
        self.at = start;
        None
    }

    fn skip_flags(&mut self) -> &'t str {
        let start = self.at;
        if !self.syntax.is(Language::Awk) {
            while self.ahead(0).is_ascii_alphabetic() {
                self.at += 1;
            }
        }
        self.slice(start..self.at)
    }

    /// A here-document of Ruby or Perl: its body begins on the next line.
    fn document(&mut self, sign: usize, language: Language) -> Kind<'t> {
        let indented = sign > 2;
        self.at += sign;
        let quote = self.ahead(0);
        let quoted = matches!(quote, b'\'' | b'"' | b'`');
        let tag = if quoted {
            self.at += 1;
            let start = self.at;
            while !matches!(self.ahead(0), 0 | b'\n') && self.ahead(0) != quote {
                self.at += 1;
            }
            let tag = self.slice(start..self.at);
            self.at += 1;
            tag
        } else {
            self.tag()
        };
        let resume = self.at;
        let body = self.after_documents.unwrap_or_else(|| {
            let rest = self.text.get(self.at..self.end).unwrap_or("");
            self.at + rest.find('\n').map_or(rest.len(), |found| found + 1)
        });
        let mut line = body;
        let after = loop {
            let Some(rest) = self
                .text
                .get(line..self.end)
                .filter(|rest| !rest.is_empty())
            else {
                self.fail(Unfollowed::Unreadable);
                return Kind::Text(Literal::default());
            };
            let length = rest.find('\n').map_or(rest.len(), |found| found + 1);
            let whole = rest
                .get(..length)
                .unwrap_or("")
                .trim_end_matches(['\n', '\r']);
            let whole = if indented { whole.trim_start() } else { whole };
            if whole == tag {
                break line + length;
            }
            line += length;
        };
        let inside = if quote == b'\'' {
            RAW
        } else {
            double(language)
        };
        let literal = self.body(body..line, inside);
        if !self.stopped() {
            self.at = resume;
        }
        self.after_documents = Some(after);
        if quote == b'`' {
            Kind::Shell(literal)
        } else {
            Kind::Text(literal)
        }
    }

    fn tag(&mut self) -> &'t str {
        let start = self.at;
        while is_word(char::from(self.ahead(0))) {
            self.at += 1;
        }
        self.slice(start..self.at)
    }

    /// Reads a part of the text as the inside of a string.
    fn body(&mut self, range: std::ops::Range<usize>, inside: Inside) -> Literal<'t> {
        let (at, end) = (self.at, self.end);
        self.at = range.start;
        self.end = range.end.min(end);
        let literal = self.literal(&[], None, inside);
        self.end = end;
        self.at = if self.stopped() { end } else { at };
        literal
    }

    /// A string up to the bracket that closes `open`, brackets inside counted.
    fn delimited(&mut self, open: u8, inside: Inside) -> Literal<'t> {
        let close = closing(open);
        self.literal(&[close], (close != open).then_some(open), inside)
    }

    fn skip_delimited(&mut self, open: u8) {
        let close = closing(open);
        let mut nested = 0usize;
        while !self.done() {
            let byte = self.ahead(0);
            self.at += 1;
            if byte == b'\\' {
                self.at += 1;
            } else if byte == close {
                if nested == 0 {
                    return;
                }
                nested -= 1;
            } else if byte == open {
                nested += 1;
            }
        }
        self.fail(Unfollowed::Unreadable);
    }

    /// The rest of a string, up to and with its end; no end means the end of the text.
    fn literal(&mut self, close: &[u8], nests: Option<u8>, inside: Inside) -> Literal<'t> {
        let mut literal = Literal::default();
        let mut text = Vec::new();
        let mut nested = 0usize;
        loop {
            if self.done() {
                if !close.is_empty() {
                    self.fail(Unfollowed::Unreadable);
                }
                break;
            }
            let byte = self.ahead(0);
            let ends = !close.is_empty()
                && close
                    .iter()
                    .enumerate()
                    .all(|(by, quote)| self.ahead(by) == *quote);
            if ends && nested == 0 {
                self.at += close.len();
                break;
            }
            if ends {
                nested -= 1;
            } else if nests == Some(byte) {
                nested += 1;
            }
            match byte {
                b'\n' if inside.one_line => {
                    self.fail(Unfollowed::Unreadable);
                    break;
                }
                b'\\' if inside.escapes != Escapes::None => {
                    self.escape(close, inside.escapes, &mut text, &mut literal);
                }
                _ => match self.hole(inside.holes, byte) {
                    Some(trees) => {
                        flush(&mut text, &mut literal);
                        literal.pieces.push(Piece::Hole(trees));
                    }
                    None => {
                        // A doubled brace of an f-string stands for one.
                        if inside.holes == Holes::Braces
                            && matches!(byte, b'{' | b'}')
                            && self.ahead(1) == byte
                        {
                            self.at += 1;
                        }
                        text.push(byte);
                        self.at += 1;
                    }
                },
            }
        }
        flush(&mut text, &mut literal);
        literal
    }

    /// The code of a hole that begins here.
    fn hole(&mut self, holes: Holes, byte: u8) -> Option<Vec<Tree<'t>>> {
        match (holes, byte) {
            (Holes::Braces, b'{') if self.ahead(1) != b'{' => {
                self.at += 1;
                let trees = self.trees(Until::Format);
                self.skip_format();
                Some(trees)
            }
            (Holes::Dollar, b'$') | (Holes::Hash, b'#') if self.ahead(1) == b'{' => {
                self.at += 2;
                Some(self.trees(Until::Close(b'}')))
            }
            (Holes::Hash, b'#') if matches!(self.ahead(1), b'@' | b'$') => {
                self.at += 1;
                self.variable(false).map(|_| Vec::new())
            }
            (Holes::Php, b'{') if self.ahead(1) == b'$' => {
                self.at += 1;
                Some(self.trees(Until::Close(b'}')))
            }
            (Holes::Php | Holes::Perl, b'$' | b'@') => self.variable_hole(holes, byte),
            _ => None,
        }
    }

    /// `$x`, `$x[0]`, `$x->y`, `${x}`, `@{[ x ]}`.
    fn variable_hole(&mut self, holes: Holes, sigil: u8) -> Option<Vec<Tree<'t>>> {
        if sigil == b'@' && holes == Holes::Php {
            return None;
        }
        if self.ahead(1) == b'{' {
            self.at += 2;
            let mut trees = self.trees(Until::Close(b'}'));
            // Whatever the code gives, it is not the value of the hole.
            trees.push(Tree {
                kind: Kind::End,
                span: self.at..self.at,
                spaced: false,
            });
            return Some(trees);
        }
        let start = self.at;
        let next = self.ahead(1);
        if !(is_word(char::from(next))
            || (sigil == b'$' && matches!(next, b'$' | b'&' | b'!' | b'@')))
        {
            return None;
        }
        let kind = self.variable(false)?;
        let span = start..self.at;
        let subscript = match self.ahead(0) {
            b'[' | b'{' => true,
            b'-' => self.ahead(1) == b'>' && matches!(self.ahead(2), b'[' | b'{' | b'a'..=b'z'),
            _ => false,
        };
        // The environment's variables are told by their names.
        if holes == Holes::Perl && matches!(kind, Kind::Word("$ENV")) && self.ahead(0) == b'{' {
            let open = self.at;
            self.at += 1;
            let inside = self.trees(Until::Close(b'}'));
            let group = Tree {
                kind: Kind::Group(b'{', inside),
                span: open..self.at,
                spaced: false,
            };
            let name = Tree {
                kind,
                span,
                spaced: false,
            };
            return Some(vec![name, group]);
        }
        if subscript {
            return Some(self.subscripts());
        }
        Some(vec![Tree {
            kind,
            span,
            spaced: false,
        }])
    }

    /// Subscripts of a variable in a string. Code in them is read, their value is not.
    fn subscripts(&mut self) -> Vec<Tree<'t>> {
        let mut trees = Vec::new();
        loop {
            let arrow = if self.looking_at("->") { 2 } else { 0 };
            let close = match self.ahead(arrow) {
                b'[' => b']',
                b'{' => b'}',
                b'a'..=b'z' if arrow > 0 => {
                    self.at += 2;
                    self.tag();
                    break;
                }
                _ => break,
            };
            self.at += arrow + 1;
            trees.extend(self.trees(Until::Close(close)));
        }
        trees.push(Tree {
            kind: Kind::End,
            span: self.at..self.at,
            spaced: false,
        });
        trees
    }

    /// What follows the expression of an f-string's hole.
    fn skip_format(&mut self) {
        let mut nested = 0usize;
        while !self.done() {
            let byte = self.ahead(0);
            self.at += 1;
            match byte {
                b'{' => nested += 1,
                b'}' if nested == 0 => return,
                b'}' => nested -= 1,
                // A call in a format is possible, and nobody writes one.
                b'(' if nested > 0 => self.note(Unfollowed::Unreadable),
                _ => {}
            }
        }
        self.fail(Unfollowed::Unreadable);
    }

    fn escape(
        &mut self,
        close: &[u8],
        escapes: Escapes,
        text: &mut Vec<u8>,
        literal: &mut Literal<'t>,
    ) {
        let next = self.ahead(1);
        match escapes {
            Escapes::Kept => {
                text.push(b'\\');
                self.at += 1;
                self.take_character(text);
            }
            Escapes::Quotes => {
                self.at += 1;
                if next == b'\\' || close.contains(&next) {
                    text.push(next);
                    self.at += 1;
                } else {
                    text.push(b'\\');
                }
            }
            Escapes::None | Escapes::Full | Escapes::FullKept => {
                self.at += 2;
                let plain = match next {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'e' if !self.syntax.is(Language::Python) => 0x1b,
                    b'a' if !self.syntax.is(Language::JavaScript) => 0x07,
                    b'f' => 0x0c,
                    b'v' => 0x0b,
                    b'b' => 0x08,
                    b'\\' | b'"' | b'\'' | b'`' | b'$' | b'@' | b'#' | b'/' => next,
                    b'\n' => return,
                    b'0'..=b'7' => {
                        self.at -= 1;
                        let value = self.digits(8, 3);
                        push_character(text, value);
                        return;
                    }
                    b'x' | b'u' | b'U' => {
                        let braced = self.ahead(0) == b'{';
                        self.at += usize::from(braced);
                        let most = match next {
                            _ if braced => 8,
                            b'x' => 2,
                            b'u' => 4,
                            _ => 8,
                        };
                        let value = self.digits(16, most);
                        self.at += usize::from(braced && self.ahead(0) == b'}');
                        push_character(text, value);
                        return;
                    }
                    // A character by its name, or a control character: not known here.
                    b'N' | b'c' | b'C' | b'M' if escapes_by_name(self.syntax.language, next) => {
                        flush(text, literal);
                        literal.pieces.push(Piece::Hole(Vec::new()));
                        return;
                    }
                    _ => {
                        if escapes == Escapes::FullKept {
                            text.push(b'\\');
                        }
                        self.at -= 1;
                        self.take_character(text);
                        return;
                    }
                };
                text.push(plain);
            }
        }
    }

    /// Takes one character as it is, all of its bytes.
    fn take_character(&mut self, text: &mut Vec<u8>) {
        if self.done() {
            return;
        }
        text.push(self.ahead(0));
        self.at += 1;
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0u32;
        for _ in 0..most {
            let Some(digit) = char::from(self.ahead(0)).to_digit(radix) else {
                break;
            };
            value = value.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        value
    }
}

/// `print {$handle} <<E`, `print $handle <<E`: what stands between says where to print.
fn prints_to(out: &[Tree<'_>]) -> bool {
    match out {
        [.., print, handle] => {
            (handle.group(b'{').is_some() || handle.as_word().is_some())
                && print
                    .as_word()
                    .is_some_and(|word| matches!(word, "print" | "printf" | "say"))
        }
        _ => false,
    }
}

/// Methods of Ruby that are called with a pattern and without parentheses.
static TAKES_REGEX: &[&str] = &[
    "puts",
    "p",
    "print",
    "split",
    "scan",
    "match",
    "match?",
    "grep",
    "grep_v",
    "sub",
    "gsub",
    "sub!",
    "gsub!",
    "partition",
    "index",
    "slice",
    "delete_if",
    "assert_match",
];

fn escapes_by_name(language: Language, letter: u8) -> bool {
    match language {
        Language::Python => letter == b'N',
        Language::Perl => matches!(letter, b'N' | b'c'),
        Language::Ruby => matches!(letter, b'c' | b'C' | b'M'),
        Language::JavaScript
        | Language::Php
        | Language::Awk
        | Language::Vim
        | Language::PowerShell
        | Language::Lua => false,
    }
}

fn push_character(text: &mut Vec<u8>, value: u32) {
    let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend(character.to_string().as_bytes());
}

fn flush(text: &mut Vec<u8>, literal: &mut Literal<'_>) {
    if !text.is_empty() {
        let taken = std::mem::take(text);
        literal
            .pieces
            .push(Piece::Text(String::from_utf8_lossy(&taken).into_owned()));
    }
}

/// The words of a list that is written as one string.
fn words<'t>(literal: Literal<'t>) -> Kind<'t> {
    let mut text = String::new();
    for piece in &literal.pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            // `%W[#{x}]` is rare; its value is left unknown, the code in it is read.
            Piece::Hole(_) => return Kind::Regex(holes(literal)),
        }
    }
    Kind::Words(text.split_ascii_whitespace().map(str::to_owned).collect())
}

fn holes<'t>(literal: Literal<'t>) -> Vec<Tree<'t>> {
    literal
        .pieces
        .into_iter()
        .flat_map(|piece| match piece {
            Piece::Text(_) => Vec::new(),
            Piece::Hole(trees) => trees,
        })
        .collect()
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
