//! A rebuildable index over a large ledger, for finding records without reading all of them.
//!
//! It holds what records are found by and where they stand, never their arguments. No hook writes
//! it: whoever asks brings it up to date first. What it finds is read from the ledger and compared
//! with the filter again, so a record is always shown as it is stored. When the ledger is not what
//! was indexed, or the index is damaged, it is made anew. It proves nothing: `Verify` does.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use holdpoint_core::{Risk, Verdict};
use holdpoint_ledger::{
    Fetch, Filter, Item, Kind, LedgerError, MAX_LINE, Pattern, Position, Query, Reader, Record,
    RecordHash, Spot, Timestamp, VERSION as RECORD_VERSION, make_directory, plain_words,
    segment_numbers, segment_path,
};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, params, params_from_iter};

/// The version of the tables. Another one is made anew.
const VERSION: i64 = 1;

/// The longest that another process which brings the index up to date is waited for: reading a million records takes some
/// seconds. Then this is an error, and the ledger itself is read.
const MAX_WAIT: Duration = Duration::from_secs(30);

const TABLES: &str = "
    CREATE TABLE record (
        id INTEGER PRIMARY KEY,
        segment INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        length INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        time INTEGER,
        kind TEXT NOT NULL,
        agent TEXT,
        session TEXT,
        tool TEXT,
        verdict TEXT,
        method TEXT,
        rule TEXT,
        risk TEXT,
        duration INTEGER
    ) STRICT;
    CREATE INDEX record_seq ON record (seq);
    CREATE INDEX record_time ON record (time);
    CREATE INDEX record_session ON record (session) WHERE session IS NOT NULL;
    CREATE INDEX record_rule ON record (rule) WHERE rule IS NOT NULL;
    CREATE TABLE unreadable (
        id INTEGER PRIMARY KEY,
        segment INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        length INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE segment (
        number INTEGER PRIMARY KEY,
        size INTEGER NOT NULL,
        changed INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        segment INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        last_segment INTEGER NOT NULL,
        last_offset INTEGER NOT NULL,
        last_length INTEGER NOT NULL,
        last_hash BLOB NOT NULL
    ) STRICT;
";

/// Why the index could not be used. The ledger itself still can.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The database refuses.
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    /// Its files cannot be used.
    #[error("{}", plain_words(.0))]
    File(#[from] io::Error),
    /// The ledger cannot be read.
    #[error("{0}")]
    Ledger(#[from] LedgerError),
    /// Another process has been busy with it for long.
    #[error("another process is busy with it")]
    Busy,
}

impl IndexError {
    /// Whether the file is not a sound index, so that a new one helps.
    pub fn is_damage(&self) -> bool {
        match self {
            // What is no failure of the database itself is a table with other columns than ours.
            IndexError::Database(error) => error.sqlite_error_code().is_none_or(|code| {
                code == ErrorCode::DatabaseCorrupt
                    || code == ErrorCode::NotADatabase
                    || code == ErrorCode::Unknown
            }),
            IndexError::File(_) | IndexError::Ledger(_) | IndexError::Busy => false,
        }
    }
}

/// Why an index was made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anew {
    /// There was none, or one of another version.
    First,
    /// The file was damaged.
    Damaged,
    /// The ledger is not what was indexed.
    LedgerChanged,
    /// Somebody asked for it.
    Asked,
}

/// An index that is up to date.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    directory: PathBuf,
    /// Where the indexed records end.
    end: Position,
    /// Why it was made anew, if it was.
    pub anew: Option<Anew>,
    /// How many records it holds.
    pub records: u64,
}

/// Whether a sound index is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// It is, and brought up to date.
    Sound,
    /// A new one is made.
    Nothing,
}

impl Index {
    /// Opens the index of the ledger in `directory` that is kept in `file`, and brings it up to
    /// date. `progress` is told the bytes read and the bytes there are.
    pub fn open(
        directory: &Path,
        file: &Path,
        keep: Keep,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, IndexError> {
        if let Some(parent) = file.parent() {
            make_directory(parent)?;
        }
        // One process at a time makes, mends or removes the file; queries need no turn.
        let _turn = turn(&file.with_extension("lock"))?;
        if keep == Keep::Nothing {
            return Self::made(directory, file, Anew::Asked, progress);
        }
        match Self::updated(directory, file, progress) {
            Ok(Ok(index)) => Ok(index),
            Ok(Err(why)) => Self::made(directory, file, why, progress),
            Err(error) if error.is_damage() => Self::made(directory, file, Anew::Damaged, progress),
            Err(error) => Err(error),
        }
    }

    /// The index that is there, brought up to date, or why a new one is needed.
    fn updated(
        directory: &Path,
        file: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Result<Self, Anew>, IndexError> {
        let mut connection = connect(file)?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != VERSION {
            return Ok(Err(Anew::First));
        }
        let transaction = connection.transaction()?;
        let Some(state) = State::read(&transaction)? else {
            return Ok(Err(Anew::First));
        };
        if !state.still_holds(directory, &transaction)? {
            return Ok(Err(Anew::LedgerChanged));
        }
        let end = read_on(
            directory,
            state.end,
            Some(state.last),
            &transaction,
            progress,
        )?;
        transaction.commit()?;
        Self::ready(connection, directory, end, None).map(Ok)
    }

    /// A new index in place of whatever is there.
    fn made(
        directory: &Path,
        file: &Path,
        why: Anew,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, IndexError> {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let mut name = file.as_os_str().to_owned();
            name.push(ending);
            match fs::remove_file(name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                Ok(()) | Err(_) => {}
            }
        }
        let mut connection = connect(file)?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        let end = read_on(directory, Position::default(), None, &transaction, progress)?;
        transaction.commit()?;
        Self::ready(connection, directory, end, Some(why))
    }

    fn ready(
        connection: Connection,
        directory: &Path,
        end: Position,
        anew: Option<Anew>,
    ) -> Result<Self, IndexError> {
        let records: i64 =
            connection.query_row("SELECT count(*) FROM record", [], |row| row.get(0))?;
        Ok(Self {
            connection,
            directory: directory.to_owned(),
            end,
            anew,
            records: u64::try_from(records).unwrap_or_default(),
        })
    }

    /// Hands over what the query wants, as `Query::scan` does: lines that are no records first,
    /// then the records. Where it ended, so that one can read on from there.
    pub fn query<E: From<LedgerError> + From<IndexError>>(
        &self,
        query: &Query,
        each: &mut dyn FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<Position, E> {
        self.unreadable(each)?;
        let narrowed = Narrowed::by(&query.filter);
        let mut fetch = Fetch::new(&self.directory);
        let filter = &query.filter;
        let newest_first = query.newest_first || query.last.is_some();
        let order = if newest_first { "DESC" } else { "ASC" };
        let sql = format!(
            "SELECT segment, offset, length FROM record {} ORDER BY id {order}",
            narrowed.condition
        );
        let failed = |error: rusqlite::Error| E::from(IndexError::from(error));
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let mut rows = statement
            .query(params_from_iter(&narrowed.values))
            .map_err(failed)?;
        let mut found = 0;
        let mut kept: VecDeque<Spot> = VecDeque::new();
        while query.last.is_none_or(|last| found < last) {
            let Some(row) = rows.next().map_err(failed)? else {
                break;
            };
            let spot = spot(row).map_err(failed)?;
            let wanted = if query.newest_first || query.last.is_none() {
                fetch.hand_over(spot, filter, each)?
            } else {
                // Found from the end, but handed over in order.
                let wanted = fetch
                    .line(spot)?
                    .record()
                    .is_ok_and(|record| filter.matches(&record));
                if wanted {
                    kept.push_front(spot);
                }
                wanted
            };
            found += usize::from(wanted);
        }
        for spot in kept {
            fetch.hand_over(spot, filter, each)?;
        }
        Ok(self.end)
    }

    /// Hands over what the index itself knows of the records that are wanted: everything but
    /// texts, arguments, details and what would have been said of calls that were only observed. A filter that looks for texts needs [`Index::query`].
    pub fn briefs(&self, filter: &Filter, each: &mut dyn FnMut(&Record)) -> Result<(), IndexError> {
        let narrowed = Narrowed::by(filter);
        let sql = format!(
            "SELECT seq, time, kind, agent, session, tool, verdict, method, rule, risk, duration \
             FROM record {} ORDER BY id",
            narrowed.condition
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(&narrowed.values))?;
        while let Some(row) = rows.next()? {
            if let Some(record) = brief(row)?
                && filter.matches(&record)
            {
                each(&record);
            }
        }
        Ok(())
    }

    /// Hands over the lines that are no records.
    pub fn unreadable<E: From<LedgerError> + From<IndexError>>(
        &self,
        each: &mut dyn FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error: rusqlite::Error| E::from(IndexError::from(error));
        let mut statement = self
            .connection
            .prepare("SELECT segment, offset, length FROM unreadable ORDER BY id")
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut fetch = Fetch::new(&self.directory);
        while let Some(row) = rows.next().map_err(failed)? {
            let spot = spot(row).map_err(failed)?;
            if let Err(why) = fetch.line(spot)?.record() {
                each(Item::Unreadable(why))?;
            }
        }
        Ok(())
    }
}

/// Waits until no other process works on the index.
fn turn(path: &Path) -> Result<File, IndexError> {
    let file = private()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) if since.elapsed() > MAX_WAIT => {
                return Err(IndexError::Busy);
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Files for their owner alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

fn connect(file: &Path) -> Result<Connection, IndexError> {
    // Made here, so that it is private; what the database puts beside it is as private.
    private()
        .create(true)
        .truncate(false)
        .write(true)
        .open(file)?;
    let connection = Connection::open(file)?;
    connection.busy_timeout(MAX_WAIT)?;
    // A query in one process does not keep another from bringing the index up to date.
    connection.pragma_update(None, "journal_mode", "wal")?;
    // What a power cut takes is made again.
    connection.pragma_update(None, "synchronous", "off")?;
    Ok(connection)
}

/// The last record that was indexed.
#[derive(Clone, Copy)]
struct Last {
    spot: Spot,
    hash: RecordHash,
}

/// How far the index goes.
struct State {
    end: Position,
    last: Last,
}

impl State {
    fn read(transaction: &Transaction<'_>) -> Result<Option<Self>, IndexError> {
        let found = transaction
            .query_row(
                "SELECT segment, offset, last_segment, last_offset, last_length, last_hash \
                 FROM state",
                [],
                |row| {
                    Ok((
                        Position {
                            segment: row.get(0)?,
                            offset: unsigned(row.get(1)?),
                        },
                        Spot {
                            place: Position {
                                segment: row.get(2)?,
                                offset: unsigned(row.get(3)?),
                            },
                            length: length(row.get(4)?),
                        },
                        row.get::<_, [u8; 32]>(5)?,
                    ))
                },
            )
            .optional()?;
        Ok(found.map(|(end, spot, hash)| Self {
            end,
            last: Last {
                spot,
                hash: RecordHash::from(hash),
            },
        }))
    }

    /// Whether the ledger is still what was indexed: the last record is there, earlier segments
    /// have not been touched, and the last one has changed only by growing.
    fn still_holds(
        &self,
        directory: &Path,
        transaction: &Transaction<'_>,
    ) -> Result<bool, IndexError> {
        let mut statement =
            transaction.prepare("SELECT number, size, changed FROM segment ORDER BY number")?;
        let known = statement.query_map([], |row| {
            Ok((
                row.get::<_, u32>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, i64>(2)?,
            ))
        })?;
        for one in known {
            let (number, size, changed) = one?;
            let now = match fs::metadata(segment_path(directory, number)) {
                Ok(now) => now,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            let same = (size, changed) == (signed(now.len()), change_of(&now));
            let grew = number == self.end.segment && signed(now.len()) > size;
            if !same && !grew {
                return Ok(false);
            }
        }
        let mut fetch = Fetch::new(directory);
        Ok(RecordHash::from_line(fetch.line(self.last.spot)?.bytes) == self.last.hash)
    }
}

/// Indexes what stands after a place, and says where that ends.
fn read_on(
    directory: &Path,
    from: Position,
    mut last: Option<Last>,
    transaction: &Transaction<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Position, IndexError> {
    // Before anything is read: what is written meanwhile counts as growth the next time.
    remember_segments(directory, from, transaction)?;
    let total = Reader::total_bytes(directory)?;
    let mut done = bytes_before(directory, from)?;
    let mut insert = transaction.prepare(
        "INSERT INTO record (segment, offset, length, seq, time, kind, agent, session, tool, \
         verdict, method, rule, risk, duration) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    let mut insert_unreadable = transaction
        .prepare("INSERT INTO unreadable (segment, offset, length) VALUES (?1, ?2, ?3)")?;
    let mut reader = Reader::from(directory, from);
    let mut lines = 0_u64;
    while let Some(line) = reader.next()? {
        let spot = Spot {
            place: line.place,
            length: line.bytes.len(),
        };
        let (segment, offset) = (spot.place.segment, signed(spot.place.offset));
        let size = i64::try_from(spot.length).unwrap_or(i64::MAX);
        match line.record() {
            Ok(record) => insert.execute(params![
                segment,
                offset,
                size,
                signed(record.seq),
                record.timestamp().map(|time| signed(time.micros())),
                record.kind.as_str(),
                record.agent,
                record.session,
                record.tool,
                record.verdict.map(Verdict::as_str),
                record.method,
                record.rule,
                record.risk.map(Risk::as_str),
                record.duration_us.map(signed),
            ])?,
            Err(_) => insert_unreadable.execute(params![segment, offset, size])?,
        };
        last = Some(Last {
            spot,
            hash: RecordHash::from_line(line.bytes),
        });
        done += u64::try_from(spot.length).unwrap_or(u64::MAX) + 1;
        lines += 1;
        if lines.is_multiple_of(1024) {
            progress(done.min(total), total);
        }
    }
    let end = reader.place();
    if let Some(last) = last {
        transaction.execute(
            "INSERT OR REPLACE INTO state VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                end.segment,
                signed(end.offset),
                last.spot.place.segment,
                signed(last.spot.place.offset),
                i64::try_from(last.spot.length).unwrap_or(i64::MAX),
                last.hash.as_bytes(),
            ],
        )?;
    }
    Ok(end)
}

/// Remembers what the segments from a place on look like.
fn remember_segments(
    directory: &Path,
    from: Position,
    transaction: &Transaction<'_>,
) -> Result<(), IndexError> {
    let numbers = match segment_numbers(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        numbers => numbers?,
    };
    for number in numbers.into_iter().filter(|number| *number >= from.segment) {
        let found = fs::metadata(segment_path(directory, number))?;
        transaction.execute(
            "INSERT OR REPLACE INTO segment VALUES (?1, ?2, ?3)",
            params![number, signed(found.len()), change_of(&found)],
        )?;
    }
    Ok(())
}

fn bytes_before(directory: &Path, place: Position) -> Result<u64, IndexError> {
    let mut bytes = place.offset;
    if place.segment > 0 {
        for number in segment_numbers(directory)? {
            if number < place.segment {
                bytes += fs::metadata(segment_path(directory, number))?.len();
            }
        }
    }
    Ok(bytes)
}

/// When a file was last changed, as finely as the system knows it.
fn change_of(file: &fs::Metadata) -> i64 {
    let since = file
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

fn spot(row: &rusqlite::Row<'_>) -> rusqlite::Result<Spot> {
    Ok(Spot {
        place: Position {
            segment: row.get(0)?,
            offset: unsigned(row.get(1)?),
        },
        length: length(row.get(2)?),
    })
}

/// A record as far as the index knows it; none if a word in it is not one of ours.
fn brief(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<Record>> {
    let kind: String = row.get(2)?;
    let Some(kind) = Kind::ALL.into_iter().find(|one| one.as_str() == kind) else {
        return Ok(None);
    };
    let time: Option<i64> = row.get(1)?;
    let verdict: Option<String> = row.get(6)?;
    let risk: Option<String> = row.get(9)?;
    Ok(Some(Record {
        v: RECORD_VERSION,
        seq: unsigned(row.get(0)?),
        prev: String::new(),
        time: time.map_or_else(String::new, |micros| {
            Timestamp::from_micros(unsigned(micros)).to_string()
        }),
        kind,
        agent: row.get(3)?,
        session: row.get(4)?,
        directory: None,
        tool: row.get(5)?,
        verdict: verdict.and_then(|word| Verdict::from_word(&word)),
        observed: None,
        method: row.get(7)?,
        rule: row.get(8)?,
        risk: risk.and_then(|word| Risk::from_word(&word)),
        reason: None,
        part: None,
        call: None,
        policy: None,
        input: None,
        approver: None,
        duration_us: row.get::<_, Option<i64>>(10)?.map(unsigned),
        sandbox: None,
        detail: None,
    }))
}

/// A condition that holds for every record a filter wants, and for few others.
struct Narrowed {
    condition: String,
    values: Vec<Sql>,
}

impl Narrowed {
    fn by(filter: &Filter) -> Self {
        let mut parts = Vec::new();
        let mut values = Vec::new();
        let mut compare = |column: &str, value: Option<i64>| {
            if let Some(value) = value {
                parts.push(format!("{column} ?"));
                values.push(Sql::Integer(value));
            }
        };
        compare("seq >=", filter.first.map(signed));
        compare("seq <=", filter.last.map(signed));
        compare("time >=", filter.since.map(|time| signed(time.micros())));
        compare("time <", filter.until.map(|time| signed(time.micros())));
        let kinds = filter.kinds.iter().map(|kind| kind.as_str());
        let verdicts = filter.verdicts.iter().map(|verdict| verdict.as_str());
        let risks = filter.risks.iter().map(|risk| risk.as_str());
        let mut one_of = |column: &str, words: Option<Vec<&str>>| {
            let Some(words) = words.filter(|words| !words.is_empty()) else {
                return;
            };
            let places = vec!["?"; words.len()].join(", ");
            parts.push(format!("{column} IN ({places})"));
            values.extend(words.iter().map(|word| Sql::Text((*word).to_owned())));
        };
        one_of("kind", Some(kinds.collect()));
        one_of("verdict", Some(verdicts.collect()));
        one_of("risk", Some(risks.collect()));
        one_of("agent", literals(&filter.agents));
        one_of("session", literals(&filter.sessions));
        one_of("tool", literals(&filter.tools));
        one_of("rule", literals(&filter.rules));
        let condition = match parts.as_slice() {
            [] => String::new(),
            parts => format!("WHERE {}", parts.join(" AND ")),
        };
        Self { condition, values }
    }
}

/// The texts patterns stand for, if none of them is more than one text.
fn literals(patterns: &[Pattern]) -> Option<Vec<&str>> {
    patterns.iter().map(Pattern::literal).collect()
}

/// The database's numbers have a sign. One that is too large is cut, in the index and in what is
/// asked of it alike, so that nothing is missed.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn length(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default().min(MAX_LINE)
}
