//! How the program ends.

use holdpoint_core::text::Action;
use holdpoint_engine::Verdict;

/// Every way to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; for a judgement, allow or notify; for a text, pass.
    Fine = 0,
    /// Something could not be read or done; nothing is allowed by it.
    Error = 1,
    /// Deny; for a text, quarantine or block.
    Denied = 2,
    /// Ask or review; for a text, annotate.
    Held = 3,
    /// The ledger is not as it was written.
    Tampered = 4,
    /// A file or the ledger could not be used, where 1 says that something in it does not hold.
    Unusable = 5,
    /// Somebody pressed Ctrl-C, as shells count it.
    Interrupted = 130,
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow | Verdict::Notify => Exit::Fine,
            // Whoever does not know the word must not run it as it is.
            Verdict::Contain | Verdict::Ask | Verdict::Review => Exit::Held,
            Verdict::Deny => Exit::Denied,
        }
    }
}

impl From<Action> for Exit {
    fn from(action: Action) -> Self {
        match action {
            Action::Pass => Exit::Fine,
            Action::Annotate => Exit::Held,
            Action::Quarantine | Action::Block => Exit::Denied,
        }
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit as u8
    }
}
