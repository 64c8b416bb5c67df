//! Cline.

pub(crate) mod payload;
pub(crate) mod settings;
