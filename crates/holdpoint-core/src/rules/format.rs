//! The files under `rules/`, as they are written. The build script reads them with these types,
//! and a user's own pack is read with them at run time, so that both are one format.

use serde::Deserialize;

/// A pack of rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackFile {
    pub(crate) pack: String,
    pub(crate) title: String,
    /// How its findings are reported, if not as a guard's.
    pub(crate) method: Option<String>,
    pub(crate) rule: Vec<RuleEntry>,
}

/// A rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleEntry {
    pub(crate) id: String,
    pub(crate) verdict: String,
    pub(crate) risk: String,
    pub(crate) reason: String,
    pub(crate) instead: String,
    pub(crate) matches: Vec<Example>,
    pub(crate) not_matches: Vec<Example>,
    pub(crate) when: Vec<CaseEntry>,
    /// What the model is told of a call that runs.
    pub(crate) tell: Option<String>,
    /// The safe form of the command.
    pub(crate) rewrite: Option<RewriteEntry>,
}

/// How a command is put in its safe form: some of its words are another one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RewriteEntry {
    pub(crate) replace: OneOrMany,
    pub(crate) with: String,
}

/// A call that must match, or must not.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Example {
    /// A command line.
    Line(String),
    /// A command line, and what is so besides.
    LineWhere {
        /// The line.
        line: String,
        /// The facts.
        facts: serde_json::Value,
    },
    /// A call of any tool.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments.
        input: serde_json::Map<String, serde_json::Value>,
        /// What is so besides.
        facts: Option<serde_json::Value>,
    },
}

/// One or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        OneOrMany::Many(Vec::new())
    }
}

impl OneOrMany {
    pub(crate) fn into_list(self) -> Vec<String> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

/// One way for a rule to hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CaseEntry {
    pub(crate) program: OneOrMany,
    pub(crate) subcommand: OneOrMany,
    pub(crate) not_subcommand: OneOrMany,
    pub(crate) flags: OneOrMany,
    pub(crate) without: OneOrMany,
    pub(crate) operands: OneOrMany,
    pub(crate) not_operands: OneOrMany,
    pub(crate) least_operands: Option<usize>,
    pub(crate) most_operands: Option<usize>,
    pub(crate) words: OneOrMany,
    pub(crate) effect: OneOrMany,
    pub(crate) target: OneOrMany,
    pub(crate) path: OneOrMany,
    pub(crate) not_path: OneOrMany,
    pub(crate) host: OneOrMany,
    pub(crate) not_host: OneOrMany,
    pub(crate) recursive: Option<bool>,
    pub(crate) forced: Option<bool>,
    pub(crate) sql: OneOrMany,
    pub(crate) opaque: OneOrMany,
    pub(crate) assigns: OneOrMany,
    pub(crate) not_program: OneOrMany,
    pub(crate) within: OneOrMany,
    pub(crate) not_within: OneOrMany,
    pub(crate) tool: OneOrMany,
    /// What must be so besides; read where it is known what facts there are.
    pub(crate) facts: Option<serde_json::Value>,
}
