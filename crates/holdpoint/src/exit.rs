//! How the program ends.

use std::process::ExitCode;

use holdpoint::Verdict;

/// Every way to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; for a judgement, allow or notify.
    Fine = 0,
    /// Something could not be read or done; nothing is allowed by it.
    Error = 1,
    /// Deny.
    Denied = 2,
    /// Ask or review.
    Held = 3,
    /// The ledger is not as it was written.
    Tampered = 4,
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow | Verdict::Notify => Exit::Fine,
            Verdict::Ask | Verdict::Review => Exit::Held,
            Verdict::Deny => Exit::Denied,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
