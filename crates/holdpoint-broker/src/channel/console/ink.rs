//! Text on a terminal: coloured, wrapped, and harmless whatever it says.
//!
//! Text from outside is escaped, so that it drives no terminal, and stands behind a bar on every
//! line it takes, so that it cannot look like words of Holdpoint.

use holdpoint_core::text::escape_for_display;
use unicode_width::UnicodeWidthChar;

use crate::words::{self, DiffLine};

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Bold,
    Faint,
    Good,
    Notable,
    Bad,
    Alarming,
    Place,
    Caught,
}

impl Ink {
    fn code(self) -> Option<&'static str> {
        Some(match self {
            Ink::Plain => return None,
            Ink::Bold => "1",
            Ink::Faint => "2",
            Ink::Good => "32",
            Ink::Notable => "33",
            Ink::Bad => "31",
            Ink::Alarming => "1;97;41",
            Ink::Place => "36",
            Ink::Caught => "1;4;31",
        })
    }
}

/// Lines that are put together.
pub(super) struct Sheet {
    text: String,
    colours: bool,
    width: usize,
}

/// The least room that text gets on a line, however narrow the terminal is.
const MIN_WIDTH: usize = 20;

/// What a field's name takes.
const LABEL: usize = 11;

impl Sheet {
    pub(super) fn new(colours: bool, width: usize) -> Self {
        Self {
            text: String::new(),
            colours,
            width,
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A line of our own words.
    pub(super) fn line(&mut self, ink: Ink, text: &str) -> &mut Self {
        self.piece(ink, text);
        self.end()
    }

    /// A piece of a line of our own words.
    pub(super) fn piece(&mut self, ink: Ink, text: &str) -> &mut Self {
        match ink.code().filter(|_| self.colours) {
            Some(code) => {
                for part in ["\x1b[", code, "m", text, "\x1b[0m"] {
                    self.text.push_str(part);
                }
            }
            None => self.text.push_str(text),
        }
        self
    }

    pub(super) fn end(&mut self) -> &mut Self {
        self.text.push('\n');
        self
    }

    /// `  Name:  value`, the value from outside and on as many lines as it needs.
    pub(super) fn field(&mut self, name: &str, ink: Ink, value: &str) -> &mut Self {
        let first = format!("  {:<LABEL$}", format!("{name}:"));
        let next = format!("  {:<LABEL$}", "");
        let value = escape_for_display(value, MAX_FIELD);
        self.wrapped(&first, &next, &[(ink, &value)])
    }

    /// Text from outside, line by line behind a bar.
    pub(super) fn block(&mut self, pieces: &[(Ink, &str)]) -> &mut Self {
        for line in words::lines(pieces) {
            let line: Vec<(Ink, &str)> = line
                .iter()
                .map(|(ink, text)| (*ink, text.as_str()))
                .collect();
            self.wrapped("  │ ", "  ┆ ", &line);
        }
        self
    }

    /// A difference: what goes red, what comes green.
    pub(super) fn diff(&mut self, text: &str) -> &mut Self {
        for (kind, line) in words::diff_lines(text) {
            let ink = match kind {
                DiffLine::Header => Ink::Bold,
                DiffLine::Added => Ink::Good,
                DiffLine::Removed => Ink::Bad,
                DiffLine::Position => Ink::Place,
                DiffLine::Same => Ink::Plain,
            };
            self.block(&[(ink, line)]);
        }
        self
    }

    /// Pieces that are safe already, cut into lines that fit.
    fn wrapped(&mut self, first: &str, next: &str, pieces: &[(Ink, &str)]) -> &mut Self {
        let room = self.width.saturating_sub(first.chars().count() + 1);
        let room = room.max(MIN_WIDTH);
        self.text.push_str(first);
        let mut used = 0;
        for (ink, text) in pieces {
            let mut part = String::new();
            for c in text.chars() {
                let wide = c.width().unwrap_or(0);
                if used + wide > room {
                    self.piece(*ink, &part);
                    part.clear();
                    self.end().text.push_str(next);
                    used = 0;
                }
                used += wide;
                part.push(c);
            }
            if !part.is_empty() {
                self.piece(*ink, &part);
            }
        }
        self.end()
    }
}

/// The most characters of a field; more is in the details.
const MAX_FIELD: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_drives_no_terminal_and_stays_behind_its_bar() {
        let mut sheet = Sheet::new(false, 40);
        sheet.block(&[(
            Ink::Plain,
            "a\x1b[2Jb\u{202e}c\r\nOptions: [y]es, really, do say yes to this\tone\n",
        )]);
        let text = sheet.finish();
        assert!(text.contains("a\\u{1b}[2Jb\\u{202e}c\n"), "{text}");
        for line in text.lines() {
            assert!(
                line.starts_with("  │ ") || line.starts_with("  ┆ "),
                "{line}"
            );
            assert!(line.chars().count() <= 40, "{line}");
        }
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_field_is_one_paragraph() {
        let mut sheet = Sheet::new(true, 40);
        sheet.field("Intent", Ink::Bold, "one\ntwo\x07");
        assert_eq!(
            sheet.finish(),
            "  Intent:    \x1b[1mone\\ntwo\\u{7}\x1b[0m\n"
        );
    }
}
