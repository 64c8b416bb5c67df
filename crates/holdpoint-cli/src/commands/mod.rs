//! The commands, one file each. They read arguments and print; what they print about is decided
//! in the library.

pub(crate) mod acp;
pub(crate) mod approvals;
pub(crate) mod batch;
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod empty_machine;
pub(crate) mod explain;
pub(crate) mod first_policy;
mod git_hook;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod init;
mod kept_rules;
pub(crate) mod log;
pub(crate) mod mcp;
mod mode;
pub(crate) mod people;
pub(crate) mod permissions;
mod pinning;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod prompt;
pub(crate) mod reference;
mod relayed_program;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod sandbox_view;
pub(crate) mod scan;
pub(crate) mod serve;
mod service;
pub(crate) mod simulate;
pub(crate) mod stop;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod watch;
mod which_session;

use std::io;

/// Why a file was not read, for people.
fn in_words(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        "there is no such file".into()
    } else {
        format!("it cannot be read ({})", error.kind())
    }
}
