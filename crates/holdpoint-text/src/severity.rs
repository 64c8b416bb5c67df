//! How bad a finding is, and what happens to a text because of it.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad a finding is. The order is the rank: the worst of several is their maximum (O-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a line in a log.
    Info,
    /// Odd, and usually harmless.
    Low,
    /// The text may give orders.
    Medium,
    /// The text does give orders, or hides something.
    High,
    /// The text poses as something else to take the model over.
    Critical,
}

impl Severity {
    /// Every severity, the mildest first.
    pub const ALL: [Severity; 5] = [
        Severity::Info,
        Severity::Low,
        Severity::Medium,
        Severity::High,
        Severity::Critical,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }

    /// The severity of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What happens to a text; the strictest of several counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It goes on as it is.
    #[default]
    Pass,
    /// It goes on with a note.
    Annotate,
    /// What was found in it stays behind; the rest goes on with a note.
    Quarantine,
    /// None of it goes on.
    Block,
}

impl Action {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Pass => "pass",
            Action::Annotate => "annotate",
            Action::Quarantine => "quarantine",
            Action::Block => "block",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
