//! Which tool a call is of, whatever its agent calls it, and so which rules speak of it.
//!
//! A rule that tightens counts for every tool whose work the call may do. A rule that allows counts
//! only if all that the call does is work of tools it allows: a patch that deletes a file is not
//! allowed by a rule for writing.

use serde_json::Value;

use super::{DELETE, EDIT, IN_LOWER_CASE, Name, Operations, READ, TOOLS, Tool, WRITE, find};
use crate::call::ToolCall;

/// Some tools, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolSet(pub(super) u64);

impl ToolSet {
    pub(crate) fn from_tool(tool: &Tool) -> Self {
        Self(1 << tool.number)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Which tool a call is of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identity {
    name: Option<&'static Name>,
    /// The tools whose rules count where they tighten.
    touched: ToolSet,
    /// The tools that must be allowed, all of them.
    needed: ToolSet,
}

impl Identity {
    /// The tool of a call; which work it does, the call may say.
    pub(crate) fn from_call(call: &ToolCall) -> Self {
        let identity = Self::of_name(call.tool());
        let Some(tool) = identity.tool() else {
            return identity;
        };
        let own = ToolSet::from_tool(tool);
        match tool.operations {
            Operations::One => identity,
            Operations::Patch => {
                let work = patch_work(call);
                // To whoever guards files, a patch both writes and edits.
                let changes = own.and(WRITE).and(EDIT);
                Self {
                    touched: match work.contains(DELETE) {
                        true => changes.and(DELETE),
                        false => changes,
                    },
                    needed: work,
                    ..identity
                }
            }
            Operations::Editor => {
                let (touched, needed) = editor_work(call);
                Self {
                    touched: own.and(touched),
                    needed,
                    ..identity
                }
            }
        }
    }

    /// The tool with this name, whatever a call of it may do.
    pub(crate) fn of_name(tool: &str) -> Self {
        let name = find(tool);
        let Some(known) = name.and_then(Name::tool) else {
            return Self::default();
        };
        let touched = ToolSet::from_tool(known).and(known.part_of);
        match known.operations {
            Operations::One => Self {
                name,
                touched,
                needed: ToolSet::from_tool(known),
            },
            Operations::Patch | Operations::Editor => Self {
                name,
                touched: touched.and(READ).and(DELETE),
                needed: touched.and(READ).and(DELETE),
            },
        }
    }

    /// The tool, if it is one agents have.
    pub(crate) fn tool(self) -> Option<&'static Tool> {
        self.name.and_then(Name::tool)
    }

    /// Whether a rule for `tool` counts where it tightens.
    pub(crate) fn touches(self, tool: &Tool) -> bool {
        self.touched.contains(ToolSet::from_tool(tool))
    }

    /// Whether rules that allow these tools allow all that the call does.
    pub(crate) fn is_within(self, allowed: ToolSet) -> bool {
        let Some(tool) = self.tool() else {
            return false;
        };
        // Whoever may write a file anew may change a part of it, by a tool that does both.
        let edits = match allowed.contains(WRITE) && tool.operations != Operations::One {
            true => EDIT,
            false => ToolSet::default(),
        };
        allowed.contains(ToolSet::from_tool(tool)) || allowed.and(edits).contains(self.needed)
    }

    /// The name that stands for the tool, if the call has another one.
    pub(crate) fn standing_name(self) -> Option<&'static Name> {
        let name = self.name?;
        let standing = find(name.tool()?.name)?;
        (standing.name != name.name).then_some(standing)
    }

    /// Whether the call is a patch, whose files are named in a text.
    /// Whether it writes a notebook's cells.
    pub(crate) fn is_notebook(self) -> bool {
        self.tool().is_some_and(|tool| tool.meaning == "notebook")
    }

    pub(crate) fn is_patch(self) -> bool {
        self.tool()
            .is_some_and(|tool| tool.operations == Operations::Patch)
    }
}

impl Name {
    /// Whether a call by this name is a command line.
    pub(crate) fn is_shell(&self) -> bool {
        self.command.is_some()
    }

    /// The name itself.
    pub(crate) fn text(&'static self) -> &'static str {
        self.name
    }
}

/// The tool with this name in whatever case.
pub(crate) fn tool_named(name: &str) -> Option<&'static Tool> {
    if let Some(known) = find(name) {
        return known.tool();
    }
    let lower = name.to_lowercase();
    let at = IN_LOWER_CASE
        .binary_search_by(|(known, _)| (*known).cmp(&lower))
        .ok()?;
    let (_, tool) = IN_LOWER_CASE.get(at)?;
    TOOLS.get(usize::from(*tool))
}

/// The name agents give to a tool, if a text is one.
pub(crate) fn find_name(text: &str) -> Option<&'static Name> {
    find(text)
}

/// Whether a text is a name agents give to a tool.
pub(crate) fn is_name(text: &str) -> bool {
    find(text).is_some()
}

#[cfg(test)]
impl Tool {
    /// Whether its calls do the work of several tools.
    pub(crate) fn has_several_operations(&self) -> bool {
        self.operations != Operations::One
    }
}

/// Every name with its tool.
#[cfg(test)]
pub(crate) fn all_names() -> impl Iterator<Item = (&'static str, &'static Tool)> {
    super::NAMES
        .iter()
        .filter_map(|name| Some((name.name, name.tool()?)))
}

/// The arguments of a tool that are known.
#[cfg(test)]
pub(crate) fn arguments_of(tool: &Tool) -> impl Iterator<Item = &'static str> {
    tool.arguments.iter().map(|argument| argument.name)
}

/// The lines of a patch that name a file, and whose work they are.
const PATCH_HEADERS: &[(&str, ToolSet)] = &[
    ("*** Add File:", WRITE),
    ("*** Update File:", EDIT),
    ("*** Delete File:", DELETE),
    // What is moved is written there and gone here.
    ("*** Move to:", ToolSet(WRITE.0 | DELETE.0)),
];

/// The files a patch names, with the work done to them.
fn patched_files(call: &ToolCall) -> impl Iterator<Item = (ToolSet, &str)> {
    let texts = call.input().values().filter_map(Value::as_str);
    texts.flat_map(str::lines).filter_map(|line| {
        PATCH_HEADERS.iter().find_map(|(header, work)| {
            let path = line.trim_start().strip_prefix(header)?;
            Some((*work, path.trim()))
        })
    })
}

/// The paths of the files a patch names.
pub(crate) fn patched_paths(call: &ToolCall) -> impl Iterator<Item = &str> {
    patched_files(call).map(|(_, path)| path)
}

/// The work a patch does; one that names no file could do any.
fn patch_work(call: &ToolCall) -> ToolSet {
    let work = patched_files(call).fold(ToolSet::default(), |all, (work, _)| all.and(work));
    match work == ToolSet::default() {
        true => WRITE.and(EDIT).and(DELETE),
        false => work,
    }
}

/// The work an editor's command does: what rules that tighten count, and what must be allowed. One
/// that is not known could be any.
fn editor_work(call: &ToolCall) -> (ToolSet, ToolSet) {
    let changes = WRITE.and(EDIT);
    match call.input().get("command").map(Value::as_str) {
        Some(Some("view")) => (READ, READ),
        None | Some(Some("create" | "write")) => (changes, WRITE),
        Some(Some("str_replace" | "insert" | "append" | "edit" | "undo_edit")) => (changes, EDIT),
        Some(Some(_) | None) => {
            let any = changes.and(READ).and(DELETE);
            (any, any)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools(names: &[&str]) -> ToolSet {
        names.iter().fold(ToolSet::default(), |set, name| {
            set.and(ToolSet::from_tool(tool_named(name).unwrap()))
        })
    }

    fn identity(tool: &str, input: Value) -> Identity {
        Identity::from_call(&ToolCall::new(tool, input).unwrap())
    }

    fn touches(identity: Identity, tool: &str) -> bool {
        identity.touches(tool_named(tool).unwrap())
    }

    #[test]
    fn names_that_only_look_alike_are_not_the_tool() {
        for name in [
            "bash_history_search",
            "write_todo",
            "fetchall",
            "mcp__box__Bash",
            "box/Bash",
            "MCP:Bash",
            "Bash ",
            "BASH",
        ] {
            assert!(Identity::of_name(name).tool().is_none(), "{name}");
        }
        assert_eq!(tool_named("BASH").unwrap().meaning, "shell");
    }

    #[test]
    fn a_patch_is_allowed_by_rules_for_all_it_does() {
        let patch = |header: &str| {
            let text = format!("*** Begin Patch\n*** {header}: a\n*** End Patch");
            identity("apply_patch", json!({"command": text}))
        };
        let (add, update, delete) = (
            patch("Add File"),
            patch("Update File"),
            patch("Delete File"),
        );
        for one in [add, update, delete] {
            assert!(touches(one, "Write") && touches(one, "Edit") && !touches(one, "Read"));
        }
        assert!(touches(delete, "Delete") && !touches(add, "Delete"));
        assert!(add.is_within(tools(&["Write"])) && !add.is_within(tools(&["Edit"])));
        assert!(update.is_within(tools(&["Write"])) && update.is_within(tools(&["Edit"])));
        assert!(!delete.is_within(tools(&["Write", "Edit"])));
        assert!(delete.is_within(tools(&["Delete"])));
        let unknown = identity("apply_patch", json!({"command": "?"}));
        assert!(touches(unknown, "Delete") && !unknown.is_within(tools(&["Write", "Edit"])));
    }

    #[test]
    fn an_editor_does_what_its_command_says() {
        let does = |command: Value| identity("fs_write", json!({"command": command, "path": "a"}));
        let (view, create, other) = (does(json!("view")), does(json!("create")), does(json!(7)));
        assert!(touches(view, "Read") && !touches(view, "Write"));
        assert!(view.is_within(tools(&["Read"])) && !view.is_within(tools(&["Write"])));
        assert!(touches(create, "Write") && touches(create, "Edit"));
        assert!(create.is_within(tools(&["Write"])) && !create.is_within(tools(&["Edit"])));
        assert!(does(json!("insert")).is_within(tools(&["Edit"])));
        assert!(touches(other, "Delete") && !other.is_within(tools(&["Write", "Edit", "Read"])));
    }
}
