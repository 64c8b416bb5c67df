//! Looking for orders, hidden characters and secrets in files: what `holdpoint scan` is made of.
//!
//! A [`Scanner`] inspects anything that can be read, in bounded memory however long it is, and says
//! where in the file things stand. [`Walk`] finds the files of a directory, [`staged`] those of a
//! commit to be; [`json`] and [`sarif`] are the forms findings are told in.

pub mod baseline;
pub mod dependencies;
mod encoding;
mod input;
pub mod json;
pub mod loosened;
mod preview;
pub mod repository;
pub mod sarif;
pub mod staged;
mod walk;
mod weights;
mod written;

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::Policy;
use holdpoint_core::text::inspection::{Family, Finding, Inspection, Terms};
use holdpoint_core::text::{Action, Origin, Severity};
use holdpoint_engine::Locations;
use holdpoint_engine::inspecting::{Consultation, Inspectee, consult};

pub use self::input::TextPosition;
use self::input::{Input, OVERLAP, Piece};
pub use self::preview::preview;
pub use self::walk::{Walk, Wanted};
pub use self::weights::{
    Decided, DecidedBy, Explained, PolicyThreshold, Score, ScoreThreshold, Weight,
};
use self::weights::{explained, weights};
pub use self::written::{Written, replace};

/// The most findings of one text that are told; all are counted.
const MAX_TOLD: usize = 1000;

/// Whether secrets are looked for, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// They are findings like others.
    Count,
    /// They are none.
    Pass,
}

/// Whether pictures, programs and the like are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binaries {
    /// They are read as if they were texts.
    Read,
    /// They are passed over.
    Skip,
}

/// Inspects texts and files.
#[derive(Clone, Debug)]
pub struct Scanner {
    terms: Terms,
    secrets: Secrets,
    binaries: Binaries,
    least: Severity,
    explains: bool,
    consultant: Option<Consultant>,
}

/// Whom to ask about what is uncertain.
#[derive(Clone, Debug)]
struct Consultant {
    locations: Locations,
    policy: Arc<Policy>,
    /// A model server on somebody's machine answers one after the other; who asks all at once is turned away.
    turn: Arc<Mutex<()>>,
}

impl Scanner {
    /// One that finds everything, on these terms.
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            secrets: Secrets::Count,
            binaries: Binaries::Skip,
            least: Severity::Info,
            explains: false,
            consultant: None,
        }
    }

    /// Whether secrets are findings.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Whether pictures, programs and the like are read.
    #[must_use]
    pub fn binaries(mut self, binaries: Binaries) -> Self {
        self.binaries = binaries;
        self
    }

    /// Tells only what is at least so bad. What it means for the text as a whole stays the same.
    #[must_use]
    pub fn telling_from(mut self, least: Severity) -> Self {
        self.least = least;
        self
    }

    /// Says what each finding rests on, and which words weighed where the classifier speaks.
    #[must_use]
    pub fn explaining(mut self) -> Self {
        self.explains = true;
        self
    }

    /// Has the daemon ask the model server of this policy about what is uncertain in what is read.
    #[must_use]
    pub fn consulting(mut self, locations: Locations, policy: Arc<Policy>) -> Self {
        self.consultant = Some(Consultant {
            locations,
            policy,
            turn: Arc::default(),
        });
        self
    }

    /// Inspects a text, whether or not the policy has texts of that origin inspected by itself:
    /// somebody asks for it.
    pub fn inspect(&self, text: &str, origin: Origin) -> Inspection {
        let mut inspection = self.terms.look(text, origin);
        if self.secrets == Secrets::Pass {
            let all = inspection.findings.len();
            inspection
                .findings
                .retain(|finding| finding.family != Family::Secret);
            if inspection.findings.len() < all {
                inspection.action = inspection
                    .findings
                    .iter()
                    .map(|finding| self.terms.action(origin, finding.severity))
                    .max()
                    .unwrap_or_default();
            }
        }
        inspection
    }

    /// Inspects what can be read, piece by piece.
    pub fn read(&self, reader: impl Read, origin: Origin) -> io::Result<Scanned> {
        self.read_refined(reader, origin, None)
    }

    /// The same, where each finding may be made better or worse, or be no finding after all.
    pub fn read_refined(
        &self,
        reader: impl Read,
        origin: Origin,
        mut refine: Option<Refine<'_>>,
    ) -> io::Result<Scanned> {
        let mut input = Input::open(reader)?;
        let mut scanned = Scanned::default();
        if self.binaries == Binaries::Skip && input.is_binary() {
            scanned.binary = true;
            return Ok(scanned);
        }
        // What the piece before found near its end, which this one sees again.
        let mut before = Vec::new();
        loop {
            let piece = input.piece();
            before = self.piece(&piece, origin, &before, &mut refine, &mut scanned);
            if !input.advance()? {
                break;
            }
        }
        scanned.bytes = input.bytes();
        Ok(scanned)
    }

    fn piece(
        &self,
        piece: &Piece<'_>,
        origin: Origin,
        before: &[Seen],
        refine: &mut Option<Refine<'_>>,
        scanned: &mut Scanned,
    ) -> Vec<Seen> {
        let inspection = self.inspect(&piece.text, origin);
        let asked = self.consultant.as_ref();
        let opinion = asked.and_then(|it| it.ask(&piece.text, origin, &inspection));
        scanned.score = scanned.score.max(inspection.score);
        let mut action = Action::default();
        let mut offsets: Vec<usize> = inspection
            .findings
            .iter()
            .flat_map(|finding| [finding.span.start, finding.span.end])
            .collect();
        offsets.sort_unstable();
        offsets.dedup();
        let positions = piece.positions(&offsets);
        let position_of = |offset: usize| {
            let index = offsets.binary_search(&offset).ok()?;
            positions.get(index).copied()
        };
        let border = piece.text.len().saturating_sub(2 * OVERLAP);
        let mut seen = Vec::new();
        for mut finding in inspection.findings {
            let (Some(start), Some(end)) = (
                position_of(finding.span.start),
                position_of(finding.span.end),
            ) else {
                continue;
            };
            let now = Seen {
                rule: finding.rule.clone().into_owned(),
                span: start.byte..end.byte,
            };
            let again = before.iter().any(|one| one.is_part_of(&now));
            if finding.span.end > border {
                seen.push(now);
            }
            if again {
                continue;
            }
            let print = baseline::print_in(&piece.text, &finding);
            if let Some(refine) = refine
                && !refine(&mut finding, &print)
            {
                continue;
            }
            action = action.max(self.terms.action(origin, finding.severity));
            scanned.severity = scanned.severity.max(Some(finding.severity));
            if finding.severity < self.least {
                continue;
            }
            scanned.count += 1;
            if scanned.findings.len() < MAX_TOLD {
                let preview = preview(&piece.text, &finding);
                let weights = match self.explains {
                    true => weights(&piece.text, &finding, origin),
                    false => Vec::new(),
                };
                let explained = match self.explains {
                    true => explained(&piece.text, &finding, origin, &self.terms),
                    false => None,
                };
                finding.span = start.offset()..end.offset();
                scanned.findings.push(LocatedFinding {
                    finding,
                    start,
                    end,
                    preview,
                    print,
                    weights,
                    explained,
                });
            }
        }
        if let Some(opinion) = opinion {
            action = opinion.effect.on(action);
            scanned.opinions.push(opinion);
        }
        scanned.action = scanned.action.max(action);
        seen
    }
}

/// What makes a finding better or worse, from the finding and its print; false if it is none after all.
pub type Refine<'r> = &'r mut dyn FnMut(&mut Finding, &str) -> bool;

impl Consultant {
    fn ask(&self, text: &str, origin: Origin, inspection: &Inspection) -> Option<Consultation> {
        let inspectee = Inspectee {
            origin,
            action: inspection.action,
            policy: &self.policy,
        };
        let found: Vec<_> = inspection.findings.iter().map(|one| ((), one)).collect();
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        consult(&self.locations, &inspectee, &found, |()| text.into())
    }
}

/// A finding of the piece before.
struct Seen {
    rule: String,
    span: Range<u64>,
}

impl Seen {
    fn is_part_of(&self, other: &Seen) -> bool {
        self.rule == other.rule
            && self.span.start < other.span.end
            && other.span.start < self.span.end
    }
}

impl LocatedFinding {
    /// One that stands at a line and a column of a whole text.
    pub fn at(finding: Finding, text: &str, (line, column): (usize, usize), about: String) -> Self {
        let before: usize = text
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        let within = text.get(before..).unwrap_or_default();
        let within: usize = within
            .chars()
            .take(column.saturating_sub(1))
            .map(char::len_utf8)
            .sum();
        let start = TextPosition {
            byte: (before + within) as u64,
            line: line as u64,
            column: column as u64,
        };
        let mut finding = finding;
        finding.span = start.offset()..start.offset();
        Self {
            print: baseline::print_of(&finding, &about),
            preview: holdpoint_core::text::escape_for_display(&about, 120),
            finding,
            start,
            end: start,
            weights: Vec::new(),
            explained: None,
        }
    }
}

impl Scanned {
    /// Adds what was found in a file in another way.
    pub fn add(&mut self, found: LocatedFinding, action: Action, least: Severity) {
        self.action = self.action.max(action);
        self.severity = self.severity.max(Some(found.finding.severity));
        if found.finding.severity >= least {
            self.count += 1;
            self.findings.push(found);
        }
    }
}

/// What was found in a file.
#[derive(Clone, Debug, Default)]
pub struct Scanned {
    /// What should happen to it.
    pub action: Action,
    /// How bad the worst finding is, whether it is told or not.
    pub severity: Option<Severity>,
    /// How sure it is that the text gives orders, from 0 to 1.
    pub score: f32,
    /// What was found, in the order of the file, as far as it is told.
    pub findings: Vec<LocatedFinding>,
    /// What others made of it, if they were asked: one opinion for each of its pieces at most.
    pub opinions: Vec<Consultation>,
    /// How many findings there are; only the first thousand are told.
    pub count: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// Whether it was passed over because it is no text.
    pub binary: bool,
}

/// One finding and where it stands in its file.
#[derive(Clone, Debug)]
pub struct LocatedFinding {
    /// What it is; its span counts the bytes of the file.
    pub finding: Finding,
    /// Where it starts.
    pub start: TextPosition,
    /// Where it ends.
    pub end: TextPosition,
    /// A few words of it, safe to show.
    pub preview: String,
    /// What a baseline knows it by, besides its file and its rule.
    pub print: String,
    /// The words that weighed in it, the heaviest first, if somebody asked for them.
    pub weights: Vec<Weight>,
    /// What it rests on, if somebody asked for it.
    pub explained: Option<Explained>,
}

#[cfg(test)]
mod tests;
