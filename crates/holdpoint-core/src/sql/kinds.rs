//! The kinds of statement a policy can name.

use crate::kind_words;

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StatementKind {
    /// Removes a database.
    DropDatabase,
    /// Removes a schema that must be empty.
    DropSchema,
    /// Removes a schema, or all a role owns, with everything inside.
    DropSchemaCascade,
    /// Removes a table.
    DropTable,
    /// Removes an index, view, function, type or the like.
    DropOther,
    /// Removes a role or user.
    DropRole,
    /// Empties a table.
    Truncate,
    /// Empties a table and those that refer to it.
    TruncateCascade,
    /// Deletes without `WHERE`.
    DeleteAll,
    /// Deletes with a `WHERE` that restricts nothing.
    DeleteAlways,
    /// Deletes what a `WHERE` selects.
    DeleteWhere,
    /// Updates without `WHERE`.
    UpdateAll,
    /// Updates with a `WHERE` that restricts nothing.
    UpdateAlways,
    /// Updates what a `WHERE` selects.
    UpdateWhere,
    /// Removes a column, constraint or partition of a table.
    AlterDrop,
    /// Changes a definition otherwise.
    Alter,
    /// Creates something.
    Create,
    /// Adds rows.
    Insert,
    /// Looks.
    Select,
    /// Gives rights.
    Grant,
    /// Takes rights.
    Revoke,
    /// Runs a command on the server for its input or output.
    CopyFromProgram,
    /// Copies between a table and a file.
    CopyFile,
    /// Writes a file.
    IntoOutfile,
    /// Reads a file.
    LoadFile,
    /// Runs a command.
    ShellEscape,
    /// Changes settings, maintains or stops the server.
    Admin,
    /// Begins or ends a transaction.
    Transaction,
    /// Known, and none of the others.
    Other,
    /// Cannot be read, or runs what is not in the text.
    Unreadable,
}

impl StatementKind {
    /// The word policies use.
    pub(crate) fn as_str(self) -> &'static str {
        kind_words::word_of(WORDS, self).unwrap_or("unreadable")
    }

    /// The kind a policy's word means.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        kind_words::kind_of(WORDS, word)
    }

    /// Every kind, in the order of [`WORDS`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        WORDS.iter().map(|(kind, _)| *kind)
    }
}

/// Each kind and its word.
const WORDS: &[(StatementKind, &str)] = &[
    (StatementKind::DropDatabase, "drop-database"),
    (StatementKind::DropSchema, "drop-schema"),
    (StatementKind::DropSchemaCascade, "drop-schema-cascade"),
    (StatementKind::DropTable, "drop-table"),
    (StatementKind::DropOther, "drop-other"),
    (StatementKind::DropRole, "drop-role"),
    (StatementKind::Truncate, "truncate"),
    (StatementKind::TruncateCascade, "truncate-cascade"),
    (StatementKind::DeleteAll, "delete-all"),
    (StatementKind::DeleteAlways, "delete-always"),
    (StatementKind::DeleteWhere, "delete-where"),
    (StatementKind::UpdateAll, "update-all"),
    (StatementKind::UpdateAlways, "update-always"),
    (StatementKind::UpdateWhere, "update-where"),
    (StatementKind::AlterDrop, "alter-drop"),
    (StatementKind::Alter, "alter"),
    (StatementKind::Create, "create"),
    (StatementKind::Insert, "insert"),
    (StatementKind::Select, "select"),
    (StatementKind::Grant, "grant"),
    (StatementKind::Revoke, "revoke"),
    (StatementKind::CopyFromProgram, "copy-from-program"),
    (StatementKind::CopyFile, "copy-file"),
    (StatementKind::IntoOutfile, "into-outfile"),
    (StatementKind::LoadFile, "load-file"),
    (StatementKind::ShellEscape, "shell-escape"),
    (StatementKind::Admin, "admin"),
    (StatementKind::Transaction, "transaction"),
    (StatementKind::Other, "other"),
    (StatementKind::Unreadable, "unreadable"),
];
