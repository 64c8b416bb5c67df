//! Work for all cores, given back in the order it was handed in.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;

/// The most pieces under way for each thread: so many that none waits for work. More would only take room; whoever
/// hands them over waits.
const MAX_AHEAD: u64 = 16;

/// Threads that each take a piece of work, do it, and give it back.
pub(crate) struct Pool<T> {
    work: Sender<(u64, T)>,
    done: Receiver<(u64, T)>,
    /// Pieces done before one that comes first.
    early: BTreeMap<u64, T>,
    handed_in: u64,
    given_back: u64,
    most: u64,
}

impl<T: Send + 'static> Pool<T> {
    /// Starts a thread for each core. They end when the pool is dropped.
    pub(crate) fn start(perform: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let (work, queue) = channel::<(u64, T)>();
        let (give_back, done) = channel();
        let shared = Arc::new((Mutex::new(queue), perform));
        for _ in 0..threads {
            let (shared, give_back) = (Arc::clone(&shared), give_back.clone());
            thread::spawn(move || {
                let (queue, perform) = shared.as_ref();
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, mut piece)) = next else {
                        return;
                    };
                    perform(&mut piece);
                    if give_back.send((number, piece)).is_err() {
                        return;
                    }
                }
            });
        }
        Self {
            work,
            done,
            early: BTreeMap::new(),
            handed_in: 0,
            given_back: 0,
            most: MAX_AHEAD.saturating_mul(u64::try_from(threads).unwrap_or(1)),
        }
    }

    /// Hands a piece of work in.
    pub(crate) fn hand_in(&mut self, piece: T) -> anyhow::Result<()> {
        self.work
            .send((self.handed_in, piece))
            .map_err(|_| anyhow!(GONE))?;
        self.handed_in += 1;
        Ok(())
    }

    /// Whether more should not be handed in before some is given back.
    pub(crate) fn is_full(&self) -> bool {
        self.handed_in - self.given_back >= self.most
    }

    /// The next piece in order, if it is done.
    pub(crate) fn ready(&mut self) -> Option<T> {
        self.early.extend(self.done.try_iter());
        self.first()
    }

    /// The next piece in order, once it is done; none if everything was given back.
    pub(crate) fn wait(&mut self) -> anyhow::Result<Option<T>> {
        while self.given_back < self.handed_in {
            if let Some(piece) = self.first() {
                return Ok(Some(piece));
            }
            let (number, piece) = self.done.recv().map_err(|_| anyhow!(GONE))?;
            self.early.insert(number, piece);
        }
        Ok(None)
    }

    /// The next piece in order, if it is done in this time.
    pub(crate) fn wait_for(&mut self, patience: Duration) -> anyhow::Result<Option<T>> {
        let until = Instant::now() + patience;
        loop {
            if let Some(piece) = self.first() {
                return Ok(Some(piece));
            }
            if self.is_idle() {
                return Ok(None);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.done.recv_timeout(left) {
                Ok((number, piece)) => {
                    self.early.insert(number, piece);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(anyhow!(GONE)),
            }
        }
    }

    /// Whether everything that was handed in was given back.
    pub(crate) fn is_idle(&self) -> bool {
        self.given_back == self.handed_in
    }

    fn first(&mut self) -> Option<T> {
        let piece = self.early.remove(&self.given_back)?;
        self.given_back += 1;
        Some(piece)
    }
}

const GONE: &str = "the threads that work have ended";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_comes_back_in_order_however_long_it_takes() {
        let mut pool = Pool::start(|piece: &mut (u64, u64)| {
            // The first ones take longest.
            thread::sleep(Duration::from_micros(500u64.saturating_sub(piece.0 * 5)));
            piece.1 = piece.0 * 2;
        });
        let mut back = Vec::new();
        for number in 0..100 {
            pool.hand_in((number, 0)).unwrap();
            back.extend(pool.ready());
            while pool.is_full() {
                back.extend(pool.wait().unwrap());
            }
        }
        while let Some(piece) = pool.wait().unwrap() {
            back.push(piece);
        }
        let wanted: Vec<(u64, u64)> = (0..100).map(|number| (number, number * 2)).collect();
        assert_eq!(back, wanted);
        assert_eq!(pool.wait().unwrap(), None);
    }

    #[test]
    fn nobody_waits_longer_than_they_want_to() {
        let mut pool = Pool::start(|nap: &mut Duration| thread::sleep(*nap));
        let (short, long) = (Duration::from_millis(1), Duration::from_millis(200));
        assert_eq!(pool.wait_for(long).unwrap(), None);
        pool.hand_in(long).unwrap();
        assert_eq!(pool.wait_for(short).unwrap(), None);
        assert!(!pool.is_idle());
        assert_eq!(pool.wait_for(50 * long).unwrap(), Some(long));
        assert!(pool.is_idle());
    }
}
