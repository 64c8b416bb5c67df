//! Addresses that are numbers, in every spelling some program takes.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::host::{DISGUISED, INTERNET, LINK_LOCAL, LOOPBACK, METADATA, PRIVATE, RAW};

/// What a text is if it is a number: how rules name it, and its classes.
pub(super) fn read(text: &str) -> Option<(String, u64)> {
    if let Some((address, plain)) = four(text) {
        let odd = if plain { 0 } else { DISGUISED };
        return Some((address.to_string(), of_four(address) | odd));
    }
    let six = without_zone(text).parse::<Ipv6Addr>().ok()?;
    Some(of_six(six))
}

/// The zone of an address says through which network card it is reached.
fn without_zone(text: &str) -> &str {
    text.split('%').next().unwrap_or(text)
}

/// The address of four numbers a text is: `127.1`, `0x7f000001`, `017700000001`; and whether it is
/// written as people write it.
fn four(text: &str) -> Option<(Ipv4Addr, bool)> {
    let mut numbers: Vec<u64> = Vec::with_capacity(4);
    let mut plain = true;
    for part in text.split('.') {
        if numbers.len() == 4 {
            return None;
        }
        let (digits, base) = match part.strip_prefix("0x") {
            Some(hex) => (hex, 16),
            None if part.len() > 1 && part.starts_with('0') => (part, 8),
            None => (part, 10),
        };
        plain &= base == 10;
        // `0x` alone is nothing to a browser, and so zero.
        let digits = if digits.is_empty() && base == 16 {
            "0"
        } else {
            digits
        };
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        numbers.push(u64::from_str_radix(digits, base).ok()?);
    }
    let (last, front) = numbers.split_last()?;
    let mut address: u64 = 0;
    for part in front {
        if *part > 255 {
            return None;
        }
        address = (address << 8) | part;
    }
    let rest = 4 - u32::try_from(front.len()).ok()?;
    if *last >= 1u64 << (8 * rest) {
        return None;
    }
    let address = u32::try_from((address << (8 * rest)) | last).ok()?;
    // `0` and `127.1` are short for what everybody knows; one large number is not.
    let plain = plain && (*last <= 255 || numbers.len() == 4);
    Some((Ipv4Addr::from(address), plain))
}

/// Addresses at which clouds hand out a machine's credentials.
const METADATA_FOUR: &[[u8; 4]] = &[
    [169, 254, 169, 254],
    [169, 254, 170, 2],
    [169, 254, 170, 23],
    [100, 100, 100, 200],
    [192, 0, 0, 192],
    [168, 63, 129, 16],
];

/// The same of six: of Amazon, of Amazon's containers, of Google.
const METADATA_SIX: &[[u16; 8]] = &[
    [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254],
    [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x23],
    [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254],
];

/// The classes of an address of four.
pub(super) fn of_four(address: Ipv4Addr) -> u64 {
    let octets = address.octets();
    if METADATA_FOUR.contains(&octets) {
        return METADATA | RAW;
    }
    if address.is_loopback() || address.is_unspecified() {
        return LOOPBACK;
    }
    let beyond = RAW | INTERNET;
    match octets {
        [169, 254, ..] => LINK_LOCAL | beyond,
        // Behind a carrier, in a test bed, of a protocol, to many, to all.
        [100, second, ..] if second & 0xc0 == 64 => PRIVATE | beyond,
        [198, 18 | 19, ..] | [192, 0, 0, _] | [0, ..] | [224..=255, ..] => PRIVATE | beyond,
        _ if address.is_private() => PRIVATE | beyond,
        _ => beyond,
    }
}

/// How rules name an address of six, and its classes. One that holds an address of four leads there.
fn of_six(address: Ipv6Addr) -> (String, u64) {
    let segments = address.segments();
    if METADATA_SIX.contains(&segments) {
        return (address.to_string(), METADATA | RAW);
    }
    if address.is_loopback() || address.is_unspecified() {
        return (address.to_string(), LOOPBACK);
    }
    let four = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    let held = match segments {
        // Mapped, compatible, translated.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => Some(four(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(four(high, low)),
        [0x64, 0xff9b, .., high, low] => Some(four(high, low)),
        // 6to4, ISATAP, and Teredo, which writes it upside down.
        [0x2002, high, low, ..] => Some(four(high, low)),
        [.., 0 | 0x200, 0x5efe, high, low] => Some(four(high, low)),
        [0x2001, 0, .., high, low] => Some(four(!high, !low)),
        _ => None,
    };
    if let Some(held) = held {
        return (held.to_string(), of_four(held) | DISGUISED);
    }
    let beyond = RAW | INTERNET;
    let classes = match segments.first().copied().unwrap_or_default() {
        first if first & 0xffc0 == 0xfe80 => LINK_LOCAL | beyond,
        // Unique local, site local, to many.
        first if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 || first >= 0xff00 => {
            PRIVATE | beyond
        }
        _ => beyond,
    };
    (address.to_string(), classes)
}

/// Whether a text can only be meant as a number, though no program here reads it as one.
pub(super) fn is_nearly(text: &str) -> bool {
    let last = text.rsplit('.').next().unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let hex = |text: &str| {
        text.strip_prefix("0x")
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    digits(last) || hex(last)
}
