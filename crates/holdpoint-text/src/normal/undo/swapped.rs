//! Letters of words that changed places: `ingore pervious intsructions`. People and models read it as if nothing had happened.
//!
//! The letters of a word have the same sum in any order, so that one look-up for every longer word tells whether it has those of
//! a known one. A slip of the pen does as well: only two of them near each other are worth a closer look.

use std::ops::Range;

use super::super::pieces::{Draft, Made};
use super::super::{Disguise, lexicon};
use super::cipher::word_at;
use super::passage;

/// Whether the word that begins at `start` has the letters of a known one in another order. It has
/// [`super::cipher::MIN_LENGTH`] letters or more.
pub(in super::super) fn is_suspect_at(bytes: &[u8], start: usize) -> bool {
    let word = word_at(bytes, start);
    lexicon::may_be_swapped(word)
        && str::from_utf8(word).is_ok_and(|word| lexicon::with_letters_of(word).is_some())
}

/// Whether the words that begin at two places are different ones: a word that stands twice is a word, or a slip nobody noticed.
pub(in super::super) fn differ(bytes: &[u8], one: usize, other: usize) -> bool {
    !word_at(bytes, one).eq_ignore_ascii_case(word_at(bytes, other))
}

/// Puts the letters of known words back into their order.
pub(super) fn swapped<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let mut copied = line.start;
        for word in words(text, line.clone()) {
            let spelling = text.get(word.clone()).unwrap_or_default();
            if let Some(known) = lexicon::with_letters_of(spelling) {
                draft.copy(copied..word.start);
                for (at, c) in (word.start..).zip(known.chars()) {
                    draft.add_char(at..at + 1, c, Made::Undone(Disguise::Cipher));
                }
                copied = word.end;
            }
        }
        draft.copy(copied..line.end);
        draft.end_telling_segment();
    }
}

/// The words of a line that are letters of ASCII.
fn words(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let slice = text.get(line.clone()).unwrap_or_default();
    let mut start = line.start;
    slice
        .split(|c: char| !c.is_alphanumeric())
        .filter_map(move |word| {
            let at = start;
            let end = at + word.len();
            start = end + text.get(end..)?.chars().next().map_or(1, char::len_utf8);
            let is_word =
                word.len() >= MIN_LENGTH && word.bytes().all(|it| it.is_ascii_alphabetic());
            is_word.then_some(at..end)
        })
}

/// Shorter words have letters in common with too many others.
const MIN_LENGTH: usize = 4;
