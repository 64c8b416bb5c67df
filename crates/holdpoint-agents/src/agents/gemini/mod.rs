//! Google's Gemini CLI.

pub(crate) mod payload;
pub(crate) mod settings;
pub(crate) mod transcript;
