//! Letters moved on in the alphabet, mirrored in it, or read backwards.
//!
//! Steps from letter to letter are the same whatever the shift, so that one table of the steps of a few
//! telling words finds them under every key at the price of one look-up for every longer word.

use std::ops::Range;

use super::super::pieces::{Draft, Made};
use super::super::{Disguise, lexicon};
use super::passage;

/// Whether the word that begins at `start` is a telling one once shifted, mirrored or turned round. It
/// has [`MIN_LENGTH`] letters or more.
pub(in super::super) fn is_suspect_at(bytes: &[u8], start: usize) -> bool {
    let rest = bytes.get(start..).unwrap_or_default();
    let Some([a, b, c, d]) = rest.first_chunk() else {
        return false;
    };
    let steps = step(*a, *b) + 26 * (step(*b, *c) + 26 * step(*c, *d));
    let bits = STEPS.get(steps / 64).copied().unwrap_or(0);
    bits >> (steps % 64) & 1 != 0 && is_suspect(word_at(bytes, start))
}

/// The word that begins there, as far as one can be a known one.
pub(super) fn word_at(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .take(MAX_LENGTH + 1)
        .take_while(|byte| is_letter(**byte))
        .count();
    rest.get(..length).unwrap_or_default()
}

/// Whether a word is a telling one in a cipher, and not just that word.
fn is_suspect(word: &[u8]) -> bool {
    let [first, second, .., last_but_one, last] = word else {
        return false;
    };
    let beginning = |from: &u8, to: &u8| TELLING_BY_STEP.get(step(*from, *to)).copied();
    let mut possible = beginning(first, second).unwrap_or(0)
        | beginning(second, first).unwrap_or(0)
        | beginning(last, last_but_one).unwrap_or(0);
    possible &= TELLING_BY_LENGTH.get(word.len()).copied().unwrap_or(0);
    while possible != 0 {
        let telling = lexicon::TELLING.get(possible.trailing_zeros() as usize);
        if telling.is_some_and(|telling| is_in_cipher(telling.as_bytes(), word)) {
            return true;
        }
        possible &= possible - 1;
    }
    false
}

/// Whether a word of the same length is the telling one shifted, mirrored or turned round.
fn is_in_cipher(telling: &[u8], word: &[u8]) -> bool {
    if word.eq_ignore_ascii_case(telling) {
        return false;
    }
    let forward = |pair: &[u8]| match pair {
        [one, other] => step(*one, *other),
        _ => 0,
    };
    let mirrored = |pair: &[u8]| match pair {
        [one, other] => step(*other, *one),
        _ => 0,
    };
    let steps = || telling.windows(2).map(forward);
    steps().eq(word.windows(2).map(forward))
        || steps().eq(word.windows(2).map(mirrored))
        || steps().eq(word.windows(2).rev().map(mirrored))
}

/// Reads lines under the key that makes known words of them.
pub(super) fn shifted<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let slice = text.get(line.clone()).unwrap_or_default();
        let (before, _) = lexicon::known_words(slice);
        let keys = (1..26).map(Key::Shift).chain([Key::Mirror]);
        let best = keys
            .map(|key| {
                let says: String = slice.chars().map(|c| key.undo(c)).collect();
                (lexicon::known_words(&says), key)
            })
            .max_by_key(|((known, _), _)| *known);
        if let Some(((known, all), key)) = best
            && is_better(known, all, before)
        {
            for (offset, c) in slice.char_indices() {
                let at = line.start + offset;
                let range = at..at + c.len_utf8();
                draft.add_char(range, key.undo(c), Made::Undone(Disguise::Cipher));
            }
            draft.end_telling_segment();
        }
    }
}

/// How letters were replaced.
#[derive(Clone, Copy)]
enum Key {
    /// Moved back by so many places.
    Shift(u8),
    /// The first letter is the last.
    Mirror,
}

impl Key {
    fn undo(self, c: char) -> char {
        let first = match c {
            'a'..='z' => b'a',
            'A'..='Z' => b'A',
            _ => return c,
        };
        let place = (c as u8).wrapping_sub(first);
        let place = match self {
            Key::Shift(by) => (place + by) % 26,
            Key::Mirror => 25 - place,
        };
        char::from(first + place)
    }
}

/// Reads lines backwards: as a whole, and each word where it stands.
pub(super) fn reversed<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let slice = text.get(line.clone()).unwrap_or_default();
        let (before, _) = lexicon::known_words(slice);
        let says: String = slice.chars().rev().collect();
        let (known, all) = lexicon::known_words(&says);
        if !is_better(known, all, before) {
            continue;
        }
        backwards(slice, line.start, draft);
        draft.end_telling_segment();
        for word in words(slice) {
            let part = slice.get(word.clone()).unwrap_or_default();
            backwards(part, line.start + word.start, draft);
        }
        draft.end_segment();
    }
}

fn backwards(slice: &str, start: usize, draft: &mut Draft<'_>) {
    for (offset, c) in slice.char_indices().rev() {
        let at = start + offset;
        draft.add_char(at..at + c.len_utf8(), c, Made::Undone(Disguise::Cipher));
    }
}

/// Words and what is between them.
fn words(slice: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = slice.get(at..).filter(|rest| !rest.is_empty())?;
        let letter = rest.chars().next()?.is_alphanumeric();
        let length = rest
            .find(|c: char| c.is_alphanumeric() != letter)
            .unwrap_or(rest.len());
        at += length;
        Some(at - length..at)
    })
}

/// Whether a line reads so much better that this is what was meant.
fn is_better(known: usize, all: usize, before: usize) -> bool {
    known >= 2 && known * 5 >= all * 2 && known > before * 2
}

const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// How far it is from one letter to the next, round the alphabet.
const fn step(from: u8, to: u8) -> usize {
    let (from, to) = (from | 0x20, to | 0x20);
    let step = to as usize + 26 - from as usize;
    if step < 26 { step } else { step - 26 }
}

const MAX_LENGTH: usize = 15;
/// The length of the shortest telling word.
pub(in super::super) const MIN_LENGTH: usize = 6;

/// For every length the telling words that have it, a bit each.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
static TELLING_BY_LENGTH: [u128; MAX_LENGTH + 1] = {
    let mut table = [0; MAX_LENGTH + 1];
    let mut index = 0;
    while index < lexicon::TELLING.len() {
        table[lexicon::TELLING[index].len()] |= 1 << index;
        index += 1;
    }
    table
};

/// For every step the telling words that begin with it, a bit each.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
static TELLING_BY_STEP: [u128; 26] = {
    let mut table = [0; 26];
    let mut index = 0;
    while index < lexicon::TELLING.len() {
        let word = lexicon::TELLING[index].as_bytes();
        table[step(word[0], word[1])] |= 1 << index;
        index += 1;
    }
    table
};

/// The steps of the first four letters of every telling word: as it is, mirrored and backwards.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
static STEPS: [u64; 275] = {
    let mut table = [0; 275];
    let mut index = 0;
    while index < lexicon::TELLING.len() {
        let word = lexicon::TELLING[index].as_bytes();
        let last = word.len() - 1;
        let (a, b) = (step(word[0], word[1]), step(word[1], word[2]));
        let c = step(word[2], word[3]);
        let (x, y) = (
            step(word[last], word[last - 1]),
            step(word[last - 1], word[last - 2]),
        );
        let z = step(word[last - 2], word[last - 3]);
        let all = [
            a + 26 * (b + 26 * c),
            (26 - a) % 26 + 26 * ((26 - b) % 26 + 26 * ((26 - c) % 26)),
            x + 26 * (y + 26 * z),
        ];
        let mut each = 0;
        while each < 3 {
            table[all[each] / 64] |= 1 << (all[each] % 64);
            each += 1;
        }
        index += 1;
    }
    table
};
