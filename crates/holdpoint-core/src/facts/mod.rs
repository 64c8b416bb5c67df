//! Facts a rule may ask about besides the call: branch, worktree, build server, machine, user, time, files, and whether tests have
//! passed since the last edit.
//!
//! The core knows none of them. It asks [`Lookup::fact`](crate::paths::Lookup::fact), once a judgement and only where
//! everything else a rule says holds already, so that a call no such rule is about costs nothing. A fact that cannot be had
//! is unknown: a condition on it holds for a rule that tightens and does not hold for one that loosens (invariant 5).

mod conditions;
mod gathered;
mod stated;
mod tested;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use conditions::{FactConditions, Hours, Names, WorktreeState};
pub(crate) use gathered::Gathered;
pub use stated::StatedFacts;
pub use tested::{edits, may_run_tests, runs_tests};

/// What may be asked of the world around a call. A file that is or is not there is looked up as any other path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The branch that is checked out in the repository around a directory, which is absolute.
    Branch(String),
    /// Whether nothing in that repository's worktree is uncommitted, files git does not know among it.
    Clean(String),
    /// Whether this is a build server.
    Ci,
    /// The name of this machine.
    Hostname,
    /// The name of the account.
    User,
    /// The time of the week, as clocks here show it.
    Time,
    /// Whether tests have passed in the session since it last edited anything.
    TestsPassed,
}

/// What is known of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactValue {
    /// A name.
    Text(String),
    /// Yes or no.
    Is(bool),
    /// A time of the week.
    Time(LocalTime),
    /// It cannot be had.
    Unknown,
}

/// A time of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// The day.
    pub weekday: Weekday,
    /// Minutes since midnight.
    pub minute: u16,
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute) = (self.minute / 60, self.minute % 60);
        write!(f, "{} {hour:02}:{minute:02}", self.weekday.as_str())
    }
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Weekday {
    /// Sunday.
    Sun,
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
}

impl Weekday {
    /// The days as clocks count them, Sunday first.
    pub const ALL: [Self; 7] = [
        Self::Sun,
        Self::Mon,
        Self::Tue,
        Self::Wed,
        Self::Thu,
        Self::Fri,
        Self::Sat,
    ];

    /// The word used in rules and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sun => "sun",
            Self::Mon => "mon",
            Self::Tue => "tue",
            Self::Wed => "wed",
            Self::Thu => "thu",
            Self::Fri => "fri",
            Self::Sat => "sat",
        }
    }
}

/// A fact that was asked for while a call was judged, as a decision names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactUsed {
    /// `branch`, `worktree`, `ci`, `hostname`, `user`, `time`, `tests_passed` or `exists`.
    pub fact: String,
    /// The file, or the directory whose repository it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// What it was; none where it could not be had.
    pub value: Option<String>,
}

impl FactUsed {
    /// Whether it is the same wherever the call is judged and whoever does, so that a release can be bound to it. The clock
    /// goes on, and the environment, the account and the machine are those of the process that judges.
    pub fn is_of_the_project(&self) -> bool {
        matches!(self.fact.as_str(), "branch" | "worktree" | "exists")
    }
}

impl fmt::Display for FactUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fact)?;
        if let Some(of) = &self.of {
            write!(f, " of `{of}`")?;
        }
        match &self.value {
            Some(value) => write!(f, " `{value}`"),
            None => f.write_str(" unknown"),
        }
    }
}

/// The facts that may be filled in where a model is told something.
pub(crate) const FILLED_IN: &[&str] = &[
    "branch",
    "worktree",
    "ci",
    "hostname",
    "user",
    "time",
    "tests_passed",
];

/// Names the facts a finding rests on behind its reason.
pub(crate) fn say_facts(reason: &mut String, facts: &[FactUsed]) {
    if facts.is_empty() {
        return;
    }
    let words: Vec<String> = facts.iter().map(FactUsed::to_string).collect();
    reason.push_str(&format!(" ({})", words.join(", ")));
}

/// What a rule is for: one that loosens must be met by all of a call as it is written, one that tightens by any part of it in
/// any spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Loosen,
    Tighten,
}
