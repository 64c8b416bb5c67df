//! From the bytes of a manifest to one that can be judged, or to every fault with its line.

use std::fmt;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::manifest::Manifest;
use super::words;
use crate::document;

/// How a manifest is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON with comments.
    Json,
}

impl Format {
    /// By the name of the file: `.json` and `.jsonc` are JSON, everything else is TOML.
    pub fn of_name(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        match name.ends_with(".json") || name.ends_with(".jsonc") {
            true => Format::Json,
            false => Format::Toml,
        }
    }
}

/// What is wrong with a manifest: one line a fault, each with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    faults: Vec<String>,
}

impl PlanError {
    /// The faults, in the order of the file.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl std::error::Error for PlanError {}

/// A fault in what a manifest says, and the way to it.
pub(super) struct Fault {
    pub(super) path: Vec<String>,
    pub(super) what: String,
}

impl Manifest {
    /// Reads a manifest. `name` is how the file is called in messages.
    pub fn read(name: &str, bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        let manifest: Manifest = match format {
            Format::Json => document::read(name, bytes).map_err(|error| PlanError {
                faults: vec![error.to_string()],
            })?,
            Format::Toml => read_toml(name, bytes)?,
        };
        let mut faults: Vec<(usize, String)> = words::faults(&manifest)
            .into_iter()
            .map(|fault| {
                let path: Vec<&str> = fault.path.iter().map(String::as_str).collect();
                let line = line_of(bytes, &path, format);
                let at = fault.path.join(".");
                (line, format!("{name}:{line}: `{at}` {}", fault.what))
            })
            .collect();
        if faults.is_empty() {
            return Ok(manifest);
        }
        faults.sort();
        Err(PlanError {
            faults: faults.into_iter().map(|(_, fault)| fault).collect(),
        })
    }
}

fn read_toml<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, PlanError> {
    let one = |fault: String| PlanError {
        faults: vec![fault],
    };
    let text = std::str::from_utf8(bytes)
        .map_err(|_| one(format!("{name}: it is not UTF-8 text: save it as UTF-8")))?;
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_at(text, span.start));
        let message = error.message().replace('\n', ", ");
        one(format!("{name}:{line}: {message}"))
    })
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The line of the last step that is there.
fn line_of(bytes: &[u8], path: &[&str], format: Format) -> usize {
    (0..=path.len())
        .rev()
        .filter_map(|length| path.get(..length))
        .find_map(|path| match format {
            Format::Json => document::locate(bytes, path).map(|(line, _)| line),
            Format::Toml => line_in_toml(std::str::from_utf8(bytes).ok()?, path),
        })
        .unwrap_or(1)
}

fn line_in_toml(text: &str, path: &[&str]) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let (first, rest) = match path.split_first() {
        Some(split) => split,
        None => return Some(1),
    };
    let mut value: &Spanned<DeValue<'_>> = root.get_ref().get(*first)?;
    for step in rest {
        value = match value.get_ref() {
            DeValue::Table(table) => table.get(*step)?,
            DeValue::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => return None,
        };
    }
    Some(line_at(text, value.span().start))
}
