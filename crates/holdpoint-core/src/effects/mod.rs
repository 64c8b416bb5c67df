//! What a call would do: the effects of each command, with the places they are about.
//!
//! A command becomes effects by what `programs.toml` knows of its program, by its redirects and by
//! what cannot be known of it; a file tool becomes a path and a verb. Rules are matched against a
//! [`Subject`]: one command, or one call that is none, with everything known of it.

mod databases;
mod files;
mod git;
mod network;
pub(crate) mod places;
pub(crate) mod reading;
mod subject;

use std::ops::Range;

use self::places::Place;
use crate::opaque::Opaque;
use crate::rules::words;
use crate::shell::Command;

pub(crate) use files::MOST as MOST_OF_A_COMMAND;
pub(crate) use subject::{Meaning, Subject, meanings, subjects};

/// Something a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) kind: Kind,
    /// What it is about, as the call names it.
    pub(crate) text: String,
    pub(crate) place: Place,
    /// Bits of the classes of what it is about.
    pub(crate) classes: u64,
    pub(crate) recursive: bool,
    pub(crate) forced: bool,
    pub(crate) host: Option<String>,
    /// Where the call says so.
    pub(crate) span: Range<usize>,
}

impl Effect {
    /// An effect of a command that is about nothing in particular.
    pub(crate) fn plain(kind: Kind, command: &Command) -> Self {
        Self {
            kind,
            text: String::new(),
            place: Place::default(),
            classes: 0,
            recursive: false,
            forced: false,
            host: None,
            span: command.span.clone(),
        }
    }

    /// Whether it is about a path a rule names.
    pub(crate) fn is_at(&self, pattern: &str) -> bool {
        places::is_at(&self.place, pattern)
    }
}

/// Kinds of effects, in the order of [`words::EFFECTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Run,
    Read,
    Write,
    Append,
    Delete,
    Mode,
    Owner,
    Connect,
    Send,
    Listen,
    History,
    Publish,
    Database,
    Infrastructure,
    Privilege,
    Signal,
    Install,
    Persist,
    Opaque,
    List,
    Either,
}

impl Kind {
    pub(crate) const ALL: [Kind; 21] = [
        Kind::Run,
        Kind::Read,
        Kind::Write,
        Kind::Append,
        Kind::Delete,
        Kind::Mode,
        Kind::Owner,
        Kind::Connect,
        Kind::Send,
        Kind::Listen,
        Kind::History,
        Kind::Publish,
        Kind::Database,
        Kind::Infrastructure,
        Kind::Privilege,
        Kind::Signal,
        Kind::Install,
        Kind::Persist,
        Kind::Opaque,
        Kind::List,
        Kind::Either,
    ];

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        let at = Self::ALL.iter().position(|kind| *kind == self);
        at.and_then(|at| words::EFFECTS.get(at))
            .copied()
            .unwrap_or_default()
    }

    /// Its bit, and that of `write` for an append.
    pub(crate) fn bit(self) -> u64 {
        let own = 1 << (self as u32);
        if self == Kind::Append {
            return own | 1 << (Kind::Write as u32);
        }
        own
    }
}

/// The bit of a reason why what runs is not known.
pub(crate) fn opaque_bit(opaque: Opaque) -> u64 {
    words::bit(words::OPAQUE, opaque.reason.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_word_and_bit() {
        assert_eq!(Kind::ALL.len(), words::EFFECTS.len());
        for kind in Kind::ALL {
            assert_eq!(
                words::bit(words::EFFECTS, kind.word()).map(|bit| bit & kind.bit()),
                words::bit(words::EFFECTS, kind.word())
            );
        }
    }
}
