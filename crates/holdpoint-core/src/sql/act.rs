//! What a statement does, before it is known where it stands.

use std::ops::Range;

use super::{Statement, StatementKind};

/// One thing a statement or client command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatementEffect {
    kind: StatementKind,
    object: Option<String>,
    runs: Option<String>,
    file: Option<String>,
}

impl StatementEffect {
    pub(super) fn new(kind: StatementKind) -> Self {
        Self {
            kind,
            object: None,
            runs: None,
            file: None,
        }
    }

    /// The same, about `object`.
    pub(super) fn on(self, object: Option<String>) -> Self {
        Self { object, ..self }
    }

    /// The same, running a command.
    pub(super) fn running(self, runs: Option<String>) -> Self {
        Self { runs, ..self }
    }

    /// The same, reading or writing a file.
    pub(super) fn touching(self, file: Option<String>) -> Self {
        Self { file, ..self }
    }

    /// The statement it is, at its place.
    pub(super) fn at(self, span: Range<usize>, stored: bool) -> Statement {
        let Self {
            kind,
            object,
            runs,
            file,
        } = self;
        Statement {
            kind,
            span,
            object,
            runs,
            file,
            stored,
        }
    }
}
