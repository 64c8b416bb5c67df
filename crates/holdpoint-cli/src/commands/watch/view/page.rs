//! Text in lines that fit, harmless whatever it says.
//!
//! Text from outside is escaped, so that it drives no terminal, and longer text stands behind a bar
//! on every line it takes, so that it cannot look like words of Holdpoint.

use holdpoint_broker::words::{self, DiffLine};
use ratatui::text::{Line, Span};

use super::ink::{Ink, Look};
use crate::layout::{cell_width, char_width, padded};
use crate::terminal::escape_for_display;

/// What a field's name takes.
const LABEL: usize = 11;

/// The least room text gets on a line, however narrow the screen is.
const MIN_WIDTH: usize = 10;

/// The most characters of a field, so that a long one does not push the others off the screen.
const MAX_FIELD: usize = 2000;

/// Lines that are put together.
pub(super) struct Page {
    lines: Vec<Line<'static>>,
    ink: Ink,
    width: usize,
}

impl Page {
    pub(super) fn new(ink: Ink, width: u16) -> Self {
        Self {
            lines: Vec::new(),
            ink,
            width: usize::from(width),
        }
    }

    pub(super) fn finish(self) -> Vec<Line<'static>> {
        self.lines
    }

    pub(super) fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// A paragraph of our own words or of text from outside.
    pub(super) fn text(&mut self, look: Look, text: &str) {
        let style = self.ink.style(look);
        for line in broken(&escape_for_display(text, MAX_FIELD), self.room(0)) {
            self.lines.push(Line::styled(line, style));
        }
    }

    /// `Name      value`, the value on as many lines as it needs; nothing if it is empty.
    pub(super) fn field(&mut self, name: &str, look: Look, value: &str) {
        if value.is_empty() {
            return;
        }
        let (faint, style) = (self.ink.style(Look::Faint), self.ink.style(look));
        let lines = broken(&escape_for_display(value, MAX_FIELD), self.room(LABEL));
        for (count, line) in lines.into_iter().enumerate() {
            let label = if count == 0 { name } else { "" };
            self.lines.push(Line::from(vec![
                Span::styled(padded(label.to_owned(), LABEL), faint),
                Span::styled(line, style),
            ]));
        }
    }

    /// Text from outside, line by line behind a bar.
    pub(super) fn block(&mut self, pieces: &[(Look, &str)]) {
        for line in words::lines(pieces) {
            self.behind_bar(&line);
        }
    }

    /// A difference: what goes red, what comes green.
    pub(super) fn diff(&mut self, text: &str) {
        for (kind, line) in words::diff_lines(text) {
            let look = match kind {
                DiffLine::Header => Look::Bold,
                DiffLine::Added => Look::Good,
                DiffLine::Removed => Look::Bad,
                DiffLine::Position => Look::Place,
                DiffLine::Same => Look::Plain,
            };
            self.block(&[(look, line)]);
        }
    }

    fn behind_bar(&mut self, pieces: &[(Look, String)]) {
        let room = self.room(2);
        let bar = self.ink.style(Look::Faint);
        let mut line = vec![Span::styled("│ ", bar)];
        let mut used = 0;
        for (look, text) in pieces {
            let style = self.ink.style(*look);
            let mut part = String::new();
            for c in text.chars() {
                let wide = char_width(c);
                if used + wide > room {
                    line.push(Span::styled(std::mem::take(&mut part), style));
                    let next = vec![Span::styled("┆ ", bar)];
                    self.lines
                        .push(Line::from(std::mem::replace(&mut line, next)));
                    used = 0;
                }
                used += wide;
                part.push(c);
            }
            line.push(Span::styled(part, style));
        }
        self.lines.push(Line::from(line));
    }

    fn room(&self, used: usize) -> usize {
        self.width.saturating_sub(used).max(MIN_WIDTH)
    }
}

/// Text in lines of so many columns, broken between words where that is possible.
fn broken(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let mut word = 0;
    for c in text.chars() {
        let wide = char_width(c);
        // Twice, where the word that goes to the next line fills that one already.
        while used + wide > room && c != ' ' && !line.is_empty() {
            let rest = match word {
                0 => String::new(),
                at => line.split_off(at),
            };
            lines.push(line.trim_end_matches(' ').to_owned());
            line = rest;
            used = cell_width(&line);
            word = 0;
        }
        line.push(c);
        used += wide;
        if c == ' ' {
            word = line.len();
        }
    }
    lines.push(line.trim_end_matches(' ').to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_broken_between_words_and_within_long_ones() {
        assert_eq!(broken("one two three", 8), ["one two", "three"]);
        assert_eq!(broken("one twothree four", 8), ["one", "twothree", "four"]);
        assert_eq!(broken("aaaaaaaaaaaa", 5), ["aaaaa", "aaaaa", "aa"]);
        assert_eq!(broken(" aaaaaa\u{1f210}", 7), ["", "aaaaaa", "\u{1f210}"]);
        assert_eq!(broken("", 5), [""]);
        assert_eq!(
            broken("a\u{2003}", 5),
            ["a\u{2003}"],
            "only our own spaces go"
        );
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_its_room_and_no_letter_is_lost(
            text in "\\PC{0,60}( \\PC{0,20}){0,5}",
            width in 14u16..60,
        ) {
            for line in broken(&text, usize::from(width)) {
                prop_assert!(cell_width(&line) <= usize::from(width), "{line:?}");
            }
            let bare = |text: &str| text.replace(' ', "");
            prop_assert_eq!(bare(&broken(&text, usize::from(width)).concat()), bare(&text));
            let mut page = Page::new(Ink::Plain, width);
            page.block(&[(Look::Plain, &text), (Look::Caught, &text)]);
            for line in page.finish() {
                let line = line.to_string();
                prop_assert!(cell_width(&line) <= usize::from(width), "{line:?}");
            }
        }
    }
}
