//! Letters moved on in the alphabet, mirrored in it, or read backwards.
//!
//! Steps from letter to letter are the same whatever the shift, so that one table of the steps of a few
//! telling words finds them under every key at the price of one look-up for every third byte.

use std::ops::Range;

use super::super::pieces::{Draft, Made};
use super::super::{Disguise, lexicon};
use super::passage;

/// Where words begin that are telling ones once shifted, mirrored or turned round.
pub(in super::super) fn suspects(bytes: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&[a, b, c, d]) = bytes.get(at..at + 4) {
        if are_letters([a, b, c, d]) {
            let steps = step(a, b) + 26 * (step(b, c) + 26 * step(c, d));
            let bits = STEPS.get(steps / 64).copied().unwrap_or(0);
            if bits >> (steps % 64) & 1 != 0
                && let Some(start) = beginning(bytes, at)
                && is_suspect(word_at(bytes, start))
            {
                found.push(start);
            }
        }
        at += STRIDE;
    }
    found
}

/// Whether all of four bytes are letters: each is tested in its own part of one number.
fn are_letters(four: [u8; 4]) -> bool {
    const HIGH: u32 = 0x8080_8080;
    let bytes = u32::from_le_bytes(four);
    let lower = bytes | 0x2020_2020;
    bytes & HIGH == 0
        && lower.wrapping_add(0x1f1f_1f1f) & HIGH == HIGH
        && lower.wrapping_add(0x0505_0505) & HIGH == 0
}

/// Where the word begins of which `at` is one of the first [`STRIDE`] letters.
fn beginning(bytes: &[u8], at: usize) -> Option<usize> {
    let before = bytes.get(..at)?.iter().rev();
    let letters = before
        .take(STRIDE)
        .take_while(|byte| is_letter(**byte))
        .count();
    (letters < STRIDE).then_some(at - letters)
}

fn word_at(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .take(LONGEST + 1)
        .take_while(|byte| is_letter(**byte))
        .count();
    rest.get(..length).unwrap_or_default()
}

/// Whether a word is a telling one in a cipher, and not just that word.
fn is_suspect(word: &[u8]) -> bool {
    lexicon::TELLING
        .iter()
        .filter(|telling| telling.len() == word.len())
        .any(|telling| {
            let telling = telling.as_bytes();
            if word.eq_ignore_ascii_case(telling) {
                return false;
            }
            let same = |word: &mut dyn Iterator<Item = usize>| {
                let steps = telling.windows(2).map(|pair| match pair {
                    [one, other] => step(*one, *other),
                    _ => 0,
                });
                word.eq(steps)
            };
            let forward = |pair: &[u8]| match pair {
                [one, other] => step(*one, *other),
                _ => 0,
            };
            let mirrored = |pair: &[u8]| match pair {
                [one, other] => step(*other, *one),
                _ => 0,
            };
            same(&mut word.windows(2).map(forward))
                || same(&mut word.windows(2).map(mirrored))
                || same(&mut word.windows(2).rev().map(mirrored))
        })
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

const LONGEST: usize = 15;
/// Telling words have three letters more than this.
const STRIDE: usize = 3;

/// The steps of four letters in a row, from each of the first three on, of every telling word: as it
/// is, mirrored and backwards.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
const STEPS: [u64; 275] = {
    let mut table = [0; 275];
    let mut index = 0;
    while index < lexicon::TELLING.len() {
        let word = lexicon::TELLING[index].as_bytes();
        let mut offset = 0;
        while offset < STRIDE {
            let last = word.len() - 1 - offset;
            let (a, b) = (
                step(word[offset], word[offset + 1]),
                step(word[offset + 1], word[offset + 2]),
            );
            let c = step(word[offset + 2], word[offset + 3]);
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
            offset += 1;
        }
        index += 1;
    }
    table
};
