//! Anthropic's Claude Code.

mod own_rules;
pub(crate) mod payload;
mod results;
pub(crate) mod settings;
pub(crate) mod transcript;
