//! The entries of a policy file, each with the place it stands at.

use std::path::Path;

use holdpoint_core::document;
use holdpoint_core::policy::{Document, RuleList};
use holdpoint_engine::read_policy_file;

/// A policy file as it is written, without what its profile adds.
pub(super) struct WrittenPolicy {
    pub(super) name: String,
    pub(super) entries: Vec<Entry>,
}

/// One rule of a list, or one key of `tools`.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) file: String,
    pub(super) list: List,
    pub(super) kind: EntryKind,
    pub(super) text: String,
    /// Line and column.
    pub(super) place: (usize, usize),
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Deny,
    Ask,
    Allow,
    /// The section `tools`.
    Tools,
}

impl List {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            List::Deny => "deny",
            List::Ask => "ask",
            List::Allow => "allow",
            List::Tools => "tools",
        }
    }
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A tool's name.
    Tool,
    /// A glob.
    Pattern,
    /// A value of an argument of a tool.
    Value { tool: String, argument: String },
    /// A tool whose arguments are spoken of.
    ToolOfArguments,
}

impl WrittenPolicy {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = read_policy_file(path)?;
        let name = path.display().to_string();
        let document: Document = document::read(&name, &bytes)?;
        let mut file = Self {
            name,
            entries: Vec::new(),
        };
        for (key, list, written) in [
            ("deny", List::Deny, &document.deny),
            ("blacklist", List::Deny, &document.blacklist),
            ("ask", List::Ask, &document.ask),
            ("allow", List::Allow, &document.allow),
            ("whitelist", List::Allow, &document.whitelist),
        ] {
            if let Some(written) = written {
                file.add(&bytes, key, list, written);
            }
        }
        for tool in document.tools.keys() {
            file.push(&bytes, &["tools", tool], List::Tools, EntryKind::Tool, tool);
        }
        Ok(file)
    }

    /// The entries that allow.
    pub(super) fn allows(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.list == List::Allow)
    }

    fn add(&mut self, bytes: &[u8], key: &str, list: List, written: &RuleList) {
        for (index, tool) in written.tools.iter().enumerate() {
            let index = index.to_string();
            self.push(bytes, &[key, "tools", &index], list, EntryKind::Tool, tool);
        }
        for (index, pattern) in written.patterns.iter().enumerate() {
            let index = index.to_string();
            let path = [key, "patterns", index.as_str()];
            self.push(bytes, &path, list, EntryKind::Pattern, pattern);
        }
        for (tool, arguments) in &written.arguments {
            let path = [key, "arguments", tool.as_str()];
            self.push(bytes, &path, list, EntryKind::ToolOfArguments, tool);
            for (argument, values) in arguments {
                for (index, value) in values.iter().enumerate() {
                    let index = index.to_string();
                    let path = [key, "arguments", tool, argument, &index];
                    let kind = EntryKind::Value {
                        tool: tool.clone(),
                        argument: argument.clone(),
                    };
                    self.push(bytes, &path, list, kind, value);
                }
            }
        }
    }

    fn push(&mut self, bytes: &[u8], path: &[&str], list: List, kind: EntryKind, text: &str) {
        self.entries.push(Entry {
            file: self.name.clone(),
            list,
            kind,
            text: text.to_owned(),
            place: document::locate(bytes, path).unwrap_or((1, 1)),
        });
    }
}
