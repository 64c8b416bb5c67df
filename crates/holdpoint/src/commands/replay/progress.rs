//! How far a long run is, on a terminal only.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::display::grouped;

/// How long a run is quiet, and how often it speaks then.
const PATIENCE: Duration = Duration::from_millis(300);
const OFTEN: Duration = Duration::from_millis(100);

const MEGABYTE: u64 = 1_000_000;

/// One line on standard error that is gone in the end.
pub(super) struct Progress {
    on: bool,
    drawn: bool,
    due: Instant,
    total: u64,
}

impl Progress {
    /// For a run over so many bytes; 0 if nobody knows.
    pub(super) fn new(total: u64) -> Self {
        Self {
            on: io::stderr().is_terminal(),
            drawn: false,
            due: Instant::now() + PATIENCE,
            total,
        }
    }

    /// Whether anybody watches.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Says how far it is, if it is time to.
    pub(super) fn tell(&mut self, calls: u64, bytes: u64) {
        if !self.on || Instant::now() < self.due {
            return;
        }
        self.due = Instant::now() + OFTEN;
        let mut line = format!("{} calls, {} MB", grouped(calls), grouped(bytes / MEGABYTE));
        if let Some(percent) = (bytes.min(self.total) * 100).checked_div(self.total) {
            line.push_str(&format!(
                " of {} MB, {percent} %",
                grouped(self.total / MEGABYTE)
            ));
        }
        let mut err = io::stderr().lock();
        let _ = write!(err, "\r{line}\x1b[K").and_then(|()| err.flush());
        self.drawn = true;
    }

    /// Takes the line away, before anything else is written.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
