//! Lock files: which packages are locked to which versions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Ecosystem, Locked};

/// The longest lock file that is read: those of large monorepos have ten megabytes. A longer one is an error.
pub const MAX_LOCK: u64 = 64 << 20;

/// Why a lock file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// It is no text.
    #[error("the lock file is not UTF-8 text")]
    NotText,
    /// It is not of its format.
    #[error("the lock file cannot be read as {0}: lock again, or leave it out")]
    Malformed(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `[[package]]` with `name` and `version`.
    Toml(Ecosystem),
    PackageLock,
    Pipfile,
    Composer,
    Requirements,
    GoSum,
}

/// Lock files nobody here reads yet: whoever asks for a check has to hear it.
const UNREAD: &[&str] = &[
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "Gemfile.lock",
    "gradle.lockfile",
    "packages.lock.json",
    "mix.lock",
    "pubspec.lock",
];

/// Whether a file is a lock file that is read here.
pub fn is_lock(path: &str) -> bool {
    format(path).is_some()
}

/// Whether a file is a lock file that is not.
pub fn is_unread_lock(path: &str) -> bool {
    UNREAD.contains(&name_of(path))
}

fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn format(path: &str) -> Option<Format> {
    let name = name_of(path);
    Some(match name {
        "Cargo.lock" => Format::Toml(Ecosystem::Crates),
        "poetry.lock" | "uv.lock" | "pdm.lock" | "pylock.toml" => Format::Toml(Ecosystem::PyPi),
        "package-lock.json" | "npm-shrinkwrap.json" => Format::PackageLock,
        "Pipfile.lock" => Format::Pipfile,
        "composer.lock" => Format::Composer,
        "go.sum" => Format::GoSum,
        _ if name.starts_with("requirements") && name.ends_with(".txt") => Format::Requirements,
        _ => return None,
    })
}

pub(super) fn read(path: &str, bytes: &[u8]) -> Result<(Ecosystem, Vec<Locked>), LockError> {
    let text = std::str::from_utf8(bytes).map_err(|_| LockError::NotText)?;
    let text = text.trim_start_matches('\u{feff}');
    let (ecosystem, mut locked) = match format(path).ok_or(LockError::Malformed("a lock file"))? {
        Format::Toml(ecosystem) => (ecosystem, toml_packages(text)?),
        Format::PackageLock => (Ecosystem::Npm, package_lock(text)?),
        Format::Pipfile => (Ecosystem::PyPi, pipfile(text)?),
        Format::Composer => (Ecosystem::Packagist, composer(text)?),
        Format::Requirements => (Ecosystem::PyPi, requirements(text)),
        Format::GoSum => (Ecosystem::Go, go_sum(text)),
    };
    // A tree of packages names the same one often.
    let mut seen = BTreeSet::new();
    locked.retain(|one| seen.insert((one.name.clone(), one.version.clone())));
    Ok((ecosystem, locked))
}

fn toml_packages(text: &str) -> Result<Vec<Locked>, LockError> {
    let whole: toml::Table = text.parse().map_err(|_| LockError::Malformed("TOML"))?;
    let packages = whole.get("package").or_else(|| whole.get("packages"));
    let packages = match packages {
        Some(packages) => packages
            .as_array()
            .ok_or(LockError::Malformed("a list of packages"))?,
        None => return Ok(Vec::new()),
    };
    let mut lines = Lines::new(text);
    let word = |package: &toml::Value, key: &str| {
        package
            .get(key)
            .and_then(toml::Value::as_str)
            .map(str::to_owned)
    };
    Ok(packages
        .iter()
        .filter_map(|package| {
            let name = word(package, "name")?;
            // A workspace's own members have none.
            let version = word(package, "version")?;
            let line = lines.next(&format!("name = \"{name}\""));
            Some(Locked {
                name,
                version,
                line,
            })
        })
        .collect())
}

fn package_lock(text: &str) -> Result<Vec<Locked>, LockError> {
    let whole = json(text)?;
    let mut locked = Vec::new();
    let mut lines = Lines::new(text);
    if let Some(packages) = whole.get("packages").and_then(Value::as_object) {
        for (path, package) in packages {
            // The project itself, and links to its own parts.
            if path.is_empty() || package.get("link").and_then(Value::as_bool) == Some(true) {
                continue;
            }
            let line = lines.next(&format!("\"{path}\""));
            let folder = path.rsplit("node_modules/").next().unwrap_or(path);
            // What is installed under another name says its own.
            let name = package
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or(folder);
            locked.extend(npm(name, package, line));
        }
        return Ok(locked);
    }
    if let Some(packages) = whole.get("dependencies").and_then(Value::as_object) {
        nested(packages, &mut lines, &mut locked, 0);
    }
    Ok(locked)
}

fn npm(name: &str, package: &Value, line: usize) -> Option<Locked> {
    let version = package.get("version").and_then(Value::as_str)?;
    // `npm:other@1.0` is what version 1 writes for another name.
    let (name, version) = match version
        .strip_prefix("npm:")
        .and_then(|it| it.rsplit_once('@'))
    {
        Some(other) => other,
        None => (name, version),
    };
    Some(Locked {
        name: name.to_owned(),
        version: version.to_owned(),
        line,
    })
}

/// The packages of version 1, which lie in each other. Deeper than 64 nobody's do.
fn nested(
    packages: &serde_json::Map<String, Value>,
    lines: &mut Lines<'_>,
    locked: &mut Vec<Locked>,
    depth: usize,
) {
    for (name, package) in packages {
        let line = lines.next(&format!("\"{name}\""));
        locked.extend(npm(name, package, line));
        if let Some(inner) = package.get("dependencies").and_then(Value::as_object)
            && depth < 64
        {
            nested(inner, lines, locked, depth + 1);
        }
    }
}

fn pipfile(text: &str) -> Result<Vec<Locked>, LockError> {
    let whole = json(text)?;
    let mut lines = Lines::new(text);
    let sections = ["default", "develop"].into_iter();
    let packages = sections
        .filter_map(|key| whole.get(key)?.as_object())
        .flatten();
    Ok(packages
        .filter_map(|(name, package)| {
            let line = lines.next(&format!("\"{name}\""));
            let version = package.get("version")?.as_str()?;
            Some(Locked {
                name: name.clone(),
                version: version.trim_start_matches('=').to_owned(),
                line,
            })
        })
        .collect())
}

fn composer(text: &str) -> Result<Vec<Locked>, LockError> {
    let whole = json(text)?;
    let mut lines = Lines::new(text);
    let sections = ["packages", "packages-dev"].into_iter();
    let packages = sections
        .filter_map(|key| whole.get(key)?.as_array())
        .flatten();
    Ok(packages
        .filter_map(|package| {
            let name = package.get("name")?.as_str()?.to_owned();
            let version = package.get("version")?.as_str()?.to_owned();
            let line = lines.next(&format!("\"{name}\""));
            Some(Locked {
                name,
                version,
                line,
            })
        })
        .collect())
}

/// Lines with exactly one version; a range locks nothing.
fn requirements(text: &str) -> Vec<Locked> {
    let packages = text.lines().zip(1..).filter_map(|(written, line)| {
        let written = written.split(['#', ';']).next().unwrap_or_default();
        let (name, version) = written.split_once("==")?;
        let name = name.split('[').next().unwrap_or_default().trim();
        let version = version.trim_start_matches('=').split_whitespace().next()?;
        let is_name =
            !name.is_empty() && !name.starts_with('-') && !name.contains(char::is_whitespace);
        let is_one = !version.contains([',', '*']);
        (is_name && is_one).then(|| Locked {
            name: name.to_owned(),
            version: version.trim_end_matches('\\').to_owned(),
            line,
        })
    });
    packages.collect()
}

/// Modules whose files are locked; where only `go.mod` is, the version was looked at and not taken.
fn go_sum(text: &str) -> Vec<Locked> {
    let modules = text.lines().zip(1..).filter_map(|(written, line)| {
        let mut words = written.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        (!version.ends_with("/go.mod")).then(|| Locked {
            name: name.to_owned(),
            version: version.to_owned(),
            line,
        })
    });
    modules.collect()
}

fn json(text: &str) -> Result<Value, LockError> {
    serde_json::from_str(text).map_err(|_| LockError::Malformed("JSON"))
}

/// Finds lines of a text by what stands on them, each search from where the last one ended if it can.
struct Lines<'t> {
    lines: Vec<&'t str>,
    at: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            lines: text.lines().collect(),
            at: 0,
        }
    }

    /// The number of the next line with these words, from 1; the first line if there is none.
    fn next(&mut self, words: &str) -> usize {
        let has = |line: &&str| line.contains(words);
        let behind = self.lines.get(self.at..).unwrap_or_default();
        let found = match behind.iter().position(has) {
            Some(found) => Some(self.at + found),
            None => self.lines.iter().position(has),
        };
        match found {
            Some(found) => {
                self.at = found;
                found + 1
            }
            None => 1,
        }
    }
}
