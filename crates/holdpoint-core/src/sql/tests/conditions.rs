//! Conditions that restrict, and those that only look as if.

use super::words;
use crate::sql::Dialect;

fn kind(condition: &str, dialect: Dialect) -> String {
    let text = format!("DELETE FROM users WHERE {condition}");
    words(&text, dialect).join(" ")
}

#[test]
fn conditions_that_select_everything() {
    for condition in [
        "1=1",
        "true",
        "TRUE",
        "'a'='a'",
        "id=id",
        "1",
        "NOT false",
        "1=1 OR id=5",
        "id=5 OR 1=1",
        "name LIKE '%'",
        "name LIKE '%%'",
        "(1=1)",
        "((((1))))",
        "1 = 1 AND 2 > 1",
        "2>1",
        "1<>2",
        "1!=2",
        "1 IS NOT NULL",
        "id IS NOT NULL",
        "users.id = id",
        "users.id = users.id",
        "id >= id",
        "id > 0",
        "id <> -1",
        "id >= 1",
        "1 IN (1, 2)",
        "id IN (id)",
        "3 NOT IN (1, 2)",
        "2 BETWEEN 1 AND 3",
        "name IS NULL OR name IS NOT NULL",
        "a = 5 OR a <> 5",
        "a < 5 OR a >= 5",
        "a = 5 OR NOT a = 5",
        "NOT (1=2)",
        "NOT NOT 1",
        "1+1=2",
        "1=1=1",
        "EXISTS (SELECT 1)",
        "EXISTS (SELECT * FROM users)",
        "id IN (SELECT id FROM users)",
        "'abc' LIKE 'a%'",
        "length('a') = 1",
        "now() > '2020-01-01'",
        "CURRENT_DATE > DATE '2020-01-01'",
        "coalesce(a,1)=coalesce(a,1)",
        "1=1 /* really */",
        "1=1 -- x\n",
        "1=1 LIMIT 5",
        "(1=1) IS TRUE",
        "(1) = (1)",
        "CASE WHEN 1=1 THEN 1 END",
        "-1",
        "NULL IS NOT FALSE",
        "0.5",
        "0x1",
        "? = ?",
        "id = 5 OR (a = 1 OR (b = 2 OR 1=1))",
        "1 IS 1",
        "name NOT LIKE 'x%' OR name LIKE 'x%'",
        "id BETWEEN id AND id",
    ] {
        for dialect in super::ALL {
            assert_eq!(
                kind(condition, dialect),
                "delete-always",
                "{dialect:?}: {condition}"
            );
        }
    }
}

#[test]
fn conditions_that_restrict() {
    for condition in [
        "id = 5",
        "id = 5 AND 1=1",
        "1=1 AND id = 5",
        "1=2",
        "false",
        "0",
        "NULL",
        "NOT true",
        "name LIKE 'a%'",
        "name LIKE '%a%'",
        "a = b",
        "deleted_at IS NOT NULL",
        "id IN (1, 2)",
        "id IN (SELECT id FROM old)",
        "id IN (SELECT id FROM users WHERE old)",
        "id NOT IN (1)",
        "id BETWEEN 1 AND 5",
        "id = ?",
        "a IS NULL",
        "EXISTS (SELECT 1 FROM o WHERE o.user_id = users.id)",
        "created < now() - interval '30 days'",
        "NOT active",
        "active",
        "id > 100",
        "id < 5 OR a = 2",
        "id = 5 OR 1=2",
        "'a' = 'b'",
        "a = 1 OR b <> 1",
        "id = 'x OR 1=1'",
        "CASE WHEN a THEN 1 ELSE 0 END = 1",
        "data = 'a' OR data = 'b'",
        "(id = 5)",
        "1=1 AND (id = 5 OR id = 6)",
        "users.id = old.id",
        "lower(name) = 'x'",
        "a != a",
        "id + 1 = 5",
    ] {
        for dialect in super::ALL {
            assert_eq!(
                kind(condition, dialect),
                "delete-where",
                "{dialect:?}: {condition}"
            );
        }
    }
}

#[test]
fn operators_of_one_database() {
    for (condition, dialect, wanted) in [
        ("id = 5 || 1", Dialect::MySql, "delete-always"),
        ("name || 'x' = 'ax'", Dialect::Postgres, "delete-where"),
        ("!0", Dialect::MySql, "delete-always"),
        ("0 = 'a'", Dialect::MySql, "delete-always"),
        ("name REGEXP '.*'", Dialect::MySql, "delete-always"),
        ("id <=> id", Dialect::MySql, "delete-always"),
        ("1 && 1", Dialect::MySql, "delete-always"),
        ("name ~ '.*'", Dialect::Postgres, "delete-always"),
        ("name ILIKE '%'", Dialect::Postgres, "delete-always"),
        ("1 = ANY(ARRAY[1])", Dialect::Postgres, "delete-always"),
        ("data @> '{\"a\": 1}'", Dialect::Postgres, "delete-where"),
        ("data->>'a' = 'b'", Dialect::Postgres, "delete-where"),
        ("'t'::boolean", Dialect::Postgres, "delete-always"),
        ("id::int = id::int", Dialect::Postgres, "delete-always"),
        (
            "id IS NOT DISTINCT FROM id",
            Dialect::Postgres,
            "delete-always",
        ),
        ("\"1\" = \"1\"", Dialect::Sqlite, "delete-always"),
        ("name GLOB '*'", Dialect::Sqlite, "delete-always"),
        ("rowid", Dialect::Sqlite, "delete-always"),
        ("a == 1", Dialect::Sqlite, "delete-where"),
    ] {
        assert_eq!(kind(condition, dialect), wanted, "{dialect:?}: {condition}");
    }
}

#[test]
fn updates_are_told_apart_the_same_way() {
    for (text, wanted) in [
        ("UPDATE t SET a = 1 WHERE 1=1", "update-always"),
        ("UPDATE t SET a = 'x WHERE y' ", "update-all"),
        (
            "UPDATE t SET a = CASE WHEN b THEN 1 END WHERE id = 1",
            "update-where",
        ),
        (
            "UPDATE t SET a = 1 WHERE true RETURNING id = 5",
            "update-always",
        ),
    ] {
        assert_eq!(words(text, Dialect::Postgres), [wanted], "{text}");
    }
}

#[test]
fn a_condition_too_deep_to_follow_counts_as_selecting_everything() {
    let deep = format!("{}id = 5{}", "(".repeat(100), ")".repeat(100));
    assert_eq!(kind(&deep, Dialect::Postgres), "delete-always");
}
