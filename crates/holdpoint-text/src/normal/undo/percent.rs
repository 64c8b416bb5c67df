//! Percent-encoding, as in addresses.

use super::super::Disguise;
use super::super::pieces::{Draft, Made};

/// Decodes the words in which characters are percent-encoded.
pub(super) fn percent<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut done = 0;
    for place in places {
        if *place < done {
            continue;
        }
        if draft.is_full() {
            return;
        }
        let bytes = text.as_bytes();
        let before = bytes.get(done..*place).unwrap_or_default();
        let start = place
            - before
                .iter()
                .rev()
                .take_while(|byte| in_word(**byte))
                .count();
        let rest = bytes.get(start..).unwrap_or_default();
        let end = start + rest.iter().take_while(|byte| in_word(**byte)).count();
        done = end.max(place + 1);
        decode_word(text, start, end, draft);
    }
}

fn decode_word<'t>(text: &'t str, start: usize, end: usize, draft: &mut Draft<'t>) {
    let bytes = text.as_bytes();
    let mut at = start;
    let (mut count, mut pluses, mut letters) = (0, 0, 0);
    while at < end {
        let mut code = Vec::new();
        let mut next = at;
        while let Some(byte) = encoded(bytes, next) {
            code.push(byte);
            next += 3;
        }
        if code.is_empty() {
            let after = text.ceil_char_boundary(at + 1);
            if bytes.get(at) == Some(&b'+') {
                pluses += 1;
                draft.add(at..after, " ", Made::Folded);
            } else {
                draft.copy(at..after);
            }
            at = after;
            continue;
        }
        count += code.len();
        for chunk in code.utf8_chunks() {
            for c in chunk.valid().chars() {
                letters += usize::from(c.is_alphabetic());
                let after = at + 3 * c.len_utf8();
                draft.add_char(at..after, c, Made::Undone(Disguise::Percent));
                at = after;
            }
            at += 3 * chunk.invalid().len();
        }
    }
    if count < MIN_COUNT && pluses < MIN_PLUSES {
        draft.drop_segment();
    } else if letters >= TELLING && draft.segment().is_ascii() {
        draft.end_telling_segment();
    } else {
        draft.end_segment();
    }
}

fn encoded(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = bytes.get(at..at + 3)? else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

fn in_word(byte: u8) -> bool {
    byte > b' ' && !matches!(byte, b'"' | b'<' | b'>' | b'`')
}

/// One is a format or a space in a name.
const MIN_COUNT: usize = 2;
/// Fewer are sums and names.
const MIN_PLUSES: usize = 3;
/// Nobody encodes so many letters but to hide them.
const TELLING: usize = 8;
