//! What a stream of calls remembers of those it has judged, so that the same call is not read again.
//!
//! A decision is a function of the call, the policy, what the session remembers and what was seen on the
//! disk. A remembered one is handed out only if all four are the same: the call to the byte, the
//! policy as it was loaded, the session's state, and the answer to every look at the disk that was made
//! for it, asked anew. What rests on the text of a file is not remembered at all.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use holdpoint_core::paths::{Entry, FileText, Lookup, Tracking, Written};
use holdpoint_core::{Decision, Policy, Session, ToolCall};
use holdpoint_ledger::Entry as Record;

use crate::context::Caller;
use crate::disk::Disk;
use crate::engine::Terms;
use crate::written;

/// The most bytes that are kept, in two halves of which the older is forgotten as a whole: thousands of
/// ordinary calls, and little beside the program itself.
const MAX_BYTES: usize = 16 << 20;

/// The longest call that is remembered: those that are made again are short.
const MAX_CALL: usize = 4 << 10;

/// The most looks at the disk a remembered decision rests on; with more, asking again costs what it
/// saves.
const MAX_LOOKS: usize = 32;

/// What a call takes beside its texts: the allocations, and the places in the table.
const OVERHEAD: usize = 1 << 10;

/// The decisions of a stream.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Halves>);

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<Box<[u8]>, Arc<Known>>,
    old: HashMap<Box<[u8]>, Arc<Known>>,
    /// The bytes of the young ones.
    bytes: usize,
}

/// A call that was judged.
#[derive(Debug)]
pub(crate) struct Known {
    policy: Arc<Policy>,
    session: Arc<Session>,
    /// What was seen on the disk.
    seen: Vec<(String, Entry)>,
    pub(crate) decision: Arc<Decision>,
    /// The decision as it is answered.
    answer: OnceLock<Box<[u8]>>,
    /// The decision as it is recorded, for whom that is.
    record: OnceLock<(Arc<Caller>, Record)>,
}

impl Known {
    /// The decision as it is answered, made of what `write` writes when it is first wanted.
    pub(crate) fn answer(&self, write: impl FnOnce() -> Vec<u8>) -> &[u8] {
        self.answer.get_or_init(|| write().into_boxed_slice())
    }

    /// The decision as it is recorded of somebody, made by `make` when it is first wanted.
    pub(crate) fn record(&self, caller: &Arc<Caller>, make: impl FnOnce() -> Record) -> Record {
        if let Some((known, record)) = self.record.get() {
            return match Arc::ptr_eq(known, caller) {
                true => record.clone(),
                false => make(),
            };
        }
        let record = make();
        let _ = self.record.set((Arc::clone(caller), record.clone()));
        record
    }

    /// Whether it counts under these terms, on the disk as it is now.
    fn counts(&self, terms: &Terms) -> bool {
        let session = Arc::ptr_eq(&self.session, &terms.session)
            || self.session.state() == terms.session.state();
        session
            && Arc::ptr_eq(&self.policy, &terms.policy)
            && self
                .seen
                .iter()
                .all(|(path, seen)| Disk.entry(path) == *seen)
    }

    /// About how many bytes it takes. The answer and the record say once more what the call and the
    /// decision do.
    fn weight(&self, key: &[u8]) -> usize {
        let decision = &self.decision;
        let texts = [&decision.rule, &decision.instead].into_iter().flatten();
        let texts = texts.map(String::len).sum::<usize>() + decision.reason.len();
        let findings = decision.findings.iter().map(|finding| {
            let part = finding.part.as_ref().map_or(0, String::len);
            OVERHEAD + finding.reason.len() + finding.rule.len() + part
        });
        let seen = self.seen.iter().map(|(path, _)| path.len() + 64);
        OVERHEAD + 4 * (key.len() + texts + findings.sum::<usize>()) + seen.sum::<usize>()
    }
}

impl Memory {
    /// What is known of a call that counts under these terms.
    pub(crate) fn find(&self, key: &[u8], terms: &Terms) -> Option<Arc<Known>> {
        let known = {
            let mut halves = self.halves();
            match halves.young.get(key) {
                Some(known) => Arc::clone(known),
                None => {
                    let (key, known) = halves.old.remove_entry(key)?;
                    halves.keep(key, Arc::clone(&known));
                    known
                }
            }
        };
        known.counts(terms).then_some(known)
    }

    /// Remembers a decision, if it may be.
    pub(crate) fn keep(
        &self,
        key: Vec<u8>,
        terms: &Terms,
        noting: Noting,
        decision: &Arc<Decision>,
    ) -> Option<Arc<Known>> {
        let seen = noting.seen.into_inner();
        if noting.read.get() || key.len() > MAX_CALL || seen.len() > MAX_LOOKS {
            return None;
        }
        let known = Arc::new(Known {
            policy: Arc::clone(&terms.policy),
            session: Arc::clone(&terms.session),
            seen,
            decision: Arc::clone(decision),
            answer: OnceLock::new(),
            record: OnceLock::new(),
        });
        self.halves()
            .keep(key.into_boxed_slice(), Arc::clone(&known));
        Some(known)
    }

    fn halves(&self) -> std::sync::MutexGuard<'_, Halves> {
        // What is kept is whole between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Halves {
    fn keep(&mut self, key: Box<[u8]>, known: Arc<Known>) {
        let weight = known.weight(&key);
        if self.bytes.saturating_add(weight) > MAX_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += weight;
        self.young.insert(key, known);
    }
}

/// A call to the byte, in the workspace it is made for.
pub(crate) fn key(call: &ToolCall, workspace: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(256);
    // Each field is a JSON text on a line of its own, so no two calls share a form. Writing into memory
    // has no way to fail.
    let _ = serde_json::to_writer(&mut key, call.tool());
    key.push(b'\n');
    let _ = serde_json::to_writer(&mut key, call.input());
    key.push(b'\n');
    let _ = serde_json::to_writer(&mut key, &(call.cwd(), workspace));
    key
}

/// The disk, and a note of everything that was seen of it.
#[derive(Debug, Default)]
pub(crate) struct Noting {
    /// Where the session's files are remembered.
    list: Option<PathBuf>,
    seen: RefCell<Vec<(String, Entry)>>,
    /// Whether the text of a file was wanted.
    read: Cell<bool>,
}

impl Noting {
    /// For a session whose files are remembered there.
    pub(crate) fn in_session(list: Option<PathBuf>) -> Self {
        Self {
            list,
            ..Self::default()
        }
    }
}

impl Lookup for Noting {
    fn entry(&self, path: &str) -> Entry {
        let entry = Disk.entry(path);
        let mut seen = self.seen.borrow_mut();
        // One more than may be says that there were too many.
        if seen.len() <= MAX_LOOKS {
            seen.push((path.to_owned(), entry.clone()));
        }
        entry
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        self.read.set(true);
        Disk.read(path, most)
    }

    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        let twin = Disk.twin(path);
        // Whether a file has other names is not asked again.
        self.read.set(self.read.get() || twin.is_some());
        twin
    }

    // What code of a project does rests on its files: it is not remembered either.
    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        self.read.set(true);
        Disk.names(path, most)
    }

    fn tracking(&self, path: &str) -> Tracking {
        self.read.set(true);
        Disk.tracking(path)
    }

    fn written(&self) -> Arc<Written> {
        self.read.set(true);
        Arc::new(self.list.as_deref().map(written::read).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::SessionState;
    use serde_json::json;

    fn terms() -> Terms {
        let policy = Policy::from_text("p", r#"{"defaultPolicy":"ask"}"#).unwrap();
        Terms {
            policy: Arc::new(policy),
            session: Arc::default(),
        }
    }

    fn decision(reason: &str) -> Arc<Decision> {
        Arc::new(Decision::error(reason))
    }

    #[test]
    fn numbers_that_are_equal_and_written_otherwise_are_two_calls() {
        let call = |value| ToolCall::new("T", json!({"n": value})).unwrap();
        let keys = [json!(0.0), json!(-0.0), json!(0), json!("0")].map(|n| key(&call(n), "/w"));
        for (at, one) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(one));
        }
        assert_ne!(key(&call(json!(1)), "/w"), key(&call(json!(1)), "/v"));
    }

    #[test]
    fn what_is_kept_stays_below_its_bytes_and_what_is_used_stays_in_it() {
        let (memory, terms) = (Memory::default(), terms());
        let key_of = |number: usize| number.to_string().into_bytes();
        let many = 3 * MAX_BYTES / OVERHEAD;
        for number in 0..many {
            let kept = memory.keep(key_of(number), &terms, Noting::default(), &decision("x"));
            assert!(kept.is_some());
            assert!(memory.find(&key_of(0), &terms).is_some(), "{number}");
            let halves = memory.halves();
            let known = halves.young.iter().chain(&halves.old);
            if number.is_multiple_of(1000) {
                let bytes: usize = known.map(|(key, known)| known.weight(key)).sum();
                assert!(bytes <= MAX_BYTES);
            }
        }
        assert!(memory.find(&key_of(1), &terms).is_none());
    }

    #[test]
    fn another_policy_session_or_disk_is_another_question() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        let (memory, under) = (Memory::default(), terms());
        let noting = Noting::default();
        assert_eq!(noting.entry(file.to_str().unwrap()), Entry::Missing);
        memory.keep(b"k".to_vec(), &under, noting, &decision("x"));
        assert!(memory.find(b"k", &under).is_some());
        assert!(memory.find(b"k", &terms()).is_none());
        let state = SessionState {
            allow: vec!["make".into()],
            ..SessionState::default()
        };
        let session = Arc::new(Session::new(state));
        let in_session = Terms {
            session,
            ..under.clone()
        };
        assert!(memory.find(b"k", &in_session).is_none());
        std::fs::write(&file, "").unwrap();
        assert!(memory.find(b"k", &under).is_none());
        let reads = Noting::default();
        let _ = reads.read(file.to_str().unwrap(), 10);
        assert!(
            memory
                .keep(b"r".to_vec(), &under, reads, &decision("x"))
                .is_none()
        );
    }
}
