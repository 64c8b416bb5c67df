//! Block's Goose.

pub(crate) mod payload;
pub(crate) mod settings;
