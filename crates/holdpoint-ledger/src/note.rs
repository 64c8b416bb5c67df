//! Signed notes and the keys that sign them, in the form C2SP describes.
//!
//! A note is a text, an empty line and a signature line. The text of a checkpoint is an origin, the
//! number of records, the root of the tree over them, and when it was signed.

use std::fmt;
use std::str::FromStr;

use base64ct::{Base64, Encoding};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::Timestamp;
use crate::chain::{RecordHash, from_hex, hex};

/// The mark of Ed25519 in keys and key hashes.
const ED25519: u8 = 1;

/// What a signature line starts with.
const DASH: &str = "\u{2014} ";

/// The largest note that is read.
pub(crate) const MAX_NOTE: u64 = 64 << 10;

/// What is wrong with a note or a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// It is not in the form of a note.
    #[error("this is no signed note: {0}")]
    Form(&'static str),
    /// The note carries no signature by the key.
    #[error("no signature by the key {0}")]
    Unsigned(String),
    /// The signature does not fit the text.
    #[error("the signature by {0} does not fit the text")]
    Forged(String),
    /// It is not in the form of a key.
    #[error("this is no key: it must be NAME+HASH+BASE64")]
    Key,
}

/// A signed statement of how the ledger stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which ledger.
    pub origin: String,
    /// How many records it had.
    pub size: u64,
    /// The root of the tree over them.
    pub root: RecordHash,
    /// When it was signed, by the ledger's time. Notes of older versions do not say.
    pub time: Option<Timestamp>,
}

impl Checkpoint {
    /// Reads a note and checks its signature.
    pub fn open(note: &str, key: &PublicKey) -> Result<Self, NoteError> {
        let (text, signatures) = note
            .split_once("\n\n")
            .ok_or(NoteError::Form("it has no empty line before its signature"))?;
        // The line break before the empty line belongs to what is signed.
        let signed = format!("{text}\n");
        key.check(&signed, signatures)?;
        let mut lines = text.lines();
        let mut line = |missing| lines.next().ok_or(NoteError::Form(missing));
        let origin = line("it names no ledger")?.to_owned();
        let size = line("it has no size")?;
        let root = line("it has no root")?;
        let time = lines.next().and_then(Timestamp::parse);
        let plain = size.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = size.len() > 1 && size.starts_with('0');
        if !plain || leading_zero {
            return Err(NoteError::Form("its size is no number"));
        }
        let root = Base64::decode_vec(root)
            .ok()
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
            .ok_or(NoteError::Form("its root is no hash"))?;
        Ok(Self {
            origin,
            size: size
                .parse()
                .map_err(|_| NoteError::Form("its size is no number"))?,
            root: RecordHash(root),
            time,
        })
    }

    /// How many records a note says it is about, whoever signed it.
    pub(crate) fn size(note: &str) -> Option<u64> {
        note.lines().nth(1).and_then(|line| line.parse().ok())
    }

    /// When a note says it was signed, whoever signed it.
    pub(crate) fn time(note: &str) -> Option<Timestamp> {
        note.lines().nth(3).and_then(Timestamp::parse)
    }

    /// The note, signed.
    pub fn sign(&self, key: &PrivateKey) -> String {
        let root = Base64::encode_string(&self.root.0);
        let mut text = format!("{}\n{}\n{root}\n", self.origin, self.size);
        if let Some(time) = self.time {
            text.push_str(&format!("{time}\n"));
        }
        let signature = key.0.sign(text.as_bytes());
        let public = key.public();
        let mut bytes = public.id().to_vec();
        bytes.extend_from_slice(&signature.to_bytes());
        let signature = Base64::encode_string(&bytes);
        format!("{text}\n{DASH}{} {signature}\n", public.name)
    }
}

/// What signs checkpoints. Shows nothing of itself.
pub struct PrivateKey(SigningKey);

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(…)")
    }
}

impl PrivateKey {
    /// A key made of 32 unguessable bytes.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&seed))
    }

    /// The key in a file's content.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        from_hex(text.trim_end()).map(Self::from_seed)
    }

    /// What a file keeps of it.
    pub(crate) fn to_text(&self) -> String {
        format!("{}\n", hex(self.0.as_bytes()))
    }

    /// The key that checks what this one signs.
    pub fn public(&self) -> PublicKey {
        PublicKey::new(self.0.verifying_key())
    }
}

/// What checks signatures; written `NAME+HASH+BASE64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    key: VerifyingKey,
}

impl PublicKey {
    fn new(key: VerifyingKey) -> Self {
        let digest = Sha256::digest(key.as_bytes());
        let (short, _) = digest.split_at_checked(4).unwrap_or_default();
        let name = format!("holdpoint-ledger-{}", hex(short));
        Self { name, key }
    }

    /// The name in signature lines, which is also the origin of the ledger's checkpoints.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The four bytes that stand before a signature.
    fn id(&self) -> [u8; 4] {
        let mut hasher = Sha256::new();
        hasher.update(self.name.as_bytes());
        hasher.update([b'\n', ED25519]);
        hasher.update(self.key.as_bytes());
        let digest: [u8; 32] = hasher.finalize().into();
        let [a, b, c, d, ..] = digest;
        [a, b, c, d]
    }

    fn check(&self, text: &str, signatures: &str) -> Result<(), NoteError> {
        if !signatures.ends_with('\n') {
            return Err(NoteError::Form("its last line has no end"));
        }
        let mut found = false;
        for line in signatures.lines() {
            let signature = line
                .strip_prefix(DASH)
                .and_then(|rest| rest.split_once(' '))
                .ok_or(NoteError::Form("a signature line starts with a dash"))?;
            let (name, encoded) = signature;
            let bytes = Base64::decode_vec(encoded)
                .map_err(|_| NoteError::Form("a signature is not base64"))?;
            let Some((id, signature)) = bytes.split_first_chunk::<4>() else {
                return Err(NoteError::Form("a signature is too short"));
            };
            if name != self.name || *id != self.id() {
                continue;
            }
            let fits = Signature::from_slice(signature)
                .is_ok_and(|one| self.key.verify_strict(text.as_bytes(), &one).is_ok());
            if !fits {
                return Err(NoteError::Forged(self.name.clone()));
            }
            found = true;
        }
        match found {
            true => Ok(()),
            false => Err(NoteError::Unsigned(self.name.clone())),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![ED25519];
        bytes.extend_from_slice(self.key.as_bytes());
        let key = Base64::encode_string(&bytes);
        write!(f, "{}+{}+{key}", self.name, hex(&self.id()))
    }
}

impl FromStr for PublicKey {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        let mut parts = text.trim_end().splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoteError::Key);
        };
        let bytes = Base64::decode_vec(key).map_err(|_| NoteError::Key)?;
        let [ED25519, key @ ..] = bytes.as_slice() else {
            return Err(NoteError::Key);
        };
        let key = <[u8; 32]>::try_from(key)
            .ok()
            .and_then(|key| VerifyingKey::from_bytes(&key).ok())
            .ok_or(NoteError::Key)?;
        let key = Self {
            name: name.to_owned(),
            key,
        };
        if hex(&key.id()) == id && !name.is_empty() {
            Ok(key)
        } else {
            Err(NoteError::Key)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signed() -> (PrivateKey, Checkpoint, String) {
        let key = PrivateKey::from_seed([7; 32]);
        let checkpoint = Checkpoint {
            origin: key.public().name().to_owned(),
            size: 42,
            root: RecordHash::from_line(b"x"),
            time: Some(Timestamp::from_micros(77)),
        };
        let note = checkpoint.sign(&key);
        (key, checkpoint, note)
    }

    #[test]
    fn what_was_signed_is_read() {
        let (key, checkpoint, note) = signed();
        assert_eq!(Checkpoint::open(&note, &key.public()), Ok(checkpoint));
        let written = key.public().to_string();
        assert_eq!(written.parse(), Ok(key.public()));
    }

    #[test]
    fn keys_others_made_are_read() {
        // The example of the Go note package.
        let key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let key: PublicKey = key.parse().unwrap();
        let note = "If you think cryptography is the answer to your problem,\n\
            then you don't know what your problem is.\n\n\
            — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
        let (text, signatures) = note.split_once("\n\n").unwrap();
        assert_eq!(key.check(&format!("{text}\n"), signatures), Ok(()));
    }

    #[test]
    fn another_key_says_nothing() {
        let (_, _, note) = signed();
        let other = PrivateKey::from_seed([8; 32]).public();
        let name = other.name().to_owned();
        assert_eq!(
            Checkpoint::open(&note, &other),
            Err(NoteError::Unsigned(name))
        );
    }

    proptest! {
        #[test]
        fn any_changed_bit_is_noticed(place in 0usize..10_000, bit in 0u8..8) {
            let (key, _, note) = signed();
            let mut bytes = note.into_bytes();
            let place = place % bytes.len();
            bytes[place] ^= 1 << bit;
            if let Ok(changed) = String::from_utf8(bytes) {
                prop_assert!(Checkpoint::open(&changed, &key.public()).is_err());
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}\n\n\\PC{0,60}") {
            let key = PrivateKey::from_seed([7; 32]).public();
            prop_assert!(Checkpoint::open(&text, &key).is_err());
            let _ = text.parse::<PublicKey>();
        }
    }
}
