//! Which words made the classifier speak.

use std::collections::BTreeMap;

use holdpoint_core::text::classify::explain;
use holdpoint_core::text::inspection::{Family, Finding};
use holdpoint_core::text::{Origin, normal};
use serde::Serialize;

use super::preview::secrets;
use holdpoint_core::text::escape_for_display;

/// The most words that are told, the weightiest first: further ones change little.
const MAX_WORDS: usize = 12;

/// The most characters of a word that are shown, so that the table stays one.
const MAX_WORD: usize = 40;

/// The most bytes that are looked at again; what makes a text suspicious stands at its start.
const MAX_TEXT: usize = 64 << 10;

/// A word and what it weighs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    /// The word, harmless to a terminal.
    pub word: String,
    /// What it adds to the score, or takes from it; 1 is the whole way to a finding.
    pub weight: f32,
}

/// The words that weighed most in a finding of the classifier, the heaviest first; none for others.
/// Where the text was disguised, they are those that were read below it.
pub(super) fn weights(text: &str, finding: &Finding, origin: Origin) -> Vec<Weight> {
    if finding.family != Family::Statistical {
        return Vec::new();
    }
    let end = finding.span.end.min(finding.span.start + MAX_TEXT);
    let span = finding.span.start..text.floor_char_boundary(end);
    let part = text.get(span).unwrap_or_default();
    let views = normal::read(part).views;
    let of_view = |view: &normal::View<'_>| heaviest(&view.text, origin);
    let mut found = views.iter().map(of_view);
    found
        .find(|weights| !weights.is_empty())
        .unwrap_or_default()
}

fn heaviest(text: &str, origin: Origin) -> Vec<Weight> {
    let hidden = secrets(text, 0);
    let mut sums: BTreeMap<String, f32> = BTreeMap::new();
    for word in explain(text, origin) {
        let is_secret = |secret: &std::ops::Range<usize>| {
            secret.start < word.span.end && word.span.start < secret.end
        };
        if hidden.iter().any(|(secret, _)| is_secret(secret)) {
            continue;
        }
        let letters = text.get(word.span.clone()).unwrap_or_default();
        let sum = sums.entry(escape_for_display(&letters.to_lowercase(), MAX_WORD));
        *sum.or_default() += word.weight;
    }
    let mut weights: Vec<Weight> = sums
        .into_iter()
        .map(|(word, weight)| Weight { word, weight })
        .collect();
    weights.sort_by(|one, other| other.weight.abs().total_cmp(&one.weight.abs()));
    weights.truncate(MAX_WORDS);
    weights
}
