//! What clients take for themselves.

use super::{check, only, words};
use crate::sql::{Dialect, read};

fn runs(text: &str, dialect: Dialect) -> Vec<String> {
    read(text, dialect)
        .into_iter()
        .filter_map(|statement| statement.runs)
        .collect()
}

fn file(text: &str, dialect: Dialect) -> Option<String> {
    only(text, dialect).file
}

#[test]
fn commands_of_psql() {
    check(
        Dialect::Postgres,
        &[
            ("\\! rm -rf /", &["shell-escape"]),
            ("\\i x.sql", &["unreadable"]),
            ("\\c other", &["other"]),
            ("\\dt+ public.*", &["select"]),
            ("\\copy t from 'x.csv' csv", &["copy-file"]),
            ("\\copy t from program 'ls'", &["copy-from-program"]),
            (
                "\\copy t from stdin\n1\tit's\n\\.\nDROP TABLE x;",
                &["insert", "drop-table"],
            ),
            ("SELECT 1 \\g |sh", &["select", "shell-escape"]),
            ("SELECT 'drop table x' \\gexec", &["select", "unreadable"]),
            ("SELECT 1 \\gset", &["select", "other"]),
            ("\\echo a \\\\ DROP TABLE x;", &["other", "drop-table"]),
            ("\\echo `rm x`", &["other", "shell-escape"]),
            ("\\o\nSELECT 1;", &["select"]),
            ("\\setenv PAGER 'sh -c x'", &["shell-escape"]),
            ("SELECT 1 \\; DROP TABLE x;", &["select", "drop-table"]),
            ("SELECT '\\! ls'", &["select"]),
            ("\\frobnicate", &["unreadable"]),
        ],
    );
    assert_eq!(runs("\\! rm -rf /", Dialect::Postgres), ["rm -rf /"]);
    assert_eq!(runs("\\!ls", Dialect::Postgres), ["ls"]);
    assert_eq!(runs("\\o |cat > x", Dialect::Postgres), ["cat > x"]);
    assert_eq!(
        runs("\\copy (select 1) to program 'sh'", Dialect::Postgres),
        ["sh"]
    );
    assert_eq!(runs("\\set x `id` \\! ls", Dialect::Postgres), ["id", "ls"]);
    assert_eq!(
        file("\\i 'a b.sql'", Dialect::Postgres).as_deref(),
        Some("a b.sql")
    );
    assert_eq!(
        file("\\copy t to /tmp/out.csv csv", Dialect::Postgres).as_deref(),
        Some("/tmp/out.csv")
    );
    assert_eq!(
        file("\\o /tmp/x", Dialect::Postgres).as_deref(),
        Some("/tmp/x")
    );
}

#[test]
fn commands_of_mysql() {
    check(
        Dialect::MySql,
        &[
            ("\\! ls", &["shell-escape"]),
            ("system ls", &["shell-escape"]),
            ("SELECT 1; \\! ls", &["select", "shell-escape"]),
            ("\\! ls; DROP TABLE x", &["shell-escape", "drop-table"]),
            ("source x.sql", &["unreadable"]),
            ("\\. x.sql", &["unreadable"]),
            ("tee /tmp/x", &["into-outfile"]),
            ("pager sh", &["shell-escape"]),
            ("SELECT 1\\G", &["select"]),
            ("INSERT INTO t VALUES (\\N)", &["insert"]),
            ("SELECT system FROM t", &["select"]),
            (
                "delimiter $$\nDROP TABLE x$$\ndelimiter ;\nSELECT 1;",
                &["drop-table", "select"],
            ),
        ],
    );
    assert_eq!(runs("system rm -rf x;", Dialect::MySql), ["rm -rf x"]);
    assert_eq!(
        file("source /tmp/x.sql;", Dialect::MySql).as_deref(),
        Some("/tmp/x.sql")
    );
}

#[test]
fn commands_of_sqlite() {
    check(
        Dialect::Sqlite,
        &[
            (".shell ls", &["shell-escape"]),
            (".system ls", &["shell-escape"]),
            (".sys ls", &["shell-escape"]),
            (".read x.sql", &["unreadable"]),
            (".read '|sh x'", &["shell-escape"]),
            (".import x.csv t", &["load-file"]),
            (".import \"|cmd\" t", &["shell-escape"]),
            (".output x", &["into-outfile"]),
            (".output\nSELECT 1;", &["select"]),
            (".load ./x", &["shell-escape"]),
            (".tables", &["select"]),
            (
                ".mode csv\n.headers on\nSELECT 1;",
                &["other", "other", "select"],
            ),
            (".frobnicate", &["unreadable"]),
            (
                "SELECT 1;\n.shell ls\nDROP TABLE x;",
                &["select", "shell-escape", "drop-table"],
            ),
            ("SELECT t.shell FROM t", &["select"]),
        ],
    );
    assert_eq!(
        runs(".shell rm -rf 'x y'", Dialect::Sqlite),
        ["rm -rf 'x y'"]
    );
    assert_eq!(runs(".once |cat > x", Dialect::Sqlite), ["cat > x"]);
    assert_eq!(file(".read 'a b'", Dialect::Sqlite).as_deref(), Some("a b"));
}

#[test]
fn commands_of_other_clients() {
    for (text, command) in [
        (":!! dir", "dir"),
        ("!! dir", "dir"),
        ("!ls", "ls"),
        (".sh ls", "ls"),
        ("\\! ls", "ls"),
    ] {
        assert!(
            runs(text, Dialect::Other).contains(&command.to_owned()),
            "{text}"
        );
    }
    assert!(words(":r x.sql", Dialect::Other).contains(&"unreadable".to_owned()));
}
