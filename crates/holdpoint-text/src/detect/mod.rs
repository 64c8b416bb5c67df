//! Orders by their structure: the rules under `rules/injection/`, over the words of a view.
//!
//! Most text has nothing the lexicon knows and costs next to nothing; a rule is tried where a concept it begins with
//! was found. What is found is milder where it is talked about (`context`) and worse where it was hidden.

pub mod concepts;
pub mod context;
mod links;
mod quoting;
mod rules;
mod signs;
mod surroundings;
mod tokens;
mod turns;
mod weigh;

#[cfg(test)]
#[allow(
    dead_code,
    reason = "the build script reads all of it, the tests only the examples"
)]
mod format;
#[cfg(test)]
mod tests;

pub use rules::severity_of;

use concepts::Hit;
use rules::{Match, Rule};
use weigh::weigh;

use super::inspection::{Family, Finding};
use super::normal::View;
use super::words::Word;
use super::{Origin, Severity};

/// Adds what the rules find in a view to `findings`, with spans of the original text.
pub fn detect(view: &View<'_>, words: &[Word], origin: Origin, findings: &mut Vec<Finding>) {
    let mut hits: Vec<Hit> = Vec::new();
    concepts::find(words, &view.text, &mut hits);
    let mut found = Search {
        view,
        words,
        hits: &hits,
        origin,
        new: Vec::new(),
    };
    found.patterns();
    found.tokens();
    found.links();
    found.turns();
    findings.append(&mut found.new);
}

/// What was found in a view so far.
struct Search<'v> {
    view: &'v View<'v>,
    words: &'v [Word],
    hits: &'v [Hit],
    origin: Origin,
    new: Vec<Finding>,
}

impl Search<'_> {
    fn patterns(&mut self) {
        for (at, hit) in self.hits.iter().enumerate() {
            let patterns = rules::patterns_from(hit.concept);
            if patterns.is_empty() {
                continue;
            }
            let behind = rules::ideas_behind(at, self.hits);
            for pattern in patterns {
                if !pattern.may_go_on_with(behind) {
                    continue;
                }
                let Some(rule) = pattern.rule().filter(|rule| rule.is_for(self.origin)) else {
                    continue;
                };
                if let Some(end) = pattern.end_from(at, self.hits, self.words, &self.view.text) {
                    self.matched(rule, hit.first_word as usize, end);
                }
            }
        }
    }

    fn matched(&mut self, rule: &'static Rule, first: usize, end: usize) {
        let (Some(start), Some(last)) = (
            self.words.get(first),
            end.checked_sub(1).and_then(|at| self.words.get(at)),
        ) else {
            return;
        };
        let span = (start.start as usize, last.end as usize);
        if !surroundings::is_name(&self.view.text, span) {
            self.try_rule(rule, first, end, span);
        }
    }

    fn tokens(&mut self) {
        let mut all = Vec::new();
        tokens::find(&self.view.text, |rule, span| {
            if all.len() < MAX_FINDINGS {
                all.push((rule, span));
            }
        });
        for (rule, span) in all {
            if rule.is_for(self.origin) {
                let at = |byte: usize| {
                    self.words
                        .partition_point(|word| (word.end as usize) <= byte)
                };
                self.try_rule(rule, at(span.0), at(span.1), span);
            }
        }
    }

    fn try_rule(&mut self, rule: &'static Rule, first: usize, end: usize, span: (usize, usize)) {
        let place = Match {
            text: &self.view.text,
            words: self.words,
            hits: self.hits,
            first,
            end,
            span,
        };
        if rule.fits(&place) {
            let talk = if rule.family() == Family::Template {
                context::talk_of_token(&self.view.text, span)
            } else {
                self.talk(span)
            };
            let severity = weigh(self.view, span, rule.severity(), talk);
            self.add(rule.family(), severity, rule.id(), rule.reason(), span);
        }
    }

    fn links(&mut self) {
        let mut leaks = Vec::new();
        links::find(&self.view.text, |leak| leaks.push(leak));
        for leak in leaks.into_iter().take(MAX_FINDINGS) {
            let asked = links::is_asked_for(&self.view.text, leak.span);
            let severity = match (leak.is_image, asked) {
                (true, true) => Severity::High,
                (true, false) | (false, true) => Severity::Medium,
                (false, false) => Severity::Low,
            };
            let severity = weigh(self.view, leak.span, severity, self.talk(leak.span));
            let (rule, reason) = if leak.is_image {
                (
                    "exfiltration.image-with-data",
                    "an image's address has a place for what the model knows",
                )
            } else {
                (
                    "exfiltration.link-with-data",
                    "a link's address has a place for what the model knows",
                )
            };
            self.add(
                Family::Exfiltration,
                severity,
                rule.into(),
                reason.into(),
                leak.span,
            );
        }
    }

    fn turns(&mut self) {
        if let Some(span) = turns::find(&self.view.text, self.words) {
            let severity = weigh(self.view, span, Severity::Medium, self.talk(span));
            self.add(
                Family::Turn,
                severity,
                "turn.several-speakers".into(),
                "lines are written as if several speakers took turns".into(),
                span,
            );
        }
    }

    fn talk(&self, span: (usize, usize)) -> u8 {
        context::talk_in(&self.view.text, span)
    }

    /// Adds a finding, unless the same rule has found the place before.
    fn add(
        &mut self,
        family: Family,
        severity: Severity,
        rule: std::borrow::Cow<'static, str>,
        reason: std::borrow::Cow<'static, str>,
        span: (usize, usize),
    ) {
        let disguises = self.view.disguises_of(span.0..span.1);
        let span = self.view.original(span.0..span.1);
        if let Some(same) = self
            .new
            .iter_mut()
            .rev()
            .take(16)
            .find(|it| it.rule == rule && it.span.start < span.end && span.start < it.span.end)
        {
            same.span = same.span.start.min(span.start)..same.span.end.max(span.end);
            same.severity = same.severity.max(severity);
            return;
        }
        if self.new.len() < MAX_FINDINGS {
            self.new.push(Finding {
                family,
                severity,
                rule,
                reason,
                span,
                disguises,
            });
        }
    }
}

/// A view with more findings than this is bad enough.
const MAX_FINDINGS: usize = 256;
