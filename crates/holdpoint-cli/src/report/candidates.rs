//! Allow rules that would have saved questions.
//!
//! A rule is suggested only for commands that were asked about several times and always approved,
//! whose risk is at most medium, and that run nothing but themselves: no shell, no interpreter, no
//! wrapper. It is tried on the policy in force first ([`Trial`]): it must release what was asked and
//! nothing that a rule of a pack holds for other reasons.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_core::{Glob, Risk, Surroundings, ToolCall, Verdict, parts, understand_alone};
use holdpoint_ledger::Record;
use serde_json::{Value, json};

use super::asks::{Ending, Subject};
use super::on_record::has_marker;
use super::programs::{Fitness, fitness, name_of};
use super::summary::Allowing;
use super::tally::{Tally, Weight};
use super::trial::{Example, Trial};
use holdpoint_core::text::escape_for_display;

/// How often something must have been approved to be worth a rule: twice may be chance.
pub(super) const MIN_APPROVED: u64 = 3;

/// The most commands and rules kept of a group, so that many groups fit; of more it is
/// known that there are.
const MAX_LINES: usize = 24;
const MAX_RULES: usize = 6;
const LISTED: usize = 8;

/// The most rules that are tried, since each judges the examples again; what is asked most comes first.
const MAX_TRIES: usize = 200;

/// The most refused calls that every rule is tried on; what is asked most comes first. People refuse little.
const MAX_REFUSED: usize = 500;

/// The longest call that is kept to try rules on, in bytes; of longer ones none is, so that memory stays small.
const MAX_EXAMPLE: usize = 1024;

/// The longest command that is made into a rule, in bytes: a longer rule nobody reads before adding it.
const MAX_LINE: usize = 160;

/// Questions about commands that begin alike.
#[derive(Clone, Debug, Default)]
pub(super) struct AskGroup {
    count: Count,
    pub(super) denied: u64,
    /// Asked for a review, or about something of high risk: never a matter of routine.
    grave: bool,
    /// The words all lines begin with.
    shared: Option<Vec<String>>,
    lines: BTreeMap<String, AskedLine>,
    /// Whether there were lines that are not kept.
    more_lines: bool,
    rules: BTreeSet<String>,
}

/// Questions about one line.
#[derive(Clone, Debug, Default)]
struct AskedLine {
    count: Count,
    example: Option<Example>,
}

/// Questions and how they ended.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    asks: u64,
    approved: u64,
    refused: u64,
}

impl Count {
    fn end(&mut self, ending: Ending) {
        match ending {
            Ending::Approved => self.approved += 1,
            Ending::Refused | Ending::Expired => self.refused += 1,
        }
    }

    fn add(self, other: Self) -> Self {
        Self {
            asks: self.asks + other.asks,
            approved: self.approved + other.approved,
            refused: self.refused + other.refused,
        }
    }

    /// Whether it was asked for nothing: often, always approved, and answers are the rule.
    fn is_routine(self, at_least: u64) -> bool {
        self.approved >= at_least
            && self.refused == 0
            && self.approved.saturating_mul(2) >= self.asks
    }
}

impl Weight for AskGroup {
    fn weight(&self) -> u64 {
        self.count.asks + self.denied
    }
}

impl AskGroup {
    /// One more question.
    pub(super) fn ask(&mut self, line: &str, record: &Record, call: ToolCall) {
        self.count.asks += 1;
        self.grave |= record.verdict == Some(Verdict::Review)
            || record.risk.unwrap_or_default() >= Risk::High;
        let words = line.split(' ');
        match &mut self.shared {
            None => self.shared = Some(words.map(str::to_owned).collect()),
            Some(shared) => {
                let same = shared.iter().zip(words).take_while(|(a, b)| a == b);
                let same = same.count();
                shared.truncate(same);
            }
        }
        if let Some(rule) = &record.rule
            && self.rules.len() < MAX_RULES
        {
            self.rules.insert(rule.clone());
        }
        if self.lines.len() >= MAX_LINES && !self.lines.contains_key(line) {
            self.more_lines = true;
            return;
        }
        let asked = self.lines.entry(line.to_owned()).or_default();
        asked.count.asks += 1;
        if asked.example.is_none() && call.signature().len() <= MAX_EXAMPLE {
            let directory = record.directory.clone();
            asked.example = Some(Example { call, directory });
        }
    }

    /// One of its questions ended.
    pub(super) fn end(&mut self, line: &str, ending: Ending) {
        self.count.end(ending);
        if let Some(asked) = self.lines.get_mut(line) {
            asked.count.end(ending);
        }
    }

    /// Rules that would have saved its questions: one for all of them if that holds, else for fewer
    /// and fewer lines that begin alike, down to single ones.
    fn offers(&self, trying: &mut Trying<'_>) -> Vec<Allowing> {
        let mut offers = Vec::new();
        let mut sets: Vec<Lines<'_>> = vec![self.lines.iter().collect()];
        while let Some(lines) = sets.pop().filter(|_| !self.grave) {
            let candidate = self.candidate(&lines, trying.at_least);
            if let Some(candidate) = candidate.filter(|one| one.holds(trying)) {
                offers.push(candidate.offer());
            } else if lines.len() > 1 {
                sets.extend(split(lines));
            }
        }
        offers
    }

    /// The rule for some of its lines, if they are fit for one.
    fn candidate<'g>(&'g self, lines: &Lines<'g>, at_least: u64) -> Option<Candidate<'g>> {
        let (first, _) = lines.first()?;
        let whole = lines.len() == self.lines.len();
        let count = if whole {
            self.count
        } else {
            let counts = lines.iter().map(|(_, asked)| asked.count);
            counts.fold(Count::default(), Count::add)
        };
        let (patterns, widens) = if lines.len() == 1 && !(whole && self.more_lines) {
            (vec![Glob::escape(first)], None)
        } else {
            // Of lines that are not kept nobody knows where they would belong.
            let known = whole || !self.more_lines;
            let shared = match &self.shared {
                Some(shared) if whole => shared.iter().map(String::as_str).collect(),
                _ => shared_words(lines),
            };
            let program = *shared.first()?;
            let fit = known && shared.len() >= 2 && self.denied == 0;
            if !fit || fitness(program) != Fitness::Any {
                return None;
            }
            (
                self.wide(&shared.join(" ")),
                Some(name_of(program).to_owned()),
            )
        };
        count.is_routine(at_least).then(|| Candidate {
            patterns,
            widens,
            count,
            rules: &self.rules,
            lines: lines.clone(),
        })
    }

    /// Its calls that a person refused, or that nobody released in time.
    fn refused(&self) -> impl Iterator<Item = &Example> {
        let refused = self.lines.values().filter(|line| line.count.refused > 0);
        refused.filter_map(|line| line.example.as_ref())
    }

    /// Patterns for whatever begins with these words.
    fn wide(&self, start: &str) -> Vec<String> {
        let anything_after = format!("{} *", Glob::escape(start));
        // The star stands for no words, too, but not where patterns are text alone (J-13).
        if self.lines.contains_key(start) {
            vec![Glob::escape(start), anything_after]
        } else {
            vec![anything_after]
        }
    }
}

/// Some lines of a group.
type Lines<'g> = Vec<(&'g String, &'g AskedLine)>;

/// The words that lines have in common.
fn shared_words<'g>(lines: &Lines<'g>) -> Vec<&'g str> {
    let mut lines = lines.iter().map(|(line, _)| line.split(' '));
    let mut shared: Vec<&str> = lines.next().into_iter().flatten().collect();
    for words in lines {
        let same = shared.iter().zip(words).take_while(|(a, b)| **a == *b);
        let same = same.count();
        shared.truncate(same);
    }
    shared
}

/// The same lines by the first word in which they differ. There are at least two sets, since all
/// lines are different.
fn split<'g>(lines: Lines<'g>) -> impl Iterator<Item = Lines<'g>> {
    let shared = shared_words(&lines).len();
    let mut sets: BTreeMap<Option<&str>, Lines<'g>> = BTreeMap::new();
    for (line, asked) in lines {
        let next = line.split(' ').nth(shared);
        sets.entry(next).or_default().push((line, asked));
    }
    sets.into_values()
}

/// A rule that might be suggested.
struct Candidate<'g> {
    patterns: Vec<String>,
    /// The program whose other commands it would let run, too.
    widens: Option<String>,
    count: Count,
    /// The rules that asked.
    rules: &'g BTreeSet<String>,
    lines: Lines<'g>,
}

impl Candidate<'_> {
    /// Whether it does what it should under the policy in force, as long as there are tries left.
    fn holds(&self, trying: &mut Trying<'_>) -> bool {
        let Some(left) = trying.left.checked_sub(1) else {
            return false;
        };
        trying.left = left;
        let trial = trying.trial;
        let Some(policy) = trial.allowing(&self.patterns) else {
            return false;
        };
        let examples = self.lines.iter();
        let mut examples = examples
            .filter_map(|(_, asked)| asked.example.as_ref())
            .peekable();
        examples.peek().is_some()
            && examples.all(|example| {
                trial.verdict(example) == Verdict::Ask
                    && trial.verdict_under(&policy, example).runs()
            })
            && !(trying.refused.iter()).any(|one| trial.verdict_under(&policy, one).runs())
            && self
                .widens
                .as_ref()
                .is_none_or(|program| !trial.widens(&policy, program, self.rules))
    }

    fn offer(self) -> Allowing {
        let lines: Vec<String> = self.lines.iter().map(|(line, _)| (*line).clone()).collect();
        let example = lines.first().cloned();
        Allowing {
            lines,
            patterns: self.patterns,
            saves: self.count.asks,
            approved: self.count.approved,
            example: example.unwrap_or_default(),
            asked_by: self.rules.iter().cloned().collect(),
        }
    }
}

/// Rules being tried.
struct Trying<'t> {
    trial: &'t Trial,
    /// How many more may be.
    left: usize,
    /// How often something must have been approved.
    at_least: u64,
    /// What none of them may let run: a person has said no to it.
    refused: Vec<&'t Example>,
}

/// Rules that would have saved questions, those that save most first.
pub(super) fn allow_rules(groups: &Tally<AskGroup>, trial: &Trial, at_least: u64) -> Vec<Allowing> {
    let ranked = groups.ranked();
    let refused = ranked.iter().flat_map(|(_, group)| group.refused());
    let mut trying = Trying {
        trial,
        left: MAX_TRIES,
        at_least,
        refused: refused.take(MAX_REFUSED).collect(),
    };
    let mut found: Vec<Allowing> = Vec::new();
    for (_, group) in &ranked {
        for offer in group.offers(&mut trying) {
            // Two tools may run the same commands.
            let same = found.iter_mut().find(|one| one.patterns == offer.patterns);
            match same {
                Some(same) => {
                    same.saves += offer.saves;
                    same.approved += offer.approved;
                    same.lines.extend(offer.lines);
                }
                None => found.push(offer),
            }
        }
    }
    found.sort_by(|one, other| {
        let by_saves = other.saves.cmp(&one.saves);
        by_saves.then_with(|| one.patterns.cmp(&other.patterns))
    });
    found.truncate(LISTED);
    found
}

/// What a question or a denial is about, if it is one command a rule could name, and the call as
/// far as it is on record.
pub(super) fn subject_of(record: &Record) -> Option<(Subject, ToolCall)> {
    let tool = record.tool.as_deref()?;
    let input = match &record.input {
        Some(input) => input.clone(),
        None => json!({ "command": record.part.as_deref()? }),
    };
    let call = ToolCall::new(tool, input).ok()?;
    let action = understand_alone(call.clone(), &Surroundings::nowhere());
    let parts = parts(&action).ok()?;
    let part = match (&record.part, parts.as_slice()) {
        (_, [only]) => only,
        (Some(text), all) => all.iter().find(|part| part.text == *text)?,
        (None, _) => return None,
    };
    let line = part.text.as_str();
    let plain = part.unknown.is_none()
        && line.len() <= MAX_LINE
        && !line.contains(['…', '>', '<'])
        && escape_for_display(line, usize::MAX) == line
        && !has_marker(line);
    let mut words = line.split(' ');
    let program = words.next().filter(|word| !word.is_empty())?;
    if !plain || fitness(program) == Fitness::Never {
        return None;
    }
    let second = words.next().unwrap_or_default();
    let subject = Subject {
        group: format!("{tool} {program} {second}"),
        line: line.to_owned(),
    };
    Some((subject, call))
}

/// A policy that allows patterns.
pub(super) fn allowing_text(profile: Option<&str>, patterns: &[&String]) -> String {
    let mut policy = serde_json::Map::new();
    if let Some(profile) = profile {
        policy.insert("profile".into(), Value::from(profile));
    }
    policy.insert("allow".into(), json!({ "patterns": patterns }));
    serde_json::to_string_pretty(&policy).unwrap_or_default()
}
