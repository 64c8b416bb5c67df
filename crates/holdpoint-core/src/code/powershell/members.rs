//! Static methods and kinds: `[IO.File]::Delete(…)`, `[int]`, `New-Object IO.StreamWriter`.

use super::words::{Word, listed_words};
use super::{Reader, tables};
use crate::code::Unfollowed;

impl Reader<'_, '_> {
    /// Reads a kind in its brackets, and the static member behind it.
    pub(super) fn kind(&mut self, word: &mut Word, depth: usize) {
        let Some((kind, after)) = bracketed(self.rest) else {
            self.reading.note(Unfollowed::Unreadable);
            self.rest = "";
            return;
        };
        self.rest = after;
        let kind = kind.to_ascii_lowercase();
        let kind = kind.trim();
        let kind = kind.strip_prefix("system.").unwrap_or(kind).to_owned();
        if matches!(kind.as_str(), "scriptblock" | "wmiclass" | "wmi" | "adsi") {
            // A text becomes code, or something far away.
            self.reading.note(Unfollowed::Evaluates);
        }
        if !after.starts_with("::") {
            return;
        }
        word.known = None;
        let member: String = after
            .chars()
            .skip(2)
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect();
        self.advance(2 + member.chars().count());
        let member = member.to_ascii_lowercase();
        if !self.rest.starts_with('(') {
            word.shell.push_str("''");
            return;
        }
        self.advance(1);
        match tables::static_method(&kind, &member) {
            Some("start") => {
                let inner = self.inside(')', depth);
                let words = split_texts(&listed_words(&inner));
                word.shell = format!("\"$({words})\"");
            }
            Some(program) => {
                let inner = self.inside(')', depth);
                word.shell = format!("\"$({program} {})\"", listed_words(&inner));
            }
            None => {
                if member != "new" && !tables::is_harmless_kind(&kind)
                    || member == "new" && !self.is_harmless_object(&kind)
                {
                    self.reading.note(Unfollowed::DynamicName);
                }
                self.aside(')', depth);
                word.shell.push_str("''");
            }
        }
    }

    /// Whether making an object of a kind does nothing by itself.
    pub(super) fn is_harmless_object(&self, kind: &str) -> bool {
        let kind = kind.strip_prefix("system.").unwrap_or(kind);
        let plain = kind.split(['(', '[', '`']).next().unwrap_or(kind);
        tables::is_harmless_kind(kind) || tables::is_harmless_kind(plain)
    }
}

/// What stands in the brackets a text begins with, and what behind them.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut open = 0usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => open += 1,
            ']' => {
                open -= 1;
                if open == 0 {
                    return Some((text.get(1..at)?, text.get(at + 1..)?));
                }
            }
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// A program and its arguments, which stand in one text each: `cmd /c\ rd` is `cmd /c rd`.
fn split_texts(words: &str) -> String {
    words.replace("\\ ", " ")
}
