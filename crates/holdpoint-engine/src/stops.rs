//! What a person has stopped: a session, an agent, or every agent of this account. Nothing stopped makes a call until a
//! person lets it go on.
//!
//! One file each, in a directory that is there only while something is stopped, so that a call looks at one place. That the
//! file is there is what counts; what stands in it is only told. It is kept apart from what sessions remember, since that is
//! forgotten after a day.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use holdpoint_broker::StopScope;
use holdpoint_core::Stop;
use holdpoint_core::text::escape_for_display;
use holdpoint_ledger::{Kind, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::locations::Locations;
use crate::sessions::SessionId;
use crate::store::{lock, make_private_directory, plain_words, read_bounded, write_whole};

/// The longest file that is read: names, a time and a reason. What a longer one says is not told; it stops all the same.
const MAX_FILE: u64 = 16 << 10;

/// The most characters of a reason that are kept: it is said to a model at each of its calls.
const MAX_REASON: usize = 500;

/// The most stops that are listed. One more is no less in force.
const MAX_LISTED: usize = 1000;

/// Something that is stopped, and what is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// What.
    pub scope: StopScope,
    /// Since when.
    pub time: String,
    /// By whom.
    pub by: String,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Stopped {
    /// Stopped now.
    pub fn now(scope: StopScope, by: &str, reason: Option<&str>) -> Self {
        Self {
            scope,
            time: Timestamp::from_clock(SystemTime::now()).to_string(),
            by: by.to_owned(),
            reason: reason.map(str::to_owned),
        }
    }

    fn stop(&self) -> Stop {
        let by = escape_for_display(&self.by, 80);
        let since = escape_for_display(&self.time, 40);
        let reason = self.reason.as_deref().map_or_else(String::new, |reason| {
            format!(": {}", escape_for_display(reason, MAX_REASON))
        });
        Stop {
            what: self.scope.words(),
            told: format!("({by}, {since}){reason}"),
            resume: self.scope.resume(),
        }
    }
}

impl Engine {
    /// Stops something, once that is on record. It is in force when this returns.
    pub fn stop(&self, stopped: &Stopped) -> Result<(), EngineError> {
        let stops = Stops::at(self.locations())?;
        let reason = stopped.reason.as_deref();
        self.record_stop("stop", &stopped.scope, &stopped.by, reason)?;
        Ok(stops.stop(stopped)?)
    }

    /// Lets something go on, once that is on record; whether it was stopped.
    pub fn resume(&self, scope: &StopScope, by: &str) -> Result<bool, EngineError> {
        let stops = Stops::at(self.locations())?;
        if stops.read(scope)?.is_none() {
            return Ok(false);
        }
        self.record_stop("resume", scope, by, None)?;
        Ok(stops.resume(scope)?)
    }

    fn record_stop(
        &self,
        action: &str,
        scope: &StopScope,
        by: &str,
        reason: Option<&str>,
    ) -> Result<(), EngineError> {
        let mut what = json!({"action": action, "scope": scope});
        if let (Some(reason), Value::Object(fields)) = (reason, &mut what) {
            fields.insert("reason".into(), reason.into());
        }
        let session = match scope {
            StopScope::Session(name) => Some(name.as_str()),
            StopScope::All | StopScope::Agent(_) => None,
        };
        let recorder = self.recorder()?;
        Ok(recorder.changes_by(by, Kind::SessionRule, session, &what)?)
    }
}

/// Why what is stopped cannot be known or changed.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// There is no place to keep it.
    #[error("no home directory is known, so nothing can be stopped: set HOME or XDG_STATE_HOME")]
    NoPlace,
    /// The disk does not play along.
    #[error(
        "{0}: what is stopped cannot be known or changed ({1}): check the directory and the disk"
    )]
    Unusable(String, String),
}

/// What is stopped for one account.
#[derive(Clone, Debug)]
pub struct Stops {
    directory: PathBuf,
}

impl Stops {
    /// What is stopped at `locations`.
    pub fn at(locations: &Locations) -> Result<Self, StopError> {
        let state = locations.state.as_ref().ok_or(StopError::NoPlace)?;
        Ok(Self {
            directory: state.join("stops"),
        })
    }

    /// Whether a call of this agent in this session is stopped, and what is told of it.
    pub fn stop_of(&self, agent: &str, session: &str) -> Result<Option<Stop>, StopError> {
        if self.is_nothing_stopped()? {
            return Ok(None);
        }
        for scope in scopes(agent, session) {
            if let Some(found) = self.read(&scope)? {
                return Ok(Some(found.stop()));
            }
        }
        Ok(None)
    }

    /// The files whose being there stops a call of this agent in this session.
    pub fn files_for(&self, agent: &str, session: &str) -> Vec<PathBuf> {
        let files = scopes(agent, session);
        files.iter().map(|scope| self.path(scope)).collect()
    }

    /// Stops something. It is in force when this returns.
    pub fn stop(&self, stopped: &Stopped) -> Result<(), StopError> {
        let reason = stopped.reason.as_deref();
        let kept = Stopped {
            reason: reason.map(|reason| reason.chars().take(MAX_REASON).collect()),
            ..stopped.clone()
        };
        let path = self.path(&stopped.scope);
        self.changed(|| {
            make_private_directory(&self.directory)?;
            let text = serde_json::to_vec(&kept).map_err(io::Error::other)?;
            write_whole(&path, &text)
        })
    }

    /// Lets something go on; whether it was stopped.
    pub fn resume(&self, scope: &StopScope) -> Result<bool, StopError> {
        let path = self.path(scope);
        self.changed(|| {
            let was = match fs::remove_file(&path) {
                Ok(()) => true,
                Err(error) if is_missing(&error) => false,
                Err(error) => return Err(error),
            };
            // It stays where something else is stopped; the next call looks at what is in it.
            let _ = fs::remove_dir(&self.directory);
            Ok(was)
        })
    }

    /// All that is stopped, what says most first.
    pub fn all(&self) -> Result<Vec<Stopped>, StopError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(self.unusable(&error)),
        };
        let mut found: Vec<Stopped> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
            .take(MAX_LISTED)
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                read_file(&entry.path()).unwrap_or_else(|| unreadable(scope_of_file(&name)))
            })
            .collect();
        found.sort_by(|one, other| one.scope.cmp(&other.scope));
        Ok(found)
    }

    fn is_nothing_stopped(&self) -> Result<bool, StopError> {
        match fs::metadata(&self.directory) {
            Ok(_) => Ok(false),
            Err(error) if is_missing(&error) => Ok(true),
            // What is not known may be a stop.
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// One stop. A file that cannot be read is one, of which nothing is told.
    fn read(&self, scope: &StopScope) -> Result<Option<Stopped>, StopError> {
        let path = self.path(scope);
        match fs::symlink_metadata(&path) {
            Ok(_) => {
                let told =
                    read_file(&path).filter(|told| file_name(&told.scope) == file_name(scope));
                Ok(Some(told.unwrap_or_else(|| unreadable(scope.clone()))))
            }
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// Changes are made one after the other, so that none takes the directory from under another.
    fn changed<T>(&self, change: impl FnOnce() -> io::Result<T>) -> Result<T, StopError> {
        let _held = lock(&self.directory).map_err(|error| self.unusable(&error))?;
        change().map_err(|error| self.unusable(&error))
    }

    fn path(&self, scope: &StopScope) -> PathBuf {
        self.directory.join(file_name(scope))
    }

    fn unusable(&self, error: &io::Error) -> StopError {
        StopError::Unusable(self.directory.display().to_string(), plain_words(error))
    }
}

/// The name of the file that stops something.
fn file_name(scope: &StopScope) -> String {
    match scope {
        StopScope::All => "all.json".into(),
        StopScope::Agent(name) => format!("agent-{}.json", SessionId::new(name).file()),
        StopScope::Session(name) => format!("session-{}.json", SessionId::new(name).file()),
    }
}

fn scopes(agent: &str, session: &str) -> [StopScope; 3] {
    [
        StopScope::All,
        StopScope::Agent(agent.to_owned()),
        StopScope::Session(session.to_owned()),
    ]
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn read_file(path: &Path) -> Option<Stopped> {
    let bytes = read_bounded(path, MAX_FILE).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// What is stopped by a file of this name.
fn scope_of_file(name: &str) -> StopScope {
    let name = name.strip_suffix(".json").unwrap_or(name);
    match (name.strip_prefix("agent-"), name.strip_prefix("session-")) {
        (Some(agent), _) => StopScope::Agent(agent.to_owned()),
        (None, Some(session)) => StopScope::Session(session.to_owned()),
        (None, None) => StopScope::All,
    }
}

fn unreadable(scope: StopScope) -> Stopped {
    Stopped {
        scope,
        time: "nobody knows since when".into(),
        by: "nobody knows by whom".into(),
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(home: &Path) -> Stops {
        Stops {
            directory: home.join("stops"),
        }
    }

    fn stopped(scope: StopScope) -> Stopped {
        Stopped {
            scope,
            time: "2026-11-18T13:00:00Z".into(),
            by: "ann".into(),
            reason: Some("it looks odd".into()),
        }
    }

    #[test]
    fn a_stop_reaches_what_it_names_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let stops = stops(home.path());
        let is = |agent: &str, session: &str| stops.stop_of(agent, session).unwrap().is_some();
        assert!(!is("codex", "one"));
        stops
            .stop(&stopped(StopScope::Session("one".into())))
            .unwrap();
        assert!(is("codex", "one") && is("gemini", "one") && !is("codex", "two"));
        stops
            .stop(&stopped(StopScope::Agent("codex".into())))
            .unwrap();
        assert!(is("codex", "two") && !is("gemini", "two"));
        stops.stop(&stopped(StopScope::All)).unwrap();
        assert!(is("gemini", "two"));
        assert_eq!(stops.all().unwrap().len(), 3);
        assert!(stops.resume(&StopScope::All).unwrap());
        assert!(!stops.resume(&StopScope::All).unwrap());
        assert!(is("codex", "two") && !is("gemini", "two"));
        stops.resume(&StopScope::Agent("codex".into())).unwrap();
        stops.resume(&StopScope::Session("one".into())).unwrap();
        assert!(!is("codex", "one"));
        assert!(!home.path().join("stops").exists());
    }

    #[test]
    fn what_is_told_names_who_when_why_and_the_way_back() {
        let home = tempfile::tempdir().unwrap();
        let stops = stops(home.path());
        stops
            .stop(&stopped(StopScope::Session("a b/c".into())))
            .unwrap();
        let stop = stops.stop_of("codex", "a b/c").unwrap().unwrap();
        assert_eq!(stop.what, "the session a b/c");
        assert_eq!(stop.told, "(ann, 2026-11-18T13:00:00Z): it looks odd");
        assert_eq!(stop.resume, "holdpoint resume 'a b/c'");
    }

    #[test]
    fn a_damaged_file_still_stops() {
        let home = tempfile::tempdir().unwrap();
        let stops = stops(home.path());
        fs::create_dir(home.path().join("stops")).unwrap();
        for content in ["", "{", "{\"scope\":\"all\"}", &"x".repeat(100_000)] {
            fs::write(home.path().join("stops/session-one.json"), content).unwrap();
            assert!(stops.stop_of("codex", "one").unwrap().is_some());
            assert_eq!(
                stops.all().unwrap()[0].scope,
                StopScope::Session("one".into())
            );
        }
        // One that speaks of something else stops what its name says.
        let other = serde_json::to_vec(&stopped(StopScope::Session("two".into()))).unwrap();
        fs::write(home.path().join("stops/session-one.json"), other).unwrap();
        assert!(stops.stop_of("codex", "one").unwrap().is_some());
        assert!(stops.stop_of("codex", "two").unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nowhere_still_stops() {
        let home = tempfile::tempdir().unwrap();
        let stops = stops(home.path());
        fs::create_dir(home.path().join("stops")).unwrap();
        std::os::unix::fs::symlink("/nowhere", home.path().join("stops/all.json")).unwrap();
        assert!(stops.stop_of("codex", "one").unwrap().is_some());
    }
}
