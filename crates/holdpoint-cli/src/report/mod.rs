//! The report: what the ledger says about a period, as figures and as one page of HTML.
//!
//! [`Gathering`] takes the records one after another and keeps bounded counters, however long the
//! ledger is. [`Gathering::summary`] turns them into a [`Summary`], which is also the JSON form;
//! [`page()`] shows a summary, and [`save`] puts a page where no other file is lost by it.

use std::path::Path;

mod advice;
mod asks;
mod candidates;
mod durations;
mod gather;
mod observing;
mod on_record;
mod page;
mod programs;
mod reading;
mod save;
mod suggest;
mod summary;
mod tally;
#[cfg(test)]
mod tests;
mod timeline;
mod trial;

pub use gather::{Gathering, Period};
pub use on_record::{OnRecord, on_record};
pub use page::page;
pub use reading::{Doing, summary_of};
pub use save::{SaveError, save};
pub use suggest::{From, LetThrough, SuggestError, Suggestion, Suggestions, suggestions_of};
pub use summary::{
    Advice, Allowing, Answers, AskedTool, Bucket, Denial, Durations, Fired, Group, LedgerState,
    Observing, OwnRule, Ranked, Reported, RuleLine, Series, SessionLine, Snippet, Span, Step,
    Summary, Unused, VERSION, Verdicts,
};
pub use trial::Trial;

/// A path as people write it: `~` for their home.
pub fn short(path: &str, home: Option<&Path>) -> String {
    let within = home.and_then(|home| Path::new(path).strip_prefix(home).ok());
    match within {
        Some(rest) => Path::new("~").join(rest).display().to_string(),
        None => path.to_owned(),
    }
}
