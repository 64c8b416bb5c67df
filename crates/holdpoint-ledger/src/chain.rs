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
    pub fn of(line: &[u8]) -> Self {
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
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
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

const DIGITS: &[u8; 16] = b"0123456789abcdef";

pub(crate) fn write_hex(bytes: &[u8], f: &mut impl fmt::Write) -> fmt::Result {
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            let digit = DIGITS.get(usize::from(half)).copied().unwrap_or(b'0');
            f.write_char(digit.into())?;
        }
    }
    Ok(())
}

/// Bytes as lower-case digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    // Writing to a string cannot fail.
    let _ = write_hex(bytes, &mut text);
    text
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
