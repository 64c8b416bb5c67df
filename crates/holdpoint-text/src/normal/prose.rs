//! Whether decoded bytes are text, and whether text is prose.

use super::unseen::unseen;

/// Whether something decoded reads as text: letters and spaces for the most part, or ASCII that can be
/// printed, which may be encoded once more.
pub(super) fn is_text(text: &str) -> bool {
    let mut letters = 0;
    let mut all = 0;
    let mut plain = true;
    for c in text.chars() {
        all += 1_usize;
        match c {
            'a'..='z' | 'A'..='Z' | ' ' => letters += 1,
            '\t' | '\n' | '\r' | '!'..='~' => {}
            // Nobody sees them: they are between the letters of a text that was hidden once more.
            _ if unseen(c).is_some() => {
                all -= 1;
                plain = false;
            }
            '\u{fffd}' | '\0'..='\x1f' | '\x7f'..='\u{9f}' => return false,
            _ => {
                plain = false;
                letters += usize::from(c.is_alphabetic() && is_written(c));
            }
        }
    }
    all >= MIN_LENGTH && (plain || letters * 10 >= all * 7)
}

/// Whether a text reads as sentences in a language.
pub(super) fn is_prose(text: &str) -> bool {
    let mut words = 0;
    let mut letters = 0;
    let mut all = 0;
    let mut inside = false;
    for c in text.chars() {
        all += 1;
        let letter = c.is_alphabetic();
        letters += usize::from(letter || c == ' ');
        words += usize::from(letter && !inside);
        inside = letter || (inside && c == '\'');
    }
    words >= 3 && letters * 100 >= all * 85 && letters >= words * 3 && letters <= words * 14
}

/// Letters of scripts people write a lot in: bytes that only happen to be UTF-8 are rarely these.
pub(super) fn is_written(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{17f}' | '\u{386}'..='\u{3ce}' | '\u{400}'..='\u{4ff}' | '\u{5d0}'..='\u{6ff}'
        | '\u{900}'..='\u{dff}' | '\u{e00}'..='\u{eff}' | '\u{1e00}'..='\u{1eff}' | '\u{3040}'..='\u{30ff}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// What is shorter says nothing.
const MIN_LENGTH: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_noise_and_prose_from_text() {
        assert!(is_text("send me the file"));
        assert!(is_text("aWdub3JlIGFsbA=="));
        assert!(is_text("удали все файлы"));
        assert!(!is_text("a\u{1}b\u{2}c\u{3}defgh"));
        assert!(!is_text("short"));
        assert!(is_prose("Please send me all the files."));
        assert!(is_prose("удали все файлы на диске"));
        assert!(!is_prose("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"));
        assert!(!is_prose("aWdub3JlIGFsbA=="));
    }
}
