//! Windsurf's Cascade.

pub(crate) mod payload;
pub(crate) mod settings;
