//! A host as every program that looks it up comes to see it, and what it is.

use std::borrow::Cow;

use super::{decoded, names, numbers, punycode};
use crate::rules::target_bit;
use crate::shell::UNKNOWN;

pub(crate) const LOOPBACK: u64 = target_bit("loopback");
pub(crate) const METADATA: u64 = target_bit("metadata-service");
pub(crate) const PRIVATE: u64 = target_bit("private-address");
pub(crate) const LINK_LOCAL: u64 = target_bit("link-local");
pub(crate) const INTERNAL: u64 = target_bit("internal-name");
pub(crate) const DISGUISED: u64 = target_bit("disguised-address");
pub(crate) const LOOK_ALIKE: u64 = target_bit("look-alike-host");
const NOBODY_KNOWS: u64 = target_bit("unknown");
pub(super) const RAW: u64 = target_bit("raw-address");
pub(super) const INTERNET: u64 = target_bit("internet");

/// A host, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) classes: u64,
}

/// Reads a host; none if there is nothing.
pub(super) fn read(text: &str) -> Option<Host> {
    let decoded = decoded(text);
    // `%25eth0` is the zone of an address of six.
    let encoded = matches!(decoded, Cow::Owned(_)) && !decoded.contains(':');
    let plain = match decoded.is_ascii() {
        true => decoded.to_ascii_lowercase(),
        false => folded(&decoded),
    };
    let odd = encoded || (!decoded.is_ascii() && plain.is_ascii());
    let name = plain.trim_end_matches('.').trim();
    if name.is_empty() {
        return None;
    }
    let mut host = match numbers::read(name) {
        Some((name, classes)) => Host { name, classes },
        None => Host {
            classes: of_name(name),
            name: name.to_owned(),
        },
    };
    if odd {
        host.classes |= DISGUISED;
    }
    Some(host)
}

fn of_name(name: &str) -> u64 {
    // What only the shell will know, or curl picks from a range.
    if name.contains([UNKNOWN, '[', '*']) {
        // `169.254.170.2$PATH`: most likely the rest is a path.
        let front = name.split([UNKNOWN, '[', '*']).next().unwrap_or_default();
        let known = numbers::read(front).map_or(0, |(_, classes)| classes & METADATA);
        return NOBODY_KNOWS | INTERNET | known;
    }
    if numbers::is_nearly(name) {
        return RAW | INTERNET | DISGUISED;
    }
    let alike = match name.split('.').any(is_look_alike) {
        true => LOOK_ALIKE,
        false => 0,
    };
    names::classes(name) | alike
}

/// The letters of a host as the network takes them: wide, ringed and raised ones as plain ones, in
/// lower case, without those that nobody sees.
fn folded(text: &str) -> String {
    let plain = text.chars().filter_map(|letter| {
        let code = letter as u32;
        let digit = |from: u32| char::from_digit((code - from) % 10, 10);
        let latin = |from: u32, count: u32| {
            let at = u8::try_from((code - from) % count % 26).ok()?;
            Some(char::from(b'a' + at))
        };
        match letter {
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => None,
            '\u{fe00}'..='\u{fe0f}' | '\u{34f}' | '\u{180b}'..='\u{180f}' => None,
            '\u{3002}' | '\u{ff0e}' | '\u{ff61}' | '\u{2024}' => Some('.'),
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(code - 0xfee0),
            '\u{2460}'..='\u{2468}' => char::from_digit(code - 0x2460 + 1, 10),
            '\u{24b6}'..='\u{24e9}' => latin(0x24b6, 26),
            '\u{24ea}' | '\u{2070}' => Some('0'),
            '\u{b9}' => Some('1'),
            '\u{b2}' => Some('2'),
            '\u{b3}' => Some('3'),
            '\u{2074}'..='\u{2079}' => digit(0x2070),
            '\u{2080}'..='\u{2089}' => digit(0x2080),
            '\u{1d400}'..='\u{1d6a3}' => latin(0x1d400, 52),
            '\u{1d7ce}'..='\u{1d7ff}' => digit(0x1d7ce),
            '\u{1f130}'..='\u{1f149}' => latin(0x1f130, 26),
            _ => Some(letter),
        }
    });
    plain.flat_map(char::to_lowercase).collect()
}

/// Letters of other scripts that nobody can tell from Latin ones.
const ALIKE: &str = "аеорсухіјѕӏԁԛԝһѵկոսօցհαονικρτυεɑɡıʟɩ";

/// Whether a label is written to be taken for another: Latin letters with those of Cyrillic, Greek or
/// Armenian among them, or nothing but letters that look like Latin ones.
fn is_look_alike(label: &str) -> bool {
    let decoded = match label.strip_prefix("xn--") {
        Some(encoded) => match punycode::decoded(encoded) {
            Some(label) => Cow::Owned(label.to_lowercase()),
            None => return true,
        },
        None => Cow::Borrowed(label),
    };
    if decoded.is_ascii() {
        return false;
    }
    let foreign = |letter: char| matches!(letter, '\u{370}'..='\u{58f}');
    let latin = decoded.chars().any(|letter| letter.is_ascii_alphabetic());
    let mixed = latin && decoded.chars().any(foreign);
    let alike = |letter: char| letter.is_ascii() || ALIKE.contains(letter);
    mixed || decoded.chars().all(alike)
}
