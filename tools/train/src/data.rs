//! The labelled texts.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A labelled text.
#[derive(Deserialize)]
pub struct Labelled {
    /// What it says.
    pub text: String,
    /// 1 for an attack.
    pub label: u8,
    /// The data set it comes from.
    pub source: String,
}

/// The texts of a file with one JSON object a line.
pub fn read(path: &Path) -> Result<Vec<Labelled>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).context("a line is no labelled text"))
        .collect()
}
