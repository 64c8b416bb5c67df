//! What holding a call needs of its host: a judgement, a record, a memory.
//!
//! The program implements it with its policies, sessions and ledger; a test with whatever it likes.

use std::collections::BTreeMap;
use std::time::Duration;

use holdpoint_core::Decision;
use holdpoint_core::policy::Presence;
use holdpoint_proof::Pins;
use serde::{Deserialize, Serialize};

use crate::answer::{Evidence, KeptFor, Scope, SignedAnswer};
use crate::request::{CallContext, CheckResult, Context, Display, ProvedBy, Request, Terms};
use crate::time::UnixMillis;

/// Why something could not be done, in one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Problem(pub String);

/// A call as it is judged now.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What was decided, without secrets.
    pub decision: Decision,
    /// On which terms a person is asked, if one is.
    pub terms: Terms,
    /// The digest of the call, its session, the policy, the files it names as they are now, and the
    /// terms, and the card. A release counts for exactly this.
    pub binding: String,
    /// The digest of the card: what the call itself shows a person, which can be made again from it.
    pub card: String,
    /// The binding as versions made it that did not bind the card.
    pub former: String,
    /// What is bound, part by part, each with a word for its state: so that it can be said what changed.
    pub parts: BTreeMap<String, String>,
}

impl Judged {
    /// Whether a release of this binding and card is for this call as it stands.
    pub fn is_bound_to(&self, binding: &str, card: Option<&str>) -> bool {
        match card {
            Some(card) => binding == self.binding && card == self.card,
            // It was stored by a version that did not bind the card.
            None => binding == self.former,
        }
    }
}

/// That it is sure enough who says yes.
#[derive(Clone, Debug, Default)]
pub struct Vouched {
    /// What proves it, where they signed.
    pub proof: Option<ProvedBy>,
}

/// Why it is not sure enough, in one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsure(pub String);

/// What a person is shown.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The words.
    pub display: Display,
    /// The circumstances, without secrets.
    pub context: Context,
    /// What the checks found.
    pub checks: Vec<CheckResult>,
    /// The texts the call rests on, by the name of their part, without secrets; those that are short enough to be kept.
    pub texts: BTreeMap<String, String>,
}

/// What a session is to remember of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "remember", rename_all = "snake_case")]
pub enum Memory {
    /// Calls like this run without asking.
    Allow {
        /// How far it reaches.
        scope: Scope,
        /// The patterns.
        patterns: Vec<String>,
    },
    /// Calls like this run without asking, in other sessions, too.
    Keep {
        /// How far it reaches.
        scope: Scope,
        /// The patterns.
        patterns: Vec<String>,
        /// Where it is kept.
        place: KeptFor,
    },
    /// Calls like this never run.
    Deny {
        /// How far it reaches.
        scope: Scope,
        /// The patterns.
        patterns: Vec<String>,
    },
    /// Nobody is asked for the rest of the session.
    All,
    /// Nobody is asked until the turn ends.
    Turn,
    /// Nobody is asked until the session is idle.
    Idle,
}

/// Something that must be on record before anybody hears of it.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A call is held.
    Opened(&'a Request),
    /// A person answered. Whether that settles the request, it says itself; for one that does not
    /// (one yes of several, a longer deadline, other arguments) it is still pending.
    Answered {
        /// The request as it stands after the answer.
        request: &'a Request,
        /// Who answered.
        approver: &'a str,
        /// Their answer in one word.
        answer: &'a str,
        /// How it came; none where nobody answered, or only the time changed.
        evidence: Option<&'a Evidence>,
    },
    /// Nobody answered in time.
    Expired(&'a Request),
    /// Whoever asked no longer wants it.
    Withdrawn(&'a Request),
    /// The release is used: the call is about to run.
    Used(&'a Request),
    /// A call was judged anew, and nobody is asked: a rule of its session speaks now, or a check
    /// failed.
    Judged {
        /// What was asked.
        asked: &'a CallContext,
        /// What was decided.
        decision: &'a Decision,
    },
}

/// What holding a call needs of the program around it.
pub trait BrokerHost: Send + Sync {
    /// Judges a call under the policy and the session in force now.
    fn judge(&self, asked: &CallContext) -> Result<Judged, Problem>;

    /// Judges a call as if its session remembered something: what an answer would do is shown before it is given.
    fn judge_remembering(&self, asked: &CallContext, memory: &Memory) -> Result<Judged, Problem>;

    /// Makes what a person is shown of it, and runs the checks that need no permission. It may take
    /// seconds.
    fn prepare(&self, asked: &CallContext, judged: &Judged) -> Result<Prepared, Problem>;

    /// The difference between two versions of the arguments, without secrets.
    fn difference(&self, before: &CallContext, after: &CallContext) -> String;

    /// The texts a call rests on as they are now ([`Prepared::texts`]). A host that knows no files knows none.
    fn texts(&self, _asked: &CallContext) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Puts an event on record. On an error it must not take place.
    fn record(&self, event: Event<'_>) -> Result<(), Problem>;

    /// Puts two events on record, one after the other. On an error neither may take place. A host that
    /// waits for the disk waits once for both.
    fn record_both(&self, first: Event<'_>, second: Event<'_>) -> Result<(), Problem> {
        self.record(first)?;
        self.record(second)
    }

    /// Signs what has been on record unsigned for `age`. A host without a record that is signed has nothing to do.
    fn sign_record(&self, _age: Duration) -> Result<(), Problem> {
        Ok(())
    }

    /// Whether it is sure enough, by the level the request wants, that a person says yes to it. A host that knows no keys is
    /// sure only where nothing is wanted.
    fn vouch(
        &self,
        request: &Request,
        _said: &SignedAnswer,
        _now: UnixMillis,
    ) -> Result<Vouched, Unsure> {
        match request.terms.presence {
            Presence::None => Ok(Vouched::default()),
            Presence::Terminal | Presence::Code | Presence::Key | Presence::Elsewhere => Err(
                Unsure("nothing here can tell whether a person says yes".into()),
            ),
        }
    }

    /// Whether whoever answers by a command may change what is asked, or have it wait longer: it takes no signature, and the
    /// terminal a yes takes. A host that knows no terminals is sure only where nothing is wanted.
    fn seated(&self, request: &Request, _evidence: &Evidence) -> Result<(), Unsure> {
        match request.terms.presence {
            Presence::None => Ok(()),
            Presence::Terminal | Presence::Code | Presence::Key | Presence::Elsewhere => Err(
                Unsure("nothing here can tell whether a person says this".into()),
            ),
        }
    }

    /// Makes what was signed useless, by its nonces: the request was settled otherwise. A host that knows no signatures has nothing
    /// to do.
    fn burn(&self, _nonces: &[String]) {}

    /// What somebody is to sign to let a request run.
    fn statement(
        &self,
        _request: &Request,
        _approver: &str,
        _now: UnixMillis,
    ) -> Result<String, Problem> {
        Err(Problem("nothing can be signed here".into()))
    }

    /// The keys that count.
    fn pins(&self) -> Result<Pins, Problem> {
        Ok(Pins::default())
    }

    /// Has a session remember something; records that first.
    fn remember(&self, asked: &CallContext, memory: &Memory, approver: &str)
    -> Result<(), Problem>;
}
