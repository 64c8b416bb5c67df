//! Orders by their words as a whole: a linear model over hashed n-grams and ideas, window by window.
//!
//! A small table of words dismisses nearly every window of ordinary text; the rest is looked at with all
//! features. `tools/train` makes the weights, `tools/train/MODEL_CARD.md` tells what they are worth.

mod explain;
pub mod features;
pub mod model;
mod windows;

use std::ops::Range;

use super::detect::context;
use super::inspection::{Family, Finding};
use super::normal::View;
use super::words::Word;
use super::{Origin, Severity};

pub use explain::{Weighed, explain};
pub use model::Model;
pub use windows::STRIDE;

/// Adds the windows of a view that read like orders to `findings`, and tells the highest score.
pub fn classify(
    view: &View<'_>,
    words: &[Word],
    origin: Origin,
    findings: &mut Vec<Finding>,
) -> f32 {
    Model::shipped().map_or(0.0, |model| model.classify(view, words, origin, findings))
}

impl Model<'_> {
    /// What [`classify`] does, by this model.
    pub fn classify(
        &self,
        view: &View<'_>,
        words: &[Word],
        origin: Origin,
        findings: &mut Vec<Finding>,
    ) -> f32 {
        let (open_loose, open_strict) = self.marks(origin, false);
        let (least, _) = self.marks(origin, true);
        let mut highest = f32::NEG_INFINITY;
        let before = findings.len();
        windows::scored(self, &view.text, words, &mut |window| {
            if window.end - window.first < FEWEST_WORDS {
                return;
            }
            if window.score < least {
                highest = highest.max(window.score);
                return;
            }
            let start = words
                .get(window.first)
                .map_or(0, |word| word.start as usize);
            let end = words
                .get(window.end.saturating_sub(1))
                .map_or(start, |word| word.end as usize);
            let disguises = view.disguises_of(start..end);
            let deliberate = disguises.are_deliberate();
            let (loose, strict) = self.marks(origin, deliberate);
            // Talk only makes it less: what is no finding and no new height without it needs no look.
            if window.score < loose && window.score + (open_loose - loose) <= highest {
                return;
            }
            // Whoever quotes an attack, or tells of one, uses its words.
            let talk = if deliberate {
                0.0
            } else {
                talk_about(view, start..end)
            };
            let score = window.score - talk;
            highest = highest.max(score + (open_loose - loose));
            if score < loose {
                return;
            }
            let severity = if score >= strict {
                Severity::High
            } else {
                Severity::Medium
            };
            let span = view.original(start..end);
            // Windows overlap, and a long attack fills several: one finding for all of them.
            if let Some(last) = findings.get_mut(before..).and_then(<[_]>::last_mut)
                && last.span.end >= span.start
            {
                last.span.end = last.span.end.max(span.end);
                last.severity = last.severity.max(severity);
                return;
            }
            findings.push(Finding {
                family: Family::Statistical,
                severity,
                rule: RULE.into(),
                reason: "the words as a whole read like orders to a model".into(),
                span,
                disguises,
            });
        });
        calibrated(highest, open_loose, open_strict)
    }
}

/// A score as a number from 0 to 1: a half where a text may give orders, nine tenths where it does.
fn calibrated(score: f32, loose: f32, strict: f32) -> f32 {
    if score == f32::NEG_INFINITY {
        return 0.0;
    }
    let steepness = NINE.ln() / (strict - loose).max(0.01);
    1.0 / (1.0 + (steepness * (loose - score)).exp())
}

/// What is taken from a score because a passage tells of attacks or quotes them.
fn talk_about(view: &View<'_>, span: Range<usize>) -> f32 {
    let words = context::words_of_talk(view, span.clone()).min(MOST_WORDS);
    let quotes = quotations(view.text.get(span.clone()).unwrap_or_default()).min(MOST_QUOTES);
    let signs = f32::from(context::talk(view, span));
    signs * SIGN + words as f32 * WORD + quotes as f32 * QUOTE
}

/// How many short phrases stand in quotes of their own.
fn quotations(text: &str) -> usize {
    text.split(['"', '`', '“', '”', '„'])
        .skip(1)
        .step_by(2)
        .filter(|quoted| (4..=SHORT_QUOTE).contains(&quoted.len()) && quoted.contains(' '))
        .count()
}

/// What a sign of talk takes from a score, a word about attacks, and a short quotation.
const SIGN: f32 = 1.5;
const WORD: f32 = 1.0;
const QUOTE: f32 = 1.2;
const MOST_WORDS: usize = 6;
const MOST_QUOTES: usize = 4;
const SHORT_QUOTE: usize = 64;
const RULE: &str = "statistical";
/// Fewer words are no order by themselves; the rules know those that are.
const FEWEST_WORDS: usize = 5;
const NINE: f32 = 9.0;

#[cfg(test)]
mod tests;
