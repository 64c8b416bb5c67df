//! The parts of a call, for whoever explains a decision.

use super::findings::opaque_words;
use crate::decision::span_of;
use crate::shell::MAX_COMMANDS;
use crate::understand::{Action, CommandView, Unreadable};

/// A part of a call that is judged by itself: one command of a shell line.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Part {
    /// The command, without quotes and with one space between words.
    pub text: String,
    /// Where it stands in the line.
    pub span: [usize; 2],
    /// Why what it does cannot be known, if so.
    pub unknown: Option<&'static str>,
}

/// The parts a call is taken apart into, or why its command line cannot be read. What stands in a
/// script is part of what runs the script.
pub fn parts(action: &Action) -> Result<Vec<Part>, String> {
    if let Some(trouble) = &action.trouble {
        return Err(trouble_words(trouble));
    }
    Ok(action
        .commands
        .iter()
        .filter(|view| view.command.file.is_none())
        .map(|view| Part {
            text: shown_with_writes(view),
            span: span_of(&view.command.span),
            unknown: view
                .command
                .opaque
                .first()
                .map(|opaque| opaque_words(*opaque).1),
        })
        .collect())
}

/// Why a call cannot be taken apart.
pub(super) fn trouble_words(trouble: &Unreadable) -> String {
    match trouble {
        Unreadable::Syntax(refusal) => refusal.to_string(),
        Unreadable::Malformed(what) => (*what).to_owned(),
        Unreadable::Oversize(length) => format!("it has {length} bytes"),
        Unreadable::TooMany => format!("it runs more than {MAX_COMMANDS} commands"),
        Unreadable::PathTooDeep => "a path leads through too many directories".to_owned(),
        Unreadable::TooComplex => "it is too long or nested too deep".to_owned(),
        Unreadable::TooManyPaths(count) => format!("it names {count} files"),
    }
}

/// The command with the files it writes, which a person must not overlook.
pub(super) fn shown_with_writes(view: &CommandView) -> String {
    let mut text = view.command.line();
    for (sign, target) in view.writes() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(sign);
        text.push(' ');
        text.push_str(target);
    }
    text
}
