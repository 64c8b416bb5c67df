//! Quotes, comments and settings that could hide a statement or make up one.

use super::{check, words};
use crate::sql::Dialect;

#[test]
fn quoted_text_is_data_and_the_rest_is_not() {
    check(
        Dialect::Postgres,
        &[
            ("SELECT 'a; DROP TABLE x'", &["select"]),
            ("SELECT 'it''s; DROP TABLE x'", &["select"]),
            ("SELECT '\\'; DROP TABLE x; --'", &["select", "drop-table"]),
            ("SELECT E'\\'; DROP TABLE x; --'", &["select"]),
            ("SELECT $$; DROP TABLE x;$$", &["select"]),
            ("SELECT $a$ $$ ; DROP TABLE x; $a$", &["select"]),
            ("SELECT \"a;b\" FROM t", &["select"]),
            (
                "SELECT $1; DROP TABLE x; SELECT $1",
                &["select", "drop-table", "select"],
            ),
            ("SELECT 1 -- ; DROP TABLE x", &["select"]),
            ("SELECT 1 /* ; DROP TABLE x */", &["select"]),
            ("/* /* */ DROP TABLE x; */ SELECT 1", &["select"]),
            ("DROP/**/TABLE/**/x", &["drop-table"]),
            ("DROP\n\tTABLE -- y\n x", &["drop-table"]),
            ("DR/**/OP TABLE x", &["unreadable"]),
            ("SELECT 1 # 2; DROP TABLE x", &["select", "drop-table"]),
            ("/*!50000 DROP TABLE x */", &[]),
        ],
    );
    check(
        Dialect::MySql,
        &[
            ("SELECT '\\'; DROP TABLE x; -- '", &["select"]),
            ("SELECT \"a; DROP TABLE x\"", &["select"]),
            ("SELECT 1 # ; DROP TABLE x", &["select"]),
            ("SELECT 1--1; DROP TABLE x", &["select", "drop-table"]),
            ("/* /* */ DROP TABLE x; ", &["drop-table"]),
            (
                "SELECT $$; DROP TABLE x; SELECT $$",
                &["select", "drop-table", "select"],
            ),
        ],
    );
    check(
        Dialect::Sqlite,
        &[
            ("SELECT [a;b], `c;d`, \"e;f\" FROM t", &["select"]),
            ("SELECT '\\'; DROP TABLE x; --'", &["select", "drop-table"]),
        ],
    );
}

#[test]
fn a_conditional_comment_of_mysql_is_read_both_ways() {
    check(
        Dialect::MySql,
        &[
            ("/*!50000 DROP TABLE x */", &["drop-table"]),
            ("/*! DROP */ /*! TABLE */ x", &["drop-table", "unreadable"]),
            (
                "DELETE FROM t /*!99999 WHERE id = 1 */",
                &["delete-where", "delete-all"],
            ),
            ("/*M!100000 DROP TABLE x */", &["drop-table"]),
            ("SELECT /*+ hint */ 1", &["select"]),
        ],
    );
}

#[test]
fn an_unknown_database_is_read_in_every_way_that_differs() {
    let has = |text, kind: &str| {
        assert!(
            words(text, Dialect::Other).iter().any(|word| word == kind),
            "{text}"
        )
    };
    has("SELECT '\\'; DROP TABLE x; --'", "drop-table");
    has("SELECT '\\'''; DROP TABLE x; -- '", "drop-table");
    has("SELECT 1--1; DROP TABLE x", "drop-table");
    has("SELECT $$; DROP TABLE x; SELECT $$", "drop-table");
    has("/* /* */ DROP TABLE x; /* */ */", "drop-table");
    has("/*!50000 DROP TABLE x */", "drop-table");
    has("SELECT 1 # ;\n; DROP TABLE x", "drop-table");
}

#[test]
fn a_text_that_changes_how_literals_are_read_is_read_both_ways() {
    let text = "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SELECT '\\'; DROP TABLE x; -- '";
    assert!(words(text, Dialect::MySql).contains(&"drop-table".to_owned()));
    let text = "SET standard_conforming_strings = off; SELECT '\\''; DROP TABLE x; --'";
    assert!(words(text, Dialect::Postgres).contains(&"drop-table".to_owned()));
}

#[test]
fn what_is_never_closed_is_unreadable() {
    for text in [
        "SELECT 'a; DROP TABLE x",
        "SELECT \"a",
        "SELECT $$a",
        "SELECT 1 /* a",
    ] {
        let found = words(text, Dialect::Postgres);
        assert_eq!(found, ["select", "unreadable"], "{text}");
    }
}

#[test]
fn rows_behind_copy_are_data_and_what_follows_is_not() {
    check(
        Dialect::Postgres,
        &[
            (
                "COPY t FROM stdin;\n1\tit's\n2\tDROP TABLE x;\n\\.\nDROP TABLE y;",
                &["insert", "drop-table"],
            ),
            ("COPY t FROM stdin; DROP TABLE x", &["insert", "drop-table"]),
        ],
    );
}

#[test]
fn a_variable_of_psql_may_be_any_text() {
    check(
        Dialect::Postgres,
        &[
            (":x;", &["unreadable", "unreadable"]),
            ("SELECT :'x', :\"y\"", &["select"]),
            (
                "DELETE FROM t WHERE id = :id",
                &["delete-where", "unreadable"],
            ),
            ("SELECT a::int, b[1:2]", &["select"]),
        ],
    );
}
