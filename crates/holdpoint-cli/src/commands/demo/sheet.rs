//! How the tour looks: headings, and fields whose names stand in a column of their own.

use std::io::{self, Write};

use holdpoint_engine::escape_for_display;

use crate::layout::{hanging, wrapped};
use crate::terminal::Terminal;

/// Longer lines are hard to read, however wide the terminal is.
const MAX_WIDTH: usize = 80;

/// What the names take, with what stands before and after them.
const NAMES: usize = 15;

/// The most characters that are shown of a field: the tour is to be read, and the ledger has the rest.
const MAX_FIELD: usize = 600;

/// Writes the tour.
pub(super) struct Sheet<'t> {
    pub(super) terminal: &'t mut Terminal,
}

impl Sheet<'_> {
    fn width(&self) -> usize {
        self.terminal.width().unwrap_or(MAX_WIDTH).min(MAX_WIDTH)
    }

    /// The heading of a scene, and the space above it.
    pub(super) fn scene(&mut self, number: &str, text: &str) -> io::Result<()> {
        let used = number.chars().count() + 2;
        let text = hanging(text, used, Some(self.width()));
        let (number, text) = (self.terminal.faint(number), self.terminal.heading(&text));
        writeln!(self.terminal.out, "\n{number}  {text}\n")
    }

    /// A heading without a number.
    pub(super) fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = hanging(text, 0, Some(self.width()));
        let text = self.terminal.heading(&text);
        writeln!(self.terminal.out, "\n{text}\n")
    }

    /// A paragraph of our own words.
    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
        let text = hanging(text, 2, Some(self.width()));
        writeln!(self.terminal.out, "  {text}")
    }

    /// A line that can be copied, however long it is.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.terminal.out, "  {text}")
    }

    /// Nothing.
    pub(super) fn space(&mut self) -> io::Result<()> {
        writeln!(self.terminal.out)
    }

    /// `  name      text`, the text on as many lines as it needs.
    pub(super) fn field(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.painted(name, text, |_, text| text.to_owned())
    }

    /// A command and what it does.
    pub(super) fn command(&mut self, name: &str, text: &str) -> io::Result<()> {
        let name = format!("{name:<30}");
        let text = hanging(text, name.len() + 2, Some(self.width()));
        let name = self.terminal.heading(&name);
        writeln!(self.terminal.out, "  {name}{text}")
    }

    /// The same in another colour, painted line by line so that none of it is on the margin.
    pub(super) fn painted(
        &mut self,
        name: &str,
        text: &str,
        paint: impl Fn(&Terminal, &str) -> String,
    ) -> io::Result<()> {
        let text = escape_for_display(text, MAX_FIELD);
        let room = self.width().saturating_sub(NAMES).max(MIN_ROOM);
        let lines = wrapped(&text, room);
        self.column(name, "", lines, paint)
    }

    /// Somebody else's text, line by line behind a bar.
    pub(super) fn quote(&mut self, name: &str, text: &str) -> io::Result<()> {
        let room = self.width().saturating_sub(NAMES + 2).max(MIN_ROOM);
        let lines = text
            .trim_end()
            .lines()
            .flat_map(|line| wrapped(&escape_for_display(line, MAX_FIELD), room))
            .collect();
        self.column(name, "│ ", lines, |_, text| text.to_owned())
    }

    fn column(
        &mut self,
        name: &str,
        bar: &str,
        lines: Vec<String>,
        paint: impl Fn(&Terminal, &str) -> String,
    ) -> io::Result<()> {
        let room = NAMES - 2;
        let mut name = self.terminal.faint(&format!("{name:<room$}"));
        let bar = self.terminal.faint(bar);
        for line in lines {
            let line = paint(self.terminal, &line);
            let whole = format!("  {name}{bar}{line}");
            writeln!(self.terminal.out, "{}", whole.trim_end())?;
            name = format!("{:<room$}", "");
        }
        Ok(())
    }
}

/// The least room text is wrapped into; on a narrower terminal a line runs over.
const MIN_ROOM: usize = 20;
