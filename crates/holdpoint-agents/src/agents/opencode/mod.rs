//! OpenCode, through a plug-in of ours.

pub(crate) mod payload;
pub(crate) mod settings;
