//! The whole inspector over texts: normal forms, rules and classifier, as it ships but for the weights.

use std::collections::BTreeMap;

use holdpoint_text::classify::{Judged, Model};
use holdpoint_text::detect::detect;
use holdpoint_text::inspection::leave_read_twice;
use holdpoint_text::normal::{Reading, read};
use holdpoint_text::{Origin, Severity, words};

/// What the inspector makes of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// How bad the worst finding is.
    pub severity: Option<Severity>,
    /// The classifier's score.
    pub score: f32,
}

/// Inspects a text with these weights.
pub fn inspect(model: &Model<'_>, text: &str, origin: Origin) -> Seen {
    let Reading { views, .. } = read(text);
    let (mut list, mut findings) = (Vec::new(), Vec::new());
    let mut score = 0.0_f32;
    let mut judged = Judged::new(text);
    for view in &views {
        words::split(&view.text, &mut list);
        detect(view, &list, origin, &mut findings);
        score = score.max(model.classify(view, &list, origin, &mut judged, &mut findings));
    }
    leave_read_twice(&mut findings);
    Seen {
        severity: findings.iter().map(|finding| finding.severity).max(),
        score,
    }
}

/// How many texts of a kind there are, and how many of them are found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Texts.
    pub texts: usize,
    /// Found at low or worse.
    pub low: usize,
    /// Found at medium or worse.
    pub medium: usize,
    /// Found at high or worse.
    pub high: usize,
}

/// Tallies by name.
pub fn tally<'t>(
    model: &Model<'_>,
    texts: impl Iterator<Item = (String, &'t str)>,
) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (name, text) in texts {
        let seen = inspect(model, text, Origin::Tool);
        let tally = tallies.entry(name).or_default();
        tally.texts += 1;
        tally.low += usize::from(seen.severity >= Some(Severity::Low));
        tally.medium += usize::from(seen.severity >= Some(Severity::Medium));
        tally.high += usize::from(seen.severity >= Some(Severity::High));
    }
    tallies
}
