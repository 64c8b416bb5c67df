//! The reader against `sqlparser`: where that crate understands a statement, both agree on it.
//!
//! It is not the reader itself because it doubles the program (2.5 MB on 2.6), costs 100 to 200 µs
//! for the first statement of a process, and rejects much of what databases accept, `DROP OWNED` or
//! `DELETE QUICK FROM` among it; what it rejects would have to be read without it anyway.

use proptest::prelude::*;
use proptest::sample::select;
use sqlparser::ast::{self, ObjectType};
use sqlparser::dialect::{
    Dialect as Theirs, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;

use crate::sql::{Dialect, StatementKind, read};

/// The family of what the oracle sees; finer differences are ours.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the families compared, of very many"
)]
fn family(statement: &ast::Statement) -> Option<&'static str> {
    Some(match statement {
        ast::Statement::Query(_) => "select",
        ast::Statement::Insert(_) => "insert",
        ast::Statement::Delete(delete) if delete.selection.is_some() => "delete-some",
        ast::Statement::Delete(_) => "delete-all",
        ast::Statement::Update(update) if update.selection.is_some() => "update-some",
        ast::Statement::Update(_) => "update-all",
        ast::Statement::Truncate { .. } => "truncate",
        ast::Statement::Drop {
            object_type: ObjectType::Table,
            ..
        } => "drop-table",
        ast::Statement::CreateTable(_) => "create",
        ast::Statement::Explain { analyze: false, .. } => "select",
        _ => return None,
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest keeps its word")]
fn ours(kind: StatementKind) -> &'static str {
    match kind {
        StatementKind::DeleteAlways | StatementKind::DeleteWhere => "delete-some",
        StatementKind::UpdateAlways | StatementKind::UpdateWhere => "update-some",
        StatementKind::TruncateCascade => "truncate",
        other => other.as_str(),
    }
}

fn agree(text: &str) {
    let dialects: [(Dialect, &dyn Theirs); 4] = [
        (Dialect::Postgres, &PostgreSqlDialect {}),
        (Dialect::MySql, &MySqlDialect {}),
        (Dialect::Sqlite, &SQLiteDialect {}),
        (Dialect::Other, &GenericDialect {}),
    ];
    for (dialect, theirs) in dialects {
        let Ok(parsed) = Parser::parse_sql(theirs, text) else {
            continue;
        };
        let found = read(text, dialect);
        for statement in &parsed {
            if let Some(family) = family(statement) {
                assert!(
                    found.iter().any(|one| ours(one.kind) == family),
                    "{dialect:?}: {text}: {family} is not among {found:?}"
                );
            }
        }
        assert!(
            found
                .iter()
                .all(|one| one.kind != StatementKind::Unreadable),
            "{dialect:?}: {text}: understood by the oracle, not by us: {found:?}"
        );
    }
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = select(
        &[
            "1", "id", "name", "'a'", "'x;y'", "null", "true", "t.id", "f(1)", "count(*)",
            "'it''s'", "1.5", "-1",
        ][..],
    )
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let joint = select(
            &[
                "=",
                "<>",
                "<",
                "AND",
                "OR",
                "+",
                "||",
                "LIKE",
                "IS NOT DISTINCT FROM",
            ][..],
        );
        prop_oneof![
            (inner.clone(), joint, inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("NOT ({a})")),
            inner.clone().prop_map(|a| format!("({a}) IS NULL")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("CASE WHEN {a} THEN {b} END")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} IN ({b}, 2)")),
            inner.prop_map(|a| format!("EXISTS (SELECT 1 FROM u WHERE {a})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let name = || select(&["t", "a.b", "\"T\"", "users"][..]);
    prop_oneof![
        (name(), expression()).prop_map(|(t, e)| format!("DELETE FROM {t} WHERE {e}")),
        name().prop_map(|t| format!("DELETE FROM {t}")),
        (name(), expression()).prop_map(|(t, e)| format!("UPDATE {t} SET a = {e}")),
        (name(), expression(), expression())
            .prop_map(|(t, a, b)| format!("UPDATE {t} SET a = {a}, b = 2 WHERE {b}")),
        (name(), expression()).prop_map(|(t, e)| format!("SELECT {e} FROM {t} ORDER BY 1 LIMIT 5")),
        (name(), expression())
            .prop_map(|(t, e)| format!("INSERT INTO {t} (a, b) VALUES ({e}, 'DROP TABLE x')")),
        (name(), expression())
            .prop_map(|(t, e)| format!("WITH x AS (SELECT {e}) SELECT * FROM {t}")),
        name().prop_map(|t| format!("DROP TABLE IF EXISTS {t}, u CASCADE")),
        name().prop_map(|t| format!("TRUNCATE TABLE {t}")),
        (name(), expression()).prop_map(|(t, e)| format!("CREATE TABLE {t} (a int, CHECK ({e}))")),
        (name(), expression()).prop_map(|(t, e)| format!("EXPLAIN DELETE FROM {t} WHERE {e}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_the_oracle_understands_is_read_the_same(first in statement(), second in statement()) {
        agree(&first);
        agree(&format!("{first}; {second}"));
    }
}
