//! Lock files against a database of advisories that lies on the disk: which locked versions are known to
//! be weak. Nothing is looked up on any network; how old the database is, is its owner's affair.

mod advisories;
mod locks;
mod scores;
mod versions;

use holdpoint_core::text::Severity;
use holdpoint_core::text::inspection::{Family, Finding};
use holdpoint_core::text::normal::Disguises;

pub use self::advisories::{Advisories, AdvisoriesError};
pub use self::locks::{LockError, MAX_LOCK, is_lock, is_unread_lock};
use super::LocatedFinding;

/// Where a package comes from, by the words of the OSV format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    /// Rust.
    Crates,
    /// JavaScript.
    Npm,
    /// Python.
    PyPi,
    /// Go.
    Go,
    /// PHP.
    Packagist,
}

impl Ecosystem {
    fn from_name(name: &str) -> Option<Self> {
        // `Alpine:v3.18` has a suffix; of ours none has one.
        match name {
            "crates.io" => Some(Self::Crates),
            "npm" => Some(Self::Npm),
            "PyPI" => Some(Self::PyPi),
            "Go" => Some(Self::Go),
            "Packagist" => Some(Self::Packagist),
            _ => None,
        }
    }

    /// The name of a package as the ecosystem compares it.
    fn normal(self, name: &str) -> String {
        match self {
            // `Flask_Login`, `flask.login` and `flask-login` are one.
            Self::PyPi => {
                let mut normal = String::new();
                for c in name.trim().chars() {
                    match c {
                        '-' | '_' | '.' if normal.ends_with('-') => {}
                        '-' | '_' | '.' => normal.push('-'),
                        c => normal.extend(c.to_lowercase()),
                    }
                }
                normal
            }
            Self::Packagist => name.to_lowercase(),
            Self::Crates | Self::Npm | Self::Go => name.to_owned(),
        }
    }
}

/// One locked package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    name: String,
    version: String,
    /// The line it stands on, from 1.
    line: usize,
}

/// What is known to be weak in a lock file, each advisory once a package and version.
pub fn weak(
    path: &str,
    bytes: &[u8],
    advisories: &Advisories,
) -> Result<Vec<LocatedFinding>, LockError> {
    let (ecosystem, locked) = locks::read(path, bytes)?;
    let text = String::from_utf8_lossy(bytes);
    let mut found = Vec::new();
    for package in &locked {
        for advisory in advisories.about(ecosystem, &package.name, &package.version) {
            let about = format!("{} {}", package.name, package.version);
            let fixed = match &advisory.fixed {
                Some(version) => format!("; fixed in {version}"),
                None => "; no fixed version is known".to_owned(),
            };
            let finding = Finding {
                family: Family::Dependency,
                severity: advisory.severity,
                rule: rule(&advisory.id).into(),
                reason: format!(
                    "the locked {about}: {} ({}){fixed}",
                    advisory.summary, advisory.id
                )
                .into(),
                span: 0..0,
                disguises: Disguises::default(),
            };
            found.push(LocatedFinding::at(finding, &text, (package.line, 1), about));
        }
    }
    Ok(found)
}

/// The name of the rule for an advisory, in the letters of all rules.
fn rule(id: &str) -> String {
    format!("dependency.{}", id.to_ascii_lowercase().replace('_', "-"))
}

/// What is said of a lock file nobody here reads: silence would look like a clean one.
pub fn not_looked_up() -> LocatedFinding {
    let finding = Finding {
        family: Family::Dependency,
        severity: Severity::Medium,
        rule: "dependency.not-looked-up".into(),
        reason: "lock files of this format are not looked up: check it with its own tool".into(),
        span: 0..0,
        disguises: Disguises::default(),
    };
    LocatedFinding::at(finding, "", (1, 1), "the whole file".into())
}

#[cfg(test)]
mod tests;
