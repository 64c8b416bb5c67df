//! The few shapes of DER that a public key comes in (`SubjectPublicKeyInfo`).
//!
//! Written by hand, since three fixed shapes need no reader of all of ASN.1: the keys of P-256 and Ed25519 have
//! one spelling each, and of RSA only two lengths are read.

/// Everything before the point of a P-256 key.
const P256: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// Everything before the 32 bytes of an Ed25519 key.
const ED25519: &[u8] = &[
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// What says that an RSA key follows.
const RSA: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];

/// A public key as it stands in the DER of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spki<'a> {
    /// The uncompressed point, 65 bytes.
    P256(&'a [u8]),
    /// 32 bytes.
    Ed25519(&'a [u8]),
    /// The `RSAPublicKey`.
    Rsa(&'a [u8]),
}

impl<'a> Spki<'a> {
    /// Reads one; none for any other key or spelling.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        if let Some(point) = bytes.strip_prefix(P256) {
            return (point.len() == 65 && point.first() == Some(&4)).then_some(Spki::P256(point));
        }
        if let Some(key) = bytes.strip_prefix(ED25519) {
            return (key.len() == 32).then_some(Spki::Ed25519(key));
        }
        let inside = only(bytes, 0x30)?.strip_prefix(RSA)?;
        let key = only(inside, 0x03)?.strip_prefix(&[0])?;
        // ring reads the rest, and refuses what is too short.
        Some(Spki::Rsa(key))
    }
}

/// The content of the one element of a kind that makes up all of `bytes`.
fn only(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(&[tag])?;
    let (first, rest) = rest.split_first()?;
    let (length, content) = match first {
        0x81 => {
            let (length, content) = rest.split_first()?;
            (usize::from(*length), content)
        }
        0x82 => {
            let (length, content) = rest.split_at_checked(2)?;
            (
                usize::from(u16::from_be_bytes(length.try_into().ok()?)),
                content,
            )
        }
        short if *short < 0x80 => (usize::from(*short), rest),
        _ => return None,
    };
    (content.len() == length).then_some(content)
}
