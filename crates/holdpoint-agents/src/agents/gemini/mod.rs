//! Google's Gemini CLI.

mod own_rules;
pub(crate) mod payload;
pub(crate) mod settings;
pub(crate) mod transcript;
