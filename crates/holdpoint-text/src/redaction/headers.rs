//! Secrets in HTTP headers: `Authorization: Bearer …`, `Cookie: …`, wherever a header is written.

use super::borders::{Quote, starts_word};
use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::values::{Make, is_code, is_placeholder, is_reference, starts};

/// The longest header that is looked at.
const MAX_LENGTH: usize = 8192;

/// How many bytes of an `Authorization` value say only what kind of token follows.
pub(crate) fn scheme(value: &[u8]) -> Option<usize> {
    const SCHEMES: [&[u8]; 13] = [
        b"bearer ",
        b"basic ",
        b"token ",
        b"digest ",
        b"apikey ",
        b"api-key ",
        b"negotiate ",
        b"bot ",
        b"geniekey ",
        b"ssws ",
        b"splunk ",
        b"dpop ",
        b"aws4-hmac-sha256 ",
    ];
    let name = SCHEMES.iter().find(|name| starts(value, name))?;
    let blanks = value
        .get(name.len()..)?
        .iter()
        .take_while(|byte| **byte == b' ')
        .count();
    Some(name.len() + blanks)
}

/// `Authorization`, at `at`, and what it is set to; `until` is told how far that was read.
pub(crate) fn authorization(bytes: &[u8], at: usize, until: &mut usize) -> Option<Raw> {
    let (start, end) = value(bytes, at + b"authorization".len(), b":=,")?;
    *until = end;
    let mut end = end;
    let mut value = bytes.get(start..end)?;
    // Punctuation of the code around it.
    while let [rest @ .., b',' | b';' | b')'] = value {
        (value, end) = (rest, end - 1);
    }
    let skipped = scheme(value);
    let start = start + skipped.unwrap_or(0);
    let secret = bytes.get(start..end)?;
    let make = Make::from_bytes(secret);
    let plausible = if skipped.is_some() {
        secret.len() >= 6 && !is_spoken(secret)
    } else {
        secret.len() >= 8 && make.blanks == 0 && make.is_mixed() && !is_code(secret)
    };
    (plausible && !is_reference(secret) && !is_placeholder(secret))
        .then(|| token(start, end, secret))
}

/// `Bearer …` without a header around it.
pub(crate) fn bearer(bytes: &[u8], at: usize) -> Option<Raw> {
    if !starts_word(bytes, at) {
        return None;
    }
    let start = at + b"bearer ".len();
    let rest = bytes.get(start..)?;
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(byte);
    let length = rest
        .iter()
        .take(MAX_LENGTH)
        .take_while(|byte| inner(byte))
        .count();
    let secret = rest.get(..length)?;
    let make = Make::from_bytes(secret);
    let plausible = length >= 16 && make.digits > 0 && make.letters() > 0 && !is_code(secret);
    (plausible && !is_placeholder(secret)).then(|| token(start, start + length, secret))
}

/// `Cookie: name=value; …`, from the first value to the end of the header; `until` is told how
/// far that was read.
pub(crate) fn cookie(bytes: &[u8], at: usize, until: &mut usize) -> Option<Raw> {
    if !starts_word(bytes, at) {
        return None;
    }
    let (start, end) = value(bytes, at + b"cookie".len(), b":,")?;
    *until = end;
    let header = bytes.get(start..end)?;
    let equals = header.iter().take(80).position(|byte| *byte == b'=')?;
    let name = header.get(..equals)?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.%".contains(byte);
    if name.is_empty() || !name.iter().all(plain) {
        return None;
    }
    let start = start + equals + 1;
    let sets = at.checked_sub(4).and_then(|index| bytes.get(index..at));
    let mut secret = bytes.get(start..end)?;
    if sets.is_some_and(|before| before.eq_ignore_ascii_case(b"set-")) {
        secret = secret.split(|byte| *byte == b';').next()?;
    }
    let plausible = secret.len() >= 8 && !is_reference(secret) && !is_placeholder(secret);
    plausible.then(|| token(start, start + secret.len(), secret))
}

/// Where the value of a header begins and ends, whatever it is written in; one of `operators` stands
/// between the two.
fn value(bytes: &[u8], name_end: usize, operators: &[u8]) -> Option<(usize, usize)> {
    let mut at = name_end;
    let closing = Quote::at(bytes, at);
    at += closing.map_or(0, |quote| quote.length);
    let blanks = |at: usize| {
        let rest = bytes.get(at..).unwrap_or(&[]);
        at + rest
            .iter()
            .take(16)
            .take_while(|byte| **byte == b' ')
            .count()
    };
    if bytes.get(at) == Some(&b']') {
        at += 1;
    }
    at = blanks(at);
    at += match bytes.get(at..)? {
        [b':', b':', ..] | [b'=', b'=', ..] => return None,
        [b'=', b'>', ..] => 2,
        // Names in a list are followed by other names, not by values.
        [b',', ..] if closing.is_none() && Quote::at(bytes, blanks(at + 1)).is_none() => {
            return None;
        }
        [operator, ..] if operators.contains(operator) => 1,
        [b'%', b'3', b'A' | b'a' | b'D' | b'd', ..] => 3,
        _ => return None,
    };
    at = blanks(at);
    if matches!(
        bytes.get(at..),
        Some([b'f' | b'b' | b'[', b'"' | b'\'', ..])
    ) {
        at += 1;
    }
    if let Some(quote) = Quote::at(bytes, at) {
        let start = at + quote.length;
        if let Some(end) = quote.closes(bytes, start, MAX_LENGTH) {
            return Some((start, end));
        }
        at = start;
    }
    let rest = bytes.get(at..)?;
    let length = rest
        .iter()
        .take(MAX_LENGTH)
        .enumerate()
        .position(|(index, byte)| match byte {
            b'\n' | b'\r' | b'"' | b'\'' | b'`' => true,
            b'\\' => matches!(
                rest.get(index + 1),
                Some(b'n' | b'r' | b'"' | b'\'' | b'\\')
            ),
            _ => false,
        })
        .unwrap_or(rest.len().min(MAX_LENGTH));
    let trimmed = rest.get(..length)?.trim_ascii_end();
    Some((at, at + trimmed.len()))
}

/// Words about tokens rather than tokens.
fn is_spoken(secret: &[u8]) -> bool {
    let make = Make::from_bytes(secret);
    let words: [&[u8]; 8] = [
        b"token",
        b"authentication",
        b"authorization",
        b"credentials",
        b"header",
        b"scheme",
        b"auth",
        b"realm",
    ];
    let first = secret
        .split(|byte| !byte.is_ascii_alphabetic())
        .next()
        .unwrap_or(&[]);
    words.iter().any(|word| first.eq_ignore_ascii_case(word)) && make.digits == 0
        || (make.blanks > 0 && make.digits == 0 && make.others == 0)
}

fn token(start: usize, end: usize, secret: &[u8]) -> Raw {
    Raw {
        start,
        end: end.max(start + secret.len()),
        marker: Marker::Token,
        certainty: Certainty::Likely,
        source: Source::Header,
    }
}
