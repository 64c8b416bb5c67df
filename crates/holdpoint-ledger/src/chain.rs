//! The hash that ties a record to the one before it.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// The hash of a record, over its stored bytes without the line break: a leaf of an RFC 6962 tree.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RecordHash(pub(crate) [u8; 32]);

impl RecordHash {
    /// What the first record has in the place of a hash.
    pub const NONE: Self = Self([0; 32]);

    /// The hash of a stored line.
    pub fn from_line(line: &[u8]) -> Self {
        let mut hasher = Self::leaf();
        hasher.update(line);
        Self(hasher.finalize().into())
    }

    /// What hashes a stored line that comes in parts.
    pub(crate) fn leaf() -> Sha256 {
        let mut hasher = Sha256::new();
        // Tells a leaf from a node of the tree, which starts with 1.
        hasher.update([0]);
        hasher
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for RecordHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// A text that is no hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash has 64 digits 0-9 and a-f")]
pub struct NoHash;

impl FromStr for RecordHash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        from_hex(text).map(Self).ok_or(NoHash)
    }
}

/// Every byte as its two lower-case digits.
static HEX: [[u8; 2]; 256] = {
    let mut hex = [[0; 2]; 256];
    let mut rest: &mut [[u8; 2]] = &mut hex;
    let mut byte = 0u8;
    while let Some((pair, behind)) = rest.split_first_mut() {
        *pair = [digit(byte >> 4), digit(byte & 15)];
        byte = byte.wrapping_add(1);
        rest = behind;
    }
    hex
};

const fn digit(half: u8) -> u8 {
    match half {
        0..=9 => b'0' + half,
        _ => b'a' + half - 10,
    }
}

/// Adds bytes as lower-case digits. Every record has two hashes in it, so this is no formatter's work.
pub(crate) fn push_hex(bytes: &[u8], text: &mut Vec<u8>) {
    text.reserve(bytes.len().saturating_mul(2));
    for pair in bytes.iter().filter_map(|byte| HEX.get(usize::from(*byte))) {
        text.extend_from_slice(pair);
    }
}

/// Bytes as lower-case digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len() * 2);
    push_hex(bytes, &mut text);
    // Digits are text.
    String::from_utf8(text).unwrap_or_default()
}

/// Adds a number in at least so many digits.
pub(crate) fn push_number(number: u64, width: usize, text: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let (mut rest, mut used) = (number, 0);
    for place in digits.iter_mut().rev() {
        if rest == 0 && used >= width.max(1) {
            break;
        }
        *place = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        used += 1;
    }
    let start = digits.len().saturating_sub(used);
    text.extend_from_slice(digits.get(start..).unwrap_or_default());
}

/// Only lower-case digits are taken: a hash has one spelling.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != N * 2 {
        return None;
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = value(*high)? << 4 | value(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_written_as_a_formatter_would() {
        for number in [0, 7, 10, 99_999_999, 100_000_000, u64::MAX] {
            for width in [0, 1, 8, 20] {
                let mut text = Vec::new();
                push_number(number, width, &mut text);
                let wanted = format!("{number:0width$}");
                assert_eq!(String::from_utf8(text).unwrap(), wanted);
            }
        }
        let bytes: Vec<u8> = (0..=255).collect();
        let wanted: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex(&bytes), wanted);
    }
}
