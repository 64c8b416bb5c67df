//! One quick look over a text for what is worth a closer one. Ordinary source costs no more than this.

use super::undo::cipher;

/// Whether a text may differ from its normal form.
pub(super) fn needs_cleaning(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    for chunk in bytes.chunks(64) {
        // Without branches, so that it is done for many bytes at once.
        let (mut odd, mut references) = (false, false);
        for byte in chunk {
            let white = (*byte == b'\t') | (*byte == b'\n') | (*byte == b'\r');
            odd |= ((*byte < 32) & !white) | (*byte >= 127);
            references |= *byte == b'&';
        }
        if odd || (references && refers(bytes, at, chunk)) {
            return true;
        }
        at += chunk.len();
    }
    false
}

/// Whether an `&` in a chunk may begin a character reference.
fn refers(bytes: &[u8], at: usize, chunk: &[u8]) -> bool {
    let ampersands = chunk.iter().enumerate().filter(|(_, byte)| **byte == b'&');
    ampersands.map(|(offset, _)| at + offset + 1).any(|next| {
        let rest = bytes.get(next..).unwrap_or_default();
        let length = rest
            .iter()
            .take(14)
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let old = || {
            let name = rest.get(..length).unwrap_or_default();
            matches!(
                name.to_ascii_lowercase().as_slice(),
                b"lt" | b"gt" | b"amp" | b"quot" | b"nbsp"
            )
        };
        rest.first() == Some(&b'#')
            || (length > 1 && rest.get(length) == Some(&b';'))
            || ((2..5).contains(&length) && old())
    })
}

/// Where a closer look may find something, by kind, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Long runs of letters and digits: base64, base32 and hexadecimal digits.
    pub(super) codes: Vec<usize>,
    /// Lists of numbers.
    pub(super) numbers: Vec<usize>,
    /// Letters that stand alone.
    pub(super) spaced: Vec<usize>,
    /// Digits between letters.
    pub(super) leet: Vec<usize>,
    /// Dots and dashes.
    pub(super) morse: Vec<usize>,
    /// Backslashes before digits or the letters of an escape.
    pub(super) escapes: Vec<usize>,
    /// `%` before two digits.
    pub(super) percents: Vec<usize>,
    /// `<` of comments and elements, brackets of Markdown.
    pub(super) markup: Vec<usize>,
    /// Ends of strings and lines within a word.
    pub(super) joints: Vec<usize>,
    /// Ends of strings that others may follow.
    pub(super) quotes: Vec<usize>,
    /// Bars between cells.
    pub(super) bars: Vec<usize>,
    /// Ends of lines that are empty or have one letter.
    pub(super) lines: Vec<usize>,
    /// Words that are telling ones once shifted or turned round.
    pub(super) ciphers: Vec<usize>,
}

impl Survey {
    /// Looks over a text.
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut survey = Self::default();
        let (chunks, rest) = bytes.as_chunks::<8>();
        let mut last = [b' '; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        let mut at = 0;
        let mut state = State::default();
        for chunk in chunks.iter().chain([&last]) {
            survey.chunk(bytes, at, *chunk, &mut state);
            at += 8;
        }
        survey.ciphers = cipher::suspects(bytes);
        survey
    }

    #[inline]
    fn chunk(&mut self, bytes: &[u8], at: usize, chunk: [u8; 8], state: &mut State) {
        let class = |byte: u8| CLASSES.get(usize::from(byte)).copied().unwrap_or(0);
        let classes = u64::from_le_bytes(chunk.map(class));
        let words = mask(classes, WORD);
        let digits = mask(classes, DIGIT);
        let letters = words & !digits;
        if words & words << 1 == 0 && letters.count_ones() > 1 {
            self.spaced.push(at);
        }
        // With the chunk before, so that what stands across the border is seen.
        let both = |before: u8, now: u8| u16::from(now) << 8 | u16::from(before);
        let near_letters = both(state.letters, letters);
        let near_digits = both(state.digits, digits) & 0x7f80;
        (state.letters, state.digits) = (letters, digits);
        if near_digits & near_letters << 1 & near_letters >> 1 != 0 {
            if state.leet.is_some_and(|last| at - last <= NEAR) {
                self.leet.push(at);
            }
            state.leet = Some(at);
        }
        // Where signs stand for letters too, digits are seldom between two of them.
        if near_digits & near_letters >> 1 != 0 {
            let near = at - state.sign <= NEAR;
            state.signs = if near { state.signs + 1 } else { 1 };
            state.sign = at;
            if state.signs >= FEWEST_SIGNS {
                self.leet.push(at);
            }
        }
        if plane(classes, CODE) == ALL {
            state.codes += 1;
            if state.codes == 2 {
                self.codes.push(at);
            }
        } else {
            state.codes = 0;
        }
        if digits.count_ones() > 2 && plane(classes, NUMBER) == ALL {
            self.numbers.push(at);
        }
        if plane(classes, DASH) == ALL && chunk.contains(&b'.') && chunk.contains(&b'-') {
            self.morse.push(at);
        }
        // Most brackets and ends of lines follow nothing that would make something of them.
        let leads = mask(classes, LEAD);
        let behind = leads << 1 | state.leads >> 7;
        state.leads = leads;
        let mut special = mask(classes, SPECIAL) | mask(classes, LED) & behind;
        while special != 0 {
            self.special(bytes, at + special.trailing_zeros() as usize);
            special &= special - 1;
        }
    }

    /// A byte that could begin something.
    fn special(&mut self, bytes: &[u8], at: usize) {
        let byte = |offset: usize| bytes.get(at + offset).copied().unwrap_or(0);
        let before = |offset: usize| {
            at.checked_sub(offset)
                .and_then(|at| bytes.get(at))
                .copied()
                .unwrap_or(0)
        };
        match byte(0) {
            b'\\' => match byte(1) {
                b'x' | b'u' | b'U' if byte(2).is_ascii_hexdigit() || byte(2) == b'{' => {
                    self.escapes.push(at);
                }
                b'0'..=b'7' if matches!(byte(2), b'0'..=b'7') && matches!(byte(3), b'0'..=b'7') => {
                    self.escapes.push(at);
                }
                b'n' | b't' | b'r' | b'"' | b'/' | b'b' | b'v' | b'e' => self.escapes.push(at),
                b'\n' | b'\r' if before(1).is_ascii_alphabetic() => self.joints.push(at),
                _ => {}
            },
            b'%' if byte(1).is_ascii_hexdigit() && byte(2).is_ascii_hexdigit() => {
                self.percents.push(at);
            }
            b'<' if byte(1) == b'!' || byte(1) == b'/' || byte(1).is_ascii_alphabetic() => {
                self.markup.push(at);
            }
            b'[' if (byte(1) == b'/' && byte(2) == b'/') || before(1) == b'!' => {
                self.markup.push(at);
            }
            b'(' if before(1) == b']' => self.markup.push(at),
            b'(' if before(1) | 0x20 == b'r' && byte(1).is_ascii_digit() => self.numbers.push(at),
            b'"' | b'\'' => {
                let letter = before(1).is_ascii_alphabetic();
                let follows = byte(1);
                if letter && matches!(follows, b' ' | b'+' | b'\n' | b'.' | b'"' | b'\'' | b'&') {
                    self.joints.push(at);
                }
                let ends = matches!(
                    follows,
                    b' ' | b'+' | b'\n' | b'.' | b'&' | b',' | b'}' | b']' | 0
                );
                if ends && !matches!(before(1), b'\\' | b'=' | b'(' | b'[' | b'{') {
                    self.quotes.push(at);
                }
            }
            b'\n' if before(1) == b'-' && before(2).is_ascii_alphabetic() => self.joints.push(at),
            b'\n' => {
                let (last, second) = (before(1), before(2));
                let blank = matches!(last, b'\n' | b'/' | b'#')
                    || (last == b' ' && matches!(second, b'/' | b'#' | b'*' | b'>'))
                    || (last == b'\r' && second == b'\n');
                let single = last.is_ascii_alphabetic() && matches!(second, b'\n' | b' ');
                if blank || single {
                    self.lines.push(at);
                }
            }
            b'|' if byte(1) == b' '
                && before(1) == b' '
                && before(2) > b' '
                && before(2) != b'|' =>
            {
                self.bars.push(at);
            }
            b'+' if byte(1).is_ascii_alphabetic()
                && (before(1).is_ascii_alphabetic() || before(1) == b',') =>
            {
                self.percents.push(at);
            }
            _ => {}
        }
    }
}

/// What is carried from chunk to chunk.
#[derive(Default)]
struct State {
    /// How many chunks in a row are all letters and digits.
    codes: usize,
    /// Where the last digit between letters was.
    leet: Option<usize>,
    /// Where the last digit before a letter was, and how many there were near each other.
    sign: usize,
    signs: usize,
    /// Which bytes of the chunk before were letters.
    letters: u8,
    /// Which were digits.
    digits: u8,
    /// Which may make something of the byte behind them.
    leads: u8,
}

/// One bit of each of eight classes, in the lowest bit of each byte.
fn plane(classes: u64, bit: u8) -> u64 {
    classes >> bit.trailing_zeros() & ALL
}

/// One bit of each of eight classes, as eight bits: the first class is the lowest.
fn mask(classes: u64, bit: u8) -> u8 {
    (plane(classes, bit).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

const ALL: u64 = 0x0101_0101_0101_0101;
/// Digits this near to each other may be letters.
const NEAR: usize = 40;
/// Fewer digits before letters are numbers with a unit.
const FEWEST_SIGNS: usize = 4;

const SPECIAL: u8 = 1;
const WORD: u8 = 2;
const DIGIT: u8 = 4;
const CODE: u8 = 8;
const NUMBER: u8 = 16;
const DASH: u8 = 32;
/// What stands before a byte that is [`LED`] where that begins something.
const LEAD: u8 = 64;
const LED: u8 = 128;

#[expect(clippy::indexing_slicing, reason = "at compile time")]
const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        let mut class = 0;
        if byte.is_ascii_alphanumeric() || byte >= 128 {
            class |= WORD;
        }
        if byte.is_ascii_digit() {
            class |= DIGIT;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=') {
            class |= CODE;
        }
        if byte.is_ascii_hexdigit()
            || matches!(
                byte,
                b'x' | b'X' | b' ' | b',' | b';' | b':' | b'-' | b'\\' | b'\n' | b'\t' | b'\r'
            )
        {
            class |= NUMBER;
        }
        if matches!(byte, b'.' | b'-' | b'/' | b' ' | b'|' | b'\n') {
            class |= DASH;
        }
        if matches!(
            byte,
            b'\\' | b'%' | b'<' | b'[' | b'"' | b'\'' | b'\n' | b'|' | b'+'
        ) {
            class |= SPECIAL;
        }
        if matches!(byte, b']' | b'r' | b'R') {
            class |= LEAD;
        }
        if byte == b'(' {
            class |= LED;
        }
        table[byte as usize] = class;
        if byte == 255 {
            break;
        }
        byte += 1;
    }
    table
};
