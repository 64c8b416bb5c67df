//! Which agents have made calls, where and when: by it a person's words about "the session" find the one they mean.
//!
//! A small file beside a session's state, written at its first call and touched at every other. It says nothing about what
//! is allowed, so whoever cannot write it goes on.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::sessions::{SessionId, Sessions};
use crate::store::{make_private_directory, private, read_bounded};

/// The longest such file that is read: a path, and two names. A longer one was not written by this program.
const MAX_SEEN: u64 = 64 << 10;

/// The most sessions that are listed, the latest first: nobody has as many, and each is a file to read.
const MAX_LISTED: usize = 500;

/// How long after its last call an agent counts as running: it may think, or wait for its user, for a while.
pub const RUNNING: Duration = Duration::from_secs(60 * 60);

/// An agent's session, and where it works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The session, as the agent names it.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// The directory it belongs in.
    pub directory: String,
    /// When it last made a call.
    #[serde(skip, default = "long_ago")]
    pub last: SystemTime,
}

fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH
}

impl Presence {
    /// Whether it works where somebody stands: in the same directory, above it, or in the same repository.
    pub fn is_at(&self, directory: &Path) -> bool {
        let own = Path::new(&self.directory);
        let root = |path: &Path| -> Option<std::path::PathBuf> {
            let mut above = path.ancestors();
            above
                .find(|one| one.join(".git").exists())
                .map(Path::to_owned)
        };
        directory.starts_with(own) || root(directory).is_some_and(|root| own.starts_with(root))
    }

    /// Whether it has made a call within this time.
    pub fn is_within(&self, time: Duration) -> bool {
        // A call of later than now, by a clock that was set back, is one of now.
        let age = SystemTime::now().duration_since(self.last);
        age.unwrap_or_default() <= time
    }
}

impl Sessions {
    /// An agent makes a call in a session.
    pub fn note_call(&self, id: &SessionId, agent: &str, directory: &str) -> io::Result<()> {
        let path = self.seen_file(id);
        let seen = Presence {
            session: id.name().to_owned(),
            agent: agent.to_owned(),
            directory: directory.to_owned(),
            last: long_ago(),
        };
        let text = serde_json::to_vec(&seen).map_err(io::Error::other)?;
        if let Ok(mut file) = File::options().read(true).write(true).open(&path) {
            let mut known = Vec::with_capacity(text.len());
            Read::by_ref(&mut file)
                .take(MAX_SEEN)
                .read_to_end(&mut known)?;
            if known == text {
                return file.set_modified(SystemTime::now());
            }
        }
        if let Some(directory) = path.parent() {
            make_private_directory(directory)?;
        }
        // Nobody waits for the disk: half of it is no session to whoever reads it, and the next call writes it again.
        let mut options = File::options();
        options.create(true).truncate(true).write(true);
        private(&mut options);
        options.open(&path)?.write_all(&text)
    }

    /// When an agent last made a call in a session, if it is known to have.
    pub fn last_call(&self, id: &SessionId) -> Option<SystemTime> {
        fs::metadata(self.seen_file(id)).ok()?.modified().ok()
    }

    /// The sessions of agents that made a call within a day, the latest first.
    pub fn present(&self) -> Vec<Presence> {
        let entries = fs::read_dir(self.directory()).into_iter().flatten();
        let mut found: Vec<(SystemTime, std::path::PathBuf)> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "seen"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .filter(|(last, _)| !crate::sessions::is_past(*last))
            .collect();
        found.sort_by(|one, other| other.cmp(one));
        found.truncate(MAX_LISTED);
        let read = found.into_iter().filter_map(|(last, path)| {
            let bytes = read_bounded(&path, MAX_SEEN).ok()?;
            let seen: Presence = serde_json::from_slice(&bytes).ok()?;
            Some(Presence { last, ..seen })
        });
        read.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locations::Locations;

    #[test]
    fn a_session_is_known_by_its_last_call() {
        let home = tempfile::tempdir().unwrap();
        let locations = Locations {
            state: Some(home.path().join("state")),
            ..Locations::of_this_machine()
        };
        let sessions = Sessions::at(&locations).unwrap();
        assert_eq!(sessions.present(), []);
        let note = |name: &str, directory: &str| {
            sessions
                .note_call(&SessionId::new(name), "claude-code", directory)
                .unwrap();
        };
        let back = |name: &str, seconds: u64| {
            let file = sessions.seen_file(&SessionId::new(name));
            let file = File::options().write(true).open(file).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds))
                .unwrap();
        };
        note("one", "/p");
        note("two of them", "/p/sub");
        note("old", "/p");
        back("one", 10);
        back("two of them", 5000);
        back("old", 25 * 60 * 60);
        let names = || -> Vec<String> {
            let present = sessions.present().into_iter();
            present.map(|one| one.session).collect()
        };
        assert_eq!(names(), ["one", "two of them"]);
        let two = &sessions.present()[1];
        assert!(!two.is_within(RUNNING) && two.is_within(RUNNING * 2));
        // It has moved, and has made a call now.
        note("two of them", "/q");
        assert_eq!(names(), ["two of them", "one"]);
        assert_eq!(sessions.present()[0].directory, "/q");
        note("one", "/p");
        assert_eq!(names(), ["one", "two of them"]);
    }

    #[test]
    fn a_session_is_where_somebody_stands_in_it_or_in_its_repository() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        for path in ["repo/.git", "repo/a", "repo/b", "plain/c"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        let of = |directory: &str| Presence {
            session: "s".into(),
            agent: "codex".into(),
            directory: at(directory).display().to_string(),
            last: SystemTime::now(),
        };
        assert!(of("repo/a").is_at(&at("repo/a")));
        assert!(of("repo").is_at(&at("repo/a")));
        assert!(of("repo/b").is_at(&at("repo/a")));
        assert!(!of("repo/b").is_at(&at("plain")));
        assert!(!of("plain/c").is_at(&at("plain")));
    }
}
