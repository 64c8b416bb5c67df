//! Allow lines that would have saved questions, with what else each would let through.
//!
//! The lines are those of [`super::candidates`]. What else they cover is looked for in two places: among
//! all other calls on record, and among the examples of the packs that are held today.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use holdpoint_core::{Method, Verdict};
use holdpoint_ledger::{LedgerError, Reader};
use serde::Serialize;

use super::candidates::allow_rules;
use super::gather::Gathering;
use super::on_record::{OnRecord, on_record};
use super::programs::name_of;
use super::summary::{Allowing, Snippet};
use super::trial::{Example, Trial};
use super::{Period, VERSION};
use holdpoint_engine::{Locations, RecordError, text_without_secrets};

/// The most different calls that are kept to try lines on: some hundred sessions. Each is judged for each
/// line, so more would be waited for; that there are more is said.
const MAX_CALLS: usize = 5_000;

/// The most calls that are named for one line; the others are counted.
const MAX_NAMED: usize = 8;

/// What could be allowed.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestions {
    /// The version of this form.
    pub v: u32,
    /// Questions on record.
    pub asked: u64,
    /// Those that were released.
    pub released: u64,
    /// Those that were refused, or that nobody answered in time.
    pub refused: u64,
    /// The lines, those that save most first.
    pub lines: Vec<Suggestion>,
    /// All of them as they are written in a policy; none if there are none.
    pub snippet: Option<Snippet>,
    /// Whether more different calls are on record than were tried.
    pub more_calls: bool,
}

/// One line, or two that belong together.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    /// What it is and what it would have saved.
    #[serde(flatten)]
    pub allowing: Allowing,
    /// What else it would let run that is held today.
    pub lets_through: Vec<LetThrough>,
    /// How many more there are.
    pub more: u64,
    /// Other calls on record that would be answered with allow, where now Holdpoint says nothing and the
    /// agent's own permissions decide.
    pub answered: u64,
}

/// A call that is held today and would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LetThrough {
    /// The call.
    pub call: String,
    /// What is said of it today.
    pub verdict: Verdict,
    /// The rule that says so.
    pub rule: Option<String>,
    /// Where it is from.
    pub from: From,
    /// How often it was made; an example was not.
    pub times: u64,
}

/// Where a call is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// Somebody's agent made it.
    Ledger,
    /// A pack has it as an example.
    Example,
}

/// Sums up what the ledger says could be allowed, for somebody in `directory`.
pub fn suggestions_of(
    locations: &Locations,
    period: Period,
    directory: &Path,
    at_least: u64,
) -> Result<Suggestions, SuggestError> {
    let ledger = locations.ledger().ok_or(RecordError::NoPlace)?;
    let trial = Trial::new(locations, directory)?;
    let mut gathered = Gathering::new(period);
    let mut calls = Calls::default();
    let mut reader = Reader::new(ledger);
    while let Some(line) = reader.next()? {
        gathered.line(&line);
        if let Ok(record) = line.record()
            && record.timestamp().is_some_and(|time| period.holds(time))
            && let OnRecord::Whole { call, directory } =
                on_record(&record, locations.home.as_deref())
        {
            calls.add(Example { call, directory });
        }
    }
    Ok(suggestions(&gathered, &calls, &trial, at_least))
}

/// Why there are no suggestions.
#[derive(Debug, thiserror::Error)]
pub enum SuggestError {
    /// The ledger has no place.
    #[error(transparent)]
    NoLedger(#[from] RecordError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// There is no policy to try lines on.
    #[error(transparent)]
    Policy(#[from] holdpoint_engine::LoadError),
}

/// The different calls on record, each once.
#[derive(Debug, Default)]
pub(super) struct Calls {
    kept: HashMap<(String, Option<String>), (Example, u64)>,
    more: bool,
}

impl Calls {
    pub(super) fn add(&mut self, example: Example) {
        let key = (
            example.call.signature().to_string(),
            example.directory.clone(),
        );
        let full = self.kept.len() >= MAX_CALLS;
        match self.kept.entry(key) {
            Entry::Occupied(mut kept) => kept.get_mut().1 += 1,
            Entry::Vacant(_) if full => self.more = true,
            Entry::Vacant(place) => {
                place.insert((example, 1));
            }
        }
    }
}

pub(super) fn suggestions(
    gathered: &Gathering,
    calls: &Calls,
    trial: &Trial,
    at_least: u64,
) -> Suggestions {
    let offers = allow_rules(&gathered.groups, trial, at_least);
    let patterns: Vec<&String> = offers.iter().flat_map(|one| &one.patterns).collect();
    let snippet = (!patterns.is_empty()).then(|| trial.snippet(&patterns));
    let answers = gathered.answers();
    Suggestions {
        v: VERSION,
        asked: answers.asked,
        released: answers.approved,
        refused: answers.refused + answers.expired,
        lines: offers
            .into_iter()
            .filter_map(|offer| suggestion(offer, calls, trial))
            .collect(),
        snippet,
        more_calls: calls.more,
    }
}

fn suggestion(allowing: Allowing, calls: &Calls, trial: &Trial) -> Option<Suggestion> {
    let policy = trial.allowing(&allowing.patterns)?;
    let mut found = Vec::new();
    let mut answered = 0;
    for (example, times) in calls.kept.values() {
        let line = example.call.command_line();
        if line.is_some_and(|line| allowing.lines.contains(&line)) {
            // It is what the line is for.
            continue;
        }
        let after = trial.decision_under(&policy, example);
        if !after.verdict.runs() || after.method == Method::NoObjection {
            continue;
        }
        let today = trial.decision_under(trial.policy(), example);
        match today.verdict.runs() {
            true if today.method == Method::NoObjection => answered += times,
            true => {}
            false => found.push(LetThrough {
                call: text_without_secrets(&shown(example)),
                verdict: today.verdict,
                rule: today.rule,
                from: From::Ledger,
                times: *times,
            }),
        }
    }
    found.sort_by(|one, other| (other.times, &one.call).cmp(&(one.times, &other.call)));
    let program = allowing.example.split(' ').next().map_or("", name_of);
    let widened = trial.widened(&policy, program);
    found.extend(widened.map(|(rule, text, verdict)| LetThrough {
        call: text.to_owned(),
        verdict,
        rule: Some(rule.to_owned()),
        from: From::Example,
        times: 0,
    }));
    let more = found.len().saturating_sub(MAX_NAMED);
    found.truncate(MAX_NAMED);
    Some(Suggestion {
        allowing,
        lets_through: found,
        more: u64::try_from(more).unwrap_or(u64::MAX),
        answered,
    })
}

fn shown(example: &Example) -> String {
    let call = &example.call;
    call.command_line()
        .unwrap_or_else(|| call.signature().to_string())
}
