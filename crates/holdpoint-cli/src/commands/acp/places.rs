//! Where each session of an agent belongs: what the editor said when it opened the session.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::{Id, Message};

/// The most sessions that are known at once; of more the oldest is forgotten, and refused.
const MAX_SESSIONS: usize = 1024;

/// A session.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    /// How many messages of the user it has had.
    pub(super) turn: u64,
    /// Whether the editor has cancelled what the session does, until the next of them.
    cancelled: bool,
}

/// The sessions of one agent.
#[derive(Default)]
pub(super) struct Places(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Those the agent has yet to name.
    opening: VecDeque<(Id, PathBuf)>,
    named: VecDeque<(String, Place)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct About {
    session_id: Option<String>,
    cwd: Option<PathBuf>,
}

impl About {
    fn read(raw: Option<&RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default()
    }
}

impl Places {
    /// Hears what the editor asks of the agent.
    pub(super) fn editor_says(&self, message: &Message<'_>) {
        let Some(method) = &message.method else {
            return;
        };
        if !matches!(
            method.as_ref(),
            "session/new"
                | "session/load"
                | "session/resume"
                | "session/fork"
                | "session/prompt"
                | "session/cancel"
        ) {
            return;
        }
        let about = About::read(message.params);
        let mut known = self.known();
        let prompts = method == "session/prompt";
        if prompts || method == "session/cancel" {
            let session = about.session_id;
            let named = known.named.iter_mut();
            for (_, place) in named.filter(|(name, _)| Some(name) == session.as_ref()) {
                place.turn += u64::from(prompts);
                place.cancelled = !prompts;
            }
            return;
        }
        let Some(directory) = about.cwd.filter(|path| path.is_absolute()) else {
            return;
        };
        // A fork belongs to the session that comes of it, not to the one it comes from.
        match about.session_id {
            Some(session) if method != "session/fork" => known.name(session, directory),
            Some(_) | None => {
                if let Some(id) = message.id() {
                    known.opening.retain(|(opening, _)| *opening != id);
                    known.opening.push_back((id, directory));
                    if known.opening.len() > MAX_SESSIONS {
                        known.opening.pop_front();
                    }
                }
            }
        }
    }

    /// Hears what the agent answers.
    pub(super) fn agent_answers(&self, message: &Message<'_>) {
        let mut known = self.known();
        if known.opening.is_empty() {
            return;
        }
        let Some(id) = message.id() else {
            return;
        };
        let Some(at) = known.opening.iter().position(|(opening, _)| *opening == id) else {
            return;
        };
        if let Some((_, directory)) = known.opening.remove(at)
            && let Some(session) = About::read(message.result).session_id
        {
            known.name(session, directory);
        }
    }

    /// The place of a session, if the editor opened it.
    pub(super) fn get(&self, session: &str) -> Option<Place> {
        let known = self.known();
        let found = known.named.iter().find(|(name, _)| name == session);
        found.map(|(_, place)| place.clone())
    }

    /// Whether the editor has cancelled what a session does.
    pub(super) fn is_cancelled(&self, session: &str) -> bool {
        self.get(session).is_some_and(|place| place.cancelled)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn name(&mut self, session: String, directory: impl AsRef<Path>) {
        self.named.retain(|(name, _)| *name != session);
        let directory = directory.as_ref().to_owned();
        let place = Place {
            directory,
            turn: 0,
            cancelled: false,
        };
        self.named.push_back((session, place));
        if self.named.len() > MAX_SESSIONS {
            self.named.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(places: &Places, editor: &str, agent: &str) {
        places.editor_says(&Message::read(editor).unwrap());
        places.agent_answers(&Message::read(agent).unwrap());
    }

    #[test]
    fn a_session_belongs_where_the_editor_opened_it() {
        let places = Places::default();
        told(
            &places,
            r#"{"id":1,"method":"session/new","params":{"cwd":"/a","mcpServers":[]}}"#,
            r#"{"id":1,"result":{"sessionId":"s"}}"#,
        );
        told(
            &places,
            r#"{"id":2,"method":"session/load","params":{"cwd":"/b","sessionId":"old"}}"#,
            r#"{"id":2,"result":null}"#,
        );
        told(
            &places,
            r#"{"id":3,"method":"session/prompt","params":{"sessionId":"s"}}"#,
            r#"{"id":9,"result":{"sessionId":"made up"}}"#,
        );
        let place = places.get("s").unwrap();
        assert_eq!((place.directory.to_str(), place.turn), (Some("/a"), 1));
        assert_eq!(places.get("old").unwrap().directory.to_str(), Some("/b"));
        assert!(places.get("made up").is_none());
    }

    #[test]
    fn what_is_cancelled_is_so_until_the_user_speaks_again() {
        let places = Places::default();
        told(
            &places,
            r#"{"id":1,"method":"session/load","params":{"cwd":"/a","sessionId":"s"}}"#,
            r#"{"id":1,"result":null}"#,
        );
        let says = |method: &str, session: &str| {
            let line = format!(r#"{{"method":"{method}","params":{{"sessionId":"{session}"}}}}"#);
            places.editor_says(&Message::read(&line).unwrap());
        };
        says("session/cancel", "another");
        assert!(!places.is_cancelled("s"));
        says("session/cancel", "s");
        assert!(places.is_cancelled("s") && !places.is_cancelled("another"));
        says("session/prompt", "s");
        assert!(!places.is_cancelled("s"));
    }

    #[test]
    fn a_directory_that_could_be_anywhere_is_none() {
        let places = Places::default();
        told(
            &places,
            r#"{"id":1,"method":"session/new","params":{"cwd":"here"}}"#,
            r#"{"id":1,"result":{"sessionId":"s"}}"#,
        );
        assert!(places.get("s").is_none());
    }
}
