//! The normal form of a text, character by character: what is invisible is left out, what is dressed
//! up or referred to is put in its place, and what was odd about it is noted.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use super::marks::Marks;
use super::pieces::{Draft, Made};
use super::unseen::{Unseen, unseen};
use super::{Disguise, alike, entities, scripts, styled, terminal};

/// A text in its normal form.
pub(super) struct Plain<'t> {
    /// The text with what was replaced.
    pub(super) draft: Draft<'t>,
    /// What characters that nobody sees were carrying.
    pub(super) carried: [(Disguise, Draft<'t>); 3],
    /// Whether letters were seen that look like Latin ones.
    pub(super) has_lookalikes: bool,
}

/// Brings a text into its normal form; what is hidden in it may be `room` bytes long.
pub(super) fn plain<'t>(text: &'t str, marks: &mut Marks, room: usize) -> Plain<'t> {
    let mut reader = Reader {
        text,
        draft: Draft::new(text, usize::MAX),
        tags: Draft::new(text, room),
        titles: Draft::new(text, room),
        selectors: Vec::new(),
        has_lookalikes: false,
        line: Line::default(),
        soft_hyphen: None,
        marks,
    };
    reader.read();
    let selectors = reader.selected(room);
    Plain {
        draft: reader.draft,
        carried: [
            (Disguise::Tags, reader.tags),
            (Disguise::Selectors, selectors),
            (Disguise::TerminalTitle, reader.titles),
        ],
        has_lookalikes: reader.has_lookalikes,
    }
}

struct Reader<'t, 'm> {
    text: &'t str,
    draft: Draft<'t>,
    tags: Draft<'t>,
    /// What a terminal is told without showing it in its place.
    titles: Draft<'t>,
    /// Bytes that selectors stand for.
    selectors: Vec<(u8, Range<usize>)>,
    has_lookalikes: bool,
    line: Line,
    soft_hyphen: Option<usize>,
    marks: &'m mut Marks,
}

/// What matters of the line a character stands in.
#[derive(Default)]
struct Line {
    end: usize,
    right_to_left: bool,
    east_asian: bool,
    balanced: bool,
}

impl Reader<'_, '_> {
    fn read(&mut self) {
        let mut at = 0;
        while let Some(next) = next_unusual(self.text.as_bytes(), at) {
            let Some(c) = self.char_at(next) else { return };
            at = self.take(next, c).max(next + 1);
        }
    }

    /// Reads an unusual character and tells where to go on.
    fn take(&mut self, at: usize, c: char) -> usize {
        let after = at + c.len_utf8();
        match c {
            '&' => self.reference(at),
            '\x08' => self.backspace(at),
            '\x0c' => {
                self.marks.add(Disguise::FormFeed, at..after, 1);
                after
            }
            '\x0b' => {
                self.marks.add(Disguise::Control, at..after, 1);
                let between = if self.is_among_letters(at) { "" } else { " " };
                self.draft
                    .replace(at..after, between, Made::Undone(Disguise::Control));
                after
            }
            '\u{85}' => after,
            '\0'..='\x1f' | '\x7f'..='\u{9f}' => self.control(at, after),
            _ if is_settled(c) => {
                self.has_lookalikes |= alike::is_candidate(c);
                after
            }
            _ => match unseen(c) {
                Some(what) => self.invisible(at, c, what),
                None if scripts::is_accent(c) || canonical_combining_class(c) != 0 => {
                    self.accents(at)
                }
                None => self.letter(at..after, c),
            },
        }
    }

    /// A control character, or the sequence it begins.
    fn control(&mut self, at: usize, after: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let (end, what) = match terminal::sequence(rest) {
            Some((length, what)) => {
                self.title(at..at + length);
                (at + length, what)
            }
            None => (after, Disguise::Control),
        };
        self.marks.add(what, at..end, 1);
        self.draft.replace(at..end, "", Made::Undone(what));
        end
    }

    /// The text in a sequence that has one: a title, an address, what goes to the clipboard.
    fn title(&mut self, sequence: Range<usize>) {
        let slice = self.text.get(sequence.clone()).unwrap_or_default();
        if let Some(inside) = terminal::text(slice) {
            let start = sequence.start;
            self.titles.copy(start + inside.start..start + inside.end);
            self.titles.end_segment();
        }
    }

    /// Whether a control character parts single letters, rather than words or lines.
    fn is_among_letters(&self, at: usize) -> bool {
        let control = self.char_at(at);
        let before = self.text.get(..at).unwrap_or_default().chars().nth_back(1);
        let after = self.text.get(at..).unwrap_or_default().chars().nth(2);
        let single = |beyond: Option<char>| {
            beyond.is_none_or(|beyond| Some(beyond) == control || beyond.is_whitespace())
        };
        single(before) || single(after)
    }

    /// A backspace: letters printed twice are bold and letters on `_` underlined, as old printers did
    /// it; anything else that was printed over is still read by a model.
    fn backspace(&mut self, at: usize) -> usize {
        let after = at + 1;
        let before = self.char_before(at);
        let struck = self.char_at(after);
        let ordinary = match (before, struck) {
            (Some(before), Some(struck)) => before == struck || before == '_' || struck == '_',
            _ => false,
        };
        if !ordinary {
            self.marks.add(Disguise::Control, at..after, 1);
            // A single letter that another was put over is gone; of more nobody knows what is read.
            let letter = |c: &char| c.is_alphanumeric();
            let gone = before
                .filter(letter)
                .filter(|_| struck.as_ref().is_some_and(letter))
                .map_or(at, |before| at - before.len_utf8());
            let gone = if gone >= self.draft.done() { gone } else { at };
            self.draft
                .replace(gone..after, "", Made::Undone(Disguise::Control));
            return after;
        }
        let (Some(before), Some(struck)) = (before, struck) else {
            return after;
        };
        let end = after + struck.len_utf8();
        let start = at.saturating_sub(before.len_utf8());
        if start >= self.draft.done() {
            let shown = if before == '_' { struck } else { before };
            let shown = shown.encode_utf8(&mut [0; 4]).to_owned();
            self.draft.replace(start..end, &shown, Made::Folded);
        } else {
            // Struck a third time: the letter stands already.
            self.draft.replace(at..end, "", Made::Folded);
        }
        end
    }

    /// A character reference of HTML; what it refers to is read like any other character.
    fn reference(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let Some((length, c)) = entities::entity(rest) else {
            return at + 1;
        };
        let end = at + length;
        let range = at..end;
        let made = Made::Undone(Disguise::Entity);
        if c.is_control() && !c.is_whitespace() || unseen(c).is_some() || scripts::is_accent(c) {
            self.draft.replace(range, "", made);
        } else {
            self.has_lookalikes |= alike::is_candidate(c);
            let plain: String = match styled::letter(c) {
                Some(letter) => letter.to_string(),
                None => c.nfkc().take(MAX_FORM).collect(),
            };
            self.draft.replace(range, &plain, made);
        }
        end
    }

    /// A letter or sign: its compatibility form stands for it.
    fn letter(&mut self, range: Range<usize>, c: char) -> usize {
        let end = range.end;
        if let Some(letter) = styled::letter(c) {
            if !(styled::is_flag_half(c) && self.is_flag(&range)) {
                self.marks.add(Disguise::Styled, range.clone(), 2);
            }
            let letter = letter.encode_utf8(&mut [0; 4]).to_owned();
            self.draft
                .replace(range, &letter, Made::Undone(Disguise::Styled));
            return end;
        }
        self.has_lookalikes |= alike::is_candidate(c);
        let mut form = c.nfkc();
        if let (Some(first), None) = (form.next(), form.next())
            && first == c
        {
            return end;
        }
        // A few characters stand for whole sentences: they stay.
        if c.nfkc().count() > MAX_FORM {
            return end;
        }
        let form: String = c.nfkc().collect();
        self.has_lookalikes |= form.chars().any(alike::is_candidate);
        let dressed = styled::is_dressed(c) && form.chars().any(|c| c.is_ascii_alphabetic());
        if dressed && !(styled::is_full_width(c) && self.line(range.start).east_asian) {
            self.marks.add(Disguise::Styled, range.clone(), 1);
        }
        let made = if dressed {
            Made::Undone(Disguise::Styled)
        } else {
            Made::Folded
        };
        self.draft.replace(range, &form, made);
        end
    }

    /// Whether a half of a flag has its other half beside it.
    fn is_flag(&self, range: &Range<usize>) -> bool {
        self.char_at(range.end).is_some_and(styled::is_flag_half)
            || self
                .char_before(range.start)
                .is_some_and(styled::is_flag_half)
    }

    /// Accents after a letter. Those that make a letter of their own with it are composed; others are
    /// left out on Latin letters, and so are heaps.
    fn accents(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let mut end = at;
        let (mut count, mut loose) = (0, 0);
        for c in rest.chars() {
            if !scripts::is_accent(c) && !is_combining_mark(c) {
                break;
            }
            end += c.len_utf8();
            count += 1;
            loose += usize::from(scripts::is_accent(c));
        }
        let heap = loose > ORDINARY_ACCENTS || count > MAX_ACCENTS;
        let base = self
            .char_before(at)
            .filter(|base| at - base.len_utf8() >= self.draft.done());
        let start = base.map_or(at, |base| at - base.len_utf8());
        let source = self.text.get(at..end).unwrap_or_default();
        if heap || (base.is_none() && loose > 0) {
            if heap {
                self.marks.add(Disguise::Combining, at..end, count.max(5));
            }
            self.draft
                .replace(at..end, "", Made::Undone(Disguise::Combining));
            return end;
        }
        let composed: String = base.into_iter().chain(source.chars()).nfkc().collect();
        let latin =
            base.is_none_or(|base| base.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&base));
        let mut kept = String::with_capacity(composed.len());
        kept.extend(
            composed
                .chars()
                .filter(|c| !latin || !scripts::is_accent(*c)),
        );
        let dropped = kept.len() < composed.len();
        if dropped {
            // Where one accent belongs to no letter, the others beside it do not either.
            if let Some(base) = base.filter(char::is_ascii_alphabetic) {
                kept = base.to_string();
            }
            self.marks.add(Disguise::Combining, at..end, 1);
        }
        if self.text.get(start..end) != Some(kept.as_str()) {
            let made = if dropped {
                Made::Undone(Disguise::Combining)
            } else {
                Made::Folded
            };
            self.draft.replace(start..end, &kept, made);
        }
        end
    }

    /// A character nobody sees is left out, and noted where ordinary writing has no use for it.
    fn invisible(&mut self, at: usize, c: char, what: Unseen) -> usize {
        let after = at + c.len_utf8();
        let before = self.char_before(at);
        let next = self.char_at(after);
        let near = |is: fn(char) -> bool| before.is_some_and(is) || next.is_some_and(is);
        let (disguise, odd) = match what {
            Unseen::Tag(_) => return self.tags(at),
            Unseen::Selector(_) => return self.selectors(at, before),
            Unseen::Joiner => (
                Disguise::ZeroWidth,
                !near(scripts::needs_joiners) && !before.is_some_and(scripts::is_picture),
            ),
            Unseen::Break => (Disguise::ZeroWidth, !near(scripts::needs_breaks)),
            Unseen::SoftHyphen => {
                let crowded = self.soft_hyphen.is_some_and(|last| at - last <= CROWDED);
                self.soft_hyphen = Some(after);
                (Disguise::ZeroWidth, crowded)
            }
            Unseen::Operator => {
                let letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
                (Disguise::ZeroWidth, letter(before) && letter(next))
            }
            Unseen::ByteOrder => (
                Disguise::ZeroWidth,
                before.is_some_and(|before| before != '\n'),
            ),
            Unseen::Filler => (Disguise::ZeroWidth, !near(scripts::is_east_asian)),
            Unseen::Direction => (Disguise::Bidi, !self.line(at).right_to_left),
            Unseen::Opening | Unseen::Closing => {
                let line = self.line(at);
                (Disguise::Bidi, !(line.right_to_left && line.balanced))
            }
            Unseen::Forcing => (Disguise::Bidi, true),
        };
        if odd {
            self.marks.add(disguise, at..after, 1);
        }
        let made = if odd {
            Made::Undone(disguise)
        } else {
            Made::Folded
        };
        self.draft.replace(at..after, "", made);
        after
    }

    /// Tag characters: ASCII that no screen shows. Behind a black flag they name a region.
    fn tags(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let mut end = at;
        let mut count = 0;
        let mut region = self.char_before(at) == Some('\u{1f3f4}');
        let mut last = 0;
        for c in rest.chars() {
            let Some(Unseen::Tag(byte)) = unseen(c) else {
                break;
            };
            end += c.len_utf8();
            count += 1;
            region &= count <= 7 && (byte.is_ascii_alphanumeric() || byte == 0x7f);
            last = byte;
        }
        if region && last == 0x7f {
            self.draft.replace(at..end, "", Made::Folded);
            return end;
        }
        let mut position = at;
        for c in rest.chars().take(count) {
            let range = position..position + c.len_utf8();
            position = range.end;
            if let Some(Unseen::Tag(byte @ (b' '..=b'~' | b'\n' | b'\t'))) = unseen(c) {
                let made = Made::Undone(Disguise::Tags);
                self.tags.add_char(range, char::from(byte), made);
            }
        }
        self.marks.add(Disguise::Tags, at..end, count);
        self.draft
            .replace(at..end, "", Made::Undone(Disguise::Tags));
        end
    }

    /// Variation selectors: one chooses between forms of a sign, several in a row carry bytes.
    fn selectors(&mut self, at: usize, before: Option<char>) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let mut end = at;
        let first = self.selectors.len();
        for c in rest.chars() {
            let Some(Unseen::Selector(byte)) = unseen(c) else {
                break;
            };
            let range = end..end + c.len_utf8();
            end = range.end;
            self.selectors.push((byte, range));
        }
        let count = self.selectors.len() - first;
        let on_letter = before.is_some_and(|c| c.is_ascii_alphabetic() || c == ' ');
        let carries = count > 2 || on_letter;
        if carries {
            self.marks.add(Disguise::Selectors, at..end, count);
        } else {
            self.selectors.truncate(first);
        }
        let made = if carries {
            Made::Undone(Disguise::Selectors)
        } else {
            Made::Folded
        };
        self.draft.replace(at..end, "", made);
        end
    }

    /// What the bytes of selectors say: whole bytes, or, where all are small, halves of them.
    fn selected(&mut self, room: usize) -> Draft<'static> {
        let mut draft = Draft::new("", room);
        let mut bytes = std::mem::take(&mut self.selectors);
        if bytes.len() > 1 && bytes.iter().all(|(byte, _)| *byte < 16) {
            bytes = bytes
                .chunks_exact(2)
                .filter_map(|pair| match pair {
                    [(high, first), (low, last)] => Some((high << 4 | low, first.start..last.end)),
                    _ => None,
                })
                .collect();
        }
        let says: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
        let mut at = 0;
        for chunk in says.utf8_chunks() {
            for c in chunk.valid().chars() {
                let next = at + c.len_utf8();
                if let (Some((_, first)), Some((_, last))) = (bytes.get(at), bytes.get(next - 1)) {
                    let made = Made::Undone(Disguise::Selectors);
                    draft.add_char(first.start..last.end, c, made);
                }
                at = next;
            }
            at += chunk.invalid().len();
        }
        draft
    }

    /// What matters of the line at `at`; looked at once a line.
    fn line(&mut self, at: usize) -> &Line {
        if at >= self.line.end {
            let before = self.text.get(..at).unwrap_or_default();
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            // A block without line ends is looked at in parts.
            let start = self
                .text
                .floor_char_boundary(start.max(at.saturating_sub(1024)));
            let rest = self.text.get(start..).unwrap_or_default();
            let mut line = Line {
                end: self.text.len(),
                ..Line::default()
            };
            let mut open = 0_i32;
            let mut balanced = true;
            for (offset, c) in rest.char_indices() {
                if c == '\n' || offset > 4096 {
                    line.end = start + offset + 1;
                    break;
                }
                line.right_to_left |= scripts::is_right_to_left(c);
                line.east_asian |= scripts::is_east_asian(c);
                match unseen(c) {
                    Some(Unseen::Opening) => open += 1,
                    Some(Unseen::Closing) => {
                        open -= 1;
                        balanced &= open >= 0;
                    }
                    _ => {}
                }
            }
            line.balanced = balanced && open == 0;
            self.line = line;
        }
        &self.line
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn char_before(&self, at: usize) -> Option<char> {
        self.text.get(..at)?.chars().next_back()
    }
}

/// Where the next character is that may not stay as it is.
fn next_unusual(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter()
        .position(|byte| UNUSUAL.get(usize::from(*byte)) == Some(&true))
        .map(|offset| from + offset)
}

/// Characters beyond ASCII that are their own normal form, and seen: most of what is written.
fn is_settled(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{131}' | '\u{141}'..='\u{148}' | '\u{14a}'..='\u{17e}' | '\u{391}'..='\u{3c9}'
        | '\u{400}'..='\u{45f}' | '\u{5d0}'..='\u{5ea}' | '\u{621}'..='\u{64a}' | '\u{904}'..='\u{939}'
        | '\u{e01}'..='\u{e30}' | '\u{2012}'..='\u{2015}' | '\u{2018}'..='\u{201f}' | '\u{2500}'..='\u{25ff}'
        | '\u{3001}'..='\u{3002}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{1f300}'..='\u{1faff}')
}

/// The longest compatibility form that is used.
const MAX_FORM: usize = 4;
/// How many accents an ordinary letter has at most.
const ORDINARY_ACCENTS: usize = 3;
/// How many signs of its own script a letter has at most.
const MAX_ACCENTS: usize = 12;
/// Soft hyphens this near to each other hyphenate nothing.
const CROWDED: usize = 3;

/// The bytes that are looked at: control characters, `&` and whatever is beyond ASCII.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
const UNUSUAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte < 32 && byte != 9 && byte != 10 && byte != 13)
            || byte == b'&' as usize
            || byte >= 127;
        byte += 1;
    }
    table
};
