//! Orders by their words as a whole: a linear model over hashed n-grams and ideas, window by window.
//!
//! A small table of words dismisses nearly every window of ordinary text; the rest is looked at with all
//! features. `tools/train` makes the weights, `tools/train/MODEL_CARD.md` tells what they are worth.

mod explain;
pub mod features;
pub mod language;
pub mod model;
mod windows;
mod wrapper;

use std::ops::Range;

use super::detect::context;
use super::inspection::{Family, Finding};
use super::normal::{Disguise, View};
use super::words::Word;
use super::{Origin, Severity};

use language::Language;

pub(crate) use explain::leaning;
pub use explain::{Explanation, Thresholds, Weighed, explain, explain_at};
pub use model::Model;
pub use windows::{STRIDE, passages};
pub use wrapper::Wrapper;

/// Adds the windows of a view that read like orders to `findings`, and tells the highest score.
pub fn classify(
    view: &View<'_>,
    words: &[Word],
    origin: Origin,
    judged: &mut Judged<'_>,
    findings: &mut Vec<Finding>,
) -> f32 {
    Model::shipped().map_or(0.0, |model| {
        model.classify(view, words, origin, judged, findings)
    })
}

/// Where a text was judged as it stands. Put together from its pieces, without what stands around them, it is not
/// judged again.
#[derive(Debug)]
pub struct Judged<'t> {
    text: &'t str,
    spans: Vec<Range<usize>>,
    suspects: Vec<Range<usize>>,
}

impl<'t> Judged<'t> {
    /// Nothing of this text is judged yet.
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            spans: Vec::new(),
            suspects: Vec::new(),
        }
    }

    /// Where the words alone, whatever talk makes of them, read a little like orders.
    pub fn into_suspects(self) -> Vec<Range<usize>> {
        self.suspects
    }

    fn add(&mut self, span: Range<usize>) {
        if self.spans.len() < MAX_JUDGED {
            self.spans.push(span);
        }
    }

    /// Whether what was put together is a list of phrases, each whole in its quotes.
    fn is_list(&self, span: &Range<usize>) -> bool {
        quotations(self.text.get(span.clone()).unwrap_or_default()) >= MIN_PHRASES
    }

    fn has(&self, span: &Range<usize>) -> bool {
        self.spans
            .iter()
            .any(|it| it.start < span.end && span.start < it.end)
    }
}

impl Model<'_> {
    /// What [`classify`] does, by this model.
    pub fn classify(
        &self,
        view: &View<'_>,
        words: &[Word],
        origin: Origin,
        judged: &mut Judged<'_>,
        findings: &mut Vec<Finding>,
    ) -> f32 {
        let open = self.marks(origin, false);
        let least = self.marks(origin, true).faint;
        let mut highest = f32::NEG_INFINITY;
        let before = findings.len();
        windows::scored(self, &view.text, words, &mut |window| {
            if window.end - window.first < MIN_WORDS {
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
            let marks = self.marks(origin, deliberate);
            // Some languages the model knows less of, and is to be surer in. What had to be put together first has little to
            // tell a language by, and nobody hands out a sentence word by word without meaning to.
            let margin = if disguises.is_empty() {
                let list = words.get(window.first..window.end).unwrap_or_default();
                self.margin(Language::guess(&view.text, list))
            } else if disguises.has(Disguise::Split) && !deliberate {
                -SPLIT
            } else {
                0.0
            };
            let scored = window.score - margin;
            let bonus = open.loose - marks.loose;
            if scored >= marks.faint && !deliberate {
                judged.suspects.push(view.original(start..end));
            }
            // Talk only makes it less: what is no finding and no new height without it needs no look.
            if scored < marks.faint && scored + bonus <= highest {
                return;
            }
            let span = view.original(start..end);
            if disguises.is_empty() {
                if scored >= marks.loose {
                    judged.add(span.clone());
                }
            } else if !deliberate && (judged.has(&span) || judged.is_list(&span)) {
                return;
            }
            // Whoever quotes an attack, or tells of one, uses its words; and whoever attacks may say that he only tells of
            // it. So talk makes less of what is not sure, and of what is beyond doubt it takes no more than one step.
            let talk = if deliberate {
                0.0
            } else {
                talk_about(&view.text, start..end)
            };
            let told = scored - talk;
            // A passage by itself has nothing of the talk around it in its score; other windows have.
            let doubt = if window.is_passage { 0.0 } else { BESIDE_TALK };
            let known = findings.get(..before).unwrap_or_default();
            let beyond_doubt = scored >= marks.strict + doubt
                || talk > 0.0 && scored >= marks.loose + doubt && is_witnessed(known, &span);
            let score = if beyond_doubt {
                told.max(marks.loose)
            } else {
                told
            };
            highest = highest.max(score + bonus);
            let Some(severity) = marks.severity(score) else {
                return;
            };
            // Windows overlap, and a long attack fills several: one finding for all of them. What is faint beside it
            // is no part of it.
            let same = findings.get_mut(before..).unwrap_or_default();
            let same = same.iter_mut().rev().take(MAX_COMPARED).find(|it| {
                it.span.end >= span.start
                    && span.end >= it.span.start
                    && (it.severity == Severity::Low) == (severity == Severity::Low)
            });
            let rule = if beyond_doubt && severity < Severity::High {
                TOLD
            } else {
                RULE
            };
            if let Some(same) = same {
                same.span = same.span.start.min(span.start)..same.span.end.max(span.end);
                same.severity = same.severity.max(severity);
                if rule == TOLD {
                    same.rule = TOLD.into();
                }
                return;
            }
            findings.push(Finding {
                family: Family::Statistical,
                severity,
                rule: rule.into(),
                reason: "the words as a whole read like orders to a model".into(),
                span,
                disguises,
            });
        });
        calibrated(highest, open.loose, open.strict)
    }
}

/// Whether a rule knows an order in a part of the text as well, however much less talk has made of it: what two see who look
/// for different things is there.
fn is_witnessed(findings: &[Finding], span: &Range<usize>) -> bool {
    let mut near = findings.iter().take(MAX_WITNESSES);
    near.any(|it| {
        it.span.start < span.end
            && span.start < it.span.end
            && it.family != Family::Statistical
            && it.family.is_order()
    })
}

/// A score as a number from 0 to 1: a half where a text may give orders, nine tenths where it does.
fn calibrated(score: f32, loose: f32, strict: f32) -> f32 {
    if score == f32::NEG_INFINITY {
        return 0.0;
    }
    let steepness = LN_9 / (strict - loose).max(0.01);
    1.0 / (1.0 + exponential(steepness * (loose - score)))
}

/// The exponential function. That of the C library would have every start of the program load its
/// mathematics, and a hook is a start of the program.
fn exponential(power: f32) -> f32 {
    // Beyond these an `f32` is 0 or infinite anyway, and no exponent below leaves an `f64`'s.
    let power = f64::from(power).clamp(-110.0, 110.0);
    // A power of two, and what is left: at most 0.35 either way, so that a few terms are enough.
    let twos = power * std::f64::consts::LOG2_E;
    let twos = (twos + 0.5_f64.copysign(twos)) as i64;
    let rest = power - twos as f64 * std::f64::consts::LN_2;
    let mut sum = 1.0;
    for term in (1..=12_u32).rev() {
        sum = 1.0 + rest / f64::from(term) * sum;
    }
    let exponent = u64::try_from(twos + 1023).unwrap_or_default();
    (sum * f64::from_bits(exponent << 52)) as f32
}

/// What is taken from a score because a passage tells of attacks or quotes them.
fn talk_about(text: &str, span: Range<usize>) -> f32 {
    let words = context::words_of_talk(text, span.clone()).min(MAX_WORDS);
    let quotes = quotations(text.get(span.clone()).unwrap_or_default()).min(MAX_QUOTES);
    let signs = f32::from(context::talk(text, span));
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
const MAX_WORDS: usize = 6;
const MAX_QUOTES: usize = 4;
const SHORT_QUOTE: usize = 64;
/// How much less a sentence has to say that was handed out in pieces.
const SPLIT: f32 = 0.6;
/// How far beyond what is sure the score of a window is to be that no talk takes it below a finding.
const BESIDE_TALK: f32 = 0.8;
/// How many findings of a view a new one is compared with.
const MAX_COMPARED: usize = 64;
/// How many findings of rules a window is compared with.
const MAX_WITNESSES: usize = 256;
/// From how many phrases in quotes on a text is a list of them.
const MIN_PHRASES: usize = 3;
const RULE: &str = "statistical";
/// The rule of an attack's words that are told of, or said to be.
pub(crate) const TOLD: &str = "statistical.told";
/// Fewer words are no order by themselves; the rules know those that are.
const MIN_WORDS: usize = 5;
/// How many places of one text are remembered as judged.
const MAX_JUDGED: usize = 256;
/// The logarithm of 9: nine to one is nine tenths.
const LN_9: f32 = 2.197_224_6;

#[cfg(test)]
mod tests;
