//! What a rule says about facts, as its author writes it, in packs and in policies alike.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{LocalTime, Weekday};
use crate::rules::matching::wild;

/// Conditions on facts; every key given must hold. Names are wild (`release/*`) and compared without case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "an object; try: write {\"branch\": \"main\"}"
)]
pub struct FactConditions {
    /// The branch that is checked out where the command runs is one of these; `HEAD` if none is.
    pub branch: Names,
    /// It is none of these.
    pub not_branch: Names,
    /// Whether everything there is committed.
    pub worktree: Option<WorktreeState>,
    /// Whether the agent runs on a build server, as its environment says.
    pub ci: Option<bool>,
    /// The name of this machine is one of these.
    pub hostname: Names,
    /// It is none of these.
    pub not_hostname: Names,
    /// The account the agent runs under is one of these.
    pub user: Names,
    /// It is none of these.
    pub not_user: Names,
    /// The time of day lies between these, by the clock of this machine: `09:00-17:30`, `22:00-06:00`.
    pub hours: Option<Hours>,
    /// The day of the week is one of these.
    pub weekday: Vec<Weekday>,
    /// Whether tests have passed in the session since it last edited anything.
    pub tests_passed: Option<bool>,
    /// All of these files or directories are there; relative ones start in the workspace.
    pub exists: Names,
    /// None of these is there.
    pub missing: Names,
}

/// One name, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged, expecting = "a text or an array of texts")]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for Names {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Names {
    /// The names.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    pub(super) fn fit(&self, name: &str) -> bool {
        self.as_slice().iter().any(|pattern| wild(pattern, name))
    }
}

/// Whether everything in a worktree is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WorktreeState {
    /// Everything is, and there is no file git does not know.
    Clean,
    /// Something is not.
    Changed,
}

/// A time of day from and until which a rule holds; the end is no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String")]
pub struct Hours {
    from: u16,
    until: u16,
}

impl TryFrom<String> for Hours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = || {
            let (from, until) = text.split_once('-')?;
            let hours = Self {
                from: minutes(from)?,
                until: minutes(until)?,
            };
            (hours.from != hours.until).then_some(hours)
        };
        read().ok_or_else(|| {
            format!("`{text}` is no time of day; try: write \"09:00-17:30\", or \"22:00-06:00\" over midnight")
        })
    }
}

/// The minutes since midnight of `09:30`; `24:00` is the end of a day.
pub(super) fn minutes(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let digits = |text: &str| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(hour) || minute.len() != 2 || !digits(minute) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    (minute < 60 && hour * 60 + minute <= 24 * 60).then_some(hour * 60 + minute)
}

impl Hours {
    pub(super) fn hold(self, time: LocalTime) -> bool {
        let minute = time.minute;
        match self.from < self.until {
            true => (self.from..self.until).contains(&minute),
            // Over midnight.
            false => minute >= self.from || minute < self.until,
        }
    }

    fn as_text(self) -> String {
        let of = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        format!("{}-{}", of(self.from), of(self.until))
    }
}

impl FactConditions {
    /// Reads the conditions of a rule in a pack.
    pub(crate) fn from_value(value: Value) -> Result<Self, String> {
        let read: Self = serde_json::from_value(value)
            .map_err(|error| format!("what it says about facts cannot be read: {error}"))?;
        match read.spoken().is_empty() {
            true => {
                Err("its facts say nothing: remove the key, or add one such as `branch`".into())
            }
            false => Ok(read),
        }
    }

    /// The keys that are given, as they are written.
    pub(crate) fn spoken(&self) -> Map<String, Value> {
        let names = |names: &Names| (!names.is_empty()).then(|| json!(names.as_slice()));
        let days: Vec<&str> = self.weekday.iter().map(|day| day.as_str()).collect();
        let state = self.worktree.map(|state| match state {
            WorktreeState::Clean => json!("clean"),
            WorktreeState::Changed => json!("changed"),
        });
        let keys = [
            ("branch", names(&self.branch)),
            ("not_branch", names(&self.not_branch)),
            ("worktree", state),
            ("ci", self.ci.map(Value::Bool)),
            ("hostname", names(&self.hostname)),
            ("not_hostname", names(&self.not_hostname)),
            ("user", names(&self.user)),
            ("not_user", names(&self.not_user)),
            ("hours", self.hours.map(|hours| json!(hours.as_text()))),
            ("weekday", (!days.is_empty()).then(|| json!(days))),
            ("tests_passed", self.tests_passed.map(Value::Bool)),
            ("exists", names(&self.exists)),
            ("missing", names(&self.missing)),
        ];
        let given = keys.into_iter();
        given
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(clock: &str) -> LocalTime {
        LocalTime {
            weekday: Weekday::Mon,
            minute: minutes(clock).unwrap(),
        }
    }

    #[test]
    fn hours_end_where_they_say_and_may_go_over_midnight() {
        let day = Hours::try_from("09:00-17:30".to_owned()).unwrap();
        assert!(day.hold(at("9:00")) && day.hold(at("17:29")));
        assert!(!day.hold(at("17:30")) && !day.hold(at("08:59")));
        let night = Hours::try_from("22:00-06:00".to_owned()).unwrap();
        assert!(night.hold(at("23:10")) && night.hold(at("05:59")) && !night.hold(at("06:00")));
        let evening = Hours::try_from("18:00-24:00".to_owned()).unwrap();
        assert!(evening.hold(at("23:59")) && !evening.hold(at("00:00")));
        for wrong in [
            "9-17",
            "09:00",
            "25:00-26:00",
            "09:60-10:00",
            "09:00-09:00",
            "a:bc-d:ef",
        ] {
            assert!(Hours::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn conditions_are_read_and_said_again_and_a_wrong_word_is_an_error() {
        let written =
            json!({"branch": "main", "ci": false, "hours": "09:00-17:00", "weekday": ["sat"]});
        let read = FactConditions::from_value(written).unwrap();
        let spoken = Value::Object(read.spoken());
        assert_eq!(
            spoken,
            json!({"branch": ["main"], "ci": false, "hours": "09:00-17:00", "weekday": ["sat"]})
        );
        assert_eq!(
            FactConditions::from_value(spoken).unwrap().spoken(),
            read.spoken()
        );
        for wrong in [
            json!({}),
            json!({"brnch": "main"}),
            json!({"weekday": ["lundi"]}),
            json!({"worktree": "dirty"}),
        ] {
            assert!(
                FactConditions::from_value(wrong.clone()).is_err(),
                "{wrong}"
            );
        }
    }
}
