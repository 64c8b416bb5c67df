//! Whoever sends Holdpoint's own form.

pub(crate) mod payload;
