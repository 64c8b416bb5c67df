//! Windows over the words of a text, and their scores.

use std::ops::Range;

use crate::detect::concepts::{self, Hit};
use crate::words::Word;

use super::features::Reader;
use super::model::Model;

/// Words from one window to the next; a window is twice as long.
pub const STRIDE: usize = 22;

/// A window that scored, by its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scored {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) score: f32,
    /// Whether it is a passage by itself, and not just so many words.
    pub(super) is_passage: bool,
}

/// Calls `each` with every window that the first stage does not dismiss: those of two strides, and those
/// of one, in which a short order stands by itself.
pub(super) fn scored(model: &Model<'_>, text: &str, words: &[Word], each: &mut impl FnMut(Scored)) {
    let mut before = 0;
    let mut region: Option<(usize, usize)> = None;
    let mut hits = Vec::new();
    for (at, half) in words.chunks(STRIDE).enumerate() {
        let sum: i32 = half.iter().map(|word| model.word_weight(word.hash)).sum();
        let start = at.saturating_sub(1) * STRIDE;
        let end = at * STRIDE + half.len();
        if model.is_worth_a_look(before + sum, end - start)
            || model.is_worth_a_look(sum, half.len())
        {
            region = Some((region.map_or(start, |(start, _)| start), end));
        } else if let Some((_, ended)) = region
            && ended <= start
        {
            look(model, text, words, region.take(), &mut hits, each);
        }
        before = sum;
    }
    look(model, text, words, region, &mut hits, each);
}

/// The second stage over the windows of a region.
fn look(
    model: &Model<'_>,
    text: &str,
    words: &[Word],
    region: Option<(usize, usize)>,
    hits: &mut Vec<Hit>,
    each: &mut impl FnMut(Scored),
) {
    let Some((start, end)) = region else { return };
    // Features look back, so that reading begins a window earlier; and to the next word's gap.
    let from = start.saturating_sub(2 * STRIDE);
    let part = words
        .get(from..words.len().min(end + LOOK_AHEAD))
        .unwrap_or_default();
    concepts::find(part, text, hits);
    let mut reader = Reader::new(text, part, hits);
    for _ in from..start {
        reader.next(&mut |_| ());
    }
    let mut sums: Vec<Half> = Vec::with_capacity(end - start);
    for _ in start..end {
        let mut half = Half::default();
        let mut word = 0;
        reader.next(&mut |feature| {
            word += model.feature(feature);
            half.features += 1;
        });
        half.sum = model.at_least(word);
        sums.push(half);
    }
    let sum = |first: usize, last: usize| {
        let words = sums.get(first - start..last - start).unwrap_or_default();
        words
            .iter()
            .fold(Half::default(), |all, word| all.and(*word))
    };
    let scored = |first: usize, end: usize, half: Half, is_passage: bool| Scored {
        first,
        end,
        score: model.score(half.sum, half.features),
        is_passage,
    };
    let mut before: Option<Half> = None;
    let mut first = start;
    while first < end {
        let last = end.min(first + STRIDE);
        let half = sum(first, last);
        each(scored(first, last, half, false));
        if let Some(before) = before {
            each(scored(first - STRIDE, last, before.and(half), false));
        }
        before = Some(half);
        first = last;
    }
    passages(text, words, start..end, &mut |first, last| {
        each(scored(first, last, sum(first, last), true));
    });
}

/// Calls `each` with the passages of some words that stand by themselves: paragraphs, what a string or a fence holds, lines of
/// one depth. An order in talk about orders is seen for what it is there, and one of a few words between others too.
/// Short passages say nothing. Long ones have windows of their own, and the one they begin with, wherever that is.
pub fn passages(
    text: &str,
    words: &[Word],
    part: Range<usize>,
    each: &mut impl FnMut(usize, usize),
) {
    let mut first = part.start;
    for at in part.clone() {
        let word = |at: usize| words.get(at);
        let ends = match (word(at), word(at + 1)) {
            (Some(this), Some(next)) => {
                let between = this.end as usize..next.start as usize;
                at + 1 >= part.end || is_border(text, between)
            }
            _ => true,
        };
        if !ends {
            continue;
        }
        let length = at + 1 - first;
        if (MIN_PASSAGE..=MAX_PASSAGE).contains(&length) && !length.is_multiple_of(STRIDE) {
            each(first, at + 1);
        } else if length > MAX_PASSAGE && !(first - part.start).is_multiple_of(STRIDE) {
            each(first, first + MAX_PASSAGE);
        }
        first = at + 1;
    }
}

/// Whether what stands between two words ends a passage.
fn is_border(text: &str, between: Range<usize>) -> bool {
    let after = between.end;
    let between = text.get(between).unwrap_or_default();
    if between.len() < 2 {
        return false;
    }
    if between.contains(['"', '`', '\u{201c}', '\u{201d}', '\u{ab}', '\u{bb}']) {
        // A quotation inside a sentence has a space on one side only, and so has what quotes the whole of it.
        return true;
    }
    let Some((_, rest)) = between.split_once('\n') else {
        return false;
    };
    if rest.contains('\n') {
        return true;
    }
    // The depth of the next line beside that of this one.
    let start = after - between.len();
    let line = text.get(..start).unwrap_or_default();
    let near = line.floor_char_boundary(line.len().saturating_sub(MAX_LINE));
    let line = line.get(near..).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default();
    let depth = |line: &str| {
        line.bytes()
            .take_while(|byte| !byte.is_ascii_alphanumeric() && *byte < 128)
            .count()
    };
    depth(line) != rest.len()
}

/// A passage of fewer words is no order by itself.
const MIN_PASSAGE: usize = 6;
/// A longer one fills windows.
const MAX_PASSAGE: usize = 2 * STRIDE;
/// How far the beginning of a line is looked for; in a longer one nobody counts its depth.
const MAX_LINE: usize = 400;

/// Phrases of the lexicon are no longer than this.
const LOOK_AHEAD: usize = 8;

#[derive(Clone, Copy, Default)]
struct Half {
    sum: i32,
    features: u32,
}

impl Half {
    fn and(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            features: self.features + other.features,
        }
    }
}
