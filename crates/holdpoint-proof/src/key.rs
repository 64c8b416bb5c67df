//! A public key that counts: of a passkey, or of ssh with a device behind it.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};

use crate::der::Spki;
use crate::encoding::{base64, from_base64, sha256};
use crate::wire_reader::WireReader;

/// The most characters of a key as it is written: an RSA key of 8,192 bits has 1,400.
pub const MAX_KEY: usize = 4096;

/// What of ssh's keys count: those a device keeps, which wants to be touched.
const SK_ED25519: &str = "sk-ssh-ed25519@openssh.com";
const SK_P256: &str = "sk-ecdsa-sha2-nistp256@openssh.com";

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// A passkey: signs in a browser, for the page it was made on.
    Webauthn,
    /// A key of `ssh-keygen -t ed25519-sk` or `ecdsa-sk`: signs in a terminal.
    Sshsig,
}

impl KeyKind {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            KeyKind::Webauthn => "webauthn",
            KeyKind::Sshsig => "sshsig",
        }
    }
}

/// How a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
    /// RSA with SHA-256, PKCS #1 v1.5.
    Rs256,
}

/// A key that verifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    kind: KeyKind,
    algorithm: Algorithm,
    /// As `ring` takes it.
    bytes: Vec<u8>,
    /// What a key of ssh was made for, `ssh:` as a rule; empty for passkeys.
    application: String,
    fingerprint: String,
}

/// Why a text is no key that counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// It is none.
    #[error("this is no public key that can be read")]
    Unreadable,
    /// A key in a file, which whoever reads the file signs with.
    #[error(
        "`{0}` is a key without a device: whoever can read its file signs with it. Make one that wants to be touched: ssh-keygen -t ed25519-sk -O verify-required"
    )]
    NoDevice(String),
}

impl VerifyingKey {
    /// The key of a passkey: its `SubjectPublicKeyInfo` in base64, as `getPublicKey()` gives it.
    pub fn of_passkey(spki: &str) -> Result<Self, BadKey> {
        let der = from_base64(spki, MAX_KEY).ok_or(BadKey::Unreadable)?;
        let (algorithm, bytes) = match Spki::read(&der).ok_or(BadKey::Unreadable)? {
            Spki::P256(point) => (Algorithm::Es256, point),
            Spki::Ed25519(key) => (Algorithm::EdDsa, key),
            Spki::Rsa(key) => (Algorithm::Rs256, key),
        };
        Ok(Self {
            kind: KeyKind::Webauthn,
            algorithm,
            bytes: bytes.to_vec(),
            application: String::new(),
            fingerprint: fingerprint_of(&der),
        })
    }

    /// The key in a line of a `.pub` file.
    pub fn of_ssh(line: &str) -> Result<Self, BadKey> {
        let mut words = line.split_whitespace();
        let (name, blob) = words.next().zip(words.next()).ok_or(BadKey::Unreadable)?;
        let blob = from_base64(blob, MAX_KEY).ok_or(BadKey::Unreadable)?;
        let key = Self::of_ssh_blob(&blob)?;
        let named = match key.algorithm {
            Algorithm::EdDsa => SK_ED25519,
            Algorithm::Es256 | Algorithm::Rs256 => SK_P256,
        };
        match name == named {
            true => Ok(key),
            false => Err(BadKey::Unreadable),
        }
    }

    /// The key as it stands in a signature.
    pub(crate) fn of_ssh_blob(blob: &[u8]) -> Result<Self, BadKey> {
        let mut reader = WireReader::new(blob);
        let name = reader.text().ok_or(BadKey::Unreadable)?;
        let (algorithm, bytes) = match name {
            SK_ED25519 => {
                let key = reader.string().filter(|key| key.len() == 32);
                (Algorithm::EdDsa, key)
            }
            SK_P256 => {
                let curve = reader.text();
                let point = reader
                    .string()
                    .filter(|point| point.len() == 65 && point.first() == Some(&4));
                (
                    Algorithm::Es256,
                    point.filter(|_| curve == Some("nistp256")),
                )
            }
            other => {
                let plain = other.len() <= 64 && other.chars().all(|c| c.is_ascii_graphic());
                return Err(match plain {
                    true => BadKey::NoDevice(other.to_owned()),
                    false => BadKey::Unreadable,
                });
            }
        };
        let bytes = bytes.ok_or(BadKey::Unreadable)?;
        let application = reader.text().ok_or(BadKey::Unreadable)?;
        if !reader.is_over() {
            return Err(BadKey::Unreadable);
        }
        Ok(Self {
            kind: KeyKind::Sshsig,
            algorithm,
            bytes: bytes.to_vec(),
            application: application.to_owned(),
            fingerprint: fingerprint_of(blob),
        })
    }

    /// A key as it is pinned.
    pub fn read(kind: KeyKind, text: &str) -> Result<Self, BadKey> {
        match kind {
            KeyKind::Webauthn => Self::of_passkey(text),
            KeyKind::Sshsig => Self::of_ssh(text),
        }
    }

    /// What it is.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// How it signs.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// `SHA256:` and the digest in base64 without padding, as ssh shows its keys.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Ten characters a person compares on two screens. Who wants another key with the same ten has to try some 10^17; six, which
    /// are easier to compare, could be found in a day.
    pub fn short_check(&self) -> String {
        let letters = self.fingerprint.chars().filter(char::is_ascii_alphanumeric);
        letters.skip("SHA256".len()).take(10).collect()
    }

    pub(crate) fn application(&self) -> &str {
        &self.application
    }

    /// Whether a signature is this key's over `message`. Of ECDSA a browser writes DER, ssh the two numbers.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (self.algorithm, self.kind) {
            (Algorithm::EdDsa, _) => {
                UnparsedPublicKey::new(&ED25519, &self.bytes).verify(message, signature)
            }
            (Algorithm::Es256, KeyKind::Webauthn) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.bytes)
                    .verify(message, signature)
            }
            (Algorithm::Es256, KeyKind::Sshsig) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &self.bytes)
                    .verify(message, signature)
            }
            (Algorithm::Rs256, _) => {
                UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &self.bytes)
                    .verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

fn fingerprint_of(bytes: &[u8]) -> String {
    let digest = base64(&sha256(bytes));
    format!("SHA256:{}", digest.trim_end_matches('='))
}
