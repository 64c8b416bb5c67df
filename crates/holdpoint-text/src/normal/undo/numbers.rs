//! Lists of character codes: decimal, hexadecimal, octal and binary, with whatever stands between them.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};
use super::super::prose;

/// Decodes lists of character codes.
pub(super) fn numbers<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut done = 0;
    for place in places {
        if *place < done {
            continue;
        }
        if draft.is_full() {
            return;
        }
        let mut start = beginning(text.as_bytes(), *place, done);
        let mut list = list_from(text, start);
        // Other numbers may stand before it, as a date does.
        while let Some(end) = list.last().map(|last| last.end)
            && end <= *place
            && end > start
        {
            start = end;
            list = list_from(text, start);
        }
        done = list.last().map_or(*place, |last| last.end).max(*place) + 1;
        if let Some([first, rest @ ..]) = Some(list.as_slice())
            && rest.is_empty()
        {
            bits(text, first.clone(), draft);
        } else if list.len() >= MIN_COUNT {
            decode(text, &list, draft);
        }
    }
}

/// Where the list that goes through `place` begins: as far back as there are digits and separators.
fn beginning(bytes: &[u8], place: usize, done: usize) -> usize {
    let before = bytes.get(done..place).unwrap_or_default();
    let back = before
        .iter()
        .rev()
        .take_while(|byte| {
            byte.is_ascii_hexdigit()
                || matches!(
                    byte,
                    b'x' | b'X' | b'\\' | b' ' | b',' | b':' | b';' | b'-' | b'\t'
                )
        })
        .count();
    place - back
}

/// The numbers from `start` on that have the same between them.
fn list_from(text: &str, start: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut between: Option<&[u8]> = None;
    let mut at = start;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(gap) = (0..WIDEST_GAP.min(rest.len())).find(|gap| begins(bytes, at + gap)) else {
            return found;
        };
        let mut first = at + gap;
        // `0x`, `0b` and the like belong to the gap.
        if matches!(
            bytes.get(first..first + 4),
            Some([b'0', b'x' | b'X', ..] | [b'0', b'b' | b'B', b'0' | b'1', b'0' | b'1'])
        ) {
            first += 2;
        }
        let length = bytes
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        if !found.is_empty() {
            let gap = bytes.get(at..first).unwrap_or_default();
            match between {
                // Lists are broken into lines.
                Some(usual) if trimmed(usual) != trimmed(gap) => return found,
                Some(_) => {}
                None => between = Some(gap),
            }
            // A number of another length on the next line is what that line begins with, such as a date.
            let usual = |range: &Range<usize>| range.len() == length;
            if gap.contains(&b'\n') && !found.iter().any(usual) {
                return found;
            }
        }
        if length == 0 {
            return found;
        }
        found.push(first..first + length);
        at = first + length;
    }
}

/// Whether a number begins here: with a digit, or as two digits of base 16 that stand alone.
fn begins(bytes: &[u8], at: usize) -> bool {
    let is = |at: usize, what: fn(&u8) -> bool| bytes.get(at).is_some_and(what);
    let ended = |at: Option<usize>| !at.is_some_and(|at| is(at, u8::is_ascii_alphanumeric));
    is(at, u8::is_ascii_digit)
        || (is(at, u8::is_ascii_hexdigit)
            && is(at + 1, u8::is_ascii_hexdigit)
            && ended(Some(at + 2))
            && ended(at.checked_sub(1)))
}

fn trimmed(gap: &[u8]) -> &[u8] {
    match gap.trim_ascii() {
        [] if !gap.is_empty() => b" ",
        gap => gap,
    }
}

/// Digits of base 2 without gaps.
fn bits(text: &str, range: Range<usize>, draft: &mut Draft<'_>) {
    let digits = text.get(range.clone()).unwrap_or_default();
    if digits.len() >= 32
        && digits.len().is_multiple_of(8)
        && digits.bytes().all(|byte| matches!(byte, b'0' | b'1'))
    {
        let list: Vec<_> = range.step_by(8).map(|start| start..start + 8).collect();
        decode(text, &list, draft);
    }
}

/// Adds what the codes say, in whichever base they make sense.
fn decode(text: &str, list: &[Range<usize>], draft: &mut Draft<'_>) {
    let digits = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let length = |least: usize, most: usize| {
        list.iter()
            .all(|range| (least..=most).contains(&range.len()))
    };
    let bases: &[u32] = if length(7, 8) {
        &[2]
    } else if length(2, 2) {
        &[16, 10]
    } else if length(2, 3) {
        &[10, 8]
    } else if length(4, 4) {
        &[16]
    } else {
        &[]
    };
    for base in bases {
        let codes: Option<Vec<u32>> = list
            .iter()
            .map(|range| u32::from_str_radix(digits(range), *base).ok())
            .collect();
        let Some(characters) = codes.and_then(|codes| characters(&codes, list)) else {
            continue;
        };
        let says: String = characters.iter().map(|(c, _)| *c).collect();
        let letters = says
            .chars()
            .filter(|c| c.is_alphabetic() || *c == ' ' || is_combining_mark(*c))
            .count();
        if !prose::is_text(&says) || letters * 4 < characters.len() * 3 {
            continue;
        }
        for (c, range) in characters {
            draft.add_char(range, c, Made::Undone(Disguise::Hex));
        }
        if prose::is_prose(&says) {
            draft.end_telling_segment();
        } else {
            draft.end_segment();
        }
        return;
    }
}

/// The characters of codes: one each, or, where they are bytes beyond ASCII, as UTF-8 has them.
fn characters(codes: &[u32], list: &[Range<usize>]) -> Option<Vec<(char, Range<usize>)>> {
    let bytes: Option<Vec<u8>> = codes.iter().map(|code| u8::try_from(*code).ok()).collect();
    let whole = bytes.as_ref().and_then(|bytes| str::from_utf8(bytes).ok());
    let each: Vec<(char, usize)> = match whole {
        Some(text) => text.chars().map(|c| (c, c.len_utf8())).collect(),
        None => codes
            .iter()
            .map(|code| Some((char::from_u32(*code)?, 1)))
            .collect::<Option<_>>()?,
    };
    let mut found = Vec::with_capacity(each.len());
    let mut at = 0;
    for (c, width) in each {
        if c.is_control() && !c.is_whitespace() {
            return None;
        }
        let range = list.get(at)?.start..list.get(at + width - 1)?.end;
        found.push((c, range));
        at += width;
    }
    Some(found)
}

/// Fewer codes say nothing.
const MIN_COUNT: usize = 8;
/// What stands between two codes is at most this long.
const WIDEST_GAP: usize = 14;
