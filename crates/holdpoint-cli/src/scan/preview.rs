//! What a finding is about, in a few words that are safe to show.

use std::ops::Range;

use holdpoint_core::text::inspection::{Family, Finding};
use holdpoint_core::text::redaction::Certainty;

use holdpoint_core::text::escape_for_display;
use holdpoint_engine::excerpt::{MAX_SECRET, showing};

/// The most characters of a preview: a line of a terminal.
const MAX_PREVIEW: usize = 120;

/// What is looked at before a finding to see what it is given to.
const BEFORE: usize = 256;

/// A few words of a text from where a finding stands: one line, what a terminal would act on
/// escaped, no secret in it.
pub fn preview(text: &str, finding: &Finding) -> String {
    let span = if finding.family == Family::Secret {
        // A secret by itself is nothing to show: what it is given to is.
        line_around(text, &finding.span)
    } else {
        finding.span.clone()
    };
    // Cut far behind what is shown, so that no half of a secret is left.
    let start = text.floor_char_boundary(span.start.saturating_sub(BEFORE));
    let end = text.floor_char_boundary(text.len().min(span.start + 4 * MAX_PREVIEW + MAX_SECRET));
    let around = text.get(start..end).unwrap_or_default();
    let mut hidden = secrets(around, start);
    if finding.family == Family::Secret {
        hidden.push((finding.span.clone(), "…".into()));
    }
    hidden.sort_by_key(|(secret, _)| (secret.start, secret.end));

    let mut words = String::new();
    let mut at = span.start;
    let last = span.end.min(end);
    for (secret, marker) in hidden {
        if secret.end <= at || secret.start >= last {
            continue;
        }
        words.push_str(text.get(at..secret.start).unwrap_or_default());
        words.push_str(&marker);
        at = secret.end;
    }
    words.push_str(text.get(at..last).unwrap_or_default());
    escape_for_display(words.trim(), MAX_PREVIEW)
}

/// Where secrets stand that are no guesses, in a part of a text that starts at some place, and what
/// is shown in place of them.
pub(super) fn secrets(around: &str, start: usize) -> Vec<(Range<usize>, String)> {
    showing()
        .find(around)
        .into_iter()
        .filter(|secret| secret.certainty > Certainty::Guess)
        .map(|secret| {
            let span = secret.span.start + start..secret.span.end + start;
            (span, secret.marker.to_string())
        })
        .collect()
}

/// The line a span starts in, or what is near of it.
fn line_around(text: &str, span: &Range<usize>) -> Range<usize> {
    const NEAR: usize = 60;
    let from = text.floor_char_boundary(span.start.saturating_sub(NEAR));
    let head = text.get(from..span.start).unwrap_or_default();
    let start = head.rfind('\n').map_or(from, |at| from + at + 1);
    let until = text.floor_char_boundary(text.len().min(span.end + NEAR));
    let tail = text.get(span.end..until).unwrap_or_default();
    start..tail.find('\n').map_or(until, |at| span.end + at)
}
