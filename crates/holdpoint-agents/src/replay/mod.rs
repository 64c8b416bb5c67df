//! What agents did, read from the transcripts they leave: every tool call, where and when it was
//! made, and what became of it.
//!
//! A [`Reader`] takes a transcript of any known format, which it recognises by its content, and
//! gives its calls one by one, in order and in bounded memory. A call is given in the words in
//! which the agent's own hook would have named it, so that a policy judges it as it would have
//! then. What cannot be read is named and left out; a call whose arguments cannot be read is still
//! a call. Nothing here judges, and nothing is run.

pub(crate) mod call;
mod lines;
pub(crate) mod loose;
mod places;
mod reader;
pub(crate) mod record;
#[cfg(test)]
mod tests;
mod waiting;

use std::sync::Arc;

use holdpoint_core::ToolCall;

pub use holdpoint_ledger::Timestamp;
pub use lines::MAX_LINE;
pub use places::{MAX_FILES, TranscriptFiles, known_places, project_root, transcripts_in};
pub use reader::{Item, Reader, Seen};

/// Who wrote a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Writer {
    /// Anthropic's Claude Code: its transcripts and its `stream-json` output.
    ClaudeCode,
    /// OpenAI's Codex: its rollouts and the output of `codex exec --json`.
    Codex,
    /// Google's Gemini CLI: its chats and its `stream-json` output.
    GeminiCli,
    /// Qwen Code: its chats and its `stream-json` output.
    QwenCode,
}

impl Writer {
    /// The agent's name.
    pub fn name(self) -> &'static str {
        match self {
            Writer::ClaudeCode => "claude-code",
            Writer::Codex => "codex",
            Writer::GeminiCli => "gemini-cli",
            Writer::QwenCode => "qwen-code",
        }
    }
}

/// What became of a call then. Of two things said about one call, the greater counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The tool ran.
    Ran,
    /// The tool ran, or was started, and failed.
    Failed,
    /// A rule, a hook or the agent's own policy refused it.
    Refused,
    /// The person at the agent said no, or stopped it.
    Rejected,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 4] = [
        Outcome::Ran,
        Outcome::Failed,
        Outcome::Refused,
        Outcome::Rejected,
    ];

    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Ran => "ran",
            Outcome::Failed => "failed",
            Outcome::Refused => "refused",
            Outcome::Rejected => "rejected",
        }
    }
}

/// A call an agent made.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Who made it.
    pub writer: Writer,
    /// The line of the transcript it stands in, counted from 1.
    pub line: u64,
    /// The agent's session, if the transcript says.
    pub session: Option<Arc<str>>,
    /// When, if the transcript says.
    pub time: Option<Timestamp>,
    /// The agent's name for the call.
    pub id: Option<String>,
    /// The tool, as the agent's hook would name it.
    pub tool: String,
    /// The call, or why its arguments cannot be read.
    pub call: Result<ToolCall, String>,
    /// Where the agent was started.
    pub workspace: Option<Arc<str>>,
    /// Where the call would run.
    pub directory: Option<Arc<str>>,
    /// Whether a subagent made it.
    pub subagent: bool,
    /// What became of it, if the transcript says.
    pub outcome: Option<Outcome>,
}
