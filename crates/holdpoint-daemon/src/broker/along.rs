//! What an answer would release besides the call it is given to, said before it is given; and taking a release back that
//! nobody has used.

use holdpoint_broker::answer::{Answer, Evidence};
use holdpoint_broker::answering::{self, Covered};
use holdpoint_broker::host::{Event, Memory, Problem};
use holdpoint_broker::request::{Request, State};
use holdpoint_broker::time::UnixMillis;
use holdpoint_core::Risk;

use super::store::Updated;
use super::{Answered, Broker, ChangeKind, Outcome, Somebody};

/// What becomes of the other calls that wait, if an answer is given.
#[derive(Clone, Debug, Default)]
pub struct Along {
    /// They are released by it.
    pub released: Vec<Request>,
    /// It covers them, and they wait on all the same: their risk is critical.
    pub kept: Vec<Request>,
}

impl Broker {
    /// What an answer to a request would release besides it. Nothing changes by asking.
    pub fn along(&self, id: &str, answer: &Answer) -> Result<Along, Problem> {
        let Some(request) = self.find(id)? else {
            return Err(Problem(format!("there is no request `{id}`")));
        };
        let mut along = Along::default();
        let Some(memory) = answering::memory_of(&request, answer).map_err(Problem)? else {
            return Ok(along);
        };
        let session = request.asked.session.as_str();
        let waiting = self.requests().store.pending_of_session(session)?;
        for other in waiting.into_iter().filter(|other| other.id != id) {
            // One that cannot be judged now is not released by an answer, either.
            let Ok(judged) = self.inner.host.judge_remembering(&other.asked, &memory) else {
                continue;
            };
            let suspends = matches!(memory, Memory::All | Memory::Turn | Memory::Idle);
            match answering::covered(&other, &judged) {
                Covered::Released => along.released.push(other),
                Covered::TooRisky => along.kept.push(other),
                // A suspension does not even reach it.
                Covered::No if suspends && other.decision.risk >= Risk::Critical => {
                    along.kept.push(other);
                }
                Covered::Refused | Covered::No => {}
            }
        }
        Ok(along)
    }

    /// Takes a release back that nobody has used: the call is refused.
    pub fn take_back(
        &self,
        id: &str,
        person: &Somebody<'_>,
        evidence: &Evidence,
        now: UnixMillis,
    ) -> Result<Answered, Problem> {
        let mut requests = self.requests();
        let Some(kept) = requests.store.find(id)? else {
            return Ok(Answered {
                outcome: Outcome::NoEffect(format!("there is no request `{id}`")),
                request: None,
            });
        };
        let no_effect = |reason: &str| {
            Ok(Answered {
                outcome: Outcome::NoEffect(reason.into()),
                request: Some(kept.request.clone()),
            })
        };
        if kept.request.state != State::Released {
            return no_effect("it is not released, so nothing can be taken back");
        }
        if kept.told.is_some() {
            return no_effect("its agent was told already, and the call runs or has run");
        }
        if !person.may_answer(&kept.request) {
            return no_effect("only who may answer it takes a release back");
        }
        let next = answering::taken_back(&kept.request, person.name, now);
        let event = || {
            self.inner.host.record(Event::Answered {
                request: &next,
                approver: person.name,
                answer: "undo",
                evidence: Some(evidence),
            })
        };
        if requests.store.revoke(&next, event)? == Updated::Overtaken {
            return no_effect("its agent was told this moment");
        }
        self.inner.host.burn(&next.nonces);
        self.tell_all(ChangeKind::Settled, next.clone());
        Ok(Answered {
            outcome: Outcome::Settled,
            request: Some(next),
        })
    }
}
