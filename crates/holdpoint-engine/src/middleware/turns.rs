//! One question at a time (J-45): calls that come while a person is being asked wait for their turn,
//! and are judged anew when it comes.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use holdpoint_broker::{Channel, ChannelError, Request, SignedAnswer, Turn, Waiting};

/// How often whoever waits looks whether the call is still wanted.
const LOOK: Duration = Duration::from_millis(25);

/// A channel and who uses it.
pub(super) struct Turns {
    source: Source,
    busy: Mutex<bool>,
    free: Condvar,
}

/// Where the channel comes from.
enum Source {
    /// It is kept for every question.
    Kept(Mutex<Box<dyn Channel + Send>>),
    /// It is made for each.
    Made(Maker),
}

/// Makes a channel, on the thread that asks.
type Maker = Box<dyn Fn() -> Result<Box<dyn Channel>, ChannelError> + Send + Sync>;

impl Turns {
    /// Questions through one channel.
    pub(super) fn through(channel: Box<dyn Channel + Send>) -> Self {
        Self::with(Source::Kept(Mutex::new(channel)))
    }

    /// Questions through a channel each.
    pub(super) fn through_each(maker: Maker) -> Self {
        Self::with(Source::Made(maker))
    }

    fn with(source: Source) -> Self {
        Self {
            source,
            busy: Mutex::new(false),
            free: Condvar::new(),
        }
    }

    /// The channel for one question.
    pub(super) fn visitor(&self) -> Visitor<'_> {
        Visitor {
            turns: self,
            made: None,
            holds: false,
        }
    }

    fn busy(&self) -> MutexGuard<'_, bool> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Uses the channel for one question, and leaves it to the next when dropped.
pub(super) struct Visitor<'t> {
    turns: &'t Turns,
    made: Option<Box<dyn Channel>>,
    holds: bool,
}

impl Visitor<'_> {
    /// Does something with the channel.
    fn using<T>(
        &mut self,
        with: impl FnOnce(&mut dyn Channel) -> Result<T, ChannelError>,
    ) -> Result<T, ChannelError> {
        match &self.turns.source {
            Source::Kept(channel) => {
                let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
                with(channel.as_mut())
            }
            Source::Made(maker) => match &mut self.made {
                Some(channel) => with(channel.as_mut()),
                none => with(none.insert(maker()?).as_mut()),
            },
        }
    }
}

impl Channel for Visitor<'_> {
    fn take_turn(&mut self, waiting: &Waiting<'_>) -> Result<Turn, ChannelError> {
        let started = Instant::now();
        let mut waited = Turn::AtOnce;
        let mut busy = self.turns.busy();
        while *busy {
            waited = Turn::AfterOthers;
            if (waiting.cancelled)() {
                return Err(ChannelError::Cancelled);
            }
            if waiting
                .limit
                .is_some_and(|limit| started.elapsed() >= limit)
            {
                return Err(ChannelError::Timeout);
            }
            let (again, _) = self
                .turns
                .free
                .wait_timeout(busy, LOOK)
                .unwrap_or_else(PoisonError::into_inner);
            busy = again;
        }
        *busy = true;
        self.holds = true;
        drop(busy);
        let left = Waiting {
            limit: waiting
                .limit
                .map(|limit| limit.saturating_sub(started.elapsed())),
            cancelled: waiting.cancelled,
        };
        match self.using(|channel| channel.take_turn(&left))? {
            Turn::AtOnce => Ok(waited),
            Turn::AfterOthers => Ok(Turn::AfterOthers),
        }
    }

    fn end_turn(&mut self) {
        // Whoever waited in vain has no turn to end: it is another's. A channel made for this
        // question ends its turn when it is dropped.
        if self.holds
            && let Source::Kept(channel) = &self.turns.source
        {
            let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
            channel.end_turn();
        }
    }

    fn ask(
        &mut self,
        request: &Request,
        waiting: &Waiting<'_>,
    ) -> Result<SignedAnswer, ChannelError> {
        self.using(|channel| channel.ask(request, waiting))
    }

    fn told(&mut self, request: &Request, message: &str) {
        // Whoever is not there any more needs no word.
        let _ = self.using(|channel| {
            channel.told(request, message);
            Ok(())
        });
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        self.made = None;
        if self.holds {
            *self.turns.busy() = false;
            self.turns.free.notify_one();
        }
    }
}
