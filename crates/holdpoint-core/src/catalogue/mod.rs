//! The tools agents have: what they do, what their arguments mean, and which names are names of the
//! same tool (`rules/tools.toml`, made into sorted tables by `build_tools.rs`).
//!
//! Only agents' own tools are listed. An MCP tool may be called anything by whoever wrote it, so
//! its name proves nothing: it stays `Unknown` until a policy declares its effect.

mod arguments;
mod identity;
mod name_words;
mod program_words;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::effects::EffectKind;
use crate::rules;
use crate::verdict::Risk;

pub use arguments::names_command;
pub(crate) use arguments::{
    SpeaksSql, evaluates, executes, is_free_text, language_named, meaning_argument, names_code,
    names_directory, names_operation, names_path, names_program, names_prose, names_typed,
    names_words, programs_named, rename, renames, speaks_sql, types_into_shell, types_somewhere,
    verbs_named,
};
pub(crate) use identity::{Identity, ToolSet, find_name, is_name, patched_paths, tool_named};
#[cfg(test)]
pub(crate) use identity::{all_names, arguments_of};
pub(crate) use name_words::{
    Says, calls_destroyer, is_destroying, loses_nodes, moves, said_by_call, says_that_it_destroys,
};
pub(crate) use program_words::{Told, is_statement};

/// What running a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nothing outside the conversation.
    None,
    /// Looks at files or pages.
    Read,
    /// Creates or changes files.
    Write,
    /// Removes files.
    Delete,
    /// Runs a program.
    Execute,
    /// Nobody has said.
    Unknown,
}

impl Effect {
    /// Whether a read-only agent may do this.
    pub fn only_looks(self) -> bool {
        matches!(self, Effect::None | Effect::Read)
    }

    /// The risk of a call about which nothing else is known.
    pub fn risk(self) -> Risk {
        match self {
            Effect::None => Risk::None,
            Effect::Read => Risk::Low,
            Effect::Write | Effect::Execute | Effect::Unknown => Risk::Medium,
            Effect::Delete => Risk::High,
        }
    }
}

/// What a tool nobody has described would do to the paths it names, going by its name. Only rules
/// that protect files ask: a name never proves a tool harmless.
pub(crate) fn verb_by_name(tool: &str) -> EffectKind {
    let name = tool.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["delete", "remove", "unlink", "rmdir", "trash"]) {
        EffectKind::Delete
    } else if has(&[
        "write",
        "edit",
        "create",
        "update",
        "append",
        "patch",
        "save",
        "put",
        "move",
        "rename",
        "replace",
        "insert",
        "copy",
        "upload",
        "mkdir",
        "chmod",
        "chown",
        "permission",
        "truncate",
        "extract",
        "unzip",
        "symlink",
        "touch",
    ]) {
        EffectKind::Write
    } else if has(&[
        "read", "get", "view", "open", "cat", "load", "fetch", "send", "attach", "share", "post",
        "request", "http", "transfer", "sync",
    ]) {
        EffectKind::Read
    } else {
        EffectKind::Either
    }
}

/// How a tool's arguments are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One argument is a shell command line, and the call is that command.
    Shell {
        /// The argument that holds it.
        command: &'static str,
    },
    /// Arguments are plain values; some name files.
    Plain,
}

/// A tool, whatever agents call it.
#[derive(Debug)]
pub(crate) struct Tool {
    number: u8,
    /// The name that stands for it.
    pub(crate) name: &'static str,
    /// What people call it.
    pub(crate) meaning: &'static str,
    /// Tools whose rules count for this one where they tighten.
    part_of: ToolSet,
    operations: Operations,
    network: bool,
    files: bool,
    arguments: &'static [Argument],
}

/// How it is known whose work a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operations {
    /// Its tool's and no other.
    One,
    /// By the headers of a patch.
    Patch,
    /// By the editor's command.
    Editor,
}

/// An argument of a tool.
#[derive(Debug)]
struct Argument {
    name: &'static str,
    /// All its names, folded; its own first.
    folded: &'static [&'static str],
}

/// One name of a tool.
#[derive(Debug)]
pub(crate) struct Name {
    name: &'static str,
    tool: u8,
    effect: Effect,
    command: Option<&'static str>,
    /// The arguments this agent spells in its own way.
    spelled: &'static [(&'static str, &'static str)],
    /// Arguments that stand somewhere in a text.
    texts: &'static [(&'static str, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

/// What `tool` does; `Unknown` for a tool not described.
pub(crate) fn effect(tool: &str) -> Effect {
    find(tool).map_or(Effect::Unknown, |known| known.effect)
}

/// How the arguments of `tool` are read.
pub(crate) fn shape(tool: &str) -> Shape {
    match find(tool).and_then(|known| known.command) {
        Some(command) => Shape::Shell { command },
        None => Shape::Plain,
    }
}

/// The arguments of `tool` a person may change before they let it run: for a tool nobody has
/// described, none.
pub(crate) fn editable(tool: &str) -> &'static [&'static str] {
    match find(tool).filter(|known| known.effect != Effect::Unknown) {
        Some(Name {
            command: Some(command),
            ..
        }) => std::slice::from_ref(command),
        Some(_) => &[
            "command",
            "content",
            "file_path",
            "new_string",
            "old_string",
            "path",
            "query",
            "url",
        ],
        None => &[],
    }
}

/// The argument in which `tool` is given the command line it runs, if that is what it does.
pub fn command_argument(tool: &str) -> Option<&'static str> {
    match shape(tool) {
        Shape::Shell { command } => Some(command),
        Shape::Plain => None,
    }
}

/// What `tool` is and the name that stands for it, if agents have it and it has another name here.
pub fn standing_name(tool: &str) -> Option<(&'static str, &'static str)> {
    let standing = Identity::of_name(tool).standing_name()?;
    Some((standing.tool()?.meaning, standing.name))
}

/// Every name agents have for their tools.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|name| name.name)
}

/// Whether it is known what `tool` does.
pub(crate) fn is_known(tool: &str) -> bool {
    effect(tool) != Effect::Unknown
}

/// Whether `tool` is known to fetch something from elsewhere.
pub fn reaches_network(tool: &str) -> bool {
    find(tool)
        .and_then(Name::tool)
        .is_some_and(|tool| tool.network)
}

/// How a tool comes to the pages it is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetching {
    /// Not at all, or as a program a person could run.
    Never,
    /// It shows them in a browser, whose work is often a page of this machine.
    Browses,
    /// It brings them to the model.
    Fetches,
}

/// How `tool` comes to the pages it is sent to, going by its name where nobody has described it: that
/// only ever tightens.
pub(crate) fn fetching(tool: &str) -> Fetching {
    if tool_named(tool).is_some_and(|tool| tool.network) {
        return Fetching::Fetches;
    }
    if is_known(tool) {
        return Fetching::Never;
    }
    let name = tool.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&[
        "browser",
        "playwright",
        "puppeteer",
        "chrome",
        "navigate",
        "selenium",
    ]) {
        Fetching::Browses
    } else if has(&[
        "fetch",
        "http",
        "request",
        "url",
        "download",
        "crawl",
        "scrape",
        "curl",
        "wget",
        "webpage",
        "read_page",
        "get_page",
        "open_link",
    ]) {
        Fetching::Fetches
    } else {
        Fetching::Never
    }
}

/// The arguments of `tool` that are prose with addresses in it: what each stands for, and its name.
pub(crate) fn texts_with_addresses(tool: &str) -> &'static [(&'static str, &'static str)] {
    find(tool)
        .filter(|_| reaches_network(tool))
        .map_or(&[], |name| name.texts)
}

/// Whether `tool` is known to show what stands in files.
pub fn reads_files(tool: &str) -> bool {
    find(tool)
        .filter(|name| name.effect != Effect::Unknown)
        .and_then(Name::tool)
        .is_some_and(|tool| tool.files)
}

/// Whether `tool` is one an agent keeps house with: it reaches nothing by itself, and whatever calls
/// it leads to are judged like any other.
pub(crate) fn stays_with_the_agent(tool: &str) -> bool {
    HOUSEKEEPING.binary_search(&tool).is_ok()
}

impl Name {
    /// The tool it is a name of.
    fn tool(&self) -> Option<&'static Tool> {
        TOOLS.get(usize::from(self.tool))
    }
}

fn find(tool: &str) -> Option<&'static Name> {
    let name = |at: usize| NAMES.get(at).map(|known| known.name);
    NAMES.get(rules::place_of(NAME_SLOTS, tool, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_so_that_every_entry_is_found() {
        assert!(NAMES.is_sorted_by(|a, b| a.name < b.name));
        assert!(IN_LOWER_CASE.is_sorted_by(|a, b| a.0 < b.0));
        for list in [
            HOUSEKEEPING,
            COMMAND_WORDS,
            CODE_WORDS,
            ARGV_WORDS,
            DIRECTORY_WORDS,
            PATH_WORDS,
        ] {
            assert!(list.is_sorted());
        }
    }

    #[test]
    fn a_tool_named_like_a_reader_is_not_taken_for_one() {
        assert_eq!(effect("budget_transfer"), Effect::Unknown);
        assert_eq!(effect("mcp__files__read_file"), Effect::Unknown);
        assert_eq!(effect("Read"), Effect::Read);
    }
}
