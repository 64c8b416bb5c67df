//! Why a call did not get through the pipeline.

use std::io::ErrorKind;
use std::sync::Arc;

use holdpoint_broker::Problem;
use holdpoint_core::{CallError, Verdict};

use crate::containing::NotContained;
use crate::inspecting::InspectError;
use crate::load::LoadError;
use crate::recording::RecordError;
use crate::sessions::SessionError;
use crate::stops::StopError;

/// Why a call did not get through the pipeline. Whatever it is, the call does not run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no policy to judge it by.
    #[error("{0}")]
    Policy(Arc<LoadError>),
    /// The policy given with it is larger than one may be.
    #[error("config: the policy has {size} bytes; a policy has at most {most}: name a file")]
    PolicyTooLarge {
        /// Its size.
        size: usize,
        /// The most it may have.
        most: usize,
    },
    /// What its session remembers cannot be used.
    #[error("{0}")]
    Session(Arc<SessionError>),
    /// Whether a person has stopped it cannot be known.
    #[error("{0}")]
    Stop(Arc<StopError>),
    /// There is no place for a record.
    #[error("{0}")]
    NoRecord(Arc<RecordError>),
    /// It was judged, and that could not be put on record. The refusal is, as well as it can be.
    #[error("{error}")]
    Unrecorded {
        /// Why not.
        error: Arc<RecordError>,
        /// What had been decided.
        verdict: Verdict,
    },
    /// A person was to be asked, or had been, and something failed on the way to the call's release.
    #[error("{problem}")]
    NotHeld {
        /// What failed.
        problem: Problem,
        /// What had been decided.
        verdict: Verdict,
    },
    /// It was to run inside the sandbox, and the way there could not be made.
    #[error("it could not be contained: {0}")]
    NotContained(Arc<NotContained>),
    /// A text could not be let on to the model.
    #[error("{0}")]
    NotInspected(Arc<InspectError>),
    /// It is no call.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The name of the directory is no text.
    #[error("the working directory is not text: work in a directory with a plain name")]
    Directory,
    /// The directory cannot be looked at.
    #[error("the working directory cannot be used ({0}): name one that can be looked at")]
    NoDirectory(ErrorKind),
}

impl EngineError {
    /// What had been decided before it failed.
    pub fn decided(&self) -> Option<Verdict> {
        match self {
            EngineError::Unrecorded { verdict, .. } | EngineError::NotHeld { verdict, .. } => {
                Some(*verdict)
            }
            EngineError::NotContained(_) => Some(Verdict::Contain),
            EngineError::Policy(_)
            | EngineError::PolicyTooLarge { .. }
            | EngineError::Session(_)
            | EngineError::Stop(_)
            | EngineError::NoRecord(_)
            | EngineError::NotInspected(_)
            | EngineError::Call(_)
            | EngineError::Directory
            | EngineError::NoDirectory(_) => None,
        }
    }

    /// Whether the refusal that follows is on record, as well as it can be.
    pub fn is_on_record(&self) -> bool {
        matches!(self, EngineError::Unrecorded { .. })
    }
}

impl From<SessionError> for EngineError {
    fn from(error: SessionError) -> Self {
        EngineError::Session(Arc::new(error))
    }
}

impl From<StopError> for EngineError {
    fn from(error: StopError) -> Self {
        EngineError::Stop(Arc::new(error))
    }
}

impl From<RecordError> for EngineError {
    fn from(error: RecordError) -> Self {
        EngineError::NoRecord(Arc::new(error))
    }
}

impl From<InspectError> for EngineError {
    fn from(error: InspectError) -> Self {
        EngineError::NotInspected(Arc::new(error))
    }
}

impl From<LoadError> for EngineError {
    fn from(error: LoadError) -> Self {
        EngineError::Policy(Arc::new(error))
    }
}
