//! Statement, proof and pinned keys held against each other: the one place that says a release is a person's.

use serde::{Deserialize, Serialize};

use crate::key::KeyKind;
use crate::pins::{PinnedKey, Pins};
use crate::sshsig::SshSignature;
use crate::statement::{MAX_VALIDITY_MILLIS, NAMESPACE, Purpose, Statement};
use crate::webauthn::{Assertion, Relying};

/// How far clocks of one machine may be apart: the one that made the statement and the one that looks.
const MAX_SKEW_MILLIS: u64 = 60 * 1000;

/// A statement with its proof: all that is needed to verify it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The bytes that were signed.
    pub statement: String,
    /// The signature.
    pub proof: Proof,
}

/// A signature over a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Proof {
    /// Of a passkey.
    Webauthn {
        /// The id of the pinned key.
        key: String,
        /// What the browser handed over.
        assertion: Assertion,
    },
    /// Of an `sk` key of ssh.
    Sshsig {
        /// The id of the pinned key.
        key: String,
        /// As `ssh-keygen` wrote it.
        signature: String,
    },
}

impl Proof {
    /// The id of the key it says it is of.
    pub fn key(&self) -> &str {
        match self {
            Proof::Webauthn { key, .. } | Proof::Sshsig { key, .. } => key,
        }
    }

    /// Where the passkey is kept that signed, in words; none for other keys.
    pub fn kept(&self) -> Option<&'static str> {
        match self {
            Proof::Webauthn { assertion, .. } => assertion.kept(),
            Proof::Sshsig { .. } => None,
        }
    }

    /// What kind of key signed.
    pub fn kind(&self) -> KeyKind {
        match self {
            Proof::Webauthn { .. } => KeyKind::Webauthn,
            Proof::Sshsig { .. } => KeyKind::Sshsig,
        }
    }
}

/// What a statement must be about.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The request.
    pub request: &'a str,
    /// The account on this machine.
    pub node: &'a str,
    /// Its ledger.
    pub ledger: &'a str,
    /// The digest of what would run.
    pub binding: &'a str,
    /// The digest of what was shown.
    pub card: &'a str,
    /// Who may answer; anybody who is pinned if it is empty.
    pub approvers: &'a [String],
    /// Now, in milliseconds since 1970.
    pub now: u64,
}

/// A release that somebody signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Verified {
    /// What they signed.
    pub statement: Statement,
    /// The id of the key.
    pub key: String,
    /// How often it has signed.
    pub counter: u32,
    /// Whether it cannot leave its device, as it says itself.
    pub device_bound: bool,
}

/// Why a release is not a person's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It cannot be read.
    #[error("the proof cannot be read")]
    Unreadable,
    /// What was signed is no statement.
    #[error("what was signed is no statement about a release")]
    NoStatement,
    /// It is about something else.
    #[error("the statement is about another {0}")]
    About(&'static str),
    /// It says no, or something that releases nothing.
    #[error("the statement does not say yes")]
    NoYes,
    /// Its time is over, or has not come.
    #[error("the statement has expired: sign it again")]
    Expired,
    /// Nobody has that key.
    #[error("the key is nobody's: `sudo holdpoint people pin` makes it somebody's")]
    Unpinned,
    /// Somebody else has that key.
    #[error("the key is not that of who answers")]
    AnotherPerson,
    /// They may not answer this.
    #[error("they may not answer this")]
    NotAsked,
    /// The signature says another key.
    #[error("the signature is of another key")]
    AnotherKey,
    /// A key without a device.
    #[error("`{0}` is a key without a device, which any program of the account can use")]
    NoDevice(String),
    /// Another kind of key.
    #[error("the key is of another kind")]
    Kind,
    /// A browser signed something that is no assertion.
    #[error("the browser made something else than an assertion")]
    NotAnAssertion,
    /// It signed another challenge.
    #[error("the signature is over another statement")]
    AnotherStatement,
    /// Another page asked.
    #[error("another page asked for it (`{0}`)")]
    Origin(String),
    /// The passkey was made for another name.
    #[error("the passkey is of another site")]
    RelyingParty,
    /// The signature is for something else.
    #[error("the signature was made for something else than a release")]
    Namespace,
    /// The key is for something else.
    #[error("the key was not made for ssh")]
    Application,
    /// Nobody touched the key.
    #[error("nobody touched the key")]
    NotTouched,
    /// The key did not ask who.
    #[error("the key did not ask for its PIN or a fingerprint: make one with -O verify-required")]
    NotVerified,
    /// The signature is wrong.
    #[error("the signature is wrong")]
    Signature,
}

/// Verifies that one of `pins` signed a statement about exactly what is expected. That a statement counts once is
/// for whoever keeps what was used.
pub fn verify(signed: &Signed, pins: &Pins, expected: &Expected<'_>) -> Result<Verified, Refused> {
    let statement = Statement::read(&signed.statement).ok_or(Refused::NoStatement)?;
    let Purpose::Release = statement.purpose;
    for (says, wanted, what) in [
        (&statement.request, expected.request, "request"),
        (&statement.node, expected.node, "machine or account"),
        (&statement.ledger, expected.ledger, "ledger"),
        (&statement.binding, expected.binding, "version of this call"),
        (&statement.card, expected.card, "card than this call has"),
    ] {
        if says != wanted {
            return Err(Refused::About(what));
        }
    }
    if !matches!(statement.answer.as_str(), "yes" | "once") {
        return Err(Refused::NoYes);
    }
    let lasts = statement.expires.checked_sub(statement.time);
    let in_time = lasts.is_some_and(|lasts| lasts <= MAX_VALIDITY_MILLIS)
        && expected.now < statement.expires
        && statement.time <= expected.now.saturating_add(MAX_SKEW_MILLIS);
    if !in_time {
        return Err(Refused::Expired);
    }
    let may = expected.approvers;
    if !may.is_empty() && !may.contains(&statement.approver) {
        return Err(Refused::NotAsked);
    }
    let (person, key) = pins.key(signed.proof.key()).ok_or(Refused::Unpinned)?;
    if person.name != statement.approver {
        return Err(Refused::AnotherPerson);
    }
    let (counter, device_bound) = verify_signature(signed, key)?;
    Ok(Verified {
        statement,
        key: key.id.clone(),
        counter,
        device_bound,
    })
}

/// Whether the signature is that of `key` over the statement, whatever that says and whenever it was: what the
/// ledger is verified by. How often the key has signed, and whether it cannot leave its device.
pub fn verify_signature(signed: &Signed, key: &PinnedKey) -> Result<(u32, bool), Refused> {
    let verifying = key.verifying().map_err(|_| Refused::Unpinned)?;
    match (&signed.proof, key.kind) {
        (Proof::Webauthn { assertion, .. }, KeyKind::Webauthn) => {
            let relying = Relying {
                rp: key.rp.as_deref().unwrap_or_default(),
                origins: &key.origins,
            };
            let challenge = Statement::challenge(&signed.statement);
            let counted = assertion.verify(&challenge, &verifying, relying)?;
            Ok((counted.counter, counted.device_bound))
        }
        (Proof::Sshsig { signature, .. }, KeyKind::Sshsig) => {
            let signature = SshSignature::read(signature)?;
            let counter = signature.verify(signed.statement.as_bytes(), NAMESPACE, &verifying)?;
            Ok((counter, true))
        }
        (Proof::Webauthn { .. } | Proof::Sshsig { .. }, _) => Err(Refused::Kind),
    }
}
