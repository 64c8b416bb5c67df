//! What the model sees of a text: for every word the hashes of what it is and what stands before it.
//!
//! Training and judging share this code. Every feature belongs to one word and looks back only, so a
//! window's features are those of its words and nothing is computed twice for overlapping windows.

use crate::detect::concepts::Hit;
use crate::words::Word;

/// Reads the features of the words of a text, one word after the other.
pub struct Reader<'t> {
    text: &'t str,
    words: &'t [Word],
    hits: &'t [Hit],
    at: usize,
    /// The ideas before, the nearest first, with the words they begin with.
    ideas: [(u8, u32); 4],
    /// The tokens of the words before, the nearest first.
    before: [u32; 4],
    /// Where pairs of tokens were last met, by a few bits of their hash.
    met: [u32; 256],
    left: Gap,
    /// Where the phrase in quotes ends that the words stand in.
    quoted_until: usize,
}

/// What stands between two words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    /// A space.
    Space,
    /// Characters beyond ASCII.
    Wide,
    /// A comma or the like.
    Comma,
    /// A quotation mark or bracket.
    Quote,
    /// A colon.
    Colon,
    /// The end of a sentence.
    Sentence,
    /// The end of a line.
    Line,
    /// The end of the text.
    End,
    /// What stands between words of a program.
    Code,
}

/// Where a word stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setting {
    Prose,
    Code,
    Quotes,
}

impl<'t> Reader<'t> {
    /// A reader at the start of a text with these words.
    pub fn new(text: &'t str, words: &'t [Word], hits: &'t [Hit]) -> Self {
        Self {
            text,
            words,
            hits,
            at: 0,
            ideas: [(u8::MAX, 0); 4],
            before: [NOTHING; 4],
            met: [u32::MAX; 256],
            left: Gap::End,
            quoted_until: 0,
        }
    }

    /// Calls `each` with every feature of the next word; false when there is none.
    pub fn next(&mut self, each: &mut impl FnMut(u32)) -> bool {
        let Some(word) = self.words.get(self.at).copied() else {
            return false;
        };
        let spelling = self
            .text
            .get(word.start as usize..word.end as usize)
            .unwrap_or_default();
        let token = token(word, spelling);
        let left = self.left;
        let right = self.gap_after(word);
        let code = left == Gap::Code || right == Gap::Code;
        self.left = right;
        let quoted = self.is_quoted(word, left);
        let [one, two, three, _] = self.before;
        self.before = [token, one, two, three];
        let at = self.at as u32;
        self.at += 1;
        let place = match (quoted, code) {
            (true, _) => Setting::Quotes,
            (false, true) => Setting::Code,
            (false, false) => Setting::Prose,
        };
        self.ideas_at(at, left, place, each);
        let pair = mixed(mixed(BIGRAM, one), token);
        if self.seen_lately(pair, at) {
            return true;
        }
        // Words that are shown or named say little of what the text itself wants.
        let aside = match place {
            Setting::Prose => None,
            Setting::Code => Some(CODE),
            Setting::Quotes => Some(QUOTES),
        };
        if let Some(kind) = aside {
            each(mixed(kind, token));
            each(mixed(mixed(kind, one), token));
            each(kind);
            return true;
        }
        each(mixed(UNIGRAM, token));
        each(pair);
        each(mixed(mixed(SKIP, two), token));
        each(mixed(mixed(SKIP, three), token));
        each(mixed(mixed(mixed(TRIGRAM, two), one), token));
        if left != Gap::Space {
            each(mixed(mixed(AFTER, left as u32), token));
        }
        if right > Gap::Quote {
            each(mixed(mixed(BEFORE, right as u32), token));
        }
        if spelling.len() > 2 && spelling.bytes().all(|byte| byte.is_ascii_uppercase()) {
            each(LOUD);
            each(mixed(LOUD, token));
        }
        if token != IDENTIFIER && token != NUMBER {
            characters(spelling, each);
        }
        true
    }

    /// The ideas that begin at a word, alone and with those before them.
    fn ideas_at(&mut self, at: u32, left: Gap, place: Setting, each: &mut impl FnMut(u32)) {
        while let Some((hit, rest)) = self.hits.split_first() {
            if hit.first_word > at {
                return;
            }
            self.hits = rest;
            let idea = u32::from(hit.concept);
            if hit.first_word < at || self.ideas.contains(&(hit.concept, at)) {
                continue;
            }
            let aside = match place {
                Setting::Prose => None,
                Setting::Code => Some(CODE_IDEA),
                Setting::Quotes => Some(QUOTES_IDEA),
            };
            if let Some(kind) = aside {
                each(mixed(kind, idea));
                continue;
            }
            each(mixed(IDEA, idea));
            if left > Gap::Quote {
                each(mixed(mixed(IDEA_FIRST, left as u32), idea));
            }
            let mut older = None;
            for (place, (before, start)) in self.ideas.into_iter().enumerate() {
                let distance = at.saturating_sub(start);
                if before == u8::MAX || distance > 20 {
                    break;
                }
                let near = match distance {
                    0..=2 => 0,
                    3..=6 => 1,
                    _ => 2,
                };
                let pair = mixed(mixed(IDEA_PAIR, u32::from(before)), idea);
                each(pair);
                each(mixed(pair, near + 1));
                if place < 3 {
                    if let Some(newer) = older {
                        each(mixed(
                            mixed(mixed(IDEA_TRIPLE, u32::from(before)), newer),
                            idea,
                        ));
                    }
                    older = Some(u32::from(before));
                }
            }
            let [one, two, three, _] = self.ideas;
            self.ideas = [(hit.concept, at), one, two, three];
        }
    }

    /// Whether the same was met a window ago or later; tables and lists say things only once.
    fn seen_lately(&mut self, pair: u32, at: u32) -> bool {
        let Some(slot) = self.met.get_mut((pair >> 24) as usize) else {
            return false;
        };
        // The place and some bits of the pair share a slot.
        let mark = pair << 20;
        let seen = *slot & 0xfff0_0000 == mark && at.wrapping_sub(*slot & 0xf_ffff) < 44;
        *slot = mark | at & 0xf_ffff;
        seen
    }

    /// Whether a word stands in a short phrase in quotes; the value of a field is none.
    fn is_quoted(&mut self, word: Word, left: Gap) -> bool {
        let start = word.start as usize;
        if start < self.quoted_until {
            return true;
        }
        if left == Gap::Space {
            return false;
        }
        let bytes = self.text.as_bytes();
        let before = start.saturating_sub(QUOTE_LEAD);
        let lead = self.text.get(self.text.ceil_char_boundary(before)..start);
        let lead = lead.unwrap_or_default();
        // « French quotes » stand apart from what they quote.
        let close_by = lead.trim_end_matches([' ', '\u{a0}', '\u{202f}']);
        let open = close_by.chars().next_back();
        let Some(open) = open.filter(|sign| QUOTE_PAIRS.iter().any(|(it, _)| it == sign)) else {
            return false;
        };
        if close_by.len() < lead.len() && open != '\u{ab}' {
            return false;
        }
        let lead = close_by.strip_suffix(open).unwrap_or_default();
        // `"key": "value"` is a record and `don't` is a word.
        let lead = lead.trim_end_matches(' ');
        if lead.ends_with("\":") || lead.ends_with("':") || lead.ends_with(open) {
            return false;
        }
        // Nor is `text = "…"` or `input: "…"` a name for something: it is what a program or a model will read.
        if lead.ends_with('=') || lead.ends_with(':') && self.is_key(start) {
            return false;
        }
        let end = self
            .text
            .floor_char_boundary((start + MAX_QUOTE).min(bytes.len()));
        let rest = self.text.get(start..end).unwrap_or_default();
        let rest = rest.split('\n').next().unwrap_or_default();
        let closing = rest.char_indices().find(|(at, sign)| {
            let after = rest.get(at + sign.len_utf8()..).unwrap_or_default();
            QUOTE_PAIRS.contains(&(open, *sign)) && !after.starts_with(char::is_alphanumeric)
        });
        self.quoted_until = closing.map_or(0, |(at, _)| start + at);
        closing.is_some()
    }

    /// Whether all that stands before the quotation on its line is a single name and a colon.
    fn is_key(&self, start: usize) -> bool {
        let from = self.text.ceil_char_boundary(start.saturating_sub(MAX_KEY));
        let before = self.text.get(from..start).unwrap_or_default();
        let Some((_, line)) = before.rsplit_once('\n') else {
            return from == 0 && !before.trim().contains(' ');
        };
        let key = line.trim_start_matches([' ', '\t', '-', '*', '{', ',']);
        let key = key.split(':').next().unwrap_or_default();
        !key.is_empty() && !key.contains(' ')
    }

    /// The kind of what stands after a word.
    fn gap_after(&self, word: Word) -> Gap {
        let start = word.end as usize;
        let Some(next) = self.words.get(self.at + 1) else {
            return Gap::End;
        };
        let between = self
            .text
            .as_bytes()
            .get(start..next.start as usize)
            .unwrap_or_default();
        if between == b" " {
            return Gap::Space;
        }
        let mut kind = Gap::Space;
        let mut open = false;
        for byte in between.iter().take(12) {
            let this = match byte {
                b'\n' => Gap::Line,
                b'.' | b'!' | b'?' => Gap::Sentence,
                b',' | b';' => Gap::Comma,
                b':' => Gap::Colon,
                b'"' | b'`' | b'(' | b')' | b'[' | b']' | b'*' | b'<' | b'>' | b'-' | b'#' => {
                    Gap::Quote
                }
                b' ' | b'\t' | b'\r' => {
                    open = true;
                    Gap::Space
                }
                0x80.. => {
                    open = true;
                    Gap::Wide
                }
                _ => return Gap::Code,
            };
            open |= this == Gap::Line;
            kind = kind.max(this);
        }
        // Prose leaves a space between words, or joins them by a hyphen.
        if open || between.is_empty() || between == b"-" {
            kind
        } else {
            Gap::Code
        }
    }
}

/// A word by its hash; numbers are all the same, and so are long runs that are no words.
fn token(word: Word, spelling: &str) -> u32 {
    let (mut digits, mut turns, mut lower) = (0, 0, false);
    for (at, byte) in spelling.bytes().enumerate() {
        digits += usize::from(byte.is_ascii_digit());
        let small = byte.is_ascii_lowercase();
        turns += usize::from(at > 0 && lower != small);
        lower = small;
    }
    if digits == spelling.len() {
        NUMBER
    } else if spelling.is_ascii()
        && (spelling.len() > MAX_LENGTH || spelling.len() > 7 && (digits > 1 || turns > 4))
    {
        IDENTIFIER
    } else {
        word.hash
    }
}

/// Runs of three to five characters of a word, its ends included.
fn characters(spelling: &str, each: &mut impl FnMut(u32)) {
    let mut room = [0_u32; MAX_LENGTH + 2];
    let length = if spelling.is_ascii() {
        let letters = spelling.bytes().filter(|byte| *byte != b'\'');
        fill(
            &mut room,
            letters.map(|byte| u32::from(byte.to_ascii_lowercase())),
        )
    } else {
        let letters = spelling.chars().filter(|c| !matches!(c, '\'' | '\u{2019}'));
        fill(
            &mut room,
            letters.map(|c| c.to_lowercase().next().map_or(0, u32::from)),
        )
    };
    // With its ends.
    let run = match length {
        3..=MAX_LENGTH => room.get(..length + 2).unwrap_or_default(),
        _ => return,
    };
    let mut rest = run;
    while let [first, second, behind @ ..] = rest {
        let mut hash = mixed(mixed(CHARACTERS, *first), *second);
        // A longer run goes on where the shorter one ends.
        for c in behind.iter().take(3) {
            hash = mixed(hash, *c);
            each(hash);
        }
        rest = rest.get(1..).unwrap_or_default();
    }
}

/// Puts characters into a room behind its first place, and tells how many there are, whether or not all
/// have room.
fn fill(room: &mut [u32], characters: impl Iterator<Item = u32>) -> usize {
    let mut places = room.iter_mut().skip(1);
    let mut count = 0;
    for c in characters {
        if let Some(place) = places.next() {
            *place = c;
        }
        count += 1;
    }
    count
}

/// Mixes a value into a hash, well enough to take the upper bits of it.
pub const fn mixed(hash: u32, value: u32) -> u32 {
    let hash = (hash ^ value).wrapping_mul(0x9e37_79b1);
    (hash ^ (hash >> 15)).wrapping_mul(0x85eb_ca77)
}

/// Words longer than this are none.
const MAX_LENGTH: usize = 20;

/// A quotation longer than this says what it says itself.
const MAX_QUOTE: usize = 96;
/// How much before a word tells whether a quotation begins.
const QUOTE_LEAD: usize = 8;
/// How long the name of a field and what stands before it are at most.
const MAX_KEY: usize = 48;
/// How a quotation begins and ends.
const QUOTE_PAIRS: [(char, char); 11] = [
    ('"', '"'),
    ('`', '`'),
    ('\'', '\''),
    ('\u{201c}', '\u{201d}'),
    ('\u{201e}', '\u{201c}'),
    ('\u{201e}', '\u{201d}'),
    ('\u{2018}', '\u{2019}'),
    ('\u{ab}', '\u{bb}'),
    ('\u{bb}', '\u{ab}'),
    ('\u{300c}', '\u{300d}'),
    ('\u{300e}', '\u{300f}'),
];

const NOTHING: u32 = 1;
const NUMBER: u32 = 2;
const IDENTIFIER: u32 = 3;

const UNIGRAM: u32 = 0x1100_0000;
const BIGRAM: u32 = 0x2200_0000;
const SKIP: u32 = 0x3300_0000;
const TRIGRAM: u32 = 0x4400_0000;
const AFTER: u32 = 0x5500_0000;
const BEFORE: u32 = 0x5600_0000;
const LOUD: u32 = 0x6600_0000;
const CHARACTERS: u32 = 0x7700_0000;
const CODE: u32 = 0x8800_0000;
const IDEA: u32 = 0x9100_0000;
const IDEA_FIRST: u32 = 0x9200_0000;
const IDEA_PAIR: u32 = 0x9300_0000;
const IDEA_TRIPLE: u32 = 0x9400_0000;
const CODE_IDEA: u32 = 0x9500_0000;
const QUOTES: u32 = 0xa100_0000;
const QUOTES_IDEA: u32 = 0xa200_0000;
