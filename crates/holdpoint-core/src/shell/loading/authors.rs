//! Who wrote a file that is loaded: the project, the agent, or somebody nobody knows.

use crate::paths::{Surroundings, Tracking, Written};

/// Whose words a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// The agent's, in a file the project had before.
    AgentChanged,
    /// The agent's, in a file of its own.
    AgentNew,
    /// The agent's, where nobody knows what the project had.
    AgentUnplaced,
    /// Nobody knows.
    Unknown,
    /// The person's.
    Person,
}

impl Author {
    /// Whether what cannot be read is asked about.
    pub(super) fn is_agent(self) -> bool {
        match self {
            Author::AgentChanged | Author::AgentNew | Author::AgentUnplaced => true,
            Author::Unknown | Author::Person => false,
        }
    }
}

/// Whose words a file holds.
pub(super) fn author(
    around: &Surroundings<'_>,
    written: &Written,
    in_line: &[String],
    real: &str,
) -> Author {
    author_by(around.lookup.tracking(real), written, in_line, real)
}

/// Whose words a file holds, by how it stands to its repository.
pub(super) fn author_by(
    tracking: Tracking,
    written: &Written,
    in_line: &[String],
    real: &str,
) -> Author {
    let session = written.holds(real)
        || (tracking == Tracking::NoRepository && written.holds_around(real))
        || in_line.iter().any(|path| path == real)
        || (written.more && tracking == Tracking::NoRepository);
    match (tracking, session) {
        // The session may have written it and put it into the repository.
        (Tracking::Committed, false) if written.more => Author::Unknown,
        (Tracking::Committed, false) => Author::Person,
        (Tracking::Committed | Tracking::Changed, _) => Author::AgentChanged,
        (Tracking::Untracked, _) => Author::AgentNew,
        (Tracking::NoRepository, true) => Author::AgentUnplaced,
        (Tracking::NoRepository, false) => Author::Unknown,
    }
}
