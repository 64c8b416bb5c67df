//! The encodings that sentences are hidden in, written here anew so that a mistake of the reader is not
//! hidden by the same mistake of the writer.

pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = digits(bytes, 6, STANDARD);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

pub(crate) fn base64_url(bytes: &[u8]) -> String {
    digits(bytes, 6, URL_SAFE)
}

pub(crate) fn base32(bytes: &[u8]) -> String {
    let mut text = digits(bytes, 5, BASE32);
    while !text.len().is_multiple_of(8) {
        text.push('=');
    }
    text
}

/// Each byte by a format of its own, with something between them.
pub(crate) fn each(bytes: &[u8], between: &str, form: impl Fn(u8) -> String) -> String {
    let parts: Vec<String> = bytes.iter().map(|byte| form(*byte)).collect();
    parts.join(between)
}

pub(crate) fn rot13(text: &str) -> String {
    let turned = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turned(c, b'a'),
            'A'..='Z' => turned(c, b'A'),
            other => other,
        })
        .collect()
}

pub(crate) fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// Every byte as `%41`, whether it needs it or not.
pub(crate) fn percent(text: &str) -> String {
    each(text.as_bytes(), "", |byte| format!("%{byte:02X}"))
}

/// A text in lines of so many characters.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    let lines: Vec<String> = letters
        .chunks(width)
        .map(|line| line.iter().collect())
        .collect();
    lines.join("\n")
}

fn digits(bytes: &[u8], width: u32, alphabet: &[u8]) -> String {
    let mut text = String::new();
    let (mut held, mut count) = (0_u32, 0);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        count += 8;
        while count >= width {
            count -= width;
            text.push(char::from(alphabet[(held >> count) as usize]));
            held &= (1 << count) - 1;
        }
    }
    if count > 0 {
        text.push(char::from(alphabet[(held << (width - count)) as usize]));
    }
    text
}

const STANDARD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
