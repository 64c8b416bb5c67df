//! Letters turned upside down, which are written from the end.

use super::super::Disguise;
use super::super::pieces::{Draft, Made};
use super::{passage, wide};

/// Where letters stand that are only used turned.
pub(super) fn suspects(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut near = 0;
    let mut last = 0;
    for (at, c) in wide::characters(text) {
        if upright(c).is_some() {
            near = if at - last < NEAR { near + 1 } else { 1 };
            last = at;
            if near >= MIN_COUNT {
                found.push(at);
            }
        }
    }
    found
}

/// Turns lines back: from the end, as they are written to be read upside down, and as they stand.
pub(super) fn turned<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let slice = text.get(line.clone()).unwrap_or_default();
        for (offset, c) in slice.char_indices().rev() {
            add(line.start + offset, c, draft);
        }
        draft.end_segment();
        for (offset, c) in slice.char_indices() {
            add(line.start + offset, c, draft);
        }
        draft.end_telling_segment();
    }
}

fn add(at: usize, c: char, draft: &mut Draft<'_>) {
    let letter = upright(c).unwrap_or(c);
    let made = Made::Undone(Disguise::Cipher);
    draft.add_char(at..at + c.len_utf8(), letter, made);
}

fn upright(c: char) -> Option<char> {
    Some(match c {
        'ɐ' => 'a',
        'q' => 'b',
        'ɔ' => 'c',
        'p' => 'd',
        'ǝ' => 'e',
        'ɟ' => 'f',
        'ƃ' | 'ᵷ' => 'g',
        'ɥ' => 'h',
        'ᴉ' | 'ı' => 'i',
        'ɾ' | 'ſ' => 'j',
        'ʞ' => 'k',
        'ʅ' | 'ꞁ' => 'l',
        'ɯ' => 'm',
        'u' => 'n',
        'd' => 'p',
        'b' => 'q',
        'ɹ' => 'r',
        'ʇ' => 't',
        'n' => 'u',
        'ʌ' => 'v',
        'ʍ' => 'w',
        'ʎ' => 'y',
        _ => return None,
    })
}

/// Fewer are letters of phonetic script.
const MIN_COUNT: usize = 5;
/// How near to each other they stand.
const NEAR: usize = 16;
