//! Findings that somebody has looked at and lives with: a file of them, which later scans leave out.
//!
//! A finding is known by its file, its rule and a print of what was found, so that it stays known when it
//! moves and another one in its place is new. The file is meant to be committed: of a secret it holds
//! twelve bits, too few to find out a password with and enough that another secret is seldom taken for it.

use std::collections::BTreeMap;
use std::io;

use holdpoint_core::document;
use holdpoint_core::text::inspection::{Family, Finding};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::LocatedFinding;

/// The largest file that is read: a hundred thousand findings. With more of them a baseline says nothing.
pub const MAX_BASELINE: u64 = 16 << 20;

/// How many letters of a digest are kept: of what everybody may see, and of a secret.
const OPEN: usize = 16;
const SECRET: usize = 3;

/// The version of the form.
const VERSION: u32 = 1;

/// Findings that are known, each as often as it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeMap<Entry, usize>,
}

/// One finding, as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: String,
    rule: String,
    print: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    v: u32,
    findings: Vec<Entry>,
}

/// Why a file is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is not of the form.
    #[error("{0}: it is no baseline: make it again with --update-baseline")]
    NoBaseline(#[from] document::DocumentError),
    /// It was made by another version.
    #[error(
        "it is a baseline of version {0}, and only version {VERSION} is known: make it again with --update-baseline"
    )]
    Version(u32),
}

impl Baseline {
    /// Reads a file.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, BaselineError> {
        let file: File = document::read(name, bytes)?;
        if file.v != VERSION {
            return Err(BaselineError::Version(file.v));
        }
        let mut baseline = Self::default();
        for entry in file.findings {
            *baseline.known.entry(entry).or_default() += 1;
        }
        Ok(baseline)
    }

    /// Adds what was found in a file.
    pub fn add(&mut self, path: &str, found: &[LocatedFinding]) {
        for one in found {
            let entry = Entry::new(path, &one.finding, &one.print);
            *self.known.entry(entry).or_default() += 1;
        }
    }

    /// How many findings it knows.
    pub fn len(&self) -> usize {
        self.known.values().sum()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many findings it knows that another does not.
    pub fn beyond(&self, other: &Self) -> usize {
        let of_other = |entry| other.known.get(entry).copied().unwrap_or_default();
        self.known
            .iter()
            .map(|(entry, count)| count.saturating_sub(of_other(entry)))
            .sum()
    }

    /// What it knows of a file.
    pub fn of_file<'b>(&'b self, path: &'b str) -> OfFile<'b> {
        OfFile {
            baseline: self,
            path,
            seen: BTreeMap::new(),
        }
    }

    /// The file.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let file = File {
            v: VERSION,
            findings: self
                .known
                .iter()
                .flat_map(|(entry, count)| std::iter::repeat_n(entry.clone(), *count))
                .collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &file)?;
        out.write_all(b"\n")
    }
}

/// What a baseline knows of a file, while the file is scanned.
#[derive(Debug)]
pub struct OfFile<'b> {
    baseline: &'b Baseline,
    path: &'b str,
    seen: BTreeMap<Entry, usize>,
}

impl OfFile<'_> {
    /// Whether a finding is one of those it knows; each of them is one finding only.
    pub fn knows(&mut self, finding: &Finding, print: &str) -> bool {
        let entry = Entry::new(self.path, finding, print);
        let known = self.baseline.known.get(&entry).copied();
        let seen = self.seen.entry(entry).or_default();
        *seen += 1;
        known.is_some_and(|known| *seen <= known)
    }
}

impl Entry {
    fn new(path: &str, finding: &Finding, print: &str) -> Self {
        Self {
            path: path.to_owned(),
            rule: finding.rule.clone().into_owned(),
            print: print.to_owned(),
        }
    }
}

/// The print of a finding in the text it was found in.
pub(super) fn print_in(text: &str, finding: &Finding) -> String {
    print_of(finding, text.get(finding.span.clone()).unwrap_or_default())
}

/// The print of a finding that is about these words.
pub(super) fn print_of(finding: &Finding, about: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(finding.rule.as_bytes());
    hash.update([0]);
    hash.update(about.as_bytes());
    let letters = match finding.family == Family::Secret {
        true => SECRET,
        false => OPEN,
    };
    let hex: String = hash
        .finalize()
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect();
    hex.chars().take(letters).collect()
}
