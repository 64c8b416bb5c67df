//! Anthropic's Claude Code.

pub(crate) mod payload;
mod results;
pub(crate) mod settings;
pub(crate) mod transcript;
