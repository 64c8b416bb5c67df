//! Putting what was answered on record, before the answer leaves.
//!
//! A decision that cannot be recorded is no permission: the caller refuses, and the refusal is
//! recorded if there is any way to. What is recorded is redacted first; the ledger takes nothing
//! else.

mod contained;
mod findings;
mod held;
mod results;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_broker::Event;
use holdpoint_core::policy::Durability as Wanted;
use holdpoint_core::text::redaction::{Redacted, Redactor};
use holdpoint_core::{Decision, Method, Policy, ToolCall, Verdict};
use holdpoint_ledger::{
    Detail, Digest, Draft, Durability, Entry, EntryRef, Kind, Ledger, LedgerError, unguessable,
};
use serde_json::{Map, Value, json};

use crate::account::{account_name, name_in_environment};
use crate::context::Caller;
use crate::excerpt::{Briefs, brief, recorded, recorded_arguments};
use crate::locations::Locations;
use crate::memory::Known;
use crate::store::{append_line, lock, plain_words, read_bounded, write_whole};

pub use contained::ContainedRun;
pub use findings::FlaggedText;
pub use held::Hold;
pub use results::{Ended, Ran};

/// The most rules and files of a decision that are recorded: a person reads no more, and the gravest
/// come first. The rest are left out.
const MAX_FINDINGS: usize = 20;

/// The most bytes that are read of what broken-down processes left: hundreds of them. What lies beyond
/// is not recorded.
const MAX_BREAKDOWNS: u64 = 256 << 10;

/// Why something could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no place for the ledger.
    #[error("no home directory is known, so nothing can be recorded: set HOME or XDG_STATE_HOME")]
    NoPlace,
    /// The key of the tags of redacted secrets cannot be used.
    #[error(
        "{0}: the key of redacted secrets cannot be used ({1}): check the directory and the disk"
    )]
    Salt(String, String),
    /// The ledger does not play along.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// A call, who makes it, and what was decided.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The agent, or the program that asks for it.
    pub agent: &'a str,
    /// Its session.
    pub session: Option<&'a str>,
    /// The directory it works in.
    pub directory: Option<&'a str>,
    /// The call.
    pub call: &'a ToolCall,
    /// What was decided.
    pub decision: &'a Decision,
    /// The policy it was decided under; without it nothing is said about how the record is kept.
    pub policy: Option<&'a Policy>,
    /// How long that took.
    pub took: Option<Duration>,
    /// The transcript the call stands in, for one that was made long ago and is only judged now.
    pub replayed: Option<Replayed<'a>>,
}

/// Where a call that is only judged again was found.
#[derive(Clone, Copy, Debug)]
pub struct Replayed<'a> {
    /// The transcript and the line in it.
    pub place: &'a str,
    /// When the call was made, if that is known.
    pub time: Option<&'a str>,
}

/// What comes of one question.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// The call was judged.
    Answered(Answered<'a>),
    /// The call was judged, and perhaps not for the first time.
    Remembered(Remembered<'a>),
    /// It could not be read or judged, and was refused.
    Failed(Failed<'a>),
}

/// A call whose decision is remembered, and what is recorded of it.
#[derive(Clone, Copy, Debug)]
pub struct Remembered<'a> {
    pub(crate) answered: Answered<'a>,
    pub(crate) known: &'a Known,
    pub(crate) caller: &'a Arc<Caller>,
}

/// A question that could not be answered.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    /// The agent, or the program that asks for it.
    pub agent: &'a str,
    /// Its session.
    pub session: Option<&'a str>,
    /// The call, as far as it could be read.
    pub call: Option<&'a ToolCall>,
    /// What is wrong, in one line.
    pub problem: &'a str,
    /// Whether the call was left to the agent's own permissions, as the policy wants, and not
    /// refused.
    pub left_alone: bool,
    /// The transcript it stands in, for a call that was made long ago.
    pub replayed: Option<Replayed<'a>>,
}

/// An outcome as it is handed to the ledger.
enum Prepared<'a> {
    Entry(Box<Entry>),
    /// One that was recorded before.
    Draft(&'a Draft, Option<Duration>),
}

impl Prepared<'_> {
    fn entry_ref(&self) -> EntryRef<'_> {
        match self {
            Prepared::Entry(entry) => EntryRef::Whole(entry),
            Prepared::Draft(draft, took) => EntryRef::Draft(draft, *took),
        }
    }
}

/// What takes secrets out of outcomes that are recorded together. Nearly always they come under one
/// policy, and so have one redactor; where all were recorded before there is no need of any.
#[derive(Default)]
struct Under<'a> {
    latest: Option<(Option<&'a Policy>, Briefs)>,
}

impl<'a> Under<'a> {
    fn briefs(
        &mut self,
        recorder: &Recorder,
        policy: Option<&'a Policy>,
    ) -> Result<&Briefs, RecordError> {
        let latest = match self.latest.take() {
            Some((known, briefs)) if same(known, policy) => (known, briefs),
            Some(_) | None => (policy, Briefs::new(recorder.redactor_under(policy)?)),
        };
        let (_, briefs) = self.latest.insert(latest);
        Ok(briefs)
    }
}

/// Whether two outcomes come under one policy, loaded once.
fn same(one: Option<&Policy>, other: Option<&Policy>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

impl<'a> Outcome<'a> {
    /// The policy that says how it is redacted.
    fn policy(&self) -> Option<&'a Policy> {
        match self {
            Outcome::Answered(answered) | Outcome::Remembered(Remembered { answered, .. }) => {
                answered.policy
            }
            Outcome::Failed(_) => None,
        }
    }

    /// Where it was found, if that is a transcript.
    fn replayed(&self) -> Option<Replayed<'a>> {
        match self {
            Outcome::Answered(answered) | Outcome::Remembered(Remembered { answered, .. }) => {
                answered.replayed
            }
            Outcome::Failed(failed) => failed.replayed,
        }
    }
}

/// Writes to the ledger of this user.
#[derive(Clone, Debug)]
pub struct Recorder {
    ledger: Ledger,
    home: Option<String>,
    /// What keys the tags of redacted secrets, where a policy wants them.
    salt: PathBuf,
    /// Where processes that broke down left a line each.
    unrecorded: PathBuf,
}

impl Recorder {
    /// The ledger kept at `locations`.
    pub fn at(locations: &Locations) -> Result<Self, RecordError> {
        let state = locations.state.as_ref().ok_or(RecordError::NoPlace)?;
        let directory = locations.ledger().ok_or(RecordError::NoPlace)?;
        let unrecorded = locations.unrecorded().ok_or(RecordError::NoPlace)?;
        let home = locations.home.as_ref().and_then(|home| home.to_str());
        Ok(Self {
            ledger: Ledger::at(directory),
            home: home.map(str::to_owned),
            salt: state.join("redaction.salt"),
            unrecorded,
        })
    }

    /// The ledger itself.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Records what came of a question. On an error nothing may run: whoever asks is refused.
    pub fn record(&self, outcome: &Outcome<'_>) -> Result<(), RecordError> {
        self.record_together(std::slice::from_ref(outcome))
    }

    /// Records several outcomes in one go; all of them or none.
    pub fn record_together(&self, outcomes: &[Outcome<'_>]) -> Result<(), RecordError> {
        if outcomes.is_empty() {
            return Ok(());
        }
        let mut under = Under::default();
        let mut entries: Vec<Prepared<'_>> = Vec::with_capacity(outcomes.len());
        for outcome in outcomes {
            entries.push(self.prepared(outcome, &mut under)?);
        }
        let durability = outcomes.iter().map(durability).max().unwrap_or_default();
        let lines: Vec<EntryRef<'_>> = entries.iter().map(Prepared::entry_ref).collect();
        let Err(error) = self.ledger.append_all(&lines, durability) else {
            // Now, since this has just worked, and nobody has to wait for a lock twice.
            self.record_breakdowns();
            return Ok(());
        };
        for (outcome, entry) in outcomes.iter().zip(entries) {
            // Nobody waits for an answer, and the room kept for refusals is for those who do.
            if outcome.replayed().is_some() {
                continue;
            }
            let entry = match entry {
                Prepared::Entry(entry) => *entry,
                Prepared::Draft(..) => self.entry(outcome, under.briefs(self, outcome.policy())?),
            };
            // The call is refused whether or not this can be written now.
            let busy = error.code() == "lock_held";
            if busy || self.ledger.append_refusal(&refused(entry, &error)).is_err() {
                let line = format!("the ledger could not be written ({})", error.code());
                let _ = append_line(&self.unrecorded, &line, MAX_BREAKDOWNS);
            }
        }
        Err(error.into())
    }

    /// Records a change a person makes to rules, trust or set-up, before it is made.
    pub fn changes(
        &self,
        kind: Kind,
        session: Option<&str>,
        what: &Value,
    ) -> Result<(), RecordError> {
        let person = name_in_environment().unwrap_or_else(account_name);
        self.changes_by(&person, kind, session, what)
    }

    /// The same, for a person who is known by another name than that of this account.
    pub fn changes_by(
        &self,
        person: &str,
        kind: Kind,
        session: Option<&str>,
        what: &Value,
    ) -> Result<(), RecordError> {
        let redactor = self.plain_redactor();
        let entry = Entry {
            session: session.map(|session| brief(&redactor, session)),
            approver: Some(brief(&redactor, person)),
            detail: Some(Detail::Of(recorded(&redactor, what))),
            ..Entry::new(kind)
        };
        self.ledger.append(&entry, Durability::Synced)?;
        Ok(())
    }

    /// Records what happens to a call that waits for a person, all of it or nothing.
    pub fn hold(&self, hold: &Hold<'_>) -> Result<(), RecordError> {
        let redactor = self.redactor_under(hold.policy)?;
        let events = hold.events.iter();
        let (entries, durabilities): (Vec<Entry>, Vec<Durability>) =
            events.map(|event| held::entry(*event, &redactor)).unzip();
        let entries: Vec<EntryRef<'_>> = entries.iter().map(EntryRef::Whole).collect();
        let durability = durabilities.into_iter().max().unwrap_or_default();
        // What lets a call run is signed with it, so that nobody rewrites it later unnoticed.
        let releases = |event: &Event<'_>| matches!(event, Event::Used(_));
        match hold.events.iter().any(releases) {
            true => self.ledger.append_signed(&entries, durability)?,
            false => self.ledger.append_all(&entries, durability)?,
        };
        Ok(())
    }

    /// Signs what has been on record unsigned for `age`, for a process that keeps running; whether there was something.
    pub fn sign_if_older(&self, age: Duration) -> Result<bool, RecordError> {
        Ok(self.ledger.sign_if_older(age)?)
    }

    /// Records the refusals of processes that broke down before they could. Whoever moves the file
    /// away tells of them; if that fails it is put back for the next.
    fn record_breakdowns(&self) {
        let taken = self
            .unrecorded
            .with_extension(format!("taken-{}", std::process::id()));
        if fs::rename(&self.unrecorded, &taken).is_err() {
            return;
        }
        let lines = read_bounded(&taken, MAX_BREAKDOWNS).unwrap_or_default();
        let text = String::from_utf8_lossy(&lines);
        let causes: BTreeSet<&str> = text.lines().take(1000).collect();
        let causes: Vec<&str> = causes.into_iter().take(5).collect();
        let problem = format!(
            "{} calls were refused without a record of their own: {}",
            text.lines().count(),
            causes.join("; ")
        );
        let failed = Failed {
            agent: "holdpoint",
            session: None,
            call: None,
            problem: &problem,
            left_alone: false,
            replayed: None,
        };
        let entry = self.failure(&failed, &Briefs::new(self.plain_redactor()));
        if self.ledger.append(&entry, Durability::Written).is_ok() {
            let _ = fs::remove_file(&taken);
        } else {
            let _ = fs::rename(&taken, &self.unrecorded);
        }
    }

    /// What takes secrets out of text, whatever the policy says.
    fn plain_redactor(&self) -> Redactor {
        let redactor = Redactor::new();
        match &self.home {
            Some(home) => redactor.shortening_home(home),
            None => redactor,
        }
    }

    /// What takes out of text what the policy wants out, if there is one.
    fn redactor_under(&self, policy: Option<&Policy>) -> Result<Redactor, RecordError> {
        match policy {
            Some(policy) => self.redactor(policy),
            None => Ok(self.plain_redactor()),
        }
    }

    /// What takes out of text what the policy wants out.
    fn redactor(&self, policy: &Policy) -> Result<Redactor, RecordError> {
        let rules = policy.redaction();
        let salt = match rules.equality {
            true => Some(self.salt().map_err(|error| {
                let path = self.salt.display().to_string();
                RecordError::Salt(path, plain_words(&error))
            })?),
            false => None,
        };
        Ok(rules.redactor(self.home.as_deref(), salt))
    }

    /// The key of the tags, made when it is first wanted.
    fn salt(&self) -> io::Result<[u8; 32]> {
        let kept = || -> Option<[u8; 32]> { read_bounded(&self.salt, 32).ok()?.try_into().ok() };
        if let Some(salt) = kept() {
            return Ok(salt);
        }
        let _held = lock(&self.salt)?;
        if let Some(salt) = kept() {
            return Ok(salt);
        }
        let salt = unguessable()?;
        write_whole(&self.salt, &salt)?;
        Ok(salt)
    }

    /// An outcome as it is handed to the ledger.
    fn prepared<'o>(
        &self,
        outcome: &Outcome<'o>,
        under: &mut Under<'o>,
    ) -> Result<Prepared<'o>, RecordError> {
        if let Outcome::Remembered(Remembered {
            answered,
            known,
            caller,
        }) = outcome
            // What is redacted depends on the policy, with which the decision is remembered, and on the
            // key of the tags where it wants those.
            && answered.policy.is_some_and(|policy| !policy.redaction().equality)
        {
            let mut failed = None;
            let draft = known.record(caller, || match under.briefs(self, answered.policy) {
                Ok(briefs) => self.decision(answered, briefs).draft(),
                Err(error) => {
                    failed = Some(error);
                    None
                }
            });
            match (draft, failed) {
                (_, Some(error)) => return Err(error),
                (Some(draft), None) => return Ok(Prepared::Draft(draft, answered.took)),
                (None, None) => {}
            }
        }
        let briefs = under.briefs(self, outcome.policy())?;
        Ok(Prepared::Entry(Box::new(self.entry(outcome, briefs))))
    }

    fn entry(&self, outcome: &Outcome<'_>, briefs: &Briefs) -> Entry {
        match outcome {
            Outcome::Answered(answered) | Outcome::Remembered(Remembered { answered, .. }) => {
                self.decision(answered, briefs)
            }
            Outcome::Failed(failed) => self.failure(failed, briefs),
        }
    }

    fn failure(&self, failed: &Failed<'_>, briefs: &Briefs) -> Entry {
        let redactor = briefs.redactor();
        let text = |text: &str| briefs.brief(text);
        let mut detail = Map::new();
        if failed.left_alone {
            detail.insert("left_alone".into(), Value::Bool(true));
        }
        if let Some(replayed) = failed.replayed {
            detail.insert("replayed".into(), found_at(replayed));
        }
        let call = failed.call;
        Entry {
            agent: Some(text(failed.agent)),
            session: failed.session.map(text),
            directory: call.and_then(ToolCall::cwd).map(text),
            tool: call.map(|call| text(call.tool())),
            // What is left alone is neither allowed nor refused.
            verdict: (!failed.left_alone).then_some(Verdict::Deny),
            method: Some(Method::Error),
            reason: Some(text(failed.problem)),
            call: call.and_then(|call| Digest::parse(&call.digest())),
            input: call.map(|call| recorded_arguments(redactor, call)),
            detail: (!detail.is_empty())
                .then(|| Detail::Of(redactor.json(&Value::Object(detail)).0)),
            ..Entry::new(Kind::Error)
        }
    }

    fn decision(&self, answered: &Answered<'_>, briefs: &Briefs) -> Entry {
        let Answered { call, decision, .. } = answered;
        let redactor = briefs.redactor();
        let text = |text: &str| briefs.brief(text);
        let deciding = decision
            .findings
            .first()
            .filter(|finding| Some(&finding.rule) == decision.rule.as_ref());
        Entry {
            agent: Some(text(answered.agent)),
            session: answered.session.map(text),
            directory: call.cwd().or(answered.directory).map(text),
            tool: Some(text(call.tool())),
            verdict: Some(decision.verdict),
            observed: decision.observed,
            method: Some(decision.method),
            rule: decision.rule.as_deref().map(text),
            risk: Some(decision.risk),
            reason: Some(text(&decision.reason)),
            part: deciding.and_then(|one| one.part.as_deref()).map(text),
            call: Digest::parse(&decision.call),
            policy: Digest::parse(&decision.policy),
            input: Some(recorded_arguments(redactor, call)),
            duration: answered.took,
            detail: detail(answered, redactor),
            ..Entry::new(Kind::Decision)
        }
    }
}

/// The other rules that matched, and the files that were read to judge the call.
fn detail(answered: &Answered<'_>, redactor: &Redactor) -> Option<Detail> {
    let decision = answered.decision;
    let mut findings: Vec<Value> = Vec::new();
    for finding in decision.findings.iter().take(MAX_FINDINGS) {
        let finding = json!({"rule": finding.rule, "verdict": finding.verdict});
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    let files: Vec<Value> = decision
        .files
        .iter()
        .take(MAX_FINDINGS)
        .map(|file| json!({"path": file.path, "digest": file.digest}))
        .collect();
    let mut detail = Map::new();
    if !findings.is_empty() {
        detail.insert("findings".into(), Value::Array(findings));
    }
    if let Some(instead) = &decision.instead {
        detail.insert("instead".into(), json!(instead));
    }
    if !files.is_empty() {
        detail.insert("files".into(), Value::Array(files));
    }
    if !decision.external.is_empty() {
        detail.insert("external".into(), json!(decision.external));
    }
    if !decision.tell.is_empty() {
        detail.insert("told".into(), json!(decision.tell));
    }
    if !decision.facts.is_empty() {
        let facts = decision.facts.iter().take(MAX_FINDINGS);
        detail.insert("facts".into(), json!(facts.collect::<Vec<_>>()));
    }
    if let Some(replayed) = answered.replayed {
        detail.insert("replayed".into(), found_at(replayed));
    }
    (!detail.is_empty()).then(|| Detail::Of(redactor.json(&Value::Object(detail)).0))
}

fn found_at(replayed: Replayed<'_>) -> Value {
    json!({"place": replayed.place, "time": replayed.time})
}

/// How surely an outcome is kept before it is answered.
fn durability(outcome: &Outcome<'_>) -> Durability {
    let answered = match outcome {
        Outcome::Answered(answered) | Outcome::Remembered(Remembered { answered, .. }) => answered,
        Outcome::Failed(_) => return Durability::Written,
    };
    let decision = answered.decision;
    let waits = match answered.policy.map(Policy::durability) {
        None | Some(Wanted::Never) => false,
        Some(Wanted::Risk) => decision.verdict <= Verdict::Contain && !decision.only_looks,
        Some(Wanted::Always) => true,
    };
    if waits {
        Durability::Synced
    } else {
        Durability::Written
    }
}

/// The record of a decision that turned into a refusal because it could not be kept.
fn refused(entry: Entry, error: &LedgerError) -> Entry {
    let reason = match error.code() {
        "disk_full" => "refused: the ledger's disk is full",
        "lock_held" => "refused: another process held the ledger's lock",
        "clock_went_back" => "refused: the clock went back behind the last record",
        "not_synced" => "refused: the record could not be brought to the disk",
        "no_key" => "refused: the ledger's key is missing",
        _ => "refused: the ledger could not be written",
    };
    Entry {
        verdict: Some(Verdict::Deny),
        observed: None,
        method: Some(Method::Error),
        rule: None,
        reason: Some(Redacted::literal(reason)),
        // As small as may be: there may be next to no room.
        input: None,
        detail: None,
        part: None,
        ..entry
    }
}
