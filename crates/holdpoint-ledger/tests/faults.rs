//! An operating system that refuses: each request of the writer in turn, and the real one where a
//! test can make it. Each time there is one clear line, nothing half-written, and everything works
//! once the fault is gone.
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

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use holdpoint_ledger::{Durability, EntryRef, Ledger, LedgerError, Options};
use support::{
    Event, Scripted, assert_intact, is_torn, mends, named, names, scratch, segments, signing,
    small, verified,
};

const EIO: i32 = 5;
const EMFILE: i32 = 24;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

/// One line that names a file of the ledger and says what to do, and repeats nothing recorded.
#[track_caller]
fn check_message(error: &LedgerError, directory: &Path) {
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    assert!(text.starts_with(directory.to_str().unwrap()), "{text}");
    assert!(!text.contains("because"), "{text}");
    assert!(!text.contains("os error"), "{text}");
    let (_, advice) = text.rsplit_once(": ").unwrap();
    assert!(advice.len() > 10 && !error.code().is_empty(), "{text}");
}

/// The appends of a small ledger that goes through two segments, each told apart.
fn appended(directory: &Path, system: &Scripted) -> (Vec<String>, Vec<LedgerError>) {
    let ledger = small(directory, 1_500).on(system);
    let impatient = signing(directory, 1_500, Duration::ZERO).on(system);
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for count in 0..5 {
        let name = format!("a{count}");
        let entry = named(&name, 600);
        let appended = match count {
            2 => ledger.append_signed(&[EntryRef::Whole(&entry)], Durability::Written),
            3 => impatient.append(&entry, Durability::Written),
            _ => ledger.append(&entry, Durability::Written),
        };
        match appended {
            Ok(_) => done.push(name),
            Err(error) => errors.push(error),
        }
    }
    (done, errors)
}

#[test]
fn every_request_may_fail_once_or_from_then_on() {
    let requests = {
        let home = scratch();
        let system = Scripted::well();
        appended(home.path(), &system);
        system.count.get()
    };
    assert!(requests > 50, "{requests}");
    let numbers = [ENOSPC, EIO, EROFS, EMFILE, EFBIG];
    let events = numbers
        .into_iter()
        .flat_map(|number| [Event::Fail(number), Event::FailHalfway(number)])
        .chain([Event::Short]);
    for event in events {
        for lasting in [false, true] {
            for at in 0..requests {
                let place = format!("request {at}, {event:?}, lasting {lasting}");
                let home = scratch();
                let system = Scripted::new(at, event, lasting);
                let (mut done, errors) = appended(home.path(), &system);
                for error in &errors {
                    check_message(error, home.path());
                }
                // A record that could not be taken back is one nobody was told of.
                assert_intact(home.path());
                assert!(lasting || !is_torn(home.path()), "{place}");
                let there = names(home.path());
                assert!(done.iter().all(|name| there.contains(name)), "{place}");
                assert!(lasting || there == done, "{place}: {there:?} but {done:?}");
                let torn = is_torn(home.path());
                small(home.path(), 1_500)
                    .append(&named("last", 600), Durability::Written)
                    .unwrap();
                done.push("last".into());
                assert_intact(home.path());
                assert!(!is_torn(home.path()), "{place}");
                assert!(mends(home.path(), "torn") >= usize::from(torn), "{place}");
                let there = names(home.path());
                assert!(done.iter().all(|name| there.contains(name)), "{place}");
                assert!(there.len() <= done.len() + errors.len(), "{place}");
            }
        }
    }
}

#[test]
fn a_record_that_does_not_reach_the_disk_is_an_error() {
    let home = scratch();
    let well = Scripted::well();
    let ledger = small(home.path(), 1 << 20);
    ledger
        .append(&named("a", 600), Durability::Written)
        .unwrap();
    let ledger = ledger.on(&well);
    ledger.append(&named("b", 600), Durability::Synced).unwrap();
    let system = Scripted::new(well.count.get() - 1, Event::Fail(EIO), false);
    let error = small(home.path(), 1 << 20)
        .on(&system)
        .append(&named("c", 600), Durability::Synced)
        .unwrap_err();
    assert_eq!(error.code(), "not_synced");
    check_message(&error, home.path());
    assert_intact(home.path());
}

#[test]
fn a_disk_that_fails_while_it_is_signed_is_an_error_for_who_waits_for_it() {
    for (durability, fails) in [(Durability::Written, false), (Durability::Synced, true)] {
        let home = scratch();
        small(home.path(), 1 << 20)
            .append(&named("a", 600), Durability::Written)
            .unwrap();
        // Which request the wait for the disk is.
        let well = Scripted::well();
        let copy = scratch();
        for entry in std::fs::read_dir(home.path()).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
        let ledger = signing(copy.path(), 1 << 20, Duration::ZERO).on(&well);
        ledger.append(&named("b", 600), durability).unwrap();
        // Behind it come only the four of the note.
        let sync = well.count.get() - 1 - 4;
        let system = Scripted::new(sync, Event::Fail(EIO), false);
        let ledger = signing(home.path(), 1 << 20, Duration::ZERO).on(&system);
        let appended = ledger.append(&named("b", 600), durability);
        assert!(system.was_hit());
        assert_eq!(appended.is_err(), fails, "{durability:?}");
        if let Err(error) = appended {
            assert_eq!(error.code(), "not_synced");
        }
        assert_intact(home.path());
    }
}

#[test]
fn a_clock_that_goes_back_is_refused_until_a_person_accepts_it() {
    let home = scratch();
    let system = Scripted::well();
    let ledger = small(home.path(), 1 << 20).on(&system);
    ledger
        .append(&named("a", 600), Durability::Written)
        .unwrap();
    // A little is put up with: the ledger's time stands still.
    system.clock.set(-30);
    ledger
        .append(&named("b", 600), Durability::Written)
        .unwrap();
    system.clock.set(-7_200);
    let error = ledger
        .append(&named("c", 600), Durability::Written)
        .unwrap_err();
    assert_eq!(error.code(), "clock_went_back");
    check_message(&error, home.path());
    assert_eq!(ledger.checkpoint().unwrap_err().code(), "clock_went_back");
    // That it was refused is on record all the same.
    ledger.append_refusal(&named("refused", 600)).unwrap();
    assert_intact(home.path());
    ledger.repair().unwrap();
    ledger
        .append(&named("d", 600), Durability::Written)
        .unwrap();
    assert_intact(home.path());
    assert_eq!(names(home.path()), ["a", "b", "refused", "d"]);
    assert_eq!(mends(home.path(), "clock"), 1);
}

#[test]
fn a_key_that_is_gone_stops_the_next_segment_until_a_person_has_a_new_one_made() {
    let home = scratch();
    let ledger = small(home.path(), 1_500);
    for count in 0..2 {
        let entry = named(&format!("a{count}"), 600);
        ledger.append(&entry, Durability::Written).unwrap();
    }
    std::fs::remove_file(home.path().join("key")).unwrap();
    // What lets a call run is recorded even so, unsigned.
    let signed = assert_intact(home.path()).signed;
    let entry = named("release", 200);
    small(home.path(), 1 << 20)
        .append_signed(&[EntryRef::Whole(&entry)], Durability::Written)
        .unwrap();
    assert_eq!(assert_intact(home.path()).signed, signed);
    let error = (0..4)
        .find_map(|_| ledger.append(&named("b", 600), Durability::Written).err())
        .unwrap();
    assert_eq!(error.code(), "no_key");
    check_message(&error, home.path());
    ledger.repair().unwrap();
    for _ in 0..4 {
        ledger
            .append(&named("c", 600), Durability::Written)
            .unwrap();
    }
    ledger.checkpoint().unwrap();
    assert_intact(home.path());
}

// --- The real operating system ---

/// Runs a test of this program in a process of its own, through a shell that prepares it.
fn in_a_process(test: &str, directory: &Path, shell: &str) -> Output {
    Command::new("sh")
        .args(["-c", &format!("{shell} \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("LEDGER", directory)
        .output()
        .unwrap()
}

#[track_caller]
fn check_passed(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && text(&output.stdout).contains("1 passed"),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

/// The directory for a test that runs in a process of its own; none if it was not started so.
fn given() -> Option<std::path::PathBuf> {
    std::env::var_os("LEDGER").map(Into::into)
}

fn appended_until_refused(ledger: &Ledger) -> (usize, LedgerError) {
    for count in 0..100_000 {
        let entry = named(&format!("r{count}"), 1_000);
        if let Err(error) = ledger.append(&entry, Durability::Written) {
            return (count, error);
        }
    }
    panic!("nothing was refused");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_or_ends_the_process_and_nothing_is_half_written() {
    let home = scratch();
    let limited = "trap '' XFSZ; ulimit -f 80; exec";
    check_passed(&in_a_process(
        "under_a_limit_of_file_sizes",
        home.path(),
        limited,
    ));
    let before = names(home.path()).len();
    assert!(before > 10, "{before}");
    // Who does not ignore the signal is ended by it, as by any other.
    let home = scratch();
    let output = in_a_process(
        "under_a_limit_of_file_sizes",
        home.path(),
        "ulimit -f 80; exec",
    );
    assert!(!output.status.success());
    assert_intact(home.path());
    small(home.path(), 8 << 20)
        .append(&named("last", 600), Durability::Written)
        .unwrap();
    assert_intact(home.path());
    assert!(names(home.path()).len() > 10);
}

#[test]
#[ignore = "started by another test"]
fn under_a_limit_of_file_sizes() {
    let Some(directory) = given() else { return };
    let (count, error) = appended_until_refused(&small(&directory, 8 << 20));
    assert_eq!(error.code(), "file_size_limit");
    check_message(&error, &directory);
    assert_intact(&directory);
    assert!(!is_torn(&directory));
    assert_eq!(names(&directory).len(), count);
}

#[test]
fn no_file_left_to_open_is_an_error() {
    let home = scratch();
    check_passed(&in_a_process(
        "without_files_to_open",
        home.path(),
        "ulimit -n 40; exec",
    ));
}

#[test]
#[ignore = "started by another test"]
fn without_files_to_open() {
    let Some(directory) = given() else { return };
    let ledger = small(&directory, 1_500);
    ledger
        .append(&named("a", 600), Durability::Written)
        .unwrap();
    let mut open = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        open.push(file);
    }
    let mut refused = 0;
    // Each file given back lets the writer come one step further.
    loop {
        match ledger.append(&named("b", 600), Durability::Written) {
            Ok(_) => break,
            Err(error) => {
                assert_eq!(error.code(), "too_many_files");
                check_message(&error, &directory);
                refused += 1;
            }
        }
        open.pop().unwrap();
    }
    assert!(refused > 1, "{refused}");
    drop(open);
    assert_intact(&directory);
    assert_eq!(names(&directory), ["a", "b"]);
}

#[test]
fn a_lock_another_process_holds_is_an_error_after_a_while() {
    let home = scratch();
    let ledger = small(home.path(), 1 << 20);
    ledger
        .append(&named("a", 600), Durability::Written)
        .unwrap();
    let mut holder = Command::new("sh")
        .arg("-c")
        .arg("exec 9<>\"$0\"; flock 9 || exit 3; echo held; read -r _")
        .arg(home.path().join("lock"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = [0; 5];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut held).unwrap();
    let impatient = Ledger::at(home.path()).with(Options {
        lock_wait: Duration::from_millis(50),
        ..Options::default()
    });
    let error = impatient
        .append(&named("b", 600), Durability::Written)
        .unwrap_err();
    assert_eq!(error.code(), "lock_held");
    check_message(&error, home.path());
    drop(holder.stdin.take());
    holder.wait().unwrap();
    impatient
        .append(&named("c", 600), Durability::Written)
        .unwrap();
    assert_intact(home.path());
    assert_eq!(names(home.path()), ["a", "c"]);
}

/// A disk of its own for a test, where this process may have one.
fn on_a_disk(test: &str, options: &str) -> Option<Output> {
    let home = scratch();
    let may = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "tmpfs"])
        .arg(home.path())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !may {
        println!("left out: no disk can be mounted here");
        return None;
    }
    let shell = format!(
        "unshare --mount sh -c 'mount -t tmpfs -o {options} tmpfs \"$LEDGER\" && exec \"$0\" \"$@\"'"
    );
    Some(in_a_process(test, home.path(), &shell))
}

#[test]
fn a_full_disk_is_an_error_and_the_refusal_is_on_record() {
    if let Some(output) = on_a_disk("on_a_small_disk", "size=300k") {
        check_passed(&output);
    }
}

#[test]
#[ignore = "started by another test"]
fn on_a_small_disk() {
    let Some(disk) = given() else { return };
    let directory = disk.join("ledger");
    for segment_bytes in [8 << 20, 20_000] {
        let ledger = small(&directory, segment_bytes);
        let (count, error) = appended_until_refused(&ledger);
        assert!(count > 20, "{count}");
        assert_eq!(error.code(), "disk_full");
        check_message(&error, &directory);
        assert_intact(&directory);
        assert!(!is_torn(&directory));
        let mut refusals = 0;
        while refusals < 100 {
            match ledger.append_refusal(&named(&format!("refused{refusals}"), 1_000)) {
                Ok(_) => refusals += 1,
                Err(error) => {
                    assert_eq!(error.code(), "disk_full");
                    break;
                }
            }
            assert_intact(&directory);
        }
        // Eight blocks are kept; a refusal takes a quarter of one.
        assert!(refusals >= 8, "{refusals}");
        assert!(!is_torn(&directory));
        assert_eq!(names(&directory).len(), count + refusals);
        let reserve = || directory.join("reserve").metadata().unwrap().len();
        assert!(reserve() < 32 << 10);
        // Somebody makes room by removing what is no part of the ledger: here, all of it.
        for path in support::files(&directory, "") {
            std::fs::remove_file(path).unwrap();
        }
        ledger
            .append(&named("a", 1_000), Durability::Written)
            .unwrap();
        assert_eq!(reserve(), 32 << 10);
        assert_intact(&directory);
        std::fs::remove_dir_all(&directory).unwrap();
    }
    // The reserve is made whole again as soon as there is room.
    let ballast = disk.join("ballast");
    let ledger = small(&directory, 8 << 20);
    ledger
        .append(&named("a", 1_000), Durability::Written)
        .unwrap();
    std::fs::write(&ballast, vec![7; 1 << 20]).unwrap_err();
    appended_until_refused(&ledger);
    ledger.append_refusal(&named("refused", 1_000)).unwrap();
    let size = || directory.join("reserve").metadata().unwrap().len();
    assert!(size() < 32 << 10);
    std::fs::remove_file(&ballast).unwrap();
    ledger
        .append(&named("later", 1_000), Durability::Written)
        .unwrap();
    assert_eq!(size(), 32 << 10);
    assert_intact(&directory);
}

#[test]
fn a_disk_that_becomes_read_only_is_an_error() {
    if let Some(output) = on_a_disk("on_a_disk_that_becomes_read_only", "size=1m") {
        check_passed(&output);
    }
}

#[test]
#[ignore = "started by another test"]
fn on_a_disk_that_becomes_read_only() {
    let Some(directory) = given() else { return };
    let ledger = small(&directory, 1 << 20);
    ledger
        .append(&named("a", 600), Durability::Written)
        .unwrap();
    let mount = |how: &str| {
        let done = Command::new("mount")
            .args(["-o", &format!("remount,{how}")])
            .arg(&directory)
            .status();
        assert!(done.unwrap().success());
    };
    mount("ro");
    let error = ledger
        .append(&named("b", 600), Durability::Written)
        .unwrap_err();
    assert_eq!(error.code(), "read_only");
    check_message(&error, &directory);
    assert!(ledger.append_refusal(&named("b", 600)).is_err());
    assert_intact(&directory);
    mount("rw");
    ledger
        .append(&named("c", 600), Durability::Written)
        .unwrap();
    assert_intact(&directory);
    assert_eq!(names(&directory), ["a", "c"]);
}

#[test]
fn a_directory_one_may_not_write_is_an_error() {
    // The owner of everything may write everywhere: somebody else has to try.
    let is_root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout == b"0\n");
    let home = scratch();
    let directory = home.path().join("ledger");
    std::fs::create_dir(&directory).unwrap();
    let allow = |mode: &str, path: &Path| {
        let done = Command::new("chmod").arg(mode).arg(path).status();
        assert!(done.unwrap().success());
    };
    allow("755", home.path());
    allow("555", &directory);
    let shell = match is_root {
        true => "exec setpriv --reuid 65534 --regid 65534 --clear-groups",
        false => "exec",
    };
    let started = Command::new("sh")
        .args(["-c", &format!("{shell} \"$0\" --list")])
        .arg(std::env::current_exe().unwrap())
        .output()
        .is_ok_and(|output| output.status.success());
    if !started {
        println!("left out: nobody else can run this");
        return;
    }
    check_passed(&in_a_process(
        "in_a_directory_one_may_not_write",
        &directory,
        shell,
    ));
    allow("755", &directory);
    assert_eq!(support::files(&directory, "").len(), 0);
}

#[test]
#[ignore = "started by another test"]
fn in_a_directory_one_may_not_write() {
    let Some(directory) = given() else { return };
    let error = small(&directory, 1 << 20)
        .append(&named("a", 600), Durability::Written)
        .unwrap_err();
    assert_eq!(error.code(), "not_permitted");
    check_message(&error, &directory);
}

#[test]
fn a_lock_that_is_no_head_is_on_record_and_mended() {
    for garbage in ["x", "S 1 ", &"long".repeat(100)] {
        let home = scratch();
        let ledger = small(home.path(), 1 << 20);
        ledger
            .append(&named("a", 600), Durability::Written)
            .unwrap();
        std::fs::write(home.path().join("lock"), garbage).unwrap();
        assert!(!verified(home.path()).is_intact());
        ledger
            .append(&named("b", 600), Durability::Written)
            .unwrap();
        assert_eq!(mends(home.path(), "no_head"), 1);
        assert!(!verified(home.path()).is_intact());
        ledger.repair().unwrap();
        assert_intact(home.path());
        assert_eq!(segments(home.path()).len(), 1);
    }
}
