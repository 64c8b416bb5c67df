//! Passwords in addresses: `postgres://user:password@host/db`, `https://token@host`.

use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::values::{Make, is_placeholder, is_reference};

/// The longest part of an address before its path.
const MAX_LENGTH: usize = 1024;

/// Reads the address whose `://` stands at `at`.
pub(crate) fn at(bytes: &[u8], at: usize) -> Option<Raw> {
    let start = at + 3;
    let rest = bytes.get(start..)?;
    let ends = |byte: &u8| matches!(byte, 0..=b' ' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    let mut reach = rest
        .iter()
        .take(MAX_LENGTH)
        .position(ends)
        .unwrap_or(rest.len().min(MAX_LENGTH));
    // Another address behind it is not part of this one.
    if let Some(next) = super::values::find(rest.get(..reach)?, b"://") {
        reach = next;
    }
    let word = rest.get(..reach)?;
    let authority_end = word
        .iter()
        .position(|byte| b"/?#".contains(byte))
        .unwrap_or(word.len());
    let authority = word.get(..authority_end)?;
    let user_end = match authority.iter().rposition(|byte| *byte == b'@') {
        Some(sign) => sign,
        // A password with a `/` in it: what stands before it is no port.
        None => {
            let colon = authority.iter().position(|byte| *byte == b':')?;
            let port = authority.get(colon + 1..)?;
            if port.iter().all(u8::is_ascii_digit) {
                return None;
            }
            word.iter().rposition(|byte| *byte == b'@')?
        }
    };
    let user = word.get(..user_end)?;
    let (secret_start, marker) = match user.iter().position(|byte| *byte == b':') {
        Some(colon) => (colon + 1, Marker::Password),
        None => (0, Marker::Token),
    };
    let secret = user.get(secret_start..)?;
    let make = Make::from_bytes(secret);
    let plausible = if marker == Marker::Password {
        let written_by_code = [&b"{"[..], b"%s", b"["]
            .iter()
            .any(|start| secret.starts_with(start));
        !secret.is_empty() && !written_by_code
    } else {
        secret.len() >= 20 && make.digits > 0 && make.letters() > 0 && make.others == 0
    };
    if !plausible || is_reference(secret) || is_placeholder(secret) {
        return None;
    }
    // `https://token:x-oauth-basic@host`: the user is the secret.
    let named = matches!(secret, b"x-oauth-basic" | b"x-token-auth");
    let (from, to, marker) = match named {
        true => (0, secret_start.saturating_sub(1), Marker::Token),
        false => (secret_start, user_end, marker),
    };
    Some(Raw {
        start: start + from,
        end: start + to,
        marker,
        certainty: Certainty::Likely,
        source: Source::Address,
    })
}
