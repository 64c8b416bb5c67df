//! Reads a shell command into the commands it would run.
//!
//! [`read`] turns a text into a syntax tree, [`commands`] walks the tree into simple commands
//! with wrappers removed. Both follow bash and refuse what they do not understand, so what
//! comes back accounts for every part of the text. Depth and work are bounded; input of any
//! shape ends in a value or a refusal.
//!
//! Variables the text itself gives a value are filled in, and output that can be foreseen is.
//! What depends on anything else is marked dynamic, and globs are marked; what that is worth is
//! left to policy.

mod arithmetic;
mod braces;
mod builtins;
mod carried;
mod changes;
mod code;
mod commands;
mod compound;
mod consoles;
mod copies;
mod cursor;
mod environment;
mod expansions;
mod files;
mod foreseen;
mod git;
mod heredocs;
mod imported;
mod input;
mod interpreters;
mod items;
mod launchers;
mod listings;
mod loading;
mod names;
mod options;
mod parameters;
mod projects;
mod quotes;
mod reader;
mod readings;
mod redirects;
mod refusal;
mod requests;
mod scripts;
mod secret_values;
mod settings;
mod split_string;
mod starters;
mod texts;
mod told;
pub mod tree;
mod unwrapping;
mod walk;
mod windows;
mod words;
mod wrappers;

pub(crate) use code::is_interpreter;
pub(crate) use commands::MAX_COMMANDS;
pub use commands::{
    Assignment, Command, Container, FileRead, Listed, Reached, Redirection, RedirectionKind, Text,
    Wrapping, commands, commands_in, commands_of_words, commands_of_words_in,
};
pub(crate) use consoles::{file_magic, sql_magic};
pub use environment::Whereabouts;
pub(crate) use environment::joined;
pub(crate) use foreseen::base64 as from_base64;
pub use imported::{Import, Imports, imports_of_call, imports_of_file};
pub(crate) use loading::is_file_of_somebody;
pub use reader::read;
pub use refusal::{Refusal, RefusalReason};
pub use settings::git_setting_runs;
pub(crate) use starters::{is_program, starts_others};
pub use texts::UNKNOWN;
pub(crate) use told::patched_files;

#[cfg(test)]
mod tests;
