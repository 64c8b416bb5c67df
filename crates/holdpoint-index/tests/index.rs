//! The index finds what reading the whole ledger finds, whatever happened to either.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use holdpoint_core::{Risk, Verdict};
use holdpoint_index::{Anew, Index, Keep};
use holdpoint_ledger::{
    Filter, Item, Kind, Needle, Pattern, Position, Query, Stats, Timestamp, segment_name,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Whatever a test fails with.
type Failed = Box<dyn std::error::Error>;

/// Everything a query hands over, and where it ended.
#[derive(Debug, PartialEq)]
struct Answers {
    records: Vec<(Position, Vec<u8>)>,
    unreadable: Vec<String>,
    end: Position,
}

type Each<'a> = &'a mut dyn FnMut(Item<'_>) -> Result<(), Failed>;

fn found(run: impl FnOnce(Each<'_>) -> Result<Position, Failed>) -> Answers {
    let (mut records, mut unreadable) = (Vec::new(), Vec::new());
    let end = run(&mut |item| {
        match item {
            Item::Record(_, line) => records.push((line.place, line.bytes.to_vec())),
            Item::Unreadable(why) => unreadable.push(why),
        }
        Ok(())
    });
    Answers {
        records,
        unreadable,
        end: end.unwrap(),
    }
}

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.ledger()).unwrap();
        home
    }

    fn ledger(&self) -> PathBuf {
        self.0.path().join("ledger")
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("cache/index.sqlite")
    }

    fn segment(&self, number: u32) -> PathBuf {
        self.ledger().join(segment_name(number))
    }

    fn append(&self, number: u32, lines: &[String]) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.segment(number))
            .unwrap();
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
    }

    fn index(&self) -> Index {
        Index::open(&self.ledger(), &self.file(), Keep::Sound, &mut |_, _| {}).unwrap()
    }

    /// Both ways to ask give the same.
    fn same(&self, index: &Index, query: &Query) -> Answers {
        let scanned = found(|each| query.scan(&self.ledger(), each));
        let indexed = found(|each| index.query(query, each));
        assert_eq!(scanned, indexed, "{query:?}");
        if query.filter.texts.is_empty() && query.last.is_none() {
            let mut by_index = Stats::default();
            index
                .briefs(&query.filter, &mut |record| by_index.add(record))
                .unwrap();
            let mut by_scan = Stats::default();
            query
                .scan(&self.ledger(), &mut |item| -> Result<(), Failed> {
                    if let Item::Record(record, _) = item {
                        by_scan.add(record);
                    }
                    Ok(())
                })
                .unwrap();
            assert_eq!(by_scan, by_index, "{query:?}");
        }
        scanned
    }

    fn all(&self, index: &Index) -> usize {
        self.same(index, &Query::default()).records.len()
    }
}

fn decision(seq: u64) -> String {
    json!({
        "v": 1, "seq": seq, "prev": "", "time": format!("2026-11-16T03:40:{:02}Z", seq % 60),
        "kind": "decision", "tool": "Bash", "verdict": "ask",
        "input": {"command": "echo sesame"},
    })
    .to_string()
}

fn decisions(numbers: std::ops::Range<u64>) -> Vec<String> {
    numbers.map(decision).collect()
}

#[test]
fn new_records_are_added_and_old_ones_not_read_again() {
    let home = Home::new();
    home.append(1, &decisions(0..10));
    let index = home.index();
    assert_eq!((index.anew, index.records), (Some(Anew::First), 10));
    assert_eq!(home.all(&index), 10);
    home.append(1, &decisions(10..15));
    home.append(2, &decisions(15..20));
    let index = home.index();
    assert_eq!((index.anew, index.records), (None, 20));
    assert_eq!(home.all(&index), 20);
    let index = home.index();
    assert_eq!((index.anew, index.records), (None, 20));
}

#[test]
fn a_record_without_an_end_is_left_for_the_next_time() {
    let home = Home::new();
    home.append(1, &decisions(0..3));
    let half = decision(3);
    let (first, rest) = half.split_at(20);
    let append = |text: &str| {
        let mut file = OpenOptions::new()
            .append(true)
            .open(home.segment(1))
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(first);
    assert_eq!(home.all(&home.index()), 3);
    append(&format!("{rest}\n"));
    let index = home.index();
    assert_eq!(index.anew, None);
    assert_eq!(home.all(&index), 4);
}

#[test]
fn a_ledger_that_was_changed_underneath_is_indexed_anew() {
    type Change = fn(&Home);
    let changes: [Change; 5] = [
        // The last record is another.
        |home| {
            let text = fs::read_to_string(home.segment(2)).unwrap();
            let text = text.replace("\"seq\":9,", "\"seq\":8,") + &decision(10) + "\n";
            fs::write(home.segment(2), text).unwrap();
        },
        // It is shorter.
        |home| {
            let text = fs::read(home.segment(2)).unwrap();
            fs::write(home.segment(2), &text[..text.len() / 2]).unwrap();
        },
        // A record in the middle is another, of the same length.
        |home| {
            let text = fs::read_to_string(home.segment(1)).unwrap();
            fs::write(home.segment(1), text.replacen("\"ask\"", "\"no!\"", 1)).unwrap();
        },
        // A segment is gone.
        |home| fs::remove_file(home.segment(1)).unwrap(),
        // All of it is.
        |home| {
            fs::remove_dir_all(home.ledger()).unwrap();
            fs::create_dir(home.ledger()).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let home = Home::new();
        home.append(1, &decisions(0..5));
        home.append(2, &decisions(5..10));
        home.index();
        // Some systems tell the time of a change in ticks of a few milliseconds.
        thread::sleep(std::time::Duration::from_millis(20));
        change(&home);
        let index = home.index();
        assert_eq!(index.anew, Some(Anew::LedgerChanged), "change {number}");
        home.all(&index);
    }
}

#[test]
fn a_damaged_index_is_made_anew() {
    type Damage<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;
    let damages: [Damage<'_>; 4] = [
        &|_| b"no database at all, but long enough to look like one ".repeat(40),
        &|bytes| bytes[..bytes.len() / 2].to_vec(),
        &|bytes| {
            let mut bytes = bytes.to_vec();
            bytes[100..3000].fill(0xaa);
            bytes
        },
        &|bytes| {
            let mut bytes = bytes.to_vec();
            bytes[..16].fill(0);
            bytes
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let home = Home::new();
        home.append(1, &decisions(0..50));
        drop(home.index());
        let bytes = fs::read(home.file()).unwrap();
        fs::write(home.file(), damage(&bytes)).unwrap();
        let index = home.index();
        assert_eq!(index.anew, Some(Anew::Damaged), "damage {number}");
        assert_eq!(home.all(&index), 50);
    }
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let home = Home::new();
    home.append(1, &decisions(0..3));
    drop(home.index());
    let connection = rusqlite::Connection::open(home.file()).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let index = home.index();
    assert_eq!(index.anew, Some(Anew::First));
    assert_eq!(home.all(&index), 3);
}

#[test]
fn the_database_is_a_current_one() {
    assert!(rusqlite::version_number() >= 3_051_003);
}

#[test]
fn the_index_holds_no_arguments_and_is_private() {
    let home = Home::new();
    home.append(1, &decisions(0..100));
    drop(home.index());
    for entry in fs::read_dir(home.file().parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(
            !bytes.windows(6).any(|bytes| bytes == b"sesame"),
            "{path:?}"
        );
        is_private(&path);
    }
}

#[cfg(unix)]
fn is_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{path:?}");
}

#[cfg(not(unix))]
fn is_private(_path: &Path) {}

#[test]
fn many_ask_while_somebody_writes() {
    let home = Home::new();
    home.append(1, &decisions(0..200));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let index = home.index();
                    let found = found(|each| index.query(&Query::default(), each));
                    assert_eq!(found.records.len() as u64, index.records);
                    assert!(found.records.len() >= 200);
                }
            });
        }
        scope.spawn(|| {
            for number in 200..260 {
                home.append(1, &[decision(number)]);
            }
        });
    });
    let index = home.index();
    assert_eq!(home.all(&index), 260);
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        4 => prop::sample::select(words).prop_map(Value::from),
    ]
}

const AGENTS: &[&str] = &["claude-code", "codex", "claude*", ""];
const TOOLS: &[&str] = &["Bash", "bash", "Read", "mcp__x__y"];
const RULES: &[&str] = &["git.push", "git.force", "files.[secret]", "x'y\"z"];
const SESSIONS: &[&str] = &["s-1", "s-2", "ß"];

fn line() -> impl Strategy<Value = String> {
    let kinds: Vec<Value> = Kind::ALL.iter().map(|kind| json!(kind)).collect();
    let record = (
        (
            0u64..40,
            prop_oneof![
                9 => (0u64..20).prop_map(|s| format!("2026-11-16T03:40:{s:02}.000000Z")),
                1 => Just("noon".to_owned()),
            ],
            prop::sample::select(kinds),
        ),
        (word(AGENTS), word(SESSIONS), word(TOOLS), word(RULES)),
        (
            word(&["allow", "notify", "ask", "review", "deny"]),
            word(&["none", "low", "high", "critical"]),
            word(&["guard", "default"]),
            word(&["find me", "Not Me", "größe"]),
            prop::option::of(0u64..5_000_000),
        ),
    )
        .prop_map(|((seq, time, kind), (agent, session, tool, rule), rest)| {
            let (verdict, risk, method, reason, duration) = rest;
            let mut record = json!({
                "v": 1, "seq": seq, "prev": "", "time": time, "kind": kind, "agent": agent,
                "session": session, "tool": tool, "rule": rule, "verdict": verdict,
                "risk": risk, "method": method, "reason": reason, "duration_us": duration,
            });
            let members = record.as_object_mut().unwrap();
            members.retain(|_, value| !value.is_null());
            record.to_string()
        });
    prop_oneof![
        12 => record,
        1 => prop::sample::select(vec!["", "{}", "no record", "{\"v\":1", "\u{1b}"])
            .prop_map(str::to_owned),
    ]
}

fn patterns(words: &'static [&'static str]) -> impl Strategy<Value = Vec<Pattern>> {
    let globs = prop::sample::select(vec!["*", "git.*", "?ash", "*c*", "s-[12]", "nothing"]);
    let one = prop_oneof![prop::sample::select(words), globs];
    let several = prop::collection::vec(one.prop_map(Pattern::new), 1..3);
    prop_oneof![3 => Just(Vec::new()), 1 => several]
}

fn some<T: Clone + std::fmt::Debug + 'static>(all: Vec<T>) -> impl Strategy<Value = Vec<T>> {
    let count = all.len();
    prop_oneof![3 => Just(Vec::new()), 1 => prop::sample::subsequence(all, 1..=count)]
}

fn query() -> impl Strategy<Value = Query> {
    let at = |seconds: u64| Timestamp::parse(&format!("2026-11-16T03:40:{seconds:02}Z")).unwrap();
    let verdicts = vec![Verdict::Allow, Verdict::Ask, Verdict::Deny];
    let texts = vec!["FIND", "Größe", "bash", "deny"];
    (
        (
            prop::option::weighted(0.2, (0u64..20).prop_map(at)),
            prop::option::weighted(0.2, (0u64..20).prop_map(at)),
            prop::option::weighted(0.2, 0u64..40),
            prop::option::weighted(0.2, 0u64..40),
        ),
        (
            some(Kind::ALL.to_vec()),
            some(verdicts),
            some(vec![Risk::None, Risk::High]),
            prop_oneof![4 => Just(Vec::new()), 1 => prop::sample::subsequence(texts, 1..=2)],
        ),
        (
            patterns(AGENTS),
            patterns(SESSIONS),
            patterns(TOOLS),
            patterns(RULES),
        ),
        (prop::option::of(0usize..12), any::<bool>()),
    )
        .prop_map(|(range, words, names, (last, newest_first))| Query {
            filter: Filter {
                since: range.0,
                until: range.1,
                first: range.2,
                last: range.3,
                kinds: words.0,
                verdicts: words.1,
                risks: words.2,
                texts: words.3.into_iter().map(Needle::new).collect(),
                agents: names.0,
                sessions: names.1,
                tools: names.2,
                rules: names.3,
            },
            last,
            newest_first,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_filter_finds_the_same_with_and_without_an_index(
        segments in prop::collection::vec(prop::collection::vec(line(), 0..25), 1..4),
        later in prop::collection::vec(line(), 0..10),
        queries in prop::collection::vec(query(), 8),
    ) {
        let home = Home::new();
        let mut last = 1;
        for (number, lines) in (1..).zip(&segments) {
            home.append(number, lines);
            last = number;
        }
        home.index();
        home.append(last, &later);
        let index = home.index();
        for query in &queries {
            home.same(&index, query);
        }
    }
}
