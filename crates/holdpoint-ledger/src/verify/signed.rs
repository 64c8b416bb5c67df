//! What people signed, verified again from the record alone: the signature over the statement by the key that stands beside it,
//! and that the statement is about this request, this answer and this person.
//!
//! Whether that key was theirs is not in the ledger: it is whatever root had pinned, and can be compared with that.
//!
//! Records of releases say how sure it had to be that a person says yes. One that wanted a signature and has none is found.

use holdpoint_core::policy::Presence;
use holdpoint_proof::verify::verify_signature;
use holdpoint_proof::{PinnedKey, Pins, Signed, Statement};
use serde::Deserialize;

use crate::record::SignedDetail;

/// What of a signed answer is held against other records.
#[derive(Clone, Debug)]
pub(super) struct SignedAnswer {
    /// The ledger it was signed for.
    pub(super) ledger: String,
    /// It counts once.
    pub(super) nonce: String,
    /// What it lets run.
    pub(super) released: Released,
    /// Who signed, and with what.
    approver: String,
    key: PinnedKey,
}

impl SignedAnswer {
    /// Whether the key is that person's among these.
    pub(super) fn is_pinned(&self, pins: &Pins) -> bool {
        let same = |one: &PinnedKey| {
            one.kind == self.key.kind
                && one
                    .verifying()
                    .ok()
                    .is_some_and(|key| Some(key) == self.key.verifying().ok())
        };
        pins.key(&self.key.id)
            .is_some_and(|(person, key)| person.name == self.approver && same(key))
    }
}

/// A request as it would run: an edit makes it another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Released {
    request: String,
    binding: String,
}

/// A held call that was let go, as it is recorded. Older versions recorded neither level nor binding.
#[derive(Deserialize)]
struct ReleaseLine {
    request: String,
    presence: Option<String>,
    binding: Option<String>,
}

/// What a release must have been signed for; none if nobody had to sign it.
pub(super) fn wanted(detail: &str) -> Option<Released> {
    if !detail.contains("\"presence\"") {
        return None;
    }
    let line: ReleaseLine = serde_json::from_str(detail).ok()?;
    let signs = [Presence::Key, Presence::Elsewhere].map(Presence::as_str);
    signs
        .contains(&line.presence?.as_str())
        .then_some(Released {
            request: line.request,
            binding: line.binding.unwrap_or_default(),
        })
}

/// A signed answer as it is recorded.
#[derive(Deserialize)]
struct Line {
    request: String,
    answer: String,
    // Older versions recorded neither.
    binding: Option<String>,
    card: Option<String>,
    device: Option<String>,
    #[serde(flatten)]
    signed: SignedDetail,
}

/// Reads and verifies the detail of an answer; none if nobody signed it, why it proves nothing if it does not.
pub(super) fn verified(
    detail: &str,
    approver: Option<&str>,
) -> Option<Result<SignedAnswer, String>> {
    // Most answers are not signed, and are not read for that.
    detail.contains("\"statement\"").then(|| {
        let line: Line = serde_json::from_str(detail)
            .map_err(|_| "what was signed cannot be read".to_owned())?;
        let SignedDetail {
            statement,
            proof,
            key,
        } = line.signed;
        let said = Statement::read(&statement).ok_or("what was signed is no statement")?;
        if said.request != line.request || said.answer != line.answer {
            return Err("what was signed is about another request or answer".into());
        }
        let other = |recorded: Option<&String>, signed| recorded.is_some_and(|one| one != signed);
        if other(line.binding.as_ref(), &said.binding) || other(line.card.as_ref(), &said.card) {
            return Err("what was signed is about another call or card than was shown".into());
        }
        if Some(said.approver.as_str()) != approver {
            return Err("somebody else signed than answered".into());
        }
        if proof.key() != key.id {
            return Err("it was signed with another key".into());
        }
        // What the record calls the passkey is what that said of itself in what it signed. Older versions named no device there.
        if let (Some(device), Some(kept)) = (&line.device, proof.kept())
            && !device.ends_with(kept)
        {
            return Err("the record names another device than what was signed".into());
        }
        verify_signature(&Signed { statement, proof }, &key)
            .map_err(|refused| refused.to_string())?;
        Ok(SignedAnswer {
            ledger: said.ledger,
            nonce: said.nonce,
            released: Released {
                request: said.request,
                binding: said.binding,
            },
            approver: said.approver,
            key,
        })
    })
}
