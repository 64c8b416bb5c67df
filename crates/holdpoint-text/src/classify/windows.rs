//! Windows over the words of a text, and their scores.

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
    let mut before: Option<Half> = None;
    let mut first = start;
    while first < end {
        let last = end.min(first + STRIDE);
        let mut half = Half::default();
        for _ in first..last {
            let mut word = 0;
            reader.next(&mut |feature| {
                word += model.feature(feature);
                half.features += 1;
            });
            half.sum += model.at_least(word);
        }
        each(Scored {
            first,
            end: last,
            score: model.score(half.sum, half.features),
        });
        if let Some(before) = before {
            each(Scored {
                first: first - STRIDE,
                end: last,
                score: model.score(before.sum + half.sum, before.features + half.features),
            });
        }
        before = Some(half);
        first = last;
    }
}

/// Phrases of the lexicon are no longer than this.
const LOOK_AHEAD: usize = 8;

#[derive(Clone, Copy, Default)]
struct Half {
    sum: i32,
    features: u32,
}
