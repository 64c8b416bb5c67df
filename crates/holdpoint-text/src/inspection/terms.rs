//! On which terms texts are inspected: which severities lead to which action, by where a text comes
//! from, and whose detectors look. Which tools' results need no look is the
//! policy's to say, which knows tools.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clean::Mode;
use crate::{Action, Origin, Severity};

/// The severity from which on something happens; the order is from the strictest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// From info on.
    Info,
    /// From low on.
    Low,
    /// From medium on.
    Medium,
    /// From high on.
    High,
    /// From critical on.
    Critical,
    /// At no severity.
    Never,
}

impl Threshold {
    /// The word for it in policies and output.
    pub fn name(self) -> &'static str {
        match self {
            Threshold::Info => "info",
            Threshold::Low => "low",
            Threshold::Medium => "medium",
            Threshold::High => "high",
            Threshold::Critical => "critical",
            Threshold::Never => "never",
        }
    }

    /// Whether a severity is at least this one.
    pub fn is_reached_by(self, severity: Severity) -> bool {
        let least = match self {
            Threshold::Info => Severity::Info,
            Threshold::Low => Severity::Low,
            Threshold::Medium => Severity::Medium,
            Threshold::High => Severity::High,
            Threshold::Critical => Severity::Critical,
            Threshold::Never => return false,
        };
        severity >= least
    }
}

/// What happens from which severity on, for one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// From here on the text goes on with a note.
    pub annotate_at: Threshold,
    /// From here on what was found in it stays behind.
    pub reject_at: Threshold,
    /// From here on none of it goes on.
    pub block_at: Threshold,
}

impl Ladder {
    /// What a finding of that severity leads to; never less for a worse one.
    pub fn action(self, severity: Severity) -> Action {
        let steps = [
            (self.block_at, Action::Block),
            (self.reject_at, Action::Quarantine),
            (self.annotate_at, Action::Annotate),
        ];
        steps
            .into_iter()
            .find(|(from, _)| from.is_reached_by(severity))
            .map_or(Action::Pass, |(_, action)| action)
    }
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            annotate_at: Threshold::Medium,
            reject_at: Threshold::High,
            block_at: Threshold::Critical,
        }
    }
}

/// What happens to what the user typed; the order is from the mildest on.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UserText {
    /// Nothing.
    Off,
    /// It goes on, with a note where something was found.
    #[default]
    Warn,
    /// The same as to any other text.
    Block,
}

/// Whose detectors look at a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Detectors {
    /// Holdpoint's own: every rule, the classifier, hidden characters, secrets.
    All,
    /// The nine patterns of Obra's detector (O-01), over the text without its disguises.
    Obra,
    /// RRClaw's phrases and control characters, over the text without its disguises.
    Rrclaw,
}

/// The terms on which texts are inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whether texts are looked at at all.
    pub enabled: bool,
    /// What happens to what the user typed.
    pub user: UserText,
    /// The thresholds, in the order of [`Origin::ALL`].
    pub ladders: [Ladder; Origin::ALL.len()],
    /// Whose detectors look.
    pub detectors: Vec<Detectors>,
    /// How a quarantined text is cleaned.
    pub cleaning: Mode,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            enabled: true,
            user: UserText::default(),
            ladders: [Ladder::default(); Origin::ALL.len()],
            detectors: vec![Detectors::All],
            cleaning: Mode::Redact,
        }
    }
}

impl Terms {
    /// What a finding of that severity leads to.
    pub fn action(&self, origin: Origin, severity: Severity) -> Action {
        let action = self.ladder(origin).action(severity);
        match (origin, self.user) {
            (Origin::User, UserText::Off) => Action::Pass,
            (Origin::User, UserText::Warn) => action.min(Action::Annotate),
            (Origin::User, UserText::Block)
            | (Origin::Tool | Origin::File | Origin::Web | Origin::Description, _) => action,
        }
    }

    /// The thresholds for an origin.
    pub fn ladder(&self, origin: Origin) -> Ladder {
        let place = Origin::ALL.iter().position(|one| *one == origin);
        place
            .and_then(|place| self.ladders.get(place))
            .copied()
            .unwrap_or_default()
    }

    /// Whether texts of an origin are looked at at all.
    pub fn inspects(&self, origin: Origin) -> bool {
        self.enabled && !(origin == Origin::User && self.user == UserText::Off)
    }

    pub(crate) fn looks_with(&self, detectors: Detectors) -> bool {
        self.detectors.contains(&detectors)
    }

    /// Only somebody else's detectors look, and what they do is done as they do it.
    pub(crate) fn looks_only_with(&self, detectors: Detectors) -> bool {
        self.detectors.iter().all(|one| *one == detectors)
    }
}
