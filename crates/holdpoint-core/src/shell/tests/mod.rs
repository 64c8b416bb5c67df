//! What the reader must and must not see, one sentence per test.

#![expect(
    clippy::string_slice,
    reason = "spans are checked against the text they point into"
)]

mod data;
mod grammar;
mod limits;
mod opacity;
mod properties;
mod spelling;
mod wrapping;

use super::{Command, RefusalReason, Wrapping, commands};

/// The commands of a text.
fn listed(text: &str) -> Vec<Command> {
    commands(text).unwrap_or_else(|refusal| panic!("{text:?} is refused: {refusal}"))
}

/// The commands of a text as lines.
fn lines(text: &str) -> Vec<String> {
    listed(text).iter().map(Command::line).collect()
}

/// Why a text is refused.
fn refused(text: &str) -> RefusalReason {
    match commands(text) {
        Ok(list) => panic!("{text:?} is accepted: {list:?}"),
        Err(refusal) => refusal.reason,
    }
}

/// The line of each command that another one runs, with the kind of wrapper.
fn wrapped(text: &str) -> Vec<(String, Wrapping)> {
    listed(text)
        .iter()
        .filter_map(|command| match command.reached {
            super::Reached::Within { how, .. } => Some((command.line(), how)),
            super::Reached::Directly | super::Reached::Substituted => None,
        })
        .collect()
}
