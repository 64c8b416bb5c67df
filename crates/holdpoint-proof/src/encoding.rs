//! Bytes as text: base64 in the two spellings that keys and browsers use, and digests.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use ring::digest::{SHA256, digest};

/// Bytes in base64, as ssh and JSON files have them.
pub fn base64(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// Bytes in base64 for URLs, without padding, as WebAuthn has them.
pub fn base64url(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

/// The bytes of base64 that is no longer than `most`; one spelling alone.
pub fn from_base64(text: &str, most: usize) -> Option<Vec<u8>> {
    (text.len() <= most)
        .then(|| Base64::decode_vec(text).ok())
        .flatten()
}

/// The bytes of base64 for URLs that is no longer than `most`; one spelling alone.
pub fn from_base64url(text: &str, most: usize) -> Option<Vec<u8>> {
    (text.len() <= most)
        .then(|| Base64UrlUnpadded::decode_vec(text).ok())
        .flatten()
}

/// The SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    let found = digest(&SHA256, bytes);
    for (to, from) in out.iter_mut().zip(found.as_ref()) {
        *to = *from;
    }
    out
}

/// `sha256:` and the digest of bytes, as bindings and cards are written.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    sha256(bytes)
        .iter()
        .fold(String::from("sha256:"), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
