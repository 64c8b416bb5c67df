//! Why a text could not be read.
//!
//! A refusal is a fact about the text, not a verdict: bash runs earlier lines before it
//! parses later ones, so "bash would reject this too" never makes a text harmless. What a
//! refusal is worth is left to the caller, whose choices are to ask or to deny.

use std::fmt;

/// The reader does not know what a text would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// What stopped the reader.
    pub reason: RefusalReason,
    /// The byte of the text at which it stopped.
    pub at: usize,
}

/// What stopped the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// A quote is opened and never closed.
    UnclosedQuote,
    /// A `$(…)`, `` `…` ``, `<(…)` or `>(…)` is opened and never closed.
    UnclosedSubstitution,
    /// A `${…}` is opened and never closed.
    UnclosedExpansion,
    /// A `((…))`, `$((…))` or subscript is opened and never closed.
    UnclosedArithmetic,
    /// A compound command is opened and never closed.
    UnclosedCompound,
    /// A substitution ends before the here-document it announced has begun, or the line that
    /// ends the here-document is one that shells disagree about.
    UnclosedHereDoc,
    /// The delimiter of a here-document is not plain text.
    UnknownDelimiter,
    /// Something stands where the grammar has no place for it.
    UnexpectedToken,
    /// The text ends where a command or a word was due.
    UnexpectedEnd,
    /// An expansion that not every bash reads the same way.
    UnknownExpansion,
    /// A `((` that is arithmetic to one reading and a subshell to another.
    AmbiguousParentheses,
    /// The nesting goes deeper than the reader follows.
    TooDeep,
    /// The text is longer than the reader takes.
    TooLong,
    /// The text has more parts than the reader takes.
    TooMuchWork,
    /// The text holds a NUL byte, which bash drops silently.
    NulByte,
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::UnclosedQuote => "a quote is never closed",
            Self::UnclosedSubstitution => "a command substitution is never closed",
            Self::UnclosedExpansion => "a `${` is never closed",
            Self::UnclosedArithmetic => "an arithmetic expression is never closed",
            Self::UnclosedCompound => "a compound command is never closed",
            Self::UnclosedHereDoc => "a here-document has no clear end",
            Self::UnknownDelimiter => "the delimiter of a here-document is not plain text",
            Self::UnexpectedToken => "unexpected text for a shell command",
            Self::UnexpectedEnd => "the command ends too early",
            Self::UnknownExpansion => "an expansion that shells read differently",
            Self::AmbiguousParentheses => "`((` can be read in two ways here",
            Self::TooDeep => "the command is nested too deeply",
            Self::TooLong => "the command is too long",
            Self::TooMuchWork => "the command has too many parts",
            Self::NulByte => "the command holds a NUL byte",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at byte {}", self.reason, self.at)
    }
}

impl std::error::Error for Refusal {}
