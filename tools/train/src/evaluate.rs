//! The whole inspector over texts: normal forms, rules and classifier, as it ships but for the weights.

use std::collections::BTreeMap;

use holdpoint_text::classify::{Judged, Model};
use holdpoint_text::detect::detect;
use holdpoint_text::inspection::{self, Family, Finding, leave_read_twice};
use holdpoint_text::normal::{Reading, read};
use holdpoint_text::{Origin, Severity, words};

/// What the inspector makes of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// How bad the worst finding is.
    pub severity: Option<Severity>,
    /// How sure it is, by the classifier and by what was found.
    pub score: f32,
}

/// Inspects a text with these weights.
pub fn inspect(model: &Model<'_>, text: &str, origin: Origin) -> Seen {
    let (findings, score) = findings(model, text, origin);
    Seen {
        severity: findings.iter().map(|finding| finding.severity).max(),
        score: findings
            .iter()
            .map(Finding::certainty)
            .fold(score, f32::max),
    }
}

fn findings(model: &Model<'_>, text: &str, origin: Origin) -> (Vec<Finding>, f32) {
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
    (findings, score)
}

/// What a rule adds and costs, at medium or worse.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worth {
    /// Attacks it finds.
    pub found: usize,
    /// Attacks nothing else finds.
    pub alone: usize,
    /// Harmless texts it is wrong about.
    pub wrong: usize,
    /// Harmless texts nothing else is wrong about.
    pub wrong_alone: usize,
}

/// What every rule adds and costs over texts, each an attack or not.
pub fn worth<'t>(
    model: &Model<'_>,
    texts: impl Iterator<Item = (bool, &'t str)>,
) -> BTreeMap<String, Worth> {
    let mut rules: BTreeMap<String, Worth> = BTreeMap::new();
    for (attack, text) in texts {
        let (mut findings, _) = findings(model, text, Origin::Tool);
        findings.retain(|finding| finding.severity >= Severity::Medium);
        let mut ids: Vec<String> = findings.iter().map(|it| it.rule.to_string()).collect();
        ids.sort();
        ids.dedup();
        let alone = usize::from(ids.len() == 1);
        for id in ids {
            let worth = rules.entry(id).or_default();
            let (all, only) = match attack {
                true => (&mut worth.found, &mut worth.alone),
                false => (&mut worth.wrong, &mut worth.wrong_alone),
            };
            *all += 1;
            *only += alone;
        }
    }
    rules
}

/// Inspects a whole file with these weights: characters nobody sees and terminal sequences count as well, secrets do not.
pub fn inspect_file(model: &Model<'_>, text: &str) -> Option<Severity> {
    let odd = inspection::inspect(text, Origin::File);
    let odd = odd.findings.iter();
    let odd = odd.filter(|it| {
        matches!(
            it.family,
            Family::Hidden | Family::Terminal | Family::Disguised
        )
    });
    let odd = odd.map(|it| it.severity).max();
    inspect(model, text, Origin::File).severity.max(odd)
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

impl Tally {
    /// Counts a text.
    pub fn add(&mut self, severity: Option<Severity>) {
        self.texts += 1;
        self.low += usize::from(severity >= Some(Severity::Low));
        self.medium += usize::from(severity >= Some(Severity::Medium));
        self.high += usize::from(severity >= Some(Severity::High));
    }
}

/// Tallies by name.
pub fn tally<'t>(
    model: &Model<'_>,
    texts: impl Iterator<Item = (String, &'t str)>,
) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (name, text) in texts {
        let seen = inspect(model, text, Origin::Tool);
        tallies.entry(name).or_default().add(seen.severity);
    }
    tallies
}
