//! Processes that end in the middle of an append: by `kill -9` at random moments, and at each
//! single step of the protocol. What was acknowledged stays, the chain holds, what is torn is
//! repaired on record.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test may fail loudly"
)]

mod support;

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use holdpoint_ledger::{Durability, EntryRef, Kind, LedgerError};
use support::{
    Event, Scripted, alive, assert_intact, is_torn, mends, name_of, named, names, records, scratch,
    signing, small,
};

const PROCESSES: usize = 16;

/// The size of records, and of the segments they go to.
const SIZES: [(usize, u64); 4] = [
    (300, 64 << 10),
    (2 << 10, 256 << 10),
    (16 << 10, 1 << 20),
    (60 << 10, 2 << 20),
];

/// `HOLDPOINT_KILLS=100000` makes it the long form.
fn kills_wanted() -> usize {
    std::env::var("HOLDPOINT_KILLS").map_or(2_048, |text| text.parse().unwrap())
}

#[test]
fn killed_processes_lose_nothing_they_acknowledged() {
    let generations = kills_wanted().div_ceil(PROCESSES * SIZES.len());
    for (size, segment_bytes) in SIZES {
        // On the disk: there a write goes page by page, and is torn between two of them.
        let home = tempfile::tempdir().unwrap();
        let acknowledged: Vec<Vec<String>> = thread::scope(|scope| {
            let slots: Vec<_> = (0..PROCESSES)
                .map(|slot| {
                    let home = home.path();
                    scope.spawn(move || {
                        (0..generations)
                            .flat_map(|generation| {
                                killed(home, &format!("{slot}-{generation}"), size, segment_bytes)
                            })
                            .collect()
                    })
                })
                .collect();
            slots.into_iter().map(|slot| slot.join().unwrap()).collect()
        });
        let torn_at_last = is_torn(home.path());
        let last = named("last", size);
        small(home.path(), segment_bytes)
            .append(&last, Durability::Written)
            .unwrap();
        let kills = generations * PROCESSES;
        check_all_there(home.path(), &acknowledged.concat(), kills);
        let repaired = mends(home.path(), "torn");
        assert!(repaired > 0 || !torn_at_last);
        println!(
            "{size} bytes: {kills} kills, {} acknowledged, {repaired} torn records repaired, \
             {} segments",
            acknowledged.concat().len(),
            support::segments(home.path()).len()
        );
    }
}

/// Starts a process that appends, kills it at a random moment, and tells what it acknowledged.
fn killed(directory: &Path, name: &str, size: usize, segment_bytes: u64) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "appends_until_killed",
            "--ignored",
            "--nocapture",
        ])
        .env("LEDGER", directory)
        .env("NAME", name)
        .env("SIZE", size.to_string())
        .env("SEGMENT_BYTES", segment_bytes.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut told = String::new();
    while !told.ends_with("ready\n") {
        assert_ne!(output.read_line(&mut told).unwrap(), 0, "it did not start");
    }
    // After some records, at any moment of the next one.
    let [some, high, low] = random();
    for _ in 0..some % 8 {
        assert_ne!(output.read_line(&mut told).unwrap(), 0, "{told}");
    }
    let moment = u64::from(u16::from_le_bytes([high, low])) / 64;
    thread::sleep(Duration::from_micros(moment));
    child.kill().unwrap();
    child.wait().unwrap();
    output.read_to_string(&mut told).unwrap();
    assert!(!told.contains("cannot"), "{told}");
    told.lines()
        .filter_map(|line| line.strip_prefix("done "))
        .map(str::to_owned)
        .collect()
}

fn random() -> [u8; 3] {
    let mut bytes = [0; 3];
    let mut source = std::fs::File::open("/dev/urandom").unwrap();
    source.read_exact(&mut bytes).unwrap();
    bytes
}

/// Not a test: the process the test above starts.
#[test]
#[ignore = "started by another test"]
fn appends_until_killed() {
    let Some(directory) = std::env::var_os("LEDGER") else {
        return;
    };
    let number = |name: &str| std::env::var(name).unwrap().parse().unwrap();
    let name = std::env::var("NAME").unwrap();
    let size = usize::try_from(number("SIZE")).unwrap();
    // Signed every now and then without being asked, too.
    let often = Duration::from_millis(50);
    let ledger = signing(Path::new(&directory), number("SEGMENT_BYTES"), often);
    let mut output = std::io::stdout().lock();
    output.write_all(b"ready\n").unwrap();
    for count in 0u64.. {
        let name = format!("{name}-{count}");
        let entry = named(&name, size);
        let entry = [EntryRef::Whole(&entry)];
        let appended = match count % 4 {
            3 => ledger.append_signed(&entry, Durability::Written),
            _ => ledger.append_all(&entry, Durability::Written),
        };
        let line = match appended {
            Ok(_) => format!("done {name}\n"),
            Err(error) => format!("{error}\n"),
        };
        // One write, so that a line is told whole or not at all.
        output.write_all(line.as_bytes()).unwrap();
        output.flush().unwrap();
    }
}

#[track_caller]
fn check_all_there(directory: &Path, acknowledged: &[String], ended: usize) {
    assert_intact(directory);
    let mut there: HashMap<String, usize> = HashMap::new();
    for name in names(directory) {
        *there.entry(name).or_default() += 1;
    }
    for name in acknowledged {
        assert_eq!(there.get(name), Some(&1), "{name} was acknowledged");
    }
    assert!(there.values().all(|times| *times == 1));
    let told: HashSet<_> = acknowledged.iter().collect();
    let untold = there
        .keys()
        .filter(|name| !told.contains(name) && *name != "last")
        .count();
    assert!(untold <= ended, "{untold} records nobody acknowledged");
}

/// What a writer does in its life, in steps that are each acknowledged or not.
const STEPS: usize = 16;

/// Runs the steps until the process "ends"; what was acknowledged, and whether it ended.
fn life(directory: &Path, system: &Scripted, prefix: &str) -> (Vec<String>, Option<String>) {
    let ledger = small(directory, 2_000).on(system);
    let impatient = signing(directory, 2_000, Duration::ZERO).on(system);
    let mut acknowledged = Vec::new();
    for step in 0..STEPS {
        let name = format!("{prefix}{step}");
        let entry = named(&name, 600);
        let done = alive(|| -> Result<(), LedgerError> {
            match step {
                3 | 8 => ledger.checkpoint().map(drop),
                5 => ledger.append_refusal(&entry).map(drop),
                6 => ledger.repair().map(drop),
                7 => {
                    // Two at once: the second half of the batch may be missing.
                    let second = named(&format!("{name}b"), 900).draft().unwrap();
                    let batch = [EntryRef::Whole(&entry), EntryRef::Draft(&second, None)];
                    ledger.append_all(&batch, Durability::Written).map(drop)
                }
                10 => {
                    let entry = [EntryRef::Whole(&entry)];
                    ledger.append_signed(&entry, Durability::Synced).map(drop)
                }
                11 => impatient.append(&entry, Durability::Synced).map(drop),
                13 => impatient.sign_if_older(Duration::ZERO).map(drop),
                14 => impatient.append(&entry, Durability::Written).map(drop),
                _ => ledger.append(&entry, Durability::Written).map(drop),
            }
        });
        match done {
            None => return (acknowledged, Some(name)),
            Some(outcome) => outcome.unwrap(),
        }
        match step {
            3 | 6 | 8 | 13 => {}
            7 => acknowledged.extend([name.clone(), format!("{name}b")]),
            _ => acknowledged.push(name),
        }
    }
    (acknowledged, None)
}

fn requests_of_a_life() -> usize {
    let home = scratch();
    let system = Scripted::well();
    life(home.path(), &system, "x");
    system.count.get()
}

#[test]
fn a_process_may_end_at_every_step() {
    let requests = requests_of_a_life();
    assert!(requests > 80, "{requests}");
    for at in 0..requests {
        for event in [Event::DieBefore, Event::DieHalfway, Event::DieAfter] {
            let home = scratch();
            let system = Scripted::new(at, event, false);
            let (acknowledged, ended) = life(home.path(), &system, "a");
            let ended = ended.unwrap_or_else(|| panic!("{at} {event:?}: it did not end"));
            let torn = is_torn(home.path());
            // Nothing is wrong even before anybody mends it.
            assert_intact(home.path());
            small(home.path(), 2_000)
                .append(&named("last", 600), Durability::Written)
                .unwrap();
            assert_intact(home.path());
            let there: Vec<String> = names(home.path())
                .into_iter()
                .filter(|name| name.trim_end_matches('b') != ended && name != "last")
                .collect();
            assert_eq!(there, acknowledged, "{at} {event:?}");
            assert_eq!(
                mends(home.path(), "torn"),
                usize::from(torn),
                "{at} {event:?}"
            );
            assert!(!is_torn(home.path()));
        }
    }
}

#[test]
fn a_process_may_end_while_it_repairs_what_another_left() {
    let requests = requests_of_a_life();
    for at in 0..requests {
        let home = scratch();
        let (first, _) = life(
            home.path(),
            &Scripted::new(at, Event::DieHalfway, false),
            "a",
        );
        if !is_torn(home.path()) {
            continue;
        }
        let before: Vec<_> = copied(home.path());
        for second in 0.. {
            for event in [Event::DieBefore, Event::DieHalfway, Event::DieAfter] {
                restore(home.path(), &before);
                let system = Scripted::new(second, event, false);
                let ledger = small(home.path(), 2_000).on(&system);
                let _ = alive(|| {
                    ledger
                        .append(&named("b", 600), Durability::Written)
                        .unwrap()
                });
                if !system.was_hit() {
                    break;
                }
                small(home.path(), 2_000)
                    .append(&named("last", 600), Durability::Written)
                    .unwrap();
                assert_intact(home.path());
                let there = names(home.path());
                assert!(first.iter().all(|name| there.contains(name)));
                assert!(
                    mends(home.path(), "torn") > 0,
                    "{at} {second} {event:?}: the repair was forgotten"
                );
            }
            if second > 12 {
                break;
            }
        }
    }
}

fn copied(directory: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    support::files(directory, "")
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

fn restore(directory: &Path, files: &[(std::path::PathBuf, Vec<u8>)]) {
    for path in support::files(directory, "") {
        std::fs::remove_file(path).unwrap();
    }
    for (path, bytes) in files {
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn a_new_key_made_by_a_process_that_ends_is_on_record_before_it_signs() {
    let requests = {
        let home = scratch();
        let system = Scripted::well();
        new_key(home.path(), &system);
        system.count.get()
    };
    for at in 0..requests {
        for event in [Event::DieBefore, Event::DieHalfway, Event::DieAfter] {
            let home = scratch();
            new_key(home.path(), &Scripted::new(at, event, false));
            // A person finds that nothing can be signed, and says so again.
            small(home.path(), 2_000).repair().unwrap();
            assert_intact(home.path());
            for count in 0..8 {
                small(home.path(), 2_000)
                    .append(&named(&count.to_string(), 600), Durability::Written)
                    .unwrap();
            }
            let found = assert_intact(home.path());
            assert!(found.checkpoints > 3, "{at} {event:?}");
        }
    }
}

/// A ledger at the end of a segment loses its key and gets another.
fn new_key(directory: &Path, system: &Scripted) {
    let ledger = small(directory, 2_000);
    for count in 0..4 {
        let entry = named(&format!("old{count}"), 600);
        ledger.append(&entry, Durability::Written).unwrap();
    }
    std::fs::remove_file(directory.join("key")).unwrap();
    let _ = alive(|| ledger.on(system).repair().unwrap());
}

#[test]
fn records_are_whole_and_in_order_whoever_wrote_them() {
    let home = scratch();
    thread::scope(|scope| {
        for writer in 0..8 {
            let ledger = small(home.path(), 8_000);
            scope.spawn(move || {
                for count in 0..100 {
                    let entry = named(&format!("{writer}-{count}"), 400);
                    ledger.append(&entry, Durability::Written).unwrap();
                }
            });
        }
        // A verification meanwhile finds nothing wrong, whatever the writers are at.
        scope.spawn(|| {
            for _ in 0..100 {
                if home.path().join("lock").exists() {
                    assert_intact(home.path());
                }
            }
        });
    });
    let all = records(home.path());
    let mut last = HashMap::new();
    for name in all.iter().filter_map(name_of) {
        let (writer, count) = name.split_once('-').unwrap();
        let count: i64 = count.parse().unwrap();
        let before = last.insert(writer.to_owned(), count).unwrap_or(-1);
        assert_eq!(count, before + 1, "writer {writer}");
    }
    assert_eq!(last.values().sum::<i64>(), 8 * 99);
    assert!(
        all.iter()
            .filter(|one| one.kind == Kind::Checkpoint)
            .count()
            > 20
    );
}
