//! Links and images whose address takes data along: `![x](https://host/?q={secret})`.

use super::signs;
use super::surroundings::{after, window};

/// A link that takes data along.
pub(super) struct Leak {
    pub(super) span: (usize, usize),
    /// Whether it loads by itself, as images do.
    pub(super) is_image: bool,
}

/// Calls `found` with each link or image whose address has a place for data.
pub(super) fn find(text: &str, mut found: impl FnMut(Leak)) {
    for at in signs::places(text, *b"]") {
        if text.as_bytes().get(at + 1) != Some(&b'(') {
            continue;
        }
        let Some(address) = address_at(text, at + 2) else {
            continue;
        };
        if has_place_for_data(address) {
            let start = opening(text, at);
            let is_image = text.as_bytes().get(start) == Some(&b'!');
            found(Leak {
                span: (start, at + 2 + address.len()),
                is_image,
            });
        }
    }
}

/// The web address that stands in brackets from `at` on.
fn address_at(text: &str, at: usize) -> Option<&str> {
    let rest = after(text, at, MAX_LENGTH);
    let rest = rest.split(['\n', ' ', ')', '"']).next()?;
    let lower = rest.get(..8).unwrap_or_default().to_ascii_lowercase();
    let is_web = lower.starts_with("http://") || lower.starts_with("https://");
    (is_web || rest.starts_with("//")).then_some(rest)
}

/// Where the link begins whose text ends at `at`.
fn opening(text: &str, at: usize) -> usize {
    let from = text.floor_char_boundary(at.saturating_sub(120));
    let label = text.get(from..at).unwrap_or_default();
    match label.rfind('[') {
        Some(open) => {
            let open = from + open;
            let before = open.checked_sub(1);
            match before {
                Some(sign) if text.as_bytes().get(sign) == Some(&b'!') => sign,
                _ => open,
            }
        }
        None => at,
    }
}

/// Whether an address has a query whose value is to be filled in with what a model knows.
fn has_place_for_data(address: &str) -> bool {
    let Some((_, query)) = address.split_once('?') else {
        return has_named_place(address);
    };
    query.split('&').any(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, "x"));
        let name = name.to_ascii_lowercase();
        let tells = DATA.iter().any(|word| name == *word);
        has_named_place(value) || (tells && (value.is_empty() || value.starts_with(OPEN)))
    })
}

/// Whether a placeholder stands in a text that names data a model knows.
fn has_named_place(text: &str) -> bool {
    text.match_indices(OPEN).any(|(at, _)| {
        let rest = after(text, at + 1, 60).trim_start_matches(OPEN);
        let name = rest.split([']', '}', '>', '%', '$', ')']).next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        name.split(|c: char| !c.is_alphanumeric())
            .any(|word| DATA.contains(&word))
    })
}

/// Whether the words around a leak ask for it to be filled in.
pub(super) fn is_asked_for(text: &str, span: (usize, usize)) -> bool {
    let around = window(text, span, 300).to_lowercase();
    ASKS.iter().any(|word| around.contains(word))
}

const OPEN: [char; 5] = ['{', '[', '<', '$', '%'];

/// Addresses are read no further than this.
const MAX_LENGTH: usize = 400;

/// What data a model has is called.
const DATA: [&str; 30] = [
    "data",
    "secret",
    "secrets",
    "password",
    "passwords",
    "key",
    "keys",
    "apikey",
    "token",
    "tokens",
    "conversation",
    "history",
    "chat",
    "prompt",
    "context",
    "summary",
    "content",
    "contents",
    "message",
    "messages",
    "memory",
    "env",
    "credentials",
    "leak",
    "exfil",
    "base64",
    "encoded",
    "stolen",
    "email",
    "user",
];

/// Words that ask for an address to be filled in or shown.
const ASKS: [&str; 16] = [
    "replace",
    "render",
    "include",
    "append",
    "insert",
    "encode",
    "conversation",
    "display",
    "substitut",
    "fill",
    "your response",
    "your answer",
    "the user",
    "ersetze",
    "remplace",
    "reemplaza",
];
