//! The agents: a folder for each, with the payload of its hook and the replies to it, what is ours in its
//! settings, and what its transcripts look like, as far as it has them.
//!
//! What they share is in `hook`, `setup` and `replay`. Adding an agent is a folder, a row in [`Agent`] and one in
//! [`HOSTS`].

pub(crate) mod claude_code;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod cursor;
pub(crate) mod gemini;
pub(crate) mod generic;
pub(crate) mod goose;
pub(crate) mod kiro;
pub(crate) mod opencode;
pub(crate) mod qwen;
pub(crate) mod windsurf;

use crate::hook::adapter::Adapter;
use crate::setup::Host;

/// The agents whose hooks Holdpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// GitHub's Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// Qwen Code.
    Qwen,
    /// OpenCode, through its plugin.
    OpenCode,
    /// Cline.
    Cline,
    /// Windsurf.
    Windsurf,
    /// Kiro.
    Kiro,
    /// Goose.
    Goose,
    /// Whoever sends Holdpoint's own form.
    Generic,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Agent; 12] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::Gemini,
        Agent::Copilot,
        Agent::Cursor,
        Agent::Qwen,
        Agent::OpenCode,
        Agent::Cline,
        Agent::Windsurf,
        Agent::Kiro,
        Agent::Goose,
        Agent::Generic,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Copilot => "copilot",
            Agent::Cursor => "cursor",
            Agent::Qwen => "qwen",
            Agent::OpenCode => "opencode",
            Agent::Cline => "cline",
            Agent::Windsurf => "windsurf",
            Agent::Kiro => "kiro",
            Agent::Goose => "goose",
            Agent::Generic => "generic",
        }
    }

    /// The agent of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// Its words.
    pub(crate) fn adapter(self) -> &'static dyn Adapter {
        match self {
            Agent::ClaudeCode => &claude_code::payload::ClaudeCode,
            Agent::Codex => &codex::payload::Codex,
            Agent::Gemini => &gemini::payload::Gemini,
            Agent::Copilot => &copilot::payload::Copilot,
            Agent::Cursor => &cursor::payload::Cursor,
            Agent::Qwen => &qwen::payload::Qwen,
            Agent::OpenCode => &opencode::payload::OpenCode,
            Agent::Cline => &cline::payload::Cline,
            Agent::Windsurf => &windsurf::payload::Windsurf,
            Agent::Kiro => &kiro::payload::Kiro,
            Agent::Goose => &goose::payload::Goose,
            Agent::Generic => &generic::payload::Generic,
        }
    }
}

/// Every agent that can be set up.
pub static HOSTS: [&Host; 11] = [
    &claude_code::settings::HOST,
    &codex::settings::HOST,
    &gemini::settings::HOST,
    &qwen::settings::HOST,
    &copilot::settings::HOST,
    &cursor::settings::HOST,
    &opencode::settings::HOST,
    &cline::settings::HOST,
    &windsurf::settings::HOST,
    &kiro::settings::HOST,
    &goose::settings::HOST,
];
