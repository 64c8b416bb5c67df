//! A text read piece by piece, whatever it is written in, with the way back to its bytes.
//!
//! What is not text in it is read as U+FFFD. However long the text is, one piece of it is in memory.

use std::borrow::Cow;
use std::io::{self, Read};
use std::str::Utf8Chunks;

use super::encoding::Encoding;

/// How much is read at once, and how much of a piece is seen again with the next, so that nothing
/// that stands across the border is missed.
const PIECE: usize = 4 << 20;
pub(super) const OVERLAP: usize = 64 << 10;

/// How much is looked at to see what kind of bytes these are.
const HEAD: usize = 8 << 10;

/// Where something stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// How many bytes of the file stand before it.
    pub byte: u64,
    /// The line, counted from 1.
    pub line: u64,
    /// The character of the line, counted from 1.
    pub column: u64,
}

impl TextPosition {
    /// The byte as a length in memory; a file longer than any memory has its last.
    pub(super) fn offset(self) -> usize {
        usize::try_from(self.byte).unwrap_or(usize::MAX)
    }
}

/// A text that is being read.
pub(super) struct Input<R> {
    reader: R,
    raw: Vec<u8>,
    /// Where `raw` starts.
    start: TextPosition,
    encoding: Encoding,
    ended: bool,
    piece: usize,
}

impl<R: Read> Input<R> {
    /// Reads the first piece.
    pub(super) fn open(reader: R) -> io::Result<Self> {
        Self::with_pieces_of(PIECE, reader)
    }

    fn with_pieces_of(piece: usize, reader: R) -> io::Result<Self> {
        let mut input = Self {
            reader,
            raw: Vec::new(),
            start: TextPosition {
                byte: 0,
                line: 1,
                column: 1,
            },
            encoding: Encoding::Utf8,
            ended: false,
            piece,
        };
        input.fill()?;
        let (encoding, mark) = Encoding::from_start(&input.raw);
        input.encoding = encoding;
        input.raw.drain(..mark);
        input.start.byte = count(mark);
        Ok(input)
    }

    /// Whether this is a picture, a program or the like: one in twenty of its first bytes is a
    /// control character no text has. A single NUL does not hide a text.
    pub(super) fn is_binary(&self) -> bool {
        let head = self.raw.get(..HEAD).unwrap_or(&self.raw);
        let odd = head.iter().filter(|byte| {
            matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127) && self.encoding == Encoding::Utf8
        });
        odd.count() * 20 > head.len().max(40)
    }

    /// The piece that was read.
    pub(super) fn piece(&self) -> Piece<'_> {
        let raw = match self.ended {
            true => self.raw.as_slice(),
            false => self.encoding.whole(&self.raw),
        };
        Piece {
            text: self.encoding.text(raw),
            raw,
            encoding: self.encoding,
            start: self.start,
        }
    }

    /// Reads the next piece, which starts with the end of the last one; false if there is none.
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let piece = self.piece();
        let overlap = OVERLAP.min(self.piece / 4);
        let keep = piece
            .text
            .floor_char_boundary(piece.text.len().saturating_sub(overlap));
        let Some(start) = piece.positions(&[keep]).pop() else {
            return Ok(false);
        };
        let passed = usize::try_from(start.byte - self.start.byte).unwrap_or(usize::MAX);
        self.raw.drain(..passed.min(self.raw.len()));
        self.start = start;
        self.fill()?;
        Ok(true)
    }

    fn fill(&mut self) -> io::Result<()> {
        let missing = self.piece.saturating_sub(self.raw.len());
        let read = (&mut self.reader)
            .take(count(missing))
            .read_to_end(&mut self.raw)?;
        self.ended = read < missing;
        Ok(())
    }

    /// How many bytes were read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.start.byte + count(self.raw.len())
    }
}

/// One piece of a text.
pub(super) struct Piece<'r> {
    /// What it says.
    pub(super) text: Cow<'r, str>,
    raw: &'r [u8],
    encoding: Encoding,
    start: TextPosition,
}

impl Piece<'_> {
    /// Where these offsets of the text stand, which are given in order.
    pub(super) fn positions(&self, offsets: &[usize]) -> Vec<TextPosition> {
        let mut now = self.start;
        let mut raw_offsets = RawOffsets {
            chunks: self.raw.utf8_chunks(),
            text: 0,
            raw: 0,
            valid: 0,
            replaced: 0,
        };
        let mut at = 0;
        let mut positions = Vec::with_capacity(offsets.len());
        for offset in offsets {
            let between = self.text.get(at..*offset).unwrap_or_default();
            match between.rfind('\n') {
                Some(last) => {
                    let breaks = between.bytes().filter(|byte| *byte == b'\n').count();
                    let behind = between.get(last + 1..).unwrap_or_default();
                    now.line += count(breaks);
                    now.column = 1 + count(behind.chars().count());
                }
                None => now.column += count(between.chars().count()),
            }
            match (self.encoding, &self.text) {
                (Encoding::Utf8, Cow::Borrowed(_)) => now.byte += count(between.len()),
                (Encoding::Utf8, Cow::Owned(_)) => {
                    now.byte = self.start.byte + count(raw_offsets.raw_of(*offset));
                }
                (Encoding::Utf16(_), _) => {
                    now.byte += 2 * count(between.chars().map(char::len_utf16).sum());
                }
            }
            at = *offset;
            positions.push(now);
        }
        positions
    }
}

/// Translates offsets in a text to offsets in the bytes it was read from, where some of these are
/// not UTF-8.
struct RawOffsets<'r> {
    chunks: Utf8Chunks<'r>,
    /// Where the present chunk starts in the text and in the bytes.
    text: usize,
    raw: usize,
    /// How many bytes of it are text, and how many of those behind are not.
    valid: usize,
    replaced: usize,
}

impl RawOffsets<'_> {
    fn raw_of(&mut self, offset: usize) -> usize {
        loop {
            let inside = offset.saturating_sub(self.text);
            if inside <= self.valid {
                return self.raw + inside;
            }
            if inside < self.valid + char::REPLACEMENT_CHARACTER.len_utf8() {
                return self.raw + self.valid;
            }
            let Some(next) = self.chunks.next() else {
                return self.raw + self.valid + self.replaced;
            };
            if self.valid + self.replaced > 0 {
                self.text += self.valid;
                self.raw += self.valid + self.replaced;
                if self.replaced > 0 {
                    self.text += char::REPLACEMENT_CHARACTER.len_utf8();
                }
            }
            self.valid = next.valid().len();
            self.replaced = next.invalid().len();
        }
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn position(byte: u64, line: u64, column: u64) -> TextPosition {
        TextPosition { byte, line, column }
    }

    fn positions(raw: &[u8], words: &[&str]) -> Vec<TextPosition> {
        let input = Input::open(raw).unwrap();
        let piece = input.piece();
        let offsets: Vec<usize> = words
            .iter()
            .map(|word| piece.text.find(word).unwrap())
            .collect();
        piece.positions(&offsets)
    }

    #[test]
    fn positions_are_those_of_the_file() {
        assert_eq!(
            positions("añb\ncd".as_bytes(), &["a", "b", "d"]),
            [position(0, 1, 1), position(3, 1, 3), position(6, 2, 2)]
        );
        // One byte of three that is no UTF-8, and two bytes that begin a character of three.
        assert_eq!(
            positions(b"a\xff\xe2\x82b\n\xf0\x9fc", &["a", "b", "c"]),
            [position(0, 1, 1), position(4, 1, 4), position(8, 2, 2)]
        );
        assert_eq!(
            positions(b"\xef\xbb\xbfab", &["a", "b"]),
            [position(3, 1, 1), position(4, 1, 2)]
        );
        let mut wide = vec![0xff, 0xfe];
        for unit in "a😀b\nc".encode_utf16() {
            wide.extend(unit.to_le_bytes());
        }
        assert_eq!(
            positions(&wide, &["a", "b", "c"]),
            [position(2, 1, 1), position(8, 1, 3), position(12, 2, 1)]
        );
        let mut other = vec![0xfe, 0xff];
        for unit in "ab".encode_utf16() {
            other.extend(unit.to_be_bytes());
        }
        assert_eq!(positions(&other, &["b"]), [position(4, 1, 2)]);
    }

    #[test]
    fn texts_are_told_from_programs() {
        let is_binary = |raw: &[u8]| Input::open(raw).unwrap().is_binary();
        assert!(is_binary(
            b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        ));
        assert!(is_binary(&[0; 512]));
        assert!(!is_binary(b""));
        assert!(!is_binary("Привет, мир".as_bytes()));
        assert!(!is_binary(b"ignore\0 what was said before"));
        assert!(!is_binary(b"\xff\xfea\0b\0c\0"));
        assert!(!is_binary(b"caf\xe9 cr\xe8me"));
    }

    proptest! {
        #[test]
        fn pieces_meet(
            raw in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..300),
                "\\PC{0,100}".prop_map(String::into_bytes),
                "[a-zé😀\n]{0,100}".prop_map(|text| {
                    let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
                    [0xff, 0xfe].into_iter().chain(wide).collect()
                }),
            ],
            size in 16usize..64,
        ) {
            let whole = Input::open(raw.as_slice()).unwrap();
            let text = whole.piece().text.into_owned();
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let known = whole.piece().positions(&ends);
            prop_assert!(known.last().is_none_or(|last| last.byte < whole.bytes()));
            prop_assert_eq!(whole.bytes(), raw.len() as u64);

            let mut input = Input::with_pieces_of(size, raw.as_slice()).unwrap();
            let mut seen = 0;
            loop {
                let piece = input.piece();
                let from = known.iter().position(|one| *one == input.start);
                let from = match from {
                    Some(from) => ends[from],
                    // Only where nothing is left.
                    None => { prop_assert!(piece.text.is_empty()); text.len() }
                };
                prop_assert!(from <= seen);
                let rest = text.get(from..).unwrap();
                prop_assert!(rest.starts_with(piece.text.as_ref()), "{:?}", piece.text);
                seen = from + piece.text.len();
                if !input.advance().unwrap() {
                    break;
                }
            }
            prop_assert_eq!(seen, text.len());
            prop_assert_eq!(input.bytes(), raw.len() as u64);
        }
    }
}
