//! OpenAI's Codex.

pub(crate) mod payload;
pub(crate) mod settings;
pub(crate) mod transcript;
