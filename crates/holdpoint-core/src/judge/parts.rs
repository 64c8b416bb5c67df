//! The parts of a call, for whoever explains a decision.

use super::findings::opaque_words;
use crate::call::ToolCall;
use crate::decision::span_of;
use crate::understand::{Trouble, Understood};

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

/// The parts a call is taken apart into, or why its command line cannot be read.
pub fn parts(call: &ToolCall) -> Result<Vec<Part>, String> {
    let view = Understood::of(call);
    match &view.trouble {
        Some(Trouble::Unreadable(refusal)) => return Err(refusal.to_string()),
        Some(Trouble::Malformed(what)) => return Err((*what).to_owned()),
        Some(Trouble::Oversize(length)) => return Err(format!("it has {length} bytes")),
        Some(Trouble::TooMany(count)) => return Err(format!("it runs {count} commands")),
        Some(Trouble::TooManyPaths(count)) => return Err(format!("it names {count} files")),
        None => {}
    }
    Ok(view
        .commands
        .iter()
        .map(|view| Part {
            text: view.command.line(),
            span: span_of(&view.command.span),
            unknown: view
                .command
                .opaque
                .as_ref()
                .map(|opaque| opaque_words(opaque).1),
        })
        .collect())
}
