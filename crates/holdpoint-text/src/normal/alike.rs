//! Letters of other scripts that look like Latin ones, put back into Latin: only in words that are
//! Latin otherwise. Ordinary Russian, Greek or Turkish stays what it is.

use std::ops::Range;
use std::sync::Arc;

use super::marks::Marks;
use super::pieces::{Draft, Finished, Made, Pieces};
use super::{Disguise, lexicon};

/// Whether a letter can look like a Latin one.
pub(super) fn is_candidate(c: char) -> bool {
    c as u32 >= 0x131 && look_of(c).is_some()
}

/// How alike a letter of another script is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Nobody can tell them apart.
    Same(char),
    /// Near enough in a word of Latin letters.
    Near(char),
    /// A Latin letter with a form of its own, such as a small capital.
    Latin(char),
}

impl Look {
    fn letter(self) -> char {
        match self {
            Look::Same(c) | Look::Near(c) | Look::Latin(c) => c,
        }
    }
}

/// The text with look-alikes replaced; nothing if there are none to replace.
pub(super) fn folded(
    text: &str,
    below: Option<Arc<Pieces>>,
    marks: &mut Marks,
) -> Option<Finished> {
    let mut draft = Draft::new(text, usize::MAX);
    let mut words = Words::read(text);
    let mut before = Script::None;
    let mut current = words.next();
    let mut found = Vec::new();
    while let Some(word) = current {
        let next = words.next();
        let after = next.as_ref().map_or(Script::None, Word::script);
        if let Some(disguise) = word.disguise(text, before, after) {
            let slice = text.get(word.range.clone()).unwrap_or_default();
            for (offset, c) in slice.char_indices() {
                if let Some(look) = look_of(c) {
                    let at = word.range.start + offset;
                    let letter = look.letter().encode_utf8(&mut [0; 4]).to_owned();
                    draft.replace(at..at + c.len_utf8(), &letter, Made::Undone(disguise));
                }
            }
            if word.latin + word.odd() > 2 {
                found.push((disguise, word.range.clone(), word.weight(disguise)));
            }
        }
        before = word.script();
        current = next;
    }
    for (disguise, range, weight) in found {
        let span = match &below {
            Some(below) => below.original(range),
            None => range,
        };
        marks.add(disguise, span, weight);
    }
    draft.replaced().map(|draft| draft.finish(below))
}

/// The letters a word is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// None, or none that tell.
    None,
    Latin,
    Other,
}

/// A run of letters, by how many are of which kind.
struct Word {
    range: Range<usize>,
    latin: usize,
    same: usize,
    near: usize,
    special: usize,
    other: usize,
}

impl Word {
    /// Letters that would be replaced.
    fn odd(&self) -> usize {
        self.same + self.near + self.special
    }

    fn script(&self) -> Script {
        match (self.other, self.latin) {
            (0, 0) if self.special == 0 => Script::None,
            (0, _) => Script::Latin,
            _ => Script::Other,
        }
    }

    /// What the word is dressed up as, if it is to be read as Latin.
    fn disguise(&self, text: &str, before: Script, after: Script) -> Option<Disguise> {
        if self.other > 0 || self.odd() == 0 {
            return None;
        }
        let foreign = self.same + self.near;
        if foreign == 0 {
            return self.small_capitals(text);
        }
        let among_latin = before == Script::Latin || after == Script::Latin;
        let among_others = before == Script::Other || after == Script::Other;
        let reads = if self.latin == 0 {
            // A word of look-alikes alone could be a word of its own language.
            self.near == 0 && self.same > 1 && among_latin && !among_others
        } else {
            self.latin >= foreign || (among_latin && !among_others)
        };
        (reads && !self.is_formula(text)).then_some(Disguise::Lookalike)
    }

    /// In formulas single letters of two alphabets stand side by side.
    fn is_formula(&self, text: &str) -> bool {
        let slice = text.get(self.range.clone()).unwrap_or_default();
        let greek = slice.chars().filter(|c| is_greek(*c)).count();
        let length = self.latin + self.same + self.near;
        (length < 3 || (greek == 1 && length < 5)) && {
            let folded: String = slice.chars().map(fold).collect();
            length < 2 || !lexicon::is_known(&folded.to_lowercase())
        }
    }

    /// Small capitals and their like: a word of them, or one that is a known word without them.
    fn small_capitals(&self, text: &str) -> Option<Disguise> {
        if self.special >= 2 && self.special >= self.latin {
            return Some(Disguise::Styled);
        }
        let slice = text.get(self.range.clone())?;
        let folded: String = slice.chars().map(fold).collect();
        (self.latin > 2 && lexicon::is_known(&folded.to_lowercase())).then_some(Disguise::Lookalike)
    }

    fn weight(&self, disguise: Disguise) -> usize {
        if disguise == Disguise::Styled {
            self.special
        } else {
            1
        }
    }
}

/// The Latin letter a letter looks like, or itself.
pub(super) fn fold(c: char) -> char {
    look_of(c).map_or(c, Look::letter)
}

fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3ff}')
}

/// The words of a text, one after the other.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    fn read(text: &'t str) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let rest = self.text.get(self.at..)?;
        let mut word: Option<Word> = None;
        let mut end = self.text.len();
        for (offset, c) in rest.char_indices() {
            if !c.is_alphabetic() {
                if word.is_some() {
                    end = self.at + offset;
                    break;
                }
                continue;
            }
            let start = self.at + offset;
            let word = word.get_or_insert(Word {
                range: start..start,
                latin: 0,
                same: 0,
                near: 0,
                special: 0,
                other: 0,
            });
            match look_of(c) {
                _ if c.is_ascii() => word.latin += 1,
                Some(Look::Same(_)) => word.same += 1,
                Some(Look::Near(_)) => word.near += 1,
                Some(Look::Latin(_)) => word.special += 1,
                None if matches!(c, '\u{c0}'..='\u{24f}') => word.latin += 1,
                None => word.other += 1,
            }
        }
        self.at = end;
        word.map(|word| Word {
            range: word.range.start..end,
            ..word
        })
    }
}

/// What a letter looks like.
fn look_of(c: char) -> Option<Look> {
    if c.is_ascii() {
        return None;
    }
    same(c)
        .map(Look::Same)
        .or_else(|| near(c).map(Look::Near))
        .or_else(|| latin(c).map(Look::Latin))
}

fn same(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' | 'ⲁ' => 'a',
        'А' | 'Α' | 'Ꭺ' | 'ꓮ' | 'Ⲁ' => 'A',
        'Ь' | 'Ꮟ' => 'b',
        'В' | 'Β' | 'Ᏼ' | 'ꓐ' | 'Ⲃ' => 'B',
        'с' | 'ϲ' | 'ⲥ' => 'c',
        'С' | 'Ϲ' | 'Ꮯ' | 'ꓚ' | 'Ⲥ' => 'C',
        'ԁ' | 'Ꮷ' => 'd',
        'Ꭰ' | 'ꓓ' => 'D',
        'е' | 'ё' | 'ҽ' => 'e',
        'Е' | 'Ё' | 'Ε' | 'Ꭼ' | 'ꓰ' | 'Ⲉ' => 'E',
        'ꓝ' | 'Ϝ' => 'F',
        'ց' => 'g',
        'Ԍ' | 'Ꮐ' | 'ꓖ' => 'G',
        'һ' | 'հ' => 'h',
        'Н' | 'Η' | 'Ꮋ' | 'ꓧ' | 'Ⲏ' => 'H',
        'і' | 'ї' | 'ι' | 'Ꭵ' | 'ⲓ' => 'i',
        'І' | 'Ї' | 'Ι' | 'Ӏ' | 'ꓲ' | 'Ⲓ' => 'I',
        'ј' | 'ϳ' => 'j',
        'Ј' | 'Ꭻ' | 'ꓙ' => 'J',
        'К' | 'Κ' | 'Ꮶ' | 'ꓗ' | 'Ⲕ' => 'K',
        'ӏ' => 'l',
        'Ꮮ' | 'ꓡ' => 'L',
        'М' | 'Μ' | 'Ꮇ' | 'ꓟ' | 'Ⲙ' => 'M',
        'ո' | 'ռ' => 'n',
        'Ν' | 'ꓠ' | 'Ⲛ' => 'N',
        'о' | 'ο' | 'օ' | 'ⲟ' => 'o',
        'О' | 'Ο' | 'Օ' | 'ꓳ' | 'Ⲟ' => 'O',
        'р' | 'ρ' | 'ⲣ' => 'p',
        'Р' | 'Ρ' | 'Ꮲ' | 'ꓑ' | 'Ⲣ' => 'P',
        'ԛ' | 'զ' => 'q',
        'Ԛ' => 'Q',
        'Ꭱ' | 'Ꮢ' | 'ꓣ' => 'R',
        'ѕ' => 's',
        'Ѕ' | 'Տ' | 'Ꮥ' | 'Ꮪ' | 'ꓢ' => 'S',
        'Т' | 'Τ' | 'Ꭲ' | 'ꓔ' | 'Ⲧ' => 'T',
        'υ' | 'ս' => 'u',
        'Ս' | 'ꓴ' => 'U',
        'ν' | 'ѵ' => 'v',
        'Ѵ' | 'Ꮩ' | 'ꓦ' => 'V',
        'ԝ' | 'ѡ' => 'w',
        'Ԝ' | 'Ꮃ' | 'Ꮤ' | 'ꓪ' => 'W',
        'х' | 'χ' | 'ⲭ' => 'x',
        'Х' | 'Χ' | 'ꓫ' | 'Ⲭ' => 'X',
        'у' | 'ү' | 'γ' | 'ⲩ' => 'y',
        'У' | 'Υ' | 'Ү' | 'Ꭹ' | 'Ꮍ' | 'ꓬ' | 'Ⲩ' => 'Y',
        'Ζ' | 'Ꮓ' | 'ꓜ' | 'Ⲍ' => 'Z',
        _ => return None,
    })
}

fn near(c: char) -> Option<char> {
    Some(match c {
        'в' => 'b',
        'є' | 'ε' | 'ⲉ' => 'e',
        'ғ' => 'f',
        'н' => 'h',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'п' | 'η' => 'n',
        'г' | 'ᴦ' => 'r',
        'т' | 'τ' => 't',
        'ц' | 'μ' => 'u',
        'ш' | 'щ' | 'ω' | 'ա' => 'w',
        'σ' | 'ө' => 'o',
        'ք' => 'p',
        'յ' => 'j',
        'ж' => 'x',
        _ => return None,
    })
}

fn latin(c: char) -> Option<char> {
    Some(match c {
        'ᴀ' | 'ɑ' => 'a',
        'ʙ' => 'b',
        'ᴄ' | 'ƈ' => 'c',
        'ᴅ' | 'ɗ' => 'd',
        'ᴇ' => 'e',
        'ꜰ' | 'ƒ' => 'f',
        'ɢ' | 'ɡ' => 'g',
        'ʜ' | 'ɦ' => 'h',
        'ɪ' | 'ı' | 'ɩ' => 'i',
        'ᴊ' | 'ȷ' => 'j',
        'ᴋ' | 'ƙ' => 'k',
        'ʟ' | 'ɫ' => 'l',
        'ᴍ' | 'ɱ' => 'm',
        'ɴ' | 'ɳ' => 'n',
        'ᴏ' => 'o',
        'ᴘ' | 'ƥ' => 'p',
        'ꞯ' => 'q',
        'ʀ' | 'ɾ' => 'r',
        'ꜱ' | 'ʂ' => 's',
        'ᴛ' | 'ƭ' | 'ʈ' => 't',
        'ᴜ' => 'u',
        'ᴠ' | 'ʋ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' | 'ʐ' => 'z',
        _ => return None,
    })
}
