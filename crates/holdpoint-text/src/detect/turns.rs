//! Invented turns of a conversation: lines that begin with who speaks, where several follow each other.

use super::surroundings::{begins_line, colon_follows};
use crate::words::Word;

/// Who may speak.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    System,
}

/// The span of the first two turns of different speakers that follow each other closely.
pub(super) fn find(text: &str, words: &[Word]) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut last: Option<(Speaker, &Word)> = None;
    for word in words {
        let (start, end) = (word.start as usize, word.end as usize);
        // A colon is rarer than a name, and cheaper to see.
        if !matches!(bytes.get(end), Some(b':' | b'*')) {
            continue;
        }
        let Some(speaker) = speaker(text.get(start..end).unwrap_or_default()) else {
            continue;
        };
        if !begins_line(text, start) || !colon_follows(text, end) {
            continue;
        }
        if let Some((before, first)) = last
            && before != speaker
            && (before == Speaker::Assistant || speaker == Speaker::Assistant)
            && word.start - first.start < MAX_REACH
        {
            return Some((first.start as usize, end));
        }
        last = Some((speaker, word));
    }
    None
}

/// Who a name stands for. A speaker is written with a capital.
fn speaker(name: &str) -> Option<Speaker> {
    match name {
        "Human" | "User" | "USER" | "HUMAN" | "Customer" => Some(Speaker::User),
        "Assistant" | "ASSISTANT" | "AI" | "Bot" | "Claude" | "ChatGPT" | "GPT" | "Model" => {
            Some(Speaker::Assistant)
        }
        "System" | "SYSTEM" | "Developer" => Some(Speaker::System),
        _ => None,
    }
}

/// Turns that stand farther apart do not answer each other.
const MAX_REACH: u32 = 600;
