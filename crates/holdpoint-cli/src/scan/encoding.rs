//! How bytes stand for characters: UTF-8, or UTF-16 if a byte order mark says so.

use std::borrow::Cow;

/// How bytes stand for characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16(Order),
}

/// Which byte of two comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Encoding {
    /// What a text is written in, and how many bytes at its start say so.
    pub(super) fn from_start(raw: &[u8]) -> (Self, usize) {
        match raw {
            [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
            [0xff, 0xfe, ..] => (Encoding::Utf16(Order::Little), 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16(Order::Big), 2),
            _ => (Encoding::Utf8, 0),
        }
    }

    /// What bytes say; U+FFFD stands for those that say nothing.
    pub(super) fn text(self, raw: &[u8]) -> Cow<'_, str> {
        match self {
            Encoding::Utf8 => String::from_utf8_lossy(raw),
            Encoding::Utf16(order) => {
                let text = char::decode_utf16(order.units(raw))
                    .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
                Cow::Owned(text.collect())
            }
        }
    }

    /// As much as ends with a whole character.
    pub(super) fn whole(self, raw: &[u8]) -> &[u8] {
        let half = match self {
            Encoding::Utf8 => half_of_a_character(tail(raw, 3)),
            Encoding::Utf16(order) => {
                let odd = raw.len() % 2;
                let even = raw.get(..raw.len() - odd).unwrap_or(raw);
                let mut last = order.units(tail(even, 2));
                let high = last.any(|unit| (0xd800..0xdc00).contains(&unit));
                odd + if high { 2 } else { 0 }
            }
        };
        raw.get(..raw.len() - half).unwrap_or(raw)
    }
}

impl Order {
    /// Two bytes each. A byte too many stands for no character.
    pub(super) fn units(self, raw: &[u8]) -> impl Iterator<Item = u16> {
        raw.chunks(2).map(move |pair| match (pair, self) {
            ([one, two], Order::Little) => u16::from_le_bytes([*one, *two]),
            ([one, two], Order::Big) => u16::from_be_bytes([*one, *two]),
            _ => 0xdc00,
        })
    }

    /// The bytes of a unit.
    pub(super) fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Order::Little => unit.to_le_bytes(),
            Order::Big => unit.to_be_bytes(),
        }
    }
}

/// How many of the last bytes begin a character that goes on.
fn half_of_a_character(tail: &[u8]) -> usize {
    let Some(at) = tail.iter().rposition(|byte| *byte >= 0xc0) else {
        return 0;
    };
    let behind = tail.len() - at;
    let wanted = match tail.get(at) {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => return 0,
    };
    if behind < wanted { behind } else { 0 }
}

fn tail(raw: &[u8], most: usize) -> &[u8] {
    raw.get(raw.len().saturating_sub(most)..).unwrap_or(raw)
}
