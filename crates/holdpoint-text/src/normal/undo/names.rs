//! A sentence written as one name of a program: `ignore_all_of_this`, `ignoreAllOfThis`, `ignore-all-of-this`.
//!
//! Names are everywhere in source, and none of them is a sentence: only one of many words is worth a look, and what it says
//! is then judged like any other sentence.

use std::ops::Range;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};

/// Sets the words of long names apart.
pub(super) fn names<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut done = 0;
    for place in places {
        if draft.is_full() {
            return;
        }
        if *place < done {
            continue;
        }
        let name = around(text, *place, done);
        done = name.end.max(*place + 1);
        let words = words(text, name);
        if !is_sentence(text, &words) {
            continue;
        }
        let mut end = None;
        for word in words {
            if let Some(end) = end.replace(word.end) {
                draft.add(end..word.start, " ", Made::Undone(Disguise::Split));
            }
            draft.copy(word);
        }
        draft.end_segment();
    }
}

/// The name around a place, from `earliest` on.
fn around(text: &str, place: usize, earliest: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let from = place.saturating_sub(MAX_LENGTH).max(earliest);
    let before = bytes.get(from..place).unwrap_or_default();
    let after = bytes.get(place..).unwrap_or_default();
    let back = before.iter().rev().take_while(|byte| is_part(**byte));
    let ahead = after.iter().take(MAX_LENGTH);
    let ahead = ahead.take_while(|byte| is_part(**byte)).count();
    place - back.count()..place + ahead
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 128 || matches!(byte, b'_' | b'-')
}

/// The words of a name: between its signs, and from one capital to the next.
fn words(text: &str, name: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut before = b'_';
    let bytes = text.as_bytes().get(name.clone()).unwrap_or_default();
    for (at, byte) in (name.start..).zip(bytes) {
        let hump = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
        let ends = matches!(byte, b'_' | b'-');
        if (hump || ends)
            && let Some(start) = start.take()
        {
            words.push(start..at);
        }
        if !ends && start.is_none() {
            start = Some(at);
        }
        before = *byte;
    }
    words.extend(start.map(|start| start..name.end));
    words
}

/// Whether words are so many, and so much like those of a language, that they may say something.
fn is_sentence(text: &str, words: &[Range<usize>]) -> bool {
    let is_word = |range: &&Range<usize>| {
        let word = text.get((*range).clone()).unwrap_or_default();
        word.len() <= MAX_WORD && word.chars().all(char::is_alphabetic)
    };
    words.len() >= MIN_WORDS && words.iter().filter(is_word).count() * 4 >= words.len() * 3
}

/// Fewer words are an ordinary name; names of tests have more, and say what they test.
const MIN_WORDS: usize = 6;
/// Longer ones are keys and hashes.
const MAX_WORD: usize = 18;
/// How far a name is followed; what goes on beyond is read as another.
const MAX_LENGTH: usize = 4096;
