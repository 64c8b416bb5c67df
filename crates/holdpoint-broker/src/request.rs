//! A call that is held: what was asked, what is shown, on which terms it is answered, how it ended.

use std::collections::BTreeMap;
use std::time::Duration;

use holdpoint_core::policy::{Check, Presence};
use holdpoint_core::{CallError, Decision, Method, ToolCall, Verdict};
use holdpoint_proof::{PinnedKey, Signed, sha256_hex};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::host::{Judged, Prepared, Problem};
use crate::time::UnixMillis;

/// A call as it reaches the gate: who makes it, where, and what they say about it. The only part of
/// a request that holds the arguments as they are; it is never shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallContext {
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub input: Map<String, Value>,
    /// The directory the call is made in.
    pub directory: String,
    /// The directory the agent belongs in, whose policy counts.
    pub workspace: String,
    /// A policy file named in place of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// What is known about the circumstances.
    #[serde(default)]
    pub context: Context,
}

impl CallContext {
    /// The call.
    pub fn call(&self) -> Result<ToolCall, CallError> {
        let input = Value::Object(self.input.clone());
        Ok(ToolCall::new(self.tool.clone(), input)?.in_directory(self.directory.clone()))
    }

    /// The same with other arguments.
    #[must_use]
    pub fn with_input(&self, input: Map<String, Value>) -> Self {
        Self {
            input,
            ..self.clone()
        }
    }
}

/// What is known about the circumstances of a call; handed on and shown (J-54).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// The session, as the caller names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The user or service account the agent works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The turn of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_number: Option<u64>,
    /// Tools already called in the session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub previous_tools: Vec<String>,
    /// The project or workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Development, staging, production.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Where the request comes from: a command line, an API, a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_source: Option<String>,
    /// What the agent says it wants to achieve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The kind of agent, for one that works for another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// Whatever else the caller says.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

impl Context {
    /// The turn of the conversation, as the agent names it.
    pub fn turn(&self) -> Option<&str> {
        self.more.get("prompt_id").and_then(Value::as_str)
    }
}

/// On which terms a request is answered; what the policy says about asking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// How many seconds it may wait; none means until it is answered.
    pub deadline: Option<u64>,
    /// How many people must say yes.
    pub required: u32,
    /// Who may answer; anybody who is signed in if it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// What must be typed to release it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phrase: Option<String>,
    /// The arguments a person may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub editable: Vec<String>,
    /// The rules `always` and `never` may leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Offer>,
    /// Whether prompts may be suspended by the answer (`all`, `turn`, `idle`).
    #[serde(default)]
    pub suspendable: bool,
    /// How sure it must be that a person says yes. What an earlier version stored wants nothing.
    #[serde(default = "nothing")]
    pub presence: Presence,
}

fn nothing() -> Presence {
    Presence::None
}

impl Terms {
    /// The rule that would have answered a question asked and released before in the same form: the narrowest.
    pub fn suggestion(&self) -> Option<&Offer> {
        let released = self
            .offers
            .iter()
            .filter(|offer| offer.released >= MIN_RELEASED);
        released.min_by_key(|offer| offer.scope)
    }

    /// When a request opened at `now` expires.
    pub fn expiry(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.deadline
            .map(|seconds| now.after(Duration::from_secs(seconds)))
    }
}

/// A rule that `always` or `never` may leave behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// How far it reaches.
    pub scope: crate::answer::Scope,
    /// The patterns, as the session stores them.
    pub patterns: Vec<String>,
    /// For how long it holds, in words.
    pub lasts: String,
    /// How often calls of this form were asked about and released in the session.
    #[serde(default, skip_serializing_if = "is_none")]
    pub released: u32,
}

/// A question that was answered with yes so often is likely to be again: the rule that would answer it is offered.
const MIN_RELEASED: u32 = 2;

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// The words of a call for people, without secrets (J-55).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Display {
    /// In one line.
    pub summary: String,
    /// In full: a command, a diff, arguments.
    pub details: String,
    /// What `details` is.
    pub format: Format,
    /// The language of code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Whether `details` was cut.
    pub truncated: bool,
    /// How many lines it had before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_lines: Option<usize>,
    /// What a person should not overlook.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warned>,
    /// Why the call must fail, if that is known already (J-46).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_validation_error: Option<String>,
    /// Parts of `details` that a rule caught.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Every argument, redacted.
    pub arguments: Map<String, Value>,
    /// The arguments in which something is hidden, so that they cannot be edited here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// The files and directories it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<NamedPath>,
}

/// What a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A unified diff.
    Diff,
    /// Code, a shell line for one.
    Code,
    /// Plain text.
    #[default]
    Text,
    /// JSON.
    Json,
}

/// What a person should not overlook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warned {
    /// `info`, `warning` or `danger`.
    pub level: String,
    /// In a sentence.
    pub text: String,
}

/// A part of a text that a rule caught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its bytes in `details`, from the first to the one after the last.
    pub span: [usize; 2],
    /// The rule.
    pub rule: String,
    /// What the rule wants.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// A path a call names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPath {
    /// As it was resolved.
    pub path: String,
    /// `read`, `write`, `delete`, `run` or `use`.
    pub what: String,
}

/// What a check found, before anybody was asked (A-12 … A-14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Which.
    pub check: Check,
    /// What came of it.
    pub status: Status,
    /// In a sentence.
    pub message: String,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is fine.
    Passed,
    /// A person should know.
    Warning,
    /// The call must not run.
    Failed,
    /// It could not be found out, so the call must not run.
    Error,
    /// It has nothing to say about this call, or its time has not come.
    Skipped,
}

impl Status {
    /// Whether the call is refused without asking anybody.
    pub fn blocks(self) -> bool {
        matches!(self, Status::Failed | Status::Error)
    }
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits.
    Pending,
    /// It may run, once.
    Released,
    /// It may not.
    Refused,
    /// Nobody answered in time; it may not run.
    Expired,
    /// Whoever asked no longer wants it.
    Withdrawn,
}

impl State {
    /// The word in output and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Released => "released",
            State::Refused => "refused",
            State::Expired => "expired",
            State::Withdrawn => "withdrawn",
        }
    }
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// When.
    pub at: UnixMillis,
    /// How it came about, in the words of J-57.
    pub method: Method,
    /// Why, for the agent.
    pub reason: String,
    /// What the person wants the model to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
}

/// One person's yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Who.
    pub approver: String,
    /// For whom, if somebody asked them to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// When.
    pub at: UnixMillis,
    /// What proves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProvedBy>,
}

/// What proves that somebody said yes: their signature, and the key it is verified by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedBy {
    /// What they signed, and the signature.
    pub signed: Signed,
    /// The key, as it was pinned then.
    pub key: PinnedKey,
}

/// A change a person made to the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Who.
    pub by: String,
    /// When.
    pub at: UnixMillis,
    /// Which arguments.
    pub changed: Vec<String>,
    /// The difference, without secrets, as a unified diff.
    pub diff: String,
}

/// A call that is held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Its name, short enough to type.
    pub id: String,
    /// What was asked, with the arguments as they would run now.
    pub asked: CallContext,
    /// The arguments before anybody changed them; none if nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Map<String, Value>>,
    /// The digest of the call as it was made, of the policy, of files and terms: by it the identical
    /// call is known again.
    pub origin: String,
    /// The same of the call as it would run now: what an answer is about.
    pub binding: String,
    /// The digest of what is shown of it; none for what a version stored that did not bind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// What is bound, part by part, each with a word for its state; nothing for what a version stored that kept none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, String>,
    /// The short texts among them as they were shown, without secrets, so that it can be said what is another.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// What was decided, without secrets.
    pub decision: Decision,
    /// On which terms it is answered.
    pub terms: Terms,
    /// What is shown of it.
    pub display: Display,
    /// The circumstances, without secrets.
    pub context: Context,
    /// What the checks found.
    pub checks: Vec<CheckResult>,
    /// When it was opened.
    pub opened: UnixMillis,
    /// When it expires; none means never.
    pub expires: Option<UnixMillis>,
    /// Where it stands.
    pub state: State,
    /// Who said yes so far.
    #[serde(default)]
    pub approvals: Vec<Approval>,
    /// What was signed and counted so far, by its nonce. An edit takes what people said back, and changing the arguments to what
    /// they were does not bring it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<String>,
    /// What was changed.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    /// Whether nobody waits for it: the call ran inside the sandbox, and a person may let it run outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
    /// Counts the changes, so that a view knows the newer of two.
    pub version: u64,
}

/// The digest of what a person reads of a call that can be made again from the call itself: of its arguments without secrets,
/// and of what was decided. What checks found, what the agent says of itself and the words of the reason stand outside of it:
/// those name facts that change while somebody thinks (the time), or are an outside decider's, who words them anew. Which rule
/// asks, and how, says what they rest on.
pub fn card_digest(
    asked: &CallContext,
    arguments: &Map<String, Value>,
    decision: &Decision,
) -> String {
    let card = json!({
        "agent": asked.agent,
        "session": asked.session,
        "tool": asked.tool,
        "directory": asked.directory,
        "workspace": asked.workspace,
        "arguments": arguments,
        "verdict": decision.verdict,
        "risk": decision.risk,
        "rule": decision.rule,
    });
    sha256_hex(card.to_string().as_bytes())
}

impl Request {
    /// A call that is held from now on, under a new name.
    pub fn opened(
        asked: &CallContext,
        judged: Judged,
        prepared: Prepared,
        now: UnixMillis,
    ) -> Result<Self, Problem> {
        Ok(Self {
            id: new_id()?,
            asked: asked.clone(),
            original: None,
            origin: judged.binding.clone(),
            binding: judged.binding,
            card: Some(judged.card),
            parts: judged.parts,
            texts: prepared.texts,
            expires: judged.terms.expiry(now),
            decision: judged.decision,
            terms: judged.terms,
            display: prepared.display,
            context: prepared.context,
            checks: prepared.checks,
            opened: now,
            state: State::Pending,
            approvals: Vec::new(),
            nonces: Vec::new(),
            edits: Vec::new(),
            settled: None,
            offered: false,
            version: 1,
        })
    }

    /// Whether it was opened for this call.
    pub fn is_about(&self, asked: &CallContext) -> bool {
        match &self.original {
            None => self.asked == *asked,
            Some(input) => self.asked.with_input(input.clone()) == *asked,
        }
    }

    /// Who has said yes so far.
    pub fn approvers(&self) -> Vec<&str> {
        let approvers = self.approvals.iter().map(|one| one.approver.as_str());
        approvers.collect()
    }

    /// What those who have said yes signed.
    pub fn proofs(&self) -> impl Iterator<Item = &Signed> {
        self.approvals
            .iter()
            .filter_map(|one| Some(&one.proof.as_ref()?.signed))
    }

    /// Whether the arguments were changed.
    pub fn was_edited(&self) -> bool {
        self.original.is_some()
    }

    /// The same without the arguments as they are: what leaves the daemon.
    #[must_use]
    pub fn without_arguments(&self) -> Self {
        Self {
            asked: self.asked.with_input(Map::new()),
            original: self.original.as_ref().map(|_| Map::new()),
            // They are for whoever compares, and long.
            parts: BTreeMap::new(),
            texts: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// The same for a list of many: what is long is cut, and stands whole in the request itself.
    #[must_use]
    pub fn listed(&self) -> Self {
        let mut listed = self.without_arguments();
        let display = &mut listed.display;
        let arguments: usize = display
            .arguments
            .values()
            .map(|value| value.to_string().len())
            .sum();
        if arguments + display.details.len() <= MAX_LISTED {
            return listed;
        }
        let end = display.details.floor_char_boundary(MAX_LISTED / 2);
        display.details.truncate(end);
        display
            .marks
            .retain(|mark| mark.span.iter().all(|at| *at <= end));
        display.arguments.clear();
        display.truncated = true;
        listed
    }

    /// What everybody who may look at it sees.
    pub fn card(&self) -> Card<'_> {
        Card {
            id: &self.id,
            state: self.state,
            agent: &self.asked.agent,
            session: &self.asked.session,
            tool: &self.asked.tool,
            directory: &self.asked.directory,
            workspace: &self.asked.workspace,
            binding: &self.binding,
            decision: &self.decision,
            terms: &self.terms,
            display: &self.display,
            context: &self.context,
            checks: &self.checks,
            opened: self.opened,
            expires: self.expires,
            approvals: &self.approvals,
            edits: &self.edits,
            was_edited: self.was_edited(),
            settled: self.settled.as_ref(),
            offered: self.offered,
            version: self.version,
        }
    }
}

/// The most bytes of what is shown of a request in a list. Thousands of them are one line.
const MAX_LISTED: usize = 16 << 10;

/// A request as it is shown: everything but the arguments as they are.
#[derive(Clone, Debug, Serialize)]
pub struct Card<'a> {
    /// Its name.
    pub id: &'a str,
    /// Where it stands.
    pub state: State,
    /// The agent.
    pub agent: &'a str,
    /// Its session.
    pub session: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Where the call is made.
    pub directory: &'a str,
    /// Where the agent belongs.
    pub workspace: &'a str,
    /// What an answer must name, so that it is about what was shown.
    pub binding: &'a str,
    /// What was decided.
    pub decision: &'a Decision,
    /// On which terms it is answered.
    pub terms: &'a Terms,
    /// The words for people.
    pub display: &'a Display,
    /// The circumstances.
    pub context: &'a Context,
    /// What the checks found.
    pub checks: &'a [CheckResult],
    /// When it was opened.
    pub opened: UnixMillis,
    /// When it expires.
    pub expires: Option<UnixMillis>,
    /// Who said yes so far.
    pub approvals: &'a [Approval],
    /// What was changed.
    pub edits: &'a [Edit],
    /// Whether anything was.
    pub was_edited: bool,
    /// How it ended.
    pub settled: Option<&'a Settled>,
    /// Whether nobody waits for it: the call ran inside the sandbox, and a person may let it run outside.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
    /// Counts the changes.
    pub version: u64,
}

/// A name that is short enough to type and not to be guessed: eight letters and digits that are not
/// taken for one another.
fn new_id() -> Result<String, Problem> {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| Problem(format!("the system gives no random numbers ({error})")))?;
    Ok(bytes
        .iter()
        .filter_map(|byte| LETTERS.get(usize::from(byte % 32)))
        .map(|letter| char::from(*letter))
        .collect())
}
