//! Any text is read, in time that grows with its length.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::ALL;
use crate::sql::{Dialect, MAX_TEXT, StatementKind, read};

/// Pieces that mean something to the reader, so that random texts reach its corners.
const PIECES: &[&str] = &[
    "drop",
    "table",
    "delete",
    "from",
    "t",
    "where",
    "1",
    "=",
    "1",
    "or",
    "and",
    "not",
    "(",
    ")",
    "'",
    "\"",
    "`",
    "$$",
    "$a$",
    "/*",
    "*/",
    "/*!",
    "--",
    "\n",
    ";",
    "\\",
    "\\!",
    ".shell ",
    "create",
    "trigger",
    "begin",
    "end",
    "case",
    "do",
    "execute",
    "with",
    "as",
    "in",
    "between",
    "is",
    "null",
    "like",
    "%",
    "::",
    ":x",
    "@",
    "#",
    "[",
    "]",
    "update",
    "set",
    "explain",
    "analyze",
    "copy",
    "stdin",
    "\n\\.\n",
    "delimiter //\n",
    "//",
    "é",
    "\0",
    ",",
    ".",
    "e'",
    "go",
];

fn pieced() -> impl Strategy<Value = String> {
    prop::collection::vec(
        (
            prop::sample::select(PIECES),
            prop::sample::select(&["", " "][..]),
        ),
        0..60,
    )
    .prop_map(|pieces| {
        pieces
            .into_iter()
            .flat_map(|(piece, gap)| [piece, gap])
            .collect()
    })
}

proptest! {
    #[test]
    fn any_text_is_read(text in prop_oneof![pieced(), ".{0,200}"]) {
        for dialect in ALL {
            for statement in read(&text, dialect) {
                prop_assert!(text.get(statement.span.clone()).is_some(), "{:?}", statement);
            }
        }
    }

    #[test]
    fn a_statement_behind_another_is_never_lost(
        first in prop::sample::select(&[
            "SELECT 'a''b'", "UPDATE t SET a = CASE WHEN b THEN 'x' END", "CREATE TABLE t (a int)",
            "CREATE TRIGGER a AFTER INSERT ON t BEGIN DELETE FROM x; END", "INSERT INTO t VALUES (1, $$a$$)",
            "WITH a AS (SELECT 1) SELECT 1", "BEGIN", "frobnicate (", "SELECT \"a;b\"", "DROP",
        ][..]),
        gap in prop::sample::select(&[";", " ; ", ";\n", "; /* x */", ";-- x\n"][..]),
    ) {
        for dialect in ALL {
            let found = read(&format!("{first}{gap}DROP TABLE seen"), dialect);
            prop_assert!(
                found.iter().any(|one| one.kind == StatementKind::DropTable && !one.stored),
                "{:?}: {:?}", dialect, found
            );
        }
    }

    #[test]
    fn a_literal_is_data_whatever_it_holds(inside in "[a-z;()=%* -]{0,40}") {
        for dialect in ALL {
            let found = read(&format!("SELECT '; DROP TABLE x; {inside}'"), dialect);
            prop_assert!(found.iter().all(|one| one.kind == StatementKind::Select), "{:?}", found);
        }
    }

    #[test]
    fn case_and_blanks_do_not_matter(upper in any::<bool>(), gap in prop::sample::select(&[" ", "\n", "\t", " /* x */ "][..])) {
        let text = "delete from t where id = 5".replace(' ', gap);
        let text = if upper { text.to_uppercase().replace("/* X */", "/* x */") } else { text };
        for dialect in ALL {
            let found = read(&text, dialect);
            prop_assert!(found.iter().all(|one| one.kind == StatementKind::DeleteWhere), "{:?}", found);
        }
    }
}

/// A debug build on a busy machine reads 64 KiB of the worst in half a second; what is
/// not linear takes minutes.
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
fn a_long_text_of_any_shape_is_read_in_time() {
    let shapes = [
        "(",
        ")",
        ";",
        "'",
        "a ",
        "1=1 or ",
        "(update ",
        "pg_read_file(",
        "create trigger a begin select 1;",
        "copy t from stdin;",
        "case when ",
        "not ",
        "$a$",
        "/*",
        "\\!",
        "\n.x",
        "drop table a,",
        "begin ",
        "dblink('a'",
        "prepare a as select 1;execute a;",
        "with a as (",
        "execute 'a';",
        "a in (",
        "exists (select where ",
        "::",
        "if exists (a) drop table ",
        "do $$",
        "[",
        ":x ",
        "delimiter a\n",
        "explain analyze ",
        "- ",
    ];
    for shape in shapes {
        let text = format!(
            "delete from t where {}",
            shape.repeat(MAX_TEXT / 16 / shape.len())
        );
        for text in [text.as_str(), text.get(20..).unwrap_or_default()] {
            for dialect in [Dialect::Postgres, Dialect::Other] {
                let start = Instant::now();
                let found = read(text, dialect);
                let took = start.elapsed();
                assert!(took < PATIENCE, "{shape:?} {dialect:?} took {took:?}");
                assert!(found.len() <= 10_002 * 3, "{shape:?}");
            }
        }
    }
}

#[test]
fn what_is_beyond_the_longest_text_is_unreadable() {
    let text = format!("SELECT 1; {} DROP TABLE x", " ".repeat(MAX_TEXT));
    let kinds: Vec<_> = read(&text, Dialect::Postgres)
        .iter()
        .map(|one| one.kind)
        .collect();
    assert_eq!(kinds, [StatementKind::Select, StatementKind::Unreadable]);
}
