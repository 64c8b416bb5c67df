//! The tokens of a statement, asked about by place. A place beyond the end holds nothing.

use std::ops::Range;

use super::tokens::{Flavour, Token, TokenKind, escapes, unquote};
use super::verbs::is_one_of;

/// Some tokens of a text.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) flavour: Flavour,
}

impl<'a> View<'a> {
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// The source of the token at `at`.
    pub(super) fn source(&self, at: usize) -> &'a str {
        self.tokens
            .get(at)
            .and_then(|token| self.text.get(token.start..token.end))
            .unwrap_or_default()
    }

    /// The bare word at `at`, or nothing.
    pub(super) fn word(&self, at: usize) -> &'a str {
        if self.kind(at) == Some(TokenKind::Word) {
            self.source(at)
        } else {
            ""
        }
    }

    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        self.word(at).eq_ignore_ascii_case(word)
    }

    pub(super) fn is_any(&self, at: usize, words: &[&str]) -> bool {
        is_one_of(self.word(at), words)
    }

    pub(super) fn symbol(&self, at: usize, symbol: u8) -> bool {
        self.kind(at) == Some(TokenKind::Symbol(symbol))
    }

    /// What the literals at `at` stand for; neighbours are one.
    pub(super) fn literal(&self, at: usize) -> Option<String> {
        let mut whole: Option<String> = None;
        for at in at..self.len() {
            if self.kind(at) != Some(TokenKind::Text) {
                break;
            }
            whole
                .get_or_insert_default()
                .push_str(&unquote(self.source(at), escapes(self.flavour)));
        }
        whole
    }

    /// The first literal at or after `at`.
    pub(super) fn next_literal(&self, at: usize) -> Option<String> {
        (at..self.len()).find_map(|at| self.literal(at))
    }

    /// The dotted name at `at` and the place behind it.
    pub(super) fn name(&self, at: usize) -> Option<(String, usize)> {
        let mut name = String::new();
        let mut at = at;
        loop {
            match self.kind(at)? {
                TokenKind::Word => name.push_str(self.source(at)),
                TokenKind::Quoted | TokenKind::Text => {
                    name.push_str(&unquote(self.source(at), escapes(self.flavour)));
                }
                TokenKind::Symbol(b'*') => name.push('*'),
                TokenKind::Variable | TokenKind::Spliced => name.push_str(self.source(at)),
                TokenKind::Number | TokenKind::Symbol(_) | TokenKind::Backslash => return None,
            }
            at += 1;
            if !self.symbol(at, b'.') {
                return Some((name, at));
            }
            name.push('.');
            at += 1;
            if self.symbol(at, b'.') {
                at += 1;
            }
        }
    }

    /// Places outside parentheses from `from` on, up to the parenthesis that closes this level.
    pub(super) fn level(&self, from: usize) -> impl Iterator<Item = usize> + use<'a> {
        let mut depth = 0usize;
        self.tokens
            .iter()
            .enumerate()
            .skip(from)
            .map_while(move |(at, token)| {
                if token.kind == TokenKind::Symbol(b'(') {
                    depth += 1;
                } else if token.kind == TokenKind::Symbol(b')') {
                    depth = depth.checked_sub(1)?;
                }
                Some((at, depth))
            })
            .filter_map(|(at, depth)| (depth == 0).then_some(at))
    }

    /// The first of `words` from `from` on, outside parentheses.
    pub(super) fn find(&self, from: usize, words: &[&str]) -> Option<usize> {
        self.level(from).find(|at| self.is_any(*at, words))
    }

    /// The tokens of a range of places.
    pub(super) fn part(&self, range: Range<usize>) -> View<'a> {
        let end = range.end.min(self.len());
        View {
            tokens: self
                .tokens
                .get(range.start.min(end)..end)
                .unwrap_or_default(),
            ..*self
        }
    }

    /// Where the parenthesis at `open` closes, or the end.
    pub(super) fn closing(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for at in open..self.len() {
            if self.symbol(at, b'(') {
                depth += 1;
            } else if self.symbol(at, b')') {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
        }
        self.len()
    }

    /// How many tokens the operator at `at` has; none where no sign stands.
    pub(super) fn sign_length(&self, at: usize) -> usize {
        let mut length = 0;
        let mut end = self.tokens.get(at).map_or(0, |token| token.start);
        while let Some(token) = self.tokens.get(at + length)
            && let TokenKind::Symbol(sign) = token.kind
            && SIGNS.contains(&sign)
            && token.start == end
        {
            end = token.end;
            length += 1;
        }
        // `=-1` is `=` and `-1`.
        while length > 1
            && (self.symbol(at + length - 1, b'-') || self.symbol(at + length - 1, b'+'))
        {
            length -= 1;
        }
        length
    }

    /// The operator of `length` tokens at `at`, unless it goes on to the left.
    pub(super) fn sign(&self, at: usize, length: usize) -> Option<&'a str> {
        let first = self.tokens.get(at)?;
        let last = self.tokens.get((at + length).checked_sub(1)?)?;
        if length == 0 {
            return None;
        }
        let goes_on = at
            .checked_sub(1)
            .and_then(|before| self.tokens.get(before))
            .is_some_and(|before| {
                before.end == first.start
                    && matches!(before.kind, TokenKind::Symbol(sign) if SIGNS.contains(&sign))
            });
        if goes_on {
            None
        } else {
            self.text.get(first.start..last.end)
        }
    }

    /// Where these tokens stand in the text.
    pub(super) fn span(&self) -> Range<usize> {
        let start = self.tokens.first().map_or(0, |token| token.start);
        start..self.tokens.last().map_or(start, |token| token.end)
    }
}

/// Characters operators are made of.
const SIGNS: &[u8] = b"=<>!~@#&|^*/%+-?";
