//! Somebody else's text, made safe to show.

/// Text from outside on one line: what a terminal would act on is escaped, and what is long is cut.
pub fn escape_for_display(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            line.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Characters that change how text around them looks without being seen.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_acts_on_somebody_elses_text() {
        assert_eq!(
            escape_for_display("a\x1b[31mb\n\u{202e}", 99),
            "a\\u{1b}[31mb\\n\\u{202e}"
        );
        assert_eq!(escape_for_display("abcdef", 3), "abc…");
    }
}
