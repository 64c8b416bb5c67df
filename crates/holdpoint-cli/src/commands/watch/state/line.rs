//! A line somebody types.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The most characters; more is no comment but a letter.
const MAX_LETTERS: usize = 2000;

/// What was typed so far, and where the next letter goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct TypedLine {
    letters: Vec<char>,
    at: usize,
}

impl TypedLine {
    pub(super) fn from_text(text: &str) -> Self {
        let mut line = Self::default();
        line.paste(text);
        line
    }

    pub(in super::super) fn text(&self) -> String {
        self.letters.iter().collect()
    }

    /// What stands before the next letter and what behind.
    pub(in super::super) fn halves(&self) -> (String, String) {
        let (before, behind) = self
            .letters
            .split_at_checked(self.at)
            .unwrap_or((&self.letters, &[]));
        (before.iter().collect(), behind.iter().collect())
    }

    /// Takes a key that changes the line; others do nothing.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a line needs few of the keys there are"
    )]
    pub(super) fn press(&mut self, key: &KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if control => {
                self.letters.drain(..self.at);
                self.at = 0;
            }
            KeyCode::Char('w') if control => self.cut_word(),
            KeyCode::Char('a') if control => self.at = 0,
            KeyCode::Char('e') if control => self.at = self.letters.len(),
            KeyCode::Char(letter) if !control => self.insert(letter),
            KeyCode::Backspace if self.at > 0 => {
                self.at -= 1;
                self.letters.remove(self.at);
            }
            KeyCode::Delete if self.at < self.letters.len() => {
                self.letters.remove(self.at);
            }
            KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Right => self.at = (self.at + 1).min(self.letters.len()),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.letters.len(),
            _ => {}
        }
    }

    /// Takes text from elsewhere; a line break in it is a space, so that it sends nothing off.
    pub(super) fn paste(&mut self, text: &str) {
        for letter in text.trim_end().chars() {
            match letter {
                '\n' | '\r' | '\t' => self.insert(' '),
                letter if letter.is_control() => {}
                letter => self.insert(letter),
            }
        }
    }

    fn insert(&mut self, letter: char) {
        if self.letters.len() < MAX_LETTERS {
            self.letters.insert(self.at, letter);
            self.at += 1;
        }
    }

    fn cut_word(&mut self) {
        let end = self.at;
        let mut blank = true;
        while self.at > 0
            && let Some(letter) = self.letters.get(self.at - 1)
            && (blank || *letter != ' ')
        {
            blank &= *letter == ' ';
            self.at -= 1;
        }
        self.letters.drain(self.at..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_in_place() {
        let mut line = TypedLine::from_text("use a brnch");
        let press = |line: &mut TypedLine, code| line.press(&KeyEvent::from(code));
        for _ in 0..3 {
            press(&mut line, KeyCode::Left);
        }
        press(&mut line, KeyCode::Char('a'));
        assert_eq!(line.text(), "use a branch");
        assert_eq!(line.halves(), ("use a bra".into(), "nch".into()));
        press(&mut line, KeyCode::End);
        line.press(&KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL));
        assert_eq!(line.text(), "use a ");
        press(&mut line, KeyCode::Backspace);
        press(&mut line, KeyCode::Home);
        press(&mut line, KeyCode::Delete);
        assert_eq!(line.text(), "se a");
        line.press(&KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert_eq!(line.text(), "se a", "nothing stands before the cursor");
    }

    #[test]
    fn pasted_lines_stay_one_line_and_have_an_end() {
        assert_eq!(TypedLine::from_text("a\nb\x1b[2J\n").text(), "a b[2J");
        assert_eq!(
            TypedLine::from_text(&"x".repeat(9000)).text().len(),
            MAX_LETTERS
        );
    }
}
