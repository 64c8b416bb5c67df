//! What a stream of calls remembers of those it has judged, so that the same call is not read again.
//!
//! A decision is a function of the call, the policy, what the session remembers and what was seen on the
//! disk. A remembered one is handed out only if all four are the same: the call to the byte, the
//! policy as it was loaded, the session's state, and the answer to every look at the disk that was made
//! for it, asked anew. For the text of a file and the names in a directory their stamps are asked for,
//! as they are for policies; what changed a moment ago, or cannot be read, is not remembered.
//!
//! Calls that are answered together are looked at together: between [`Looks::begin`] and the next the
//! looks of a decision are made once, and a place several calls ask about is looked at once. The first of
//! these calls waits for the last one's answer anyhow, so no answer leaves that rests on an older look than
//! it would without.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use holdpoint_core::facts::{Fact, FactValue};
use holdpoint_core::paths::{Entry, FileText, Lookup, Tracking, Written};
use holdpoint_core::{Decision, Policy, Session, ToolCall};
use holdpoint_ledger::Draft;

use crate::context::{Caller, working_directory};
use crate::disk::Disk;
use crate::engine::Terms;
use crate::own;
use crate::stamps::Stamps;
use crate::store::is_absent;
use crate::written;

/// The most bytes that are kept, in two halves of which the older is forgotten as a whole: thousands of
/// ordinary calls, and little beside the program itself.
const MAX_BYTES: usize = 16 << 20;

/// The longest call that is remembered: those that are made again are short.
const MAX_CALL: usize = 4 << 10;

/// The most looks at the disk a remembered decision rests on: what building a project of some size takes.
/// With more, asking again costs what it saves.
const MAX_LOOKS: usize = 96;

/// What a call takes beside its texts: the allocations, and the places in the table.
const OVERHEAD: usize = 1 << 10;

/// The decisions of a stream.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    halves: Mutex<Halves>,
    looks: Looks,
}

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<Box<[u8]>, Arc<Known>>,
    old: HashMap<Box<[u8]>, Arc<Known>>,
    /// The bytes of the young ones.
    bytes: usize,
}

/// The most places whose looks are shared: the workspace, the home and what is in them. Of others each
/// call makes its own.
const MAX_SHARED: usize = 4096;

/// Which calls share their looks at the disk: those between two beginnings. Before the first one none
/// do.
#[derive(Debug, Default)]
struct Looks {
    number: AtomicU64,
    shared: Mutex<Shared>,
}

/// What calls that are answered together have seen.
#[derive(Debug, Default)]
struct Shared {
    /// Of which looks.
    number: u64,
    entries: HashMap<String, Entry>,
    /// Directories, with how many names were wanted.
    listed: HashMap<String, (usize, Arc<Listed>)>,
    written: HashMap<PathBuf, (Stamped, Arc<Written>)>,
}

/// A directory that was listed.
#[derive(Debug)]
struct Listed {
    stamped: Stamped,
    names: Option<Vec<(String, bool)>>,
}

/// How a file or directory looked when it was about to be read, or that none was there.
#[derive(Clone, Debug)]
struct Stamped {
    stamps: Stamps,
    /// Nobody can say that it stays so.
    unsure: bool,
}

impl Stamped {
    fn at(path: &Path) -> Self {
        let mut stamps = Stamps::default();
        let unsure = match fs::metadata(path) {
            Ok(found) => {
                stamps.content(path, &found);
                stamps.is_unsure()
            }
            Err(_) if is_absent(path) => {
                stamps.absent(path);
                false
            }
            Err(_) => true,
        };
        Self { stamps, unsure }
    }
}

impl Listed {
    fn at(path: &str, most: usize) -> Self {
        // Before it is read: what changes meanwhile has another stamp afterwards.
        let mut stamped = Stamped::at(Path::new(path));
        let names = Disk.names(path, most);
        stamped.unsure |= names.is_none() && !is_absent(Path::new(path));
        Self { stamped, names }
    }
}

impl Looks {
    fn begin(&self) {
        self.number.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether looks of that number still count.
    fn still_count(&self, number: u64) -> bool {
        number != 0 && number == self.number()
    }

    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// What the calls that are answered together have seen so far; none if each looks for itself.
    fn shared(&self) -> Option<std::sync::MutexGuard<'_, Shared>> {
        let number = Some(self.number()).filter(|number| *number != 0)?;
        // What is kept is whole between any two statements.
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.number != number {
            shared.entries.clear();
            shared.listed.clear();
            shared.written.clear();
            shared.number = number;
        }
        Some(shared)
    }

    fn entry(&self, path: &str) -> Entry {
        let Some(mut shared) = self.shared() else {
            return Disk.entry(path);
        };
        if let Some(entry) = shared.entries.get(path) {
            return entry.clone();
        }
        let entry = Disk.entry(path);
        if shared.entries.len() < MAX_SHARED {
            shared.entries.insert(path.to_owned(), entry.clone());
        }
        entry
    }

    fn listed(&self, path: &str, most: usize) -> Arc<Listed> {
        let Some(mut shared) = self.shared() else {
            return Arc::new(Listed::at(path, most));
        };
        match shared.listed.get(path) {
            Some((wanted, listed)) if *wanted == most => Arc::clone(listed),
            Some(_) | None => {
                let listed = Arc::new(Listed::at(path, most));
                if shared.listed.len() < MAX_SHARED {
                    let kept = (most, Arc::clone(&listed));
                    shared.listed.insert(path.to_owned(), kept);
                }
                listed
            }
        }
    }

    /// The files a session wrote, by the list of them.
    fn written(&self, list: &Path) -> (Stamped, Arc<Written>) {
        let read = || {
            let stamped = Stamped::at(list);
            (stamped, Arc::new(written::read(list)))
        };
        let Some(mut shared) = self.shared() else {
            return read();
        };
        if let Some(known) = shared.written.get(list) {
            return known.clone();
        }
        let known = read();
        if shared.written.len() < MAX_SHARED {
            shared.written.insert(list.to_owned(), known.clone());
        }
        known
    }
}

/// A call that was judged.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) call: Arc<ToolCall>,
    /// Who makes it, if it is known by what was said of it and so by whom.
    caller: Option<LineCaller>,
    policy: Arc<Policy>,
    session: Arc<Session>,
    /// What was seen on the disk.
    seen: Seen,
    /// When that was last seen, by the number of the looks.
    looked: AtomicU64,
    pub(crate) decision: Arc<Decision>,
    /// Whether calls like it are counted.
    pub(crate) is_counted: bool,
    /// The decision as it is answered.
    answer: OnceLock<Box<[u8]>>,
    /// The decision as it is recorded, for whom that is; none if it is too long to be kept so.
    record: OnceLock<(Arc<Caller>, Option<Draft>)>,
}

/// Who makes a call, by what was said with it.
#[derive(Clone, Debug)]
pub struct LineCaller {
    /// Who that is.
    pub caller: Arc<Caller>,
    /// The directory as it was named, if one was: where it leads is asked again.
    pub directory: Option<PathBuf>,
}

impl LineCaller {
    /// Whether it still means the same.
    fn is_current(&self) -> bool {
        self.directory.as_deref().is_none_or(|named| {
            working_directory(Some(named)).is_ok_and(|found| found == self.caller.workspace)
        })
    }
}

impl Known {
    /// The decision as it is answered, made of what `write` writes when it is first wanted.
    pub(crate) fn answer(&self, write: impl FnOnce() -> Vec<u8>) -> &[u8] {
        self.answer.get_or_init(|| write().into_boxed_slice())
    }

    /// The decision as it is recorded of somebody, made by `make` when it is first wanted; none if it is
    /// kept for somebody else, or cannot be.
    pub(crate) fn record(
        &self,
        caller: &Arc<Caller>,
        make: impl FnOnce() -> Option<Draft>,
    ) -> Option<&Draft> {
        let (known, record) = self.record.get_or_init(|| (Arc::clone(caller), make()));
        record.as_ref().filter(|_| Arc::ptr_eq(known, caller))
    }

    /// Who makes it, if it is known by what was said.
    pub(crate) fn caller(&self) -> Option<&Arc<Caller>> {
        self.caller.as_ref().map(|said| &said.caller)
    }

    /// Whether it counts under these terms, on the disk as it is now.
    fn counts(&self, terms: &Terms, looks: &Looks) -> bool {
        let session =
            Arc::ptr_eq(&self.session, &terms.session) || self.session.judges_like(&terms.session);
        if !session || !Arc::ptr_eq(&self.policy, &terms.policy) {
            return false;
        }
        if looks.still_count(self.looked.load(Ordering::Relaxed)) {
            return true;
        }
        // Before the looks are made: whoever begins anew meanwhile has them made again.
        let number = looks.number();
        let current =
            self.caller.as_ref().is_none_or(LineCaller::is_current) && self.seen.is_current();
        if current {
            self.looked.store(number, Ordering::Relaxed);
        }
        current
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
        let files = decision.files.iter().map(|file| file.path.len() + 128);
        let texts = texts + files.sum::<usize>();
        OVERHEAD + 5 * (key.len() + texts + findings.sum::<usize>()) + self.seen.weight()
    }
}

impl Memory {
    /// From now on everything is looked at again, once for all calls until this is said the next time.
    pub(crate) fn look_again(&self) {
        self.looks.begin();
    }

    /// The disk as a call sees it that may be remembered, in a session whose files are listed there.
    pub(crate) fn noting(&self, list: Option<PathBuf>) -> Noting<'_> {
        Noting {
            looks: Some(&self.looks),
            list,
            ..Noting::default()
        }
    }

    /// What is known of a call, under the terms `terms` finds for whoever makes it.
    pub(crate) fn find(
        &self,
        key: &[u8],
        terms: impl FnOnce(&Known) -> Option<Terms>,
    ) -> Option<(Arc<Known>, Terms)> {
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
        let terms = terms(&known)?;
        known.counts(&terms, &self.looks).then_some((known, terms))
    }

    /// Remembers a decision, if it may be.
    pub(crate) fn keep(
        &self,
        key: Vec<u8>,
        terms: &Terms,
        noting: Noting<'_>,
        judged: Judged<'_>,
    ) -> Option<Arc<Known>> {
        let seen = noting.seen.into_inner();
        if noting.unsure.get() || key.len() > MAX_CALL || seen.looks > MAX_LOOKS {
            return None;
        }
        let known = Arc::new(Known {
            call: Arc::clone(judged.call),
            caller: judged.said.cloned(),
            policy: Arc::clone(&terms.policy),
            session: Arc::clone(&terms.session),
            seen,
            // What was seen while the call was judged is not what was seen at one moment.
            looked: AtomicU64::new(0),
            decision: Arc::clone(judged.decision),
            is_counted: terms.policy.limits_calls(judged.call.tool()),
            answer: OnceLock::new(),
            record: OnceLock::new(),
        });
        self.halves()
            .keep(key.into_boxed_slice(), Arc::clone(&known));
        Some(known)
    }

    fn halves(&self) -> std::sync::MutexGuard<'_, Halves> {
        // What is kept is whole between any two statements.
        self.halves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call, who makes it, and what was decided.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) call: &'a Arc<ToolCall>,
    pub(crate) said: Option<&'a LineCaller>,
    pub(crate) decision: &'a Arc<Decision>,
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

/// A call to the byte, in the workspace it is made for, by a caller who can contain it or not.
pub(crate) fn key(call: &ToolCall, workspace: &str, can_contain: bool) -> Vec<u8> {
    let mut key = Vec::with_capacity(256);
    // Each field is a JSON text on a line of its own, so no two calls share a form. Writing into memory
    // has no way to fail.
    let _ = serde_json::to_writer(&mut key, call.tool());
    key.push(b'\n');
    let _ = serde_json::to_writer(&mut key, call.input());
    key.push(b'\n');
    let _ = serde_json::to_writer(&mut key, &(call.cwd(), workspace, can_contain));
    key
}

/// What was seen on the disk.
#[derive(Debug, Default)]
struct Seen {
    entries: Vec<(String, Entry)>,
    twins: Vec<(String, Option<(u64, u64)>)>,
    tracked: Vec<(String, Tracking)>,
    /// Files and directories that were read, and places where none was.
    stamps: Stamps,
    /// How many looks that were.
    looks: usize,
}

impl Seen {
    /// Whether all of it would be seen again.
    fn is_current(&self) -> bool {
        let Self {
            entries,
            twins,
            tracked,
            stamps,
            looks: _,
        } = self;
        entries.iter().all(|(path, seen)| Disk.entry(path) == *seen)
            && twins.iter().all(|(path, seen)| Disk.twin(path) == *seen)
            && tracked
                .iter()
                .all(|(path, seen)| Disk.tracking(path) == *seen)
            && stamps.are_current()
    }

    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        let entries = self.entries.iter().map(|(path, _)| path.len());
        let twins = self.twins.iter().map(|(path, _)| path.len());
        let tracked = self.tracked.iter().map(|(path, _)| path.len());
        let paths = entries.chain(twins).chain(tracked).sum::<usize>() + self.stamps.path_bytes();
        paths + 128 * self.looks
    }
}

/// The disk, and a note of everything that was seen of it.
#[derive(Debug, Default)]
pub(crate) struct Noting<'a> {
    /// The looks it shares with other calls, if it does.
    looks: Option<&'a Looks>,
    /// Where the session's files are remembered.
    list: Option<PathBuf>,
    seen: RefCell<Seen>,
    /// Whether something was seen of which nobody can say that it stays.
    unsure: Cell<bool>,
}

impl Noting<'_> {
    /// Where it is remembered what the session has made and started: beside the files it wrote.
    fn own_list(&self) -> Option<PathBuf> {
        Some(self.list.as_ref()?.with_extension("own"))
    }

    /// Notes something that is not noted yet.
    fn note<T: PartialEq>(
        &self,
        list: impl FnOnce(&mut Seen) -> &mut Vec<(String, T)>,
        path: &str,
        seen: T,
    ) {
        let mut all = self.seen.borrow_mut();
        // One more than may be says that there were too many.
        if all.looks > MAX_LOOKS {
            return;
        }
        let noted = list(&mut all);
        if !noted
            .iter()
            .any(|(one, before)| one == path && *before == seen)
        {
            noted.push((path.to_owned(), seen));
            all.looks += 1;
        }
    }

    /// Notes how a file or directory looked that was about to be read, or that none was there.
    fn stamp(&self, stamped: &Stamped) {
        let mut all = self.seen.borrow_mut();
        if all.looks > MAX_LOOKS {
            return;
        }
        all.looks += 1;
        all.stamps.add(&stamped.stamps);
        self.unsure.set(self.unsure.get() || stamped.unsure);
    }
}

impl Lookup for Noting<'_> {
    fn entry(&self, path: &str) -> Entry {
        let entry = match self.looks {
            Some(looks) => looks.entry(path),
            None => Disk.entry(path),
        };
        self.note(|seen| &mut seen.entries, path, entry.clone());
        entry
    }

    fn has_nothing_below_missing(&self) -> bool {
        Disk.has_nothing_below_missing()
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        // Before it is read: what changes meanwhile has another stamp afterwards.
        self.stamp(&Stamped::at(Path::new(path)));
        let text = Disk.read(path, most);
        // What keeps it from being read may end without a trace on the file.
        if matches!(text, FileText::Unreadable) {
            self.unsure.set(true);
        }
        text
    }

    fn skim(&self, path: &str, most: usize) -> Option<String> {
        // It was found too large, or no text, a moment ago: there is a stamp of it.
        self.stamp(&Stamped::at(Path::new(path)));
        Disk.skim(path, most)
    }

    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        let twin = Disk.twin(path);
        self.note(|seen| &mut seen.twins, path, twin);
        twin
    }

    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        let listed = match self.looks {
            Some(looks) => looks.listed(path, most),
            None => Arc::new(Listed::at(path, most)),
        };
        self.stamp(&listed.stamped);
        listed.names.clone()
    }

    fn tracking(&self, path: &str) -> Tracking {
        let tracking = Disk.tracking(path);
        self.note(|seen| &mut seen.tracked, path, tracking);
        tracking
    }

    fn tracking_in(&self, directory: &str, names: &[&str]) -> Vec<Tracking> {
        let all = Disk.tracking_in(directory, names);
        for (name, tracking) in names.iter().zip(&all) {
            let path = format!("{directory}/{name}");
            self.note(|seen| &mut seen.tracked, &path, *tracking);
        }
        all
    }

    fn fact(&self, fact: &Fact) -> FactValue {
        // It has no stamp by which a change would be seen.
        self.unsure.set(true);
        Disk.fact(fact)
    }

    fn is_own(&self, path: &str) -> bool {
        // Nor has what a session has made and started.
        self.unsure.set(true);
        self.own_list().is_some_and(|list| own::holds(&list, path))
    }

    fn is_own_process(&self, process: u32) -> bool {
        self.unsure.set(true);
        self.own_list()
            .is_some_and(|list| own::started(&list, process))
    }

    fn is_own_port(&self, port: u16) -> bool {
        self.unsure.set(true);
        self.own_list()
            .is_some_and(|list| own::uses_port(&list, port))
    }

    fn is_own_terminal(&self, terminal: &str) -> bool {
        self.unsure.set(true);
        self.own_list()
            .is_some_and(|list| own::has_terminal(&list, terminal))
    }

    fn has_opened_terminal(&self, terminal: &str) -> bool {
        self.unsure.set(true);
        self.own_list()
            .is_some_and(|list| own::has_opened_terminal(&list, terminal))
    }

    fn written(&self) -> Arc<Written> {
        let Some(list) = self.list.as_deref() else {
            return Arc::default();
        };
        let (stamped, written) = match self.looks {
            Some(looks) => looks.written(list),
            None => (Stamped::at(list), Arc::new(written::read(list))),
        };
        self.stamp(&stamped);
        written
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

    fn keep(memory: &Memory, key: &[u8], terms: &Terms, noting: Noting<'_>) -> Option<Arc<Known>> {
        let judged = Judged {
            call: &Arc::new(ToolCall::shell("x")),
            said: None,
            decision: &Arc::new(Decision::error("x")),
        };
        memory.keep(key.to_vec(), terms, noting, judged)
    }

    fn finds(memory: &Memory, key: &[u8], terms: &Terms) -> bool {
        memory.find(key, |_| Some(terms.clone())).is_some()
    }

    #[test]
    fn numbers_that_are_equal_and_written_otherwise_are_two_calls() {
        let call = |value| ToolCall::new("T", json!({"n": value})).unwrap();
        let keys =
            [json!(0.0), json!(-0.0), json!(0), json!("0")].map(|n| key(&call(n), "/w", false));
        for (at, one) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(one));
        }
        assert_ne!(
            key(&call(json!(1)), "/w", false),
            key(&call(json!(1)), "/v", false)
        );
    }

    #[test]
    fn what_is_kept_stays_below_its_bytes_and_what_is_used_stays_in_it() {
        let (memory, terms) = (Memory::default(), terms());
        let key_of = |number: usize| number.to_string().into_bytes();
        let many = 3 * MAX_BYTES / OVERHEAD;
        for number in 0..many {
            assert!(keep(&memory, &key_of(number), &terms, Noting::default()).is_some());
            assert!(finds(&memory, &key_of(0), &terms), "{number}");
            let halves = memory.halves();
            let known = halves.young.iter().chain(&halves.old);
            if number.is_multiple_of(1000) {
                let bytes: usize = known.map(|(key, known)| known.weight(key)).sum();
                assert!(bytes <= MAX_BYTES);
            }
        }
        assert!(!finds(&memory, &key_of(1), &terms));
    }

    #[test]
    fn another_policy_session_or_disk_is_another_question() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        let (memory, under) = (Memory::default(), terms());
        let noting = Noting::default();
        assert_eq!(noting.entry(file.to_str().unwrap()), Entry::Missing);
        keep(&memory, b"k", &under, noting);
        assert!(finds(&memory, b"k", &under));
        assert!(!finds(&memory, b"k", &terms()));
        let state = SessionState {
            allow: vec!["make".into()],
            ..SessionState::default()
        };
        let session = Arc::new(Session::new(state));
        let in_session = Terms {
            session,
            ..under.clone()
        };
        assert!(!finds(&memory, b"k", &in_session));
        fs::write(&file, "").unwrap();
        assert!(!finds(&memory, b"k", &under));
    }

    #[test]
    fn calls_that_are_answered_together_look_at_a_place_once() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().to_str().unwrap();
        let file = place.path().join("file");
        let memory = Memory::default();
        let sees = || {
            let noting = memory.noting(None);
            let names = noting.names(directory, 9).unwrap();
            (noting.entry(file.to_str().unwrap()), names.len())
        };
        // Nothing was said of answering together: each call looks for itself.
        assert_eq!(sees(), (Entry::Missing, 0));
        fs::write(&file, "").unwrap();
        assert_eq!(sees(), (Entry::Other, 1));
        memory.look_again();
        assert_eq!(sees(), (Entry::Other, 1));
        fs::remove_file(&file).unwrap();
        assert_eq!(sees(), (Entry::Other, 1));
        memory.look_again();
        assert_eq!(sees(), (Entry::Missing, 0));
    }

    #[test]
    fn a_text_counts_until_it_changes_and_a_young_one_does_not() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        let path = file.to_str().unwrap();
        let (memory, under) = (Memory::default(), terms());
        let read = |key: &[u8]| {
            let noting = Noting::default();
            let text = noting.read(path, 10);
            (keep(&memory, key, &under, noting).is_some(), text)
        };
        assert_eq!(read(b"missing"), (true, FileText::Missing));
        assert!(finds(&memory, b"missing", &under));
        fs::write(&file, "one").unwrap();
        assert!(!finds(&memory, b"missing", &under));
        assert_eq!(read(b"young"), (false, FileText::Text("one".into())));
        std::thread::sleep(std::time::Duration::from_millis(120));
        assert!(read(b"old").0 && finds(&memory, b"old", &under));
        fs::write(&file, "two").unwrap();
        assert!(!finds(&memory, b"old", &under));
    }

    #[test]
    fn names_other_names_and_git_are_asked_for_again() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let text = |name: &str| root.join(name).to_str().unwrap().to_owned();
        fs::create_dir(root.join("src")).unwrap();
        fs::write(root.join("a"), "").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(120));
        let (memory, under) = (Memory::default(), terms());
        type Look<'l> = (&'l [u8], &'l dyn Fn(&Noting));
        let looks: [Look<'_>; 3] = [
            (b"names", &|noting| drop(noting.names(&text("src"), 9))),
            (b"twin", &|noting| {
                assert_eq!(noting.twin(&text("a")), None);
            }),
            (b"git", &|noting| {
                assert_eq!(noting.tracking(&text("a")), Tracking::NoRepository);
            }),
        ];
        for (key, look) in looks {
            let noting = Noting::default();
            look(&noting);
            assert!(keep(&memory, key, &under, noting).is_some());
            assert!(finds(&memory, key, &under));
        }
        fs::write(root.join("src/new"), "").unwrap();
        assert!(!finds(&memory, b"names", &under) && finds(&memory, b"twin", &under));
        fs::hard_link(root.join("a"), root.join("b")).unwrap();
        assert!(!finds(&memory, b"twin", &under) && finds(&memory, b"git", &under));
        fs::create_dir(root.join(".git")).unwrap();
        assert!(!finds(&memory, b"git", &under));
    }

    #[test]
    fn calls_that_are_answered_together_share_their_looks() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        let (memory, under) = (Memory::default(), terms());
        let noting = Noting::default();
        noting.entry(file.to_str().unwrap());
        memory.look_again();
        keep(&memory, b"k", &under, noting);
        assert!(finds(&memory, b"k", &under));
        fs::write(&file, "").unwrap();
        assert!(finds(&memory, b"k", &under));
        memory.look_again();
        assert!(!finds(&memory, b"k", &under));
        fs::remove_file(&file).unwrap();
        // What did not count is looked at again, even by those that come together.
        assert!(finds(&memory, b"k", &under));
    }

    #[test]
    fn what_rests_on_a_fact_is_not_remembered() {
        let (memory, under) = (Memory::default(), terms());
        let noting = Noting::default();
        let _ = noting.fact(&Fact::Ci);
        assert!(keep(&memory, b"k", &under, noting).is_none());
        assert!(!finds(&memory, b"k", &under));
    }
}
