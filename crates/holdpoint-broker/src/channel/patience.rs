//! How long a channel still waits: until the deadline, and as long as anybody wants to know.

use std::thread;
use std::time::{Duration, Instant};

use super::{ChannelError, Waiting};

/// A [`Waiting`] that has begun: from here on the clock runs, whatever the channel does.
pub struct Patience<'a> {
    until: Option<Instant>,
    cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Patience<'a> {
    /// Begins to wait.
    pub fn begin(waiting: &Waiting<'a>) -> Self {
        Self {
            // A limit beyond what the clock can show is none.
            until: waiting
                .limit
                .and_then(|limit| Instant::now().checked_add(limit)),
            cancelled: waiting.cancelled,
        }
    }

    /// The same, but no longer than `most` from now.
    pub fn at_most(&self, most: Duration) -> Self {
        let until = Instant::now().checked_add(most);
        Self {
            until: match (self.until, until) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
            cancelled: self.cancelled,
        }
    }

    /// The time that is left, none if there is no limit.
    pub fn left(&self) -> Result<Option<Duration>, ChannelError> {
        if (self.cancelled)() {
            return Err(ChannelError::Cancelled);
        }
        match self.until {
            None => Ok(None),
            Some(until) => match until.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => Ok(Some(left)),
                Some(_) | None => Err(ChannelError::Timeout),
            },
        }
    }

    /// How long to wait in one go, so that a cancellation is noticed soon.
    pub fn slice(&self) -> Result<Duration, ChannelError> {
        Ok(self.left()?.map_or(SLICE, |left| left.min(SLICE)))
    }

    /// Waits so long, unless the time is up before.
    pub fn pause(&self, time: Duration) -> Result<(), ChannelError> {
        let end = Instant::now().checked_add(time);
        loop {
            let rest = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            if rest.is_zero() {
                return Ok(());
            }
            thread::sleep(self.slice()?.min(rest));
        }
    }
}

const SLICE: Duration = Duration::from_millis(100);
