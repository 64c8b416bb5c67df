//! Accents on nearly every letter, which no language writes.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};
use super::{passage, wide};

/// Where letters with accents stand close to each other.
pub(super) fn suspects(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut near, mut last) = (0, 0);
    for (at, c) in wide::characters(text) {
        if is_accented(c) {
            near = if at - last <= NEAR { near + 1 } else { 1 };
            last = at;
            if near >= MIN_COUNT {
                found.push(at);
            }
        }
    }
    found
}

/// Takes the accents off in lines where most words are full of them.
pub(super) fn without_accents<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let slice = text.get(line.clone()).unwrap_or_default();
        if !is_heaped(slice) {
            continue;
        }
        let mut copied = line.start;
        for (offset, c) in slice.char_indices() {
            let at = line.start + offset;
            let range: Range<usize> = at..at + c.len_utf8();
            if let Some(letter) = bare(c) {
                draft.copy(copied..at);
                copied = range.end;
                draft.add_char(range, letter, Made::Undone(Disguise::Combining));
            }
        }
        draft.copy(copied..line.end);
        draft.end_telling_segment();
    }
}

/// Whether most words of a line have accents on most of their letters.
fn is_heaped(line: &str) -> bool {
    let (mut heaped, mut all) = (0, 0);
    for word in line.split(|c: char| !c.is_alphabetic()) {
        let letters = word.chars().count();
        if letters > 2 {
            let accented = word.chars().filter(|c| is_accented(*c)).count();
            all += 1;
            heaped += usize::from(accented * 2 >= letters);
        }
    }
    heaped >= MIN_COUNT && heaped * 2 >= all
}

fn is_accented(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && bare(c).is_some()
}

/// The letter of ASCII under the accents of a letter.
fn bare(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let letter = std::iter::once(c).nfd().next()?;
    letter.is_ascii_alphabetic().then_some(letter)
}

/// Fewer are ordinary words.
const MIN_COUNT: usize = 3;
/// How many bytes apart they stand.
const NEAR: usize = 5;
