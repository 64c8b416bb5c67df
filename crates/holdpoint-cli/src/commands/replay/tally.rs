//! What is remembered of the calls: counts, and one example of each kind.

use std::collections::BTreeMap;

use holdpoint_agents::replay::{Outcome, Timestamp};
use holdpoint_engine::{Decision, Verdict};

use super::MAX_NAMED;
use super::display::{clean, display_of};
use super::judging::Judged;
use crate::terminal::escape_for_display;

/// The most characters of an example that are kept: enough to know it by. More is cut.
const MAX_EXAMPLE: usize = 300;

/// The most rules and tools that are told apart; a transcript may name any number of tools.
const MAX_KINDS: usize = 10_000;

/// Counts over all calls.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) calls: u64,
    pub(super) subagents: u64,
    pub(super) verdicts: BTreeMap<Verdict, u64>,
    /// By the rule that decided and what it decided; calls that are simply allowed are left out.
    pub(super) rules: BTreeMap<(Verdict, String), Kind>,
    pub(super) tools: BTreeMap<String, BTreeMap<Verdict, u64>>,
    pub(super) then: BTreeMap<(Verdict, Option<Outcome>), u64>,
    pub(super) span: Option<(Timestamp, Timestamp)>,
    pub(super) transitions: BTreeMap<(Verdict, Verdict), u64>,
    /// The first of the problems.
    pub(super) problems: Vec<Problem>,
    pub(super) unread_lines: u64,
    pub(super) unread_files: u64,
    /// What was put on record, if that was asked for.
    pub(super) recorded: Option<u64>,
}

/// Calls of one kind.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) calls: u64,
    pub(super) example: String,
    pub(super) file: String,
    pub(super) line: u64,
}

/// Something that cannot be read.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) file: String,
    pub(super) line: Option<u64>,
    pub(super) what: String,
}

impl Tally {
    pub(super) fn add(&mut self, judged: &Judged) {
        let verdict = judged.decision.verdict;
        let recorded = &judged.recorded;
        self.calls += 1;
        self.subagents += u64::from(recorded.subagent);
        *self.verdicts.entry(verdict).or_default() += 1;
        *self.then.entry((verdict, recorded.outcome)).or_default() += 1;
        if let Some(time) = recorded.time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        if verdict > Verdict::Allow {
            self.add_rule(judged);
        }
        let tool = clean(&recorded.tool, 60);
        if self.tools.len() < MAX_KINDS || self.tools.contains_key(&tool) {
            let verdicts = self.tools.entry(tool).or_default();
            *verdicts.entry(verdict).or_default() += 1;
        }
        if let Some(against) = &judged.against {
            let transition = (verdict, against.verdict);
            *self.transitions.entry(transition).or_default() += 1;
        }
    }

    fn add_rule(&mut self, judged: &Judged) {
        let key = (judged.decision.verdict, rule_of(&judged.decision));
        if let Some(kind) = self.rules.get_mut(&key) {
            kind.calls += 1;
        } else if self.rules.len() < MAX_KINDS {
            let kind = Kind {
                calls: 1,
                example: display_of(&judged.recorded, MAX_EXAMPLE),
                file: judged.file.to_string(),
                line: judged.recorded.line,
            };
            self.rules.insert(key, kind);
        }
    }

    pub(super) fn problem(&mut self, file: &str, line: Option<u64>, what: &str) {
        match line {
            Some(_) => self.unread_lines += 1,
            None => self.unread_files += 1,
        }
        if self.problems.len() < MAX_NAMED {
            self.problems.push(Problem {
                file: file.to_owned(),
                line,
                what: clean(what, 300),
            });
        }
    }

    /// Calls that end in one verdict under the first policy and in another under the second.
    pub(super) fn moved(
        &self,
        from: impl Fn(Verdict) -> bool,
        to: impl Fn(Verdict) -> bool,
    ) -> u64 {
        let moved = self.transitions.iter();
        let moved = moved.filter(|((first, second), _)| from(*first) && to(*second));
        moved.map(|(_, count)| count).sum()
    }
}

/// The rule that decided, or how it was decided without one.
pub(super) fn rule_of(decision: &Decision) -> String {
    let rule = decision.rule.as_deref();
    escape_for_display(rule.unwrap_or(decision.method.as_str()), 100)
}
