//! Which questions were answered: holds and their answers, matched by session and call.

use std::collections::{HashMap, VecDeque};

use holdpoint_core::Verdict;
use holdpoint_ledger::{Kind, Record, Timestamp};

/// The most questions that wait for their answer at once; the oldest are then given up.
const MAX_OPEN: usize = 4096;

/// A question nobody has answered yet.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// When the call was judged.
    pub(super) asked: Timestamp,
    /// When it was put to a person.
    held: Option<Timestamp>,
    /// What it was about, for suggestions.
    pub(super) subject: Option<Subject>,
}

/// The group and the line a question belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) group: String,
    pub(super) line: String,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Approved,
    Refused,
    Expired,
}

/// An answered question.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) ending: Ending,
    pub(super) open: Open,
    /// How long a person took, if it is known when they were asked.
    pub(super) took_us: Option<u64>,
}

/// The questions that wait for an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    open: HashMap<String, (u64, Open)>,
    order: VecDeque<(u64, String)>,
    number: u64,
}

impl Asks {
    /// A call was judged and is to be asked about. The same call asked again is another question;
    /// the first then stays without an answer.
    pub(super) fn ask(&mut self, record: &Record, asked: Timestamp, subject: Option<Subject>) {
        let Some(key) = key_of(record) else { return };
        self.number += 1;
        let open = Open {
            asked,
            held: None,
            subject,
        };
        self.open.insert(key.clone(), (self.number, open));
        self.order.push_back((self.number, key));
        while self.order.len() > MAX_OPEN {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((number, key)) = self.order.pop_front()
            && self.open.get(&key).is_some_and(|(held, _)| *held == number)
        {
            self.open.remove(&key);
        }
    }

    /// A call is held for a person from now on.
    pub(super) fn hold(&mut self, record: &Record, time: Timestamp) {
        if let Some(key) = key_of(record)
            && let Some((_, open)) = self.open.get_mut(&key)
        {
            open.held = Some(time);
        }
    }

    /// What a record says about a question, if it ends one: an answer, a release, the end of the
    /// wait, or that the call has run.
    pub(super) fn end(&mut self, record: &Record, time: Timestamp) -> Option<Answered> {
        let ending = match record.kind {
            Kind::HoldAnswered => match record.verdict? {
                Verdict::Allow | Verdict::Notify => Ending::Approved,
                Verdict::Contain | Verdict::Ask | Verdict::Review => return None,
                Verdict::Deny => Ending::Refused,
            },
            Kind::Release | Kind::Result => Ending::Approved,
            Kind::HoldExpired => Ending::Expired,
            Kind::Decision
            | Kind::HoldOpened
            | Kind::TextFinding
            | Kind::PolicyChange
            | Kind::SessionRule
            | Kind::Repair
            | Kind::Checkpoint
            | Kind::Error => return None,
        };
        let (_, open) = self.open.remove(&key_of(record)?)?;
        // A call that has run took its own time besides; an expiry took nobody's.
        let by_person = matches!(record.kind, Kind::HoldAnswered | Kind::Release);
        let took = open.held.filter(|_| by_person).map(|held| time.since(held));
        Some(Answered {
            ending,
            took_us: took.map(|took| u64::try_from(took.as_micros()).unwrap_or(u64::MAX)),
            open,
        })
    }
}

/// Session and call; records without a call belong to no question.
fn key_of(record: &Record) -> Option<String> {
    let call = record.call.as_deref()?;
    let session = record.session.as_deref().unwrap_or_default();
    Some(format!("{call} {session}"))
}
