//! Session state on disk: one small file a session, written whole, forgotten when old.
//!
//! Many processes may change one session at once; each change is made under a lock on a file
//! beside the state, reads the newest state and replaces the file in one step. A reader needs no
//! lock. A state that cannot be read is an error, never an empty session: it may hold denials.

use std::fmt;
use std::fs;
use std::io;
#[cfg(any(feature = "pipeline", test))]
use std::path::Path;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use holdpoint_core::document;
use holdpoint_core::paths::WrittenFile;
use holdpoint_core::plan::OpenPlan;
use holdpoint_core::{SessionState, Timestamp, digest_of};

use crate::locations::Locations;
use crate::store::{Unread, lock, plain_words, read_bounded, write_whole};
use crate::written;
use holdpoint_core::text::redaction::Redactor;

/// A session is forgotten when it was not touched for this long.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The most sessions that are listed, the latest first: each is a file to read.
const MAX_LISTED: usize = 500;

/// The largest state that is read: some ten thousand rules. A larger one is an error, since what it denies is not known.
const MAX_STATE: u64 = 4 << 20;

/// The state without a plan whose time is over.
fn while_open(mut state: SessionState) -> SessionState {
    let now = Timestamp::from_clock(SystemTime::now());
    let lasts = |plan: &OpenPlan| Timestamp::parse(&plan.until).is_some_and(|until| now < until);
    state.plan = state.plan.filter(lasts);
    state
}

/// The name of a session, safe to use as a file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionId {
    name: String,
    file: String,
}

impl SessionId {
    /// The name of its file, without the ending.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Any text names a session; one that is no plain file name is stored under its digest.
    pub fn new(name: &str) -> Self {
        let plain = !name.is_empty()
            && name.len() <= 100
            && !name.starts_with('.')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let file = if plain {
            name.to_owned()
        } else {
            digest_of(name.as_bytes()).replace(':', "-")
        };
        Self {
            name: name.to_owned(),
            file,
        }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name.escape_debug())
    }
}

/// The sessions of one user.
#[derive(Clone, Debug)]
pub struct Sessions {
    directory: PathBuf,
}

/// Why a session's state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no place to keep it.
    #[error("no home directory is known, so no session can be kept: set HOME or XDG_STATE_HOME")]
    NoPlace,
    /// The state is not one.
    #[error("{0}: the session's state is damaged ({1}): remove the file to start the session anew")]
    Damaged(String, String),
    /// The disk does not play along.
    #[error("{0}: the session's state cannot be used ({1}): check the directory and the disk")]
    Unusable(String, String),
}

impl Sessions {
    /// The sessions kept at `locations`.
    pub fn at(locations: &Locations) -> Result<Self, SessionError> {
        let state = locations.state.as_ref().ok_or(SessionError::NoPlace)?;
        Ok(Self {
            directory: state.join("sessions"),
        })
    }

    /// The state of a session; empty for one that does not exist or is too old.
    pub fn load(&self, id: &SessionId) -> Result<SessionState, SessionError> {
        let path = self.path(id);
        let name = path.display().to_string();
        if fs::metadata(&path).is_ok_and(|found| is_old(&found)) {
            return Ok(SessionState::default());
        }
        match read_bounded(&path, MAX_STATE) {
            Ok(bytes) => document::read(&name, &bytes)
                .map(while_open)
                .map_err(|error| SessionError::Damaged(name, error.message())),
            Err(Unread::Missing) => Ok(SessionState::default()),
            Err(unread) => Err(SessionError::Unusable(name, unread.to_string())),
        }
    }

    /// Changes the state of a session; what `edit` returns comes back once the change is stored.
    pub fn change<T>(
        &self,
        id: &SessionId,
        edit: impl FnOnce(&mut SessionState) -> T,
    ) -> Result<T, SessionError> {
        let path = self.path(id);
        let failed = |error: io::Error| {
            SessionError::Unusable(path.display().to_string(), plain_words(&error))
        };
        let _held = lock(&path).map_err(failed)?;
        let mut state = self.load(id)?;
        let result = edit(&mut state);
        let text = serde_json::to_vec(&state).map_err(|error| failed(io::Error::other(error)))?;
        write_whole(&path, &text).map_err(failed)?;
        self.forget_old();
        Ok(result)
    }

    /// When the state of a session was last changed, if there is one.
    pub fn last_change(&self, id: &SessionId) -> Option<SystemTime> {
        fs::metadata(self.path(id)).ok()?.modified().ok()
    }

    /// Remembers files that a session writes, without the secrets in their names.
    pub fn remember_written(
        &self,
        id: &SessionId,
        files: &[WrittenFile],
        redactor: &Redactor,
    ) -> Result<(), SessionError> {
        let list = self.written_list(id);
        written::remember(&list, files, redactor).map_err(|error| {
            SessionError::Unusable(list.display().to_string(), plain_words(&error))
        })
    }

    /// Where sessions are kept.
    #[cfg(feature = "pipeline")]
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where it is kept who makes calls in a session.
    #[cfg(feature = "pipeline")]
    pub(crate) fn seen_file(&self, id: &SessionId) -> PathBuf {
        self.directory.join(format!("{}.seen", id.file))
    }

    /// Where a session's files are remembered.
    pub(crate) fn written_list(&self, id: &SessionId) -> PathBuf {
        self.directory.join(format!("{}.written", id.file))
    }

    /// Where it is remembered what a session has made and started.
    #[cfg(feature = "pipeline")]
    pub(crate) fn own_list(&self, id: &SessionId) -> PathBuf {
        self.directory.join(format!("{}.own", id.file))
    }

    /// The sessions that are kept, the newest first: each by the name of its file, when it was changed,
    /// and what it remembers.
    pub fn all(&self) -> Result<Vec<(String, SystemTime, SessionState)>, SessionError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let name = self.directory.display().to_string();
                return Err(SessionError::Unusable(name, plain_words(&error)));
            }
        };
        let mut files: Vec<(SystemTime, String)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let found = entry.metadata().ok().filter(|found| !is_old(found))?;
                Some((
                    found.modified().ok()?,
                    name.strip_suffix(".json")?.to_owned(),
                ))
            })
            .collect();
        files.sort_by(|one, other| other.cmp(one));
        files.truncate(MAX_LISTED);
        let listed = files.into_iter().map(|(changed, file)| {
            let id = SessionId {
                name: file.clone(),
                file: file.clone(),
            };
            Ok((file, changed, self.load(&id)?))
        });
        listed.collect()
    }

    /// Removes the files of sessions that are too old; a failure only leaves them for next time.
    fn forget_old(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return;
        };
        // Locks stay: one that is removed while it is held holds nobody off.
        let states = entries.flatten().filter(|entry| {
            entry.path().extension().is_some_and(|end| {
                end == "json"
                    || end == "written"
                    || end == "seen"
                    || end == "own"
                    || end.to_string_lossy().starts_with("draft-")
            })
        });
        for entry in states.take(10_000) {
            if entry
                .metadata()
                .is_ok_and(|found| found.is_file() && is_old(&found))
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn path(&self, id: &SessionId) -> PathBuf {
        self.directory.join(format!("{}.json", id.file))
    }
}

fn is_old(found: &fs::Metadata) -> bool {
    found.modified().is_ok_and(is_past)
}

/// Whether a session that was last touched then is forgotten.
pub(crate) fn is_past(touched: SystemTime) -> bool {
    let age = SystemTime::now().duration_since(touched);
    age.is_ok_and(|age| age > LIFETIME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn sessions(directory: &Path) -> Sessions {
        Sessions {
            directory: directory.join("sessions"),
        }
    }

    #[test]
    fn a_change_is_there_for_the_next_reader() {
        let home = tempfile::tempdir().unwrap();
        let (store, id) = (sessions(home.path()), SessionId::new("one"));
        assert_eq!(store.load(&id).unwrap(), SessionState::default());
        store
            .change(&id, |state| state.deny.push("rm *".into()))
            .unwrap();
        assert_eq!(store.load(&id).unwrap().deny, ["rm *"]);
        assert_eq!(store.load(&SessionId::new("two")).unwrap().deny.len(), 0);
    }

    #[test]
    fn changes_made_at_once_are_all_kept() {
        let home = tempfile::tempdir().unwrap();
        let (store, id) = (sessions(home.path()), SessionId::new("busy"));
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let (store, id) = (&store, &id);
                scope.spawn(move || {
                    for round in 0..25 {
                        store
                            .change(id, |state| state.allow.push(format!("{worker}-{round}")))
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(store.load(&id).unwrap().allow.len(), 200);
    }

    #[test]
    fn an_old_session_is_forgotten_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let (store, id) = (sessions(home.path()), SessionId::new("old"));
        store
            .change(&id, |state| state.allow.push("*".into()))
            .unwrap();
        let long_ago = SystemTime::now() - LIFETIME - Duration::from_secs(60);
        File::options()
            .write(true)
            .open(store.path(&id))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        assert_eq!(store.load(&id).unwrap(), SessionState::default());
        store.change(&SessionId::new("new"), |_| ()).unwrap();
        assert!(!store.path(&id).exists());
    }

    #[test]
    fn a_damaged_state_is_an_error_not_an_empty_session() {
        let home = tempfile::tempdir().unwrap();
        let (store, id) = (sessions(home.path()), SessionId::new("torn"));
        store.change(&id, |_| ()).unwrap();
        fs::write(store.path(&id), b"{\"deny\":[\"rm").unwrap();
        assert!(matches!(store.load(&id), Err(SessionError::Damaged(..))));
    }

    #[test]
    fn any_text_names_a_session_without_leaving_the_directory() {
        for name in [
            "../../etc/passwd",
            "",
            ".hidden",
            "a/b",
            "x\0y",
            &"n".repeat(500),
        ] {
            let id = SessionId::new(name);
            assert!(id.file.starts_with("sha256-"), "{name}");
        }
        assert_eq!(SessionId::new("53c97272-aa").file, "53c97272-aa");
    }
}
