//! Amazon's Kiro.

pub(crate) mod payload;
pub(crate) mod settings;
