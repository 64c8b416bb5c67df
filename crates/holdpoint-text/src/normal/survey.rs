//! One quick look over a text for what is worth a closer one. Ordinary source costs no more than this.

use super::undo::{cipher, swapped};

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
    /// Words that are known ones with their letters in another order, near others.
    pub(super) swapped: Vec<usize>,
}

impl Survey {
    /// Looks over a text.
    pub(super) fn read(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut survey = Self::default();
        let (blocks, rest) = bytes.as_chunks::<64>();
        // Behind the end stand blanks, so that what ends there is seen.
        let mut last = [b' '; 64];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        let mut at = 0;
        let mut state = State::default();
        for block in blocks.iter().chain([&last]) {
            survey.block(bytes, at, block, &mut state);
            at += 64;
        }
        survey
    }

    /// Looks over 64 bytes: eight chunks of eight, which most of the kinds are told by.
    #[inline]
    fn block(&mut self, bytes: &[u8], at: usize, block: &[u8; 64], state: &mut State) {
        let class = |byte: u8| CLASSES.get(usize::from(byte)).copied().unwrap_or(0);
        let mut classes = [0; 64];
        for (to, byte) in classes.iter_mut().zip(block) {
            *to = class(*byte);
        }
        let (mut words, mut digits, mut special) = (0, 0, 0);
        let mut place = at;
        for chunk in classes.as_chunks::<8>().0 {
            let classes = u64::from_le_bytes(*chunk);
            words = words >> 8 | mask(classes, WORD);
            digits = digits >> 8 | mask(classes, DIGIT);
            // Most brackets follow nothing that would make something of them.
            let led = classes & (classes << 9 | state.chunk >> 55);
            special = special >> 8 | mask(classes | led >> 7, SPECIAL);
            state.chunk = classes;
            self.chunk(bytes, place, classes, state);
            place += 8;
        }
        let letters = words & !digits;
        self.letters_apart(at, words, letters);
        self.digits_among_letters(at, letters, digits, state);
        let high = if block.is_ascii() {
            0
        } else {
            let chunks = block.as_chunks::<8>().0.iter();
            chunks.fold(0, |high, chunk| {
                high >> 8 | mask(u64::from_le_bytes(*chunk), HIGH)
            })
        };
        self.ciphers(bytes, at, letters & !high, state);
        while special != 0 {
            self.special(bytes, at + special.trailing_zeros() as usize);
            special &= special - 1;
        }
    }

    /// What is told by all bytes of a chunk being of one kind.
    #[inline]
    fn chunk(&mut self, bytes: &[u8], at: usize, classes: u64, state: &mut State) {
        let all = classes & classes >> 32;
        let all = all & all >> 16;
        let all = (all & all >> 8) as u8;
        state.codes = if all & CODE == 0 { 0 } else { state.codes + 1 };
        if state.codes == 2 {
            self.codes.push(at);
        }
        let digits = plane(classes, DIGIT);
        if all & NUMBER != 0 && digits != 0 && digits.count_ones() > 2 {
            self.numbers.push(at);
        }
        // Of what dots and dashes are made of, dots are in no number, and dashes may be in a code.
        if all & (DASH | NUMBER) == DASH && plane(classes, CODE) != 0 {
            let chunk = bytes.get(at..).unwrap_or_default();
            let chunk = chunk.get(..8).unwrap_or(chunk);
            if chunk.contains(&b'.') && chunk.contains(&b'-') {
                self.morse.push(at);
            }
        }
    }

    /// Chunks with several letters, none of which stands beside another or a digit.
    #[inline]
    fn letters_apart(&mut self, at: usize, words: u64, letters: u64) {
        // Each of eight bytes is one chunk.
        let beside = words & words << 1 & !ALL;
        let none_beside = !((beside & !HIGHS).wrapping_add(!HIGHS) | beside) & HIGHS;
        if none_beside == 0 {
            return;
        }
        let of = |count: u8| u64::from_le_bytes([count; 8]);
        let pairs = letters - (letters >> 1 & of(0x55));
        let fours = (pairs & of(0x33)) + (pairs >> 2 & of(0x33));
        let counts = (fours + (fours >> 4)) & of(0x0f);
        let several = (counts + of(0x7e)) & HIGHS;
        let mut found = none_beside & several;
        while found != 0 {
            self.spaced
                .push(at + (found.trailing_zeros() & !7) as usize);
            found &= found - 1;
        }
    }

    /// Chunks with digits that may stand for letters.
    #[inline]
    fn digits_among_letters(&mut self, at: usize, letters: u64, digits: u64, state: &mut State) {
        let before = letters & (digits << 1 | state.digits >> 63);
        let between = before & (letters << 2 | state.letters >> 62);
        (state.letters, state.digits) = (letters, digits);
        if before == 0 {
            return;
        }
        for chunk in 0..8 {
            let at = at + chunk * 8;
            let here = |mask: u64| mask >> (chunk * 8) & 0xff != 0;
            if here(between) {
                if state.leet.is_some_and(|last| at - last <= NEAR) {
                    self.leet.push(at);
                }
                state.leet = Some(at);
            }
            // Where signs stand for letters too, digits are seldom between two of them.
            if here(before) {
                let near = at - state.sign <= NEAR;
                state.signs = if near { state.signs + 1 } else { 1 };
                state.sign = at;
                if state.signs >= MIN_SIGNS {
                    self.leet.push(at);
                }
            }
        }
    }

    /// Words that are long enough to tell a cipher by, from their sixth letter on.
    #[inline]
    fn ciphers(&mut self, bytes: &[u8], at: usize, letters: u64, state: &mut State) {
        // With the end of the block before.
        let run = u128::from(letters) << 8 | u128::from(state.latin >> 56);
        state.latin = letters;
        let two = run & run << 1;
        let six = two & two << 2 & two << 4;
        let mut sixth = (six & !(run << cipher::MIN_LENGTH)) >> 8;
        while sixth != 0 {
            let end = at + sixth.trailing_zeros() as usize + 1;
            let start = end.saturating_sub(cipher::MIN_LENGTH);
            if cipher::is_suspect_at(bytes, start) {
                self.ciphers.push(start);
            }
            if swapped::is_suspect_at(bytes, start) {
                let near = |last: &usize| {
                    start - last <= NEAR_WORDS && swapped::differ(bytes, *last, start)
                };
                if let Some(last) = state.swapped.filter(near) {
                    self.swapped.extend([last, start]);
                }
                state.swapped = Some(start);
            }
            sixth &= sixth - 1;
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

/// What is carried on.
#[derive(Default)]
struct State {
    /// How many chunks in a row are all letters and digits.
    codes: usize,
    /// Where the last digit between letters was.
    leet: Option<usize>,
    /// Where the last digit before a letter was, and how many there were near each other.
    sign: usize,
    signs: usize,
    /// Where the last word with its letters in another order was.
    swapped: Option<usize>,
    /// The classes of the chunk before.
    chunk: u64,
    /// Which bytes of the block before were letters.
    letters: u64,
    /// Which were digits.
    digits: u64,
    /// Which were letters of ASCII.
    latin: u64,
}

/// One bit of each of eight classes, in the lowest bit of each byte.
fn plane(classes: u64, bit: u8) -> u64 {
    classes >> bit.trailing_zeros() & ALL
}

/// One bit of each of eight classes, as the eight highest bits: the first class is the lowest of them.
fn mask(classes: u64, bit: u8) -> u64 {
    plane(classes, bit).wrapping_mul(0x0102_0408_1020_4080) & 0xff << 56
}

const ALL: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x80 * ALL;
/// The bit only bytes beyond ASCII have.
const HIGH: u8 = 128;
/// Digits this near to each other may be letters.
const NEAR: usize = 40;
/// Words this near to each other may stand in one sentence.
const NEAR_WORDS: usize = 160;
/// Fewer digits before letters are numbers with a unit.
const MIN_SIGNS: usize = 4;

const SPECIAL: u8 = 1;
const WORD: u8 = 2;
const DIGIT: u8 = 4;
const CODE: u8 = 8;
const NUMBER: u8 = 16;
const DASH: u8 = 32;
/// What stands before a byte that is [`LED`] where that begins something; the bit below.
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
