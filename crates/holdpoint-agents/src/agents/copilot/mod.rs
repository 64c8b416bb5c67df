//! GitHub's Copilot CLI.

pub(crate) mod payload;
pub(crate) mod settings;
