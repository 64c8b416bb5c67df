//! How a held call ended, as its caller is told.

use std::collections::BTreeMap;

use holdpoint_core::{Decision, Method, Verdict};
use holdpoint_proof::Signed;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::request::{Request, State};

/// What a caller is told in the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// The request; none if nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Allow or deny, and nothing between.
    pub verdict: Verdict,
    /// How it came about.
    pub method: Method,
    /// Why.
    pub reason: String,
    /// What a person wants the model to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// The arguments to run with, if a person changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Map<String, Value>>,
    /// Whether a person changed the arguments before it was refused: the rule that asked about the call as it was made is not
    /// why this one does not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// What exactly may run: the caller finds the same digest, or does not run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// The digest of what was shown; none for what a version stored that did not bind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// What was bound, part by part, each with a word for its state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, String>,
    /// What the people who said yes signed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<Signed>,
}

impl Resolution {
    /// What was decided without asking anybody.
    pub fn decided(decision: &Decision) -> Self {
        Self {
            id: None,
            verdict: match decision.verdict.runs() {
                true => Verdict::Allow,
                false => Verdict::Deny,
            },
            method: decision.method,
            reason: decision.reason.clone(),
            comment: None,
            approvers: Vec::new(),
            edited: None,
            changed: false,
            binding: None,
            card: None,
            parts: BTreeMap::new(),
            proofs: Vec::new(),
        }
    }

    /// How a request ended; none while it waits.
    pub fn from_request(request: &Request) -> Option<Self> {
        let settled = request.settled.as_ref()?;
        let released = request.state == State::Released;
        Some(Self {
            id: Some(request.id.clone()),
            verdict: if released {
                Verdict::Allow
            } else {
                Verdict::Deny
            },
            method: settled.method,
            reason: settled.reason.clone(),
            comment: settled.comment.clone(),
            approvers: settled.approvers.clone(),
            edited: (released && request.was_edited()).then(|| request.asked.input.clone()),
            changed: !released && request.was_edited(),
            binding: released.then(|| request.binding.clone()),
            card: request.card.clone().filter(|_| released),
            parts: match released {
                true => request.parts.clone(),
                false => BTreeMap::new(),
            },
            proofs: match released {
                true => request.proofs().cloned().collect(),
                false => Vec::new(),
            },
        })
    }
}
