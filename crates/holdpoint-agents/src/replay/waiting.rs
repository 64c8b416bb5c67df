//! Calls that wait for word of what became of them.
//!
//! A result stands some lines behind its call. So the last calls are kept back, few enough that a
//! transcript of any length takes little room.

use std::collections::VecDeque;

use super::{Outcome, Recorded};

/// The most calls that wait for their outcome: more than any agent runs beside each other. The oldest is then handed
/// over without one.
const MAX_WAITING: usize = 256;

/// The most bytes of lines they may stand for, so that memory stays small whatever a transcript holds.
const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    calls: VecDeque<(Recorded, usize)>,
    bytes: usize,
}

impl Waiting {
    /// Adds a call from a line of so many bytes.
    pub(crate) fn add(&mut self, call: Recorded, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.calls.push_back((call, bytes));
    }

    /// Says what became of the latest call with this id.
    pub(crate) fn tell(&mut self, id: &str, outcome: Outcome) {
        let called = |(call, _): &&mut (Recorded, usize)| call.id.as_deref() == Some(id);
        if let Some((call, _)) = self.calls.iter_mut().rev().find(called) {
            call.outcome = call.outcome.max(Some(outcome));
        }
    }

    /// The first call, if there are too many.
    pub(crate) fn overdue(&mut self) -> Option<Recorded> {
        if self.calls.len() > MAX_WAITING || self.bytes > MAX_BYTES {
            self.first()
        } else {
            None
        }
    }

    /// The first call.
    pub(crate) fn first(&mut self) -> Option<Recorded> {
        let (call, bytes) = self.calls.pop_front()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(call)
    }
}
