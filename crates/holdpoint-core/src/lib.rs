//! The pure heart of Holdpoint.

pub mod document;
pub mod shell;
