//! A database of advisories on the disk: files in the OSV format (JSON), or of RustSec (Markdown that begins
//! with TOML), as their projects publish them for download.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::text::{Severity, escape_for_display};
use serde::Deserialize;
use serde_json::Value;

use super::versions::{Version, meets};
use super::{Ecosystem, scores};
use crate::scan::staged::read_bounded;

/// The largest single file: exports of a whole ecosystem as one list have tens of megabytes.
const MAX_FILE: u64 = 256 << 20;

/// How deep directories are looked into; databases have three levels.
const MAX_DEPTH: usize = 12;

/// The most letters of a summary that are kept.
const MAX_SUMMARY: usize = 160;

/// What is known of packages, by name.
#[derive(Clone, Debug, Default)]
pub struct Advisories {
    by_package: BTreeMap<(Ecosystem, String), Vec<Advisory>>,
    count: usize,
}

/// One advisory about one package.
#[derive(Clone, Debug)]
pub(super) struct Advisory {
    pub(super) id: String,
    pub(super) severity: Severity,
    pub(super) summary: String,
    /// The first version without the fault, if one is named.
    pub(super) fixed: Option<String>,
    affected: Affected,
}

#[derive(Clone, Debug)]
enum Affected {
    /// Versions by name, and ranges of what happened when.
    Listed(Vec<String>, Vec<Vec<Event>>),
    /// All but those that meet one of these requirements.
    AllBut(Vec<String>),
}

/// What happened to a package in a version.
#[derive(Clone, Debug)]
enum Event {
    Introduced(String),
    Fixed(String),
    LastAffected(String),
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AdvisoriesError {
    /// A file or a directory cannot be read.
    #[error("{0}: it cannot be read ({1})")]
    Unread(String, String),
    /// A file is not of its format.
    #[error("{0}: it is no advisory ({1}): fetch the database again")]
    Malformed(String, String),
    /// A directory stands deeper than is looked.
    #[error(
        "{0}: it stands more than {MAX_DEPTH} directories deep, where no advisory is looked for: name it by itself"
    )]
    TooDeep(String),
    /// A directory is only a link.
    #[error(
        "{0}: it is a link to a directory, which is not followed: put what it leads to in its place"
    )]
    Linked(String),
    /// There is nothing in it.
    #[error(
        "{0}: there is no advisory in it: name a directory of OSV files (*.json) or of RustSec's (*.md)"
    )]
    Empty(String),
}

impl Advisories {
    /// Reads a file, or all files below a directory.
    pub fn read(path: &Path) -> Result<Self, AdvisoriesError> {
        let mut advisories = Self::default();
        advisories.read_into(path, 0)?;
        match advisories.count {
            0 => Err(AdvisoriesError::Empty(shown(path))),
            _ => Ok(advisories),
        }
    }

    /// Adds those of another database.
    pub fn join(&mut self, other: Self) {
        self.count += other.count;
        for (package, more) in other.by_package {
            self.by_package.entry(package).or_default().extend(more);
        }
    }

    /// What is known about a version. One nobody can compare counts as affected.
    pub(super) fn about<'a>(
        &'a self,
        ecosystem: Ecosystem,
        name: &str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Advisory> {
        let key = (ecosystem, ecosystem.normal(name));
        let known = self.by_package.get(&key).map(Vec::as_slice);
        known
            .unwrap_or_default()
            .iter()
            .filter(move |advisory| advisory.affected.includes(version))
    }

    fn read_into(&mut self, path: &Path, depth: usize) -> Result<(), AdvisoriesError> {
        let unread =
            |error: io::Error| AdvisoriesError::Unread(shown(path), error.kind().to_string());
        // What is named may be a link. Below it one could lead round in circles.
        let is_link = depth > 0 && fs::symlink_metadata(path).map_err(unread)?.is_symlink();
        if fs::metadata(path).map_err(unread)?.is_dir() {
            if is_link {
                return Err(AdvisoriesError::Linked(shown(path)));
            }
            if depth > MAX_DEPTH {
                return Err(AdvisoriesError::TooDeep(shown(path)));
            }
            let mut entries: Vec<PathBuf> = Vec::new();
            for entry in fs::read_dir(path).map_err(unread)? {
                entries.push(entry.map_err(unread)?.path());
            }
            entries.sort();
            for entry in entries.iter().filter(|entry| !is_hidden(entry)) {
                self.read_into(entry, depth + 1)?;
            }
            return Ok(());
        }
        let json = match path.extension().and_then(|it| it.to_str()) {
            Some("json") => true,
            Some("md") => false,
            _ => return Ok(()),
        };
        let mut file = File::open(path).map_err(unread)?;
        let bytes = read_bounded(&mut file, MAX_FILE).map_err(unread)?;
        let added = match json {
            true => self.add_osv(&bytes),
            false => self.add_rustsec(&bytes),
        };
        added.map_err(|problem| AdvisoriesError::Malformed(shown(path), problem))
    }

    fn add_osv(&mut self, bytes: &[u8]) -> Result<(), String> {
        let whole: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if let Value::Array(many) = whole {
            return many.into_iter().try_for_each(|one| self.add_one_osv(one));
        }
        self.add_one_osv(whole)
    }

    fn add_one_osv(&mut self, value: Value) -> Result<(), String> {
        // Databases have lists and settings beside the advisories.
        if value.get("id").is_none() || value.get("affected").is_none() {
            return Ok(());
        }
        let osv: Osv = serde_json::from_value(value).map_err(|error| error.to_string())?;
        self.count += 1;
        if osv.withdrawn.is_some() {
            return Ok(());
        }
        for affected in &osv.affected {
            let Some(package) = &affected.package else {
                continue;
            };
            let Some(ecosystem) = Ecosystem::from_name(&package.ecosystem) else {
                continue;
            };
            let ranges: Vec<Vec<Event>> = affected
                .ranges
                .iter()
                .filter(|range| range.kind != "GIT")
                .map(|range| range.events.iter().filter_map(OsvEvent::read).collect())
                .collect();
            let fixed = ranges.iter().flatten().find_map(|event| match event {
                Event::Fixed(version) => Some(version.clone()),
                Event::Introduced(_) | Event::LastAffected(_) => None,
            });
            self.add(
                ecosystem,
                &package.name,
                Advisory {
                    id: id(&osv.id),
                    severity: osv.rating(affected),
                    summary: summary(osv.summary.as_deref().or(osv.details.as_deref())),
                    fixed,
                    affected: Affected::Listed(affected.versions.clone(), ranges),
                },
            );
        }
        Ok(())
    }

    fn add_rustsec(&mut self, bytes: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let Some((head, body)) = text
            .trim_start()
            .strip_prefix("```toml\n")
            .and_then(|rest| rest.split_once("\n```"))
        else {
            return Ok(());
        };
        let entry: RustSec = toml::from_str(head).map_err(|error| error.message().to_owned())?;
        self.count += 1;
        let advisory = entry.advisory;
        if advisory.withdrawn.is_some() {
            return Ok(());
        }
        let severity = match (&advisory.informational, &advisory.cvss) {
            (_, Some(vector)) => scores::of_vector(vector).unwrap_or(Severity::High),
            // Nobody maintains it, or it is unsound: worth to know, no hole by itself.
            (Some(_), None) => Severity::Low,
            (None, None) => Severity::High,
        };
        let title = body.lines().find_map(|line| line.strip_prefix("# "));
        let fixed = entry.versions.patched.first().cloned();
        let mut fine = entry.versions.patched;
        fine.extend(entry.versions.unaffected);
        self.add(
            Ecosystem::Crates,
            &advisory.package,
            Advisory {
                id: id(&advisory.id),
                severity,
                summary: summary(title.or(advisory.title.as_deref())),
                fixed,
                affected: Affected::AllBut(fine),
            },
        );
        Ok(())
    }

    fn add(&mut self, ecosystem: Ecosystem, name: &str, advisory: Advisory) {
        let package = (ecosystem, ecosystem.normal(name));
        self.by_package.entry(package).or_default().push(advisory);
    }
}

impl Affected {
    fn includes(&self, written: &str) -> bool {
        let version = Version::read(written);
        match self {
            Affected::AllBut(fine) => {
                let Some(version) = version else {
                    return true;
                };
                !fine.iter().any(|it| meets(&version, it) == Some(true))
            }
            Affected::Listed(versions, ranges) => {
                if versions.iter().any(|one| one == written) {
                    return true;
                }
                if versions.is_empty() && ranges.is_empty() {
                    return true;
                }
                let Some(version) = version else {
                    return !ranges.is_empty();
                };
                let same =
                    |one: &String| Version::read(one).is_some_and(|it| it.cmp(&version).is_eq());
                versions.iter().any(same) || ranges.iter().any(|events| holds(events, &version))
            }
        }
    }
}

/// Whether a version lies in one of the stretches the events mark.
fn holds(events: &[Event], version: &Version) -> bool {
    let mut sorted: Vec<(Version, &Event)> = Vec::new();
    for event in events {
        let (Event::Introduced(at) | Event::Fixed(at) | Event::LastAffected(at)) = event;
        match Version::read(at) {
            Some(at) => sorted.push((at, event)),
            // An event nobody can place says nothing against the version being weak.
            None => return true,
        }
    }
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let mut affected = false;
    for (at, event) in sorted {
        match event {
            Event::Introduced(_) if *version >= at => affected = true,
            Event::Fixed(_) if *version >= at => affected = false,
            Event::LastAffected(_) if *version > at => affected = false,
            Event::Introduced(_) | Event::Fixed(_) | Event::LastAffected(_) => {}
        }
    }
    affected
}

#[derive(Deserialize)]
struct Osv {
    id: String,
    summary: Option<String>,
    details: Option<String>,
    withdrawn: Option<String>,
    #[serde(default)]
    severity: Vec<OsvSeverity>,
    #[serde(default)]
    affected: Vec<OsvAffected>,
    #[serde(default)]
    database_specific: Value,
}

#[derive(Deserialize)]
struct OsvSeverity {
    #[serde(default)]
    score: String,
}

#[derive(Deserialize)]
struct OsvAffected {
    package: Option<OsvPackage>,
    #[serde(default)]
    ranges: Vec<OsvRange>,
    #[serde(default)]
    versions: Vec<String>,
    #[serde(default)]
    severity: Vec<OsvSeverity>,
    #[serde(default)]
    database_specific: Value,
}

#[derive(Deserialize)]
struct OsvPackage {
    ecosystem: String,
    name: String,
}

#[derive(Deserialize)]
struct OsvRange {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    events: Vec<OsvEvent>,
}

#[derive(Deserialize)]
struct OsvEvent {
    introduced: Option<String>,
    fixed: Option<String>,
    last_affected: Option<String>,
}

impl OsvEvent {
    fn read(&self) -> Option<Event> {
        let introduced = self.introduced.clone().map(Event::Introduced);
        introduced
            .or_else(|| self.fixed.clone().map(Event::Fixed))
            .or_else(|| self.last_affected.clone().map(Event::LastAffected))
    }
}

impl Osv {
    /// How bad it is: by its score, else by the word of its database. What nobody rated is high.
    fn rating(&self, affected: &OsvAffected) -> Severity {
        // Packages made to do harm are not rated.
        if self.id.starts_with("MAL-") {
            return Severity::Critical;
        }
        let scores = affected.severity.iter().chain(&self.severity);
        let scored = scores.filter_map(|it| scores::of_vector(&it.score)).max();
        let word = |value: &Value| scores::of_word(value.get("severity")?.as_str()?);
        let informational = affected.database_specific.get("informational");
        scored
            .or_else(|| word(&self.database_specific))
            .or_else(|| word(&affected.database_specific))
            .or_else(|| {
                informational
                    .filter(|it| !it.is_null())
                    .map(|_| Severity::Low)
            })
            .unwrap_or(Severity::High)
    }
}

#[derive(Deserialize)]
struct RustSec {
    advisory: RustSecAdvisory,
    #[serde(default)]
    versions: RustSecVersions,
}

#[derive(Deserialize)]
struct RustSecAdvisory {
    id: String,
    package: String,
    title: Option<String>,
    cvss: Option<String>,
    informational: Option<toml::Value>,
    withdrawn: Option<toml::Value>,
}

#[derive(Default, Deserialize)]
struct RustSecVersions {
    #[serde(default)]
    patched: Vec<String>,
    #[serde(default)]
    unaffected: Vec<String>,
}

fn id(text: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    text.chars().filter(plain).take(60).collect()
}

fn summary(text: Option<&str>) -> String {
    let line = text.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    let line = line.map_or("it is known to be weak", |line| {
        line.trim().trim_end_matches('.')
    });
    escape_for_display(line, MAX_SUMMARY)
}

fn shown(path: &Path) -> String {
    escape_for_display(&path.display().to_string(), 300)
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with('.'))
}
