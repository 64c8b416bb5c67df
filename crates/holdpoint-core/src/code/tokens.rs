//! Cuts code into trees of tokens: words, signs, texts, and groups between brackets.
//!
//! One lexer serves all languages; `syntax` says how they differ and `literals` reads their
//! strings. Code inside of strings (`f"{x}"`, `${x}`, `#{x}`) becomes trees as well. A bracket or
//! string without an end stops the reading with a reason.

use std::collections::HashSet;
use std::ops::Range;

use super::syntax::{Lines, Syntax};
use super::{Language, Limits, Unfollowed};

/// Deepest nesting of brackets and strings.
const MAX_DEPTH: usize = 32;

/// A token, or a group of them.
#[derive(Debug)]
pub(super) struct Tree<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Range<usize>,
    /// A blank stands in front.
    pub(super) spaced: bool,
}

/// What a tree is.
#[derive(Debug)]
pub(super) enum Kind<'t> {
    /// A name or keyword, with its sigil.
    Word(&'t str),
    /// A number, if it is a whole one that fits.
    Number(Option<u32>),
    /// A string.
    Text(Literal<'t>),
    /// A string that a shell runs.
    Shell(Literal<'t>),
    /// A list of words: `%w[a b]`, `qw(a b)`.
    Words(Vec<String>),
    /// A regular expression and the code in it.
    Regex(Vec<Tree<'t>>),
    /// An operator.
    Sign(&'t str),
    /// What stands between brackets, by the opening one.
    Group(u8, Vec<Tree<'t>>),
    /// `;`, or a new line where that ends a statement.
    End,
}

/// A string: text and the code it holds.
#[derive(Debug, Default)]
pub(super) struct Literal<'t> {
    pub(super) pieces: Vec<Piece<'t>>,
    /// It is a JavaScript template, which may follow a function as its argument.
    pub(super) template: bool,
}

/// A piece of a string.
#[derive(Debug)]
pub(super) enum Piece<'t> {
    Text(String),
    Hole(Vec<Tree<'t>>),
}

impl<'t> Tree<'t> {
    pub(super) fn as_word(&self) -> Option<&'t str> {
        match self.kind {
            Kind::Word(word) => Some(word),
            Kind::Number(_)
            | Kind::Text(_)
            | Kind::Shell(_)
            | Kind::Words(_)
            | Kind::Regex(_)
            | Kind::Sign(_)
            | Kind::Group(..)
            | Kind::End => None,
        }
    }

    pub(super) fn sign(&self) -> Option<&'t str> {
        match self.kind {
            Kind::Sign(sign) => Some(sign),
            Kind::Word(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::Shell(_)
            | Kind::Words(_)
            | Kind::Regex(_)
            | Kind::Group(..)
            | Kind::End => None,
        }
    }

    pub(super) fn group(&self, open: u8) -> Option<&[Tree<'t>]> {
        match &self.kind {
            Kind::Group(bracket, inside) if *bracket == open => Some(inside),
            Kind::Group(..)
            | Kind::Word(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::Shell(_)
            | Kind::Words(_)
            | Kind::Regex(_)
            | Kind::Sign(_)
            | Kind::End => None,
        }
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.sign() == Some(sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.as_word() == Some(word)
    }

    pub(super) fn is_end(&self) -> bool {
        matches!(self.kind, Kind::End)
    }
}

/// Cuts code into trees. What could not be read is the second value.
pub(super) fn trees<'t>(
    syntax: &'static Syntax,
    code: &'t str,
    limits: &Limits,
) -> (Vec<Tree<'t>>, Option<Unfollowed>) {
    let mut lexer = Lexer {
        text: code,
        bytes: code.as_bytes(),
        at: 0,
        end: code.len(),
        syntax,
        limits,
        depth: 0,
        fault: None,
        after_documents: None,
        no_regex_before: 0,
        assigned: HashSet::new(),
    };
    if lexer.looking_at("#!") && !syntax.line_comments.contains(&"#") {
        lexer.skip_line();
    }
    if syntax.is(Language::Php) && lexer.opens_with_page() {
        lexer.skip_page();
    }
    let trees = lexer.trees(Until::End);
    (trees, lexer.fault)
}

/// Where a list of trees ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    End,
    Close(u8),
    /// The end of a hole of an f-string: `}`, or the `:` or `!` before a format.
    Format,
}

pub(super) struct Lexer<'t, 'l> {
    pub(super) text: &'t str,
    bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) syntax: &'static Syntax,
    limits: &'l Limits,
    depth: usize,
    pub(super) fault: Option<Unfollowed>,
    /// Where the code goes on after the here-documents of this line.
    pub(super) after_documents: Option<usize>,
    /// No regular expression closes before this place.
    pub(super) no_regex_before: usize,
    /// Words that stood in front of a `=`.
    assigned: HashSet<&'t str>,
}

impl<'t> Lexer<'t, '_> {
    /// The byte some way ahead; NUL at the end.
    pub(super) fn ahead(&self, by: usize) -> u8 {
        let at = self.at.saturating_add(by);
        if at < self.end {
            self.bytes.get(at).copied().unwrap_or(0)
        } else {
            0
        }
    }

    pub(super) fn done(&self) -> bool {
        self.at >= self.end
    }

    pub(super) fn looking_at(&self, text: &str) -> bool {
        // Asked of many signs at every place: mostly the first letter is another.
        if text
            .bytes()
            .next()
            .is_some_and(|first| first != self.ahead(0))
        {
            return false;
        }
        self.bytes
            .get(self.at..self.end)
            .is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or("")
    }

    /// Stops everything: what follows cannot be told apart any more.
    pub(super) fn fail(&mut self, why: Unfollowed) {
        self.fault = self.fault.or(Some(why));
        self.at = self.end;
    }

    /// Notes what is not followed and goes on.
    pub(super) fn note(&mut self, why: Unfollowed) {
        self.fault = self.fault.or(Some(why));
    }

    pub(super) fn skip_line(&mut self) {
        while !self.done() && self.ahead(0) != b'\n' {
            self.at += 1;
        }
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || self.bytes.get(self.at - 1) == Some(&b'\n')
    }

    /// A PHP file begins as a page. Code after `php -r` cannot begin with `<`.
    fn opens_with_page(&self) -> bool {
        let start = self.text.trim_start();
        start.starts_with('<') && !start.starts_with("<<<")
    }

    /// Skips what a PHP file only prints.
    fn skip_page(&mut self) {
        let rest = self.text.get(self.at..self.end).unwrap_or("");
        match rest.find("<?") {
            Some(found) => {
                self.at += found + 2;
                for tag in ["php", "="] {
                    if self.looking_at(tag) {
                        self.at += tag.len();
                        break;
                    }
                }
            }
            None => self.at = self.end,
        }
    }

    /// The trees up to an end, which is consumed, except for [`Until::Format`].
    pub(super) fn trees(&mut self, until: Until) -> Vec<Tree<'t>> {
        let mut out = Vec::new();
        if self.depth >= MAX_DEPTH {
            self.fail(Unfollowed::TooDeep);
            return out;
        }
        self.depth += 1;
        loop {
            let before = self.at;
            self.skip_blank();
            let spaced = self.at > before;
            if self.done() {
                if until != Until::End {
                    self.fail(Unfollowed::Unreadable);
                }
                break;
            }
            let start = self.at;
            let byte = self.ahead(0);
            if until == Until::Close(byte) {
                self.at += 1;
                break;
            }
            if until == Until::Format && self.ends_hole() {
                break;
            }
            if !self.limits.token() {
                self.fail(Unfollowed::TooLong);
                break;
            }
            let kind = match byte {
                b'\n' | b'\r' => {
                    self.line();
                    let ends = self.syntax.lines != Lines::Blank
                        && !matches!(until, Until::Close(b')' | b']') | Until::Format);
                    if !ends || out.last().is_none_or(Tree::is_end) {
                        continue;
                    }
                    Kind::End
                }
                b';' => {
                    self.at += 1;
                    Kind::End
                }
                b'(' | b'[' | b'{' if !self.opens_literal(byte) => {
                    self.at += 1;
                    let close = match byte {
                        b'(' => b')',
                        b'[' => b']',
                        _ => b'}',
                    };
                    Kind::Group(byte, self.trees(Until::Close(close)))
                }
                b')' | b']' | b'}' => {
                    self.fail(Unfollowed::Unreadable);
                    break;
                }
                _ => match self.special(&out, spaced) {
                    Some(kind) => kind,
                    None => self.ordinary(byte),
                },
            };
            if let (Kind::Sign(sign), Some(word)) = (&kind, out.last().and_then(Tree::as_word))
                && sign.ends_with('=')
            {
                self.assigned.insert(word);
            }
            out.push(Tree {
                kind,
                span: start..self.at,
                spaced,
            });
        }
        self.depth -= 1;
        out
    }

    /// Reads a part of the text as trees of their own.
    pub(super) fn trees_of(&mut self, range: Range<usize>) -> Vec<Tree<'t>> {
        let (at, end) = (self.at, self.end);
        self.at = range.start;
        self.end = range.end.min(end);
        let trees = self.trees(Until::End);
        self.end = end;
        self.at = if self.stopped() { end } else { at };
        trees
    }

    /// Whether reading has come to its end before the code has.
    pub(super) fn stopped(&self) -> bool {
        self.fault.is_some_and(stops)
    }

    /// Lua's long strings begin with a bracket.
    fn opens_literal(&self, byte: u8) -> bool {
        self.syntax.is(Language::Lua) && byte == b'[' && matches!(self.ahead(1), b'[' | b'=')
    }

    fn ends_hole(&self) -> bool {
        match self.ahead(0) {
            b'}' => true,
            b':' => self.ahead(1) != b'=',
            b'!' => self.ahead(1) != b'=',
            b'=' => matches!(self.ahead(1), b'}' | b':' | b'!'),
            _ => false,
        }
    }

    /// A new line, and the here-documents that begin after it.
    fn line(&mut self) {
        self.at = match self.after_documents.take() {
            Some(after) => after,
            None => self.at + 1,
        };
    }

    /// Blanks, joined lines and comments. A new line is no blank here.
    fn skip_blank(&mut self) {
        loop {
            match self.ahead(0) {
                b'\r' if self.ends_line() => break,
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c if !self.done() => self.at += 1,
                0x80.. if self.foreign_blank() > 0 => self.at += self.foreign_blank(),
                b'\\' if self.ahead(1) == b'\n' => self.at += 2,
                b'\\' if self.ahead(1) == b'\r' && self.ahead(2) == b'\n' => self.at += 3,
                _ if self.skip_comment() => {}
                _ => break,
            }
        }
    }

    /// A carriage return alone ends a line in some languages, and with it a comment.
    fn ends_line(&self) -> bool {
        match self.ahead(0) {
            b'\n' => true,
            b'\r' => {
                self.ahead(1) != b'\n'
                    && match self.syntax.language {
                        Language::Python | Language::JavaScript | Language::Php | Language::Lua => {
                            true
                        }
                        Language::Ruby
                        | Language::Perl
                        | Language::Awk
                        | Language::Vim
                        | Language::PowerShell => false,
                    }
            }
            _ => false,
        }
    }

    /// The length of a blank of JavaScript outside of ASCII.
    fn foreign_blank(&self) -> usize {
        if !self.syntax.is(Language::JavaScript) {
            return 0;
        }
        self.text
            .get(self.at..self.end)
            .and_then(|rest| rest.chars().next())
            .filter(|letter| letter.is_whitespace() || *letter == '\u{feff}')
            .map_or(0, char::len_utf8)
    }

    fn skip_comment(&mut self) -> bool {
        let start = self.at;
        if self.at_line_start() && self.skip_pod() {
            return true;
        }
        let attribute = self.syntax.is(Language::Php) && self.looking_at("#[");
        if self.syntax.is(Language::Lua) && self.looking_at("--[") {
            self.at += 2;
            if self.long_bracket().is_some() {
                return true;
            }
            self.at = start;
        }
        for (open, close) in self.syntax.block_comments {
            if self.looking_at(open) {
                let body = self.at + open.len();
                match self
                    .text
                    .get(body..self.end)
                    .and_then(|rest| rest.find(close))
                {
                    Some(found) => self.at = body + found + close.len(),
                    None => self.fail(Unfollowed::Unreadable),
                }
                return true;
            }
        }
        if attribute
            || !self
                .syntax
                .line_comments
                .iter()
                .any(|sign| self.looking_at(sign))
        {
            return false;
        }
        while !self.done() && !self.ends_line() {
            // A PHP comment ends where the page goes on.
            let page = self.syntax.is(Language::Php) && self.looking_at("?>");
            // JavaScript knows two more ends of a line.
            let line = self.ahead(0) == 0xe2
                && self.syntax.is(Language::JavaScript)
                && (self.looking_at("\u{2028}") || self.looking_at("\u{2029}"));
            if page || line {
                break;
            }
            self.at += 1;
        }
        self.at > start
    }

    /// Documentation between the code of Perl and Ruby, and the data after it.
    fn skip_pod(&mut self) -> bool {
        let (begins, ends): (bool, &str) = match self.syntax.language {
            Language::Perl => (
                self.ahead(0) == b'=' && self.ahead(1).is_ascii_alphabetic(),
                "\n=cut",
            ),
            Language::Ruby => (self.looking_at("=begin"), "\n=end"),
            Language::Python
            | Language::JavaScript
            | Language::Php
            | Language::Awk
            | Language::Vim
            | Language::PowerShell
            | Language::Lua => return false,
        };
        if begins {
            let rest = self.text.get(self.at..self.end).unwrap_or("");
            match rest.find(ends) {
                Some(found) => {
                    self.at += found + ends.len();
                    self.skip_line();
                }
                None => self.at = self.end,
            }
            return true;
        }
        if ["__END__", "__DATA__"].iter().any(|mark| {
            self.looking_at(mark) && matches!(self.ahead(mark.len()), b'\n' | b'\r' | 0)
        }) {
            self.at = self.end;
            return true;
        }
        false
    }

    /// Words, numbers and signs.
    fn ordinary(&mut self, byte: u8) -> Kind<'t> {
        let start = self.at;
        if byte.is_ascii_digit() || (byte == b'.' && self.ahead(1).is_ascii_digit()) {
            return self.number();
        }
        if self.begins_word(byte) {
            self.read_word();
            let word = self.slice(start..self.at);
            if self.syntax.is(Language::Python) && !word.is_ascii() && may_be_another_name(word) {
                self.note(Unfollowed::DynamicName);
            }
            return Kind::Word(word);
        }
        if byte == b'\\' && self.ahead(1) == b'u' && self.syntax.is(Language::JavaScript) {
            // A letter of a name in disguise.
            self.note(Unfollowed::DynamicName);
        }
        for sign in SIGNS {
            if self.looking_at(sign) && (*sign != "&." || self.syntax.member.contains(sign)) {
                self.at += sign.len();
                return Kind::Sign(self.slice(start..self.at));
            }
        }
        self.at += 1;
        Kind::Sign(self.slice(start..self.at))
    }

    fn number(&mut self) -> Kind<'t> {
        let start = self.at;
        while self.ahead(0).is_ascii_alphanumeric()
            || self.ahead(0) == b'_'
            || (self.ahead(0) == b'.' && self.ahead(1).is_ascii_digit())
        {
            self.at += 1;
        }
        let text = self.slice(start..self.at).replace('_', "");
        let (digits, radix) = match text.get(..2) {
            Some("0x" | "0X") => (text.get(2..), 16),
            Some("0o" | "0O") => (text.get(2..), 8),
            Some("0b" | "0B") => (text.get(2..), 2),
            _ => (Some(text.as_str()), 10),
        };
        Kind::Number(digits.and_then(|digits| u32::from_str_radix(digits, radix).ok()))
    }

    fn begins_word(&self, byte: u8) -> bool {
        byte.is_ascii_alphabetic()
            || byte == b'_'
            || byte >= 0x80
            || (byte == b'$' && self.syntax.is(Language::JavaScript))
    }

    fn read_word(&mut self) {
        while (self.begins_word(self.ahead(0)) || self.ahead(0).is_ascii_digit())
            && (self.ahead(0) < 0x80 || self.foreign_blank() == 0)
        {
            self.at += 1;
        }
        if self.syntax.is(Language::Ruby)
            && matches!(self.ahead(0), b'?' | b'!')
            && self.ahead(1) != b'='
        {
            self.at += 1;
        }
    }

    /// A variable with its sigil, or `None` where the sigil is only a sign.
    pub(super) fn variable(&mut self, operand_in_front: bool) -> Option<Kind<'t>> {
        let start = self.at;
        let sigil = self.ahead(0);
        if sigil == b'%' && operand_in_front {
            return None;
        }
        let mut by = 1;
        if sigil == b'@' && self.ahead(by) == b'@' && self.syntax.is(Language::Ruby) {
            by += 1;
        }
        if sigil == b'$' && self.ahead(1) == b'#' && self.syntax.is(Language::Perl) {
            by = if matches!(self.ahead(2), b'{' | b'$') {
                1
            } else {
                2
            };
        }
        let next = self.ahead(by);
        if self.begins_word(next) || (next.is_ascii_digit() && sigil == b'$') {
            self.at += by;
            while self.begins_word(self.ahead(0)) || self.ahead(0).is_ascii_digit() {
                self.at += 1;
            }
            // Perl's way to where a script lies.
            if self.slice(start..self.at) == "$FindBin" && self.ahead(0) == b':' {
                self.at += 2;
                while self.begins_word(self.ahead(0)) {
                    self.at += 1;
                }
            }
            return Some(Kind::Word(self.slice(start..self.at)));
        }
        let special = sigil == b'$'
            && !self.syntax.is(Language::Php)
            && next.is_ascii_punctuation()
            // `$)` is a variable, but far more often the end of a prototype.
            && !matches!(next, b'{' | b'(' | b')')
            && !(next == b'$' && (self.begins_word(self.ahead(2)) || self.ahead(2) == b'{'));
        if special {
            self.at += 2;
            return Some(Kind::Word(self.slice(start..self.at)));
        }
        None
    }

    /// Whether a value ends in front of the cursor, so that `%` is a remainder and `<<` shifts.
    pub(super) fn after_operand(&self, out: &[Tree<'t>]) -> bool {
        let Some(last) = out.last() else {
            return false;
        };
        match &last.kind {
            // Words of Perl without a sigil are functions and take operands.
            Kind::Word(word) if self.syntax.is(Language::Perl) => word.starts_with(['$', '@', '%']),
            Kind::Word(word) => !self.syntax.takes_operand.contains(word),
            Kind::Number(_)
            | Kind::Text(_)
            | Kind::Shell(_)
            | Kind::Words(_)
            | Kind::Regex(_)
            | Kind::Group(b'(' | b'[', _) => true,
            // What closes could be a block as well as a value. Taking it for a value is the safe
            // side: a division taken for a regular expression would hide the code up to the next
            // slash. Awk has no values between braces.
            Kind::Group(..) => !self.syntax.is(Language::Awk),
            Kind::Sign(_) | Kind::End => false,
        }
    }

    /// Whether the code has given a value to the word in front.
    pub(super) fn after_variable(&self, out: &[Tree<'t>]) -> bool {
        out.last()
            .and_then(Tree::as_word)
            .is_some_and(|word| self.assigned.contains(word))
    }

    /// Leaves the code of a PHP file for its page and comes back.
    pub(super) fn page(&mut self) {
        self.at += 2;
        self.skip_page();
    }
}

fn stops(why: Unfollowed) -> bool {
    match why {
        Unfollowed::Unreadable | Unfollowed::TooDeep | Unfollowed::TooLong => true,
        Unfollowed::Evaluates | Unfollowed::DynamicName | Unfollowed::Native => false,
    }
}

/// Python folds compatibility characters of a name: `ｅval` is `eval`. Letters of living
/// scripts stay what they are.
fn may_be_another_name(word: &str) -> bool {
    word.chars().any(|letter| {
        matches!(u32::from(letter),
            0xaa | 0xba | 0x17f | 0x132..=0x133 | 0x1c4..=0x1cc | 0x1f1..=0x1f3
            | 0x2b0..=0x2ff | 0x1d2c..=0x1d6a | 0x2070..=0x218f | 0x2460..=0x24ff
            | 0xfb00..=0xfb4f | 0xff00..=0xffef | 0x1d400..=0x1d7ff)
    })
}

/// Signs of more than one character, longer ones first.
static SIGNS: &[&str] = &[
    "<=>", "===", "!==", "**=", "...", "<<=", ">>=", "||=", "&&=", "??=", "?->", "//=", "->", "=>",
    "::", "==", "!=", "<=", ">=", "=~", "!~", "&&", "||", "??", "?.", "+=", "-=", ".=", "*=", "/=",
    "%=", "|=", "&=", "^=", "~=", ":=", "..", "**", "++", "--", "<<", ">>", "&.",
];
