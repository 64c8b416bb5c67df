//! Document text made safe to repeat in a message.

use std::fmt::Write as _;

use crate::text::is_invisible;

/// The text with everything escaped that a terminal would act on or not show.
pub(super) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push_printable(&mut out, c);
    }
    out
}

/// User text for use between backticks: printable, without backticks of its own, and
/// at most [`QUOTE_LIMIT`] characters long.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut cut = 0;
    for c in text.chars() {
        let before = out.len();
        if c == '`' {
            out.push_str("\\u{60}");
        } else {
            push_printable(&mut out, c);
        }
        count += out.get(before..).map_or(0, |piece| piece.chars().count());
        if count > QUOTE_LIMIT {
            out.truncate(cut);
            out.push('…');
            return out;
        }
        if count < QUOTE_LIMIT {
            cut = out.len();
        }
    }
    out
}

/// Text that is already safe, between backticks.
pub(super) fn cite(safe: &str) -> String {
    format!("`{safe}`")
}

/// Whether values under this key are kept out of messages.
pub(super) fn looks_secret(key: &str) -> bool {
    let key: String = key
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    key == "auth" || key.ends_with("headers") || SECRET_WORDS.iter().any(|word| key.contains(word))
}

fn push_printable(out: &mut String, c: char) {
    if c.is_control() || (c.is_whitespace() && c != ' ') || is_invisible(c) {
        // Writing to a string does not fail.
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else {
        out.push(c);
    }
}

/// The length, in characters, to which quoted text is cut.
pub(super) const QUOTE_LIMIT: usize = 60;

const SECRET_WORDS: [&str; 12] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "authorization",
    "bearer",
    "credential",
    "cookie",
    "apikey",
    "accesskey",
    "privatekey",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_cut_to_sixty_characters() {
        assert_eq!(quote(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(quote(&"é".repeat(61)), format!("{}…", "é".repeat(59)));
        assert!(quote(&"\u{1b}".repeat(61)).chars().count() <= QUOTE_LIMIT);
        assert!(quote(&"\u{1b}".repeat(61)).ends_with("\\u{1b}…"));
    }

    #[test]
    fn terminal_escapes_and_direction_marks_are_shown() {
        assert_eq!(
            printable("a\u{1b}[31m\u{202e}\n"),
            "a\\u{1b}[31m\\u{202e}\\u{a}"
        );
        assert_eq!(quote("a`b"), "a\\u{60}b");
    }

    #[test]
    fn secret_names_are_recognised_in_any_spelling() {
        for key in [
            "auth_token",
            "TOKEN",
            "dbPassword",
            "client-secret",
            "Authorization",
            "headers",
            "api_key",
        ] {
            assert!(looks_secret(key), "{key}");
        }
        for key in ["author", "pattern", "header", "defaultPolicy"] {
            assert!(!looks_secret(key), "{key}");
        }
    }
}
