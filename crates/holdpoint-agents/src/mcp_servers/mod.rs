//! Where agents' lists of MCP servers are, and what they say: which servers there are, and how each is
//! started. They are changed as text, so that what is put in can be taken out again to the byte.

mod entries;
mod rewrite;

use std::path::PathBuf;

pub use entries::{Entry, Start};
pub use rewrite::{Rewritten, unwrapped, wrapped};

use crate::setup::Around;

/// A file that lists servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServersFile {
    /// The agent that reads it.
    pub agent: &'static str,
    /// Where it is, if it is there.
    pub path: PathBuf,
    /// Whether it is the project's, and so perhaps somebody else's.
    pub is_projects: bool,
    form: Form,
}

/// How a list of servers stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// JSON, comments allowed: the servers by their names, under this key.
    Json(&'static str),
    /// The same, once for everything and once for each of Claude Code's projects.
    ClaudeJson,
    /// TOML: tables of `mcp_servers`.
    Toml,
}

/// The agents whose lists are known.
pub const AGENTS: [&str; 7] = [
    "claude-code",
    "claude-desktop",
    "codex",
    "cursor",
    "gemini",
    "qwen",
    "vscode",
];

/// Every file that may list servers for work in a directory.
pub fn files(around: &Around) -> Vec<ServersFile> {
    const SERVERS: Form = Form::Json("mcpServers");
    let home = |place: &str| around.in_home(place);
    let project = |place: &str| Some(around.directory.join(place));
    let desktop = "Claude/claude_desktop_config.json";
    let of_mac = |place: &str| home(&format!("Library/Application Support/{place}"));
    let of_linux = |place: &str| home(&format!(".config/{place}"));
    let codex = around.moved("CODEX_HOME", ".codex");
    let all = [
        ("claude-code", project(".mcp.json"), true, SERVERS),
        ("claude-code", home(".claude.json"), false, Form::ClaudeJson),
        ("claude-desktop", of_mac(desktop), false, SERVERS),
        ("claude-desktop", of_linux(desktop), false, SERVERS),
        (
            "codex",
            codex.map(|at| at.join("config.toml")),
            false,
            Form::Toml,
        ),
        ("codex", project(".codex/config.toml"), true, Form::Toml),
        ("cursor", home(".cursor/mcp.json"), false, SERVERS),
        ("cursor", project(".cursor/mcp.json"), true, SERVERS),
        ("gemini", home(".gemini/settings.json"), false, SERVERS),
        ("gemini", project(".gemini/settings.json"), true, SERVERS),
        ("qwen", home(".qwen/settings.json"), false, SERVERS),
        ("qwen", project(".qwen/settings.json"), true, SERVERS),
        (
            "vscode",
            of_mac("Code/User/mcp.json"),
            false,
            Form::Json("servers"),
        ),
        (
            "vscode",
            of_linux("Code/User/mcp.json"),
            false,
            Form::Json("servers"),
        ),
        (
            "vscode",
            project(".vscode/mcp.json"),
            true,
            Form::Json("servers"),
        ),
    ];
    let mut files: Vec<ServersFile> = Vec::new();
    for (agent, path, is_projects, form) in all {
        // In the home itself the project's file is the user's.
        let Some(path) = path.filter(|path| files.iter().all(|known| known.path != *path)) else {
            continue;
        };
        files.push(ServersFile {
            agent,
            path,
            is_projects,
            form,
        });
    }
    files
}

impl ServersFile {
    /// The servers a text of this file lists.
    pub fn entries(&self, text: &str) -> Result<Vec<Entry>, String> {
        match self.form {
            Form::Json(key) => entries::of_json(text, key, entries::Projects::None),
            Form::ClaudeJson => entries::of_json(text, "mcpServers", entries::Projects::Each),
            Form::Toml => entries::of_toml(text),
        }
    }

    fn is_toml(&self) -> bool {
        self.form == Form::Toml
    }
}
