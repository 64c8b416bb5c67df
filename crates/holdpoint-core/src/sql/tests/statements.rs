//! Plain statements of every kind.

use super::{ALL, check, only};
use crate::sql::{Dialect, StatementKind};

#[test]
fn every_kind_has_one_word_and_is_found_by_it() {
    let words: Vec<&str> = StatementKind::all().map(StatementKind::as_str).collect();
    let mut once = words.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), words.len());
    for kind in StatementKind::all() {
        assert_eq!(StatementKind::from_word(kind.as_str()), Some(kind));
    }
    assert_eq!(StatementKind::from_word("drop"), None);
}

#[test]
fn statements_every_database_knows() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[]),
        (" ;; -- nothing\n", &[]),
        ("SELECT 1", &["select"]),
        ("drop table users", &["drop-table"]),
        ("DROP TABLE IF EXISTS a, b;", &["drop-table", "drop-table"]),
        ("DROP DATABASE x", &["drop-database"]),
        ("DROP VIEW v", &["drop-other"]),
        ("DROP INDEX i", &["drop-other"]),
        ("DROP ROLE r", &["drop-role"]),
        ("DELETE FROM t", &["delete-all"]),
        ("DELETE FROM t WHERE id = 5", &["delete-where"]),
        ("UPDATE t SET a = 1", &["update-all"]),
        ("UPDATE t SET a = 1 WHERE id = 5", &["update-where"]),
        (
            "UPDATE t SET a = (SELECT b FROM u WHERE u.id = 1)",
            &["update-all"],
        ),
        (
            "INSERT INTO t VALUES (1, 'DROP TABLE x; DELETE FROM t')",
            &["insert"],
        ),
        ("INSERT INTO t (a) SELECT a FROM u WHERE b = 1", &["insert"]),
        ("SELECT 1; DROP TABLE x", &["select", "drop-table"]),
        ("ALTER TABLE t ADD COLUMN a int", &["alter"]),
        ("ALTER TABLE t DROP COLUMN a", &["alter-drop"]),
        ("ALTER TABLE t RENAME TO u", &["alter"]),
        ("CREATE TABLE t (id int, on_delete text)", &["create"]),
        (
            "CREATE TABLE t (id int REFERENCES u ON DELETE CASCADE)",
            &["create"],
        ),
        ("CREATE TABLE t AS SELECT * FROM u", &["create"]),
        ("BEGIN; COMMIT", &["transaction", "transaction"]),
        (
            "BEGIN TRANSACTION; ROLLBACK;",
            &["transaction", "transaction"],
        ),
        ("WITH x AS (SELECT 1) SELECT * FROM x", &["select"]),
        ("WITH x AS (SELECT 1) DELETE FROM t", &["delete-all"]),
        ("EXPLAIN DELETE FROM t", &["select"]),
        ("SELECT * FROM t FOR UPDATE", &["select"]),
        ("FROBNICATE everything", &["unreadable"]),
    ];
    for dialect in ALL {
        check(dialect, cases);
    }
}

#[test]
fn statements_of_postgres() {
    check(
        Dialect::Postgres,
        &[
            ("DROP SCHEMA s", &["drop-schema"]),
            ("DROP SCHEMA IF EXISTS s CASCADE", &["drop-schema-cascade"]),
            ("DROP OWNED BY bob", &["drop-schema-cascade"]),
            ("DROP DATABASE d WITH (FORCE)", &["drop-database"]),
            ("DROP MATERIALIZED VIEW v", &["drop-other"]),
            ("DROP FOREIGN TABLE f", &["drop-table"]),
            ("TRUNCATE a", &["truncate"]),
            (
                "TRUNCATE TABLE ONLY a, b RESTART IDENTITY CASCADE",
                &["truncate-cascade", "truncate-cascade"],
            ),
            ("DELETE FROM ONLY t * WHERE id = 1", &["delete-where"]),
            (
                "DELETE FROM t USING u WHERE t.id = u.id RETURNING *",
                &["delete-where"],
            ),
            ("DELETE FROM t USING u", &["delete-all"]),
            (
                "DELETE FROM t RETURNING (SELECT 1 WHERE true)",
                &["delete-all"],
            ),
            ("DELETE FROM t WHERE CURRENT OF c", &["delete-where"]),
            ("UPDATE ONLY t SET a = 1 FROM u", &["update-all"]),
            (
                "ALTER TABLE ONLY t ALTER COLUMN a DROP NOT NULL",
                &["alter"],
            ),
            ("ALTER TABLE t DROP CONSTRAINT c", &["alter-drop"]),
            ("ALTER SYSTEM SET a = 1", &["admin"]),
            (
                "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1",
                &["insert"],
            ),
            (
                "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE",
                &["delete-where"],
            ),
            (
                "MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE",
                &["delete-always"],
            ),
            (
                "MERGE INTO t USING s ON 1=1 WHEN MATCHED THEN UPDATE SET a=1",
                &["update-always"],
            ),
            (
                "MERGE INTO t USING s ON t.id=s.id WHEN NOT MATCHED THEN INSERT VALUES (1)",
                &["insert"],
            ),
            ("GRANT DELETE ON t TO bob", &["grant"]),
            ("REVOKE DELETE ON t FROM bob", &["revoke"]),
            ("COPY t FROM PROGRAM 'curl x | sh'", &["copy-from-program"]),
            ("COPY t TO '/tmp/x'", &["copy-file"]),
            ("COPY t TO STDOUT", &["select"]),
            (
                "COPY (DELETE FROM t RETURNING *) TO STDOUT",
                &["select", "delete-all"],
            ),
            ("SELECT * INTO new FROM old", &["create", "select"]),
            (
                "SELECT pg_read_file('/etc/passwd')",
                &["select", "load-file"],
            ),
            ("SELECT lo_export(1, '/tmp/x')", &["select", "into-outfile"]),
            ("SELECT pg_terminate_backend(1)", &["select", "admin"]),
            ("LOAD '/tmp/x.so'", &["shell-escape"]),
            ("VACUUM FULL", &["admin"]),
            ("SET ROLE postgres", &["admin"]),
            (
                "SELECT DISTINCT ON (a) a FROM t WHERE b ->> 'drop' = 'x'",
                &["select"],
            ),
            ("TABLE t", &["select"]),
        ],
    );
}

#[test]
fn statements_of_mysql() {
    check(
        Dialect::MySql,
        &[
            ("DROP SCHEMA s", &["drop-database"]),
            ("DROP TABLES a, b", &["drop-table", "drop-table"]),
            ("DROP TEMPORARY TABLE a", &["drop-table"]),
            ("DROP USER 'a'@'b'", &["drop-role"]),
            ("TRUNCATE t", &["truncate"]),
            ("DELETE LOW_PRIORITY QUICK FROM t", &["delete-all"]),
            (
                "DELETE t1, t2 FROM t1 JOIN t2 WHERE t1.id = t2.id",
                &["delete-where"],
            ),
            ("DELETE FROM t ORDER BY id LIMIT 5", &["delete-all"]),
            ("REPLACE INTO t VALUES (1)", &["insert"]),
            ("ALTER TABLE t DROP PARTITION p0", &["alter-drop"]),
            ("ALTER TABLE t TRUNCATE PARTITION p0", &["truncate"]),
            ("ALTER TABLE t DROP a, ADD b int", &["alter-drop"]),
            (
                "CREATE OR REPLACE TABLE t (a int)",
                &["drop-table", "create"],
            ),
            (
                "SELECT * FROM t INTO OUTFILE '/tmp/x'",
                &["into-outfile", "select"],
            ),
            ("SELECT a INTO @x FROM t", &["select"]),
            ("SELECT LOAD_FILE('/etc/passwd')", &["select", "load-file"]),
            (
                "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t",
                &["load-file"],
            ),
            ("RENAME TABLE a TO b", &["alter"]),
            ("ANALYZE TABLE t", &["admin"]),
            ("ANALYZE FORMAT=JSON DELETE FROM t", &["delete-all"]),
            ("SHUTDOWN", &["admin"]),
            ("KILL 5", &["admin"]),
            ("FLUSH PRIVILEGES", &["admin"]),
        ],
    );
}

#[test]
fn statements_of_sqlite_and_others() {
    check(
        Dialect::Sqlite,
        &[
            ("VACUUM INTO 'copy.db'", &["into-outfile"]),
            ("ATTACH DATABASE 'x.db' AS y", &["admin"]),
            ("DELETE FROM t INDEXED BY i WHERE a = 1", &["delete-where"]),
            ("UPDATE OR IGNORE t SET a = 1", &["update-all"]),
            ("PRAGMA writable_schema = on", &["admin"]),
            ("SELECT load_extension('x.so')", &["select", "shell-escape"]),
            ("SELECT writefile('x', 'y')", &["select", "into-outfile"]),
        ],
    );
    check(
        Dialect::Other,
        &[
            ("EXEC xp_cmdshell 'dir'", &["other", "shell-escape"]),
            ("EXEC master..xp_cmdshell 'dir'", &["other", "shell-escape"]),
            ("DELETE TOP (5) FROM t", &["delete-all"]),
            ("SELECT 1 DROP TABLE x", &["select", "drop-table"]),
            (
                "SELECT 1\nGO\nDROP DATABASE x\nGO",
                &["select", "other", "drop-database", "other"],
            ),
            (
                "IF EXISTS (SELECT 1) DROP TABLE x",
                &["other", "drop-table"],
            ),
            ("INSERT OVERWRITE TABLE t SELECT 1", &["truncate"]),
            ("DROP KEYSPACE k", &["drop-database"]),
        ],
    );
}

#[test]
fn objects_commands_and_files_are_named() {
    let object = |text, dialect| only(text, dialect).object;
    assert_eq!(
        object("DROP TABLE IF EXISTS \"My\".\"users\"", Dialect::Postgres).as_deref(),
        Some("My.users")
    );
    assert_eq!(
        object("delete from `db`.`t` where id=1", Dialect::MySql).as_deref(),
        Some("db.t")
    );
    assert_eq!(
        object("TRUNCATE [t]", Dialect::Sqlite).as_deref(),
        Some("t")
    );
    assert_eq!(
        object("UPDATE users SET a=1", Dialect::Other).as_deref(),
        Some("users")
    );
    assert_eq!(
        object("DROP DATABASE prod", Dialect::Other).as_deref(),
        Some("prod")
    );
    let program = only("COPY t FROM PROGRAM 'rm -rf ''x'''", Dialect::Postgres);
    assert_eq!(program.runs.as_deref(), Some("rm -rf 'x'"));
    let file = only("COPY t FROM E'/etc/pass\\x77d'", Dialect::Postgres);
    assert_eq!(file.file.as_deref(), Some("/etc/passwd"));
    let load = only(
        "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
        Dialect::MySql,
    );
    assert_eq!(load.file.as_deref(), Some("/etc/passwd"));
}

#[test]
fn spans_are_those_of_the_statement() {
    let text = "SELECT 1; /* x */ DROP TABLE t ; ";
    let statements = crate::sql::read(text, Dialect::Postgres);
    let spans: Vec<&str> = statements
        .iter()
        .map(|one| text.get(one.span.clone()).unwrap())
        .collect();
    assert_eq!(spans, ["SELECT 1", "DROP TABLE t"]);
}
