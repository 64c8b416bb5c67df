//! What findings mean in a repository, where others and their agents read what is committed.
//!
//! A file on somebody's disk may hold a password; a commit with it gives it to everybody, for good. Words
//! that are odd in a log file are an order in a file that agents read before anything else.

use std::path::Path;

use holdpoint_core::text::Severity;
use holdpoint_core::text::inspection::{Family, Finding};

/// Files that agents read by themselves, whatever directory they lie in; all in small letters.
const NAMES: &[&str] = &[
    "agents.md",
    "agents.override.md",
    "agent.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "qwen.md",
    "codex.md",
    "copilot-instructions.md",
    "skill.md",
    "conventions.md",
    "llms.txt",
    "llms-full.txt",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".roorules",
    ".goosehints",
    ".mcp.json",
    "mcp.json",
    "mcp_config.json",
];

/// Directories whose files are rules, skills, commands or servers of agents.
const DIRECTORIES: &[&str] = &[
    ".agents",
    ".amazonq",
    ".augment",
    ".claude",
    ".claude-plugin",
    ".clinerules",
    ".codex",
    ".continue",
    ".copilot",
    ".cursor",
    ".gemini",
    ".goose",
    ".junie",
    ".kiro",
    ".opencode",
    ".qwen",
    ".roo",
    ".windsurf",
];

/// Directories of which only a part is for agents.
const PARTS: &[(&str, &[&str])] = &[(
    ".github",
    &["instructions", "prompts", "chatmodes", "agents", "hooks"],
)];

/// Whether agents read a file without being told to.
pub fn is_read_by_agents(path: &str) -> bool {
    let path = path.replace('\\', "/").to_lowercase();
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let is_part = |(parent, children): &(&str, &[&str])| {
        let pairs = parts.iter().zip(parts.iter().skip(1));
        pairs
            .into_iter()
            .any(|(one, next)| one == parent && children.contains(next))
    };
    NAMES.contains(&name)
        || name.starts_with("readme")
        || parts.iter().any(|part| DIRECTORIES.contains(part))
        || PARTS.iter().any(is_part)
}

/// Whether a file may be a project's policy.
pub fn is_policy(path: &str) -> bool {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    matches!(name, Some("permissions.json" | ".permissions.json"))
}

/// Whether a file of settings may hold the hooks of an agent.
pub fn may_hold_hooks(path: &str) -> bool {
    const ENDS: &[&str] = &[".json", ".toml", ".js", ".ts", ".yaml", ".yml"];
    let name = path.to_lowercase();
    is_read_by_agents(path) && ENDS.iter().any(|end| name.ends_with(end))
}

/// How bad a finding is in a file of a repository.
pub fn severity(path: &str, finding: &Finding) -> Severity {
    match (finding.family, finding.severity) {
        // What has the form of a secret and its check digits; what is only given to a key of that name is likely.
        (Family::Secret, Severity::Medium) => Severity::Critical,
        (Family::Secret, Severity::Low) => Severity::High,
        // Reads like an order, but files for agents are orders: only what no owner of one writes is raised.
        (
            Family::Addressed
            | Family::CommandRequest
            | Family::Statistical
            | Family::Markup
            | Family::ToolDescription
            | Family::Policy
            | Family::Dependency,
            severity,
        ) => severity,
        (_, Severity::High) if is_read_by_agents(path) => Severity::Critical,
        (_, severity) => severity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_agents_read_are_known_by_name_and_place() {
        for path in [
            "AGENTS.md",
            "web/Claude.md",
            "README.de.md",
            ".claude/skills/x/reference.md",
            "pkg/.cursor/rules/a.mdc",
            ".github/instructions/rust.instructions.md",
            ".mcp.json",
        ] {
            assert!(is_read_by_agents(path), "{path}");
        }
        for path in [
            "src/main.rs",
            ".github/workflows/ci.yml",
            "agents.rs",
            "docs/claude.txt",
        ] {
            assert!(!is_read_by_agents(path), "{path}");
        }
    }
}
