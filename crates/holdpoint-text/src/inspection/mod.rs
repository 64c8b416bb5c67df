//! What in a text gives orders, hides something or holds a secret, and what to do about it.
//!
//! Inspecting is pure: equal texts on equal terms give equal findings, in the order of the text, each
//! with its place in it. A long text is read in overlapping blocks, so that memory stays bounded.

mod blank_lines;
pub(crate) mod compatible;
pub mod enclosed;
mod fields;
mod finding;
mod marks;
mod output;
mod secrets;
mod terms;

use std::borrow::Cow;
use std::ops::Range;

use super::normal::{self, Reading};
use super::words::{self, Word};
use super::{Action, Origin, Severity, classify, detect};
use compatible::{obra, rrclaw};

pub use fields::{Field, JsonInspection};
pub(crate) use fields::{Fields, Part, leaves};
pub use finding::{Family, Finding};
pub use terms::{Detectors, Ladder, Terms, Threshold, UserText};

/// How long a block is, and how much of it the next one reads again: what stands on a border is
/// whole in one of the two.
const BLOCK: usize = 128 << 10;
const OVERLAP: usize = 4 << 10;

/// The most findings of one block that are told; the mildest are left out.
const MAX_FINDINGS: usize = 2048;

/// What was found in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// What is to happen to the text.
    pub action: Action,
    /// How sure it is that the text gives orders, from 0 to 1: for those who set their own threshold.
    pub score: f32,
    /// Everything that was found, in the order of the text.
    pub findings: Vec<Finding>,
}

impl Inspection {
    /// How bad the worst finding is.
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Whether the words of an attack stand in it, told of or said to be: it goes on with a note, and whoever read it
    /// may follow it all the same.
    pub fn tells_of_attack(&self) -> bool {
        self.findings
            .iter()
            .any(|it| it.rule == classify::TOLD && it.severity >= Severity::Medium)
    }
}

/// Inspects a text under the default terms.
pub fn inspect(text: &str, origin: Origin) -> Inspection {
    Terms::default().inspect(text, origin)
}

/// The texts of a batch in which something was found, each with its index (O-03).
pub fn scan_batch<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    origin: Origin,
) -> Vec<(usize, Inspection)> {
    Terms::default().scan_batch(texts, origin)
}

impl Terms {
    /// The texts of a batch in which something was found, each with its index (O-03).
    pub fn scan_batch<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        origin: Origin,
    ) -> Vec<(usize, Inspection)> {
        texts
            .into_iter()
            .enumerate()
            .map(|(index, text)| (index, self.inspect(text, origin)))
            .filter(|(_, inspection)| !inspection.findings.is_empty())
            .collect()
    }

    /// Inspects a text.
    pub fn inspect(&self, text: &str, origin: Origin) -> Inspection {
        if !self.inspects(origin) {
            return Inspection::default();
        }
        self.look(text, origin)
    }

    /// Inspects a text, whether or not anything would be done about it.
    pub fn look(&self, text: &str, origin: Origin) -> Inspection {
        let mut inspection = Inspection::default();
        let mut room: Vec<Word> = Vec::new();
        let (mut read, mut last) = (0, 0);
        for (start, block) in blocks(text) {
            let mut found = Vec::new();
            let score = self.look_at_block(block, origin, &mut room, &mut found);
            inspection.score = inspection.score.max(score);
            keep_worst(&mut found);
            for finding in &mut found {
                finding.span = place_in(block, &finding.span);
                finding.span.start += start;
                finding.span.end += start;
            }
            join(&mut inspection.findings, &mut last, found, start..read);
            read = start + block.len();
        }
        let findings = &mut inspection.findings;
        findings.sort_by(|one, other| {
            let place = |it: &Finding| (it.span.start, it.span.end);
            place(one)
                .cmp(&place(other))
                .then_with(|| other.severity.cmp(&one.severity))
                .then_with(|| one.rule.cmp(&other.rule))
        });
        findings.dedup_by(|one, other| one.rule == other.rule && one.span == other.span);
        if self.looks_with(Detectors::Rrclaw) {
            rrclaw::keep_first(findings);
        }
        inspection.score = findings
            .iter()
            .map(Finding::certainty)
            .fold(inspection.score, f32::max);
        inspection.action = findings
            .iter()
            .map(|finding| self.action(origin, finding.severity))
            .max()
            .unwrap_or_default();
        inspection
    }

    fn look_at_block(
        &self,
        block: &str,
        origin: Origin,
        room: &mut Vec<Word>,
        found: &mut Vec<Finding>,
    ) -> f32 {
        let Reading { views, marks } = normal::read(block);
        let mut odd: Vec<Finding> = marks
            .into_iter()
            .filter_map(|mark| marks::finding(mark, block))
            .collect();
        blank_lines::find(block, &mut odd);
        if self.looks_with(Detectors::Rrclaw) {
            found.extend(odd.iter().cloned().filter_map(rrclaw::of_mark));
        }
        let all = self.looks_with(Detectors::All);
        if all {
            found.append(&mut odd);
            secrets::find(block, found);
        }
        let mut score: f32 = 0.0;
        let mut judged = classify::Judged::new(block);
        for view in &views {
            words::split(&view.text, room);
            if all {
                detect::detect(view, room, origin, found);
                score = score.max(classify::classify(view, room, origin, &mut judged, found));
            }
            if self.looks_with(Detectors::Obra) {
                obra::find(view, room, found);
            }
            if self.looks_with(Detectors::Rrclaw) {
                rrclaw::find(view, room, found);
            }
        }
        leave_read_twice(found);
        if all && let Some(model) = classify::Model::shipped() {
            enclosed::judge(&model, block, origin, judged.into_suspects(), found);
        }
        score
    }
}

/// A list of strings reads like a sentence when it is put together. What was judged where it stands, with what
/// stands around it, is not judged again without.
pub fn leave_read_twice(found: &mut Vec<Finding>) {
    let open: Vec<(Cow<'static, str>, Range<usize>)> = found
        .iter()
        .filter(|finding| finding.disguises.is_empty())
        .map(|finding| (finding.rule.clone(), finding.span.clone()))
        .collect();
    let seen = |finding: &Finding| {
        open.iter().take(MAX_COMPARED).any(|(rule, span)| {
            // Places first: names of rules are compared letter by letter.
            span.start < finding.span.end && finding.span.start < span.end && *rule == finding.rule
        })
    };
    found.retain(|finding| {
        finding.disguises.is_empty() || finding.disguises.are_deliberate() || !seen(finding)
    });
}

/// How many findings others are compared with.
const MAX_COMPARED: usize = 256;

/// Keeps memory bounded in a text that is nothing but findings.
fn keep_worst(found: &mut Vec<Finding>) {
    if found.len() > MAX_FINDINGS {
        found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        found.truncate(MAX_FINDINGS);
    }
}

/// A span that lies in the block and on the borders of its characters, whoever told it.
fn place_in(block: &str, span: &Range<usize>) -> Range<usize> {
    let start = block.floor_char_boundary(span.start.min(block.len()));
    let end = block.ceil_char_boundary(span.end.clamp(start, block.len()));
    start..end
}

/// Adds the findings of a block. What two blocks found in their overlap is one finding.
fn join(all: &mut Vec<Finding>, last: &mut usize, found: Vec<Finding>, overlap: Range<usize>) {
    let before = std::mem::replace(last, all.len());
    for finding in found {
        let is_twin = |one: &&mut Finding| {
            one.span.start < finding.span.end
                && finding.span.start < one.span.end
                && one.rule == finding.rule
        };
        let twin = (finding.span.start < overlap.end)
            .then(|| all.get_mut(before..*last))
            .flatten()
            .and_then(|others| others.iter_mut().find(is_twin));
        match twin {
            Some(twin) => {
                twin.span.start = twin.span.start.min(finding.span.start);
                twin.span.end = twin.span.end.max(finding.span.end);
                twin.severity = twin.severity.max(finding.severity);
            }
            None => all.push(finding),
        }
    }
}

/// A text in overlapping blocks with where they start.
fn blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = Some(0_usize);
    std::iter::from_fn(move || {
        let start = next?;
        let end = text.floor_char_boundary(text.len().min(start.saturating_add(BLOCK)));
        next = (end < text.len()).then(|| text.floor_char_boundary(end.saturating_sub(OVERLAP)));
        Some((start, text.get(start..end)?))
    })
}
