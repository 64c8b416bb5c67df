//! What of a call could not be read, and whether that refuses it.

use crate::shell::{Refusal, RefusalReason};

/// Why a call cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The command of a shell tool is not text (J-18).
    Malformed(&'static str),
    /// The command is longer than anything a person would approve.
    Oversize(usize),
    /// The line runs more commands than [`MAX_COMMANDS`].
    TooMany,
    /// The call names more files than that.
    TooManyPaths(usize),
    /// A path has more components than any that is used.
    PathTooDeep,
    /// The shell reader gives up on it.
    TooComplex,
    /// The shell reader refuses it.
    Syntax(Refusal),
}

impl Unreadable {
    /// Whether there is too much of it, which is refused whatever the rest of the call says.
    pub(super) fn refuses(&self) -> bool {
        match self {
            Unreadable::Oversize(_)
            | Unreadable::TooMany
            | Unreadable::TooManyPaths(_)
            | Unreadable::PathTooDeep
            | Unreadable::TooComplex => true,
            Unreadable::Malformed(_) | Unreadable::Syntax(_) => false,
        }
    }

    pub(super) fn from_refusal(refusal: Refusal) -> Self {
        let gives_up = matches!(
            refusal.reason,
            RefusalReason::TooDeep | RefusalReason::TooLong | RefusalReason::TooMuchWork
        );
        if gives_up {
            Unreadable::TooComplex
        } else {
            Unreadable::Syntax(refusal)
        }
    }
}
