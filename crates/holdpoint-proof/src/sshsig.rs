//! The signature of an `sk` key of ssh, as `ssh-keygen -Y sign` writes it (OpenSSH, `PROTOCOL.sshsig` and
//! `PROTOCOL.u2f`).
//!
//! A key without a device is refused: whoever reads its file signs with it, and agents read files.

use crate::encoding::{from_base64, sha256};
use crate::key::{Algorithm, BadKey, VerifyingKey};
use crate::verify::Refused;
use crate::wire_reader::{WireReader, put};

/// The most characters of a signature with its frame: one of these keys has some 500.
pub const MAX_SIGNATURE: usize = 4096;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";

/// Somebody touched it.
const USER_PRESENT: u8 = 0x01;

/// It knew who: a PIN, a fingerprint (`-O verify-required`).
const USER_VERIFIED: u8 = 0x04;

/// A signature that can be read.
#[derive(Clone, Debug)]
pub struct SshSignature {
    key: VerifyingKey,
    namespace: String,
    hash: HashName,
    signature: Vec<u8>,
    flags: u8,
    counter: u32,
}

#[derive(Clone, Copy, Debug)]
enum HashName {
    Sha256,
    Sha512,
}

impl SshSignature {
    /// Reads one in its frame of dashes.
    pub fn read(armoured: &str) -> Result<Self, Refused> {
        if armoured.len() > MAX_SIGNATURE {
            return Err(Refused::Unreadable);
        }
        // What is in the frame has one spelling; where its lines are broken does not count, as little as it does for ssh. A nonce counts
        // once however its signature is written.
        let framed = armoured
            .trim_end_matches('\n')
            .strip_prefix(BEGIN)
            .and_then(|rest| rest.strip_suffix(END))
            .ok_or(Refused::Unreadable)?;
        let text: String = framed.split('\n').collect();
        let blob = from_base64(&text, MAX_SIGNATURE).ok_or(Refused::Unreadable)?;
        Self::read_blob(&blob)
    }

    fn read_blob(blob: &[u8]) -> Result<Self, Refused> {
        let none = Refused::Unreadable;
        let mut reader = WireReader::new(blob.strip_prefix(MAGIC).ok_or(none.clone())?);
        if reader.number() != Some(1) {
            return Err(none);
        }
        let key = reader.string().ok_or(none.clone())?;
        let key = VerifyingKey::of_ssh_blob(key).map_err(|bad| match bad {
            BadKey::NoDevice(name) => Refused::NoDevice(name),
            BadKey::Unreadable => Refused::Unreadable,
        })?;
        let namespace = reader.text().ok_or(none.clone())?.to_owned();
        // It is not signed, and ssh leaves it empty.
        if reader.string() != Some(b"") {
            return Err(none);
        }
        let hash = match reader.text() {
            Some("sha256") => HashName::Sha256,
            Some("sha512") => HashName::Sha512,
            Some(_) | None => return Err(none),
        };
        let signature = reader.string().ok_or(none.clone())?;
        if !reader.is_over() {
            return Err(none);
        }
        let mut reader = WireReader::new(signature);
        let name = reader.text();
        let inner = reader.string().ok_or(none.clone())?;
        let signature = match (key.algorithm(), name) {
            (Algorithm::EdDsa, Some("sk-ssh-ed25519@openssh.com")) => inner.to_vec(),
            (Algorithm::Es256, Some("sk-ecdsa-sha2-nistp256@openssh.com")) => {
                two_numbers(inner).ok_or(none.clone())?
            }
            (Algorithm::EdDsa | Algorithm::Es256 | Algorithm::Rs256, _) => return Err(none),
        };
        let flags = reader.byte().ok_or(none.clone())?;
        let counter = reader.number().ok_or(none.clone())?;
        if !reader.is_over() {
            return Err(none);
        }
        Ok(Self {
            key,
            namespace,
            hash,
            signature,
            flags,
            counter,
        })
    }

    /// The key it says it is of.
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Verifies it as one of `key` over `message`, for `namespace`; how often the key has signed.
    pub fn verify(
        &self,
        message: &[u8],
        namespace: &str,
        key: &VerifyingKey,
    ) -> Result<u32, Refused> {
        if self.key != *key {
            return Err(Refused::AnotherKey);
        }
        if self.namespace != namespace {
            return Err(Refused::Namespace);
        }
        // What an `sk` key is made for is `ssh:` or begins so; a key of a web page is not one of ssh.
        if !key.application().starts_with("ssh:") {
            return Err(Refused::Application);
        }
        if self.flags & USER_PRESENT == 0 {
            return Err(Refused::NotTouched);
        }
        if self.flags & USER_VERIFIED == 0 {
            return Err(Refused::NotVerified);
        }
        let mut inner = MAGIC.to_vec();
        put(&mut inner, namespace.as_bytes());
        put(&mut inner, b"");
        match self.hash {
            HashName::Sha256 => {
                put(&mut inner, b"sha256");
                put(&mut inner, &sha256(message));
            }
            HashName::Sha512 => {
                put(&mut inner, b"sha512");
                let digest = ring::digest::digest(&ring::digest::SHA512, message);
                put(&mut inner, digest.as_ref());
            }
        }
        let mut signed = sha256(key.application().as_bytes()).to_vec();
        signed.push(self.flags);
        signed.extend(self.counter.to_be_bytes());
        signed.extend(sha256(&inner));
        match key.has_signed(&signed, &self.signature) {
            true => Ok(self.counter),
            false => Err(Refused::Signature),
        }
    }
}

/// The two numbers of an ECDSA signature in 32 bytes each.
fn two_numbers(blob: &[u8]) -> Option<Vec<u8>> {
    let mut reader = WireReader::new(blob);
    let mut out = Vec::with_capacity(64);
    for _ in 0..2 {
        let number = reader.string()?;
        // A zero stands in front of what would be read as negative; nothing else may.
        let digits = match number {
            [0, rest @ ..] if rest.first().is_some_and(|first| *first >= 0x80) => rest,
            [first, ..] if (1..0x80).contains(first) => number,
            _ => return None,
        };
        let missing = 32_usize.checked_sub(digits.len())?;
        out.extend(std::iter::repeat_n(0, missing));
        out.extend(digits);
    }
    reader.is_over().then_some(out)
}
