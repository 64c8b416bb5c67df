//! From records to figures: one pass over the ledger, in bounded memory.

use holdpoint_core::{Risk, Verdict};
use holdpoint_ledger::{Kind, Line, Record, Timestamp, Verification};
use serde_json::Value;

use super::advice;
use super::asks::{Asks, Ending, Subject};
use super::candidates::{self, AskGroup};
use super::durations::Histogram;
use super::observing::Observed;
use super::summary::{
    Answers, Group, LedgerState, Ranked, Reported, RuleLine, SessionLine, Summary, VERSION,
    Verdicts,
};
use super::tally::{Distinct, Tally, Weight};
use super::timeline::Timeline;
use super::trial::Trial;

/// The most names kept of each kind while reading, so that a ledger of any size is read in bounded memory; beyond it
/// the lighter half is forgotten, and how many that were is said.
const MAX_SESSIONS: usize = 20_000;
const MAX_RULES: usize = 10_000;
const MAX_TOOLS: usize = 4_000;
const MAX_GROUPS: usize = 2_000;

/// The most sessions told apart: in all, and for one rule. Beyond it the figure stays as it is.
const MAX_DISTINCT: usize = 200_000;
const MAX_DISTINCT_OF_RULE: usize = 500;

/// The most lines of each list: what fits on a page somebody reads. The rest is counted.
pub(super) const MAX_LISTED_RULES: usize = 10;
const MAX_LISTED_TOOLS: usize = 12;
pub(super) const MAX_LISTED_AGENTS: usize = 8;
const MAX_LISTED_SESSIONS: usize = 40;
const MAX_LISTED_FAULTS: usize = 10;

/// The part of the ledger a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// From this moment on.
    pub since: Option<Timestamp>,
    /// To before this moment.
    pub until: Option<Timestamp>,
}

impl Period {
    pub(super) fn holds(&self, time: Timestamp) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

/// What a rule decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Decided {
    pub(super) verdicts: Verdicts,
    pub(super) reason: String,
    pub(super) instead: Option<String>,
    pub(super) sessions: Distinct,
}

impl Weight for Decided {
    fn weight(&self) -> u64 {
        self.verdicts.total()
    }
}

impl Weight for Verdicts {
    fn weight(&self) -> u64 {
        self.total()
    }
}

#[derive(Clone, Debug, Default)]
struct Seen {
    agent: String,
    first: Timestamp,
    last: Timestamp,
    verdicts: Verdicts,
    risk: Risk,
}

impl Weight for Seen {
    fn weight(&self) -> u64 {
        self.verdicts.total()
    }
}

/// Figures being gathered.
#[derive(Clone, Debug)]
pub struct Gathering {
    period: Period,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    verdicts: Verdicts,
    risks: [Verdicts; 5],
    asks: Asks,
    answers: Answers,
    errors: u64,
    text_findings: u64,
    timeline: Timeline,
    judged: Histogram,
    answered: Histogram,
    pub(super) rules: Tally<Decided>,
    /// Rules that were found to match, whether or not they decided.
    pub(super) matched: Tally<u64>,
    pub(super) tools: Tally<Verdicts>,
    agents: Tally<Verdicts>,
    sessions: Tally<Seen>,
    session_ids: Distinct,
    pub(super) groups: Tally<AskGroup>,
    observed: Observed,
    last_checkpoint: Option<Timestamp>,
    unreadable: u64,
}

impl Gathering {
    /// Nothing yet, for a period.
    pub fn new(period: Period) -> Self {
        Self {
            period,
            first: None,
            last: None,
            verdicts: Verdicts::default(),
            risks: [Verdicts::default(); 5],
            asks: Asks::default(),
            answers: Answers::default(),
            errors: 0,
            text_findings: 0,
            timeline: Timeline::default(),
            judged: Histogram::default(),
            answered: Histogram::default(),
            rules: Tally::of_at_most(MAX_RULES),
            matched: Tally::of_at_most(MAX_RULES),
            tools: Tally::of_at_most(MAX_TOOLS),
            agents: Tally::of_at_most(MAX_TOOLS),
            sessions: Tally::of_at_most(MAX_SESSIONS),
            session_ids: Distinct::default(),
            groups: Tally::of_at_most(MAX_GROUPS),
            observed: Observed::default(),
            last_checkpoint: None,
            unreadable: 0,
        }
    }

    /// Takes a stored line. One that is no record is counted; verification says what is wrong.
    pub fn line(&mut self, line: &Line<'_>) {
        match line.record() {
            Ok(record) => self.record(&record),
            Err(_) => self.unreadable += 1,
        }
    }

    /// Takes a record.
    pub fn record(&mut self, record: &Record) {
        let Some(time) = record.timestamp() else {
            self.unreadable += 1;
            return;
        };
        if record.kind == Kind::Checkpoint {
            self.last_checkpoint = Some(time);
        }
        // What was only judged again afterwards is no call of the period.
        if !self.period.holds(time) || record.is_replayed() {
            return;
        }
        match record.kind {
            Kind::Decision => self.decision(record, time),
            Kind::HoldOpened => self.asks.hold(record, time),
            Kind::HoldAnswered | Kind::HoldExpired | Kind::Release | Kind::Result => {
                self.ending(record, time);
            }
            Kind::TextFinding => self.text_findings += 1,
            Kind::Error => self.errors += 1,
            Kind::PolicyChange | Kind::SessionRule | Kind::Repair | Kind::Checkpoint => {}
        }
    }

    fn decision(&mut self, record: &Record, time: Timestamp) {
        let Some(verdict) = record.verdict else {
            return;
        };
        if let Some(observed) = record.observed {
            self.observed.count(record, observed);
        }
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
        self.verdicts.count(verdict);
        let risk = record.risk.unwrap_or_default();
        if let Some(counted) = self.risks.get_mut(usize::from(risk as u8)) {
            counted.count(verdict);
        }
        self.timeline.at(time).verdicts.count(verdict);
        if let Some(micros) = record.duration_us {
            self.judged.add(micros);
        }
        let tool = record.tool.as_deref().unwrap_or("unnamed tool");
        self.tools.entry(tool).count(verdict);
        let agent = record.agent.as_deref().unwrap_or("unnamed agent");
        self.agents.entry(agent).count(verdict);
        if let Some(session) = record.session.as_deref() {
            self.session(session, agent, time, verdict, risk);
        }
        self.rules_of(record, verdict);
        match verdict {
            Verdict::Allow | Verdict::Notify | Verdict::Contain => {}
            Verdict::Ask | Verdict::Review => {
                let subject = self.asked(record);
                self.asks.ask(record, time, subject);
            }
            Verdict::Deny => {
                if let Some((subject, _)) = candidates::subject_of(record) {
                    self.groups.entry(&subject.group).denied += 1;
                }
            }
        }
    }

    fn session(
        &mut self,
        session: &str,
        agent: &str,
        time: Timestamp,
        verdict: Verdict,
        risk: Risk,
    ) {
        self.session_ids.add(session, MAX_DISTINCT);
        let seen = self.sessions.entry(session);
        if seen.verdicts.total() == 0 {
            seen.first = time;
            seen.agent = agent.to_owned();
        }
        seen.last = seen.last.max(time);
        seen.verdicts.count(verdict);
        seen.risk = seen.risk.max(risk);
    }

    fn rules_of(&mut self, record: &Record, verdict: Verdict) {
        let detail = |key: &str| record.detail.as_ref().and_then(|detail| detail.get(key));
        if let Some(rule) = record.rule.as_deref() {
            *self.matched.entry(rule) += 1;
            let decided = self.rules.entry(rule);
            decided.verdicts.count(verdict);
            if let Some(reason) = &record.reason
                && decided.reason != *reason
            {
                decided.reason.clone_from(reason);
            }
            if let Some(instead) = detail("instead").and_then(Value::as_str) {
                decided.instead = Some(instead.to_owned());
            }
            let session = record.session.as_deref().unwrap_or_default();
            decided.sessions.add(session, MAX_DISTINCT_OF_RULE);
        }
        let findings = detail("findings").and_then(Value::as_array);
        for finding in findings.into_iter().flatten() {
            if let Some(rule) = finding.get("rule").and_then(Value::as_str)
                && record.rule.as_deref() != Some(rule)
            {
                *self.matched.entry(rule) += 1;
            }
        }
    }

    /// Takes note of what is asked, so that an allow rule can be made of it.
    fn asked(&mut self, record: &Record) -> Option<Subject> {
        let (subject, call) = candidates::subject_of(record)?;
        self.groups
            .entry(&subject.group)
            .ask(&subject.line, record, call);
        Some(subject)
    }

    fn ending(&mut self, record: &Record, time: Timestamp) {
        let Some(answered) = self.asks.end(record, time) else {
            return;
        };
        let counted = self.timeline.at(answered.open.asked);
        counted.answered += 1;
        match answered.ending {
            Ending::Approved => {
                counted.approved += 1;
                self.answers.approved += 1;
            }
            Ending::Refused => self.answers.refused += 1,
            Ending::Expired => self.answers.expired += 1,
        }
        if let Some(took) = answered.took_us {
            self.answered.add(took);
        }
        if let Some(subject) = answered.open.subject
            && let Some(group) = self.groups.get_mut(&subject.group)
        {
            group.end(&subject.line, answered.ending);
        }
    }

    /// The figures. `trial` tries suggestions on the policy in force; without it, `problem` says
    /// why there is none.
    pub fn summary(
        &self,
        ledger: LedgerState,
        made: Timestamp,
        trial: Result<&Trial, String>,
    ) -> Summary {
        let calls = self.verdicts.total();
        let observed = self.observed.summary(trial.as_ref().ok().copied());
        let advice = match trial {
            Ok(trial) => advice::advice(self, trial),
            Err(problem) => advice::without_policy(self, problem),
        };
        Summary {
            v: VERSION,
            made,
            period: Reported {
                since: self.period.since,
                until: self.period.until,
                first: self.first,
                last: self.last,
            },
            ledger: LedgerState {
                last_checkpoint: self.last_checkpoint,
                unreadable: self.unreadable,
                ..ledger
            },
            calls,
            verdicts: self.verdicts,
            risks: RISKS
                .map(Risk::as_str)
                .into_iter()
                .zip(self.risks)
                .collect(),
            asks: self.answers(),
            errors: self.errors,
            text_findings: self.text_findings,
            over_time: self.timeline.series(),
            judged: self.judged.summary(),
            answered: self.answered.summary(),
            objecting: self.rules_by(|verdicts| verdicts.held() + verdicts.deny),
            allowing: self.rules_by(Verdicts::ran),
            tools: ranked(&self.tools, MAX_LISTED_TOOLS, group),
            agents: ranked(&self.agents, MAX_LISTED_AGENTS, group),
            sessions: self.sessions(),
            observed,
            advice,
        }
    }

    /// The rules a count is not zero for, the highest first.
    fn rules_by(&self, count: impl Fn(&Verdicts) -> u64) -> Ranked<RuleLine> {
        let mut rules = self.rules.ranked();
        rules.retain(|(_, decided)| count(&decided.verdicts) > 0);
        rules.sort_by_key(|(_, decided)| std::cmp::Reverse(count(&decided.verdicts)));
        Ranked {
            total: u64::try_from(rules.len()).unwrap_or(u64::MAX),
            listed: rules
                .into_iter()
                .take(MAX_LISTED_RULES)
                .map(|(rule, decided)| RuleLine {
                    rule: rule.to_owned(),
                    verdicts: decided.verdicts,
                    reason: decided.reason.clone(),
                })
                .collect(),
        }
    }

    pub(super) fn answers(&self) -> Answers {
        let asked = self.verdicts.held();
        let ended = self.answers.approved + self.answers.refused + self.answers.expired;
        Answers {
            asked,
            ask_rate: rate(asked, self.verdicts.total()),
            unanswered: asked.saturating_sub(ended),
            approval_rate: rate(self.answers.approved, ended),
            ..self.answers
        }
    }

    fn sessions(&self) -> Ranked<SessionLine> {
        let mut all = self.sessions.ranked();
        all.sort_by(|(a, one), (b, other)| other.last.cmp(&one.last).then(a.cmp(b)));
        Ranked {
            total: self.session_ids.count(),
            listed: all
                .into_iter()
                .take(MAX_LISTED_SESSIONS)
                .map(|(session, seen)| SessionLine {
                    session: session.to_owned(),
                    agent: seen.agent.clone(),
                    first: seen.first,
                    last: seen.last,
                    verdicts: seen.verdicts,
                    risk: seen.risk,
                })
                .collect(),
        }
    }
}

const RISKS: [Risk; 5] = [
    Risk::None,
    Risk::Low,
    Risk::Medium,
    Risk::High,
    Risk::Critical,
];

impl LedgerState {
    /// The records no checkpoint is about. The last checkpoint stands behind what it signs, and is none of them.
    pub fn unsigned(&self) -> u64 {
        self.records.saturating_sub(self.signed).saturating_sub(1)
    }

    /// What verification says of the ledger in a directory.
    pub fn from_verification(directory: String, verification: &Verification) -> Self {
        let faults = verification.faults.iter();
        Self {
            directory,
            records: verification.records,
            bytes: verification.bytes,
            intact: verification.is_intact(),
            checkpoints: verification.checkpoints,
            signed: verification.signed,
            last_checkpoint: None,
            faults: faults
                .take(MAX_LISTED_FAULTS)
                .map(ToString::to_string)
                .collect(),
            more_faults: u64::try_from(verification.faults.len().saturating_sub(MAX_LISTED_FAULTS))
                .unwrap_or(u64::MAX),
            notes: verification.notes.clone(),
            unreadable: 0,
        }
    }
}

pub(super) fn group(name: &str, verdicts: &Verdicts) -> Group {
    Group {
        name: name.to_owned(),
        verdicts: *verdicts,
    }
}

pub(super) fn ranked<V: Default + Weight, T>(
    tally: &Tally<V>,
    most: usize,
    line: impl Fn(&str, &V) -> T,
) -> Ranked<T> {
    Ranked {
        total: tally.names(),
        listed: tally
            .ranked()
            .into_iter()
            .take(most)
            .map(|(name, value)| line(name, value))
            .collect(),
    }
}

/// A part of a whole; none of nothing.
fn rate(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
