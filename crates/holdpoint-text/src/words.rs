//! A text as words: what detectors and the classifier look at, made once for both.

use super::bits;

/// One word of a text, by the hash of its lower-case letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// [`hash_of`] its letters.
    pub hash: u32,
    /// Where it starts, in bytes.
    pub start: u32,
    /// Where it ends, in bytes.
    pub end: u32,
}

/// The hash of a word: the same whatever the case, and with or without apostrophes.
pub fn hash_of(word: &str) -> u32 {
    let mut hash = START;
    for c in word.chars().filter(|c| !is_apostrophe(*c)) {
        for lower in c.to_lowercase() {
            hash = mixed(hash, lower as u32);
        }
    }
    hash
}

/// Puts the words of a text into `words`, which is emptied first. Words are runs of letters and
/// digits; scripts that write without spaces give a word for every character.
pub fn split(text: &str, words: &mut Vec<Word>) {
    words.clear();
    let bytes = text.as_bytes();
    // Where words begin and end is seen for 64 bytes at once, and hashed without a branch: how long
    // one is cannot be foretold.
    let mut at = 0;
    let mut before = 0;
    let mut blocks = bits::blocks(bytes, b' ').map(|(base, block)| Block::read(base, &block));
    let mut current = blocks.next();
    while let Some(block) = current {
        current = blocks.next();
        let next = current.as_ref().map_or(0, |next| next.plain);
        let mut begin = block.plain & !(block.plain << 1 | before) | block.wide;
        before = block.plain >> 63;
        begin &= from_on(at, block.base);
        while begin != 0 {
            let place = begin.trailing_zeros();
            let start = block.base + place as usize;
            begin &= begin - 1;
            let run = block.plain >> place | next << 1 << (63 - place);
            let length = (!run).trailing_zeros() as usize;
            let end = start + length;
            let ends = bytes.get(end).is_none_or(|byte| class(*byte) == BREAK);
            match bytes.get(start..).and_then(|rest| hash_at(rest, length)) {
                Some(hash) if ends => words.push(Word {
                    hash,
                    start: position(start),
                    end: position(end),
                }),
                _ => {
                    at = if length > 0 {
                        add_word(text, start, words)
                    } else {
                        add_wide(text, start, words)
                    };
                    begin &= from_on(at, block.base);
                }
            }
        }
    }
}

/// 64 bytes of a text, a bit for each.
struct Block {
    base: usize,
    /// Which are letters and digits of ASCII.
    plain: u64,
    /// Which are beyond ASCII.
    wide: u64,
}

impl Block {
    #[inline]
    fn read(base: usize, block: &[u8; 64]) -> Self {
        Self {
            base,
            plain: bits::mask(block, bits::plain),
            wide: if block.is_ascii() {
                0
            } else {
                bits::mask(block, bits::wide)
            },
        }
    }
}

/// The bits of a block's bytes from `at` on.
fn from_on(at: usize, base: usize) -> u64 {
    match at.checked_sub(base) {
        Some(64..) => 0,
        Some(behind) => u64::MAX << behind,
        None => u64::MAX,
    }
}

/// The hash of the first `length` bytes, which are letters and digits; nothing if they are too many or too
/// near to the end.
#[inline]
fn hash_at(bytes: &[u8], length: usize) -> Option<u32> {
    match length {
        1..=8 => Some(hash_of_eight(START, bytes.first_chunk()?, length)),
        9..=16 => {
            let (first, rest) = bytes.split_first_chunk()?;
            let hash = hash_of_eight(START, first, 8);
            Some(hash_of_eight(hash, rest.first_chunk()?, length - 8))
        }
        _ => None,
    }
}

#[inline]
fn hash_of_eight(mut hash: u32, eight: &[u8; 8], length: usize) -> u32 {
    for (at, byte) in eight.iter().enumerate() {
        // Digits have this bit already.
        let next = mixed(hash, u32::from(byte | 0x20));
        hash = if at < length { next } else { hash };
    }
    hash
}

/// Adds the word that begins with the character beyond ASCII at `at`, if one does, and tells where to
/// go on.
fn add_wide(text: &str, at: usize, words: &mut Vec<Word>) -> usize {
    let c = wide_at(text, at);
    let end = at + c.len_utf8();
    let mut unused = START;
    match wide_class(c, &mut unused) {
        BREAK | APOSTROPHE => end,
        ALONE => {
            let mut room = [0; 4];
            words.push(Word {
                hash: hash_of(c.encode_utf8(&mut room)),
                start: position(at),
                end: position(end),
            });
            end
        }
        _ => add_word(text, at, words),
    }
}

/// Adds the word that begins with the letter or digit at `start`, and tells where it ends.
fn add_word(text: &str, start: usize, words: &mut Vec<Word>) -> usize {
    let bytes = text.as_bytes();
    let (mut hash, mut at) = (START, start);
    while let Some(&byte) = bytes.get(at) {
        let class = class(byte);
        if class > ALONE {
            hash = mixed(hash, u32::from(class));
            at += 1;
            continue;
        }
        match class {
            APOSTROPHE => at += 1,
            WIDE => {
                let c = wide_at(text, at);
                if !matches!(wide_class(c, &mut hash), WIDE | APOSTROPHE) {
                    break;
                }
                at += c.len_utf8();
            }
            _ => break,
        }
    }
    words.push(Word {
        hash,
        start: position(start),
        end: position(at),
    });
    at
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(BREAK)
}

/// The character beyond ASCII that begins there.
fn wide_at(text: &str, at: usize) -> char {
    let rest = text.get(at..).unwrap_or_default();
    rest.chars().next().unwrap_or(' ')
}

/// What a character beyond ASCII is; a letter of a word is hashed on the way.
fn wide_class(c: char, hash: &mut u32) -> u8 {
    if is_apostrophe(c) {
        APOSTROPHE
    } else if stands_alone(c) {
        ALONE
    } else if is_common(c) || c.is_alphanumeric() || is_mark(c) {
        for lower in c.to_lowercase() {
            *hash = mixed(*hash, lower as u32);
        }
        WIDE
    } else {
        BREAK
    }
}

/// Letters of Latin and Cyrillic, which are told faster here than in the tables of all characters.
fn is_common(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{24f}' | '\u{400}'..='\u{481}')
}

/// Vowel signs and accents belong to the word they stand in.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}'
        | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{980}'..='\u{983}' | '\u{9bc}'..='\u{9cd}')
}

/// Letters of scripts that put no spaces between words.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2bc}')
}

const fn mixed(hash: u32, value: u32) -> u32 {
    (hash ^ value).wrapping_mul(0x0100_0193).rotate_left(5)
}

/// Blocks of a text are far smaller than this.
fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

const START: u32 = 0x811c_9dc5;
const BREAK: u8 = 0;
const APOSTROPHE: u8 = 1;
/// A letter beyond ASCII, or a byte of any character there.
const WIDE: u8 = 2;
const ALONE: u8 = 3;

/// For each byte the lower-case letter or digit it is, or what else it does to a word.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
const CLASSES: [u8; 256] = {
    let mut table = [WIDE; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = if byte.is_ascii_alphanumeric() {
            byte.to_ascii_lowercase()
        } else {
            BREAK
        };
        byte += 1;
    }
    table[b'\'' as usize] = APOSTROPHE;
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        split(text, &mut words);
        words
            .iter()
            .map(|word| {
                text.get(word.start as usize..word.end as usize)
                    .unwrap()
                    .to_owned()
            })
            .collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            words_of("Don't IGNORE_this, x2!"),
            ["Don't", "IGNORE", "this", "x2"]
        );
        assert_eq!(words_of("忽略指令 ok"), ["忽", "略", "指", "令", "ok"]);
        assert_eq!(words_of("für Ёлка"), ["für", "Ёлка"]);
        assert_eq!(words_of("'quoted' end'"), ["quoted'", "end'"]);
    }

    #[test]
    fn case_and_apostrophes_do_not_change_a_hash() {
        for (text, word) in [
            ("DON'T", "dont"),
            ("Don’t", "dont"),
            ("ЁЛКА", "ёлка"),
            ("令", "令"),
        ] {
            let mut words = Vec::new();
            split(text, &mut words);
            assert_eq!(words.len(), 1);
            assert_eq!(words[0].hash, hash_of(word), "{text}");
        }
    }
}
