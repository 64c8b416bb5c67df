//! Taking out what is found until nothing is left to find.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::{Mode, extent, strip, wording};
use crate::inspection::compatible::obra;
use crate::inspection::{Detectors, Family, Fields, Finding, Inspection, Terms, Threshold};
use crate::normal::Disguise;
use crate::{Origin, Severity};

/// How often sentences are taken out before paragraphs are, and those before the whole text.
const SENTENCES: usize = 6;
const PARAGRAPHS: usize = 9;

/// Texts without what the terms find in them, and what that was at first.
pub(super) fn clean(
    terms: &Terms,
    mode: Mode,
    mut texts: Vec<String>,
    origin: Origin,
    removed: &mut BTreeMap<Family, usize>,
) -> (Vec<String>, Inspection) {
    let mut first = None;
    for pass in 0.. {
        let fields = Fields::new(&texts);
        let inspection = terms.look(&fields.joined, origin);
        let mut found: Vec<&Finding> = inspection
            .findings
            .iter()
            .filter(|finding| is_unwanted(terms, origin, finding))
            .collect();
        // What reads like orders as a whole may do so because of what goes anyway.
        let is_vague = |finding: &&Finding| finding.family == Family::Statistical;
        if !found.iter().all(is_vague) {
            found.retain(|finding| !is_vague(finding));
        }
        let size = if pass < SENTENCES {
            Size::Sentence
        } else if pass < PARAGRAPHS {
            Size::Paragraph
        } else {
            Size::Whole
        };
        let cleaner = Pass {
            mode,
            size,
            exact: terms.looks_only_with(Detectors::Obra),
        };
        let next = cleaner.over(&texts, &fields, &found, removed);
        drop(found);
        first.get_or_insert(inspection);
        match next {
            Some(next) if next != texts => texts = next,
            // Nothing was found, or what was found is what Obra's words in its place look like.
            Some(_) | None => break,
        }
        if size == Size::Whole {
            break;
        }
    }
    (texts, first.unwrap_or_default())
}

/// Whether a finding is taken out: all the terms would at least tell, whatever comes of it, and
/// tokens of chat templates always (O-05). So are characters nobody sees wherever they stand: nobody misses them.
fn is_unwanted(terms: &Terms, origin: Origin, finding: &Finding) -> bool {
    let from = terms.ladder(origin).annotate_at.min(Threshold::Medium);
    from.is_reached_by(finding.severity)
        || (finding.family == Family::Template && finding.severity >= Severity::Low)
        || finding.disguises.has(Disguise::ZeroWidth)
            && finding.family == Family::Hidden
            && finding.severity >= Severity::Low
}

/// How much goes with a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Sentence,
    Paragraph,
    Whole,
}

struct Pass {
    mode: Mode,
    size: Size,
    /// Only the words that were found, as Obra's sanitizer does.
    exact: bool,
}

/// A part of a text that goes, and why.
struct Cut {
    part: Range<usize>,
    family: Family,
    severity: Severity,
    rule: Cow<'static, str>,
}

impl Cut {
    fn from_finding(finding: &Finding, part: Range<usize>) -> Self {
        Self {
            part,
            family: finding.family,
            severity: finding.severity,
            rule: finding.rule.clone(),
        }
    }

    fn covers(&self, span: &Range<usize>) -> bool {
        self.part.start <= span.start && span.end <= self.part.end
    }

    /// The worst of what goes with it is what it is told for.
    fn hear(&mut self, finding: &Finding) {
        if finding.severity > self.severity {
            self.family = finding.family;
            self.severity = finding.severity;
            self.rule = finding.rule.clone();
        }
    }
}

impl Pass {
    /// The texts after one pass; none if nothing is to be done.
    fn over(
        &self,
        texts: &[String],
        fields: &Fields,
        found: &[&Finding],
        removed: &mut BTreeMap<Family, usize>,
    ) -> Option<Vec<String>> {
        if found.is_empty() {
            return None;
        }
        let mut cuts: Vec<Vec<Cut>> = texts.iter().map(|_| Vec::new()).collect();
        let mut unseen: Option<(usize, Vec<Range<usize>>)> = None;
        for finding in found {
            for (index, span) in fields.parts(&finding.span) {
                let (Some(text), Some(cuts)) = (texts.get(index), cuts.get_mut(index)) else {
                    continue;
                };
                if !is_unseen(finding.family) || self.size != Size::Sentence {
                    // What goes already needs no look at what stands around it.
                    match cuts.last_mut().filter(|cut| cut.covers(&span)) {
                        Some(cut) => cut.hear(finding),
                        None => self.cut(text, finding, span, cuts),
                    }
                    continue;
                }
                // Findings come in the order of the texts: each text is looked through once.
                if unseen.as_ref().is_none_or(|(of, _)| *of != index) {
                    unseen = Some((index, unseen_places(text)));
                }
                let places = unseen.as_ref().map_or(&[][..], |(_, places)| places);
                let first = places.partition_point(|place| place.end <= span.start);
                let mut inside = places.iter().skip(first);
                let mut any = false;
                while let Some(place) = inside.next().filter(|place| place.start < span.end) {
                    any = true;
                    cuts.push(Cut::from_finding(finding, place.clone()));
                }
                if !any {
                    cuts.push(Cut::from_finding(finding, span));
                }
            }
        }
        let cleaned = texts.iter().zip(cuts).map(|(text, cuts)| {
            let cuts = joined(text, cuts);
            for cut in &cuts {
                *removed.entry(cut.family).or_default() += 1;
            }
            self.applied(text, &cuts)
        });
        Some(cleaned.collect())
    }

    fn cut(&self, text: &str, finding: &Finding, span: Range<usize>, cuts: &mut Vec<Cut>) {
        let part = match self.size {
            Size::Whole => 0..text.len(),
            Size::Paragraph => extent::paragraph(text, &span),
            Size::Sentence if self.exact => span,
            Size::Sentence => {
                let mut here = finding.clone();
                here.span = span;
                extent::of_finding(text, &here)
            }
        };
        cuts.push(Cut::from_finding(finding, part));
    }

    fn applied(&self, text: &str, cuts: &[Cut]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for cut in cuts {
            out.push_str(text.get(at..cut.part.start).unwrap_or_default());
            let taken = text.get(cut.part.clone()).unwrap_or_default();
            self.substitute(
                cut,
                taken,
                &mut out,
                text.get(cut.part.end..).unwrap_or_default(),
            );
            at = cut.part.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// Writes what stands in place of what was taken out.
    fn substitute(&self, cut: &Cut, taken: &str, out: &mut String, behind: &str) {
        // Tokens and what nobody sees leave nothing in any mode.
        if matches!(
            cut.family,
            Family::Template | Family::Hidden | Family::Terminal
        ) && self.size != Size::Whole
        {
            return;
        }
        match self.mode {
            Mode::Remove => {}
            Mode::Escape if self.exact => {
                if out.ends_with('"') && behind.starts_with('"') {
                    out.push_str(taken);
                } else {
                    out.push('"');
                    out.push_str(taken);
                    out.push('"');
                }
            }
            // What is still found with dots in its words is not worth another try.
            Mode::Escape
                if self.size == Size::Sentence
                    && cut.family != Family::Secret
                    && !taken.contains('·') =>
            {
                escape(taken, out);
            }
            Mode::Redact if self.exact => match obra::replacement(&cut.rule) {
                Some(words) => out.push_str(words),
                None => out.push_str(&wording::marker(cut.family)),
            },
            Mode::Escape | Mode::Redact | Mode::Strip | Mode::Fence(_) => {
                out.push_str(&wording::marker(cut.family));
            }
        }
    }
}

/// Sorts cuts and joins those that overlap or have nothing but white space between them.
fn joined(text: &str, mut cuts: Vec<Cut>) -> Vec<Cut> {
    cuts.sort_by_key(|cut| (cut.part.start, cut.part.end));
    let mut all: Vec<Cut> = Vec::with_capacity(cuts.len());
    for cut in cuts {
        let Some(last) = all.last_mut() else {
            all.push(cut);
            continue;
        };
        let between = text.get(last.part.end..cut.part.start);
        let touches = cut.part.start <= last.part.end;
        let same = cut.family == last.family
            && between
                .is_some_and(|between| between.trim().is_empty() && !between.contains("\n\n"));
        if touches || (same && cut.part.start > last.part.end && is_order(cut.family)) {
            last.part.end = last.part.end.max(cut.part.end);
            if cut.severity > last.severity {
                (last.family, last.severity, last.rule) = (cut.family, cut.severity, cut.rule);
            }
        } else {
            all.push(cut);
        }
    }
    all
}

fn is_order(family: Family) -> bool {
    !matches!(
        family,
        Family::Template | Family::Hidden | Family::Terminal | Family::Secret
    )
}

/// Of what nobody sees, only that goes, and not the letters between.
fn is_unseen(family: Family) -> bool {
    matches!(family, Family::Hidden | Family::Terminal)
}

fn unseen_places(text: &str) -> Vec<Range<usize>> {
    let places = strip::places(text).into_iter();
    places.map(|(place, _)| place).collect()
}

/// What was found, in quotes and with a dot in every longer word: people can read it, and nothing
/// takes it for an order.
fn escape(taken: &str, out: &mut String) {
    out.push('«');
    let mut letters = 0;
    for c in taken.chars() {
        if c.is_alphanumeric() {
            if letters == 2 {
                out.push('·');
                letters = 0;
            }
            letters += 1;
        } else {
            letters = 0;
        }
        out.push(c);
    }
    out.push('»');
}
