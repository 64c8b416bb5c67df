//! How far a long command is: one line on standard error, on a terminal only, that is gone in the
//! end.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use holdpoint_engine::humanize::bytes;

/// How long a command is quiet, and how often it speaks then.
const PATIENCE: Duration = Duration::from_millis(300);
const OFTEN: Duration = Duration::from_millis(100);

/// A line that is drawn again and again.
pub(crate) struct Progress {
    on: bool,
    drawn: bool,
    due: Instant,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            on: io::stderr().is_terminal(),
            drawn: false,
            due: Instant::now() + PATIENCE,
        }
    }

    /// Whether anybody watches.
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Says how far it is, if it is time to.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if !self.on || Instant::now() < self.due {
            return;
        }
        self.due = Instant::now() + OFTEN;
        self.drawn = true;
        self.draw(&line());
    }

    /// How many columns a line may take.
    pub(crate) fn room() -> usize {
        terminal_size::terminal_size_of(io::stderr())
            .map_or(80, |(width, _)| usize::from(width.0))
            .saturating_sub(1)
    }

    /// Takes the line away, before anything else is written.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.draw("");
        }
    }

    fn draw(&self, line: &str) {
        let mut err = io::stderr().lock();
        // A hint: whoever does not get it misses nothing.
        let _ = write!(err, "\r{line}\x1b[K").and_then(|()| err.flush());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// So many bytes of all, as far as it is known how many those are: `45.6 MB of 1.2 GB, 3 %`.
pub(crate) fn so_far(done: u64, all: u64) -> String {
    let mut line = bytes(done);
    if let Some(percent) = (done.min(all).saturating_mul(100)).checked_div(all) {
        line.push_str(&format!(" of {}, {percent} %", bytes(all)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_is_not_told() {
        assert_eq!(so_far(45_600_000, 1_200_000_000), "45.6 MB of 1.2 GB, 3 %");
        assert_eq!(so_far(45_600_000, 0), "45.6 MB");
        assert_eq!(so_far(2_000, 1_000), "2.0 kB of 1.0 kB, 100 %");
    }
}
