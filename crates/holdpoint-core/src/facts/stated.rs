//! Facts that are stated and not found out: what an example of a pack is tried with.

use serde::Deserialize;
use serde_json::Value;

use super::conditions::minutes;
use super::{Fact, FactValue, LocalTime, Names, Weekday, WorktreeState};
use crate::paths::{Entry, Lookup};

/// A world with nothing in it but these facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StatedFacts {
    /// The branch.
    pub branch: Option<String>,
    /// Whether everything is committed.
    pub worktree: Option<WorktreeState>,
    /// Whether this is a build server.
    pub ci: Option<bool>,
    /// The name of the machine.
    pub hostname: Option<String>,
    /// The name of the account.
    pub user: Option<String>,
    /// `tue 14:30`.
    pub time: Option<StatedTime>,
    /// The files that are there, as absolute paths.
    pub exists: Names,
}

/// A time of the week as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct StatedTime(LocalTime);

impl TryFrom<String> for StatedTime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = || {
            let (day, clock) = text.split_once(' ')?;
            let weekday = Weekday::ALL.into_iter().find(|one| one.as_str() == day)?;
            let minute = minutes(clock).filter(|minute| *minute < 24 * 60)?;
            Some(Self(LocalTime { weekday, minute }))
        };
        read().ok_or_else(|| format!("`{text}` is no time: write `tue 14:30`"))
    }
}

impl StatedFacts {
    /// Reads the facts of an example.
    pub(crate) fn from_value(value: Value) -> Result<Self, String> {
        serde_json::from_value(value)
            .map_err(|error| format!("the facts of an example cannot be read: {error}"))
    }
}

impl Lookup for StatedFacts {
    fn entry(&self, path: &str) -> Entry {
        match self.exists.as_slice().iter().any(|one| one == path) {
            true => Entry::Other,
            false => Entry::Missing,
        }
    }

    fn fact(&self, fact: &Fact) -> FactValue {
        let text = |text: &Option<String>| text.clone().map(FactValue::Text);
        let value = match fact {
            Fact::Branch(_) => text(&self.branch),
            Fact::Clean(_) => (self.worktree).map(|it| FactValue::Is(it == WorktreeState::Clean)),
            Fact::Ci => self.ci.map(FactValue::Is),
            Fact::Hostname => text(&self.hostname),
            Fact::User => text(&self.user),
            Fact::Time => self.time.map(|time| FactValue::Time(time.0)),
        };
        value.unwrap_or(FactValue::Unknown)
    }
}
