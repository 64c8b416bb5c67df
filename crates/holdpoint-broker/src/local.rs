//! Holding a call without the daemon: the process that asks also keeps the request, for as long as
//! it lives.

use holdpoint_core::{Method, Verdict};

use crate::answer::{Answer, SignedAnswer};
use crate::answering::{self, Step, apply};
use crate::channel::{Channel, ChannelError, Turn, Waiting};
use crate::host::{BrokerHost, Event, Judged, Problem};
use crate::request::{CallContext, Request, Settled, State};
use crate::resolution::Resolution;
use crate::time::UnixMillis;

/// How often a person is asked again after an answer that has no effect; then the call is refused, since whatever
/// answers is no person.
const MAX_TRIES: usize = 50;

/// Holds a call until a person has answered through `channel`, or nobody has. Everything that comes
/// of it is on record when this returns; a release is used by it.
pub fn hold(
    host: &dyn BrokerHost,
    channel: &mut dyn Channel,
    asked: &CallContext,
    judged: Judged,
    cancelled: &dyn Fn() -> bool,
) -> Result<Resolution, Problem> {
    let told = held(host, channel, asked, judged, cancelled);
    // Not before: whoever is next is judged by what this answer left.
    channel.end_turn();
    told
}

fn held(
    host: &dyn BrokerHost,
    channel: &mut dyn Channel,
    asked: &CallContext,
    judged: Judged,
    cancelled: &dyn Fn() -> bool,
) -> Result<Resolution, Problem> {
    let started = UnixMillis::now();
    let expires = judged.terms.expiry(started);
    let waiting = |now: UnixMillis| Waiting {
        limit: expires.map(|expires| now.until(expires)),
        cancelled,
    };
    let (turn, judged) = match channel.take_turn(&waiting(started)) {
        Ok(Turn::AtOnce) => (None, judged),
        Ok(Turn::AfterOthers) => (None, host.judge(asked)?),
        Err(error) => (Some(error), judged),
    };
    if !matches!(
        judged.decision.verdict,
        Verdict::Contain | Verdict::Ask | Verdict::Review
    ) {
        return decided(host, asked, &judged.decision);
    }
    let prepared = host.prepare(asked, &judged)?;
    if let Some(refusal) = answering::hopeless(&judged.decision, &prepared) {
        return decided(host, asked, &refusal);
    }
    let mut request = Request::opened(asked, judged, prepared, started)?;
    host.record(Event::Opened(&request))?;
    if let Some(error) = turn {
        return ended(host, request, error);
    }
    for _ in 0..MAX_TRIES {
        let said = match channel.ask(&request, &waiting(UnixMillis::now())) {
            Ok(said) => said,
            Err(error) => return ended(host, request, error),
        };
        match apply(&request, &said, host, UnixMillis::now())? {
            Step::NoEffect(reason) => {
                if request.expires.is_some_and(|at| at <= UnixMillis::now()) {
                    return ended(host, request, ChannelError::Timeout);
                }
                channel.told(&request, &reason);
            }
            Step::Settled(next, memory) => {
                if let Some(memory) = &memory {
                    host.remember(&request.asked, memory, &said.approver)?;
                }
                answered(host, &next, &said)?;
                return finished(host, &next);
            }
            Step::Counted(next) | Step::Again(next) => {
                answered(host, &next, &said)?;
                if !matches!(said.answer, Answer::Edit { .. }) {
                    channel.told(&next, "others must say yes, too");
                }
                request = *next;
            }
        }
    }
    let error = ChannelError::Refused("No answer had an effect".into());
    ended(host, request, error)
}

fn answered(host: &dyn BrokerHost, request: &Request, said: &SignedAnswer) -> Result<(), Problem> {
    host.record(Event::Answered {
        request,
        approver: &said.approver,
        answer: said.answer.as_str(),
        evidence: Some(&said.evidence),
    })
}

fn decided(
    host: &dyn BrokerHost,
    asked: &CallContext,
    decision: &holdpoint_core::Decision,
) -> Result<Resolution, Problem> {
    host.record(Event::Judged { asked, decision })?;
    Ok(Resolution::decided(decision))
}

/// The end of a request that a channel could not get answered.
fn ended(
    host: &dyn BrokerHost,
    request: Request,
    error: ChannelError,
) -> Result<Resolution, Problem> {
    let now = UnixMillis::now();
    let refused = |method: Method, reason: String| Request {
        state: State::Refused,
        settled: Some(Settled {
            at: now,
            method,
            reason,
            comment: None,
            approvers: Vec::new(),
        }),
        version: request.version + 1,
        ..request.clone()
    };
    let next = match error {
        ChannelError::Timeout => {
            let next = answering::expired(&request, now);
            host.record(Event::Expired(&next))?;
            next
        }
        ChannelError::Cancelled => {
            let next = answering::withdrawn(&request, now);
            host.record(Event::Withdrawn(&next))?;
            next
        }
        ChannelError::Refused(reason) => {
            let next = refused(Method::UserDenied, reason);
            host.record(Event::Answered {
                request: &next,
                approver: "",
                answer: "no",
                evidence: None,
            })?;
            next
        }
        ChannelError::Broken(reason) => {
            let next = refused(Method::Error, reason);
            host.record(Event::Withdrawn(&next))?;
            next
        }
        ChannelError::Unusable(reason) => {
            let next = refused(Method::NoChannel, reason);
            host.record(Event::Withdrawn(&next))?;
            next
        }
    };
    finished(host, &next)
}

fn finished(host: &dyn BrokerHost, request: &Request) -> Result<Resolution, Problem> {
    if request.state == State::Released {
        host.record(Event::Used(request))?;
    }
    Resolution::from_request(request).ok_or_else(|| Problem("the request is not settled".into()))
}
