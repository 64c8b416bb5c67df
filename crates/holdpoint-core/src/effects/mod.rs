//! What a call would do: the effects of each command, with the places they are about.
//!
//! A command becomes effects by what `programs.toml` knows of its program, by its redirects and by
//! what cannot be known of it; a file tool becomes a path and a verb. Rules are matched against a
//! [`Subject`]: one command, or one call that is none, with everything known of it.

mod addresses;
mod databases;
mod files;
pub(crate) mod git;
mod inserted;
mod links;
pub(crate) mod made;
pub(crate) mod paths;
pub(crate) mod places;
pub(crate) mod reading;
mod searches;
mod subject;
mod terminals;
#[cfg(test)]
mod tests;
mod undescribed;
mod variables;

use std::ops::Range;

use self::places::Place;
use crate::address::Address;
use crate::opaque::{Opaque, OpaqueKind};
use crate::rules::words;
use crate::shell::Command;

pub(crate) use paths::PathEffect;
pub(crate) use subject::{
    Meaning, Subject, effects_by_command, meanings, patched_in, paths_in, subjects,
};
pub use variables::is_secret_variable;

/// Something a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) kind: EffectKind,
    /// What it is about, as the call names it.
    pub(crate) text: String,
    pub(crate) place: Place,
    /// Bits of the classes of what it is about.
    pub(crate) classes: u64,
    pub(crate) recursive: bool,
    pub(crate) forced: bool,
    /// The address on a network it is about.
    pub(crate) address: Option<Box<Address>>,
    /// All that leaves for that address is a name: what is looked up or fetched there.
    pub(crate) names_only: bool,
    /// Only the shell will know where it leads.
    pub(crate) dynamic: bool,
    /// It is a pattern for paths.
    pub(crate) glob: bool,
    /// Where the call says so.
    pub(crate) span: Range<usize>,
}

impl Effect {
    /// An effect of a command that is about nothing in particular.
    pub(crate) fn plain(kind: EffectKind, command: &Command) -> Self {
        Self {
            kind,
            text: String::new(),
            place: Place::default(),
            classes: 0,
            recursive: false,
            forced: false,
            address: None,
            names_only: false,
            dynamic: false,
            glob: false,
            span: command.span.clone(),
        }
    }

    /// The host it is about.
    pub(crate) fn host(&self) -> Option<&str> {
        self.address.as_deref().map(|address| address.host.as_str())
    }

    /// Whether it is about a path a rule names.
    pub(crate) fn is_at(&self, pattern: &str) -> bool {
        places::is_at(&self.place, pattern)
    }
}

/// Kinds of effects, in the order of [`words::EFFECTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EffectKind {
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
    /// Prints what it reads, where the agent sees it.
    Show,
}

impl EffectKind {
    pub(crate) const ALL: [EffectKind; 22] = [
        EffectKind::Run,
        EffectKind::Read,
        EffectKind::Write,
        EffectKind::Append,
        EffectKind::Delete,
        EffectKind::Mode,
        EffectKind::Owner,
        EffectKind::Connect,
        EffectKind::Send,
        EffectKind::Listen,
        EffectKind::History,
        EffectKind::Publish,
        EffectKind::Database,
        EffectKind::Infrastructure,
        EffectKind::Privilege,
        EffectKind::Signal,
        EffectKind::Install,
        EffectKind::Persist,
        EffectKind::Opaque,
        EffectKind::List,
        EffectKind::Either,
        EffectKind::Show,
    ];

    /// Its word.
    pub(crate) fn as_str(self) -> &'static str {
        let at = Self::ALL.iter().position(|kind| *kind == self);
        at.and_then(|at| words::EFFECTS.get(at))
            .copied()
            .unwrap_or_default()
    }

    /// Its bit, and that of `write` for an append.
    pub(crate) fn bit(self) -> u64 {
        let own = 1 << (self as u32);
        if self == EffectKind::Append {
            return own | 1 << (EffectKind::Write as u32);
        }
        own
    }
}

/// That a command does more than its effects say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp {
    /// The kind of effects that are missing.
    pub(crate) kind: OpaqueKind,
    pub(crate) limit: Limit,
}

/// What there is more of than is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Paths and hosts of one command.
    Effects,
    /// Components of one path.
    Components,
}

/// Whether a path has more components than are compared with the names of files.
fn too_deep(effects: &[Effect]) -> Option<GivenUp> {
    // Whether something is there may be asked of any name, and of a text that is none.
    let touching = |effect: &&Effect| effect.kind != EffectKind::List;
    let mut deep = effects.iter().filter(touching);
    let deep = deep.find(|effect| effect.place.is_too_deep())?;
    Some(GivenUp {
        kind: OpaqueKind::of_effect(deep.kind).unwrap_or(OpaqueKind::Write),
        limit: Limit::Components,
    })
}

/// The bit of a reason why what runs is not known.
pub(crate) fn opaque_bit(opaque: Opaque) -> u64 {
    words::bit(words::OPAQUE, opaque.reason.as_str()).unwrap_or_default()
}
