//! Under what a call is judged: who makes it and where, which policy and which session count.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdpoint_broker::{CallContext, Context};
use holdpoint_core::{Policy, SessionState, ToolCall};

use crate::error::EngineError;
use crate::workplace::real_directory;

/// The session of an agent that does not say.
pub const NO_SESSION: &str = "default";

/// Who makes a call, where they belong, and what their calls come under.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The agent, or the program that asks for it, as the record names it.
    pub agent: String,
    /// Its session as the record names it, if it says.
    pub session_name: Option<String>,
    /// The policy its calls come under.
    pub policy: PolicySource,
    /// The session they come under.
    pub session: SessionSource,
    /// The directory it belongs in. Where a call is made, the call says.
    pub workspace: PathBuf,
    /// Whether it can have a command run inside the sandbox instead of as it is. Where it cannot, what would be contained
    /// is asked about.
    pub can_contain: bool,
    /// What it says besides; handed on and shown (J-54).
    pub circumstances: Context,
}

impl Caller {
    /// The workspace as text, which paths in calls are compared with.
    pub(crate) fn workspace_text(&self) -> Result<&str, EngineError> {
        self.workspace.to_str().ok_or(EngineError::Directory)
    }

    /// The session's name.
    pub(crate) fn session(&self) -> &str {
        match (&self.session, &self.session_name) {
            (SessionSource::Kept(name), _) | (SessionSource::Given(_), Some(name)) => name,
            (SessionSource::Given(_), None) => NO_SESSION,
        }
    }

    /// A call of theirs, as whoever holds it hears of it.
    pub(crate) fn calling(&self, call: &ToolCall) -> Result<CallContext, EngineError> {
        let workspace = self.workspace_text()?.to_owned();
        Ok(CallContext {
            agent: self.agent.clone(),
            session: self.session().to_owned(),
            tool: call.tool().to_owned(),
            input: call.input().clone(),
            directory: call.cwd().unwrap_or(&workspace).to_owned(),
            workspace,
            config: match &self.policy {
                PolicySource::Layers { named, .. } => {
                    let named = named.as_ref().and_then(|path| path.to_str());
                    named.map(str::to_owned)
                }
                PolicySource::File(_)
                | PolicySource::Inline(_)
                | PolicySource::Profile(_)
                | PolicySource::Given(_) => None,
            },
            context: self.circumstances.clone(),
        })
    }
}

/// Where the policy is that a call comes under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PolicySource {
    /// The layers in force for a workspace and the directory its agent stands in.
    Layers {
        /// Where the agent belongs.
        workspace: PathBuf,
        /// Where it stands.
        directory: PathBuf,
        /// A file named in place of the user's and the project's.
        named: Option<PathBuf>,
    },
    /// One file.
    File(PathBuf),
    /// A policy given with the call.
    Inline(String),
    /// A ready-made policy.
    Profile(String),
    /// A policy the caller has compiled.
    Given(GivenPolicy),
}

impl PolicySource {
    /// The policy of a call that came from elsewhere: by the files, wherever it is judged.
    pub fn of_call(asked: &CallContext) -> Self {
        PolicySource::Layers {
            workspace: PathBuf::from(&asked.workspace),
            directory: PathBuf::from(&asked.directory),
            named: asked.config.as_ref().map(PathBuf::from),
        }
    }

    /// Whether any process of this user finds the same policy: the daemon judges by the files.
    pub(crate) fn is_known_to_all(&self) -> bool {
        matches!(self, PolicySource::Layers { .. })
    }
}

/// A compiled policy; the same one if it is the same value in memory.
#[derive(Clone, Debug)]
pub struct GivenPolicy(pub Arc<Policy>);

impl PartialEq for GivenPolicy {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GivenPolicy {}

impl Hash for GivenPolicy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// Where the session is that a call comes under.
#[derive(Clone, Debug)]
pub enum SessionSource {
    /// A session kept on disk, by its name.
    Kept(String),
    /// A state given with the call, which nobody keeps.
    Given(Box<SessionState>),
}

/// The directory given, or this one: absolute, with links followed.
pub fn working_directory(given: Option<&Path>) -> Result<PathBuf, EngineError> {
    real_directory(given).map_err(|error| EngineError::NoDirectory(error.kind()))
}
