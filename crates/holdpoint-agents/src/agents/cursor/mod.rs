//! Anysphere's Cursor.

pub(crate) mod payload;
pub(crate) mod settings;
