//! The manifest of a plan as it is written, in TOML or JSON.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an agent declares before it begins: what for, what it is done when, and what it needs for it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Where the schema of the file is, for editors.
    #[serde(default, rename = "$schema")]
    pub schema: Option<String>,
    /// Which plan it is.
    pub meta: Meta,
    /// What is to be achieved.
    pub objective: Objective,
    /// What must stay as it is, for people.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// What is brought in from elsewhere.
    #[serde(default)]
    pub dependencies: Dependencies,
    /// What is done, and with what.
    pub plan: Phases,
    /// How far it is.
    #[serde(default)]
    pub state: State,
}

/// Which plan it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// Its name: capital letters, a hyphen, a number (`AUTH-12`).
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[A-Z]+-[0-9]+$")))]
    pub epic_id: String,
    /// The kind of task.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// When it was written, as RFC 3339 has it.
    pub created_at: String,
    /// The version of the prompt it was made by: `1.0`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^\d+\.\d+$")))]
    pub prompt_version: String,
    /// Which agent made it.
    pub agent_version: String,
}

/// The kinds of tasks there are examples and templates for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something new.
    Feature,
    /// Something that is wrong is put right.
    BugFix,
    /// The same, built better.
    Refactor,
    /// Somebody's work is read and commented on.
    Review,
    /// Tests are written or mended.
    Test,
    /// Texts for people.
    Documentation,
    /// From one version, shape or place of data to another.
    Migration,
    /// Something that could be attacked is made safe.
    Security,
}

/// What is to be achieved.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// It in one sentence of at most 200 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub summary: String,
    /// For whom, and why.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub user_stories: Vec<UserStory>,
    /// How one sees that it is achieved.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub success_criteria: Vec<String>,
}

/// As a …, I want …, so that ….
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UserStory {
    /// Who wants it.
    pub as_a: String,
    /// What they want.
    pub i_want: String,
    /// Why.
    pub so_that: String,
    /// What must hold so that they have it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub acceptance_criteria: Vec<String>,
}

/// What is brought in from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Dependencies {
    /// Packages that are installed; the plan covers the commands that install these and no others.
    pub new_packages: Vec<NewPackage>,
    /// How a scan of them went, for people.
    pub security_scan_status: Option<String>,
}

/// A package that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NewPackage {
    /// What installs it: `cargo`, `npm`, `pip` and the others of docs/plans.md.
    pub manager: String,
    /// Its name.
    pub name: String,
    /// The version, if it has to be one.
    #[serde(default)]
    pub version: Option<String>,
    /// Why it is needed.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub justification: String,
}

/// What is done, one thing after another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// The phases, at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub phases: Vec<Phase>,
}

/// One phase, with what it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// What it is called.
    pub name: String,
    /// What is done in it, for people.
    #[serde(default)]
    pub tasks: Vec<String>,
    /// Commands, as the patterns of allow rules: `cargo test *`. Each must name its program.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Files and directories that tools read, write and delete.
    #[serde(default)]
    pub paths: Paths,
    /// Tools by name, other than shells and tools for files: `mcp__tracker__get_issue`.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Hosts. Where a plan names any, commands it covers reach no others.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The same as commands and tools, under what they are needed for.
    #[serde(default)]
    pub tools_and_resources: Vec<Resource>,
}

/// Files and directories; relative ones lie in the workspace, and a directory stands for all in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    /// Read.
    pub read: Vec<String>,
    /// Written, and so read as well.
    pub write: Vec<String>,
    /// Removed.
    pub delete: Vec<String>,
}

/// Something a phase works with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// What it is.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub purpose: Option<String>,
    /// The commands, or `tool:NAME`, that must be permitted for it.
    #[serde(default)]
    pub permissions_required: Vec<String>,
}

/// How far a plan is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct State {
    /// In one word.
    pub status: Status,
}

/// How far a plan is, as whoever writes it says; nothing rests on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody has agreed to it.
    #[default]
    Draft,
    /// Somebody has.
    Approved,
    /// It is being done.
    InProgress,
    /// Something is in the way.
    Blocked,
    /// It is done.
    Completed,
}

/// The schema as a JSON value.
#[cfg(feature = "schema")]
pub(super) fn json_schema() -> serde_json::Value {
    let mut schema = serde_json::Value::from(schemars::schema_for!(Manifest));
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), "Holdpoint plan".into());
    }
    schema
}
