//! How the files under `rules/injection/` are written.

use std::collections::BTreeMap;

use serde::Deserialize;

/// `lexicon.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LexiconFile {
    /// By language what a word written with `~` may end in, separated by commas.
    pub(crate) endings: BTreeMap<String, String>,
    pub(crate) concept: Vec<ConceptEntry>,
}

/// One idea in many languages.
#[derive(Debug, Deserialize)]
pub(crate) struct ConceptEntry {
    pub(crate) name: String,
    /// By language its words and phrases, separated by commas.
    #[serde(flatten)]
    pub(crate) languages: BTreeMap<String, String>,
}

/// A file of rules, one family each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesFile {
    /// A word of [`FAMILIES`].
    pub(crate) family: String,
    /// What they have in common.
    #[allow(dead_code, reason = "for whoever reads the file")]
    pub(crate) title: String,
    pub(crate) rule: Vec<RuleEntry>,
}

/// One thing to look for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleEntry {
    /// Where findings come from; begins with the family.
    pub(crate) id: String,
    pub(crate) severity: String,
    /// What is wrong, in a line that repeats nothing of the text.
    pub(crate) reason: String,
    /// The origins it is for; all of them when there is none.
    #[serde(default)]
    pub(crate) origins: Vec<String>,
    /// Sequences of concepts and words, any of which is looked for.
    #[serde(default)]
    pub(crate) patterns: Vec<String>,
    /// Texts of any characters, any of which is looked for; case and blanks in them do not matter.
    #[serde(default)]
    pub(crate) tokens: Vec<String>,
    /// What must hold around it: words of [`PLACES`].
    #[serde(default)]
    pub(crate) place: Vec<String>,
    /// Concepts one of which must stand close by.
    #[serde(default)]
    pub(crate) near: Vec<String>,
    /// Words none of which may stand right before it.
    #[serde(default)]
    pub(crate) not_after: Vec<String>,
    /// Words none of which may stand right after it.
    #[serde(default)]
    pub(crate) not_before: Vec<String>,
    #[allow(dead_code, reason = "the tests read them")]
    pub(crate) matches: Vec<String>,
    #[allow(dead_code, reason = "the tests read them")]
    pub(crate) not_matches: Vec<String>,
}

/// The words for families, in the order of `rules::FAMILIES`.
pub(crate) const FAMILIES: &[&str] = &[
    "override",
    "role",
    "template",
    "turn",
    "tool-result",
    "addressed",
    "exfiltration",
    "secret-request",
    "command-request",
    "concealment",
    "tool-description",
    "jailbreak",
    "markup",
];

/// The words for severities, in their order.
pub(crate) const SEVERITIES: &[&str] = &["info", "low", "medium", "high", "critical"];

/// The words for origins, in their order.
pub(crate) const ORIGINS: &[&str] = &["user", "tool", "file", "web", "description"];

/// What may be asked of the place where a rule matches, in the order of `surroundings::Match`.
pub(crate) const PLACES: &[&str] = &[
    // Only signs stand before it on its line.
    "line-start",
    // A clause begins with it.
    "clause-start",
    // A colon follows.
    "colon",
    // It stands in a comment of a program or a page.
    "comment",
    // A web address stands close by.
    "address",
    // A letter or digit follows, after blanks.
    "text-follows",
    // No word of the same clause follows.
    "clause-end",
    // Words of a sentence follow, and no field of a record or setting.
    "sentence",
];
