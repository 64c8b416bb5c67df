//! `programs.toml` and `path-classes.toml` as they are written. Only the build script reads them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// `programs.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramsFile {
    /// Programs that change nothing outside themselves.
    pub(crate) read_only: Vec<String>,
    /// Programs that do nothing but print their help when asked for it.
    pub(crate) helpful: Vec<String>,
    /// Programs that send what they are given to read.
    pub(crate) senders: Vec<String>,
    /// Programs of which the same holds in some case.
    pub(crate) read_only_when: Vec<ReadOnlyEntry>,
    pub(crate) program: Vec<ProgramEntry>,
}

/// When a program changes nothing outside itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadOnlyEntry {
    pub(crate) program: String,
    /// Its first operand is one of these; any, if there are none.
    #[serde(default)]
    pub(crate) subcommand: Vec<String>,
    /// No flag begins like one of these.
    pub(crate) without: Vec<String>,
}

/// What a program does.
#[derive(Debug, Deserialize)]
pub(crate) struct ProgramEntry {
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) before: Vec<String>,
    #[serde(default)]
    pub(crate) single_dash: bool,
    #[serde(default)]
    pub(crate) dashless: bool,
    /// Flags of a program with `single_dash` whose value may be glued to them.
    #[serde(default)]
    pub(crate) glued: Vec<String>,
    /// Flags that name the directory it goes to before it looks at its words.
    #[serde(default)]
    pub(crate) directory: Vec<String>,
    /// The same for its operands alone.
    #[serde(default)]
    pub(crate) operands_in: Vec<String>,
    #[serde(default)]
    pub(crate) remote: bool,
    #[serde(default)]
    pub(crate) same: Vec<Vec<String>>,
    #[serde(flatten)]
    pub(crate) roles: RolesEntry,
    #[serde(default)]
    pub(crate) case: Vec<ProgramCaseEntry>,
}

/// A case of a program.
#[derive(Debug, Deserialize)]
pub(crate) struct ProgramCaseEntry {
    #[serde(default)]
    pub(crate) subcommand: Vec<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) without: Vec<String>,
    #[serde(flatten)]
    pub(crate) roles: RolesEntry,
}

/// What happens to a program's words.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RolesEntry {
    pub(crate) values: Vec<String>,
    pub(crate) operands: Option<String>,
    pub(crate) first: Option<String>,
    pub(crate) first_unless: Vec<String>,
    pub(crate) last: Option<String>,
    /// The path meant when no operand is given.
    pub(crate) default: Option<String>,
    pub(crate) flag_operands: BTreeMap<String, String>,
    /// Flags whose value names a file only behind `@`.
    pub(crate) at_file: Vec<String>,
    pub(crate) prefixed: BTreeMap<String, String>,
    pub(crate) recursive: Option<Recursive>,
    pub(crate) effects: Option<Vec<String>>,
}

/// When a program takes whole trees.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Recursive {
    Always(bool),
    With(Vec<String>),
}

/// `path-classes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassesFile {
    pub(crate) class: Vec<ClassEntry>,
}

/// A class of paths by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassEntry {
    pub(crate) name: String,
    pub(crate) paths: Vec<String>,
    #[serde(default)]
    pub(crate) except: Vec<String>,
}
