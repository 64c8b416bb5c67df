//! The error a policy author reads.

use super::quote::{cite, printable};
use std::fmt;

/// Why a document was refused, and what its author can do about it.
///
/// All texts are safe to print: control characters are escaped, and values under
/// secret-looking keys are left out. The optional texts are boxed to keep the error small
/// enough to be returned as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentError {
    /// How the document is called.
    pub name: String,
    /// The line of the problem, from 1.
    pub line: usize,
    /// The column of the problem in characters, from 1.
    pub column: usize,
    /// The place in the document, such as `rules[2].pattern`; empty at the root.
    pub path: String,
    /// What is wrong.
    pub problem: String,
    /// The offending text, cut to 60 characters; absent when it may be a secret.
    pub found: Option<Box<str>>,
    /// What to write instead.
    pub hint: Option<Box<str>>,
}

impl DocumentError {
    /// The message without the place: what is wrong, what was found, what to do.
    pub fn message(&self) -> String {
        let mut text = printable(&self.problem);
        if let Some(found) = self.found.as_deref()
            && !self.problem.contains(&cite(found))
            && !self.problem.contains(&cite(found.trim_matches('"')))
        {
            text.push_str(&format!(", found `{}`", printable(found)));
        }
        if let Some(hint) = &self.hint {
            text.push_str(": ");
            text.push_str(&printable(hint));
        }
        text
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = printable(&self.name);
        write!(
            f,
            "{name}:{}:{}: {}",
            self.line,
            self.column,
            self.message()
        )
    }
}

impl std::error::Error for DocumentError {}
