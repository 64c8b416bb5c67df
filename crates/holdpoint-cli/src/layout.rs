//! Text in columns that fit a terminal.

use unicode_width::UnicodeWidthChar;

/// The least room that is worth wrapping text into; less, and a line may run over.
const MIN_ROOM: usize = 24;

/// Breaks text between words into lines of at most `width` characters. A word that is longer has
/// a line of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut taken = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if taken > 0 && taken + 1 + length > width {
            lines.push(std::mem::take(&mut line));
            taken = 0;
        }
        if taken > 0 {
            line.push(' ');
            taken += 1;
        }
        line.push_str(word);
        taken += length;
    }
    lines.push(line);
    lines
}

/// The text behind something of `used` characters: its further lines are indented so that they
/// stand below each other. Without a width it stays on one line.
pub(crate) fn hanging(text: &str, used: usize, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let room = width.saturating_sub(used).max(MIN_ROOM);
    wrapped(text, room).join(&format!("\n{}", " ".repeat(used)))
}

/// The columns of a terminal a text takes.
pub(crate) fn cell_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// The columns of one character. One after which a terminal may draw the one before wider counts for that.
pub(crate) fn char_width(c: char) -> usize {
    match c {
        '\u{fe0f}' => 1,
        c => c.width().unwrap_or_default(),
    }
}

/// A text in at most so many columns.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if cell_width(text) <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut taken = 0;
    for c in text.chars() {
        let width = char_width(c);
        if taken + width + 1 > room {
            break;
        }
        cut.push(c);
        taken += width;
    }
    cut.push('…');
    cut
}

/// A text in at least so many columns.
pub(crate) fn padded(mut text: String, room: usize) -> String {
    let missing = room.saturating_sub(cell_width(&text));
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// A text in exactly so many columns, cut where it is longer.
pub(crate) fn fitted(text: &str, room: usize) -> String {
    padded(cut(text, room), room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_broken_between_words_and_no_word_is_lost() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrapped("a muchlongerword b", 4),
            ["a", "muchlongerword", "b"]
        );
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(hanging("a b", 2, None), "a b");
        let text = "the quick brown fox jumps over the lazy dog";
        assert_eq!(
            hanging(text, 4, Some(30)),
            "the quick brown fox jumps\n    over the lazy dog"
        );
    }

    #[test]
    fn a_cell_takes_exactly_its_room() {
        assert_eq!(fitted("abc", 5), "abc  ");
        assert_eq!(fitted("abcdef", 5), "abcd…");
        assert_eq!(fitted("日本語", 5), "日本…");
        assert_eq!(fitted("日本語", 4), "日… ");
        assert_eq!(fitted("日本語", 6), "日本語");
    }

    proptest! {
        #[test]
        fn any_text_fits_any_room(text in "\\PC{0,30}", room in 1usize..40) {
            prop_assert_eq!(cell_width(&fitted(&text, room)), room);
        }
    }
}
