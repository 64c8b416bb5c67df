//! What a period of only observing would have meant: the calls nobody was held to, by what would have been said of them.

use holdpoint_core::{Policy, Profile, ToolCall, Verdict};
use holdpoint_ledger::Record;
use serde_json::Value;

use super::gather::{Decided, MAX_LISTED_AGENTS, MAX_LISTED_RULES, group, ranked};
use super::summary::{Group, Observing, Ranked, RuleLine, Verdicts};
use super::tally::{Tally, Weight};
use super::trial::{Example, Trial};

/// The most rules and agents kept, as in the rest of a report.
const MAX_NAMES: usize = 4_000;

/// The most different calls that are judged again under other profiles: some seconds of work. The rarer ones are left out.
const MAX_CALLS: usize = 2_000;

/// The longest call that is kept to be judged again, in bytes: longer ones were shortened when they were recorded.
const MAX_EXAMPLE: usize = 1024;

/// The profiles a period is tried on: the ones made for agents, from the quietest to the strictest.
const PROFILES: [Profile; 4] = [
    Profile::Autopilot,
    Profile::Balanced,
    Profile::Strict,
    Profile::Paranoid,
];

/// Calls that were only observed.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    verdicts: Verdicts,
    rules: Tally<Decided>,
    agents: Tally<Verdicts>,
    calls: Tally<SameCall>,
}

/// A call, and how often it was made.
#[derive(Clone, Debug, Default)]
struct SameCall {
    count: u64,
    example: Option<Example>,
}

impl Weight for SameCall {
    fn weight(&self) -> u64 {
        self.count
    }
}

impl Default for Observed {
    fn default() -> Self {
        Self {
            verdicts: Verdicts::default(),
            rules: Tally::of_at_most(MAX_NAMES),
            agents: Tally::of_at_most(MAX_NAMES),
            calls: Tally::of_at_most(MAX_CALLS),
        }
    }
}

impl Observed {
    /// Takes a call of which this would have been said.
    pub(super) fn count(&mut self, record: &Record, verdict: Verdict) {
        self.verdicts.count(verdict);
        let agent = record.agent.as_deref().unwrap_or("unnamed agent");
        self.agents.entry(agent).count(verdict);
        if let Some(rule) = record.rule.as_deref() {
            let decided = self.rules.entry(rule);
            decided.verdicts.count(verdict);
            decided.reason = record.reason.clone().unwrap_or_default();
        }
        if let Some(call) = record.call.as_deref() {
            let same = self.calls.entry(call);
            same.count += 1;
            if same.example.is_none() {
                same.example = example_of(record);
            }
        }
    }

    /// The figures; none if nothing was only observed. `trial` judges the calls again.
    pub(super) fn summary(&self, trial: Option<&Trial>) -> Option<Observing> {
        let calls = self.verdicts.total();
        if calls == 0 {
            return None;
        }
        let mut rules = self.rules.ranked();
        rules.retain(|(_, decided)| decided.verdicts.total() > decided.verdicts.ran());
        Some(Observing {
            calls,
            verdicts: self.verdicts,
            rules: Ranked {
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
            },
            agents: ranked(&self.agents, MAX_LISTED_AGENTS, group),
            profiles: trial.map(|trial| self.tried(trial)).unwrap_or_default(),
        })
    }

    /// What profiles say of the calls, as far as they are on record.
    fn tried(&self, trial: &Trial) -> Vec<Group> {
        let tried = PROFILES.into_iter().filter_map(|profile| {
            let policy = Policy::profile(profile).ok()?;
            let mut verdicts = Verdicts::default();
            for (_, same) in self.calls.ranked() {
                if let Some(example) = &same.example {
                    let verdict = trial.verdict_under(&policy, example);
                    verdicts.add(&Verdicts::of(verdict, same.count));
                }
            }
            Some(Group {
                name: profile.name().to_owned(),
                verdicts,
            })
        });
        tried.collect()
    }
}

/// A recorded call as it can be judged again.
fn example_of(record: &Record) -> Option<Example> {
    let input = record.input.clone().unwrap_or(Value::Null);
    let call = ToolCall::new(record.tool.as_deref()?, input).ok()?;
    (call.signature().len() <= MAX_EXAMPLE).then(|| Example {
        call,
        directory: record.directory.clone(),
    })
}
