//! The one place where requests change: opened by a caller, answered by a person, expired by time,
//! used once.
//!
//! Every change is recorded in the ledger and committed to the store before anybody hears of it.
//! Callers that wait are only told; one that went away asks again and finds what came meanwhile.

mod along;
mod store;

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use holdpoint_broker::answer::{Evidence, SignedAnswer};
use holdpoint_broker::answering::{self, Step, apply};
use holdpoint_broker::host::{BrokerHost, Event, Judged, Problem, Unsure};
use holdpoint_broker::request::{CallContext, Request, State, Warned};
use holdpoint_broker::resolution::Resolution;
use holdpoint_broker::time::UnixMillis;
use holdpoint_core::{Decision, Verdict};
use holdpoint_proof::Pins;
use tokio::sync::{broadcast, oneshot};

pub use self::along::Along;
use self::store::{Kept, Store, Updated, is_final};

/// How long an answer that nobody was there to hear still counts for the identical call.
const ANSWER_LASTS: Duration = Duration::from_secs(15 * 60);

/// The most requests that wait at once; more are refused, so that a caller run wild fills no disk.
const MAX_PENDING: usize = 5000;

/// The most offers to let a contained call run outside that wait at once: nobody needs their answer, and a person looks at no
/// more. Further calls are told of the other ways out.
const MAX_OFFERED: usize = 50;

/// The most things a contained call was refused that are shown with its offer: more have one cause.
const MAX_REFUSED: usize = 5;

/// The most characters of each: as long as a path can be.
const MAX_REFUSED_LENGTH: usize = 4096;

/// How many changes a slow listener may be behind; then a page is sent everything anew, and a caller asks again.
const MAX_BEHIND: usize = 2048;

/// Keeps the requests of one user.
#[derive(Clone)]
pub struct Broker {
    inner: Arc<Inner>,
}

struct Inner {
    host: Arc<dyn BrokerHost>,
    kept: Mutex<Requests>,
    changes: broadcast::Sender<Arc<Change>>,
}

struct Requests {
    store: Store,
    /// The callers that wait, by request.
    waiting: HashMap<String, Caller>,
    pending: usize,
}

struct Caller {
    nonce: String,
    tell: oneshot::Sender<Resolution>,
}

/// What comes of asking.
#[derive(Debug)]
pub enum Held {
    /// It is decided.
    Resolved(Resolution),
    /// It waits for a person.
    Waiting {
        /// The request.
        id: String,
        /// When it expires.
        expires: Option<UnixMillis>,
        /// Where the caller is told.
        answer: oneshot::Receiver<Resolution>,
    },
}

/// Something that changed.
#[derive(Clone, Debug)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The request as it is now.
    pub request: Request,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Opened,
    /// It still waits, but is not what it was.
    Changed,
    /// It is settled.
    Settled,
}

/// What came of an answer.
#[derive(Clone, Debug)]
pub struct Answered {
    /// What it did.
    pub outcome: Outcome,
    /// The request as it is now; none if there is no such request.
    pub request: Option<Request>,
}

/// What an answer did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The request is settled by it.
    Settled,
    /// It counts; others must say yes, too.
    Counted,
    /// The arguments are others now; the person is asked again. Or there is more time.
    Again,
    /// Nothing, for this reason.
    NoEffect(String),
}

/// Which settled requests to show, the newest first.
#[derive(Clone, Debug)]
pub struct HistoryQuery {
    /// Those settled before.
    pub before: Option<UnixMillis>,
    /// So many.
    pub limit: usize,
    /// Those with this in their words.
    pub text: Option<String>,
    /// Those somebody answered whose name has this in it.
    pub approver: Option<String>,
    /// Those of a session.
    pub session: Option<String>,
    /// Those that ended so.
    pub outcome: Option<State>,
    /// Those a rule asked about whose id has this in it.
    pub rule: Option<String>,
}

/// Somebody, by the channel's authentication.
#[derive(Clone, Copy, Debug)]
pub struct Somebody<'a> {
    /// Their name.
    pub name: &'a str,
    /// Who asked them to stand in for them.
    pub on_behalf_of: &'a [String],
}

impl Somebody<'_> {
    fn may_answer(&self, request: &Request) -> bool {
        let may = &request.terms.approvers;
        let named = |name: &str| may.iter().any(|one| one == name);
        may.is_empty() || named(self.name) || self.on_behalf_of.iter().any(|one| named(one))
    }
}

impl Broker {
    /// Opens the requests kept in `database`, which only its owner can read.
    pub fn open(database: &Path, host: Arc<dyn BrokerHost>) -> Result<Self, Problem> {
        make_private(database)?;
        let store = Store::open(database)?;
        let pending = store.pending()?.len();
        Ok(Self {
            inner: Arc::new(Inner {
                host,
                kept: Mutex::new(Requests {
                    store,
                    waiting: HashMap::new(),
                    pending,
                }),
                changes: broadcast::Sender::new(MAX_BEHIND),
            }),
        })
    }

    /// What changes from now on.
    pub fn events(&self) -> broadcast::Receiver<Arc<Change>> {
        self.inner.changes.subscribe()
    }

    /// The requests that wait, the oldest first.
    pub fn pending(&self) -> Result<Vec<Request>, Problem> {
        self.requests().store.pending()
    }

    /// One request.
    pub fn find(&self, id: &str) -> Result<Option<Request>, Problem> {
        Ok(self.requests().store.find(id)?.map(|kept| kept.request))
    }

    /// Settled requests, the newest first.
    pub fn history(&self, query: &HistoryQuery) -> Result<Vec<Request>, Problem> {
        self.requests().store.history(query)
    }

    /// Signs what has been on record unsigned for `age`.
    pub fn sign_record(&self, age: Duration) -> Result<(), Problem> {
        self.inner.host.sign_record(age)
    }

    /// When the next request expires.
    pub fn next_expiry(&self) -> Result<Option<UnixMillis>, Problem> {
        self.requests().store.next_expiry()
    }

    /// Holds a call for a caller, known by its `nonce`. One that asked before and lost the
    /// connection names the request it was told of; without it the identical call finds what came
    /// meanwhile, or the request that waits with nobody waiting for it.
    pub fn hold(
        &self,
        asked: &CallContext,
        nonce: &str,
        before: Option<&str>,
        now: UnixMillis,
    ) -> Result<Held, Problem> {
        if let Some(id) = before
            && let Some(held) = self.resume(id, asked, nonce, now)?
        {
            return Ok(held);
        }
        let judged = self.inner.host.judge(asked)?;
        match judged.decision.verdict {
            Verdict::Contain | Verdict::Ask | Verdict::Review => {}
            Verdict::Allow | Verdict::Notify | Verdict::Deny => {
                return self.decided(asked, &judged.decision);
            }
        }
        if let Some(held) = self.identical(&judged, nonce, now)? {
            return Ok(held);
        }
        let prepared = self.inner.host.prepare(asked, &judged)?;
        if let Some(decision) = answering::hopeless(&judged.decision, &prepared) {
            return self.decided(asked, &decision);
        }
        let request = Request::opened(asked, judged, prepared, now)?;
        self.opened(request, nonce)
    }

    /// Opens a request for a call that ran inside the sandbox and was refused something there; its id. Nobody waits for it: who
    /// makes the identical call again after a person's yes finds that ([`Broker::claim`]), and it runs outside, once.
    pub fn offer(
        &self,
        asked: &CallContext,
        refused: &[String],
        now: UnixMillis,
    ) -> Result<(String, Option<UnixMillis>), Problem> {
        let mut judged = self.inner.host.judge(asked)?;
        match judged.decision.verdict {
            Verdict::Contain | Verdict::Ask => {}
            // What runs or is refused by itself needs nobody, and what is to be reviewed was never contained.
            Verdict::Allow | Verdict::Notify | Verdict::Review | Verdict::Deny => {
                return Err(Problem("nobody is asked about this call".into()));
            }
        }
        // Suspending questions lets nothing out of the sandbox.
        judged.terms.suspendable = false;
        let mut prepared = self.inner.host.prepare(asked, &judged)?;
        if answering::hopeless(&judged.decision, &prepared).is_some() {
            return Err(Problem("a check refuses this call".into()));
        }
        prepared.display.warnings.push(Warned {
            level: "info".into(),
            text: "It ran inside the sandbox. A yes lets it run outside, once, if the agent makes the identical call again."
                .into(),
        });
        let refused = refused.iter().take(MAX_REFUSED).map(|text| Warned {
            level: "warning".into(),
            text: format!(
                "The sandbox refused it: {}",
                text.chars().take(MAX_REFUSED_LENGTH).collect::<String>()
            ),
        });
        prepared.display.warnings.extend(refused);
        let mut request = Request::opened(asked, judged, prepared, now)?;
        let until = now.after(ANSWER_LASTS);
        request.expires = Some(request.expires.map_or(until, |expires| expires.min(until)));
        request.offered = true;
        let mut requests = self.requests();
        let same = requests.store.of_origin(&request.origin, now)?;
        if let Some(kept) = same.iter().find(|kept| !is_final(kept.request.state)) {
            return Ok((kept.request.id.clone(), kept.request.expires));
        }
        let pending = requests.store.pending()?;
        let offered = pending.iter().filter(|request| request.offered).count();
        if offered >= MAX_OFFERED || pending.len() >= MAX_PENDING {
            return Err(Problem(format!("{offered} such calls wait already")));
        }
        requests
            .store
            .insert(&request, || self.inner.host.record(Event::Opened(&request)))?;
        requests.pending += 1;
        let offer = (request.id.clone(), request.expires);
        self.tell_all(ChangeKind::Opened, request);
        Ok(offer)
    }

    /// A person's yes to a call that would run inside the sandbox, used by asking for it; none if nobody gave one. A no leaves
    /// the call where it is, inside.
    pub fn claim(
        &self,
        asked: &CallContext,
        nonce: &str,
        now: UnixMillis,
    ) -> Result<Option<Resolution>, Problem> {
        let judged = self.inner.host.judge(asked)?;
        let mut requests = self.requests();
        let same = requests.of_call(&judged, still_counts(now))?;
        for kept in same {
            let is_free = kept.told.is_none() && kept.request.state == State::Released;
            if is_free && self.note_told(&mut requests, &kept.request, nonce)? {
                return Ok(Resolution::from_request(&kept.request));
            }
        }
        Ok(None)
    }

    /// Says what was decided without asking anybody, once that is on record.
    fn decided(&self, asked: &CallContext, decision: &Decision) -> Result<Held, Problem> {
        self.inner.host.record(Event::Judged { asked, decision })?;
        Ok(Held::Resolved(Resolution::decided(decision)))
    }

    fn opened(&self, request: Request, nonce: &str) -> Result<Held, Problem> {
        let mut requests = self.requests();
        if requests.pending >= MAX_PENDING {
            return Err(Problem(format!(
                "{MAX_PENDING} calls wait already: answer some of them first"
            )));
        }
        requests
            .store
            .insert(&request, || self.inner.host.record(Event::Opened(&request)))?;
        requests.pending += 1;
        let answer = requests.wait(&request.id, nonce);
        let (id, expires) = (request.id.clone(), request.expires);
        self.tell_all(ChangeKind::Opened, request);
        drop(requests);
        Ok(Held::Waiting {
            id,
            expires,
            answer,
        })
    }

    /// Takes a request up again that its caller was told of. It is not judged anew for that: it is
    /// when somebody answers, and before it runs. So a daemon that starts again has all its callers
    /// back at once.
    fn resume(
        &self,
        id: &str,
        asked: &CallContext,
        nonce: &str,
        now: UnixMillis,
    ) -> Result<Option<Held>, Problem> {
        let mut requests = self.requests();
        let Some(kept) = requests.store.find(id)? else {
            return Ok(None);
        };
        let mine = kept.told.as_deref().is_none_or(|told| told == nonce);
        if !kept.request.is_about(asked) || !mine {
            return Ok(None);
        }
        self.take_up(&mut requests, kept, nonce, now)
    }

    /// Takes up what is left of an identical call before: an answer nobody was there to hear, or a
    /// request nobody waits for any more.
    fn identical(
        &self,
        judged: &Judged,
        nonce: &str,
        now: UnixMillis,
    ) -> Result<Option<Held>, Problem> {
        let mut requests = self.requests();
        for kept in requests.of_call(judged, still_counts(now))? {
            let taken = match &kept.told {
                Some(told) => told != nonce,
                None => requests
                    .waiting
                    .get(&kept.request.id)
                    .is_some_and(|caller| caller.nonce != nonce && !caller.tell.is_closed()),
            };
            // What expired, or was withdrawn, is asked about anew.
            let over = matches!(kept.request.state, State::Expired | State::Withdrawn);
            if taken || (over && kept.told.is_none()) {
                continue;
            }
            if let Some(held) = self.take_up(&mut requests, kept, nonce, now)? {
                return Ok(Some(held));
            }
        }
        Ok(None)
    }

    fn take_up(
        &self,
        requests: &mut Requests,
        kept: Kept,
        nonce: &str,
        now: UnixMillis,
    ) -> Result<Option<Held>, Problem> {
        let request = kept.request;
        if !is_final(request.state) {
            if request.expires.is_some_and(|expires| expires <= now) {
                // Due, and about to be told of by the one who looks after that.
                return Ok(None);
            }
            let answer = requests.wait(&request.id, nonce);
            return Ok(Some(Held::Waiting {
                id: request.id,
                expires: request.expires,
                answer,
            }));
        }
        let Some(told) = Resolution::from_request(&request) else {
            return Ok(None);
        };
        if kept.told.is_none() && !self.note_told(requests, &request, nonce)? {
            return Ok(None);
        }
        Ok(Some(Held::Resolved(told)))
    }

    /// Notes that a caller is told; a release is used by that. False if another one was before.
    fn note_told(
        &self,
        requests: &mut Requests,
        request: &Request,
        nonce: &str,
    ) -> Result<bool, Problem> {
        requests
            .store
            .tell(&request.id, nonce, || self.record_use(request))
    }

    /// A release is used by telling of it.
    fn record_use(&self, request: &Request) -> Result<(), Problem> {
        match request.state {
            State::Released => self.inner.host.record(Event::Used(request)),
            State::Pending | State::Refused | State::Expired | State::Withdrawn => Ok(()),
        }
    }

    /// Answers a request.
    pub fn answer(
        &self,
        id: &str,
        said: &SignedAnswer,
        now: UnixMillis,
    ) -> Result<Answered, Problem> {
        let said = answering::as_signed(said);
        let said = said.as_ref();
        // Judging anew may take a while, and others need not wait for it: what was judged counts if
        // nobody was faster.
        for _ in 0..8 {
            let Some(request) = self.find(id)? else {
                return Ok(Answered {
                    outcome: Outcome::NoEffect(format!("there is no request `{id}`")),
                    request: None,
                });
            };
            let step = apply(&request, said, self.inner.host.as_ref(), now)?;
            let (outcome, next, memory) = match step {
                Step::NoEffect(reason) => {
                    return Ok(Answered {
                        outcome: Outcome::NoEffect(reason),
                        request: Some(request),
                    });
                }
                Step::Settled(next, memory) => (Outcome::Settled, next, memory),
                Step::Counted(next) => (Outcome::Counted, next, None),
                Step::Again(next) => (Outcome::Again, next, None),
            };
            let stored = self.store(*next, || {
                if let Some(memory) = &memory {
                    self.inner
                        .host
                        .remember(&request.asked, memory, &said.approver)?;
                }
                Ok(Heard {
                    approver: &said.approver,
                    answer: said.answer.as_str(),
                    evidence: Some(&said.evidence),
                })
            })?;
            if let Some(next) = stored {
                if memory.is_some() {
                    self.reconsider(&next, said, now)?;
                }
                return Ok(Answered {
                    outcome,
                    request: Some(next),
                });
            }
        }
        Err(Problem(format!(
            "the request `{id}` changes too fast: try again"
        )))
    }

    /// What somebody is to sign to let a request run.
    pub fn statement(&self, id: &str, approver: &str, now: UnixMillis) -> Result<String, Problem> {
        let request = self.find(id)?;
        let request = request.filter(|request| request.state == State::Pending);
        let request = request.ok_or_else(|| Problem(format!("no request `{id}` waits")))?;
        self.inner.host.statement(&request, approver, now)
    }

    /// The keys that count.
    pub fn pins(&self) -> Result<Pins, Problem> {
        self.inner.host.pins()
    }

    /// Gives a request more time.
    pub fn extend(
        &self,
        id: &str,
        seconds: u64,
        person: &Somebody<'_>,
        evidence: &Evidence,
        now: UnixMillis,
    ) -> Result<Answered, Problem> {
        for _ in 0..8 {
            let Some(request) = self.find(id)? else {
                return Ok(Answered {
                    outcome: Outcome::NoEffect(format!("there is no request `{id}`")),
                    request: None,
                });
            };
            let no_effect = |reason: &str| Answered {
                outcome: Outcome::NoEffect(reason.into()),
                request: Some(request.clone()),
            };
            let Some(expires) = request.expires else {
                return Ok(no_effect("it waits until it is answered"));
            };
            if is_final(request.state) || expires <= now {
                return Ok(no_effect("it is settled already, or has expired"));
            }
            if !person.may_answer(&request) {
                return Ok(no_effect("only who may answer it gives it more time"));
            }
            if let Err(Unsure(reason)) = self.inner.host.seated(&request, evidence) {
                return Ok(no_effect(&reason));
            }
            let next = Request {
                expires: Some(expires.after(Duration::from_secs(seconds.min(MAX_EXTENSION)))),
                version: request.version + 1,
                ..request.clone()
            };
            if let Some(next) = self.store(next, || Ok(Heard::more_time(person)))? {
                return Ok(Answered {
                    outcome: Outcome::Again,
                    request: Some(next),
                });
            }
        }
        Err(Problem(format!(
            "the request `{id}` changes too fast: try again"
        )))
    }

    /// Withdraws a request, for the caller that waits for it, who is told so; none if it is settled
    /// already, or another caller waits for it.
    pub fn withdraw(
        &self,
        id: &str,
        nonce: &str,
        now: UnixMillis,
    ) -> Result<Option<Resolution>, Problem> {
        self.withdraw_from(id, now, Some(nonce), |caller| caller.nonce == nonce)
    }

    /// Withdraws a request whose caller went away without a word, as one does that is killed; false if
    /// it has come back, somebody else waits for it by now, or it is settled.
    pub fn abandon(&self, id: &str, nonce: &str, now: UnixMillis) -> Result<bool, Problem> {
        let gone = |caller: &Caller| caller.nonce == nonce && caller.tell.is_closed();
        Ok(self.withdraw_from(id, now, None, gone)?.is_some())
    }

    /// Withdraws a request if the caller it is kept for is the one that is meant, and notes who is told so.
    fn withdraw_from(
        &self,
        id: &str,
        now: UnixMillis,
        told: Option<&str>,
        is_meant: impl FnOnce(&Caller) -> bool,
    ) -> Result<Option<Resolution>, Problem> {
        let mut requests = self.requests();
        let theirs = requests.waiting.get(id).is_some_and(is_meant);
        let Some(Kept { request, .. }) = requests.store.find(id)?.filter(|_| theirs) else {
            return Ok(None);
        };
        if is_final(request.state) {
            return Ok(None);
        }
        let next = answering::withdrawn(&request, now);
        let withdrawn = || self.inner.host.record(Event::Withdrawn(&next));
        let updated = requests.store.update(&next, told, withdrawn)?;
        if updated == Updated::Overtaken {
            return Ok(None);
        }
        requests.pending = requests.pending.saturating_sub(1);
        requests.waiting.remove(id);
        // What somebody has signed of it counts for nothing any more.
        self.inner.host.burn(&next.nonces);
        let resolution = Resolution::from_request(&next);
        self.tell_all(ChangeKind::Settled, next);
        Ok(resolution)
    }

    /// Refuses what nobody answered in time. One request that cannot be settled keeps no other from
    /// it; it stays pending and is tried again.
    pub fn expire_due(&self, now: UnixMillis) -> Result<usize, Problem> {
        let due = self.requests().store.due(now)?;
        let mut settled = 0;
        let mut trouble = None;
        for request in due {
            let next = answering::expired(&request, now);
            match self.settle(&next, || Ok(Event::Expired(&next))) {
                Ok(stored) => settled += usize::from(stored),
                Err(problem) => trouble = Some(problem),
            }
        }
        match trouble {
            Some(problem) => Err(problem),
            None => Ok(settled),
        }
    }

    /// Forgets what nobody needs any more: the arguments of what was settled a while ago, and the
    /// oldest requests.
    pub fn tidy(&self, now: UnixMillis) -> Result<(), Problem> {
        self.requests().store.tidy(still_counts(now))
    }

    /// Judges anew what waits in a session that remembers something new, so that an answer releases
    /// (or refuses) everything it covers (J-45).
    fn reconsider(
        &self,
        answered: &Request,
        said: &SignedAnswer,
        now: UnixMillis,
    ) -> Result<(), Problem> {
        let session = answered.asked.session.as_str();
        let waiting = self.requests().store.pending_of_session(session)?;
        for request in waiting {
            // One that cannot be judged or recorded now waits on; the answer that was given stands.
            let Ok(judged) = self.inner.host.judge(&request.asked) else {
                continue;
            };
            let Some(mut next) = answering::reconsidered(&request, &judged, now) else {
                continue;
            };
            if let Some(settled) = &mut next.settled {
                settled.approvers = vec![said.approver.clone()];
            }
            let _ = self.settle(&next, || {
                Ok(Event::Answered {
                    request: &next,
                    approver: &said.approver,
                    answer: said.answer.as_str(),
                    evidence: Some(&said.evidence),
                })
            });
        }
        Ok(())
    }

    /// Stores the next version of a request that a person changed, recorded first; none if another
    /// change was faster.
    fn store<'a>(
        &self,
        next: Request,
        answered: impl FnOnce() -> Result<Heard<'a>, Problem>,
    ) -> Result<Option<Request>, Problem> {
        let stored = self.settle(&next, || {
            let Heard {
                approver,
                answer,
                evidence,
            } = answered()?;
            Ok(Event::Answered {
                request: &next,
                approver,
                answer,
                evidence,
            })
        })?;
        Ok(stored.then_some(next))
    }

    /// Stores the next version of a request, recorded first as the event, and tells the caller that waits
    /// and everybody who watches; false if another change was faster. A release that somebody waits for
    /// is used by that, and recorded as used in the same step.
    fn settle<'e>(
        &self,
        next: &'e Request,
        event: impl FnOnce() -> Result<Event<'e>, Problem>,
    ) -> Result<bool, Problem> {
        let mut requests = self.requests();
        let over = is_final(next.state);
        let told = Resolution::from_request(next).filter(|_| over);
        let caller = requests.waiting.get(&next.id);
        let caller = caller.filter(|caller| told.is_some() && !caller.tell.is_closed());
        let nonce = caller.map(|caller| caller.nonce.clone());
        let host = &self.inner.host;
        let is_used = nonce.is_some() && next.state == State::Released;
        let record = || match is_used {
            true => host.record_both(event()?, Event::Used(next)),
            false => host.record(event()?),
        };
        let updated = requests.store.update(next, nonce.as_deref(), record)?;
        if updated == Updated::Overtaken {
            return Ok(false);
        }
        if !over {
            self.tell_all(ChangeKind::Changed, next.clone());
            return Ok(true);
        }
        if next.state != State::Released {
            host.burn(&next.nonces);
        }
        requests.pending = requests.pending.saturating_sub(1);
        if let Some(caller) = requests.waiting.remove(&next.id)
            && nonce.is_some()
            && let Some(told) = told
        {
            // If it has gone away this moment its release is lost, never used twice.
            let _ = caller.tell.send(told);
        }
        self.tell_all(ChangeKind::Settled, next.clone());
        Ok(true)
    }

    fn tell_all(&self, kind: ChangeKind, request: Request) {
        // Nobody may be watching.
        let _ = self.inner.changes.send(Arc::new(Change { kind, request }));
    }

    /// A thread that panicked left the store as its last transaction did.
    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.inner
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who said what, and how that came.
struct Heard<'a> {
    approver: &'a str,
    answer: &'a str,
    evidence: Option<&'a Evidence>,
}

impl<'a> Heard<'a> {
    fn more_time(person: &Somebody<'a>) -> Self {
        Self {
            approver: person.name,
            answer: "extend",
            evidence: None,
        }
    }
}

impl Requests {
    /// What is left of identical calls; also of those a version kept that did not bind the card.
    fn of_call(&self, judged: &Judged, since: UnixMillis) -> Result<Vec<Kept>, Problem> {
        let mut same = self.store.of_origin(&judged.binding, since)?;
        let former = self.store.of_origin(&judged.former, since)?;
        same.extend(
            former
                .into_iter()
                .filter(|kept| kept.request.card.is_none()),
        );
        Ok(same)
    }

    fn wait(&mut self, id: &str, nonce: &str) -> oneshot::Receiver<Resolution> {
        let (tell, answer) = oneshot::channel();
        let caller = Caller {
            nonce: nonce.to_owned(),
            tell,
        };
        self.waiting.insert(id.to_owned(), caller);
        answer
    }
}

/// What was settled since then still counts for an identical call.
fn still_counts(now: UnixMillis) -> UnixMillis {
    let lasts = u64::try_from(ANSWER_LASTS.as_millis()).unwrap_or(u64::MAX);
    UnixMillis(now.0.saturating_sub(lasts))
}

/// The most seconds one extension adds, a day: a call nobody answers by then is a call of another day. More is taken for this.
const MAX_EXTENSION: u64 = 24 * 60 * 60;

/// Makes the database's directory, and the database itself, for its owner alone.
fn make_private(database: &Path) -> Result<(), Problem> {
    let fail = |error: std::io::Error| {
        Problem(format!(
            "{}: cannot be made for its owner alone ({}): check the directory",
            database.display(),
            error.kind()
        ))
    };
    let mut directory = fs::DirBuilder::new();
    let mut file = fs::OpenOptions::new();
    directory.recursive(true);
    file.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = database.parent() {
        directory.create(parent).map_err(fail)?;
    }
    file.open(database).map(drop).map_err(fail)
}
