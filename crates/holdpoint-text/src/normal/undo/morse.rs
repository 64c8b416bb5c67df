//! Morse code.

use super::super::pieces::{Draft, Made};
use super::super::{Disguise, lexicon};
use super::passage;

/// Reads lines of dots and dashes that are known words.
pub(super) fn morse<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let mut at = line.start;
        let slice = text.get(line.clone()).unwrap_or_default();
        for token in slice.split_inclusive(' ') {
            let range = at..at + token.len();
            at = range.end;
            match token.trim() {
                "/" | "|" | "" => draft.add(range, " ", Made::Folded),
                signs => {
                    if let Some(c) = letter(signs) {
                        draft.add_char(range, c, Made::Undone(Disguise::Cipher));
                    }
                }
            }
        }
        let (known, all) = lexicon::known_words(draft.segment());
        if known >= 2 && known * 2 >= all {
            draft.end_telling_segment();
        } else {
            draft.drop_segment();
        }
    }
}

fn letter(signs: &str) -> Option<char> {
    CODE.iter()
        .position(|code| *code == signs)
        .and_then(|place| char::from_digit(u32::try_from(place).ok()? + 10, 36))
}

const CODE: [&str; 26] = [
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
    "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--", "--..",
];
