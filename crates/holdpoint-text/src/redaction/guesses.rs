//! Text that looks random: reported to whoever scans files, never acted on.

use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::values::{Make, entropy, is_placeholder};
use crate::bits;

/// The shortest and longest run that is worth a guess; [`find`] has the shortest in its shifts.
const MIN_LENGTH: usize = 20;
const MAX_LENGTH: usize = 200;

/// The least bits of surprise in a byte, times sixteen.
const MIN_SURPRISE: u32 = 62;

/// Finds runs that nobody would have typed: letters of both cases and digits, all mixed. Hashes,
/// UUIDs, integrity sums and encoded files are told by their form and left out.
pub(crate) fn find(bytes: &[u8], found: &mut Vec<Raw>) {
    let mut done = 0;
    let mut before = 0;
    for (at, block) in bits::blocks(bytes, b' ') {
        let inner = bits::mask(&block, inner_of);
        // With the block before, so that what stands across the border is seen.
        let one = u128::from(inner) << 64 | u128::from(before);
        let two = one & one << 1;
        let four = two & two << 2;
        let eight = four & four << 4;
        let twenty = eight & eight << 8 & four << 16;
        before = inner;
        let mut long = twenty >> 64;
        while long != 0 {
            let place = at + long.trailing_zeros() as usize;
            long &= long - 1;
            if place < done {
                continue;
            }
            let (head, tail) = bytes.split_at_checked(place).unwrap_or((bytes, &[]));
            let run = |byte: &&u8| is_inner(**byte);
            let start = place - head.iter().rev().take_while(run).count();
            done = place + tail.iter().take_while(run).count();
            let text = bytes.get(start..done).unwrap_or_default();
            if is_guess(bytes, start, text) {
                found.push(Raw {
                    start,
                    end: done,
                    marker: Marker::Token,
                    certainty: Certainty::Guess,
                    source: Source::Random,
                });
            }
        }
    }
}

/// Which of eight bytes are part of a run.
#[inline]
fn inner_of(eight: u64) -> u64 {
    let signs = b"_-+/".iter().map(|sign| bits::equal(eight, *sign));
    signs.fold(bits::plain(eight), |any, this| any | this)
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/')
}

fn is_guess(bytes: &[u8], start: usize, text: &[u8]) -> bool {
    if !(MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) {
        return false;
    }
    let make = Make::from_bytes(text);
    let mixed = make.digits >= 2 && make.upper >= 2 && make.lower >= 2;
    let path = text.iter().filter(|byte| **byte == b'/').count() * 6 > text.len();
    let summed = [
        &b"sha1-"[..],
        b"sha256-",
        b"sha384-",
        b"sha512-",
        b"h1:",
        b"md5-",
    ]
    .iter()
    .any(|sum| text.starts_with(sum));
    let before = bytes.get(start.saturating_sub(8)..start).unwrap_or(&[]);
    let encoded = before.ends_with(b"base64,")
        || before.ends_with(b"sha256:")
        || before.ends_with(b"SHA256:")
        || before.ends_with(b"h1:");
    mixed && !path && !summed && !encoded && !is_placeholder(text) && entropy(text) >= MIN_SURPRISE
}
