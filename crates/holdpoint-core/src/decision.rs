//! What the judge says, in a form that can be shown, stored and compared.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::facts::{FactUsed, Gathered};
use crate::policy::{Authority, Check, ExternalOpinion};
use crate::shell::FileRead;
use crate::verdict::{Method, Risk, Verdict};

/// A judgement on one call. `v` is the version of this form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Decision {
    /// The version of this form.
    pub v: u32,
    /// What may happen.
    pub verdict: Verdict,
    /// What would have been said, where the policy only observes: `verdict` then lets the call run, and the agent hears
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Verdict>,
    /// How much harm the call could do.
    pub risk: Risk,
    /// How the verdict came about.
    pub method: Method,
    /// The rule that decided, as its policy writes it.
    pub rule: Option<String>,
    /// Why, for a person.
    pub reason: String,
    /// Where the default that decided is stated; none where something else decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_in: Option<StatedIn>,
    /// What to do instead, for the agent.
    pub instead: Option<String>,
    /// Every rule that matched, the deciding one first.
    pub findings: Vec<Finding>,
    /// Checks that must pass before the call is released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Scripts the call runs, which were read to judge it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRead>,
    /// Facts besides the call that rules asked about, whether or not they held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactUsed>,
    /// What rules tell the model of a call that runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tell: Vec<String>,
    /// The command line in the safe form a rule names for it, which is a call of its own and judged as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<Rewritten>,
    /// What deciders outside said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external: Vec<ExternalOpinion>,
    /// `sha256:…` of the call.
    pub call: String,
    /// `sha256:…` of the policy.
    pub policy: String,
    /// Whether the call is known to change nothing. It says how surely the decision must be kept,
    /// and is no part of what is answered.
    #[serde(skip)]
    pub only_looks: bool,
    /// Why a question is not answered by the sandbox, though the policy would have it do so. It is told where the
    /// question is asked, and is no part of what is answered.
    #[serde(skip)]
    pub uncontained: Option<Uncontained>,
    /// How what would have been said came about. It is told where a person wants to know why, and is no part of what is
    /// answered.
    #[serde(skip)]
    pub observed_method: Option<Method>,
}

/// A command line in the safe form a rule names for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewritten {
    /// The rule.
    pub rule: String,
    /// The line.
    pub line: String,
}

/// Where a policy says what happens to a call no rule speaks about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedIn {
    /// The file.
    pub file: String,
    /// The line of `defaultPolicy`, or of the profile that has one; none where the file states neither,
    /// which means deny (J-02).
    pub line: Option<usize>,
}

impl StatedIn {
    /// The place, for people.
    pub fn words(&self) -> String {
        match self.line {
            Some(line) => format!("stated in {}:{line}", self.file),
            None => format!("{} states none, which means deny", self.file),
        }
    }
}

/// Why a call that could have run inside the sandbox does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncontained {
    /// Whoever makes the call cannot have it run there.
    Caller,
    /// It is known to need what a sandbox keeps from it, and would only fail there.
    NeedsOutside,
}

impl Uncontained {
    /// Why, as a clause.
    pub fn words(self) -> &'static str {
        match self {
            Self::Caller => "this agent cannot be told to run it in the sandbox",
            Self::NeedsOutside => "it needs what the sandbox keeps from it, and would fail there",
        }
    }
}

/// One rule that matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule, as its policy writes it.
    pub rule: String,
    /// What the rule wants.
    pub verdict: Verdict,
    /// How much harm it sees.
    pub risk: Risk,
    /// Why.
    pub reason: String,
    /// The part of the call it is about.
    pub part: Option<String>,
    /// Where that part stands in the command line.
    pub span: Option<[usize; 2]>,
    /// The kind of rule.
    pub method: Method,
    /// The layer it stands in; none for the session's and Holdpoint's own rules.
    pub layer: Option<Authority>,
}

impl Decision {
    /// The same, with the facts that were asked for on the way.
    pub(crate) fn resting_on(self, facts: Gathered<'_>) -> Self {
        Self {
            facts: facts.into_used(),
            ..self
        }
    }

    /// A refusal because the call or the policy could not be read.
    pub fn error(reason: impl Into<String>) -> Self {
        Self {
            v: 1,
            verdict: Verdict::Deny,
            observed: None,
            risk: Risk::None,
            method: Method::Error,
            rule: None,
            reason: reason.into(),
            stated_in: None,
            instead: None,
            findings: Vec::new(),
            checks: Vec::new(),
            files: Vec::new(),
            facts: Vec::new(),
            tell: Vec::new(),
            rewrite: None,
            external: Vec::new(),
            call: String::new(),
            policy: String::new(),
            only_looks: false,
            uncontained: None,
            observed_method: None,
        }
    }
}

/// A byte range as output writes it.
pub(crate) fn span_of(range: &Range<usize>) -> [usize; 2] {
    [range.start, range.end]
}
