//! What the ledger says of a call that waits for a person: opened, answered by whom, expired, used.

use std::time::Duration;

use holdpoint_broker::{Approval, CallContext, Event, Evidence, ProvedBy, Request, State};
use holdpoint_core::text::redaction::{Redacted, Redactor};
use holdpoint_core::{Decision, Method, Policy, Verdict};
use holdpoint_ledger::{AnsweredDetail, Detail, Digest, Durability, Entry, Kind, SignedDetail};
use serde_json::{Map, Value, json};

use crate::excerpt::{brief, recorded, showing};

/// What happens to a call that waits, and the policy it waits under.
#[derive(Clone, Copy, Debug)]
pub struct Hold<'a> {
    /// What happens, one after the other.
    pub events: &'a [Event<'a>],
    /// The policy, which says what is redacted.
    pub policy: Option<&'a Policy>,
}

/// The entry, and how surely it is kept. What lets a call run is on the disk before it does.
pub(super) fn entry(event: Event<'_>, redactor: &Redactor) -> (Entry, Durability) {
    match event {
        Event::Judged { asked, decision } => (
            judged(asked, decision, redactor),
            match decision.verdict <= Verdict::Contain {
                true => Durability::Synced,
                false => Durability::Written,
            },
        ),
        Event::Opened(request) => {
            let input = Value::Object(request.asked.input.clone());
            let mut detail = Value::Object(about(request));
            // Nobody waits for it, and nobody was asked.
            if request.offered
                && let Some(detail) = detail.as_object_mut()
            {
                detail.insert("offered".into(), json!(true));
            }
            let entry = Entry {
                input: Some(recorded(redactor, &input)),
                detail: Some(own(&detail)),
                ..entry_about(Kind::HoldOpened, request, redactor)
            };
            (entry, Durability::Written)
        }
        Event::Answered {
            request,
            approver,
            answer,
            evidence,
        } => {
            // Who signed is named in what they signed, which stands beside it to the byte.
            let name = match signed_by(request, approver, evidence) {
                Some(_) => Some(showing().text(approver)),
                None => (!approver.is_empty()).then(|| brief(redactor, approver)),
            };
            let entry = settled(Kind::HoldAnswered, request, Some(answer), redactor);
            let entry = Entry {
                approver: name,
                detail: entry
                    .detail
                    .map(|detail| with_evidence(detail, request, approver, evidence, redactor)),
                ..entry
            };
            (entry, Durability::Synced)
        }
        Event::Expired(request) => (
            settled(Kind::HoldExpired, request, None, redactor),
            Durability::Written,
        ),
        Event::Withdrawn(request) => (
            settled(
                Kind::HoldExpired,
                request,
                Some(unanswered(request)),
                redactor,
            ),
            Durability::Written,
        ),
        Event::Used(request) => (
            settled(Kind::Release, request, None, redactor),
            Durability::Synced,
        ),
    }
}

fn judged(asked: &CallContext, decision: &Decision, redactor: &Redactor) -> Entry {
    let text = |text: &str| brief(redactor, text);
    Entry {
        agent: Some(text(&asked.agent)),
        session: Some(text(&asked.session)),
        directory: Some(text(&asked.directory)),
        tool: Some(text(&asked.tool)),
        verdict: Some(decision.verdict),
        observed: decision.observed,
        method: Some(decision.method),
        rule: decision.rule.as_deref().map(text),
        risk: Some(decision.risk),
        reason: Some(text(&decision.reason)),
        call: Digest::parse(&decision.call),
        policy: Digest::parse(&decision.policy),
        input: Some(recorded(redactor, &Value::Object(asked.input.clone()))),
        detail: Some(Detail::Of(redactor.json(&json!({"again": true})).0)),
        ..Entry::new(Kind::Decision)
    }
}

/// What is said of a request wherever it stands: which it is, how sure it had to be that a person says yes, and what their answer
/// is bound to, so that what was signed can be held against it.
fn about(request: &Request) -> Map<String, Value> {
    let mut detail = Map::new();
    detail.insert("request".into(), json!(request.id));
    detail.insert("presence".into(), json!(request.terms.presence.as_str()));
    detail.insert("binding".into(), json!(request.binding));
    if let Some(card) = &request.card {
        detail.insert("card".into(), json!(card));
    }
    detail
}

/// What the program itself says of a request: digests, numbers and words of its own. What a policy takes out of texts besides secrets
/// takes nothing out of it: a format that is true of digests would leave records that prove nothing.
fn own(detail: &Value) -> Detail {
    Detail::Of(showing().json(detail).0)
}

/// What every record of a request says.
fn entry_about(kind: Kind, request: &Request, redactor: &Redactor) -> Entry {
    let text = |text: &str| brief(redactor, text);
    let asked = &request.asked;
    let decision = &request.decision;
    Entry {
        agent: Some(text(&asked.agent)),
        session: Some(text(&asked.session)),
        directory: Some(text(&asked.directory)),
        tool: Some(text(&asked.tool)),
        rule: decision.rule.as_deref().map(text),
        risk: Some(decision.risk),
        reason: Some(text(&decision.reason)),
        call: Digest::parse(&original_call(request)),
        policy: Digest::parse(&decision.policy),
        ..Entry::new(kind)
    }
}

fn settled(kind: Kind, request: &Request, answer: Option<&str>, redactor: &Redactor) -> Entry {
    let mut detail = about(request);
    if let Some(answer) = answer {
        detail.insert("answer".into(), json!(answer));
    }
    if request.terms.required > 1 {
        let people = request.approvals.len();
        let said = format!("{people} of {}", request.terms.required);
        detail.insert("said_yes".into(), json!(said));
    }
    if request.was_edited() {
        detail.insert("edited".into(), json!(true));
        detail.insert("runs".into(), json!(request.decision.call));
    }
    let entry = entry_about(kind, request, redactor);
    let detail = Some(own(&Value::Object(detail)));
    match &request.settled {
        None => Entry { detail, ..entry },
        Some(settled) => Entry {
            verdict: Some(match request.state {
                State::Released => Verdict::Allow,
                State::Pending | State::Refused | State::Expired | State::Withdrawn => {
                    Verdict::Deny
                }
            }),
            method: Some(settled.method),
            reason: Some(brief(redactor, &settled.reason)),
            approver: (!settled.approvers.is_empty())
                .then(|| brief(redactor, &settled.approvers.join(", "))),
            duration: Some(Duration::from_millis(
                settled.at.0.saturating_sub(request.opened.0),
            )),
            detail,
            ..entry
        },
    }
}

/// Why a request ended that nobody answered: its caller gave it up, nobody could be asked, or what came back was no answer.
fn unanswered(request: &Request) -> &'static str {
    let method = request.settled.as_ref().map(|settled| settled.method);
    if method == Some(Method::NoChannel) {
        "nobody_to_ask"
    } else if method == Some(Method::Error) {
        "channel_error"
    } else {
        "withdrawn"
    }
}

/// What an answer's record says besides: how it came, from where, and what was signed.
fn with_evidence(
    detail: Detail,
    request: &Request,
    approver: &str,
    evidence: Option<&Evidence>,
    redactor: &Redactor,
) -> Detail {
    let (Detail::Of(said), Some(evidence)) = (&detail, evidence) else {
        return detail;
    };
    let proof = signed_by(request, approver, Some(evidence));
    Detail::Answered(Box::new(AnsweredDetail {
        said: said.clone(),
        route: evidence.route.as_str(),
        device: evidence
            .device
            .as_deref()
            .map(|device| device_of(device, proof, redactor)),
        signed: proof.map(|proof| SignedDetail {
            statement: proof.signed.statement.clone(),
            proof: proof.signed.proof.clone(),
            key: proof.key.clone(),
        }),
    }))
}

/// What an answer came from, and of a passkey where that is kept, by what it has signed.
fn device_of(device: &str, proof: Option<&ProvedBy>, redactor: &Redactor) -> Redacted {
    let mut device = brief(redactor, device);
    if let Some(kept) = proof.and_then(|proof| proof.signed.proof.kept()) {
        device.push(&Redacted::literal(", "));
        device.push(&Redacted::literal(kept));
    }
    device
}

/// What proves that somebody signed this answer: what they sent was verified, and counts for the request.
fn signed_by<'r>(
    request: &'r Request,
    approver: &str,
    evidence: Option<&Evidence>,
) -> Option<&'r ProvedBy> {
    let signed = evidence?.signed.as_ref()?;
    let theirs = |one: &&Approval| {
        let proof = one.proof.as_ref();
        one.approver == approver && proof.is_some_and(|proof| proof.signed == *signed)
    };
    request.approvals.iter().find(theirs)?.proof.as_ref()
}

/// The digest of the call as it was made: by it the record of the decision is found.
fn original_call(request: &Request) -> String {
    match &request.original {
        None => request.decision.call.clone(),
        Some(input) => request
            .asked
            .with_input(input.clone())
            .call()
            .map(|call| call.digest())
            .unwrap_or_default(),
    }
}
