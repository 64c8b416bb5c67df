//! A whole text with the way back: what is changed in it is written as it was, byte order mark,
//! encoding and bytes that are no text included.

use std::io;
use std::path::Path;

use super::encoding::{Encoding, Order};
use holdpoint_engine::store;

/// Characters nobody uses stand for bytes that are no text while it is worked on: bytes that are
/// not UTF-8, and halves of characters of UTF-16.
const BYTES: u32 = 0x0010_ff00;
const HALVES: u32 = 0x0010_f000;

/// A text as it stands in a file.
#[derive(Debug)]
pub struct Written {
    text: String,
    mark: Vec<u8>,
    encoding: Encoding,
    /// Whether some of its characters stand for bytes that are no text.
    broken: bool,
}

impl Written {
    /// Reads the bytes of a file; none if it cannot be told in it what is text and what is not.
    pub fn read(raw: &[u8]) -> Option<Self> {
        let (encoding, mark) = Encoding::from_start(raw);
        let (mark, body) = raw.split_at_checked(mark)?;
        let mut text = String::with_capacity(body.len());
        let mut broken = false;
        match encoding {
            Encoding::Utf8 => {
                for chunk in body.utf8_chunks() {
                    text.push_str(chunk.valid());
                    for byte in chunk.invalid() {
                        text.extend(char::from_u32(BYTES + u32::from(*byte)));
                        broken = true;
                    }
                }
            }
            Encoding::Utf16(_) if body.len() % 2 == 1 => return None,
            Encoding::Utf16(order) => {
                for c in char::decode_utf16(order.units(body)) {
                    text.extend(c.or_else(|half| {
                        broken = true;
                        let number = u32::from(half.unpaired_surrogate()) - 0xd800;
                        char::from_u32(HALVES + number).ok_or(half)
                    }));
                }
            }
        }
        let written = Self {
            mark: mark.to_owned(),
            text,
            encoding,
            broken,
        };
        // Whoever uses such characters cannot have broken bytes as well.
        (!broken || written.bytes(&written.text) == raw).then_some(written)
    }

    /// What it says.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of another text, written as this one is.
    pub fn bytes(&self, text: &str) -> Vec<u8> {
        let mut raw = Vec::with_capacity(self.mark.len() + text.len());
        raw.extend(&self.mark);
        match self.encoding {
            Encoding::Utf8 if !self.broken => raw.extend(text.as_bytes()),
            Encoding::Utf8 => {
                for c in text.chars() {
                    match u8::try_from(u32::from(c).wrapping_sub(BYTES)) {
                        Ok(byte) => raw.push(byte),
                        Err(_) => raw.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    }
                }
            }
            Encoding::Utf16(order) => {
                for c in text.chars() {
                    self.push_units(c, order, &mut raw);
                }
            }
        }
        raw
    }

    fn push_units(&self, c: char, order: Order, raw: &mut Vec<u8>) {
        let half = u32::from(c).wrapping_sub(HALVES);
        match u16::try_from(half) {
            Ok(half) if self.broken && half < 0x800 => raw.extend(order.bytes(0xd800 + half)),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    raw.extend(order.bytes(*unit));
                }
            }
        }
    }
}

/// Replaces a file in one step; it keeps its owner and its mode. A link stays one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = path.canonicalize()?;
    let about = target.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    store::rewrite(&target, bytes, Some(&about))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_that_are_no_text_stay_where_they_are() {
        let written = Written::read(b"\xef\xbb\xbfcaf\xe9 x\xff").unwrap();
        let changed = written.text().replace('x', "yes");
        assert_eq!(written.bytes(&changed), b"\xef\xbb\xbfcaf\xe9 yes\xff");
        let wide = Written::read(b"\xfe\xff\0a\xd8\0\0b").unwrap();
        let changed = wide.text().replace('b', "cc");
        assert_eq!(wide.bytes(&changed), b"\xfe\xff\0a\xd8\0\0c\0c");
        // Broken bytes, and a character that stands for such.
        assert!(Written::read(b"\xff\xf4\x8f\xbc\x80").is_none());
        assert!(Written::read(b"\xf4\x8f\xbc\x80").is_some());
    }

    proptest! {
        #[test]
        fn what_is_not_changed_stays_to_the_byte(
            raw in proptest::collection::vec(any::<u8>(), 0..200),
            mark in 0usize..4,
        ) {
            let marks: [&[u8]; 4] = [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
            let raw = [marks[mark], &raw].concat();
            if let Some(written) = Written::read(&raw) {
                prop_assert_eq!(written.bytes(written.text()), raw);
            }
        }
    }
}
