//! Statements inside others: CTEs, blocks, routine bodies, literals that are run.

use super::{check, words};
use crate::sql::Dialect;

#[test]
fn a_cte_that_changes_data_is_seen() {
    check(
        Dialect::Postgres,
        &[
            (
                "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
                &["delete-all", "select"],
            ),
            (
                "WITH a AS (SELECT 1), b AS MATERIALIZED (UPDATE t SET a=1 WHERE id=2 RETURNING 1) SELECT 1",
                &["update-where", "select"],
            ),
            (
                "WITH a AS (WITH b AS (DELETE FROM t RETURNING 1) SELECT 1) SELECT 1",
                &["delete-all", "select", "select"],
            ),
            ("(SELECT 1) UNION (SELECT 2)", &["select"]),
            (
                "CREATE TABLE t (update timestamp, delete text)",
                &["create"],
            ),
        ],
    );
}

#[test]
fn explain_runs_only_when_told_to() {
    check(
        Dialect::Postgres,
        &[
            ("EXPLAIN ANALYZE DELETE FROM t", &["delete-all"]),
            (
                "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t WHERE id = 1",
                &["delete-where"],
            ),
            ("EXPLAIN (ANALYZE false) DELETE FROM t", &["select"]),
            ("EXPLAIN VERBOSE DELETE FROM t", &["select"]),
            (
                "EXPLAIN WITH x AS (DELETE FROM t RETURNING 1) SELECT 1",
                &["select"],
            ),
            (
                "EXPLAIN ANALYZE WITH x AS (DELETE FROM t RETURNING 1) SELECT 1",
                &["delete-all", "select"],
            ),
        ],
    );
}

#[test]
fn a_do_block_is_read() {
    check(
        Dialect::Postgres,
        &[
            (
                "DO $$ BEGIN DELETE FROM t; END $$",
                &["delete-all", "transaction"],
            ),
            (
                "DO $$ BEGIN EXECUTE 'drop table x'; END $$",
                &["drop-table", "transaction"],
            ),
            (
                "DO $$ BEGIN IF a THEN DROP TABLE x; ELSE DELETE FROM t; END IF; END $$",
                &["drop-table", "delete-all", "transaction", "transaction"],
            ),
            (
                "DO $$ DECLARE r record; BEGIN FOR r IN SELECT 1 LOOP EXECUTE format('DROP TABLE %I', r.x); END LOOP; END $$",
                &[
                    "other",
                    "drop-table",
                    "unreadable",
                    "transaction",
                    "transaction",
                ],
            ),
            (
                "DO LANGUAGE plpgsql $x$ BEGIN TRUNCATE t; END $x$",
                &["truncate", "transaction"],
            ),
            ("DO LANGUAGE plpython3u $$ import os $$", &["unreadable"]),
            (
                "DO $$ BEGIN x := 1; PERFORM f(); END $$",
                &["other", "select", "transaction"],
            ),
        ],
    );
}

#[test]
fn text_put_together_at_run_time_is_unreadable() {
    check(
        Dialect::Postgres,
        &[
            (
                "PREPARE p AS DELETE FROM t; EXECUTE p",
                &["delete-all", "other"],
            ),
            ("EXECUTE p", &["unreadable"]),
            (
                "SELECT query_to_xml('delete from t', true, true, '')",
                &["select", "delete-all", "unreadable"],
            ),
        ],
    );
    check(
        Dialect::MySql,
        &[
            (
                "PREPARE s FROM 'DROP TABLE x'; EXECUTE s",
                &["drop-table", "other"],
            ),
            (
                "PREPARE s FROM @x; EXECUTE s",
                &["unreadable", "unreadable"],
            ),
            ("EXECUTE IMMEDIATE 'DROP TABLE x'", &["drop-table"]),
            (
                "EXECUTE IMMEDIATE CONCAT('DROP ', 'TABLE x')",
                &["drop-other", "unreadable"],
            ),
        ],
    );
    check(
        Dialect::Other,
        &[("EXEC('DROP TABLE x')", &["drop-table", "unreadable"])],
    );
}

#[test]
fn the_body_of_a_routine_is_stored_not_run() {
    check(
        Dialect::Postgres,
        &[
            (
                "CREATE FUNCTION f() RETURNS void AS $$ BEGIN DELETE FROM t; END $$ LANGUAGE plpgsql; DROP TABLE x",
                &[
                    "create",
                    "delete-all stored",
                    "transaction stored",
                    "drop-table",
                ],
            ),
            (
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC DELETE FROM t; SELECT CASE WHEN true THEN 1 END; END; DROP TABLE x",
                &[
                    "create",
                    "delete-all stored",
                    "select stored",
                    "transaction stored",
                    "drop-table",
                ],
            ),
            (
                "CREATE TRIGGER begin BEFORE INSERT ON t EXECUTE FUNCTION f(); DROP TABLE x",
                &["create", "drop-table"],
            ),
        ],
    );
    check(
        Dialect::Sqlite,
        &[(
            "CREATE TRIGGER a AFTER INSERT ON t BEGIN DELETE FROM x; UPDATE y SET a=1; END; DROP TABLE z;",
            &[
                "create",
                "delete-all stored",
                "update-all stored",
                "transaction stored",
                "drop-table",
            ],
        )],
    );
    check(
        Dialect::MySql,
        &[(
            "DELIMITER //\nCREATE PROCEDURE p() BEGIN IF a THEN DELETE FROM t; END IF; END//\nDELIMITER ;\nDROP TABLE x;",
            &[
                "create",
                "delete-all stored",
                "transaction stored",
                "transaction stored",
                "drop-table",
            ],
        )],
    );
}

#[test]
fn the_mysql_client_ends_a_statement_at_its_delimiter_whatever_the_server_would_do() {
    let found = words(
        "CREATE PROCEDURE p() BEGIN SELECT 1; DROP TABLE x; END;",
        Dialect::MySql,
    );
    assert!(found.contains(&"drop-table".to_owned()), "{found:?}");
}

#[test]
fn a_block_that_never_ends_hides_nothing() {
    let found = words(
        "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; DROP TABLE x;",
        Dialect::Sqlite,
    );
    assert!(found.contains(&"drop-table".to_owned()), "{found:?}");
}
