//! Text in columns that fit a terminal.

/// The least room that is worth wrapping text into; less, and a line may run over.
const LEAST: usize = 24;

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
    let room = width.saturating_sub(used).max(LEAST);
    wrapped(text, room).join(&format!("\n{}", " ".repeat(used)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
