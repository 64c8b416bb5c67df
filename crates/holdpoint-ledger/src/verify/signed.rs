//! What people signed, verified again from the record alone: the signature over the statement by the key that stands beside it,
//! and that the statement is about this request, this answer and this person.
//!
//! Whether that key was theirs is not in the ledger: it is whatever root had pinned, and can be compared with that.

use holdpoint_proof::verify::verify_signature;
use holdpoint_proof::{Signed, Statement};
use serde::Deserialize;

use crate::record::SignedDetail;

/// What of a signed answer is held against other records.
#[derive(Clone, Debug)]
pub(super) struct SignedAnswer {
    /// The ledger it was signed for.
    pub(super) ledger: String,
    /// It counts once.
    pub(super) nonce: String,
}

/// A signed answer as it is recorded.
#[derive(Deserialize)]
struct Line {
    request: String,
    answer: String,
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
        if Some(said.approver.as_str()) != approver {
            return Err("somebody else signed than answered".into());
        }
        if proof.key() != key.id {
            return Err("it was signed with another key".into());
        }
        verify_signature(&Signed { statement, proof }, &key)
            .map_err(|refused| refused.to_string())?;
        Ok(SignedAnswer {
            ledger: said.ledger,
            nonce: said.nonce,
        })
    })
}
