//! A ledger somebody changed: the verifier in Rust and the one in Python both find it, and both
//! name the same first bad record. `HOLDPOINT_LONG=1` tries many more places.
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

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use holdpoint_ledger::{
    Durability, EntryRef, PrivateKey, PublicKey, RecordHash, Timestamp, Verify,
};
use sha2::{Digest, Sha256};
use support::{assert_intact, named, scratch, segments, small};
use tempfile::TempDir;

/// The Python verifier, kept running, and with what it read of a line kept: most lines are the same
/// each time.
struct Python {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Python {
    fn start() -> Self {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools");
        let program = "import sys, json\n\
            sys.dont_write_bytecode = True\n\
            sys.path.insert(0, sys.argv[1])\n\
            import functools, verify_ledger as v\n\
            v.record_of = functools.lru_cache(None)(v.record_of)\n\
            for line in sys.stdin:\n\
            \x20   result = v.verify(line.rstrip('\\n'))\n\
            \x20   first = result.faults[0].record if result.faults else None\n\
            \x20   shown = '; '.join(str(fault) for fault in result.faults[:3])\n\
            \x20   print(json.dumps([not result.faults, first, shown]), flush=True)\n";
        let mut child = Command::new("python3")
            .args(["-c", program])
            .arg(tools)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    /// Whether a ledger is intact, the first bad record, and what was found.
    fn verify(&mut self, directory: &Path) -> (bool, Option<u64>, String) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{}", directory.display()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A ledger, its files as they were, and both verifiers.
struct Case {
    home: TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
    python: Python,
    /// Each line: the segment it is in, and its bytes with the line break.
    lines: Vec<(PathBuf, Vec<u8>)>,
    tried: usize,
}

impl Case {
    /// So many records of so many bytes, in segments of about `segment_bytes`, with a checkpoint
    /// in the middle.
    fn new(records: usize, size: usize, segment_bytes: u64) -> Self {
        let home = scratch();
        let ledger = small(home.path(), segment_bytes);
        let mut count = 0;
        while count < records {
            let entry = named(&format!("r{count}"), size);
            let appended = ledger.append(&entry, Durability::Written).unwrap();
            count = usize::try_from(appended.seq).unwrap() + 1;
            if count == records / 2 {
                ledger.checkpoint().unwrap();
            }
        }
        Self::of(home)
    }

    /// A ledger that is there.
    fn of(home: TempDir) -> Self {
        let _ = fs::remove_file(home.path().join("reserve"));
        let files: Vec<_> = support::files(home.path(), "")
            .into_iter()
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        let lines = segments(home.path())
            .into_iter()
            .flat_map(|path| {
                let bytes = fs::read(&path).unwrap();
                let lines: Vec<_> = bytes
                    .split_inclusive(|byte| *byte == b'\n')
                    .map(<[u8]>::to_vec)
                    .collect();
                lines.into_iter().map(move |line| (path.clone(), line))
            })
            .collect();
        let mut case = Self {
            home,
            files,
            python: Python::start(),
            lines,
            tried: 0,
        };
        assert_intact(case.path());
        assert!(case.python.verify(case.home.path()).0);
        case
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn bytes(&self, path: &Path) -> &[u8] {
        let file = self.files.iter().find(|(name, _)| name == path);
        &file.unwrap().1
    }

    /// The segments and where each of their lines starts.
    fn joined(&self, lines: &[(PathBuf, Vec<u8>)]) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all: Vec<(PathBuf, Vec<u8>)> = segments(self.path())
            .into_iter()
            .map(|path| (path, Vec::new()))
            .collect();
        for (path, line) in lines {
            let file = all.iter_mut().find(|(name, _)| name == path).unwrap();
            file.1.extend_from_slice(line);
        }
        all
    }

    /// Puts other lines in the place of all.
    fn with_lines(&mut self, lines: &[(PathBuf, Vec<u8>)], wanted: Wanted, what: &str) {
        for (path, bytes) in self.joined(lines) {
            if self.bytes(&path) != bytes {
                fs::write(&path, bytes).unwrap();
            }
        }
        self.check(wanted, what);
    }

    fn with_file(&mut self, path: &Path, bytes: &[u8], wanted: Wanted, what: &str) {
        fs::write(path, bytes).unwrap();
        self.check(wanted, what);
    }

    /// Demands that both find it, and restores what was.
    #[track_caller]
    fn check(&mut self, wanted: Wanted, what: &str) {
        self.tried += 1;
        let rust = Verify::default()
            .run(self.home.path(), &mut |_, _| {})
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let first = rust.faults.first().and_then(|fault| fault.record);
        assert!(!rust.is_intact(), "{what}: not found");
        wanted.check(first, &format!("{what}: {:?}", rust.faults.first()));
        let (intact, other, shown) = self.python.verify(self.home.path());
        assert!(!intact, "{what}: not found in Python");
        assert_eq!(other, first, "{what}: {shown}: {:?}", rust.faults.first());
        self.restore();
    }

    /// The same with the verifier in Rust alone.
    fn check_rust(&mut self, wanted: Wanted, what: &str) {
        self.tried += 1;
        let rust = Verify::default()
            .run(self.home.path(), &mut |_, _| {})
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(!rust.is_intact(), "{what}: not found");
        let first = rust.faults.first().and_then(|fault| fault.record);
        wanted.check(first, &format!("{what}: {:?}", rust.faults.first()));
    }

    fn restore(&self) {
        for path in support::files(self.path(), "") {
            if !self.files.iter().any(|(name, _)| *name == path) {
                fs::remove_file(path).unwrap();
            }
        }
        for (path, bytes) in &self.files {
            if fs::read(path).ok().as_ref() != Some(bytes) {
                fs::write(path, bytes).unwrap();
            }
        }
    }
}

/// Which record must be named first.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// This one or the one after it.
    Near(usize),
    /// None: it is about a file.
    File,
    /// Any or none.
    Any,
}

impl Wanted {
    #[track_caller]
    fn check(self, first: Option<u64>, what: &str) {
        let first = first.map(|first| usize::try_from(first).unwrap());
        let right = match self {
            Wanted::Near(record) => first == Some(record) || first == Some(record + 1),
            Wanted::File => first.is_none(),
            Wanted::Any => true,
        };
        assert!(right, "{what}: {first:?} was named, wanted {self:?}");
    }
}

fn is_long() -> bool {
    std::env::var_os("HOLDPOINT_LONG").is_some()
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }
}

fn large() -> Case {
    let case = Case::new(2_000, 330, 64 << 10);
    assert!(case.lines.len() >= 2_000);
    case
}

/// A line with its `prev` and `seq` set, as somebody writes it who knows the format.
fn forged(seq: usize, prev: &RecordHash, reason: &str) -> Vec<u8> {
    format!(
        "{{\"v\":1,\"seq\":{seq},\"prev\":\"{prev}\",\"time\":\"2026-11-16T03:40:12.000000Z\",\
         \"kind\":\"decision\",\"verdict\":\"allow\",\"reason\":\"{reason}\"}}\n"
    )
    .into_bytes()
}

fn hash(line: &[u8]) -> RecordHash {
    RecordHash::from_line(line.strip_suffix(b"\n").unwrap())
}

/// Lines from `from` on with their `prev` and `seq` made right again, as far as that is possible
/// without the key.
fn rechained(lines: &mut [(PathBuf, Vec<u8>)], from: usize) {
    for at in from..lines.len() {
        let prev = match at {
            0 => RecordHash::NONE,
            _ => hash(&lines[at - 1].1),
        };
        let text = String::from_utf8(lines[at].1.clone()).unwrap();
        let (start, rest) = text.split_once("\"seq\":").unwrap();
        let (_, rest) = rest.split_once(",\"prev\":\"").unwrap();
        let rest = &rest[64..];
        lines[at].1 = format!("{start}\"seq\":{at},\"prev\":\"{prev}{rest}").into_bytes();
    }
}

/// A settled head for the last of these lines, as somebody writes it who knows the format.
fn head(case: &Case, lines: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let old = String::from_utf8(case.bytes(&case.path().join("lock")).to_vec()).unwrap();
    let time = old.split(' ').nth(6).unwrap();
    let (path, last) = lines.last().unwrap();
    let size = case
        .joined(lines)
        .iter()
        .find(|(name, _)| name == path)
        .map_or(0, |(_, bytes)| bytes.len());
    let segment: u32 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let records = lines.len();
    spelled(&format!(
        "S 1 {segment:08} {size:020} {:020} {records:020} {time} 0 {}",
        records - 1,
        hash(last)
    ))
}

/// The same with the time of the last line.
fn head_in_time(case: &Case, lines: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let last: serde_json::Value = serde_json::from_slice(&lines.last().unwrap().1).unwrap();
    let time = Timestamp::parse(last["time"].as_str().unwrap()).unwrap();
    let head = String::from_utf8(head(case, lines)).unwrap();
    let mut words: Vec<&str> = head.split(' ').collect();
    words.pop();
    let time = format!("{:020}", time.micros());
    words[6] = &time;
    spelled(&words.join(" "))
}

/// A head with its check digits.
fn spelled(text: &str) -> Vec<u8> {
    let digest = Sha256::digest(text);
    let check: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{text} {check}\n").into_bytes()
}

#[test]
fn every_bit_of_a_small_ledger_counts() {
    let mut case = Case::new(5, 300, 1_000);
    let files = case.files.clone();
    let mut random = Random(7);
    for (path, bytes) in &files {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "key" {
            continue;
        }
        let mut changed = bytes.clone();
        let mut start = case
            .lines
            .iter()
            .position(|(file, _)| file == path)
            .unwrap_or(0);
        for place in 0..bytes.len() {
            // Which record the byte belongs to.
            let wanted = match name {
                "lock" | "key.pub" => Wanted::Any,
                _ if name.ends_with(".checkpoint") => Wanted::File,
                _ => Wanted::Near(start),
            };
            for bit in 0..8 {
                let what = format!("{name}, byte {place}, bit {bit}");
                changed[place] ^= 1 << bit;
                fs::write(path, &changed).unwrap();
                // Each is tried in Rust, some in both.
                if is_long() || random.below(40) == 0 {
                    case.check(wanted, &what);
                } else {
                    case.check_rust(wanted, &what);
                }
                changed[place] ^= 1 << bit;
            }
            if bytes[place] == b'\n' {
                start += 1;
            }
        }
        fs::write(path, bytes).unwrap();
    }
    println!("{} bits, both verifiers for one in 40", case.tried);
}

#[test]
fn flipped_bits_anywhere_in_a_large_ledger_are_found_by_both() {
    let mut case = large();
    let mut random = Random(1);
    let rounds = if is_long() { 20_000 } else { 60 };
    for _ in 0..rounds {
        let record = random.below(case.lines.len());
        let mut lines = case.lines.clone();
        let place = random.below(lines[record].1.len());
        let bit = random.below(8);
        lines[record].1[place] ^= 1 << bit;
        let what = format!("record {record}, byte {place}, bit {bit}");
        case.with_lines(&lines, Wanted::Near(record), &what);
    }
}

#[test]
fn records_removed_moved_repeated_or_added_are_found_by_both() {
    let mut case = large();
    let mut random = Random(2);
    let count = case.lines.len();
    let mut places = vec![0, 1, count / 2, count - 2, count - 1];
    let more = if is_long() { 2_000 } else { 5 };
    places.extend((0..more).map(|_| random.below(count)));
    for at in places {
        let mut lines = case.lines.clone();
        lines.remove(at);
        case.with_lines(&lines, Wanted::Near(at), &format!("record {at} removed"));

        let mut lines = case.lines.clone();
        rechained_without(&mut lines, at);
        case.with_lines(
            &lines,
            Wanted::Any,
            &format!("record {at} removed, rechained"),
        );

        if at + 1 < count {
            let mut lines = case.lines.clone();
            let second = lines[at + 1].1.clone();
            lines[at + 1].1 = std::mem::replace(&mut lines[at].1, second);
            case.with_lines(
                &lines,
                Wanted::Near(at),
                &format!("{at} swapped with the next"),
            );
        }
        let other = random.below(count);
        if other != at {
            let mut lines = case.lines.clone();
            let line = lines[other].1.clone();
            lines[other].1 = std::mem::replace(&mut lines[at].1, line);
            let first = at.min(other);
            case.with_lines(
                &lines,
                Wanted::Near(first),
                &format!("{at} and {other} swapped"),
            );
        }
        let mut lines = case.lines.clone();
        lines.insert(at, lines[at].clone());
        case.with_lines(&lines, Wanted::Near(at), &format!("record {at} repeated"));

        let mut lines = case.lines.clone();
        let prev = match at {
            0 => RecordHash::NONE,
            _ => hash(&lines[at - 1].1),
        };
        let path = lines[at].0.clone();
        lines.insert(at, (path, forged(at, &prev, "forged")));
        case.with_lines(
            &lines,
            Wanted::Near(at),
            &format!("a record added before {at}"),
        );

        let mut lines = case.lines.clone();
        let text = String::from_utf8(lines[at].1.clone()).unwrap();
        lines[at].1 = text
            .replacen("because", "pardons", 1)
            .replace("root", "toor")
            .into_bytes();
        if lines[at].1 != case.lines[at].1 {
            rechained(&mut lines, at + 1);
            let what = format!("record {at} changed, all after it chained again");
            case.with_lines(&lines, Wanted::Any, &what);
        }
    }
}

#[test]
fn a_rewritten_tail_is_found_once_it_is_signed() {
    // What stands behind the last signature is what somebody can rewrite who knows the format.
    for signs in ["nothing", "a release", "a minute"] {
        let home = scratch();
        let ledger = small(home.path(), 1 << 20);
        for count in 0..6 {
            let entry = named(&format!("r{count}"), 300);
            ledger.append(&entry, Durability::Written).unwrap();
        }
        let last = named("last", 300);
        match signs {
            "a release" => ledger.append_signed(&[EntryRef::Whole(&last)], Durability::Written),
            "a minute" => support::signing(home.path(), 1 << 20, Duration::ZERO)
                .append(&last, Durability::Written),
            _ => ledger.append(&last, Durability::Written),
        }
        .unwrap();
        let after = named("after", 300);
        ledger.append(&after, Durability::Written).unwrap();
        let mut case = Case::of(home);
        for at in 1..=7 {
            let mut lines = case.lines.clone();
            let text = String::from_utf8(lines[at].1.clone()).unwrap();
            lines[at].1 = text.replacen("claude-code", "anybody-els", 1).into_bytes();
            rechained(&mut lines, at + 1);
            let what = format!("record {at}, signed by {signs}");
            let lock = case.path().join("lock");
            fs::write(&lock, head(&case, &lines)).unwrap();
            for (path, bytes) in case.joined(&lines) {
                fs::write(path, bytes).unwrap();
            }
            match signs {
                "nothing" => assert!(agreed(&mut case, &what), "{what}"),
                _ => case.check(Wanted::Any, &what),
            }
            if signs == "nothing" {
                continue;
            }
            // Nor without the signature, as long as its note is there.
            let mut lines = case.lines.clone();
            lines.truncate(at);
            fs::write(&lock, head_in_time(&case, &lines)).unwrap();
            let notes = signs == "a release";
            for (path, bytes) in case.joined(&lines) {
                fs::write(path, bytes).unwrap();
            }
            match notes {
                // Only the record tells of it.
                true => assert!(agreed(&mut case, &what), "{what}"),
                false => case.check(Wanted::Any, &format!("{what}, cut off")),
            }
        }
        println!("{signs}: {}", case.tried);
    }
}

#[test]
fn a_latest_note_that_is_gone_or_another_is_found() {
    let home = scratch();
    support::signing(home.path(), 1 << 20, Duration::ZERO)
        .append(&named("a", 300), Durability::Written)
        .unwrap();
    let latest = home.path().join("latest.checkpoint");
    let first = fs::read(&latest).unwrap();
    for count in 0..3 {
        let ledger = support::signing(home.path(), 1 << 20, Duration::ZERO);
        ledger
            .append(&named(&format!("{count}"), 300), Durability::Written)
            .unwrap();
    }
    // A writer that was ended leaves the one before, or none.
    let mut case = Case::of(home);
    fs::write(&latest, &first).unwrap();
    assert!(agreed(&mut case, "an older one"));
    fs::remove_file(&latest).unwrap();
    assert!(agreed(
        &mut case,
        "none, the last record being the signature"
    ));
    small(case.path(), 1 << 20)
        .append(&named("b", 300), Durability::Written)
        .unwrap();
    let mut case = Case::of(case.home);
    fs::remove_file(&latest).unwrap();
    case.check(Wanted::File, "none");
    case.with_file(&latest, b"", Wanted::File, "empty");
    fs::write(&latest, b"").unwrap();
    let told = support::verified(case.path()).notes;
    assert!(
        told.iter().any(|note| note.contains("is empty")),
        "{told:?}"
    );
    case.restore();
    case.with_file(&latest, b"x", Wanted::File, "no note");
    let other = PrivateKey::from_seed([9; 32]);
    let forged = holdpoint_ledger::Checkpoint {
        origin: other.public().name().to_owned(),
        size: 0,
        root: holdpoint_ledger::Tree::default().root(),
        time: None,
    };
    let forged = forged.sign(&other);
    case.with_file(&latest, forged.as_bytes(), Wanted::File, "of another key");
    // The next writer keeps a new one.
    fs::remove_file(&latest).unwrap();
    small(case.path(), 1 << 20)
        .append(&named("c", 300), Durability::Written)
        .unwrap();
    assert_intact(case.path());
}

fn rechained_without(lines: &mut Vec<(PathBuf, Vec<u8>)>, at: usize) {
    lines.remove(at);
    rechained(lines, at);
}

#[test]
fn a_changed_record_before_the_last_checkpoint_is_found_though_chain_and_head_fit() {
    let mut case = Case::new(60, 300, 4_000);
    let last_checkpoint = case
        .lines
        .iter()
        .rposition(|(_, line)| String::from_utf8_lossy(line).contains("\"checkpoint\""))
        .unwrap();
    for at in 1..last_checkpoint {
        let mut lines = case.lines.clone();
        let text = String::from_utf8(lines[at].1.clone()).unwrap();
        lines[at].1 = text.replacen("because", "pardons", 1).into_bytes();
        if lines[at].1 == case.lines[at].1 {
            continue;
        }
        rechained(&mut lines, at + 1);
        let lock = case.path().join("lock");
        fs::write(&lock, head(&case, &lines)).unwrap();
        case.with_lines(
            &lines,
            Wanted::Any,
            &format!("record {at} rewritten with all after it"),
        );
        // Nor does it help to take the signed notes away.
        for path in support::files(case.path(), ".checkpoint") {
            fs::remove_file(path).unwrap();
        }
        fs::write(&lock, head(&case, &lines)).unwrap();
        case.with_lines(
            &lines,
            Wanted::Any,
            &format!("record {at} rewritten, notes removed"),
        );
    }
}

#[test]
fn an_old_signature_on_a_new_checkpoint_is_found() {
    let mut case = Case::new(60, 300, 4_000);
    let is = |line: &[u8]| String::from_utf8_lossy(line).contains("\"kind\":\"checkpoint\"");
    let all: Vec<usize> = (0..case.lines.len())
        .filter(|at| is(&case.lines[*at].1))
        .collect();
    for pair in all.windows(2) {
        let mut lines = case.lines.clone();
        lines[pair[1]].1 = lines[pair[0]].1.clone();
        rechained(&mut lines, pair[1]);
        let lock = case.path().join("lock");
        fs::write(lock, head(&case, &lines)).unwrap();
        let what = format!("the checkpoint {} again as {}", pair[0], pair[1]);
        case.with_lines(&lines, Wanted::Near(pair[1]), &what);
    }
    // A segment that opens with something else.
    for at in all.iter().skip(1) {
        let mut lines = case.lines.clone();
        let prev = hash(&lines[at - 1].1);
        lines[*at].1 = forged(*at, &prev, "no checkpoint");
        rechained(&mut lines, at + 1);
        let lock = case.path().join("lock");
        fs::write(lock, head(&case, &lines)).unwrap();
        case.with_lines(&lines, Wanted::Any, &format!("checkpoint {at} replaced"));
    }
}

#[test]
fn a_ledger_cut_short_is_found_by_both() {
    let mut case = large();
    let mut random = Random(3);
    let count = case.lines.len();
    let rounds = if is_long() { count } else { 12 };
    for round in 0..rounds {
        let kept = match round {
            0 => 1,
            1 => count - 1,
            _ => 1 + random.below(count - 2),
        };
        let lines = case.lines[..kept].to_vec();
        case.with_lines(
            &lines,
            Wanted::Near(kept),
            &format!("cut after {kept} records"),
        );
        let mut lines = case.lines[..=kept].to_vec();
        let part = 1 + random.below(lines[kept].1.len() - 1);
        lines[kept].1.truncate(part);
        let what = format!("cut after {part} bytes of record {kept}");
        case.with_lines(&lines, Wanted::Near(kept), &what);
        // The segments after the cut are gone as well.
        let last = &case.lines[kept - 1].0.clone();
        for path in segments(case.path()) {
            if path > *last {
                fs::remove_file(path).unwrap();
            }
        }
        let mut whole: Vec<u8> = Vec::new();
        for (path, line) in &case.lines[..kept] {
            if path == last {
                whole.extend_from_slice(line);
            }
        }
        let what = format!("cut after {kept} records, later segments removed");
        case.with_file(last, &whole, Wanted::Near(kept), &what);
    }
    // Every byte of the last record.
    let path = segments(case.path()).pop().unwrap();
    let bytes = case.bytes(&path).to_vec();
    let last = case.lines.last().unwrap().1.len();
    let step = if is_long() { 1 } else { 13 };
    for cut in (1..=last).step_by(step) {
        let what = format!("the last {cut} bytes cut off");
        let kept = &bytes[..bytes.len() - cut];
        case.with_file(&path, kept, Wanted::Near(count - 1), &what);
    }
    for added in [
        &b"x"[..],
        b"\n",
        b"{}\n",
        &forged(count, &hash(&case.lines[count - 1].1.clone()), "added"),
    ] {
        let longer = [&bytes, added].concat();
        case.with_file(
            &path,
            &longer,
            Wanted::Near(count),
            "something added at the end",
        );
    }
}

#[test]
fn segments_removed_renamed_or_exchanged_are_found_by_both() {
    let mut case = large();
    let all = segments(case.path());
    let start = |case: &Case, path: &Path| {
        let at = case.lines.iter().position(|(file, _)| file == path);
        at.unwrap()
    };
    for (index, path) in all.iter().enumerate() {
        let first = start(&case, path);
        fs::remove_file(path).unwrap();
        case.check(Wanted::Near(first), &format!("segment {index} removed"));
        fs::write(path, b"").unwrap();
        case.check(Wanted::Near(first), &format!("segment {index} emptied"));
        fs::rename(path, case.path().join("00000099.jsonl")).unwrap();
        case.check(Wanted::Near(first), &format!("segment {index} renamed"));
        fs::rename(
            path,
            path.with_file_name(format!("0{}", path.file_name().unwrap().to_str().unwrap())),
        )
        .unwrap();
        case.check(
            Wanted::Near(first),
            &format!("segment {index} spelled otherwise"),
        );
        if let Some(next) = all.get(index + 1) {
            let (one, other) = (case.bytes(path).to_vec(), case.bytes(next).to_vec());
            fs::write(path, other).unwrap();
            case.with_file(
                next,
                &one,
                Wanted::Near(first),
                &format!("segment {index} exchanged"),
            );
        }
    }
    let copy = case.bytes(&all[0]).to_vec();
    let next = case.path().join(format!("{:08}.jsonl", all.len() + 1));
    let count = case.lines.len();
    case.with_file(&next, &copy, Wanted::Near(count), "a segment added");
}

#[test]
fn a_changed_head_note_or_key_is_found_by_both() {
    let mut case = large();
    let lock = case.path().join("lock");
    let old = String::from_utf8(case.bytes(&lock).to_vec()).unwrap();
    fs::remove_file(&lock).unwrap();
    case.check(Wanted::File, "the head removed");
    for bytes in ["", "\n", &old[..100], &old.repeat(2), &format!("{old}x")] {
        case.with_file(&lock, bytes.as_bytes(), Wanted::Any, "the head replaced");
    }
    let words: Vec<&str> = old.trim_end().split(' ').collect();
    // The number before and the mark of the reserve mean nothing once a head is settled.
    for (place, other) in [
        (2, "00000001"),
        (3, "00000000000000000001"),
        (5, "00000000000000001999"),
        (5, "00000000000000002001"),
        (6, "00000000000000000001"),
        (8, &"1".repeat(64)),
    ] {
        let mut changed = words.clone();
        changed[place] = other;
        changed.pop();
        let text = spelled(&changed.join(" "));
        case.with_file(
            &lock,
            &text,
            Wanted::Any,
            &format!("word {place} of the head"),
        );
    }
    for path in support::files(case.path(), ".checkpoint") {
        let what = format!("{}", path.display());
        fs::remove_file(&path).unwrap();
        case.check(Wanted::File, &format!("{what} removed"));
        let text = String::from_utf8(case.bytes(&path).to_vec()).unwrap();
        case.with_file(
            &path,
            text.replacen('\n', "\n1", 1).as_bytes(),
            Wanted::File,
            &what,
        );
        case.with_file(&path, b"", Wanted::File, &what);
    }
    let other: PublicKey = PrivateKey::from_seed([9; 32]).public();
    let key = case.path().join("key.pub");
    case.with_file(
        &key,
        format!("{other}\n").as_bytes(),
        Wanted::File,
        "another key",
    );
    case.with_file(&key, b"x", Wanted::File, "no key");
    fs::remove_file(&key).unwrap();
    case.check(Wanted::File, "the key removed");
}

#[test]
fn a_note_kept_elsewhere_finds_what_nobody_here_could() {
    let home = scratch();
    let ledger = small(home.path(), 4_000);
    for count in 0..10 {
        ledger
            .append(&named(&count.to_string(), 300), Durability::Written)
            .unwrap();
    }
    let note = ledger.checkpoint().unwrap();
    let key: PublicKey = fs::read_to_string(home.path().join("key.pub"))
        .unwrap()
        .parse()
        .unwrap();
    let elsewhere = scratch();
    let kept = elsewhere.path().join("note");
    fs::write(&kept, &note).unwrap();
    // Everything is made anew, by somebody with a key of his own.
    for path in support::files(home.path(), "") {
        fs::remove_file(path).unwrap();
    }
    for count in 0..20 {
        ledger
            .append(&named(&count.to_string(), 300), Durability::Written)
            .unwrap();
    }
    assert_intact(home.path());
    let run = |verify: Verify| verify.run(home.path(), &mut |_, _| {}).unwrap();
    let notes = vec![note];
    assert!(
        !run(Verify {
            notes,
            ..Verify::default()
        })
        .is_intact()
    );
    assert!(
        !run(Verify {
            key: Some(key.clone()),
            ..Verify::default()
        })
        .is_intact()
    );
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/verify_ledger.py");
    let python = |arguments: &[&str]| {
        let status = Command::new("python3")
            .arg(&tool)
            .arg(home.path())
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.unwrap().code()
    };
    assert_eq!(python(&[]), Some(0));
    assert_eq!(python(&["--json"]), Some(0));
    assert_eq!(python(&["--checkpoint", kept.to_str().unwrap()]), Some(4));
    assert_eq!(python(&["--key", &key.to_string()]), Some(4));
    assert_eq!(python(&["--key", "nonsense"]), Some(1));
    assert_eq!(python(&["--unknown"]), Some(1));
    fs::remove_dir_all(home.path()).unwrap();
    assert_eq!(python(&[]), Some(1));
}

#[test]
fn an_emptied_ledger_is_no_empty_one() {
    let mut python = Python::start();
    let home = scratch();
    let ledger = small(home.path(), 2_000);
    for _ in 0..4 {
        ledger
            .append(&named("a", 600), Durability::Written)
            .unwrap();
    }
    for entry in fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|one| one == "jsonl") {
            fs::remove_file(path).unwrap();
        }
    }
    // The head tells of them; without it the notes do, and without them the key.
    let mut is_found = |what: &str| {
        let rust = support::verified(home.path());
        assert!(!rust.is_intact(), "{what}");
        assert!(!python.verify(home.path()).0, "{what}");
    };
    is_found("the segments");
    fs::remove_file(home.path().join("lock")).unwrap();
    is_found("the lock");
    for entry in fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|one| one == "checkpoint") {
            fs::remove_file(path).unwrap();
        }
    }
    is_found("the notes");
}

#[test]
fn what_crashes_and_people_leave_is_read_alike_by_both() {
    let mut python = Python::start();
    let home = scratch();
    let ledger = small(home.path(), 2_000);
    let mut agree = |directory: &Path, wanted: bool, what: &str| {
        let rust = support::verified(directory);
        let first = rust.faults.first().and_then(|fault| fault.record);
        let (intact, other, shown) = python.verify(directory);
        assert_eq!(rust.is_intact(), wanted, "{what}: {:?}", rust.faults);
        assert_eq!((intact, other), (wanted, first), "{what}: {shown}");
    };
    fs::write(home.path().join("lock"), "").unwrap();
    agree(home.path(), true, "an empty ledger");
    for at in 0..60 {
        for event in [support::Event::DieHalfway, support::Event::DieAfter] {
            let system = support::Scripted::new(at, event, false);
            let scripted = small(home.path(), 2_000).on(&system);
            let _ = support::alive(|| scripted.append(&named("a", 900), Durability::Written));
            agree(home.path(), true, &format!("ended at {at}, {event:?}"));
        }
        if at > 12 {
            break;
        }
    }
    for _ in 0..4 {
        ledger
            .append(&named("b", 600), Durability::Written)
            .unwrap();
    }
    agree(home.path(), true, "repaired");
    let last = segments(home.path()).pop().unwrap();
    let text = fs::read(&last).unwrap();
    fs::write(&last, &text[..text.len() - 10]).unwrap();
    agree(home.path(), false, "cut");
    ledger
        .append(&named("c", 600), Durability::Written)
        .unwrap();
    agree(home.path(), false, "a loss on record");
    ledger.repair().unwrap();
    agree(home.path(), true, "a person took note");
    fs::remove_file(home.path().join("key")).unwrap();
    ledger.repair().unwrap();
    agree(home.path(), true, "a new key");
    for _ in 0..6 {
        ledger
            .append(&named("d", 600), Durability::Written)
            .unwrap();
    }
    ledger.checkpoint().unwrap();
    agree(home.path(), true, "signed with the new key");
    fs::write(home.path().join("lock"), "x").unwrap();
    agree(home.path(), false, "no head");
    ledger
        .append(&named("e", 600), Durability::Written)
        .unwrap();
    agree(home.path(), false, "no head, on record");
    ledger.repair().unwrap();
    agree(home.path(), true, "a person took note of that, too");
}

/// Both verifiers, without a wish which it is; whether it is intact.
#[track_caller]
fn agreed(case: &mut Case, what: &str) -> bool {
    let rust = support::verified(case.path());
    let first = rust.faults.first().and_then(|fault| fault.record);
    let (intact, other, shown) = case.python.verify(case.home.path());
    assert_eq!(
        (intact, other),
        (rust.is_intact(), first),
        "{what}: {shown}: {:?}",
        rust.faults.first()
    );
    case.restore();
    intact
}

#[test]
fn a_line_that_is_odd_json_is_read_alike_by_both() {
    let mut case = Case::new(4, 300, 4_000);
    let count = case.lines.len();
    let prev = hash(&case.lines[count - 1].1);
    let lock = String::from_utf8(case.bytes(&case.path().join("lock")).to_vec()).unwrap();
    let micros: u64 = lock.split(' ').nth(6).unwrap().parse().unwrap();
    let time = holdpoint_ledger::Timestamp::from_micros(micros);
    let start = format!("\"v\":1,\"seq\":{count},\"prev\":\"{prev}\",\"time\":\"{time}\"");
    let whole = format!("{{{start},\"kind\":\"decision\"}}");
    let with = |rest: &str| format!("{{{start},\"kind\":\"decision\",{rest}}}");
    let repair = |detail: &str| format!("{{{start},\"kind\":\"repair\",\"detail\":{detail}}}");
    let sign = |detail: &str| format!("{{{start},\"kind\":\"checkpoint\",\"detail\":{detail}}}");
    let deep = |depth: usize| with(&format!("\"x\":{}{}", "[".repeat(depth), "]".repeat(depth)));
    let lines = vec![
        (whole.clone(), true),
        (format!(" \t{whole} \r"), true),
        (format!("\u{feff}{whole}"), false),
        (format!("{whole}{whole}"), false),
        (format!("[{whole}]"), false),
        (whole.replace("\"v\":1", "\"v\":1.0"), false),
        (whole.replace("\"v\":1", "\"v\":1e0"), false),
        (whole.replace("\"v\":1", "\"v\":01"), false),
        (whole.replace("\"v\":1", "\"v\":2"), false),
        (whole.replace("\"v\":1", "\"v\":\"1\""), false),
        (whole.replace("\"v\":1", "\"v\":true"), false),
        (whole.replace("\"v\":1", "\"v\":4294967297"), false),
        (whole.replace("\"v\":1", "\"\\u0076\":1"), true),
        (whole.replace("\"v\":1", "\"v\":1,\"v\":1"), false),
        (whole.replace("\"v\":1", "\"v\" : 1"), true),
        (whole.replace("\"seq\":", "\"seq\":-"), false),
        (
            whole.replace("\"seq\":", "\"seq\":99999999999999999999"),
            false,
        ),
        (whole.replace("\"decision\"", "\"deci\\u0073ion\""), true),
        (whole.replace("\"decision\"", "\"Decision\""), false),
        (whole.replace("\"decision\"", "null"), false),
        (whole.replace("\"prev\":\"", "\"prev\":\"\\u0030"), false),
        (
            whole.replace(&prev.to_string(), &prev.to_string().to_uppercase()),
            false,
        ),
        (with("\"x\":1,\"x\":2"), true),
        (with("\"x\":\"\\ud800\""), true),
        (with("\"\\ud800\":1"), false),
        (with("\"x\":\"\\x\""), false),
        (with("\"x\":\"\u{1}\""), false),
        (with("\"x\":\"\u{7f}\u{2028}\""), true),
        (with("\"x\":NaN"), false),
        (with("\"x\":-Infinity"), false),
        (with("\"x\":-0"), true),
        (with("\"x\":1."), false),
        (with("\"x\":.5"), false),
        (with("\"x\":1e999"), true),
        (with(&format!("\"x\":{}", "9".repeat(5_000))), true),
        (with("\"x\":tru"), false),
        (with("\"x\":[1,]"), false),
        (with("\"x\":{\"a\":1,}"), false),
        (with("\"x\":[1}"), false),
        (with("\"x\":[{}, [], {\"a\" : [ ] }]"), true),
        (with("\"detail\":{\"what\":\"lost\"}"), true),
        (deep(100), true),
        (deep(20_000), true),
        (format!("{}1", "{\"x\":".repeat(5_000)), false),
        (String::new(), false),
        (" ".into(), false),
        ("{}".into(), false),
        (repair("{\"what\":\"acknowledged\"}"), true),
        (repair("{\"what\":\"acknowledged\",\"more\":[1]}"), true),
        (
            repair("{\"what\":\"acknowledged\",\"what\":\"acknowledged\"}"),
            false,
        ),
        (
            repair("{\"what\":\"lost\",\"expected\":7,\"found\":5}"),
            false,
        ),
        (repair("{\"what\":\"lost\"}"), false),
        (
            repair("{\"what\":\"torn\",\"bytes\":5,\"sha256\":\"\"}"),
            true,
        ),
        (
            repair("{\"what\":\"torn\",\"bytes\":-5,\"sha256\":\"\"}"),
            false,
        ),
        (repair("{\"what\":\"other\"}"), false),
        (repair("null"), false),
        (repair("\"torn\""), false),
        (sign("{}"), false),
        (sign("null"), false),
        (sign("{\"note\":\"\",\"key\":\"\",\"tree\":[]}"), false),
        (sign("{\"note\":\"\",\"key\":\"\",\"tree\":[1]}"), false),
        (sign("{\"note\":\"\",\"key\":\"\",\"tree\":{}}"), false),
    ];
    for (line, intact) in lines {
        let mut all = case.lines.clone();
        let path = all[count - 1].0.clone();
        all.push((path, [line.as_bytes(), b"\n"].concat()));
        fs::write(case.path().join("lock"), head(&case, &all)).unwrap();
        for (path, bytes) in case.joined(&all) {
            fs::write(path, bytes).unwrap();
        }
        let short: String = line.chars().take(400).collect();
        assert_eq!(agreed(&mut case, &short), intact, "{short}");
    }
}

#[test]
fn random_edits_are_read_alike_by_both() {
    let mut case = Case::new(8, 300, 1_500);
    let mut random = Random(4);
    let tokens: [&[u8]; 14] = [
        b"\n",
        b"\n\n",
        b"\"",
        b"{",
        b"}",
        b"[",
        b",",
        b":",
        b"\\",
        b"0",
        b"1",
        b"A",
        b"\xff",
        b"\"seq\":1,",
    ];
    let files: Vec<_> = case
        .files
        .iter()
        .filter(|(path, _)| !path.ends_with("key"))
        .cloned()
        .collect();
    let mut intact = 0;
    let rounds = if is_long() { 20_000 } else { 400 };
    for round in 0..rounds {
        let (path, bytes) = &files[random.below(files.len())];
        let mut bytes = bytes.clone();
        for _ in 0..=random.below(2) {
            let place = random.below(bytes.len().max(1));
            let length = random.below(40).min(bytes.len() - place);
            match random.below(4) {
                0 => drop(bytes.drain(place..place + length)),
                1 => {
                    let part = bytes[place..place + length].to_vec();
                    let to = random.below(bytes.len() + 1);
                    bytes.splice(to..to, part);
                }
                2 => {
                    let token = tokens[random.below(tokens.len())];
                    bytes.splice(place..place, token.iter().copied());
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte = u8::try_from(random.below(256)).unwrap();
                    }
                }
            }
        }
        fs::write(path, bytes).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        intact += usize::from(agreed(&mut case, &format!("round {round}, {name}")));
    }
    // Some edits change nothing; most do.
    assert!(intact < rounds / 20, "{intact} of {rounds}");
}
