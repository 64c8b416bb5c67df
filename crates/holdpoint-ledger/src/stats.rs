//! Counting records: what was decided, by which rule, how often people were asked, and how long it
//! took.

use std::collections::BTreeMap;

use holdpoint_core::Verdict;

use crate::Timestamp;
use crate::record::{Kind, Record};

/// How often each word came up.
pub type Counts = BTreeMap<String, u64>;

/// What a set of records adds up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// All records.
    pub records: u64,
    /// The time of the first and of the last.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Records of each kind; what was only replayed does not count here, nor below.
    pub kinds: Counts,
    /// Decisions by verdict.
    pub verdicts: Counts,
    /// Decisions by method.
    pub methods: Counts,
    /// Decisions by tool.
    pub tools: Counts,
    /// Decisions by agent.
    pub agents: Counts,
    /// Decisions by rule; those of no rule do not count.
    pub rules: Counts,
    /// Decisions by session.
    pub sessions: Counts,
    /// Decisions by day, in UTC.
    pub days: Counts,
    /// Holds a person approved.
    pub approved: u64,
    /// Holds a person refused.
    pub refused: u64,
    /// Replayed calls by verdict.
    pub replayed: Counts,
    /// How long Holdpoint took to judge, in microseconds.
    pub judging: Durations,
    /// How long people took to answer, in microseconds.
    pub answering: Durations,
}

impl Stats {
    /// Counts a record.
    pub fn add(&mut self, record: &Record) {
        self.records += 1;
        let time = record.timestamp();
        if let Some(time) = time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        if record.is_replayed() {
            count(&mut self.replayed, record.verdict.map(Verdict::as_str));
            return;
        }
        count(&mut self.kinds, Some(record.kind.as_str()));
        match record.kind {
            Kind::Decision => {
                count(&mut self.verdicts, record.verdict.map(Verdict::as_str));
                count(&mut self.methods, record.method.as_deref());
                count(&mut self.tools, record.tool.as_deref());
                count(&mut self.agents, record.agent.as_deref());
                count(&mut self.rules, record.rule.as_deref());
                count(&mut self.sessions, record.session.as_deref());
                let day = time.map(Timestamp::date);
                count(&mut self.days, day.as_deref());
                self.judging.add(record.duration_us);
            }
            Kind::HoldAnswered => {
                match record.verdict.map(Verdict::runs) {
                    Some(true) => self.approved += 1,
                    Some(false) => self.refused += 1,
                    None => {}
                }
                self.answering.add(record.duration_us);
            }
            Kind::HoldOpened
            | Kind::HoldExpired
            | Kind::Release
            | Kind::Result
            | Kind::TextFinding
            | Kind::PolicyChange
            | Kind::SessionRule
            | Kind::Repair
            | Kind::Checkpoint
            | Kind::Error => {}
        }
    }

    /// Records of a kind.
    pub fn of_kind(&self, kind: Kind) -> u64 {
        self.kinds.get(kind.as_str()).copied().unwrap_or_default()
    }

    /// Decisions that asked a person, and the share of all decisions they are.
    pub fn asked(&self) -> (u64, Option<f64>) {
        let of = |verdict: Verdict| self.verdicts.get(verdict.as_str()).copied().unwrap_or(0);
        let asked = of(Verdict::Ask) + of(Verdict::Review);
        (asked, share(asked, self.of_kind(Kind::Decision)))
    }

    /// The share of the answers that approved.
    pub fn approval(&self) -> Option<f64> {
        share(self.approved, self.approved + self.refused)
    }
}

fn count(counts: &mut Counts, word: Option<&str>) {
    let Some(word) = word else { return };
    match counts.get_mut(word) {
        Some(count) => *count += 1,
        None => drop(counts.insert(word.to_owned(), 1)),
    }
}

/// A part of a whole, from 0 to 1; none of nothing.
#[expect(
    clippy::cast_precision_loss,
    reason = "a share is shown with a few digits"
)]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// How finely durations are told apart: one part in 64.
const STEPS: u64 = 64;

/// Durations in room that does not grow with their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// How many fell into each bucket.
    buckets: BTreeMap<u32, u64>,
    count: u64,
}

impl Durations {
    fn add(&mut self, micros: Option<u64>) {
        if let Some(micros) = micros {
            *self.buckets.entry(bucket(micros)).or_default() += 1;
            self.count += 1;
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What so many per cent of them stayed within, to one part in 64.
    pub fn percentile(&self, per_cent: u64) -> Option<u64> {
        let wanted = self.count.saturating_mul(per_cent.min(100)).div_ceil(100);
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += count;
            if seen >= wanted.max(1) {
                return Some(highest_in(*bucket));
            }
        }
        None
    }
}

/// Small numbers have a bucket each; larger ones share it with those that start with the same bits.
fn bucket(micros: u64) -> u32 {
    let shift = u64::BITS
        .saturating_sub(micros.leading_zeros())
        .saturating_sub(STEPS.ilog2() + 1);
    let high = u32::try_from(micros >> shift).unwrap_or(u32::MAX);
    shift * u32::try_from(STEPS).unwrap_or(u32::MAX) + high
}

fn highest_in(bucket: u32) -> u64 {
    let steps = u32::try_from(STEPS).unwrap_or(u32::MAX);
    let shift = (bucket / steps).saturating_sub(1);
    let high = u64::from(bucket - shift * steps);
    let above = u128::from(high + 1) << shift;
    u64::try_from(above - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn record(kind: Kind, more: serde_json::Value) -> Record {
        let mut record = json!({
            "v": 1, "seq": 0, "prev": "", "time": "2026-11-16T03:40:12Z", "kind": kind,
        });
        let more = more.as_object().unwrap().clone();
        record.as_object_mut().unwrap().extend(more);
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn decisions_and_answers_are_counted_apart() {
        let mut stats = Stats::default();
        for verdict in ["allow", "ask", "review", "deny"] {
            stats.add(&record(
                Kind::Decision,
                json!({"verdict": verdict, "tool": "Bash", "rule": "a", "duration_us": 1000}),
            ));
        }
        for verdict in ["allow", "allow", "deny"] {
            stats.add(&record(
                Kind::HoldAnswered,
                json!({"verdict": verdict, "tool": "Bash"}),
            ));
        }
        assert_eq!(stats.records, 7);
        assert_eq!(stats.asked(), (2, Some(0.5)));
        assert_eq!(stats.tools["Bash"], 4);
        assert_eq!(stats.days["2026-11-16"], 4);
        assert_eq!((stats.approved, stats.refused), (2, 1));
        assert_eq!(stats.approval(), Some(2.0 / 3.0));
        assert_eq!(stats.answering.percentile(50), None);
        assert_eq!(Stats::default().asked(), (0, None));
    }

    #[test]
    fn what_was_replayed_is_counted_apart() {
        let mut stats = Stats::default();
        for (kind, agent, verdict) in [
            (Kind::Decision, "claude-code", "allow"),
            (Kind::Decision, "replay:claude-code", "deny"),
            (Kind::Decision, "replay:codex", "ask"),
            (Kind::Error, "replay:codex", "deny"),
        ] {
            let more = json!({"agent": agent, "verdict": verdict, "tool": "Bash"});
            stats.add(&record(kind, more));
        }
        assert_eq!(stats.records, 4);
        assert_eq!(stats.asked(), (0, Some(0.0)));
        assert_eq!((stats.kinds["decision"], stats.tools["Bash"]), (1, 1));
        assert_eq!(stats.of_kind(Kind::Error), 0);
        assert_eq!((stats.replayed["deny"], stats.replayed["ask"]), (2, 1));
        assert_eq!(stats.agents.len(), 1);
    }

    proptest! {
        #[test]
        fn a_percentile_is_near_the_true_one(mut all in prop::collection::vec(0u64..1 << 40, 1..60)) {
            let mut durations = Durations::default();
            for one in &all {
                durations.add(Some(*one));
            }
            all.sort_unstable();
            for per_cent in [1, 50, 95, 100] {
                let at = (all.len() as u64 * per_cent).div_ceil(100).max(1) - 1;
                let exact = all[at as usize];
                let found = durations.percentile(per_cent).unwrap();
                prop_assert!(found >= exact && found - exact <= exact / 64, "{exact} {found}");
            }
        }

        #[test]
        fn every_number_is_in_its_bucket(micros: u64) {
            let bucket = bucket(micros);
            prop_assert!(highest_in(bucket) >= micros);
            prop_assert!(bucket == 0 || highest_in(bucket - 1) < micros);
        }
    }
}
