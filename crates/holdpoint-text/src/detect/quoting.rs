//! How a place is quoted: alone between quotes, inside a sentence, in a list of its like, as a pattern.

use super::concepts::{self, Hit};
use super::surroundings::{after, before, line_after, line_before};
use crate::words::{self, Word};

/// What stands between a pair of quotes on one line.
#[derive(Clone, Copy)]
pub(super) struct Literal {
    /// The bytes between the quotes.
    inside: (usize, usize),
    quotes: (char, char),
}

impl Literal {
    /// The quoted text a span stands in, if it stands there with hardly anything else: an order quoted with all that
    /// comes of it may well be meant.
    pub(super) fn around(text: &str, span: (usize, usize)) -> Option<Self> {
        let span = trimmed(text, span);
        let line = before(text, span.0, REST);
        let line = line.rsplit('\n').next().unwrap_or_default();
        let rest = after(text, span.1, REST);
        let rest = rest.split('\n').next().unwrap_or_default();
        let (quotes, from, to) = QUOTES.iter().find_map(|&(open, close)| {
            let at = line.rfind(open)? + open.len_utf8();
            let lead = line.get(at..)?;
            let tail = rest.get(..rest.find(close)?)?;
            let others = lead.split_whitespace().count() + tail.split_whitespace().count();
            (others <= 2 && !has_address(tail)).then_some(((open, close), lead.len(), tail.len()))
        })?;
        Some(Self {
            inside: (span.0 - from, span.1 + to),
            quotes,
        })
    }

    fn outside(self) -> (usize, usize) {
        let (open, close) = self.quotes;
        (
            self.inside.0 - open.len_utf8(),
            self.inside.1 + close.len_utf8(),
        )
    }

    /// Whether a sentence goes on around it, so that it is a thing the sentence speaks of.
    pub(super) fn is_in_sentence(self, text: &str) -> bool {
        let (start, end) = self.outside();
        let (before, after) = (line_before(text, start), line_after(text, end));
        let lead = before.trim_end_matches([' ', '*', '_', '(']);
        let has_lead = lead.len() < before.len()
            && lead.trim_end_matches(',').ends_with(char::is_alphabetic)
            && lead.split_whitespace().nth(1).is_some();
        let tail = after.trim_start_matches(['*', '_', ')', ',', '.', ';']);
        let goes_on = tail.trim_start().starts_with(char::is_lowercase) && tail.starts_with(' ')
            || tail.len() < after.len();
        has_lead && goes_on
    }

    /// Whether it has a line to itself, or shares it with a word about it, as the elements of a list in a program do.
    pub(super) fn is_element(self, text: &str) -> bool {
        let (start, end) = self.outside();
        let is_first = !line_before(text, start).contains(char::is_alphanumeric);
        let rest = line_after(text, end).trim();
        is_first && rest.len() <= REMARK && rest.starts_with(',') && rest.ends_with(',')
    }

    /// Whether it stands in a cell of a table.
    pub(super) fn is_in_table(self, text: &str) -> bool {
        let (start, end) = self.outside();
        line_before(text, start).trim_start().starts_with('|')
            && line_after(text, end).contains('|')
    }

    /// How many quoted texts beside it in a list give orders as well.
    pub(super) fn listed_with(self, text: &str) -> usize {
        let (start, end) = self.outside();
        let forward = Siblings {
            rest: after(text, end, LIST),
            quotes: self.quotes,
        };
        let (open, close) = self.quotes;
        // Backwards the signs come the other way round.
        let turned: String = before(text, start, LIST).chars().rev().collect();
        let backward = Siblings {
            rest: &turned,
            quotes: (close, open),
        };
        let before = backward.filter(|it| gives_orders(&it.chars().rev().collect::<String>()));
        forward.filter(|it| gives_orders(it)).count() + before.count()
    }
}

/// The quoted texts of a list one after the other.
struct Siblings<'t> {
    rest: &'t str,
    quotes: (char, char),
}

impl<'t> Iterator for Siblings<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let (open, close) = self.quotes;
        let (gap, rest) = self.rest.split_once(open)?;
        // The fields of a record are no list.
        if gap.len() > GAP || gap.trim() == ":" || gap.contains("\n\n") {
            return None;
        }
        let (inside, rest) = rest.split_once(close)?;
        self.rest = rest;
        (inside.len() <= SHORT && !inside.contains('\n') && !has_address(inside)).then_some(inside)
    }
}

/// Whether a text says where to: who only names an order does not tell where to send what it asks for.
fn has_address(text: &str) -> bool {
    text.contains('@') || text.contains("//")
}

/// Whether a text gives orders; who tells of them has other forms of their verbs.
fn gives_orders(text: &str) -> bool {
    let mut found: Vec<Word> = Vec::new();
    let mut hits: Vec<Hit> = Vec::new();
    words::split(text, &mut found);
    concepts::find(&found, text, &mut hits);
    ORDERS.iter().any(|name| {
        let concept = concepts::named(name);
        let mut hits = hits.iter().filter(|hit| Some(hit.concept) == concept);
        hits.any(|hit| {
            let word = found.get(hit.first_word as usize);
            let word = word.and_then(|word| text.get(word.start as usize..word.end as usize));
            !word.is_some_and(|word| word.ends_with("ing") || word.ends_with("ed"))
        })
    })
}

/// The field of a record a span stands in, as in `"note": "…"`. What the other fields say says nothing about this one.
pub(super) fn field(text: &str, span: (usize, usize)) -> Option<(usize, usize)> {
    let before = before(text, span.0, FENCE);
    let from = before.rmatch_indices('"').map(|(at, _)| at).find(|at| {
        let key = before.get(..*at).unwrap_or_default();
        !key.ends_with('\\')
    })?;
    let key = before.get(..from)?.trim_end();
    let key = key.strip_suffix(':')?.trim_end();
    let after = after(text, span.1, FENCE);
    let to = after
        .match_indices('"')
        .map(|(at, _)| at)
        .find(|at| !after.get(..*at).unwrap_or_default().ends_with('\\'))
        .unwrap_or(after.len());
    let (rest, _) = key.strip_suffix('"')?.rsplit_once('"')?;
    rest.trim_end()
        .trim_end_matches('\\')
        .ends_with(['{', ','])
        .then_some((span.0 - (before.len() - from), span.1 + to))
}

/// Whether it is written as a pattern for a search.
pub(super) fn is_pattern(text: &str, span: (usize, usize)) -> bool {
    let inside = text.get(span.0..span.1).unwrap_or_default();
    PATTERN_SIGNS.iter().any(|sign| inside.contains(sign))
}

/// Whether it stands between quotes, in a code span, a quotation or a cell of a table, whatever else stands there.
pub(super) fn is_set_apart(text: &str, span: (usize, usize)) -> bool {
    let (before, after) = (line_before(text, span.0), line_after(text, span.1));
    if before.trim_start().starts_with(['>', '|']) {
        return true;
    }
    if self::before(text, span.0, FENCE).contains("```")
        && self::after(text, span.1, FENCE).contains("```")
    {
        return true;
    }
    let near_before = before.get(before.floor_char_boundary(before.len().saturating_sub(80))..);
    let near_after = after.get(..after.floor_char_boundary(after.len().min(120)));
    let (near_before, near_after) = (
        near_before.unwrap_or_default(),
        near_after.unwrap_or_default(),
    );
    QUOTES
        .iter()
        .any(|(open, close)| near_before.contains(*open) && near_after.contains(*close))
        || (near_before.contains("/") && near_after.contains("/i"))
}

/// Whether it stands in a short quotation in the middle of a sentence that gives no orders itself: what the sentence
/// says of it is not what the quotation wants.
pub(super) fn is_embedded(text: &str, span: (usize, usize)) -> bool {
    let span = trimmed(text, span);
    let (line, rest) = (line_before(text, span.0), line_after(text, span.1));
    QUOTES.iter().any(|&(open, close)| {
        let Some((lead, inner)) = line.rsplit_once(open) else {
            return false;
        };
        let Some((tail, after)) = rest.split_once(close) else {
            return false;
        };
        if open == '|' || inner.len() + tail.len() > EMBEDDED || has_address(tail) {
            return false;
        }
        let sentence = lead.trim_end_matches([' ', '*', '_', '(', ',']);
        let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
        let goes_on = after.trim_start_matches([' ', '\u{a0}', '*', '_', ')', ',']);
        let goes_on = goes_on.starts_with(|c: char| c.is_alphabetic() && !c.is_uppercase());
        letters >= LEAD
            && sentence.ends_with(char::is_alphabetic)
            && goes_on
            && !gives_orders(near_end(sentence))
            && !gives_orders(near_start(after))
    })
}

fn near_end(text: &str) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(NEAR));
    text.get(start..).unwrap_or_default()
}

fn near_start(text: &str) -> &str {
    text.get(..text.floor_char_boundary(NEAR.min(text.len())))
        .unwrap_or_default()
}

/// A span without quotes at its ends: words keep their apostrophes.
fn trimmed(text: &str, span: (usize, usize)) -> (usize, usize) {
    let inside = text.get(span.0..span.1).unwrap_or_default();
    let start = inside.len() - inside.trim_start_matches(['\'', '’', '‘']).len();
    let end = inside.trim_end_matches(['\'', '’', '‘']).len();
    (span.0 + start, span.0 + end.max(start))
}

/// How far from a span its quotes stand at most.
const REST: usize = 40;

/// How long what is said beside an element of a list is at most.
const REMARK: usize = 32;

/// How much else stands in a quotation at most that a sentence speaks of, and how many letters before it make one.
const EMBEDDED: usize = 90;
const LEAD: usize = 8;

/// How far the words of that sentence are looked at.
const NEAR: usize = 120;

/// How far a fence of code is looked for.
const FENCE: usize = 400;

/// How far a list is followed, how long its texts are, and how much stands between two of them.
const LIST: usize = 400;
const SHORT: usize = 90;
const GAP: usize = 40;

const PATTERN_SIGNS: [&str; 7] = ["\\s", "\\b", "\\W", "\\w", ".*", ")?", ".{"];

/// Concepts that orders to a model begin with.
const ORDERS: [&str; 13] = [
    "ignore",
    "forget",
    "discard",
    "bypass",
    "reveal",
    "you-are-now",
    "act-as",
    "pretend",
    "from-now-on",
    "jailbreak-name",
    "unrestricted",
    "conceal-order",
    "system-heading",
];

const QUOTES: [(char, char); 13] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('”', '”'),
    ('‘', '’'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
    ('『', '』'),
    ('|', '|'),
];
