//! Base64, base32 and runs of hexadecimal digits.

use std::ops::Range;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};
use super::super::prose;

/// Decodes runs of base64 and base32.
pub(super) fn base64<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for run in Runs::new(text, places) {
        if draft.is_full() {
            return;
        }
        if run.ways().any(|part| base64_part(part, draft)) {
            continue;
        }
        // A name or a path may stand before it.
        for part in run
            .signs
            .split(|(byte, _)| matches!(byte, b'-' | b'_' | b'/'))
        {
            if part.len() < run.signs.len() && part.len() >= MIN_LENGTH {
                base64_part(part, draft);
            }
        }
    }
}

fn base64_part(part: &[(u8, usize)], draft: &mut Draft<'_>) -> bool {
    if is_hexadecimal(part) {
        return false;
    }
    let is_base32 = part.iter().all(|(byte, _)| base32_value(*byte).is_some());
    let decoded = |part: &[(u8, usize)]| {
        if is_base32 {
            decoded(part, 5, base32_value)
        } else {
            decoded(part, 6, base64_value)
        }
    };
    if add(Disguise::Base64, decoded(part), draft) {
        return true;
    }
    // Written backwards, it begins with its padding. Its first signs tell whether that is worth a try.
    let first: Vec<(u8, usize)> = part.iter().rev().take(2 * ENOUGH).copied().collect();
    if decoded(&first).is_none() {
        return false;
    }
    let backwards: Vec<(u8, usize)> = part.iter().rev().copied().collect();
    let bytes = decoded(&backwards).filter(|bytes| {
        let plain: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
        str::from_utf8(&plain).is_ok_and(prose::is_prose)
    });
    add(Disguise::Base64, bytes, draft)
}

/// Decodes runs of hexadecimal digits.
pub(super) fn hexadecimal<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    // Places are within runs, after where `0x` would stand.
    let within = |place: &usize| {
        let bytes = text.as_bytes().get(*place..place + 8);
        bytes.is_some_and(|bytes| bytes.iter().all(u8::is_ascii_hexdigit))
    };
    let places: Vec<usize> = places.iter().copied().filter(within).collect();
    for run in Runs::new(text, &places) {
        if draft.is_full() {
            return;
        }
        for part in run.ways() {
            let digits = match part {
                [(b'0', _), (b'x' | b'X', _), digits @ ..] => digits,
                digits => digits,
            };
            if digits.len().is_multiple_of(2)
                && is_hexadecimal(digits)
                && add(Disguise::Hex, decoded(digits, 4, hexadecimal_value), draft)
            {
                break;
            }
        }
    }
}

fn is_hexadecimal(run: &[(u8, usize)]) -> bool {
    run.iter().skip(2).all(|(byte, _)| byte.is_ascii_hexdigit())
}

/// Bytes with where each of them comes from.
type Bytes = Vec<(u8, Range<usize>)>;

/// The bytes of digits of so many bits. Nothing if the first few are no text.
fn decoded(run: &[(u8, usize)], bits: u32, value: fn(u8) -> Option<u8>) -> Option<Bytes> {
    let mut bytes = Bytes::with_capacity(ENOUGH);
    let (mut kept, mut count) = (0_u32, 0);
    let mut from = None;
    for (byte, at) in run {
        let digit = value(*byte)?;
        let start = *from.get_or_insert(*at);
        kept = (kept << bits | u32::from(digit)) & 0xffff;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.push((
                (kept >> count & 0xff) as u8,
                start.min(*at)..start.max(*at) + 1,
            ));
            from = (count > 0).then_some(*at);
            if bytes.len() == ENOUGH && !could_be_text(&bytes) {
                return None;
            }
        }
    }
    Some(bytes)
}

/// Whether bytes could be text, in UTF-8 or in pairs as some shells encode their commands.
fn could_be_text(bytes: &Bytes) -> bool {
    if characters_of_pairs(bytes).is_some() {
        return true;
    }
    let zeros = bytes.iter().filter(|(byte, _)| *byte == 0).count();
    let controls = bytes
        .iter()
        .filter(|(byte, _)| matches!(byte, 1..=8 | 11..=12 | 14..=26 | 28..=31 | 127))
        .count();
    if controls > 0 {
        return false;
    }
    if zeros > 0 {
        return zeros * 3 >= bytes.len();
    }
    let plain: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
    str::from_utf8(&plain).map_or_else(|fault| fault.error_len().is_none(), |_| true)
}

/// Adds bytes that are text, and tells whether they were.
fn add(disguise: Disguise, bytes: Option<Bytes>, draft: &mut Draft<'_>) -> bool {
    let Some(bytes) = bytes else { return false };
    let made = Made::Undone(disguise);
    let Some(characters) = characters(&bytes) else {
        return false;
    };
    let says: String = characters.iter().map(|(c, _)| *c).collect();
    if !prose::is_text(&says) {
        return false;
    }
    for (c, range) in characters {
        draft.add_char(range, c, made);
    }
    if prose::is_prose(&says) {
        draft.end_telling_segment();
    } else {
        draft.end_segment();
    }
    true
}

/// The characters bytes are, in UTF-8 or UTF-16.
fn characters(bytes: &Bytes) -> Option<Vec<(char, Range<usize>)>> {
    let plain: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
    let span = |first: usize, last: usize| Some(bytes.get(first)?.1.start..bytes.get(last)?.1.end);
    let zeros = plain.iter().filter(|byte| **byte == 0).count();
    if zeros * 3 >= plain.len() && !plain.is_empty() {
        let big = plain.first() == Some(&0);
        let units = plain.chunks_exact(2).map(|pair| match pair {
            [high, low] if big => u16::from_be_bytes([*high, *low]),
            [low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0,
        });
        let mut found = Vec::new();
        let mut at = 0;
        for unit in char::decode_utf16(units) {
            let c = unit.ok()?;
            let next = at + 2 * c.len_utf16();
            found.push((c, span(at, next - 1)?));
            at = next;
        }
        return Some(found);
    }
    // The last character may be cut off.
    let whole = match str::from_utf8(&plain) {
        Ok(whole) if !plain.iter().any(|byte| matches!(byte, 1..=8)) => whole,
        Ok(_) => return characters_of_pairs(bytes),
        Err(_) if let Some(found) = characters_of_pairs(bytes) => return Some(found),
        Err(fault) if fault.error_len().is_none() || fault.valid_up_to() + 3 >= plain.len() => {
            str::from_utf8(plain.get(..fault.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let whole = whole.trim_end_matches('\0');
    let mut found = Vec::new();
    for (at, c) in whole.char_indices() {
        found.push((c, span(at, at + c.len_utf8() - 1)?));
    }
    Some(found)
}

/// The characters of UTF-16 in scripts other than Latin: hardly anything else is all letters of them.
fn characters_of_pairs(bytes: &Bytes) -> Option<Vec<(char, Range<usize>)>> {
    let mut found = Vec::new();
    for pair in bytes.chunks_exact(2) {
        let [(low, first), (high, last)] = pair else {
            return None;
        };
        let c = char::from_u32(u32::from(u16::from_le_bytes([*low, *high])))?;
        let written = prose::is_written(c)
            || matches!(c, ' '..='~' | '\n' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff65}');
        if !written {
            return None;
        }
        found.push((c, first.start.min(last.start)..first.end.max(last.end)));
    }
    let others = found.iter().filter(|(c, _)| !c.is_ascii()).count();
    (others > 0).then_some(found)
}

/// The runs of code characters around places. Runs go on over the ends of lines.
struct Runs<'t, 'p> {
    text: &'t str,
    places: std::slice::Iter<'p, usize>,
    done: usize,
}

impl<'t, 'p> Runs<'t, 'p> {
    fn new(text: &'t str, places: &'p [usize]) -> Self {
        Self {
            text,
            places: places.iter(),
            done: 0,
        }
    }
}

/// Code characters with where they stand.
struct Run {
    signs: Vec<(u8, usize)>,
    /// Where the last line of several begins among them.
    last_line: usize,
}

impl Run {
    /// The run, and the run without its last line: that may be a word that just stands below.
    fn ways(&self) -> impl Iterator<Item = &[(u8, usize)]> {
        let shorter = self
            .signs
            .get(..self.last_line)
            .filter(|part| !part.is_empty());
        std::iter::once(self.signs.as_slice()).chain(shorter)
    }
}

impl Iterator for Runs<'_, '_> {
    type Item = Run;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let place = *self.places.find(|place| **place >= self.done)?;
        let before = bytes.get(self.done..place)?;
        let back = before
            .iter()
            .rev()
            .take_while(|byte| is_code(**byte))
            .count();
        let mut at = place - back;
        let mut run = Vec::new();
        let mut line;
        loop {
            line = run.len();
            while let Some(&byte) = bytes.get(at).filter(|byte| is_code(**byte)) {
                run.push((byte, at));
                at += 1;
            }
            let padding = bytes
                .get(at..)?
                .iter()
                .take_while(|byte| **byte == b'=')
                .count();
            self.done = at + padding;
            if padding > 0 || run.len() - line < SHORTEST_LINE {
                break;
            }
            let Some(next) = next_line(bytes, at) else {
                break;
            };
            at = next;
        }
        Some(Run {
            signs: run,
            last_line: line,
        })
    }
}

/// Where the run goes on that ends a line at `at`: after the line end and what indents or comments
/// the next line.
fn next_line(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let end = rest
        .iter()
        .take(8)
        .position(|byte| *byte == b'\n')
        .filter(|end| {
            rest.iter()
                .take(*end)
                .all(|byte| matches!(byte, b'\r' | b'"' | b'\'' | b'\\' | b' ' | b'+'))
        })?;
    let next = rest.get(end + 1..)?;
    let indent = next
        .iter()
        .take(24)
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'#' | b'>' | b'*'))
        .count();
    let code = next.get(indent..)?;
    let length = code.iter().take_while(|byte| is_code(**byte)).count();
    // Where something else follows in the line, it is a line of words.
    let after = code.get(length).copied().unwrap_or(b'\n');
    (length > 0 && matches!(after, b'\n' | b'\r' | b'=' | b'"' | b'\'' | b'\\'))
        .then_some(at + end + 1 + indent)
}

fn is_code(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn base64_value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn base32_value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    }
}

fn hexadecimal_value(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// Shorter runs are words.
const MIN_LENGTH: usize = 16;
/// A line of a run that goes on is at least this long.
const SHORTEST_LINE: usize = 16;
/// After so many bytes it is plain whether they are text.
const ENOUGH: usize = 12;
