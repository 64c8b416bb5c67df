//! Lines that are no records: named, skipped, and never passed over in silence.

use std::io::{self, Write};

use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The most that are named one by one: a screen has room for them. The rest is counted.
const MAX_NAMED: usize = 10;

/// What was skipped.
#[derive(Default)]
pub(super) struct Unreadable {
    named: Vec<String>,
    count: usize,
}

impl Unreadable {
    pub(super) fn add(&mut self, why: String) {
        self.count += 1;
        if self.named.len() < MAX_NAMED {
            self.named.push(why);
        }
    }

    /// Says what was skipped, after what was not, and how the program ends.
    pub(super) fn tell(&self, terminal: &mut Terminal) -> anyhow::Result<Exit> {
        if self.count == 0 {
            return Ok(Exit::Fine);
        }
        terminal.out.flush()?;
        let mut errors = io::stderr().lock();
        for why in &self.named {
            writeln!(errors, "holdpoint: {}", escape_for_display(why, 500))?;
        }
        let more = self.count - self.named.len();
        if more > 0 {
            writeln!(errors, "holdpoint: {more} more lines are no records")?;
        }
        Ok(Exit::Error)
    }
}
