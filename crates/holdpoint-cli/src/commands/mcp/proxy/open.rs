//! The requests of a client that are not answered yet, and what is to be made of each answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use holdpoint_core::text::Origin;
use holdpoint_engine::pipeline::Permit;
use holdpoint_mcp::jsonrpc::{Id, MAX_LINE};

/// The most requests that may be open at once. A server that never answers costs no more memory than that,
/// and no client has as many questions.
const MAX_OPEN: usize = 1024;

/// The most bytes the calls among them may have together: four of the longest. A call is kept whole until
/// it is answered, since its result is put on record with it.
const MAX_OPEN_BYTES: usize = 4 * MAX_LINE;

/// One request.
pub(super) struct Request {
    pub(super) stage: Stage,
    /// The batch it came in.
    pub(super) batch: Option<Arc<Batch>>,
    /// The bytes of it that are kept.
    size: usize,
}

/// How far it is.
pub(super) enum Stage {
    /// The server has it, and it calls no tool.
    Passed(Answer),
    /// A call that is being judged or waits for a person; the server has never heard of it.
    Held(Arc<AtomicBool>),
    /// A call the server has.
    Runs(Box<Running>),
}

impl Stage {
    /// Whether it is the very call that began with this.
    fn is_held_as(&self, held: &Arc<AtomicBool>) -> bool {
        matches!(self, Stage::Held(own) if Arc::ptr_eq(own, held))
    }
}

/// A call that runs.
pub(super) struct Running {
    pub(super) permit: Permit,
    pub(super) started: Instant,
    pub(super) modern: bool,
}

/// What an answer holds that a model will read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The tools of the server.
    Tools,
    /// What the server wants its clients' models to know of it.
    Instructions,
    /// Texts.
    Text(Origin),
    /// Nothing.
    Other,
}

impl Answer {
    /// That to a method.
    pub(super) fn to(method: &str) -> Self {
        match method {
            "tools/list" => Answer::Tools,
            "initialize" | "server/discover" => Answer::Instructions,
            "prompts/list" | "resources/list" | "resources/templates/list" => {
                Answer::Text(Origin::Description)
            }
            "prompts/get"
            | "resources/read"
            | "completion/complete"
            | "tasks/result"
            | "tasks/get" => Answer::Text(Origin::Tool),
            _ => Answer::Other,
        }
    }
}

/// The requests that are open.
#[derive(Default)]
pub(super) struct OpenRequests(Mutex<ById>);

#[derive(Default)]
struct ById {
    requests: HashMap<Id, Request>,
    size: usize,
}

impl ById {
    fn remove(&mut self, id: &Id) -> Option<Request> {
        let removed = self.requests.remove(id)?;
        self.size = self.size.saturating_sub(removed.size);
        Some(removed)
    }
}

impl OpenRequests {
    /// Notes a request of which `size` bytes are kept; why not, if it cannot be answered under its name.
    pub(super) fn begin(
        &self,
        id: &Id,
        stage: Stage,
        batch: Option<&Arc<Batch>>,
        size: usize,
    ) -> Result<(), &'static str> {
        let mut open = self.lock();
        let total = open.size.saturating_add(size);
        if open.requests.len() >= MAX_OPEN || (size > 0 && total > MAX_OPEN_BYTES) {
            return Err("too many requests are open: wait for an answer");
        }
        match open.requests.entry(id.clone()) {
            Entry::Occupied(_) => return Err("a request of this id is open already"),
            Entry::Vacant(place) => place.insert(Request {
                stage,
                batch: batch.cloned(),
                size,
            }),
        };
        open.size = total;
        Ok(())
    }

    /// A call that was held goes to the server; it comes back if nobody wants it any more. `held` is what
    /// it began with: a client may have taken it back and used its name again.
    pub(super) fn runs(
        &self,
        id: &Id,
        held: &Arc<AtomicBool>,
        running: Box<Running>,
    ) -> Result<(), Box<Running>> {
        match self.lock().requests.get_mut(id) {
            Some(Request { stage, .. }) if stage.is_held_as(held) => {
                *stage = Stage::Runs(running);
                Ok(())
            }
            Some(_) | None => Err(running),
        }
    }

    /// The request the server has answered. What it was never sent it cannot answer.
    pub(super) fn answered(&self, id: &Id) -> Option<Request> {
        let mut open = self.lock();
        match open.requests.get(id)?.stage {
            Stage::Held(_) => None,
            Stage::Passed(_) | Stage::Runs(_) => open.remove(id),
        }
    }

    /// A call that does not run, if it is still the one that began with `held`.
    pub(super) fn end_held(&self, id: &Id, held: &Arc<AtomicBool>) -> Option<Request> {
        let mut open = self.lock();
        match open.requests.get(id)?.stage.is_held_as(held) {
            true => open.remove(id),
            false => None,
        }
    }

    /// A request whatever its stage: it is taken back, or answered here.
    pub(super) fn end(&self, id: &Id) -> Option<Request> {
        let ended = self.lock().remove(id);
        if let Some(Request {
            stage: Stage::Held(taken_back),
            ..
        }) = &ended
        {
            taken_back.store(true, Ordering::Relaxed);
        }
        ended
    }

    /// The names of all that are open.
    pub(super) fn all(&self) -> Vec<Id> {
        self.lock().requests.keys().cloned().collect()
    }

    /// Takes back everything that is held. Whether there is none.
    pub(super) fn nothing_is_held(&self) -> bool {
        let open = self.lock();
        let held = open
            .requests
            .values()
            .filter_map(|request| match &request.stage {
                Stage::Held(taken_back) => Some(taken_back),
                Stage::Passed(_) | Stage::Runs(_) => None,
            });
        let mut none = true;
        for taken_back in held {
            taken_back.store(true, Ordering::Relaxed);
            none = false;
        }
        none
    }

    fn lock(&self) -> MutexGuard<'_, ById> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answers to a batch, which go back as one.
pub(super) struct Batch(Mutex<Answers>);

struct Answers {
    lines: Vec<Vec<u8>>,
    size: usize,
    missing: usize,
}

impl Batch {
    /// One that wants so many.
    pub(super) fn of(wanted: usize) -> Self {
        Self(Mutex::new(Answers {
            lines: Vec::new(),
            size: 0,
            missing: wanted,
        }))
    }

    /// Adds an answer, or that there will be none; the line to send once all are there, or no more of them
    /// fit a line.
    pub(super) fn add(&self, answer: Option<&[u8]>) -> Option<Vec<u8>> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = answer {
            answers.size += line.len();
            answers.lines.push(line.trim_ascii_end().to_vec());
        }
        answers.missing = answers.missing.saturating_sub(1);
        let is_due = answers.missing == 0 || answers.size > MAX_LINE;
        if !is_due || answers.lines.is_empty() {
            return None;
        }
        answers.size = 0;
        let mut line = b"[".to_vec();
        line.extend(std::mem::take(&mut answers.lines).join(&b','));
        line.extend(b"]\n");
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_answered_once_all_of_it_is() {
        let batch = Batch::of(3);
        assert_eq!(batch.add(Some(b"1\n")), None);
        assert_eq!(batch.add(None), None);
        assert_eq!(batch.add(Some(b"2\n")).unwrap(), b"[1,2]\n");
        assert_eq!(Batch::of(1).add(None), None);
    }

    #[test]
    fn what_a_server_was_never_sent_it_cannot_answer() {
        let open = OpenRequests::default();
        let id = Id::Number(1);
        let taken_back = Arc::new(AtomicBool::new(false));
        let held = Stage::Held(Arc::clone(&taken_back));
        open.begin(&id, held, None, 1).unwrap();
        assert!(open.answered(&id).is_none());
        assert!(
            open.begin(&id, Stage::Passed(Answer::Other), None, 0)
                .is_err()
        );
        assert!(open.end(&id).is_some() && taken_back.load(Ordering::Relaxed));
        assert!(open.end(&id).is_none());
    }

    #[test]
    fn a_call_that_was_taken_back_does_not_end_another_of_its_name() {
        let open = OpenRequests::default();
        let id = Id::Number(1);
        let begun = || {
            let held = Arc::new(AtomicBool::new(false));
            let stage = Stage::Held(Arc::clone(&held));
            open.begin(&id, stage, None, 1).unwrap();
            held
        };
        let first = begun();
        assert!(open.end(&id).is_some());
        let second = begun();
        assert!(open.end_held(&id, &first).is_none());
        assert!(open.end_held(&id, &second).is_some());
        open.begin(&id, Stage::Passed(Answer::Other), None, 0)
            .unwrap();
        assert!(open.end_held(&id, &second).is_none());
        assert!(open.answered(&id).is_some());
    }

    #[test]
    fn no_more_is_kept_than_may_be_open() {
        let open = OpenRequests::default();
        let passed = || Stage::Passed(Answer::Other);
        for number in 0..MAX_OPEN {
            let id = Id::Number(i64::try_from(number).unwrap());
            open.begin(&id, passed(), None, 0).unwrap();
        }
        assert!(
            open.begin(&Id::Text("a".into()), passed(), None, 0)
                .is_err()
        );
        assert!(open.answered(&Id::Number(0)).is_some());
        let large = open.begin(&Id::Text("b".into()), passed(), None, MAX_OPEN_BYTES + 1);
        assert!(large.is_err());
        assert!(open.begin(&Id::Text("a".into()), passed(), None, 0).is_ok());
    }
}
