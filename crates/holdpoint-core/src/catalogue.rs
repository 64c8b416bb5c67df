//! The tools Holdpoint knows by name: what they do and which argument is a command.
//!
//! Only agents' own tools are listed. An MCP tool may be called anything by whoever wrote it, so
//! its name proves nothing: it stays `Unknown` until a policy declares its effect.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::effects::Kind;
use crate::verdict::Risk;

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
pub(crate) fn verb_by_name(tool: &str) -> Kind {
    let name = tool.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["delete", "remove", "unlink", "rmdir", "trash"]) {
        Kind::Delete
    } else if has(&[
        "write", "edit", "create", "update", "append", "patch", "save", "put", "move", "rename",
        "replace", "insert", "copy", "upload", "mkdir",
    ]) {
        Kind::Write
    } else if has(&["read", "get", "view", "open", "cat", "load", "fetch"]) {
        Kind::Read
    } else {
        Kind::Either
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

struct Known {
    name: &'static str,
    effect: Effect,
    shape: Shape,
}

const fn shell(name: &'static str, command: &'static str) -> Known {
    Known {
        name,
        effect: Effect::Execute,
        shape: Shape::Shell { command },
    }
}

const fn plain(name: &'static str, effect: Effect) -> Known {
    Known {
        name,
        effect,
        shape: Shape::Plain,
    }
}

/// What `tool` does; `Unknown` for a tool not listed.
pub(crate) fn effect(tool: &str) -> Effect {
    find(tool).map_or(Effect::Unknown, |known| known.effect)
}

/// How the arguments of `tool` are read.
pub(crate) fn shape(tool: &str) -> Shape {
    find(tool).map_or(Shape::Plain, |known| known.shape)
}

/// The arguments of `tool` a person may change before they let it run: for a tool nobody has
/// described, none.
pub(crate) fn editable(tool: &str) -> &'static [&'static str] {
    match find(tool).map(|known| known.shape) {
        Some(Shape::Shell { command: "command" }) => &["command"],
        Some(Shape::Shell { command: "cmd" }) => &["cmd"],
        Some(Shape::Shell { .. } | Shape::Plain) => &[
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

/// Whether `tool` is one of those listed here.
pub(crate) fn is_known(tool: &str) -> bool {
    find(tool).is_some()
}

/// Whether `tool` is known to fetch something from elsewhere.
pub fn reaches_network(tool: &str) -> bool {
    WEB.binary_search(&tool).is_ok()
}

/// Whether `tool` is known to show what stands in files.
pub fn reads_files(tool: &str) -> bool {
    FILE_READERS.binary_search(&tool).is_ok()
}

/// Whether `tool` is one an agent keeps house with: it reaches nothing by itself, and whatever calls
/// it leads to are judged like any other.
pub(crate) fn stays_with_the_agent(tool: &str) -> bool {
    HOUSEKEEPING.binary_search(&tool).is_ok()
}

/// Whether an argument of this name holds a shell command in a tool that is not listed.
pub fn names_command(key: &str) -> bool {
    // Every such name has a `c` or an `s` in front.
    if !key.starts_with(['c', 'C', 's', 'S', '_', '-']) {
        return false;
    }
    [
        "cmd",
        "command",
        "commandline",
        "commands",
        "shellcommand",
        "shellscript",
        "script",
    ]
    .contains(&folded(key).as_str())
}

/// Whether an argument of this name is code in a language the tool knows.
pub(crate) fn names_code(key: &str) -> bool {
    [
        "code",
        "sourcecode",
        "pythoncode",
        "jscode",
        "javascript",
        "python",
    ]
    .contains(&folded(key).as_str())
}

/// Whether an argument of this name is a list of words a program is started with.
pub(crate) fn names_words(key: &str) -> bool {
    ["argv", "cmdline"].contains(&folded(key).as_str())
}

/// Whether an argument of this name is a file or directory, whatever the tool is called (A-04,
/// H-06, H-11).
pub(crate) fn names_path(key: &str) -> bool {
    PATH_ARGUMENTS.binary_search(&folded(key).as_str()).is_ok()
}

/// Whether an argument of this name is the directory a command runs in.
pub(crate) fn names_directory(key: &str) -> bool {
    ["cwd", "workdir", "workingdir", "workingdirectory"].contains(&folded(key).as_str())
}

/// The key in lower case without separators: `filePath`, `file_path` and `FILE-PATH` are one.
fn folded(key: &str) -> String {
    key.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Names of path arguments, folded. Sorted.
const PATH_ARGUMENTS: &[&str] = &[
    "absolutepath",
    "dest",
    "destination",
    "dir",
    "directory",
    "dirpath",
    "file",
    "filename",
    "filepath",
    "files",
    "include",
    "newpath",
    "notebookpath",
    "oldpath",
    "path",
    "paths",
    "source",
    "src",
    "target",
    "targetfile",
];

/// Tools that fetch something from elsewhere. Sorted.
const WEB: &[&str] = &[
    "Fetch",
    "WebFetch",
    "WebSearch",
    "fetch_url",
    "fetch_web_content",
    "google_web_search",
    "web_fetch",
    "web_search",
    "webfetch",
    "websearch",
];

/// Tools that show what stands in files. Sorted.
const FILE_READERS: &[&str] = &[
    "Glob",
    "Grep",
    "LS",
    "List",
    "NotebookRead",
    "Read",
    "file_read",
    "fs_read",
    "get_file_info",
    "glob",
    "grep",
    "grep_search",
    "list_directory",
    "list_files",
    "read",
    "read_file",
    "read_files",
    "read_many_files",
    "search_codebase",
    "search_file_content",
    "search_files",
    "view",
];

/// Tools an agent keeps house with. Sorted.
const HOUSEKEEPING: &[&str] = &[
    "Agent",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitWorktree",
    "KillShell",
    "Skill",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "ToolSearch",
];

fn find(tool: &str) -> Option<&'static Known> {
    KNOWN
        .binary_search_by(|known| known.name.cmp(tool))
        .ok()
        .and_then(|index| KNOWN.get(index))
}

/// Sorted by name, so that a look-up is a binary search.
const KNOWN: &[Known] = &[
    plain("AskUserQuestion", Effect::None),
    shell("Bash", "command"),
    plain("BashOutput", Effect::Read),
    plain("Delete", Effect::Delete),
    plain("Edit", Effect::Write),
    plain("ExitPlanMode", Effect::None),
    plain("Fetch", Effect::Read),
    plain("Glob", Effect::Read),
    plain("Grep", Effect::Read),
    plain("LS", Effect::Read),
    plain("List", Effect::Read),
    shell("Monitor", "command"),
    plain("MultiEdit", Effect::Write),
    plain("NotebookEdit", Effect::Write),
    plain("NotebookRead", Effect::Read),
    shell("PowerShell", "command"),
    plain("Read", Effect::Read),
    plain("ReadLints", Effect::Read),
    shell("Shell", "command"),
    plain("TodoWrite", Effect::None),
    plain("WebFetch", Effect::Read),
    plain("WebSearch", Effect::Read),
    plain("Write", Effect::Write),
    plain("apply_patch", Effect::Write),
    plain("askPermission", Effect::None),
    plain("ask_question", Effect::None),
    plain("ask_user", Effect::None),
    shell("bash", "command"),
    shell("cli_based_tool", "command"),
    plain("create", Effect::Write),
    plain("create_directory", Effect::Write),
    plain("create_file", Effect::Write),
    plain("delete_file", Effect::Delete),
    shell("developer__shell", "command"),
    plain("developer__text_editor", Effect::Write),
    plain("edit", Effect::Write),
    plain("edit_file", Effect::Write),
    plain("editor", Effect::Write),
    shell("exec_command", "cmd"),
    shell("execute_bash", "command"),
    shell("execute_command", "command"),
    plain("fetch_url", Effect::Read),
    plain("fetch_web_content", Effect::Read),
    plain("file_read", Effect::Read),
    plain("file_write", Effect::Write),
    plain("fs_read", Effect::Read),
    plain("fs_write", Effect::Write),
    plain("get_file_info", Effect::Read),
    plain("glob", Effect::Read),
    plain("google_web_search", Effect::Read),
    plain("grep", Effect::Read),
    plain("grep_search", Effect::Read),
    plain("list_directory", Effect::Read),
    plain("list_files", Effect::Read),
    plain("notebook_edit", Effect::Write),
    shell("powershell", "command"),
    plain("read", Effect::Read),
    plain("read_file", Effect::Read),
    plain("read_files", Effect::Read),
    plain("read_many_files", Effect::Read),
    plain("remove_file", Effect::Delete),
    plain("replace", Effect::Write),
    plain("replace_in_file", Effect::Write),
    shell("run_command", "command"),
    shell("run_commands", "command"),
    shell("run_in_terminal", "command"),
    shell("run_shell_command", "command"),
    shell("run_terminal_cmd", "command"),
    plain("search_codebase", Effect::Read),
    plain("search_file_content", Effect::Read),
    plain("search_files", Effect::Read),
    shell("shell", "command"),
    plain("str_replace_based_edit_tool", Effect::Write),
    plain("str_replace_editor", Effect::Write),
    plain("text_editor", Effect::Write),
    plain("view", Effect::Read),
    plain("web_fetch", Effect::Read),
    plain("web_search", Effect::Read),
    plain("webfetch", Effect::Read),
    plain("websearch", Effect::Read),
    plain("write", Effect::Write),
    plain("write_file", Effect::Write),
    plain("write_to_file", Effect::Write),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_so_that_every_entry_is_found() {
        assert!(KNOWN.is_sorted_by(|a, b| a.name < b.name));
        for list in [PATH_ARGUMENTS, WEB, FILE_READERS, HOUSEKEEPING] {
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
