//! Tests of the SQL room, by topic.

mod clients;
mod conditions;
mod hiding;
mod inside;
mod limits;
mod oracle;
mod statements;

use super::{Dialect, Statement, read};

/// The words of what a text does, with ` stored` behind those that do not run yet.
fn words(text: &str, dialect: Dialect) -> Vec<String> {
    read(text, dialect)
        .iter()
        .map(|statement| {
            let stored = if statement.stored { " stored" } else { "" };
            format!("{}{stored}", statement.kind.as_str())
        })
        .collect()
}

/// Each text does exactly the things listed behind it.
fn check(dialect: Dialect, cases: &[(&str, &[&str])]) {
    for (text, wanted) in cases {
        assert_eq!(words(text, dialect), *wanted, "{dialect:?}: {text}");
    }
}

/// The only statement of a text.
fn only(text: &str, dialect: Dialect) -> Statement {
    let mut statements = read(text, dialect);
    assert_eq!(statements.len(), 1, "{text}: {statements:?}");
    statements.remove(0)
}

const ALL: [Dialect; 4] = [
    Dialect::Postgres,
    Dialect::MySql,
    Dialect::Sqlite,
    Dialect::Other,
];
