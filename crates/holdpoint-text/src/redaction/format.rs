//! The files under `rules/redaction/` as they are written; the build script reads them too.

use serde::Deserialize;

/// A file of formats, one domain each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormatsFile {
    /// The first part of its ids; named like the file.
    pub(crate) domain: String,
    /// What they have in common.
    #[allow(dead_code, reason = "for whoever reads the file")]
    pub(crate) title: String,
    pub(crate) format: Vec<FormatEntry>,
}

/// A kind of secret that is known by its form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormatEntry {
    pub(crate) id: String,
    pub(crate) what: String,
    /// The word of a marker.
    pub(crate) marker: String,
    /// Fixed texts of the shape, one of which stands in whatever it matches.
    #[serde(default)]
    pub(crate) prefix: Vec<String>,
    /// Words one of which stands shortly before, in place of a prefix.
    #[serde(default)]
    pub(crate) near: Vec<String>,
    pub(crate) shape: String,
    /// What else must hold: words of [`CHECKS`].
    #[serde(default)]
    pub(crate) check: Vec<String>,
    /// Whether upper and lower case are the same in fixed texts.
    #[serde(default)]
    pub(crate) any_case: bool,
    /// Whether a letter or digit may stand right before it.
    #[serde(default)]
    pub(crate) inside: bool,
}

/// The checks a format may ask for, by their bit.
pub(crate) const CHECKS: &[&str] = &["mixed", "varied", "jwt", "upper-and-lower"];

/// The words of the markers a format may have, in the order of `Marker`.
pub(crate) const MARKERS: &[&str] = &[
    "email",
    "phone",
    "ssn",
    "api_key",
    "password",
    "token",
    "private_key",
    "card",
    "ip",
];

/// `names.toml`: what the names of secrets look like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamesFile {
    /// Texts one of which stands in every name.
    pub(crate) roots: Vec<String>,
    pub(crate) name: Vec<NameEntry>,
}

/// Names whose values are of one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NameEntry {
    pub(crate) marker: String,
    /// A name that ends so, whatever stands before.
    #[serde(default)]
    pub(crate) ends: Vec<String>,
    /// A name whose last word or words are these.
    #[serde(default)]
    pub(crate) words: Vec<String>,
    /// A name that is this and nothing else.
    #[serde(default)]
    pub(crate) whole: Vec<String>,
}

/// `programs.toml`: the flags by which programs are given secrets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramsFile {
    pub(crate) program: Vec<ProgramEntry>,
}

/// Programs that take secrets in the same way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramEntry {
    pub(crate) names: Vec<String>,
    /// A word one of which must stand among the arguments.
    #[serde(default)]
    pub(crate) with: Vec<String>,
    /// Flags whose value is the next word, or follows `=`.
    #[serde(default)]
    pub(crate) next: Vec<String>,
    /// Flags whose value is written to them: `-pSECRET`.
    #[serde(default)]
    pub(crate) glued: Vec<String>,
    /// Flags whose value is `user:password`, next or glued.
    #[serde(default)]
    pub(crate) pair: Vec<String>,
    /// The character between the two; `:` if not said.
    #[serde(default)]
    pub(crate) between: Option<String>,
    /// Words behind which every operand is `name=secret`.
    #[serde(default)]
    pub(crate) assigned: Vec<String>,
    /// Which operand is the secret, counted from the end, the last being 1.
    #[serde(default)]
    pub(crate) operand: u8,
}
