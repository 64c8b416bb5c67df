//! Escapes of string literals: `\x41`, `\u0041`, `\u{41}`, `\U00000041`, `\101`; and between quotes `\n`,
//! `\"` and whatever else stands for one character there.

use std::ops::Range;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};
use super::passage;

/// Decodes the literals in which characters are escaped, and the lines in which letters are.
pub(super) fn escapes<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut done = 0;
    for place in places {
        if *place < done {
            continue;
        }
        if draft.is_full() {
            return;
        }
        let literal = literal(text, *place, done);
        let quoted = literal.is_some();
        let passage = literal.unwrap_or_else(|| passage::around(text, *place));
        let passage = passage.start.max(done)..passage.end;
        done = passage.end.max(place + 1);
        Passage {
            text,
            range: passage,
            quoted,
            count: Count::default(),
        }
        .decode(draft);
    }
}

/// The inside of the literal around a place, as far as its line goes.
fn literal(text: &str, place: usize, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes.get(from..place)?;
    let line = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |newline| newline + 1);
    let before = before.get(line..)?;
    let opening = |quote: u8| {
        let mut end = before.len();
        loop {
            let at = before.get(..end)?.iter().rposition(|byte| *byte == quote)?;
            let slashes = before.get(..at)?.iter().rev();
            let slashes = slashes.take_while(|byte| **byte == b'\\').count();
            if slashes.is_multiple_of(2) {
                return Some((quote, from + line + at + 1));
            }
            end = at;
        }
    };
    let (quote, start) = opening(b'"').or_else(|| opening(b'\''))?;
    let mut at = start;
    while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'\n') {
        match byte {
            b'\\' => at += 2,
            byte if *byte == quote => break,
            _ => at += 1,
        }
    }
    let end = text.floor_char_boundary(at.min(text.len()));
    (end > place).then_some(start..end)
}

/// What was met in a passage.
#[derive(Default)]
struct Count {
    /// Letters by their numbers.
    letters: usize,
    /// Those of them that are ASCII.
    plain: usize,
    /// Escapes by a letter or sign that others follow.
    signs: usize,
    /// Control characters by their numbers.
    controls: usize,
}

struct Passage<'t> {
    text: &'t str,
    range: Range<usize>,
    /// Whether it stands between quotes: a backslash elsewhere may be a part of a path.
    quoted: bool,
    count: Count,
}

impl<'t> Passage<'t> {
    fn decode(mut self, draft: &mut Draft<'t>) {
        let end = self.range.end;
        let mut copied = self.range.start;
        let mut at = copied;
        while let Some(next) = self.rest(at).find('\\') {
            at += next;
            let (length, decoded) = self.escape(at);
            if !decoded.is_empty() {
                draft.copy(copied..at);
                for (range, c) in decoded {
                    draft.add_char(range, c, Made::Undone(Disguise::Escape));
                }
                copied = at + length;
            }
            at += length;
        }
        draft.copy(copied..end);
        let Count {
            letters,
            plain,
            signs,
            controls,
        } = self.count;
        let worth = letters >= MIN_COUNT || (self.quoted && (signs >= MIN_COUNT || controls > 0));
        if !worth {
            draft.drop_segment();
        } else if plain >= TELLING {
            draft.end_telling_segment();
        } else {
            draft.end_segment();
        }
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..self.range.end).unwrap_or_default()
    }

    /// How long the escape at `at` is and what it stands for.
    fn escape(&mut self, at: usize) -> (usize, Vec<(Range<usize>, char)>) {
        let rest = self.rest(at);
        let bytes = byte_escapes(rest);
        if !bytes.is_empty() {
            return self.bytes(at, &bytes);
        }
        if let Some((length, c)) = numbered(rest) {
            let kept = self.counted(c);
            return (
                length,
                kept.map(|c| (at..at + length, c)).into_iter().collect(),
            );
        }
        let Some(c) = rest.get(1..).and_then(|rest| rest.chars().next()) else {
            return (1, Vec::new());
        };
        if !self.quoted {
            // An escaped backslash escapes nothing.
            return (if c == '\\' { 2 } else { 1 }, Vec::new());
        }
        let Some(says) = sign(c) else {
            return (1 + c.len_utf8(), Vec::new());
        };
        let follows = rest.get(2..).and_then(|rest| rest.chars().next());
        let counts = match c {
            // One for a literal in a literal; alone it is a path or a pattern.
            '\\' => matches!(follows, Some('n' | 'r' | 't' | 'u' | 'U' | 'x' | '"' | '0')),
            _ => follows.is_some(),
        };
        self.count.signs += usize::from(counts);
        (2, vec![(at..at + 2, says)])
    }

    /// What bytes say that are escaped one by one.
    fn bytes(&mut self, at: usize, bytes: &[(u8, usize)]) -> (usize, Vec<(Range<usize>, char)>) {
        let plain: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
        let mut widths = bytes.iter().map(|(_, width)| *width);
        let mut found = Vec::new();
        let mut start = at;
        let mut next = |count: usize| {
            let from = start;
            start += widths.by_ref().take(count).sum::<usize>();
            from..start
        };
        for chunk in plain.utf8_chunks() {
            for c in chunk.valid().chars() {
                let range = next(c.len_utf8());
                found.extend(self.counted(c).map(|c| (range, c)));
            }
            for byte in chunk.invalid() {
                let range = next(1);
                found.extend(self.counted(char::from(*byte)).map(|c| (range, c)));
            }
        }
        (start - at, found)
    }

    /// A character by its number, if it may stand here.
    fn counted(&mut self, c: char) -> Option<char> {
        self.count.letters += usize::from(c.is_alphabetic());
        self.count.plain += usize::from(c.is_ascii_alphabetic());
        let control = c.is_control() && !c.is_whitespace() || c == '\x0b';
        self.count.controls += usize::from(control);
        (!control || self.quoted).then_some(c)
    }
}

/// The bytes that `rest` begins with as `\x41` or `\101`, each with the length of its escape.
fn byte_escapes(rest: &str) -> Vec<(u8, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(bytes) = rest.as_bytes().get(at..at + 4) {
        let value = match bytes {
            [b'\\', b'x', digits @ ..] => number(digits, 16),
            [b'\\', digits @ ..] => number(digits, 8),
            _ => None,
        };
        let Some(byte) = value.and_then(|value| u8::try_from(value).ok()) else {
            break;
        };
        found.push((byte, 4));
        at += 4;
    }
    found
}

/// The character of `\u0041`, `\u{41}`, `\x{41}` or `\U00000041` at the start of `rest`, with the length.
fn numbered(rest: &str) -> Option<(usize, char)> {
    let bytes = rest.as_bytes();
    let (length, code) = match bytes.get(1)? {
        b'u' | b'x' if bytes.get(2) == Some(&b'{') => {
            let inside = bytes.get(3..)?;
            let digits = inside.iter().take(7).position(|byte| *byte == b'}')?;
            (digits + 4, number(inside.get(..digits)?, 16)?)
        }
        b'u' => pair(rest, number(bytes.get(2..6)?, 16)?)?,
        b'U' => (10, number(bytes.get(2..10)?, 16)?),
        _ => return None,
    };
    Some((length, char::from_u32(code)?))
}

/// Characters beyond 16 bits are two escapes.
fn pair(rest: &str, high: u32) -> Option<(usize, u32)> {
    if !(0xd800..0xdc00).contains(&high) {
        return Some((6, high));
    }
    let low = rest.get(6..)?.strip_prefix("\\u")?;
    let low = number(low.as_bytes().get(..4)?, 16)?;
    let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((12, 0x10000 + ((high - 0xd800) << 10) + low))
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    digits.iter().try_fold(0_u32, |value, byte| {
        let digit = char::from(*byte).to_digit(radix)?;
        value.checked_mul(radix)?.checked_add(digit)
    })
}

/// The character an escape by one letter or sign stands for.
fn sign(c: char) -> Option<char> {
    Some(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        'e' => '\x1b',
        '"' | '\'' | '/' | '\\' => c,
        _ => return None,
    })
}

/// With fewer it is a character class, a key or the end of a line.
const MIN_COUNT: usize = 2;
/// Nobody escapes so many letters of ASCII but to hide them.
const TELLING: usize = 8;
