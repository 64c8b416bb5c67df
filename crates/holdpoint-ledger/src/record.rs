//! What a record says: [`Entry`] as it is handed to the writer, [`Record`] as it is read again.
//!
//! An entry takes text only as [`Redacted`], so nothing that was not redacted can be written. The
//! writer adds the version, the number, the hash of the record before and the time.

use std::time::Duration;

use holdpoint_core::text::redaction::{Redacted, RedactedJson};
use holdpoint_core::{Method, Risk, Verdict};
use holdpoint_proof::{PinnedKey, Proof};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Timestamp;
use crate::chain::{RecordHash, push_hex, push_number};

/// The version of the form of records.
pub const VERSION: u32 = 1;

/// The longest line that is written or read, its end included.
pub const MAX_LINE: usize = 64 << 10;

/// How the agents of replayed calls are named: this, and who wrote the transcript.
pub const REPLAYED_AGENT: &str = "replay:";

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A call was judged.
    Decision,
    /// A call is held for a person.
    HoldOpened,
    /// A person answered.
    HoldAnswered,
    /// Nobody answered in time.
    HoldExpired,
    /// A held call was let go.
    Release,
    /// A call has run.
    Result,
    /// A text was found to carry an injection, hidden characters or a secret.
    TextFinding,
    /// A policy file, its trust or its set-up was changed.
    PolicyChange,
    /// A rule of a session was changed.
    SessionRule,
    /// The ledger was mended: a torn tail cut, or a loss noticed.
    Repair,
    /// A signed statement of how the ledger stood.
    Checkpoint,
    /// Something failed.
    Error,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 12] = [
        Kind::Decision,
        Kind::HoldOpened,
        Kind::HoldAnswered,
        Kind::HoldExpired,
        Kind::Release,
        Kind::Result,
        Kind::TextFinding,
        Kind::PolicyChange,
        Kind::SessionRule,
        Kind::Repair,
        Kind::Checkpoint,
        Kind::Error,
    ];

    /// The word in a record.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Decision => "decision",
            Kind::HoldOpened => "hold_opened",
            Kind::HoldAnswered => "hold_answered",
            Kind::HoldExpired => "hold_expired",
            Kind::Release => "release",
            Kind::Result => "result",
            Kind::TextFinding => "text_finding",
            Kind::PolicyChange => "policy_change",
            Kind::SessionRule => "session_rule",
            Kind::Repair => "repair",
            Kind::Checkpoint => "checkpoint",
            Kind::Error => "error",
        }
    }
}

/// What a call was confined by when it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// By nothing.
    None,
    /// By Landlock and a filter of system calls: no protected paths, no network.
    Landlock,
    /// By a file system, processes and a network of its own as well.
    Full,
}

/// `sha256:` and 64 digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Takes a text that is a digest and no other.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?;
        // Only lower-case digits: a digest has one spelling.
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == 64 && digits.bytes().all(digit)).then(|| Self(text.to_owned()))
    }
}

/// What is to be recorded. Fields that do not apply stay empty and are not written.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// What happened.
    pub kind: Kind,
    /// The agent that asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Redacted>,
    /// Its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Redacted>,
    /// The directory the call is made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<Redacted>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Redacted>,
    /// What may happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What would have been said, where the policy only observes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Verdict>,
    /// How the verdict came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Redacted>,
    /// How much harm the call could do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Redacted>,
    /// The part of the call that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Redacted>,
    /// The digest of the call as it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Digest>,
    /// The version of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Digest>,
    /// The call's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<RedactedJson>,
    /// Who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approver: Option<Redacted>,
    /// How long it took, in microseconds.
    #[serde(
        skip_serializing_if = "Option::is_none",
        rename = "duration_us",
        serialize_with = "micros"
    )]
    pub duration: Option<Duration>,
    /// What the call was confined by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// What only this kind of record says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

/// What only one kind of record says.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Detail {
    /// Anything, once it is redacted.
    Of(RedactedJson),
    /// How a person answered.
    Answered(Box<AnsweredDetail>),
    /// What was mended.
    Mended(Mend),
    /// A signed statement, and the tree it is about.
    Checkpoint {
        /// The signed note.
        note: String,
        /// The key that checks it.
        key: String,
        /// The roots of the perfect trees, the largest first.
        tree: Vec<String>,
        /// Whether nobody asked for it: then its note has no file of its own.
        automatic: bool,
    },
}

/// How a person answered.
#[derive(Clone, Debug, Serialize)]
pub struct AnsweredDetail {
    /// What every answer's record says.
    #[serde(flatten)]
    pub said: RedactedJson,
    /// The way it came by.
    pub route: &'static str,
    /// From where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Redacted>,
    /// What they signed.
    #[serde(flatten)]
    pub signed: Option<SignedDetail>,
}

/// What somebody signed, kept to the byte: it is verified again from the record alone. It is digests, names and signatures,
/// verified before it was recorded, so no redactor looks at it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SignedDetail {
    /// The bytes that were signed.
    pub statement: String,
    /// The signature.
    pub proof: Proof,
    /// The key, as it was pinned then.
    pub key: PinnedKey,
}

/// What was found wrong at the end of the ledger, and what was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Mend {
    /// A record without an end, left by a process that was killed, was cut off.
    Torn {
        /// Its bytes.
        bytes: u64,
        /// Their digest.
        sha256: String,
    },
    /// Records that were there are gone.
    Lost {
        /// How many records there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Records stand there that no writer announced.
    Unclaimed {
        /// How many records there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The head could not be read, so nobody knows whether records are missing.
    NoHead,
    /// A person took note of what was lost before.
    Acknowledged,
    /// A person accepted the clock.
    Clock {
        /// The time of the record before.
        last: String,
    },
    /// A person had a new key made.
    NewKey,
}

impl Mend {
    /// Whether it tells of something no crash of a process explains.
    pub fn is_loss(&self) -> bool {
        match self {
            Mend::Lost { .. } | Mend::Unclaimed { .. } | Mend::NoHead => true,
            Mend::Torn { .. } | Mend::Acknowledged | Mend::Clock { .. } | Mend::NewKey => false,
        }
    }
}

fn micros<S: serde::Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(whole_micros).serialize(to)
}

fn whole_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Entry {
    /// An entry of a kind, with nothing said yet.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            agent: None,
            session: None,
            directory: None,
            tool: None,
            verdict: None,
            observed: None,
            method: None,
            rule: None,
            risk: None,
            reason: None,
            part: None,
            call: None,
            policy: None,
            input: None,
            approver: None,
            duration: None,
            sandbox: None,
            detail: None,
        }
    }

    /// Adds the stored line, its end included, to `lines`; `time` is its time as a text. What would make it longer than
    /// [`MAX_LINE`] is left out, the arguments first.
    pub(crate) fn write(
        &self,
        seq: u64,
        prev: &RecordHash,
        time: &str,
        lines: &mut Vec<u8>,
    ) -> serde_json::Result<RecordHash> {
        let start = lines.len();
        self.write_once(seq, prev, time, lines)?;
        if lines.len() - start > MAX_LINE {
            lines.truncate(start);
            let smaller = Self {
                input: None,
                ..self.clone()
            };
            smaller.write_once(seq, prev, time, lines)?;
        }
        if lines.len() - start > MAX_LINE {
            lines.truncate(start);
            let least = Self {
                input: None,
                detail: None,
                part: None,
                rule: None,
                reason: Some(Redacted::literal("too long to be recorded")),
                agent: None,
                session: None,
                directory: None,
                tool: None,
                approver: None,
                ..self.clone()
            };
            least.write_once(seq, prev, time, lines)?;
        }
        let line = lines.get(start..lines.len().saturating_sub(1));
        Ok(RecordHash::from_line(line.unwrap_or_default()))
    }

    /// The entry as it is stored but for what changes each time it is: none if it is so long that parts
    /// of it would have to be left out.
    pub fn draft(&self) -> Option<Draft> {
        let whole = Self {
            // Any number: it marks the place.
            duration: Some(Duration::ZERO),
            ..self.clone()
        };
        let text = serde_json::to_vec(&whole).ok()?;
        // Nothing but what is not text of somebody's may stand after it: its last place is the one.
        let mark = b",\"duration_us\":0";
        let tail = Self {
            sandbox: self.sandbox,
            detail: self.detail.clone(),
            ..Self::new(self.kind)
        };
        let tail = serde_json::to_vec(&tail).ok()?;
        let kind = format!("{{\"kind\":\"{}\"", self.kind.as_str());
        let after = tail.strip_prefix(kind.as_bytes())?;
        let before = text.strip_suffix(after)?.strip_suffix(mark)?;
        // The opening brace is a comma where the writer's own fields stand before it.
        let before = before.strip_prefix(b"{")?;
        (before.len() + after.len() + MAX_OWN_FIELDS <= MAX_LINE).then(|| Draft {
            before: before.into(),
            after: after.into(),
        })
    }

    fn write_once(
        &self,
        seq: u64,
        prev: &RecordHash,
        time: &str,
        lines: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        write_own_fields(seq, prev, time, lines);
        let rest = lines.len();
        serde_json::to_writer(&mut *lines, self)?;
        // The two objects become one: a comma stands where the second one opened.
        if let Some(brace) = lines.get_mut(rest) {
            *brace = b',';
        }
        lines.push(b'\n');
        Ok(())
    }
}

/// More than the fields take that the writer adds, and a duration: three numbers of at most 20 digits, a
/// hash, a time, and their names.
const MAX_OWN_FIELDS: usize = 256;

/// Writes what the writer adds to an entry, without an end.
fn write_own_fields(seq: u64, prev: &RecordHash, time: &str, lines: &mut Vec<u8>) {
    lines.extend_from_slice(b"{\"v\":");
    push_number(VERSION.into(), 1, lines);
    lines.extend_from_slice(b",\"seq\":");
    push_number(seq, 1, lines);
    lines.extend_from_slice(b",\"prev\":\"");
    push_hex(prev.as_bytes(), lines);
    lines.extend_from_slice(b"\",\"time\":\"");
    lines.extend_from_slice(time.as_bytes());
    lines.push(b'"');
}

/// An entry that is recorded again and again: all of it that stays the same, as it is stored. Only
/// [`Entry::draft`] makes one, so what it holds is redacted.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What stands before the duration, without the brace.
    before: Box<[u8]>,
    /// What stands after it.
    after: Box<[u8]>,
}

/// What is to be recorded.
#[derive(Clone, Copy, Debug)]
pub enum EntryRef<'a> {
    /// An entry.
    Whole(&'a Entry),
    /// An entry that was recorded before, and how long it took this time.
    Draft(&'a Draft, Option<Duration>),
}

impl EntryRef<'_> {
    /// Adds the stored line, its end included, to `lines`; `time` is its time as a text.
    pub(crate) fn write(
        &self,
        seq: u64,
        prev: &RecordHash,
        time: &str,
        lines: &mut Vec<u8>,
    ) -> serde_json::Result<RecordHash> {
        let (draft, took) = match self {
            EntryRef::Whole(entry) => return entry.write(seq, prev, time, lines),
            EntryRef::Draft(draft, took) => (draft, took),
        };
        let start = lines.len();
        write_own_fields(seq, prev, time, lines);
        lines.push(b',');
        lines.extend_from_slice(&draft.before);
        if let Some(took) = took {
            lines.extend_from_slice(b",\"duration_us\":");
            push_number(whole_micros(*took), 1, lines);
        }
        lines.extend_from_slice(&draft.after);
        let line = lines.get(start..).unwrap_or_default();
        let hash = RecordHash::from_line(line);
        lines.push(b'\n');
        Ok(hash)
    }
}

/// A record as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(title = "A record of Holdpoint's ledger", inline)
)]
pub struct Record {
    /// The version of this form.
    pub v: u32,
    /// Its number, from 0.
    pub seq: u64,
    /// SHA-256 of a zero byte and the stored bytes of the record before; zeros in the first.
    pub prev: String,
    /// When it was written: UTC, RFC 3339.
    pub time: String,
    /// What happened.
    pub kind: Kind,
    /// The agent that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The directory the call is made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What may happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What would have been said, where the policy only observes: `verdict` then let the call run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Verdict>,
    /// How the verdict came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How much harm the call could do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The part of the call that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// `sha256:…` of the call as it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// `sha256:…` of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The call's arguments, redacted and shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// How long it took, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// What the call was confined by when it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// What only this kind of record says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
}

impl Record {
    /// Reads a stored line.
    pub fn parse(line: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(line)
    }

    /// When it was written.
    pub fn timestamp(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.time)
    }

    /// Whether it is about a call somebody found in a transcript: one that was made long ago, and
    /// that nobody held or refused.
    pub fn is_replayed(&self) -> bool {
        let agent = self.agent.as_deref();
        agent.is_some_and(|agent| agent.starts_with(REPLAYED_AGENT))
    }

    /// The JSON Schema of a record.
    #[cfg(feature = "schema")]
    pub fn schema() -> Value {
        schemars::schema_for!(Record).to_value()
    }
}
