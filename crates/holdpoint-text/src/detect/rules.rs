//! The rules under `rules/injection/` as tables, and how their patterns are matched over concepts.

use std::borrow::Cow;

use super::concepts::Hit;
use super::surroundings;
use crate::inspection::Family;
use crate::words::Word;
use crate::{Origin, Severity};

include!(concat!(env!("OUT_DIR"), "/injection_rules.rs"));

/// A part of one of the tables.
#[derive(Clone, Copy)]
pub(super) struct Span {
    at: u16,
    length: u16,
}

impl Span {
    fn slice<T>(self, table: &'static [T]) -> &'static [T] {
        let at = usize::from(self.at);
        table
            .get(at..at + usize::from(self.length))
            .unwrap_or_default()
    }

    pub(super) fn text(self) -> &'static str {
        let at = usize::from(self.at);
        TEXTS
            .get(at..at + usize::from(self.length))
            .unwrap_or_default()
    }
}

/// One thing to look for.
pub(super) struct Rule {
    id: Span,
    reason: Span,
    family: u8,
    severity: u8,
    /// A bit for each origin it is for.
    origins: u8,
    /// Bits of `format::PLACES`.
    places: u16,
    /// Concepts one of which must stand close by; none when it does not matter.
    near: u128,
    not_after: Span,
    not_before: Span,
}

impl Rule {
    pub(super) fn id(&self) -> Cow<'static, str> {
        self.id.text().into()
    }

    pub(super) fn reason(&self) -> Cow<'static, str> {
        self.reason.text().into()
    }

    pub(super) fn family(&self) -> Family {
        FAMILIES
            .get(usize::from(self.family))
            .copied()
            .unwrap_or(Family::Override)
    }

    pub(super) fn severity(&self) -> Severity {
        Severity::ALL
            .get(usize::from(self.severity))
            .copied()
            .unwrap_or(Severity::Medium)
    }

    pub(super) fn is_for(&self, origin: Origin) -> bool {
        self.origins >> (origin as u8) & 1 != 0
    }

    /// Whether everything around the words `first..end` is as the rule asks.
    pub(super) fn fits(&self, place: &Match<'_>) -> bool {
        let hash_at = |at: usize| place.words.get(at).map(|word| word.hash);
        let before = place.first.checked_sub(1).and_then(hash_at);
        if before.is_some_and(|hash| self.not_after.slice(&WORDS).contains(&hash))
            && surroundings::is_joined(place.text, self.start_before(place), place.span.0)
        {
            return false;
        }
        if hash_at(place.end).is_some_and(|hash| self.not_before.slice(&WORDS).contains(&hash))
            && surroundings::is_joined(place.text, place.span.1, self.start_after(place))
        {
            return false;
        }
        (self.near == 0 || is_near(self.near, place))
            && surroundings::hold(self.places, place.text, place.span)
    }

    fn start_before(&self, place: &Match<'_>) -> usize {
        let word = place
            .first
            .checked_sub(1)
            .and_then(|at| place.words.get(at));
        word.map_or(place.span.0, |word| word.end as usize)
    }

    fn start_after(&self, place: &Match<'_>) -> usize {
        let word = place.words.get(place.end);
        word.map_or(place.span.1, |word| word.start as usize)
    }
}

/// How bad what a rule finds is by itself, before it is known where it stands.
pub fn severity_of(id: &str) -> Option<Severity> {
    let rule = RULES.iter().find(|rule| rule.id.text() == id)?;
    Some(rule.severity())
}

/// Where something was found.
pub(super) struct Match<'v> {
    pub(super) text: &'v str,
    pub(super) words: &'v [Word],
    pub(super) hits: &'v [Hit],
    /// The words it covers.
    pub(super) first: usize,
    pub(super) end: usize,
    /// The bytes it covers.
    pub(super) span: (usize, usize),
}

/// How far around a rule's `near` looks, in words.
const NEAR: usize = 40;

fn is_near(concepts: u128, place: &Match<'_>) -> bool {
    let from = place.first.saturating_sub(NEAR);
    let to = place.end.saturating_add(NEAR);
    let start = place
        .hits
        .partition_point(|hit| (hit.first_word as usize) < from);
    place
        .hits
        .iter()
        .skip(start)
        .take_while(|hit| (hit.first_word as usize) < to)
        .any(|hit| concepts >> hit.concept & 1 != 0)
}

/// A sequence a rule looks for, filed under the concepts it may begin with.
pub(super) struct Pattern {
    rule: u16,
    elements: Span,
}

struct Element {
    concepts: u128,
    /// Or one of these words.
    words: Span,
    /// How many other words may stand before it.
    gap: u8,
}

/// A text of any characters a rule looks for.
pub(super) struct Token {
    /// Its first bytes, by which the tokens are sorted.
    key: u32,
    pub(super) text: Span,
    rule: u16,
}

impl Token {
    pub(super) fn rule(&self) -> Option<&'static Rule> {
        RULES.get(usize::from(self.rule))
    }
}

/// The tokens that begin with three bytes, the last two in lower case.
pub(super) fn tokens(sign: u8, next: u8, after: u8) -> &'static [Token] {
    let key = u32::from(sign) << 16 | u32::from(next) << 8 | u32::from(after);
    // Most signs are followed by what no token has there.
    if TOKEN_SECONDS >> (next & 127) & 1 == 0 {
        return &[];
    }
    let start = TOKENS.partition_point(|token| token.key < key);
    let rest = TOKENS.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|token| token.key == key).count();
    rest.get(..length).unwrap_or_default()
}

/// A bit for the last bits of each second byte of a token.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
static TOKEN_SECONDS: u128 = {
    let (mut seconds, mut index) = (0, 0);
    while index < TOKENS.len() {
        seconds |= 1 << (TOKENS[index].key >> 8 & 127);
        index += 1;
    }
    seconds
};

/// The patterns that may begin with a concept.
pub(super) fn patterns_from(concept: u8) -> &'static [Pattern] {
    let head = |at: usize| PATTERN_HEADS.get(at).map_or(0, |head| usize::from(*head));
    let at = usize::from(concept);
    PATTERNS.get(head(at)..head(at + 1)).unwrap_or_default()
}

/// The ideas that stand where the second element of a pattern may, if its first is the hit `at`.
pub(super) fn ideas_behind(at: usize, hits: &[Hit]) -> u128 {
    let mut near = hits.get(at..).unwrap_or_default().iter();
    let end = near
        .as_slice()
        .first()
        .map_or(0, |hit| hit.first_word + u32::from(hit.words));
    let last = end + u32::from(WIDEST_GAP) * ALONE;
    near.by_ref()
        .take_while(|hit| hit.first_word <= last)
        .fold(0, |ideas, hit| ideas | 1 << hit.concept)
}

/// The widest gap of any pattern.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
static WIDEST_GAP: u8 = {
    let (mut widest, mut index) = (0, 0);
    while index < ELEMENTS.len() {
        if ELEMENTS[index].gap > widest {
            widest = ELEMENTS[index].gap;
        }
        index += 1;
    }
    widest
};

/// By how much a gap is wider where every character is a word.
const ALONE: u32 = 3;

impl Pattern {
    /// Whether the second element may be among some ideas; nearly always it is not.
    pub(super) fn may_go_on_with(&self, ideas: u128) -> bool {
        match self.elements.slice(&ELEMENTS) {
            [_, second, ..] => second.words.length > 0 || second.concepts & ideas != 0,
            _ => true,
        }
    }

    pub(super) fn rule(&self) -> Option<&'static Rule> {
        RULES.get(usize::from(self.rule))
    }

    /// The word after the last of the pattern, if it matches from the hit `at` on.
    pub(super) fn end_from(
        &self,
        at: usize,
        hits: &[Hit],
        words: &[Word],
        text: &str,
    ) -> Option<usize> {
        let hit = hits.get(at)?;
        let mut search = Search {
            hits,
            words,
            text,
            steps: 48,
        };
        let rest = self.elements.slice(&ELEMENTS).get(1..).unwrap_or_default();
        search.end(rest, at, hit.first_word as usize + usize::from(hit.words))
    }
}

/// One attempt at a pattern. Its depth is that of the pattern, and `steps` bounds its work.
struct Search<'v> {
    hits: &'v [Hit],
    words: &'v [Word],
    text: &'v str,
    steps: u8,
}

impl Search<'_> {
    /// The end of the match of `elements` after the word before `from`; `at` is a hit not after it.
    fn end(&mut self, elements: &[Element], at: usize, from: usize) -> Option<usize> {
        let Some((element, rest)) = elements.split_first() else {
            return Some(from);
        };
        let last = self.words.get(from.checked_sub(1)?)?;
        let to = from.saturating_add(reach(self.text, *last, element.gap));
        if element.words.length > 0 {
            let wanted = element.words.slice(&WORDS);
            let found = (from..=to).find(|at| {
                self.words
                    .get(*at)
                    .is_some_and(|word| wanted.contains(&word.hash))
            })?;
            return self
                .is_joined(last.end, found)
                .then(|| self.end(rest, at, found + 1))?;
        }
        for (offset, hit) in self.hits.iter().enumerate().skip(at) {
            let first = hit.first_word as usize;
            if first > to || self.steps == 0 {
                return None;
            }
            if first < from || element.concepts >> hit.concept & 1 == 0 {
                continue;
            }
            self.steps -= 1;
            if !self.is_joined(last.end, first) {
                return None;
            }
            if let Some(end) = self.end(rest, offset, first + usize::from(hit.words)) {
                return Some(end);
            }
        }
        None
    }

    fn is_joined(&self, end: u32, word: usize) -> bool {
        self.words.get(word).is_some_and(|word| {
            surroundings::is_joined(self.text, end as usize, word.start as usize)
        })
    }
}

/// How many words a gap spans: scripts without spaces have a word for every character.
fn reach(text: &str, last: Word, gap: u8) -> usize {
    let letters = text
        .get(last.start as usize..last.end as usize)
        .unwrap_or_default();
    let alone = letters.len() >= 3 && letters.chars().nth(1).is_none();
    usize::from(gap) * if alone { ALONE as usize } else { 1 }
}

/// The families in the order of `format::FAMILIES`.
const FAMILIES: [Family; 13] = [
    Family::Override,
    Family::Role,
    Family::Template,
    Family::Turn,
    Family::ToolResult,
    Family::Addressed,
    Family::Exfiltration,
    Family::SecretRequest,
    Family::CommandRequest,
    Family::Concealment,
    Family::ToolDescription,
    Family::Jailbreak,
    Family::Markup,
];
