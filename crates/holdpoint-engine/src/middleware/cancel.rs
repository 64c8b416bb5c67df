//! A handle that calls a call off: whoever waits for a person stops waiting, and nothing runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

/// Calls off the calls it is handed to. A clone is the same handle.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    state: Arc<Mutex<State>>,
    /// A handle that calls this one off, too.
    parent: Option<Arc<Cancel>>,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    wakers: Vec<Waker>,
}

impl Cancel {
    /// A handle nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls off. Doing so twice is harmless.
    pub fn cancel(&self) {
        let wakers = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.cancelled = true;
            std::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether the call is off.
    pub fn is_cancelled(&self) -> bool {
        let own = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        own.cancelled
            || self
                .parent
                .as_ref()
                .is_some_and(|parent| parent.is_cancelled())
    }

    /// A handle for one call: whoever calls it off calls off no other.
    pub(super) fn for_one_call(&self) -> Self {
        Self {
            state: Arc::default(),
            parent: Some(Arc::new(self.clone())),
        }
    }

    /// Whether the call is off; if not, whom to wake when it is.
    pub(super) fn is_cancelled_or_wakes(&self, waker: &Waker) -> bool {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.cancelled {
                return true;
            }
            if !state.wakers.iter().any(|known| known.will_wake(waker)) {
                state.wakers.push(waker.clone());
            }
        }
        self.parent
            .as_ref()
            .is_some_and(|parent| parent.is_cancelled_or_wakes(waker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_off_with_its_handle_and_by_itself() {
        let all = Cancel::new();
        let (one, other) = (all.for_one_call(), all.for_one_call());
        one.cancel();
        assert!(one.is_cancelled() && !other.is_cancelled() && !all.is_cancelled());
        all.clone().cancel();
        assert!(other.is_cancelled());
    }
}
