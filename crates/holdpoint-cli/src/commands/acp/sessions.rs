//! The sessions of an agent and where each belongs: what the editor said when it opened the session.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use holdpoint_mcp::jsonrpc::{Id, Message};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most sessions that are known at once; of more the oldest is forgotten, and refused.
const MAX_SESSIONS: usize = 1024;

/// A session.
#[derive(Clone, Debug)]
pub(super) struct EditorSession {
    pub(super) directory: PathBuf,
    /// How many messages of the user it has had.
    pub(super) turn: u64,
    /// Whether the editor has cancelled what the session does, until the next of them.
    cancelled: bool,
}

/// The sessions of one agent.
#[derive(Default)]
pub(super) struct EditorSessions(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Those the agent has yet to name.
    opening: VecDeque<(Id, PathBuf)>,
    named: VecDeque<(String, EditorSession)>,
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

impl EditorSessions {
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
            for (_, opened) in named.filter(|(name, _)| Some(name) == session.as_ref()) {
                opened.turn += u64::from(prompts);
                opened.cancelled = !prompts;
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

    /// What is known of a session, if the editor opened it.
    pub(super) fn get(&self, session: &str) -> Option<EditorSession> {
        let known = self.known();
        let found = known.named.iter().find(|(name, _)| name == session);
        found.map(|(_, opened)| opened.clone())
    }

    /// Whether the editor has cancelled what a session does.
    pub(super) fn is_cancelled(&self, session: &str) -> bool {
        self.get(session).is_some_and(|opened| opened.cancelled)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn name(&mut self, session: String, directory: impl AsRef<Path>) {
        self.named.retain(|(name, _)| *name != session);
        let directory = directory.as_ref().to_owned();
        let opened = EditorSession {
            directory,
            turn: 0,
            cancelled: false,
        };
        self.named.push_back((session, opened));
        if self.named.len() > MAX_SESSIONS {
            self.named.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hears(sessions: &EditorSessions, editor: &str, agent: &str) {
        sessions.editor_says(&Message::read(editor).unwrap());
        sessions.agent_answers(&Message::read(agent).unwrap());
    }

    #[test]
    fn a_session_belongs_where_the_editor_opened_it() {
        let sessions = EditorSessions::default();
        hears(
            &sessions,
            r#"{"id":1,"method":"session/new","params":{"cwd":"/a","mcpServers":[]}}"#,
            r#"{"id":1,"result":{"sessionId":"s"}}"#,
        );
        hears(
            &sessions,
            r#"{"id":2,"method":"session/load","params":{"cwd":"/b","sessionId":"old"}}"#,
            r#"{"id":2,"result":null}"#,
        );
        hears(
            &sessions,
            r#"{"id":3,"method":"session/prompt","params":{"sessionId":"s"}}"#,
            r#"{"id":9,"result":{"sessionId":"made up"}}"#,
        );
        let opened = sessions.get("s").unwrap();
        assert_eq!((opened.directory.to_str(), opened.turn), (Some("/a"), 1));
        assert_eq!(sessions.get("old").unwrap().directory.to_str(), Some("/b"));
        assert!(sessions.get("made up").is_none());
    }

    #[test]
    fn what_is_cancelled_is_so_until_the_user_speaks_again() {
        let sessions = EditorSessions::default();
        hears(
            &sessions,
            r#"{"id":1,"method":"session/load","params":{"cwd":"/a","sessionId":"s"}}"#,
            r#"{"id":1,"result":null}"#,
        );
        let says = |method: &str, session: &str| {
            let line = format!(r#"{{"method":"{method}","params":{{"sessionId":"{session}"}}}}"#);
            sessions.editor_says(&Message::read(&line).unwrap());
        };
        says("session/cancel", "another");
        assert!(!sessions.is_cancelled("s"));
        says("session/cancel", "s");
        assert!(sessions.is_cancelled("s") && !sessions.is_cancelled("another"));
        says("session/prompt", "s");
        assert!(!sessions.is_cancelled("s"));
    }

    #[test]
    fn a_directory_that_could_be_anywhere_is_none() {
        let sessions = EditorSessions::default();
        hears(
            &sessions,
            r#"{"id":1,"method":"session/new","params":{"cwd":"here"}}"#,
            r#"{"id":1,"result":{"sessionId":"s"}}"#,
        );
        assert!(sessions.get("s").is_none());
    }
}
