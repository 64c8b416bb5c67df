//! The stop button: what a person stops with it, and what is said to calls that wait then.

use holdpoint_core::text::escape_for_display;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;

/// The most characters of a name that are said.
const MAX_NAME: usize = 80;

/// What is stopped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopScope {
    /// Every agent of this account.
    All,
    /// Every session of an agent, as the record names it.
    Agent(String),
    /// One session.
    Session(String),
}

impl StopScope {
    /// Whether a call of this agent in this session is stopped by it.
    pub fn covers(&self, agent: &str, session: &str) -> bool {
        match self {
            StopScope::All => true,
            StopScope::Agent(name) => name == agent,
            StopScope::Session(name) => name == session,
        }
    }

    /// What is stopped, in words.
    pub fn words(&self) -> String {
        match self {
            StopScope::All => "every agent of this account".into(),
            StopScope::Agent(name) => format!("the agent {}", escape_for_display(name, MAX_NAME)),
            StopScope::Session(name) => {
                format!("the session {}", escape_for_display(name, MAX_NAME))
            }
        }
    }

    /// What a person types to let it go on.
    pub fn resume(&self) -> String {
        match self {
            StopScope::All => "holdpoint resume --all".into(),
            StopScope::Agent(name) => format!("holdpoint resume --agent={}", typed(name)),
            // A name may begin like a flag.
            StopScope::Session(name) if name.starts_with('-') => {
                format!("holdpoint resume -- {}", typed(name))
            }
            StopScope::Session(name) => format!("holdpoint resume {}", typed(name)),
        }
    }

    /// What a call that waits is answered when it is stopped.
    pub fn refusal(&self, reason: Option<&str>) -> Answer {
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        Answer::Comment {
            comment: format!("A person has stopped {}{why}", self.words()),
        }
    }
}

/// A name as a shell takes it for one word, whatever agents call their sessions.
fn typed(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_owned(),
        false => {
            let quoted = name.replace('\'', r"'\''");
            format!("'{}'", escape_for_display(&quoted, MAX_TYPED))
        }
    }
}

/// The most characters of a name that stand in a command to be typed: longer than agents' own. Beyond it `holdpoint resume` alone lets
/// the one thing go on that is stopped.
const MAX_TYPED: usize = 300;
