//! What an answer does to a request.
//!
//! Nothing is stored or recorded here: the outcome is a new version of the request, and whoever
//! keeps it records it first. An answer that has no effect says why and changes nothing.

use std::borrow::Cow;

use holdpoint_core::policy::Presence;
use holdpoint_core::{Decision, Method, Risk, Verdict};
use holdpoint_proof::Statement;
use serde_json::{Map, Value};

use crate::answer::{Answer, Scope, SignedAnswer};
use crate::changes;
use crate::host::{BrokerHost, Judged, Memory, Prepared, Problem, Unsure, Vouched};
use crate::request::{Approval, Edit, Offer, ProvedBy, Request, Settled, State};
use crate::time::UnixMillis;

/// What an answer does.
#[derive(Clone, Debug)]
#[must_use]
pub enum Step {
    /// The request is settled, and the session is to remember something.
    Settled(Box<Request>, Option<Memory>),
    /// One yes of several; the request still waits.
    Counted(Box<Request>),
    /// The arguments are others now; the request waits for an answer about them.
    Again(Box<Request>),
    /// Nothing, for this reason.
    NoEffect(String),
}

/// Applies an answer. On an error nothing may change: what the answer needs cannot be found out.
pub fn apply(
    request: &Request,
    said: &SignedAnswer,
    host: &dyn BrokerHost,
    now: UnixMillis,
) -> Result<Step, Problem> {
    if let Some(reason) = without_effect(request, said, now) {
        return Ok(Step::NoEffect(reason));
    }
    if said.evidence.signed.is_some() && said.answer != Answer::Yes {
        // The record would keep it as evidence for what nobody signed.
        let reason =
            "what is signed is a yes to this one call: send no signature with another answer";
        return Ok(Step::NoEffect(reason.into()));
    }
    match &said.answer {
        Answer::No => Ok(refused(
            request,
            said,
            now,
            Method::UserDenied,
            DENIED,
            None,
        )),
        Answer::Comment { comment } => Ok(commented(request, said, now, comment)),
        Answer::Never { scope } => Ok(never(request, said, now, *scope)),
        Answer::Edit { input } => edited(request, said, host, now, input),
        Answer::Yes
        | Answer::Once
        | Answer::Always { .. }
        | Answer::Keep { .. }
        | Answer::All
        | Answer::Turn
        | Answer::Idle => released(request, said, host, now),
    }
}

/// The answer as it is recorded: what was signed is a yes, so `once` with a signature is that.
pub fn as_signed(said: &SignedAnswer) -> Cow<'_, SignedAnswer> {
    match (&said.evidence.signed, &said.answer) {
        (Some(_), Answer::Once) => Cow::Owned(SignedAnswer {
            answer: Answer::Yes,
            ..said.clone()
        }),
        (Some(_) | None, _) => Cow::Borrowed(said),
    }
}

/// Why a call does not run that whoever made it no longer wants.
pub const WITHDRAWN: &str = "The call was withdrawn";

const APPROVED: &str = "User approved execution";
const DENIED: &str = "User denied execution";

/// Why an answer cannot have an effect, whatever it is.
fn without_effect(request: &Request, said: &SignedAnswer, now: UnixMillis) -> Option<String> {
    if request.state != State::Pending {
        let who = request
            .settled
            .as_ref()
            .filter(|settled| !settled.approvers.is_empty())
            .map(|settled| format!(" by {}", settled.approvers.join(", ")))
            .unwrap_or_default();
        let state = request.state.as_str();
        return Some(format!(
            "it is {state}{who} already; this answer has no effect"
        ));
    }
    if request.expires.is_some_and(|expires| expires <= now) {
        return Some("it has expired; this answer has no effect".into());
    }
    if said.approver.trim().is_empty() {
        return Some("nobody is known to have given this answer".into());
    }
    if standing(request, said).is_none() {
        return Some(format!(
            "{} may not answer this: it waits for {}",
            said.approver,
            request.terms.approvers.join(", ")
        ));
    }
    let seen = said.binding.as_ref();
    if seen.is_some_and(|seen| *seen != request.binding) {
        return Some("it is no longer what you were shown: look at it again".into());
    }
    None
}

/// In whose place the approver answers: their own, or that of somebody who may.
fn standing(request: &Request, said: &SignedAnswer) -> Option<Option<String>> {
    let may = &request.terms.approvers;
    if may.is_empty() || may.contains(&said.approver) {
        return Some(None);
    }
    let principal = said.on_behalf_of.iter().find(|name| may.contains(name));
    principal.map(|name| Some(name.clone()))
}

/// The same, of those for whom nobody has said yes yet: one person's word counts once, whoever
/// brings it.
fn free_standing(request: &Request, said: &SignedAnswer) -> Option<Option<String>> {
    let may = &request.terms.approvers;
    let heard = |name: &str| {
        let spoken_for =
            |one: &Approval| one.on_behalf_of.as_ref().unwrap_or(&one.approver) == name;
        request.approvals.iter().any(spoken_for)
    };
    let own = may.is_empty() || may.contains(&said.approver);
    if own && !heard(&said.approver) {
        return Some(None);
    }
    let mut principals = said.on_behalf_of.iter();
    principals
        .find(|name| may.contains(name) && !heard(name))
        .map(|name| Some(name.clone()))
}

fn released(
    request: &Request,
    said: &SignedAnswer,
    host: &dyn BrokerHost,
    now: UnixMillis,
) -> Result<Step, Problem> {
    if let Some(phrase) = &request.terms.phrase
        && said.phrase.as_deref().map(str::trim) != Some(phrase)
    {
        return Ok(Step::NoEffect(format!("type `{phrase}` to release it")));
    }
    let vouched = match host.vouch(request, said, now) {
        Ok(vouched) => vouched,
        Err(Unsure(reason)) => return Ok(Step::NoEffect(reason)),
    };
    let request = &match heard(request, &vouched, now) {
        Ok(heard) => heard,
        Err(reason) => return Ok(Step::NoEffect(reason)),
    };
    let memory = match memory_of(request, &said.answer) {
        Ok(memory) => memory,
        Err(reason) => return Ok(Step::NoEffect(reason)),
    };
    let judged = host.judge(&request.asked)?;
    if let Some(step) = overtaken(request, said, host, now, &judged) {
        return Ok(step);
    }
    let mut next = changed(request);
    let so_far = format!(
        "{} of {} people have",
        next.approvals.len(),
        next.terms.required
    );
    let said_before = |one: &Approval| one.approver == said.approver;
    if next.approvals.iter().any(said_before) {
        let who = &said.approver;
        return Ok(Step::NoEffect(format!(
            "{who} has said yes already; {so_far}"
        )));
    }
    let Some(on_behalf_of) = free_standing(request, said) else {
        return Ok(Step::NoEffect(format!(
            "whoever {} answers for has said yes already; {so_far}",
            said.approver
        )));
    };
    next.approvals.push(Approval {
        approver: said.approver.clone(),
        on_behalf_of,
        at: now,
        proof: vouched.proof,
    });
    if next.approvals.len() < usize::try_from(next.terms.required).unwrap_or(usize::MAX) {
        return Ok(Step::Counted(Box::new(next)));
    }
    let method = match said.answer {
        Answer::Always { .. } => Method::SessionWhitelist,
        Answer::All => Method::AllowAll,
        Answer::Turn => Method::TurnSuspension,
        Answer::Idle => Method::IdleSuspension,
        Answer::Yes
        | Answer::Once
        | Answer::Keep { .. }
        | Answer::No
        | Answer::Never { .. }
        | Answer::Comment { .. }
        | Answer::Edit { .. } => Method::UserApproved,
    };
    let approvers = next.approvals.iter().map(|one| one.approver.clone());
    next.settled = Some(Settled {
        at: now,
        method,
        reason: APPROVED.into(),
        comment: None,
        approvers: approvers.collect(),
    });
    next.state = State::Released;
    Ok(Step::Settled(Box::new(next), memory))
}

/// The request with this in mind: what was signed counts once, and what others signed before and has expired by now counts no
/// longer, since the hook would find it so. They sign anew.
fn heard(request: &Request, vouched: &Vouched, now: UnixMillis) -> Result<Request, String> {
    let signed =
        |proof: Option<&ProvedBy>| proof.and_then(|proof| Statement::read(&proof.signed.statement));
    let mut next = request.clone();
    if let Some(statement) = signed(vouched.proof.as_ref()) {
        if next.nonces.contains(&statement.nonce) {
            return Err(
                "what was signed was counted before, and does not count again: sign anew".into(),
            );
        }
        next.nonces.push(statement.nonce);
    }
    let until = now.0.saturating_add(MIN_LEFT_MILLIS);
    next.approvals
        .retain(|one| signed(one.proof.as_ref()).is_none_or(|statement| statement.expires > until));
    Ok(next)
}

/// How long what was signed must count yet when the last yes comes: until the hook has looked at it, whatever else the machine does.
const MIN_LEFT_MILLIS: u64 = 10 * 1000;

/// What the session remembers of an answer that releases; why it cannot, if it cannot.
pub fn memory_of(request: &Request, answer: &Answer) -> Result<Option<Memory>, String> {
    let memory = match answer {
        Answer::Always { scope } => {
            let offer = offered(request, *scope)?;
            Memory::Allow {
                scope: offer.scope,
                patterns: offer.patterns.clone(),
            }
        }
        Answer::Keep { scope, place } => {
            let offer = offered(request, *scope)?;
            Memory::Keep {
                scope: offer.scope,
                patterns: offer.patterns.clone(),
                place: *place,
            }
        }
        Answer::All => Memory::All,
        Answer::Turn => Memory::Turn,
        Answer::Idle => Memory::Idle,
        Answer::Yes
        | Answer::Once
        | Answer::No
        | Answer::Never { .. }
        | Answer::Comment { .. }
        | Answer::Edit { .. } => return Ok(None),
    };
    if request.terms.required > 1 {
        return Err(format!(
            "{} people must say yes to this one call; no rule can be left for others",
            request.terms.required
        ));
    }
    if !request.terms.suspendable && !matches!(memory, Memory::Allow { .. } | Memory::Keep { .. }) {
        return Err("prompts cannot be suspended by this answer: answer yes or no".into());
    }
    Ok(Some(memory))
}

/// The offer of a scope, or the narrowest one.
fn offered(request: &Request, scope: Option<Scope>) -> Result<&Offer, String> {
    let offers = &request.terms.offers;
    let found = match scope {
        Some(scope) => offers.iter().find(|offer| offer.scope == scope),
        None => offers.iter().min_by_key(|offer| offer.scope),
    };
    found.ok_or_else(|| match scope {
        Some(scope) if !offers.is_empty() => {
            let words: Vec<&str> = offers.iter().map(|offer| offer.scope.as_str()).collect();
            format!(
                "no rule of the scope `{}` is offered: use {}",
                scope.as_str(),
                words.join(", ")
            )
        }
        Some(_) | None => "no rule is offered for a call like this: answer yes or no".into(),
    })
}

/// What becomes of a yes to something that is no longer what was shown.
fn overtaken(
    request: &Request,
    said: &SignedAnswer,
    host: &dyn BrokerHost,
    now: UnixMillis,
    judged: &Judged,
) -> Option<Step> {
    let decision = &judged.decision;
    if decision.verdict == Verdict::Deny {
        let reason = format!("It may no longer run: {}", decision.reason);
        return Some(refused(request, said, now, decision.method, &reason, None));
    }
    if decision.verdict.runs() || judged.is_bound_to(&request.binding, request.card.as_deref()) {
        return None;
    }
    let texts = host.texts(&request.asked);
    let difference = |name: &str| changes::difference(request.texts.get(name)?, texts.get(name)?);
    let reason = changes::sentence("shown", &request.parts, &judged.parts, &difference);
    Some(refused(request, said, now, Method::Error, &reason, None))
}

fn commented(request: &Request, said: &SignedAnswer, now: UnixMillis, comment: &str) -> Step {
    let comment = comment.trim();
    if comment.is_empty() {
        return Step::NoEffect("the comment is empty: write one, or answer no".into());
    }
    let reason = format!("Tool not executed. User comment: {comment}");
    refused(
        request,
        said,
        now,
        Method::UserComment,
        &reason,
        Some(comment.to_owned()),
    )
}

fn never(request: &Request, said: &SignedAnswer, now: UnixMillis, scope: Option<Scope>) -> Step {
    match offered(request, scope) {
        Err(reason) => Step::NoEffect(reason),
        Ok(offer) => {
            let memory = Memory::Deny {
                scope: offer.scope,
                patterns: offer.patterns.clone(),
            };
            match refused(request, said, now, Method::SessionBlacklist, DENIED, None) {
                Step::Settled(request, _) => Step::Settled(request, Some(memory)),
                other @ (Step::Counted(_) | Step::Again(_) | Step::NoEffect(_)) => other,
            }
        }
    }
}

fn refused(
    request: &Request,
    said: &SignedAnswer,
    now: UnixMillis,
    method: Method,
    reason: &str,
    comment: Option<String>,
) -> Step {
    let mut next = changed(request);
    next.state = State::Refused;
    next.settled = Some(Settled {
        at: now,
        method,
        reason: reason.to_owned(),
        comment,
        approvers: vec![said.approver.clone()],
    });
    Step::Settled(Box::new(next), None)
}

fn edited(
    request: &Request,
    said: &SignedAnswer,
    host: &dyn BrokerHost,
    now: UnixMillis,
    input: &Map<String, Value>,
) -> Result<Step, Problem> {
    if let Err(Unsure(reason)) = host.seated(request, &said.evidence) {
        return Ok(Step::NoEffect(reason));
    }
    for key in input.keys() {
        if request.display.hidden.contains(key) {
            return Ok(Step::NoEffect(format!(
                "something in `{key}` is hidden, so it cannot be changed here: refuse with a comment"
            )));
        }
        if !request.terms.editable.contains(key) {
            let may = match request.terms.editable.as_slice() {
                [] => "nothing of this call can".to_owned(),
                keys => format!("only {} can", keys.join(", ")),
            };
            return Ok(Step::NoEffect(format!("`{key}` cannot be changed: {may}")));
        }
    }
    let mut all = request.asked.input.clone();
    all.extend(input.clone());
    if all == request.asked.input {
        return Ok(Step::NoEffect("nothing was changed".into()));
    }
    let asked = request.asked.with_input(all);
    let judged = host.judge(&asked)?;
    if judged.decision.verdict == Verdict::Deny {
        let reason = format!(
            "As it was changed it may not run: {}",
            judged.decision.reason
        );
        let method = judged.decision.method;
        return Ok(refused(request, said, now, method, &reason, None));
    }
    let prepared = host.prepare(&asked, &judged)?;
    if let Some(hopeless) = hopeless(&judged.decision, &prepared) {
        let reason = format!("As it was changed it may not run: {}", hopeless.reason);
        return Ok(refused(request, said, now, hopeless.method, &reason, None));
    }
    let mut next = changed(request);
    next.edits.push(Edit {
        by: said.approver.clone(),
        at: now,
        changed: input.keys().cloned().collect(),
        diff: host.difference(&request.asked, &asked),
    });
    next.original
        .get_or_insert_with(|| request.asked.input.clone());
    next.asked = asked;
    next.binding = judged.binding;
    next.card = Some(judged.card);
    next.parts = judged.parts;
    next.texts = prepared.texts;
    next.decision = judged.decision;
    next.terms = judged.terms;
    next.display = prepared.display;
    next.context = prepared.context;
    next.checks = prepared.checks;
    // What somebody said yes to is not what would run.
    next.approvals.clear();
    Ok(Step::Again(Box::new(next)))
}

/// The request when nobody answered in time.
pub fn expired(request: &Request, now: UnixMillis) -> Request {
    ended(
        request,
        now,
        State::Expired,
        Method::Timeout,
        "Nobody answered in time",
    )
}

/// The request when whoever asked no longer wants to know.
pub fn withdrawn(request: &Request, now: UnixMillis) -> Request {
    ended(
        request,
        now,
        State::Withdrawn,
        Method::UserDenied,
        WITHDRAWN,
    )
}

fn ended(
    request: &Request,
    now: UnixMillis,
    state: State,
    method: Method,
    reason: &str,
) -> Request {
    let mut next = changed(request);
    next.state = state;
    next.settled = Some(Settled {
        at: now,
        method,
        reason: reason.to_owned(),
        comment: None,
        approvers: Vec::new(),
    });
    next
}

/// What becomes of a call that waits when its session remembers something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covered {
    /// It is released along with the call that was answered.
    Released,
    /// It would be, but what is of critical risk is looked at by itself.
    TooRisky,
    /// It is refused.
    Refused,
    /// It waits as before.
    No,
}

/// What becomes of a call that waits, now that it is judged so.
pub fn covered(request: &Request, judged: &Judged) -> Covered {
    match judged.decision.verdict {
        // The risk a person was shown: what allows a call now knows of none.
        // And what needs a signature has one of its own.
        Verdict::Allow | Verdict::Notify
            if request.decision.risk >= Risk::Critical
                || request.terms.presence >= Presence::Code =>
        {
            Covered::TooRisky
        }
        Verdict::Allow | Verdict::Notify => Covered::Released,
        // Whoever waits was told to: nobody puts it into a sandbox now.
        Verdict::Contain | Verdict::Ask | Verdict::Review => Covered::No,
        Verdict::Deny => Covered::Refused,
    }
}

/// The request when it is judged anew, because its session has changed; none if it still waits.
pub fn reconsidered(request: &Request, judged: &Judged, now: UnixMillis) -> Option<Request> {
    let decision = &judged.decision;
    let state = match covered(request, judged) {
        Covered::Released => State::Released,
        Covered::Refused => State::Refused,
        Covered::TooRisky | Covered::No => return None,
    };
    let mut next = ended(request, now, state, decision.method, &decision.reason);
    // Nobody looked at what was shown: only what was judged now is released.
    next.binding.clone_from(&judged.binding);
    next.card = Some(judged.card.clone());
    next.parts.clone_from(&judged.parts);
    Some(next)
}

/// A release that somebody takes back before it is used.
pub fn taken_back(request: &Request, approver: &str, now: UnixMillis) -> Request {
    let reason = "The release was taken back before it was used";
    let mut next = ended(request, now, State::Refused, Method::UserDenied, reason);
    if let Some(settled) = &mut next.settled {
        settled.approvers = vec![approver.to_owned()];
    }
    next
}

/// The next version of a request.
fn changed(request: &Request) -> Request {
    Request {
        version: request.version + 1,
        ..request.clone()
    }
}

/// The refusal of a call that is known to fail, or that a check keeps from running: nobody is asked
/// about it.
pub fn hopeless(decision: &Decision, prepared: &Prepared) -> Option<Decision> {
    let (method, reason) = match &prepared.display.pre_validation_error {
        Some(error) => (Method::PreValidation, error.clone()),
        None => {
            let failed = prepared.checks.iter().find(|one| one.status.blocks())?;
            (Method::ToolPolicy, failed.message.clone())
        }
    };
    Some(Decision {
        verdict: Verdict::Deny,
        method,
        reason,
        ..decision.clone()
    })
}
