//! What a finding rests on: language, wrapper, ideas and thresholds, and the words that made the classifier speak.

use std::collections::BTreeMap;

use holdpoint_core::text::classify::{Wrapper, explain, explain_at};
use holdpoint_core::text::detect::severity_of;
use holdpoint_core::text::inspection::{Family, Finding, Terms, Threshold};
use holdpoint_core::text::{Action, Origin, Severity, normal};
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

/// What a finding of orders rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The language it seems to be in (ISO 639-1), `und` where that is not to be told.
    pub language: &'static str,
    /// What it stands in: fence, comment, quotation, table, quotes, field, test, talk.
    pub wrappers: Vec<&'static str>,
    /// The ideas of the lexicon in it.
    pub ideas: Vec<&'static str>,
    /// What the classifier made of it, if it looked closer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// What made it as bad as it is, and what that leads to.
    pub decided: Decided,
}

/// A score beside what it is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Score {
    /// The highest of its windows.
    pub found: f32,
    /// What talk about attacks takes from it.
    pub talk: f32,
    /// From which score on a text of this language is mentioned.
    pub mention_from: f32,
    /// From which on it is annotated.
    pub annotate_from: f32,
    /// From which on it is withheld.
    pub withhold_from: f32,
    /// How much of these thresholds is for the language.
    pub margin: f32,
}

/// What made a finding as bad as it is, and what that leads to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// Who found it: a rule, or the classifier's score.
    pub by: DecidedBy,
    /// The threshold its score has reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<ScoreThreshold>,
    /// How bad it would be, stood it elsewhere; talk makes it milder, a disguise worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Severity>,
    /// How bad it is.
    pub severity: Severity,
    /// What happens to a text of that origin for it.
    pub action: Action,
    /// What of the policy says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyThreshold>,
}

/// A threshold of the classifier, by its key in [`Score`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ScoreThreshold {
    /// From there on a text is mentioned.
    MentionFrom,
    /// From there on it is annotated.
    AnnotateFrom,
    /// From there on it is withheld.
    WithholdFrom,
}

/// A threshold of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyThreshold {
    /// Its key.
    pub key: &'static str,
    /// The severity from which on it holds.
    pub from: Threshold,
}

/// Who found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// A rule.
    Rule,
    /// The classifier.
    Score,
}

impl Decided {
    fn new(finding: &Finding, origin: Origin, terms: &Terms) -> Self {
        let severity = finding.severity;
        let action = terms.action(origin, severity);
        let ladder = terms.ladder(origin);
        let policy = match action {
            Action::Pass => None,
            Action::Annotate => Some(("annotateAt", ladder.annotate_at)),
            Action::Quarantine => Some(("rejectAt", ladder.reject_at)),
            Action::Block => Some(("blockAt", ladder.block_at)),
        };
        let (by, reached, before) = if finding.family == Family::Statistical {
            // What is told of attacks beyond doubt would be withheld if it were not told of.
            let told = finding.rule != Family::Statistical.name();
            let reached = match severity {
                Severity::High | Severity::Critical => ScoreThreshold::WithholdFrom,
                Severity::Medium if told => ScoreThreshold::WithholdFrom,
                Severity::Medium => ScoreThreshold::AnnotateFrom,
                Severity::Low | Severity::Info => ScoreThreshold::MentionFrom,
            };
            let before = told.then_some(Severity::High);
            (DecidedBy::Score, Some(reached), before)
        } else {
            (DecidedBy::Rule, None, severity_of(&finding.rule))
        };
        Self {
            by,
            reached,
            before: before.filter(|before| *before != severity),
            severity,
            action,
            policy: policy.map(|(key, from)| PolicyThreshold { key, from }),
        }
    }
}

/// What a finding rests on; nothing for characters and secrets, which say it all themselves.
pub(super) fn explained(
    text: &str,
    finding: &Finding,
    origin: Origin,
    terms: &Terms,
) -> Option<Explained> {
    if matches!(
        finding.family,
        Family::Hidden | Family::Terminal | Family::Secret | Family::Markup
    ) {
        return None;
    }
    let end = finding.span.end.min(finding.span.start + MAX_TEXT);
    let span = finding.span.start..text.floor_char_boundary(end);
    let it = explain_at(text, span, finding.disguises, origin)?;
    Some(Explained {
        language: it.language.code(),
        wrappers: it.wrappers.into_iter().map(Wrapper::name).collect(),
        ideas: it.ideas.into_iter().take(MAX_WORDS).collect(),
        score: it.score.map(|found| Score {
            found,
            talk: it.talk,
            mention_from: it.thresholds.mention,
            annotate_from: it.thresholds.annotate,
            withhold_from: it.thresholds.withhold,
            margin: it.margin,
        }),
        decided: Decided::new(finding, origin, terms),
    })
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
