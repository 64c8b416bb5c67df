//! What a reader says when it cannot know: giving up is a value, never an empty result.
//!
//! Whoever reads a part of a call and stops short, because its [`Budget`](crate::budget::Budget)
//! is spent, a file cannot be read or only the running program will know, returns an [`Opaque`]:
//! the kind of thing that is then unknown, and why. The judge answers each of them.

use crate::effects::EffectKind;

/// Something a call may do that nobody can know before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// What kind of thing is unknown.
    pub kind: OpaqueKind,
    /// Why.
    pub reason: Reason,
}

/// The kind of thing that is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpaqueKind {
    /// What is run.
    Run,
    /// What is read.
    Read,
    /// What is written.
    Write,
    /// What is deleted.
    Delete,
    /// With whom it talks.
    Connect,
}

/// Why something cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The program is an expansion or a pattern.
    DynamicProgram,
    /// Code, or what decides where a wrapped command begins, is an expansion.
    DynamicCode,
    /// A shell reads its code from a pipe, a file or an expansion.
    PipedIntoShell,
    /// The code comes from a network.
    Downloaded,
    /// The code is decoded before it is run.
    Decoded,
    /// Code in a language this reader does not read.
    InlineCode,
    /// An interpreter reads its code from input.
    ScriptFromInput,
    /// A variable, option or setting makes the program run something else.
    ExecutableSetting,
    /// Code that could be read as text and that the reader refuses.
    Unreadable,
    /// The command is wrapped deeper than the reader follows.
    TooDeep,
    /// A function runs itself without an end.
    CallsItself,
    /// There is more of it than the budget of a call is for.
    OverBudget,
    /// A file that is run is there, and the system does not let it be read.
    CannotRead,
    /// A file that is run is longer than is read.
    TooLarge,
    /// A file that is run as a script is no text.
    NotText,
    /// A file that is run was changed earlier in the same call, by something whose outcome is
    /// not foreseen: what is on the disk now is not what will run.
    ChangedBefore,
    /// A program that is run was made of sources earlier in the same call.
    BuiltBefore,
}

impl Opaque {
    /// What runs is not known.
    #[must_use]
    pub const fn run(reason: Reason) -> Self {
        Self {
            kind: OpaqueKind::Run,
            reason,
        }
    }
}

impl OpaqueKind {
    /// What is unknown where an effect of a kind is.
    pub(crate) const fn of_effect(kind: EffectKind) -> Option<Self> {
        match kind {
            EffectKind::Run => Some(OpaqueKind::Run),
            EffectKind::Read | EffectKind::List | EffectKind::Send | EffectKind::Show => {
                Some(OpaqueKind::Read)
            }
            EffectKind::Write
            | EffectKind::Append
            | EffectKind::Mode
            | EffectKind::Owner
            | EffectKind::Either => Some(OpaqueKind::Write),
            EffectKind::Delete => Some(OpaqueKind::Delete),
            EffectKind::Connect => Some(OpaqueKind::Connect),
            EffectKind::Listen
            | EffectKind::History
            | EffectKind::Publish
            | EffectKind::Database
            | EffectKind::Infrastructure
            | EffectKind::Privilege
            | EffectKind::Signal
            | EffectKind::Install
            | EffectKind::Persist
            | EffectKind::Opaque => None,
        }
    }

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OpaqueKind::Run => "run",
            OpaqueKind::Read => "read",
            OpaqueKind::Write => "write",
            OpaqueKind::Delete => "delete",
            OpaqueKind::Connect => "connect",
        }
    }
}

impl Reason {
    /// The word rules use, and the end of the id `shell.…` of the question it raises where no rule
    /// of a pack speaks.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::DynamicProgram => "dynamic-program",
            Reason::DynamicCode => "dynamic-code",
            Reason::PipedIntoShell => "piped-into-shell",
            Reason::Downloaded => "downloaded",
            Reason::Decoded => "decoded",
            Reason::InlineCode => "inline-code",
            Reason::ScriptFromInput => "script-from-input",
            Reason::ExecutableSetting => "executable-setting",
            Reason::Unreadable => "unreadable",
            Reason::TooDeep => "too-deep",
            Reason::CallsItself => "calls-itself",
            Reason::OverBudget => "over-budget",
            Reason::CannotRead => "cannot-read",
            Reason::TooLarge => "too-large",
            Reason::NotText => "not-text",
            Reason::ChangedBefore => "changed-before",
            Reason::BuiltBefore => "built-before",
        }
    }

    /// Whether text was there to be read and was not. Such a thing is asked about wherever it
    /// stands: also inside a script, which otherwise answers for what it holds.
    #[must_use]
    pub const fn is_unread_text(self) -> bool {
        match self {
            Reason::Unreadable
            | Reason::TooDeep
            | Reason::OverBudget
            | Reason::CannotRead
            | Reason::TooLarge
            | Reason::NotText
            | Reason::ChangedBefore => true,
            Reason::DynamicProgram
            | Reason::DynamicCode
            | Reason::PipedIntoShell
            | Reason::Downloaded
            | Reason::Decoded
            | Reason::InlineCode
            | Reason::ScriptFromInput
            | Reason::ExecutableSetting
            | Reason::BuiltBefore
            | Reason::CallsItself => false,
        }
    }

    /// Whether it is a question by itself. What is built and then run is told, by a rule of a pack:
    /// builds run code by their nature.
    #[must_use]
    pub const fn is_question(self) -> bool {
        !matches!(self, Reason::BuiltBefore)
    }

    /// Whether it may hide a shell command that some rule refuses.
    #[must_use]
    pub const fn hides_commands(self) -> bool {
        match self {
            Reason::DynamicProgram
            | Reason::DynamicCode
            | Reason::PipedIntoShell
            | Reason::Downloaded
            | Reason::Decoded
            | Reason::CallsItself
            | Reason::Unreadable
            | Reason::TooDeep
            | Reason::OverBudget
            | Reason::CannotRead
            | Reason::TooLarge
            | Reason::NotText
            | Reason::ChangedBefore => true,
            Reason::InlineCode
            | Reason::ScriptFromInput
            | Reason::ExecutableSetting
            | Reason::BuiltBefore => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::words;

    #[test]
    fn every_reason_is_a_word_of_rules() {
        for reason in [
            Reason::DynamicProgram,
            Reason::DynamicCode,
            Reason::PipedIntoShell,
            Reason::Downloaded,
            Reason::Decoded,
            Reason::InlineCode,
            Reason::ScriptFromInput,
            Reason::ExecutableSetting,
            Reason::Unreadable,
            Reason::TooDeep,
            Reason::CallsItself,
            Reason::OverBudget,
            Reason::CannotRead,
            Reason::TooLarge,
            Reason::NotText,
            Reason::ChangedBefore,
            Reason::BuiltBefore,
        ] {
            assert!(words::OPAQUE.contains(&reason.as_str()), "{reason:?}");
        }
    }
}
