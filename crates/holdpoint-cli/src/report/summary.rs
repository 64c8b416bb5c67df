//! What a report says: figures ready to be shown, and their JSON form.

use std::collections::BTreeMap;

use holdpoint_core::{Risk, Verdict};
use holdpoint_ledger::Timestamp;
use serde::{Serialize, Serializer};

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// Everything a report says.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The version of this form.
    pub v: u32,
    /// When it was made.
    #[serde(serialize_with = "moment")]
    pub made: Timestamp,
    /// What it is about.
    pub period: Reported,
    /// How the ledger stands.
    pub ledger: LedgerState,
    /// Calls judged.
    pub calls: u64,
    /// By verdict.
    pub verdicts: Verdicts,
    /// By risk.
    pub risks: BTreeMap<&'static str, Verdicts>,
    /// Questions and their answers.
    pub asks: Answers,
    /// Failures on record.
    pub errors: u64,
    /// Texts found to carry an injection, hidden characters or a secret.
    pub text_findings: u64,
    /// Over time.
    pub over_time: Series,
    /// How long judging took.
    pub judged: Durations,
    /// How long people took to answer.
    pub answered: Durations,
    /// The rules that asked or denied most.
    pub objecting: Ranked<RuleLine>,
    /// The rules that let most through.
    pub allowing: Ranked<RuleLine>,
    /// The tools called most.
    pub tools: Ranked<Group>,
    /// The agents.
    pub agents: Ranked<Group>,
    /// The sessions, the latest first.
    pub sessions: Ranked<SessionLine>,
    /// What would have been said where calls were only observed; none if none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observing>,
    /// What could be changed.
    pub advice: Advice,
}

/// Calls that were only observed, by what would have been said of them.
#[derive(Clone, Debug, Serialize)]
pub struct Observing {
    /// How many there were.
    pub calls: u64,
    /// By the verdict that would have been given.
    pub verdicts: Verdicts,
    /// The rules that would have objected most.
    pub rules: Ranked<RuleLine>,
    /// By agent.
    pub agents: Ranked<Group>,
    /// What shipped profiles say of the same calls, as far as they are on record.
    pub profiles: Vec<Group>,
}

/// The period a report is about.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Reported {
    /// The start that was asked for.
    #[serde(serialize_with = "maybe_moment")]
    pub since: Option<Timestamp>,
    /// The end that was asked for.
    #[serde(serialize_with = "maybe_moment")]
    pub until: Option<Timestamp>,
    /// The first call in it.
    #[serde(serialize_with = "maybe_moment")]
    pub first: Option<Timestamp>,
    /// The last call in it.
    #[serde(serialize_with = "maybe_moment")]
    pub last: Option<Timestamp>,
}

/// How the ledger stands, whatever the period.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LedgerState {
    /// Its directory.
    pub directory: String,
    /// Records in it.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether verification found nothing wrong.
    pub intact: bool,
    /// Checkpoints that hold.
    pub checkpoints: u64,
    /// Records the last checkpoint that holds is about.
    pub signed: u64,
    /// When the last checkpoint was recorded.
    #[serde(serialize_with = "maybe_moment")]
    pub last_checkpoint: Option<Timestamp>,
    /// What verification found wrong, the first bad record first.
    pub faults: Vec<String>,
    /// Faults that are not listed.
    pub more_faults: u64,
    /// What is worth knowing and no fault.
    pub notes: Vec<String>,
    /// Lines that could not be read and so are in no figure.
    pub unreadable: u64,
}

/// A count for each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// Allowed.
    pub allow: u64,
    /// Allowed, with a notice.
    pub notify: u64,
    /// Run inside the sandbox.
    pub contain: u64,
    /// Asked about.
    pub ask: u64,
    /// To be reviewed.
    pub review: u64,
    /// Denied.
    pub deny: u64,
}

impl Verdicts {
    /// A number of calls with one verdict.
    pub(super) fn of(verdict: Verdict, count: u64) -> Self {
        let mut verdicts = Self::default();
        *verdicts.slot(verdict) = count;
        verdicts
    }

    /// Counts one more.
    pub(super) fn count(&mut self, verdict: Verdict) {
        *self.slot(verdict) += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (verdict, count) in other.each() {
            *self.slot(verdict) += count;
        }
    }

    fn slot(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Allow => &mut self.allow,
            Verdict::Notify => &mut self.notify,
            Verdict::Contain => &mut self.contain,
            Verdict::Ask => &mut self.ask,
            Verdict::Review => &mut self.review,
            Verdict::Deny => &mut self.deny,
        }
    }

    /// Each verdict with its count, from the most permissive to the strictest.
    pub fn each(&self) -> [(Verdict, u64); 6] {
        [
            (Verdict::Allow, self.allow),
            (Verdict::Notify, self.notify),
            (Verdict::Contain, self.contain),
            (Verdict::Ask, self.ask),
            (Verdict::Review, self.review),
            (Verdict::Deny, self.deny),
        ]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.each().iter().map(|(_, count)| count).sum()
    }

    /// Those that ran unasked.
    pub fn ran(&self) -> u64 {
        self.allow + self.notify
    }

    /// Those a person was asked about.
    pub fn held(&self) -> u64 {
        self.ask + self.review
    }
}

/// Questions and how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Answers {
    /// Calls a person was asked about.
    pub asked: u64,
    /// Of all calls; none without any.
    pub ask_rate: Option<f64>,
    /// Approved.
    pub approved: u64,
    /// Refused.
    pub refused: u64,
    /// Nobody answered in time.
    pub expired: u64,
    /// Without an answer on record.
    pub unanswered: u64,
    /// Approved, of those that ended; none if none did.
    pub approval_rate: Option<f64>,
}

/// Counts over time, without a gap.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// How long each bucket is.
    #[serde(rename = "step_seconds")]
    pub step: Step,
    /// The buckets, the first first.
    pub buckets: Vec<Bucket>,
}

/// The length of a bucket, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Step(pub u64);

/// What happened in one step of time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bucket {
    /// When it begins.
    #[serde(serialize_with = "moment")]
    pub start: Timestamp,
    /// Calls by verdict.
    pub verdicts: Verdicts,
    /// Questions asked in it that were approved.
    pub approved: u64,
    /// Questions asked in it that ended.
    pub answered: u64,
}

/// How long something took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Durations {
    /// How many times are known.
    pub count: u64,
    /// Half of them took at most this long.
    pub p50_us: Option<u64>,
    /// 95 of a hundred did.
    pub p95_us: Option<u64>,
    /// 99 of a hundred did.
    pub p99_us: Option<u64>,
    /// The longest.
    pub longest_us: Option<u64>,
    /// Counts on a logarithmic scale.
    pub spans: Vec<Span>,
}

/// How many times lie between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// From here on.
    pub from_us: u64,
    /// To before here.
    pub to_us: u64,
    /// How many.
    pub count: u64,
}

/// The first of a list, and how long the whole is.
#[derive(Clone, Debug, Serialize)]
pub struct Ranked<T> {
    /// How many there are in all.
    pub total: u64,
    /// The first of them.
    pub listed: Vec<T>,
}

impl<T> Default for Ranked<T> {
    fn default() -> Self {
        Self {
            total: 0,
            listed: Vec::new(),
        }
    }
}

impl<T> Ranked<T> {
    /// How many are not listed.
    pub fn more(&self) -> u64 {
        let listed = u64::try_from(self.listed.len()).unwrap_or(u64::MAX);
        self.total.saturating_sub(listed)
    }
}

/// What a rule decided.
#[derive(Clone, Debug, Serialize)]
pub struct RuleLine {
    /// Its id, or the text of a list's entry.
    pub rule: String,
    /// Calls it decided, by verdict.
    pub verdicts: Verdicts,
    /// Why, as the last record with it says.
    pub reason: String,
}

/// Calls of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The tool or agent.
    pub name: String,
    /// Its calls, by verdict.
    pub verdicts: Verdicts,
}

/// A session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionLine {
    /// Its id.
    pub session: String,
    /// Its agent.
    pub agent: String,
    /// Its first call in the period.
    #[serde(serialize_with = "moment")]
    pub first: Timestamp,
    /// Its last.
    #[serde(serialize_with = "moment")]
    pub last: Timestamp,
    /// Its calls, by verdict.
    pub verdicts: Verdicts,
    /// The highest risk of any.
    pub risk: Risk,
}

/// What could be changed in the policy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Advice {
    /// Allow rules that would have saved questions.
    pub allow: Vec<Allowing>,
    /// All of them as they are written in a policy; none if there are none.
    pub snippet: Option<Snippet>,
    /// Rules that decided nothing.
    pub unused: Unused,
    /// The tools asked about most.
    pub asked: Vec<AskedTool>,
    /// What is denied again and again.
    pub denials: Ranked<Denial>,
    /// Why there is no advice on rules, if so.
    pub problem: Option<String>,
}

/// What to add to a policy.
#[derive(Clone, Debug, Serialize)]
pub struct Snippet {
    /// The file it belongs in.
    pub file: String,
    /// Whether that file is to be made.
    pub new: bool,
    /// Its text.
    pub text: String,
}

/// An allow rule that would have saved questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allowing {
    /// The patterns to add to `allow`.
    pub patterns: Vec<String>,
    /// Questions it would have saved.
    pub saves: u64,
    /// How many of them were approved.
    pub approved: u64,
    /// A command it covers.
    pub example: String,
    /// The rules that asked; empty where a default did.
    pub asked_by: Vec<String>,
    /// The commands that were asked about.
    #[serde(skip)]
    pub lines: Vec<String>,
}

/// Rules that decided nothing in the period.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unused {
    /// The shipped packs: how many of their rules in force decided something.
    pub packs: Vec<Fired>,
    /// Rules of one's own.
    pub own: Ranked<OwnRule>,
}

/// A rule somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnRule {
    /// The rule, as written.
    pub rule: String,
    /// The list it stands in, or its pack.
    pub list: String,
    /// The file.
    pub file: String,
}

/// How many rules of a pack decided something.
#[derive(Clone, Debug, Serialize)]
pub struct Fired {
    /// The pack.
    pub pack: String,
    /// What it is about.
    pub title: String,
    /// Its rules in force.
    pub rules: u64,
    /// Those that decided something.
    pub fired: u64,
}

/// A tool people are asked about.
#[derive(Clone, Debug, Serialize)]
pub struct AskedTool {
    /// The tool.
    pub tool: String,
    /// Questions.
    pub asks: u64,
    /// Calls.
    pub calls: u64,
}

/// Something denied again and again.
#[derive(Clone, Debug, Serialize)]
pub struct Denial {
    /// The rule.
    pub rule: String,
    /// How often.
    pub count: u64,
    /// In how many sessions, as far as they are told apart.
    pub sessions: u64,
    /// Why.
    pub reason: String,
    /// What the agent is told to do instead.
    pub instead: Option<String>,
}

fn moment<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(time)
}

fn maybe_moment<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => to.collect_str(time),
        None => to.serialize_none(),
    }
}
