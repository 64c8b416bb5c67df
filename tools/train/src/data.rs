//! The labelled texts.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A labelled text.
#[derive(Default, Deserialize)]
pub struct Labelled {
    /// What it says.
    pub text: String,
    /// 1 for an attack.
    pub label: u8,
    /// The data set it comes from.
    pub source: String,
    /// Its language.
    #[serde(default)]
    pub lang: String,
    /// What kind of harmless text it is, where the set tells.
    #[serde(default)]
    pub class: String,
    /// Where in the source it comes from: a repository and a file.
    #[serde(default)]
    pub origin_path: Option<String>,
}

/// The texts of a file with one JSON object a line.
pub fn read(path: &Path) -> Result<Vec<Labelled>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).context("a line is no labelled text"))
        .collect()
}
