//! GitHub's Copilot CLI.

mod own_rules;
pub(crate) mod payload;
pub(crate) mod settings;
