//! What commands to databases without SQL would do: Redis commands, and JavaScript for MongoDB.
//!
//! The sibling of `sql`, with the same promise: what cannot be read is listed as
//! [`StoreKind::Unreadable`], never left out.

pub(crate) mod mongo;
pub(crate) mod redis;
mod scripts;

use crate::kind_words;

/// Longest text read; what follows is one unreadable act.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// Acts listed; more end in one unreadable act.
const MAX_ACTS: usize = 10_000;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StoreKind {
    /// Removes everything on the server.
    FlushAll,
    /// Removes everything in a database.
    FlushDb,
    /// Removes a collection.
    DropCollection,
    /// Removes an index, view or function.
    DropOther,
    /// Removes a user or role.
    DropRole,
    /// Removes a key.
    DeleteKey,
    /// Removes every document of a collection.
    DeleteAll,
    /// Removes the documents a filter selects.
    DeleteWhere,
    /// Changes every document of a collection.
    UpdateAll,
    /// Changes the documents a filter selects.
    UpdateWhere,
    /// Changes data otherwise.
    Write,
    /// Looks.
    Read,
    /// Changes a setting.
    ConfigSet,
    /// Runs a script on the server.
    Eval,
    /// Stops the server.
    Shutdown,
    /// Manages the server otherwise.
    Admin,
    /// Runs a program.
    ShellEscape,
    /// Cannot be read, or runs what is not in the text.
    Unreadable,
}

impl StoreKind {
    /// The word policies use.
    pub(crate) fn as_str(self) -> &'static str {
        kind_words::word_of(WORDS, self).unwrap_or("unreadable")
    }

    /// The kind a policy's word means.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        kind_words::kind_of(WORDS, word)
    }
}

/// Each kind and its word.
const WORDS: &[(StoreKind, &str)] = &[
    (StoreKind::FlushAll, "flush-all"),
    (StoreKind::FlushDb, "flush-db"),
    (StoreKind::DropCollection, "drop-collection"),
    (StoreKind::DropOther, "drop-other"),
    (StoreKind::DropRole, "drop-role"),
    (StoreKind::DeleteKey, "delete-key"),
    (StoreKind::DeleteAll, "delete-all"),
    (StoreKind::DeleteWhere, "delete-where"),
    (StoreKind::UpdateAll, "update-all"),
    (StoreKind::UpdateWhere, "update-where"),
    (StoreKind::Write, "write"),
    (StoreKind::Read, "read"),
    (StoreKind::ConfigSet, "config-set"),
    (StoreKind::Eval, "eval"),
    (StoreKind::Shutdown, "shutdown"),
    (StoreKind::Admin, "admin"),
    (StoreKind::ShellEscape, "shell-escape"),
    (StoreKind::Unreadable, "unreadable"),
];

/// One thing a text would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreEffect {
    /// What it does.
    pub(crate) kind: StoreKind,
    /// The key, setting, collection or database it is about.
    pub(crate) object: Option<String>,
}

impl StoreEffect {
    fn new(kind: StoreKind, object: Option<String>) -> Self {
        Self { kind, object }
    }
}

/// Adds an act, or says once that there are more.
fn push(acts: &mut Vec<StoreEffect>, act: StoreEffect) {
    if acts.len() < MAX_ACTS {
        acts.push(act);
    } else if acts.len() == MAX_ACTS {
        acts.push(StoreEffect::new(StoreKind::Unreadable, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_word_and_is_found_by_it() {
        for (kind, word) in WORDS {
            assert_eq!(StoreKind::from_word(word), Some(*kind));
            assert_eq!(kind.as_str(), *word);
        }
    }
}
