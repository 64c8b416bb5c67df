//! OpenAI's Codex.

mod own_rules;
pub(crate) mod payload;
pub(crate) mod settings;
pub(crate) mod starlark;
pub(crate) mod transcript;
