//! What was found where, and which of several findings at one place counts.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::marker::Marker;
use super::tables::{FORMATS, Row};

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// It looks random; reported, never redacted.
    Guess,
    /// What stands around it says what it is.
    Likely,
    /// Its form says what it is.
    Certain,
}

/// Something in a text that should not be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The format, such as `vcs.github-personal`, or the way it was found, such as `assignment`.
    pub format: Cow<'static, str>,
    /// What it is, for people.
    pub what: Cow<'static, str>,
    /// What it is replaced by.
    pub marker: Marker,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// How sure that is.
    pub certainty: Certainty,
}

/// How something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The shipped format of this number.
    Format(u16),
    /// The user's own format of this number.
    Own(u16),
    /// By the name it is assigned to.
    Assignment,
    /// By the flag of a program.
    Flag,
    /// In a header.
    Header,
    /// In the address of a service.
    Address,
    /// Between the lines of a key file.
    KeyFile,
    /// By its own form, without a table.
    Personal,
    /// It looks random.
    Random,
}

impl Source {
    /// The id and the words for people.
    pub(crate) fn id_and_label(self) -> (&'static str, &'static str) {
        match self {
            Source::Format(number) => match FORMATS.get(usize::from(number)) {
                Some(Row { id, what, .. }) => (id.get(), what.get()),
                None => ("format", "a known format"),
            },
            Source::Own(_) => ("own", "a format of your own"),
            Source::Assignment => (
                "assignment",
                "a value assigned to a name that holds secrets",
            ),
            Source::Flag => ("flag", "a secret given to a program"),
            Source::Header => ("header", "a secret in a header"),
            Source::Address => ("address", "a password in an address"),
            Source::KeyFile => ("key-file", "a private key"),
            Source::Personal => ("personal", "personal data"),
            Source::Random => ("random", "random-looking text"),
        }
    }
}

/// A finding before overlaps are settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) marker: Marker,
    pub(crate) certainty: Certainty,
    pub(crate) source: Source,
}

impl Raw {
    /// What wins where two overlap: a guess never, a secret before personal data, then the surer, the longer, the
    /// one with a name.
    fn rank(&self) -> (bool, bool, Certainty, usize, bool) {
        (
            self.certainty > Certainty::Guess,
            !self.marker.is_personal(),
            self.certainty,
            self.end - self.start,
            matches!(self.source, Source::Format(_) | Source::Own(_)),
        )
    }
}

/// Joins what overlaps, so that every byte of a secret is covered once. Personal data
/// and guesses give way to a secret instead of growing it.
pub(crate) fn settle(mut found: Vec<Raw>) -> Vec<Raw> {
    if found.len() < 2 {
        return found;
    }
    found.sort_by_key(|raw| (raw.start, usize::MAX - raw.end));
    let mut settled: Vec<Raw> = Vec::with_capacity(found.len());
    for raw in found {
        let Some(last) = settled.last_mut().filter(|last| raw.start < last.end) else {
            settled.push(raw);
            continue;
        };
        let yields = |one: &Raw| one.marker.is_personal() || one.certainty == Certainty::Guess;
        match (yields(last), yields(&raw)) {
            (false, true) => {}
            (true, false) => *last = raw,
            (false, false) | (true, true) => {
                let (start, end) = (last.start.min(raw.start), last.end.max(raw.end));
                let mut winner = if raw.rank() > last.rank() { raw } else { *last };
                (winner.start, winner.end) = (start, end);
                *last = winner;
            }
        }
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(start: usize, end: usize, marker: Marker, certainty: Certainty) -> Raw {
        Raw {
            start,
            end,
            marker,
            certainty,
            source: Source::Assignment,
        }
    }

    #[test]
    fn overlapping_secrets_are_one_and_personal_data_gives_way() {
        let settled = settle(vec![
            raw(5, 20, Marker::Token, Certainty::Certain),
            raw(0, 10, Marker::Password, Certainty::Likely),
            raw(12, 30, Marker::Email, Certainty::Certain),
            raw(40, 50, Marker::Email, Certainty::Certain),
        ]);
        let spans: Vec<_> = settled.iter().map(|r| (r.start, r.end, r.marker)).collect();
        assert_eq!(spans, [(0, 20, Marker::Token), (40, 50, Marker::Email)]);
    }
}
