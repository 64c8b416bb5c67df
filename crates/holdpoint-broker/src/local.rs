//! Holding a call without the daemon: the process that asks also keeps the request, for as long as
//! it lives.

use holdpoint_core::{Method, Verdict};

use crate::answer::{Answer, Said};
use crate::answering::{self, Step, apply};
use crate::channel::{Channel, ChannelError, Turn, Waiting};
use crate::request::{Asked, Request, Settled, State};
use crate::resolution::Told;
use crate::time::Moment;
use crate::world::{Event, Judged, Problem, World};

/// How often a person is asked again after an answer that has no effect.
const MOST_TRIES: usize = 50;

/// Holds a call until a person has answered through `channel`, or nobody has. Everything that comes
/// of it is on record when this returns; a release is used by it.
pub fn hold(
    world: &dyn World,
    channel: &mut dyn Channel,
    asked: &Asked,
    judged: Judged,
    cancelled: &dyn Fn() -> bool,
) -> Result<Told, Problem> {
    let told = held(world, channel, asked, judged, cancelled);
    // Not before: whoever is next is judged by what this answer left.
    channel.end_turn();
    told
}

fn held(
    world: &dyn World,
    channel: &mut dyn Channel,
    asked: &Asked,
    judged: Judged,
    cancelled: &dyn Fn() -> bool,
) -> Result<Told, Problem> {
    let started = Moment::now();
    let expires = judged.terms.expiry(started);
    let waiting = |now: Moment| Waiting {
        limit: expires.map(|expires| now.until(expires)),
        cancelled,
    };
    let (turn, judged) = match channel.take_turn(&waiting(started)) {
        Ok(Turn::AtOnce) => (None, judged),
        Ok(Turn::AfterOthers) => (None, world.judge(asked)?),
        Err(error) => (Some(error), judged),
    };
    if !matches!(judged.decision.verdict, Verdict::Ask | Verdict::Review) {
        return decided(world, asked, &judged.decision);
    }
    let prepared = world.prepare(asked, &judged)?;
    if let Some(refusal) = answering::hopeless(&judged.decision, &prepared) {
        return decided(world, asked, &refusal);
    }
    let mut request = Request::opened(asked, judged, prepared, started)?;
    world.record(Event::Opened(&request))?;
    if let Some(error) = turn {
        return ended(world, request, error);
    }
    for _ in 0..MOST_TRIES {
        let said = match channel.ask(&request, &waiting(Moment::now())) {
            Ok(said) => said,
            Err(error) => return ended(world, request, error),
        };
        match apply(&request, &said, world, Moment::now())? {
            Step::NoEffect(reason) => {
                if request.expires.is_some_and(|at| at <= Moment::now()) {
                    return ended(world, request, ChannelError::Timeout);
                }
                channel.told(&request, &reason);
            }
            Step::Settled(next, memory) => {
                if let Some(memory) = &memory {
                    world.remember(&request.asked, memory, &said.approver)?;
                }
                answered(world, &next, &said)?;
                return finished(world, &next);
            }
            Step::Counted(next) | Step::Again(next) => {
                answered(world, &next, &said)?;
                if !matches!(said.answer, Answer::Edit { .. }) {
                    channel.told(&next, "others must say yes, too");
                }
                request = *next;
            }
        }
    }
    let error = ChannelError::Refused("No answer had an effect".into());
    ended(world, request, error)
}

fn answered(world: &dyn World, request: &Request, said: &Said) -> Result<(), Problem> {
    world.record(Event::Answered {
        request,
        approver: &said.approver,
        answer: said.answer.word(),
    })
}

fn decided(
    world: &dyn World,
    asked: &Asked,
    decision: &holdpoint_core::Decision,
) -> Result<Told, Problem> {
    world.record(Event::Judged { asked, decision })?;
    Ok(Told::decided(decision))
}

/// The end of a request that a channel could not get answered.
fn ended(world: &dyn World, request: Request, error: ChannelError) -> Result<Told, Problem> {
    let now = Moment::now();
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
            world.record(Event::Expired(&next))?;
            next
        }
        ChannelError::Cancelled => {
            let next = answering::withdrawn(&request, now);
            world.record(Event::Withdrawn(&next))?;
            next
        }
        ChannelError::Refused(reason) => {
            let next = refused(Method::UserDenied, reason);
            world.record(Event::Answered {
                request: &next,
                approver: "",
                answer: "no",
            })?;
            next
        }
        ChannelError::Unusable(reason) => {
            let next = refused(Method::NoChannel, reason);
            world.record(Event::Withdrawn(&next))?;
            next
        }
    };
    finished(world, &next)
}

fn finished(world: &dyn World, request: &Request) -> Result<Told, Problem> {
    if request.state == State::Released {
        world.record(Event::Used(request))?;
    }
    Told::of(request).ok_or_else(|| Problem("the request is not settled".into()))
}
