//! What SQL that reaches a database client would do.
//!
//! [`read`] lists every statement a text holds, also those in CTEs, in `DO` blocks and routine
//! bodies, in literals handed to `EXECUTE`, and the commands the client itself takes (`\!`,
//! `.shell`, `source`). A literal is data, a `DELETE` with a restriction differs from one without.
//! What cannot be read is listed as [`StatementKind::Unreadable`], never left out.
//!
//! The reader follows clauses, not grammars: a vendor's syntax it has never seen still begins with
//! `DROP` or lacks a `WHERE`. It is linear and bounded. Where settings or an unknown database make
//! a text mean two things (backslashes, `/*! … */`), both readings are listed.

mod act;
mod clients;
mod condition;
mod functions;
mod kinds;
mod meaning;
mod operands;
mod split;
#[cfg(test)]
mod tests;
mod tokens;
mod verbs;
mod view;

use std::ops::Range;

pub(crate) use kinds::StatementKind;
use split::{Reader, Statements};
use tokens::Flavour;

/// Longest text read; what follows is listed as one unreadable statement.
pub(crate) const MAX_TEXT: usize = 1 << 20;

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// PostgreSQL and what speaks its language, through `psql`.
    Postgres,
    /// MySQL and MariaDB, through `mysql`.
    MySql,
    /// SQLite, through `sqlite3`.
    Sqlite,
    /// Any other or unknown database.
    Other,
}

/// One thing a text would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// What it does.
    pub(crate) kind: StatementKind,
    /// Where the statement stands; for one held by a literal, where that literal stands.
    pub(crate) span: Range<usize>,
    /// The table, database or other thing it is about, unquoted.
    pub(crate) object: Option<String>,
    /// The shell text it runs, where that is known.
    pub(crate) runs: Option<String>,
    /// The file it reads, writes or takes further statements from.
    pub(crate) file: Option<String>,
    /// It is only put into the body of a routine or trigger here, and runs when that is called.
    pub(crate) stored: bool,
}

/// Every statement of a text, in order.
pub(crate) fn read(text: &str, dialect: Dialect) -> Vec<Statement> {
    let mut found = Statements::default();
    let whole = text.len();
    let text = text
        .get(..text.floor_char_boundary(MAX_TEXT))
        .unwrap_or(text);
    for flavour in Flavour::readings(text, dialect) {
        let mut reading = Statements::default();
        Reader::new(text, flavour).run(&mut reading);
        found.add(reading);
    }
    if text.len() < whole {
        found.unreadable(text.len()..whole);
    }
    found.statements
}
