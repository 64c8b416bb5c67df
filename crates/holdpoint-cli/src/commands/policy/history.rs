//! The calls of the ledger, for whoever compares policies on them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use holdpoint_cli::report::{OnRecord, on_record};
use holdpoint_engine::{Locations, RecordError, ToolCall};
use holdpoint_ledger::Reader;

use crate::cli::Span;

/// The most different calls that are kept: a hundred thousand of them are some hundred megabytes at most.
/// The others are counted.
const MAX_CALLS: usize = 100_000;

/// A call on record, and how often it was made there.
pub(super) struct PastCall {
    pub(super) call: ToolCall,
    pub(super) directory: String,
    pub(super) times: u64,
}

/// What the ledger has.
#[derive(Default)]
pub(super) struct History {
    /// The different calls, in the order they were first made.
    pub(super) calls: Vec<PastCall>,
    /// Calls of which something was taken out or cut off.
    pub(super) shortened: u64,
    /// Calls beyond the limit.
    pub(super) left_out: u64,
}

impl History {
    /// Reads the ledger of this user. A call whose directory is not on record counts as made `here`.
    pub(super) fn read(span: Span, here: &Path) -> anyhow::Result<Self> {
        let locations = Locations::of_this_machine();
        let ledger = locations.ledger().ok_or(RecordError::NoPlace)?;
        let here = here.to_string_lossy();
        let mut history = Self::default();
        let mut known: HashMap<(String, String), usize> = HashMap::new();
        let mut reader = Reader::new(ledger);
        while let Some(line) = reader.next()? {
            let Ok(record) = line.record() else {
                continue;
            };
            if !span.holds(record.timestamp()) {
                continue;
            }
            let (call, directory) = match on_record(&record, locations.home.as_deref()) {
                OnRecord::Whole { call, directory } => {
                    (call, directory.unwrap_or_else(|| here.clone().into_owned()))
                }
                OnRecord::Shortened => {
                    history.shortened += 1;
                    continue;
                }
                OnRecord::None => continue,
            };
            match known.entry((call.signature().to_string(), directory.clone())) {
                Entry::Occupied(at) => {
                    if let Some(kept) = history.calls.get_mut(*at.get()) {
                        kept.times += 1;
                    }
                }
                Entry::Vacant(_) if history.calls.len() >= MAX_CALLS => history.left_out += 1,
                Entry::Vacant(place) => {
                    place.insert(history.calls.len());
                    history.calls.push(PastCall {
                        call,
                        directory,
                        times: 1,
                    });
                }
            }
        }
        Ok(history)
    }
}
