//! The places for connections. There are so many; whoever comes when all are taken gets that of the connection which was
//! answered least, so that those who are slow, or say nothing, keep nobody else out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use std::pin::Pin;
use tokio::sync::oneshot;

/// The places.
pub(super) struct Seats {
    max: usize,
    opened: Instant,
    /// So many were taken so far: a place that was taken away is not mistaken for a later one.
    count: AtomicU64,
    taken: Mutex<Vec<Taken>>,
}

struct Taken {
    number: u64,
    /// When something was written to it last, in microseconds since the places are there; 0 for never.
    answered: Arc<AtomicU64>,
    /// Dropped to take the place away.
    _stays: oneshot::Sender<()>,
}

/// The place of a connection, until it is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    answered: Arc<AtomicU64>,
    leaves: oneshot::Receiver<()>,
}

impl Seats {
    pub(super) fn new(max: usize) -> Self {
        Self {
            max,
            opened: Instant::now(),
            count: AtomicU64::new(0),
            taken: Mutex::default(),
        }
    }

    /// Takes a place; somebody else's if there is no other.
    pub(super) fn take(self: &Arc<Self>) -> Seat {
        let (stays, leaves) = oneshot::channel();
        let answered = Arc::new(AtomicU64::new(0));
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let mut taken = self.taken();
        if taken.len() >= self.max {
            // Whoever was never answered goes first, the oldest of them; then who was not for the longest time. An event
            // stream is written to every few seconds.
            let worst = taken
                .iter()
                .enumerate()
                .min_by_key(|(at, one)| (one.answered.load(Ordering::Relaxed), *at))
                .map(|(at, _)| at);
            worst.map(|at| taken.remove(at));
        }
        taken.push(Taken {
            number,
            answered: Arc::clone(&answered),
            _stays: stays,
        });
        drop(taken);
        Seat {
            seats: Arc::clone(self),
            number,
            answered,
            leaves,
        }
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Notes that something was written.
    pub(super) fn answered(&self) {
        let now = self.seats.opened.elapsed().as_micros();
        let now = u64::try_from(now).unwrap_or(u64::MAX).max(1);
        self.answered.store(now, Ordering::Relaxed);
    }

    /// Waits until the place is somebody else's.
    pub(super) async fn lost(&mut self) {
        std::future::poll_fn(|context| self.poll_lost(context)).await;
    }

    /// Ready once the place is somebody else's.
    pub(super) fn poll_lost(&mut self, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.leaves).poll(context).map(drop)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let number = self.number;
        self.seats.taken().retain(|one| one.number != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn who_was_never_answered_gives_way_first_and_then_who_was_not_for_longest() {
        let seats = Arc::new(Seats::new(3));
        let mut context = Context::from_waker(Waker::noop());
        let mut is_lost = |seat: &mut Seat| seat.poll_lost(&mut context).is_ready();
        let (mut stream, mut slow, mut idle) = (seats.take(), seats.take(), seats.take());
        idle.answered();
        std::thread::sleep(std::time::Duration::from_millis(2));
        stream.answered();
        let mut first = seats.take();
        assert!(is_lost(&mut slow) && !is_lost(&mut stream) && !is_lost(&mut idle));
        first.answered();
        let _second = seats.take();
        assert!(is_lost(&mut idle) && !is_lost(&mut stream) && !is_lost(&mut first));
        drop(first);
        let _third = seats.take();
        assert!(!is_lost(&mut stream), "there was a free place");
    }
}
