//! The requests on disk. One process writes: the daemon. Every change is one transaction, so that
//! what is there after a crash is what was there before a change or after it.

use std::path::Path;
use std::time::Duration;

use holdpoint_broker::host::Problem;
use holdpoint_broker::request::{Context, Request, State};
use holdpoint_broker::time::UnixMillis;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, TransactionBehavior, params};

use super::HistoryQuery;

/// The most settled requests that are kept for the page to show; older ones go, and stay in the ledger.
const MAX_KEPT: u32 = 10_000;

/// A request as it is kept, and who was told how it ended.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) request: Request,
    /// The caller that was told; a release it was told of is used.
    pub(super) told: Option<String>,
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Updated {
    /// Nothing: another change was faster.
    Overtaken,
    /// It is stored.
    Stored,
}

pub(super) struct Store {
    connection: Connection,
    /// Whether what is committed is on the disk before anybody hears of it.
    waits: bool,
}

/// The most statements that are kept compiled: all there are.
const MAX_STATEMENTS: usize = 32;

impl Store {
    pub(super) fn open(path: &Path) -> Result<Self, Problem> {
        let fail = |error: rusqlite::Error| {
            let advice = match is_damaged(&error) {
                true => {
                    "move this file and its -wal and -shm away and start again; agents then ask anew about what waited, and what was answered is in the ledger"
                }
                false => "check the directory and the disk",
            };
            Problem(format!(
                "{}: the requests cannot be kept ({error}): {advice}",
                path.display()
            ))
        };
        let connection = Connection::open(path).map_err(fail)?;
        connection
            .busy_timeout(Duration::from_secs(5))
            .map_err(fail)?;
        connection.execute_batch(SCHEMA).map_err(fail)?;
        // A damaged page is found now, not when somebody answers.
        connection
            .query_row(
                "SELECT count(*), sum(length(body)) FROM requests",
                [],
                |_| Ok(()),
            )
            .map_err(fail)?;
        connection.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
        Ok(Self {
            connection,
            waits: true,
        })
    }

    /// Keeps a new request. It is written, and survives the end of this process, but nobody waits for
    /// the disk: a machine that loses its power has lost whoever asked as well, and they ask anew.
    /// What settles it does wait, for this too.
    pub(super) fn insert(
        &mut self,
        request: &Request,
        before_commit: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        self.waits_for_disk(false)?;
        let body = body_of(request)?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(unusable)?;
        transaction
            .prepare_cached(
                "INSERT INTO requests (id, state, session, origin, opened, expires, version, words, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    request.id,
                    request.state.as_str(),
                    request.asked.session,
                    request.origin,
                    whole(request.opened),
                    request.expires.map(whole),
                    counted(request.version),
                    words_of(request),
                    body,
                ])
            })
            .map_err(unusable)?;
        before_commit()?;
        transaction.commit().map_err(unusable)
    }

    /// Whether what is committed from now on is on the disk before anybody hears of it.
    fn waits_for_disk(&mut self, waits: bool) -> Result<(), Problem> {
        if self.waits == waits {
            return Ok(());
        }
        // Compiled each time: this statement does what it does when it is.
        let how = match waits {
            true => "PRAGMA synchronous = FULL",
            false => "PRAGMA synchronous = NORMAL",
        };
        self.connection.execute_batch(how).map_err(unusable)?;
        self.waits = waits;
        Ok(())
    }

    /// Replaces a request by its next version. The caller that is to be told is noted in the same step:
    /// two waits for the disk are one.
    pub(super) fn update(
        &mut self,
        request: &Request,
        tell: Option<&str>,
        before_commit: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<Updated, Problem> {
        let from = "UPDATE requests SET state = ?2, expires = ?3, settled = ?4, approvers = ?5,
                        version = ?6, words = ?7, body = ?8
                 WHERE id = ?1 AND version = ?6 - 1 AND state = 'pending'";
        self.replace(from, request, tell, before_commit)
    }

    /// Replaces a release that nobody was told of by its next version.
    pub(super) fn revoke(
        &mut self,
        request: &Request,
        before_commit: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<Updated, Problem> {
        let from = "UPDATE requests SET state = ?2, expires = ?3, settled = ?4, approvers = ?5,
                        version = ?6, words = ?7, body = ?8
                 WHERE id = ?1 AND version = ?6 - 1 AND state = 'released' AND told IS NULL";
        self.replace(from, request, None, before_commit)
    }

    fn replace(
        &mut self,
        statement: &str,
        request: &Request,
        tell: Option<&str>,
        before_commit: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<Updated, Problem> {
        self.waits_for_disk(true)?;
        let body = body_of(request)?;
        let settled = request.settled.as_ref();
        let approvers = settled.map(|settled| settled.approvers.join("\n"));
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(unusable)?;
        let changed = transaction
            .prepare_cached(statement)
            .and_then(|mut update| {
                update.execute(params![
                    request.id,
                    request.state.as_str(),
                    request.expires.map(whole),
                    settled.map(|settled| whole(settled.at)),
                    approvers,
                    counted(request.version),
                    words_of(request),
                    body,
                ])
            })
            .map_err(unusable)?;
        if changed == 0 {
            return Ok(Updated::Overtaken);
        }
        before_commit()?;
        if let Some(caller) = tell {
            note_told(&transaction, &request.id, caller)?;
        }
        transaction.commit().map_err(unusable)?;
        Ok(Updated::Stored)
    }

    /// Notes who is told how a request ended; false if somebody else was before.
    pub(super) fn tell(
        &mut self,
        id: &str,
        told: &str,
        before_commit: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<bool, Problem> {
        self.waits_for_disk(true)?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(unusable)?;
        if !note_told(&transaction, id, told)? {
            return Ok(false);
        }
        before_commit()?;
        transaction.commit().map_err(unusable)?;
        Ok(true)
    }

    pub(super) fn find(&self, id: &str) -> Result<Option<Kept>, Problem> {
        self.connection
            .prepare_cached("SELECT body, told FROM requests WHERE id = ?1")
            .and_then(|mut query| query.query_row([id], kept).optional())
            .map_err(unusable)?
            .transpose()
    }

    /// The requests of one identical call that still count, the settled ones first: those that wait,
    /// and those that were settled since `since`.
    pub(super) fn of_origin(&self, origin: &str, since: UnixMillis) -> Result<Vec<Kept>, Problem> {
        self.query(
            "SELECT body, told FROM requests
             WHERE origin = ?1 AND (state = 'pending' OR settled >= ?2)
             ORDER BY state = 'pending', opened",
            &[&origin, &whole(since)],
        )
    }

    pub(super) fn pending(&self) -> Result<Vec<Request>, Problem> {
        let found = self.query(
            "SELECT body, told FROM requests WHERE state = 'pending' ORDER BY opened, id",
            &[],
        )?;
        Ok(found.into_iter().map(|kept| kept.request).collect())
    }

    pub(super) fn pending_of_session(&self, session: &str) -> Result<Vec<Request>, Problem> {
        let found = self.query(
            "SELECT body, told FROM requests
             WHERE state = 'pending' AND session = ?1 ORDER BY opened, id",
            &[&session],
        )?;
        Ok(found.into_iter().map(|kept| kept.request).collect())
    }

    pub(super) fn due(&self, now: UnixMillis) -> Result<Vec<Request>, Problem> {
        let found = self.query(
            "SELECT body, told FROM requests
             WHERE state = 'pending' AND expires <= ?1 ORDER BY expires",
            &[&whole(now)],
        )?;
        Ok(found.into_iter().map(|kept| kept.request).collect())
    }

    pub(super) fn next_expiry(&self) -> Result<Option<UnixMillis>, Problem> {
        self.connection
            .prepare_cached("SELECT min(expires) FROM requests WHERE state = 'pending'")
            .and_then(|mut query| query.query_row([], |row| row.get::<_, Option<i64>>(0)))
            .map(|found| found.and_then(|at| u64::try_from(at).ok()).map(UnixMillis))
            .map_err(unusable)
    }

    pub(super) fn history(&self, query: &HistoryQuery) -> Result<Vec<Request>, Problem> {
        let before = query.before.map_or(i64::MAX, whole);
        let like = |text: &Option<String>| {
            text.as_ref()
                .map(|text| format!("%{}%", escaped(&text.to_lowercase())))
        };
        let limit = i64::try_from(query.limit.min(1000)).unwrap_or(1000);
        let found = self.query(
            "SELECT body, told FROM requests
             WHERE state != 'pending' AND settled < ?1
               AND (?2 IS NULL OR words LIKE ?2 ESCAPE '\\')
               AND (?3 IS NULL OR lower(approvers) LIKE ?3 ESCAPE '\\')
               AND (?4 IS NULL OR session = ?4)
               AND (?5 IS NULL OR state = ?5)
               AND (?6 IS NULL OR lower(json_extract(body, '$.decision.rule')) LIKE ?6 ESCAPE '\\')
             ORDER BY settled DESC, id LIMIT ?7",
            &[
                &before,
                &like(&query.text),
                &like(&query.approver),
                &query.session,
                &query.outcome.map(State::as_str),
                &like(&query.rule),
                &limit,
            ],
        )?;
        Ok(found.into_iter().map(|kept| kept.request).collect())
    }

    /// Takes the arguments out of requests that were settled before `before`, and forgets the oldest:
    /// nobody needs them any more, and they may hold secrets.
    pub(super) fn tidy(&mut self, before: UnixMillis) -> Result<(), Problem> {
        let old = self.query(
            "SELECT body, told FROM requests WHERE settled < ?1 AND tidy = 0 LIMIT 500",
            &[&whole(before)],
        )?;
        let transaction = self.connection.transaction().map_err(unusable)?;
        for Kept { mut request, .. } in old {
            request.asked.input.clear();
            request.asked.context = Context::default();
            request.texts.clear();
            request.original = request.original.map(|_| serde_json::Map::new());
            let body = body_of(&request)?;
            transaction
                .execute(
                    "UPDATE requests SET body = ?2, tidy = 1 WHERE id = ?1",
                    params![request.id, body],
                )
                .map_err(unusable)?;
        }
        transaction
            .execute(
                "DELETE FROM requests WHERE settled <=
                   (SELECT settled FROM requests WHERE settled IS NOT NULL
                    ORDER BY settled DESC LIMIT 1 OFFSET ?1)",
                [MAX_KEPT],
            )
            .map_err(unusable)?;
        transaction.commit().map_err(unusable)?;
        // The log still holds every page as it was. If somebody reads just now, the next time does.
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(unusable)
    }

    fn query(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Kept>, Problem> {
        let rows: Result<Vec<Result<Kept, Problem>>, rusqlite::Error> = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut query| query.query_map(values, kept)?.collect());
        // One that an older or a newer version wrote cannot be answered; it keeps no other from it.
        Ok(rows.map_err(unusable)?.into_iter().flatten().collect())
    }
}

/// Notes who is told how a request ended; false if somebody else was before.
fn note_told(connection: &Connection, id: &str, told: &str) -> Result<bool, Problem> {
    connection
        .prepare_cached(
            "UPDATE requests SET told = ?2 WHERE id = ?1 AND told IS NULL AND state != 'pending'",
        )
        .and_then(|mut update| update.execute(params![id, told]))
        .map(|changed| changed > 0)
        .map_err(unusable)
}

/// Values are bound, never written into a statement. What is deleted is overwritten: arguments may
/// hold secrets.
const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    CREATE TABLE IF NOT EXISTS requests (
        id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        session TEXT NOT NULL,
        origin TEXT NOT NULL,
        opened INTEGER NOT NULL,
        expires INTEGER,
        settled INTEGER,
        approvers TEXT,
        told TEXT,
        version INTEGER NOT NULL,
        tidy INTEGER NOT NULL DEFAULT 0,
        words TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS waiting ON requests (state, expires);
    CREATE INDEX IF NOT EXISTS identical ON requests (origin);
    CREATE INDEX IF NOT EXISTS ended ON requests (settled);
";

fn kept(row: &Row<'_>) -> rusqlite::Result<Result<Kept, Problem>> {
    let body: String = row.get(0)?;
    let told = row.get(1)?;
    Ok(serde_json::from_str(&body)
        .map(|request| Kept { request, told })
        .map_err(|error| Problem(format!("a kept request cannot be read ({error})"))))
}

fn body_of(request: &Request) -> Result<String, Problem> {
    serde_json::to_string(request)
        .map_err(|error| Problem(format!("the request cannot be written ({error})")))
}

/// What a search looks at: words that are shown, never the arguments as they are.
fn words_of(request: &Request) -> String {
    let decision = &request.decision;
    [
        request.id.as_str(),
        &request.asked.tool,
        &request.asked.agent,
        &request.asked.session,
        &request.display.summary,
        decision.rule.as_deref().unwrap_or_default(),
        request
            .settled
            .as_ref()
            .map_or("", |settled| settled.reason.as_str()),
        request.state.as_str(),
    ]
    .join("\n")
    .to_lowercase()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

fn whole(moment: UnixMillis) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

fn counted(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

fn unusable(error: rusqlite::Error) -> Problem {
    let advice = match is_damaged(&error) {
        true => "stop the daemon, move its approvals.db away and start it again",
        false => "check the disk",
    };
    Problem(format!("the requests cannot be kept ({error}): {advice}"))
}

/// Whether what is on the disk is no database, or no longer a whole one.
fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseCorrupt | NotADatabase)
    )
}

/// A state that ended.
pub(super) fn is_final(state: State) -> bool {
    state != State::Pending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_store_says_what_to_do() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("approvals.db");
        std::fs::write(&path, vec![b'x'; 8192]).unwrap();
        let Err(Problem(text)) = Store::open(&path) else {
            panic!("it was opened");
        };
        assert!(text.contains("move this file"), "{text}");
        assert!(text.contains("approvals.db"), "{text}");
    }
}
