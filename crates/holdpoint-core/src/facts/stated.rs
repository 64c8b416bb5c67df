//! Facts that are stated and not found out: what an example of a pack is tried with.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::conditions::minutes;
use super::{Fact, FactValue, LocalTime, Names, Weekday, WorktreeState};
use crate::paths::{Entry, Lookup, Tracking, is_within};

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
    /// Whether tests have passed since the last edit.
    pub tests_passed: Option<bool>,
    /// The files that are there, as absolute paths.
    pub exists: Names,
    /// The files that are there and that git has to the byte, as absolute paths.
    pub committed: Names,
    /// What the session itself has made, as absolute paths.
    pub own: Names,
    /// Processes the session has started.
    pub own_processes: Vec<u32>,
    /// Ports it listens on.
    pub own_ports: Vec<u16>,
    /// Terminals of tmux in which a shell of its own waits.
    pub own_terminals: Names,
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
    /// All files that are there.
    fn files(&self) -> impl Iterator<Item = &str> {
        let all = [&self.exists, &self.committed, &self.own];
        all.into_iter()
            .flat_map(|names| names.as_slice())
            .map(String::as_str)
    }

    /// Reads the facts of an example.
    pub(crate) fn from_value(value: Value) -> Result<Self, String> {
        serde_json::from_value(value)
            .map_err(|error| format!("the facts of an example cannot be read: {error}"))
    }
}

impl Lookup for StatedFacts {
    fn entry(&self, path: &str) -> Entry {
        match self.files().any(|one| one == path) {
            true => Entry::Other,
            false if self.files().any(|one| is_within(one, path)) => Entry::Directory,
            false => Entry::Missing,
        }
    }

    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        let mut names = BTreeMap::new();
        for file in self.files().filter(|one| is_within(one, path)) {
            let below = file.get(path.len()..)?.trim_start_matches('/');
            let (name, deeper) = below.split_once('/').unwrap_or((below, ""));
            *names.entry(name.to_owned()).or_default() |= !deeper.is_empty();
        }
        (names.len() <= most).then(|| names.into_iter().collect())
    }

    fn tracking(&self, path: &str) -> Tracking {
        match self.committed.as_slice().iter().any(|one| one == path) {
            true => Tracking::Committed,
            false => Tracking::NoRepository,
        }
    }

    fn is_own(&self, path: &str) -> bool {
        self.own.as_slice().iter().any(|one| is_within(path, one))
    }

    fn is_own_process(&self, process: u32) -> bool {
        self.own_processes.contains(&process)
    }

    fn is_own_port(&self, port: u16) -> bool {
        self.own_ports.contains(&port)
    }

    fn is_own_terminal(&self, terminal: &str) -> bool {
        self.own_terminals
            .as_slice()
            .iter()
            .any(|one| one == terminal)
    }

    fn has_opened_terminal(&self, terminal: &str) -> bool {
        self.is_own_terminal(terminal)
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
            Fact::TestsPassed => self.tests_passed.map(FactValue::Is),
        };
        value.unwrap_or(FactValue::Unknown)
    }
}
