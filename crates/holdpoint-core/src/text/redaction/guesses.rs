//! Text that looks random: reported to whoever scans files, never acted on.

use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::values::{Make, entropy, is_placeholder};

/// The shortest and longest run that is worth a guess.
const SHORTEST: usize = 20;
const LONGEST: usize = 200;

/// The least bits of surprise in a byte, times sixteen.
const LEAST: u32 = 62;

/// Finds runs that nobody would have typed: letters of both cases and digits, all mixed. Hashes,
/// UUIDs, integrity sums and encoded files are told by their form and left out.
pub(crate) fn find(bytes: &[u8], found: &mut Vec<Raw>) {
    // A run that is long enough covers one of every `SHORTEST` bytes.
    let mut end = 0;
    let mut probe = SHORTEST - 1;
    while let Some(byte) = bytes.get(probe) {
        if !is_inner(*byte) || !may_be_long(bytes, probe) {
            probe += SHORTEST;
            continue;
        }
        let before = bytes.get(end..probe).unwrap_or(&[]);
        let behind = bytes.get(probe..).unwrap_or(&[]);
        let start = probe
            - before
                .iter()
                .rev()
                .take_while(|byte| is_inner(**byte))
                .count();
        end = probe + behind.iter().take_while(|byte| is_inner(**byte)).count();
        probe = end + SHORTEST;
        let Some(text) = bytes.get(start..end) else {
            break;
        };
        if is_guess(bytes, start, text) {
            found.push(Raw {
                start,
                end,
                marker: Marker::Token,
                certainty: Certainty::Guess,
                source: Source::Random,
            });
        }
    }
}

/// Whether the run around a place may be of [`SHORTEST`] bytes: it then has four in a row of the places
/// that are [`APART`], and that one among them. Most runs are words, which this tells without a walk.
fn may_be_long(bytes: &[u8], at: usize) -> bool {
    let mut inner = 0_u32;
    for step in 0..7 {
        let place = (at + step * APART).checked_sub(3 * APART);
        let byte = place.and_then(|place| bytes.get(place)).copied();
        inner |= u32::from(byte.is_some_and(is_inner)) << step;
    }
    inner & inner >> 1 & inner >> 2 & inner >> 3 != 0
}

/// A quarter of [`SHORTEST`].
const APART: usize = SHORTEST / 4;

#[inline]
fn is_inner(byte: u8) -> bool {
    INNER.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Which bytes are part of a run.
static INNER: [bool; 256] = {
    let mut inner = [false; 256];
    let mut rest: &mut [bool] = &mut inner;
    let mut byte = 0u8;
    while let Some((place, behind)) = rest.split_first_mut() {
        *place = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/');
        byte = byte.wrapping_add(1);
        rest = behind;
    }
    inner
};

fn is_guess(bytes: &[u8], start: usize, text: &[u8]) -> bool {
    if !(SHORTEST..=LONGEST).contains(&text.len()) {
        return false;
    }
    let make = Make::of(text);
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
    mixed && !path && !summed && !encoded && !is_placeholder(text) && entropy(text) >= LEAST
}
