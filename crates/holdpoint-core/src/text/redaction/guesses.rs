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
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+/".contains(byte);
    let mut at = 0;
    while let Some(rest) = bytes.get(at..)
        && let Some(lead) = rest.iter().position(inner)
    {
        let start = at + lead;
        let run = bytes.get(start..).unwrap_or(&[]);
        let length = run.iter().take_while(|byte| inner(byte)).count();
        at = start + length;
        let Some(text) = run.get(..length) else { break };
        if is_guess(bytes, start, text) {
            found.push(Raw {
                start,
                end: at,
                marker: Marker::Token,
                certainty: Certainty::Guess,
                source: Source::Random,
            });
        }
    }
}

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
