//! The head: what the last writer meant to leave behind, kept in the lock file.
//!
//! It is written twice for each append, before (`announced`) and after (`settled`). So a record a
//! killed process left half-written, or whole but unacknowledged, is told from one that somebody
//! removed or added: what was announced may be there or not; what was settled must be.

use sha2::{Digest as _, Sha256};

use crate::Timestamp;
use crate::chain::{RecordHash, push_hex, push_number};

/// The bytes of a head.
pub(crate) const LENGTH: usize = 181;

/// How far the last writer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It was about to write.
    Announced,
    /// It has written.
    Settled,
}

impl State {
    pub(crate) fn letter(self) -> u8 {
        match self {
            State::Announced => b'A',
            State::Settled => b'S',
        }
    }
}

/// What the ledger ends with after the last append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) state: State,
    /// The segment written to.
    pub(crate) segment: u32,
    /// Its size after.
    pub(crate) size: u64,
    /// The number of records before, in all segments.
    pub(crate) before: u64,
    /// The number of records after.
    pub(crate) records: u64,
    /// The time of the last record.
    pub(crate) time: Timestamp,
    /// Whether the reserve has been touched.
    pub(crate) reserve_used: bool,
    /// The hash of the last record.
    pub(crate) hash: RecordHash,
}

impl Head {
    /// The stored bytes. Their number never changes, so one write replaces another.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(LENGTH);
        text.extend([self.state.letter(), b' ', b'1']);
        let numbers = [
            (u64::from(self.segment), 8),
            (self.size, 20),
            (self.before, 20),
            (self.records, 20),
            (self.time.micros(), 20),
            (u64::from(self.reserve_used), 1),
        ];
        for (number, width) in numbers {
            text.push(b' ');
            push_number(number, width, &mut text);
        }
        text.push(b' ');
        push_hex(self.hash.as_bytes(), &mut text);
        let check = check(&text);
        text.push(b' ');
        push_hex(&check, &mut text);
        text.push(b'\n');
        text
    }

    /// Whether a lock file holds less than any head: a writer was refused or ended before the first.
    pub(crate) fn is_begun(stored: &[u8]) -> bool {
        stored.len() < LENGTH
    }

    /// Reads stored bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut words = text.strip_suffix('\n')?.split(' ');
        let state = match words.next()? {
            "A" => State::Announced,
            "S" => State::Settled,
            _ => return None,
        };
        let mut next = || words.next();
        if next()? != "1" {
            return None;
        }
        let head = Self {
            state,
            segment: next()?.parse().ok()?,
            size: next()?.parse().ok()?,
            before: next()?.parse().ok()?,
            records: next()?.parse().ok()?,
            time: Timestamp::from_micros(next()?.parse().ok()?),
            reserve_used: match next()? {
                "0" => false,
                "1" => true,
                _ => return None,
            },
            hash: next()?.parse().ok()?,
        };
        // A flipped bit may still be a number, and so may half of one head over half of another:
        // only the one spelling counts, and it ends with a digest of itself.
        (head.bytes() == bytes).then_some(head)
    }
}

/// The first 16 digits of the digest of what stands before them, as bytes.
fn check(text: &[u8]) -> [u8; 8] {
    let digest: [u8; 32] = Sha256::digest(text).into();
    let (short, _) = digest.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    *short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_bit_makes_it_unreadable() {
        let head = Head {
            state: State::Announced,
            segment: 1,
            size: 3456,
            before: 9,
            records: 10,
            time: Timestamp::from_micros(77),
            reserve_used: false,
            hash: RecordHash::from_line(b"x"),
        };
        let bytes = head.bytes();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::parse(&changed), None, "bit {bit}");
        }
    }

    #[test]
    fn a_head_has_one_spelling_and_one_length() {
        for size in [0, 7, u64::MAX] {
            let head = Head {
                state: State::Settled,
                segment: 3,
                size,
                before: 0,
                records: size,
                time: Timestamp::from_micros(size),
                reserve_used: size == 7,
                hash: RecordHash::from_line(b"x"),
            };
            let bytes = head.bytes();
            assert_eq!(bytes.len(), LENGTH);
            assert_eq!(Head::parse(&bytes), Some(head));
            for length in 0..LENGTH {
                assert_eq!(Head::parse(&bytes[..length]), None);
            }
        }
    }
}
