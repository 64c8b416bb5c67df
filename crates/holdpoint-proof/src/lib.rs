//! That a person released exactly this: the statement they signed, and what verifies the signature.
//!
//! A [`Statement`] names one request, on one machine, in one ledger, by the digest of what would run and
//! of what was shown. A [`Proof`] is a signature over its bytes by a key that wants somebody to touch it:
//! a passkey ([`webauthn`]) or an `sk` key of ssh ([`sshsig`]). [`Pins`] are the keys that count, kept where
//! only root writes. [`verify()`] holds the three against each other.
//!
//! Nothing here reads a file, a clock or the environment: what the hook verified before a call ran, anybody
//! verifies again from the ledger alone. Whatever is given ends in a value or a [`Refused`]; every reader is
//! bounded by the length of what it reads, and every length by a limit.

mod der;
mod encoding;
pub mod key;
pub mod pins;
pub mod sshsig;
pub mod statement;
pub mod verify;
pub mod webauthn;
mod wire_reader;

pub use encoding::{base64, base64url, from_base64, from_base64url, sha256_hex};
pub use key::{Algorithm, KeyKind, VerifyingKey};
pub use pins::{PinnedKey, PinnedPerson, Pins};
pub use statement::{MAX_VALIDITY_MILLIS, Purpose, Statement};
pub use verify::{Expected, Proof, Refused, Signed, Verified, verify};
