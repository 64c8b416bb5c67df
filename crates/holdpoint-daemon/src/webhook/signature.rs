//! Bodies that are signed with a shared key, in both directions: `t=<seconds>,v1=<hex>`, where the
//! hexadecimal digits are HMAC-SHA256 over the seconds, a dot and the body.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header that carries a signature.
pub(super) const HEADER: &str = "X-Holdpoint-Signature";

/// The most seconds the clock of the other side may differ: clocks that are set at all differ by less. Beyond it an
/// answer counts as an old one sent again, and is refused.
const MAX_DRIFT: u64 = 300;

/// The key both sides know.
#[derive(Clone)]
pub(super) struct Key(Vec<u8>);

impl Key {
    /// None for an empty key, which everybody knows.
    pub(super) fn new(key: &str) -> Option<Self> {
        (!key.is_empty()).then(|| Self(key.as_bytes().to_vec()))
    }

    /// The value of the header for a body that is sent at `seconds`.
    pub(super) fn sign(&self, seconds: u64, body: &[u8]) -> String {
        let mut header = format!("t={seconds},v1=");
        if let Some(mac) = self.over(seconds, body) {
            for byte in mac.finalize().into_bytes() {
                // Writing to a string does not fail.
                let _ = write!(header, "{byte:02x}");
            }
        }
        header
    }

    /// Whether the header belongs to the body and is of these days.
    pub(super) fn verify(&self, header: &str, now: u64, body: &[u8]) -> Result<(), &'static str> {
        let part = |name: &str| {
            header
                .split(',')
                .find_map(|part| part.trim().strip_prefix(name))
        };
        let seconds: Option<u64> = part("t=").and_then(|text| text.parse().ok());
        let (Some(seconds), Some(claimed)) = (seconds, part("v1=").and_then(bytes_of)) else {
            return Err("its signature cannot be read");
        };
        let signed = self
            .over(seconds, body)
            .is_some_and(|mac| mac.verify_slice(&claimed).is_ok());
        if !signed {
            return Err("its signature is wrong");
        }
        if now.abs_diff(seconds) > MAX_DRIFT {
            return Err("its signature is of another time: compare the clocks");
        }
        Ok(())
    }

    fn over(&self, seconds: u64, body: &[u8]) -> Option<Hmac<Sha256>> {
        // A key may have any length here.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(seconds.to_string().as_bytes());
        mac.update(b".");
        mac.update(body);
        Some(mac)
    }
}

/// The bytes of hexadecimal digits, if they are some.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks_exact(2);
    if digits.is_empty() || !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| {
            let text = std::str::from_utf8(pair).ok()?;
            let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
            digits.then(|| u8::from_str_radix(text, 16).ok()).flatten()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_anybody_with_the_key_computes() {
        let key = Key::new("k").unwrap();
        // printf '10.{}' | openssl dgst -sha256 -hmac k
        assert_eq!(
            key.sign(10, b"{}"),
            "t=10,v1=41fb4a7948d48dbbc0de115d30fd497cd453f3dec35c5dace8584b41ea18aaf9"
        );
    }

    #[test]
    fn only_the_same_key_time_and_body_verify() {
        let key = Key::new("made-up").unwrap();
        let header = key.sign(1000, b"body");
        assert_eq!(key.verify(&header, 1000, b"body"), Ok(()));
        assert_eq!(key.verify(&header, 1300, b"body"), Ok(()));
        assert!(key.verify(&header, 1301, b"body").is_err());
        assert!(key.verify(&header, 1000, b"other").is_err());
        let other = Key::new("other").unwrap();
        assert!(other.verify(&header, 1000, b"body").is_err());
        let moved = header.replace("t=1000", "t=1001");
        assert!(key.verify(&moved, 1001, b"body").is_err());
        for wrong in [
            "",
            "t=1000",
            "v1=00",
            "t=x,v1=00",
            "t=1000,v1=0",
            "t=1000,v1=+1",
        ] {
            assert!(key.verify(wrong, 1000, b"body").is_err(), "{wrong}");
        }
        assert!(Key::new("").is_none());
    }
}
