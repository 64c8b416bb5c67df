//! What a person signs: exact bytes, kept as they are.
//!
//! A statement is JSON with its keys in one order and no space, so that there is one spelling of it: what
//! reads back to other bytes is refused. Nobody has to put it into a canonical form to verify it again.

use serde::{Deserialize, Serialize};

/// The most bytes of a statement: every field at its longest is less than half of it.
pub const MAX_STATEMENT: usize = 4096;

/// The longest a statement counts, a quarter of an hour: as long as the answer to a call whose hook has gone.
pub const MAX_VALIDITY_MILLIS: u64 = 15 * 60 * 1000;

/// The most characters of any text in it.
const MAX_TEXT: usize = 256;

/// What is signed to be: in front of every statement whose digest a passkey signs, and the namespace of ssh's
/// signatures, so that a signature made for anything else never counts here.
pub const NAMESPACE: &str = "holdpoint-release-v1";

/// What a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Letting one call run.
    Release,
}

/// What a person signs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// 1.
    pub v: u8,
    /// What it is for.
    #[serde(rename = "for")]
    pub purpose: Purpose,
    /// The request.
    pub request: String,
    /// The account on the machine where the call would run.
    pub node: String,
    /// The ledger it is recorded in, by the name of its key.
    pub ledger: String,
    /// The digest of what would run.
    pub binding: String,
    /// The digest of what was shown.
    pub card: String,
    /// The answer.
    pub answer: String,
    /// Who answers.
    pub approver: String,
    /// Made up for this statement; it counts once.
    pub nonce: String,
    /// When it was made, in milliseconds since 1970.
    pub time: u64,
    /// Until when it counts.
    pub expires: u64,
}

impl Statement {
    /// The bytes that are signed.
    pub fn to_text(&self) -> String {
        // A struct of texts and numbers is always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads one; none for what is not exactly one.
    pub fn read(text: &str) -> Option<Self> {
        if text.len() > MAX_STATEMENT {
            return None;
        }
        let statement: Self = serde_json::from_str(text).ok()?;
        let texts = [
            &statement.request,
            &statement.node,
            &statement.ledger,
            &statement.binding,
            &statement.card,
            &statement.answer,
            &statement.approver,
            &statement.nonce,
        ];
        let plain = |text: &&String| {
            !text.is_empty() && text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
        };
        let whole = statement.v == 1 && texts.iter().all(plain) && is_nonce(&statement.nonce);
        (whole && statement.to_text() == text).then_some(statement)
    }

    /// What a passkey is asked to sign: the digest of the namespace and the statement.
    pub fn challenge(text: &str) -> [u8; 32] {
        let mut bytes = Vec::with_capacity(NAMESPACE.len() + 1 + text.len());
        bytes.extend(NAMESPACE.as_bytes());
        bytes.push(0);
        bytes.extend(text.as_bytes());
        crate::encoding::sha256(&bytes)
    }
}

/// Whether a nonce is 32 hexadecimal digits: it is also the name of a file, so nothing else may stand in it.
fn is_nonce(text: &str) -> bool {
    text.len() == 32
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
