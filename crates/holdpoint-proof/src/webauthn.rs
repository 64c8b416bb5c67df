//! The signature of a passkey: what a browser hands over when a person touched one (WebAuthn, level 2, §7.2).
//!
//! The browser says in the client data which page asked; a page on another port of this machine can ask, too,
//! so the origin is compared whole. What the key itself says stands in the authenticator data.

use serde::{Deserialize, Serialize};

use crate::encoding::{base64url, from_base64url, sha256};
use crate::key::VerifyingKey;
use crate::verify::Refused;

/// The most characters of each part: browsers write some 300 bytes of client data, extensions add to what a key says.
const MAX_PART: usize = 4096;

/// Somebody touched it.
const USER_PRESENT: u8 = 0x01;

/// It knew who: a PIN, a fingerprint.
const USER_VERIFIED: u8 = 0x04;

/// The key may be copied to other devices.
const BACKUP_ELIGIBLE: u8 = 0x08;

/// What a browser hands over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assertion {
    /// What the key says of itself, in base64 for URLs.
    pub authenticator_data: String,
    /// What the browser says, in base64 for URLs.
    pub client_data: String,
    /// The signature over both, in base64 for URLs.
    pub signature: String,
}

/// For which pages a passkey was made.
#[derive(Clone, Copy, Debug)]
pub struct Relying<'a> {
    /// The name the key knows: `localhost`.
    pub rp: &'a str,
    /// The pages, whole: scheme, host and port.
    pub origins: &'a [String],
}

/// What the key said besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// How often it has signed; 0 for keys that do not count. Recorded, never compared: copied keys send 0.
    pub counter: u32,
    /// Whether it cannot leave its device.
    pub device_bound: bool,
}

/// What of the client data matters. Browsers may add to it.
#[derive(Deserialize)]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    cross_origin: bool,
}

/// Where a passkey is kept, in words, as the record names the device an answer came from.
pub const ON_ITS_DEVICE: &str = "passkey of one device";
/// The same of one that is copied to others.
pub const SYNCED: &str = "synced passkey";

impl Assertion {
    /// Where the passkey is kept, by what it says of itself in what it signed; none if that cannot be read.
    pub fn kept(&self) -> Option<&'static str> {
        let said = from_base64url(&self.authenticator_data, MAX_PART)?;
        Some(match said.get(32)? & BACKUP_ELIGIBLE == 0 {
            true => ON_ITS_DEVICE,
            false => SYNCED,
        })
    }

    /// Verifies it as one over `challenge`.
    pub fn verify(
        &self,
        challenge: &[u8; 32],
        key: &VerifyingKey,
        relying: Relying<'_>,
    ) -> Result<Counted, Refused> {
        let part = |text: &str| from_base64url(text, MAX_PART).ok_or(Refused::Unreadable);
        let (authenticator, client) = (part(&self.authenticator_data)?, part(&self.client_data)?);
        let signature = part(&self.signature)?;
        let said: ClientData = serde_json::from_slice(&client).map_err(|_| Refused::Unreadable)?;
        if said.kind != "webauthn.get" {
            return Err(Refused::NotAnAssertion);
        }
        if said.challenge != base64url(challenge) {
            return Err(Refused::AnotherStatement);
        }
        if said.cross_origin || !relying.origins.contains(&said.origin) {
            return Err(Refused::Origin(said.origin.chars().take(100).collect()));
        }
        let (rp, rest) = authenticator
            .split_at_checked(32)
            .ok_or(Refused::Unreadable)?;
        if rp != sha256(relying.rp.as_bytes()) {
            return Err(Refused::RelyingParty);
        }
        let (flags, rest) = rest.split_first().ok_or(Refused::Unreadable)?;
        let counter = rest.first_chunk::<4>().ok_or(Refused::Unreadable)?;
        if flags & USER_PRESENT == 0 {
            return Err(Refused::NotTouched);
        }
        if flags & USER_VERIFIED == 0 {
            return Err(Refused::NotVerified);
        }
        let mut signed = authenticator.clone();
        signed.extend(sha256(&client));
        if !key.has_signed(&signed, &signature) {
            return Err(Refused::Signature);
        }
        Ok(Counted {
            counter: u32::from_be_bytes(*counter),
            device_bound: flags & BACKUP_ELIGIBLE == 0,
        })
    }
}
