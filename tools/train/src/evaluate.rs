//! The whole inspector over texts: normal forms, rules and classifier, as it ships but for the weights.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_text::classify::{Judged, Model};
use holdpoint_text::detect::detect;
use holdpoint_text::inspection::{self, Family, Finding, Inspection, enclosed, leave_read_twice};
use holdpoint_text::normal::{Reading, read};
use holdpoint_text::{Origin, Severity, words};

/// What the inspector makes of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// How bad the worst finding is.
    pub severity: Option<Severity>,
    /// Whether a session that was shown the text is marked.
    pub marks: bool,
    /// How sure it is, by the classifier and by what was found.
    pub score: f32,
}

/// Inspects a text with these weights.
pub fn inspect(model: &Model<'_>, text: &str, origin: Origin) -> Seen {
    let (findings, score) = findings(model, text, origin);
    let severity = findings.iter().map(|finding| finding.severity).max();
    let score = findings
        .iter()
        .map(Finding::certainty)
        .fold(score, f32::max);
    let inspection = Inspection {
        findings,
        ..Inspection::default()
    };
    Seen {
        severity,
        marks: severity >= Some(Severity::High) || inspection.tells_of_attack(),
        score,
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
    enclosed::judge(model, text, origin, judged.into_suspects(), &mut findings);
    (findings, score)
}

/// What a rule adds and costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worth {
    /// Attacks it finds at medium or worse.
    pub found: usize,
    /// Attacks nothing else finds.
    pub alone: usize,
    /// Attacks nothing else withholds.
    pub withholds: usize,
    /// Harmless texts it is wrong about at medium or worse.
    pub wrong: usize,
    /// Harmless texts nothing else is wrong about.
    pub wrong_alone: usize,
    /// Harmless texts nothing else withholds.
    pub wrongly_withholds: usize,
}

/// Counts what every rule adds and costs over texts, each an attack or not.
pub fn worth<'t>(
    model: &Model<'_>,
    texts: impl Iterator<Item = (bool, &'t str)>,
    rules: &mut BTreeMap<String, Worth>,
) {
    for (attack, text) in texts {
        let (findings, _) = findings(model, text, Origin::Tool);
        let from = |severity: Severity| -> BTreeSet<&str> {
            let found = findings.iter().filter(|it| it.severity >= severity);
            found.map(|it| &*it.rule).collect()
        };
        let (annotated, withheld) = (from(Severity::Medium), from(Severity::High));
        for id in &annotated {
            let worth = rules.entry((*id).to_owned()).or_default();
            let [all, alone, withholds] = match attack {
                true => [&mut worth.found, &mut worth.alone, &mut worth.withholds],
                false => [
                    &mut worth.wrong,
                    &mut worth.wrong_alone,
                    &mut worth.wrongly_withholds,
                ],
            };
            *all += 1;
            *alone += usize::from(annotated.len() == 1);
            *withholds += usize::from(withheld.len() == 1 && withheld.contains(id));
        }
    }
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
