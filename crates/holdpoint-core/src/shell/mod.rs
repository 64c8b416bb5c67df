//! Reads a shell command into the commands it would run.
//!
//! [`read`] turns a text into a syntax tree, [`commands`] walks the tree into simple commands
//! with wrappers removed. Both follow bash and refuse what they do not understand, so what
//! comes back accounts for every part of the text. Depth and work are bounded; input of any
//! shape ends in a value or a refusal.
//!
//! Variables and globs are not expanded: a word that depends on them is marked dynamic, and
//! what that is worth is left to policy.

mod braces;
mod commands;
mod compound;
mod cursor;
mod expansions;
mod git;
mod heredocs;
mod input;
mod interpreters;
mod launchers;
mod names;
mod options;
mod quotes;
mod reader;
mod redirects;
mod refusal;
mod settings;
mod texts;
pub mod tree;
mod unwrapping;
mod walk;
mod words;
mod wrappers;

pub use commands::{
    Assignment, Command, Opaque, Reached, Redirection, RedirectionKind, Text, Wrapping, commands,
    commands_of_words,
};
pub use reader::read;
pub use refusal::{Refusal, RefusalReason};

#[cfg(test)]
mod tests;
