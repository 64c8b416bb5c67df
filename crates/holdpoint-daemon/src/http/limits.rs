//! How often somebody may try. Time comes as an argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many wrong attempts to sign in there may be within [`WINDOW`], from everybody together: more than people
/// need, and too few to guess. Then nobody is let in until it has passed.
const MAX_FAILURES: usize = 10;
const WINDOW: Duration = Duration::from_secs(60);

/// How long the first wrong attempt is kept waiting; each further one twice as long as the last.
const FIRST_DELAY: Duration = Duration::from_millis(50);
const MAX_DELAY: Duration = Duration::from_secs(3);

/// The wrong attempts of late.
#[derive(Debug, Default)]
pub(super) struct Failures {
    at: VecDeque<Instant>,
}

impl Failures {
    /// How long nobody may try; none if somebody may.
    pub(super) fn shut(&mut self, now: Instant) -> Option<Duration> {
        while let Some(first) = self.at.front()
            && now.duration_since(*first) >= WINDOW
        {
            self.at.pop_front();
        }
        if self.at.len() < MAX_FAILURES {
            return None;
        }
        let first = self.at.front()?;
        Some(WINDOW.saturating_sub(now.duration_since(*first)))
    }

    /// Counts a wrong attempt; it is answered after the time that comes back.
    pub(super) fn count(&mut self, now: Instant) -> Duration {
        let before = u32::try_from(self.at.len()).unwrap_or(u32::MAX);
        self.at.push_back(now);
        let delay = 2_u32.saturating_pow(before);
        FIRST_DELAY.saturating_mul(delay).min(MAX_DELAY)
    }
}

/// So many requests at once, and one more each [`EVERY`].
const BURST: u32 = 200;
const EVERY: Duration = Duration::from_millis(20);

/// What one session may still send.
#[derive(Debug)]
pub(super) struct Allowance {
    /// When all of it would be there again.
    whole_at: Instant,
}

impl Allowance {
    pub(super) fn whole(now: Instant) -> Self {
        Self { whole_at: now }
    }

    /// Takes one; how long to wait, if there is none.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let next = self.whole_at.max(now) + EVERY;
        let over = next
            .duration_since(now)
            .saturating_sub(EVERY.saturating_mul(BURST));
        if over.is_zero() {
            self.whole_at = next;
            return Ok(());
        }
        Err(over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_wrong_attempts_shut_the_door_for_a_minute() {
        let start = Instant::now();
        let mut failures = Failures::default();
        let mut last = Duration::ZERO;
        for _ in 0..MAX_FAILURES {
            assert_eq!(failures.shut(start), None);
            let delay = failures.count(start);
            assert!(delay >= last && delay <= MAX_DELAY);
            last = delay;
        }
        assert_eq!(failures.shut(start), Some(WINDOW));
        assert_eq!(failures.shut(start + WINDOW), None);
        assert_eq!(failures.count(start + WINDOW), FIRST_DELAY);
    }

    #[test]
    fn a_burst_is_followed_by_a_steady_pace() {
        let start = Instant::now();
        let mut allowance = Allowance::whole(start);
        for _ in 0..BURST {
            assert_eq!(allowance.take(start), Ok(()));
        }
        assert_eq!(allowance.take(start), Err(EVERY));
        assert_eq!(allowance.take(start + EVERY), Ok(()));
        assert!(allowance.take(start + EVERY).is_err());
        let later = start + Duration::from_secs(3600);
        let taken = (0..1000).filter(|_| allowance.take(later).is_ok()).count();
        assert_eq!(taken, 200);
    }
}
