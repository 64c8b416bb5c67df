//! Under what a call is judged: who makes it and where, which policy and which session count.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdpoint_broker::Context;
use holdpoint_core::{Policy, SessionState};

use crate::error::EngineError;
use crate::workplace::real_directory;

/// The session of an agent that does not say.
pub const NO_SESSION: &str = "default";

/// The circumstances of a call.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// Who makes it.
    pub caller: Caller,
    /// The policy it comes under.
    pub policy: PolicySource,
    /// The session it comes under.
    pub session: SessionSource,
    /// The directory the agent belongs in. Where the call itself is made, it says.
    pub workspace: PathBuf,
    /// What the caller says besides; handed on and shown (J-54).
    pub circumstances: Context,
}

impl CallContext {
    /// The workspace as text, as calls are compared with it.
    pub(crate) fn workspace_text(&self) -> Result<&str, EngineError> {
        self.workspace.to_str().ok_or(EngineError::Directory)
    }
}

/// Who makes a call, as the record names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The agent, or the program that asks for it.
    pub agent: String,
    /// Its session, if it says.
    pub session: Option<String>,
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
    /// Whether any process of this user finds the same policy: the daemon judges by the files.
    pub(crate) fn is_known_to_all(&self) -> bool {
        matches!(self, PolicySource::Layers { .. })
    }
}

/// A compiled policy, the same one if it is the same value in memory.
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
    Given(SessionState),
}

/// The directory given, or this one: absolute, with links followed.
pub fn working_directory(given: Option<&Path>) -> Result<PathBuf, EngineError> {
    real_directory(given).map_err(|error| EngineError::NoDirectory(error.kind()))
}
