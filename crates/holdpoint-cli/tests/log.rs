//! `holdpoint log` where time, signals, terminals or changed files matter. What is only a command
//! line and its output is in `corpus/cli/log.toml`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "a test fails by panicking, and shares its project with others"
)]

#[path = "cli/project.rs"]
mod project;

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_ledger::{Durability, Entry, Kind, Ledger, Options, Record, segment_name};
use serde_json::json;

use crate::project::Project;

fn ledger(project: &Project) -> PathBuf {
    project.home().join(".local/state/holdpoint/ledger")
}

fn run(project: &Project, args: &[&str]) -> Output {
    project.command().arg("log").args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn line(seq: u64) -> String {
    json!({
        "v": 1, "seq": seq, "prev": "", "time": "2026-11-16T03:40:12.000000Z",
        "kind": "decision", "agent": "claude-code", "tool": "Bash", "verdict": "deny",
        "rule": "git.force-push", "reason": "=cmd()",
        "input": {"command": "echo 日本語日本語日本語日本語日本語日本語日本語日本語 \u{1b}[2J\u{202e} 🔥"},
    })
    .to_string()
}

fn append(project: &Project, segment: u32, lines: &[String]) {
    fs::create_dir_all(ledger(project)).unwrap();
    let path = ledger(project).join(segment_name(segment));
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
}

/// A child that ends with its test, whatever the test does.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn interrupt(&self) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", "INT", &id]).status();
        assert!(sent.unwrap().success());
    }

    /// The exit code, which does not keep one waiting.
    fn code(&mut self) -> Option<i32> {
        let since = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(since.elapsed() < Duration::from_secs(20), "it does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn started(project: &Project, args: &[&str]) -> Running {
    let mut command = project.command();
    command.arg("log").args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Running(command.spawn().unwrap())
}

#[test]
fn what_is_recorded_is_followed_into_new_segments_until_ctrl_c() {
    for args in [
        &["-f", "--json", "-n", "1"][..],
        &["-f", "--json", "-n", "1", "--index", "always"],
    ] {
        let project = Project::new();
        append(&project, 1, &[line(0), line(1)]);
        let mut child = started(&project, args);
        let mut out = BufReader::new(child.0.stdout.take().unwrap());
        let mut next = || {
            let mut text = String::new();
            out.read_line(&mut text).unwrap();
            Record::parse(text.as_bytes()).unwrap().seq
        };
        assert_eq!(next(), 1);
        append(&project, 1, &[line(2)]);
        assert_eq!(next(), 2);
        // Half a record is none.
        let path = ledger(&project).join(segment_name(1));
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        let whole = format!("{}\n", line(3));
        let (first, rest) = whole.split_at(30);
        file.write_all(first.as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(300));
        file.write_all(rest.as_bytes()).unwrap();
        append(&project, 2, &[line(4)]);
        assert_eq!((next(), next()), (3, 4));
        child.interrupt();
        assert_eq!(child.code(), Some(0));
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}

#[test]
fn a_ledger_that_is_not_there_yet_can_be_followed() {
    let project = Project::new();
    let mut child = started(&project, &["--follow", "--tool", "Bash"]);
    thread::sleep(Duration::from_millis(300));
    append(&project, 1, &[line(0)]);
    let mut out = BufReader::new(child.0.stdout.take().unwrap()).lines();
    assert!(out.next().unwrap().unwrap().starts_with("RECORD"));
    assert!(out.next().unwrap().unwrap().contains("git.force-push"));
    child.interrupt();
    assert_eq!(child.code(), Some(0));
}

#[test]
fn nothing_is_followed_for_nobody() {
    let project = Project::new();
    append(&project, 1, &[line(0)]);
    let mut child = started(&project, &["-f"]);
    drop(child.0.stdout.take());
    child.code();
    let mut errors = String::new();
    child
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_eq!(errors, "");
}

#[test]
fn an_export_that_is_stopped_leaves_nothing_and_an_old_file_as_it_was() {
    let project = Project::new();
    let lines: Vec<String> = (0..60_000).map(line).collect();
    append(&project, 1, &lines);
    project.write("out.csv", b"old");
    let mut child = started(&project, &["export", "--format", "csv", "-o", "out.csv"]);
    let names = || -> Vec<String> {
        fs::read_dir(project.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    let since = Instant::now();
    while names().len() < 2 {
        assert!(since.elapsed() < Duration::from_secs(20), "no draft");
        thread::sleep(Duration::from_millis(5));
    }
    child.interrupt();
    assert_eq!(child.code(), Some(1));
    let mut errors = String::new();
    child
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_eq!(
        errors,
        "holdpoint: stopped before the end: nothing was written\n"
    );
    assert_eq!(names(), ["out.csv"]);
    assert_eq!(fs::read(project.place("out.csv")).unwrap(), b"old");
}

#[test]
fn an_exported_file_is_private_whole_and_no_formula() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    append(&project, 1, &[line(0)]);
    let output = run(&project, &["export", "--format", "csv", "-o", "new.csv"]);
    assert!(output.status.success());
    let path = project.place("new.csv");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("seq,time,kind,"), "{text}");
    assert!(text.contains(",'=cmd(),"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");

    // What is replaced keeps its mode, and a link stays one.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&path, project.place("link.csv")).unwrap();
    let output = run(&project, &["export", "--format", "jsonl", "-o", "link.csv"]);
    assert!(output.status.success());
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", line(0)));
    assert_eq!(mode(&path), 0o644);
    assert!(
        fs::symlink_metadata(project.place("link.csv"))
            .unwrap()
            .is_symlink()
    );
}

/// A terminal of so many columns. `script` gives one.
fn on_a_terminal(project: &Project, columns: u32, line: &str) -> String {
    let line = format!("stty cols {columns} rows 50; {line}");
    let output = project
        .command_of("script")
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("this test needs `script` (util-linux)");
    String::from_utf8(output.stdout)
        .unwrap()
        .replace("\r\n", "\n")
}

#[test]
fn every_table_fits_and_no_text_drives_the_terminal() {
    use unicode_width::UnicodeWidthStr;
    let project = Project::new();
    append(&project, 1, &(0..60).map(line).collect::<Vec<_>>());
    let program = env!("CARGO_BIN_EXE_holdpoint");
    for columns in [40, 60, 80, 100, 120, 200] {
        for args in ["log", "log stats", "log stats --top 1"] {
            let text = on_a_terminal(&project, columns, &format!("{program} {args}"));
            assert!(text.lines().count() > 5, "{text}");
            for line in text.lines() {
                assert!(line.width() <= columns as usize, "{columns} {args}: {line}");
            }
        }
        for args in [
            "log",
            "log --json",
            "log show 7",
            "log show 7 --json",
            "log stats",
        ] {
            let text = on_a_terminal(&project, columns, &format!("{program} {args}"));
            let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!text.contains(acts), "{args}: {text:?}");
        }
    }
    // Fifty, unless somebody says otherwise, below a title and a day.
    let text = on_a_terminal(&project, 80, &format!("{program} log"));
    assert_eq!(text.lines().count(), 52);
    let text = on_a_terminal(&project, 80, &format!("{program} log -n 0"));
    assert_eq!(text.lines().count(), 62);
}

#[test]
fn tampering_is_found_and_the_first_bad_record_comes_first() {
    let project = Project::new();
    let writer = Ledger::at(ledger(&project)).with(Options {
        segment_bytes: 4096,
        ..Options::default()
    });
    for _ in 0..60 {
        writer
            .append(&Entry::new(Kind::Error), Durability::Written)
            .unwrap();
    }
    let output = run(&project, &["verify"]);
    assert!(output.status.success());
    assert!(said(&output).starts_with("Intact: "), "{}", said(&output));
    let key = run(&project, &["key"]);
    project.write("key.pub", &key.stdout);
    let note = run(&project, &["checkpoint"]);
    project.write("note", &note.stdout);
    let verify = ["verify", "--key", "key.pub", "--checkpoint", "note"];
    assert!(run(&project, &verify).status.success());

    let segment = ledger(&project).join(segment_name(2));
    let text = fs::read_to_string(&segment).unwrap();
    let third = text.lines().nth(2).unwrap();
    let seq = Record::parse(third.as_bytes()).unwrap().seq;
    fs::write(
        &segment,
        text.replacen(third, &third.replace("error", "Error"), 1),
    )
    .unwrap();
    let output = run(&project, &verify);
    assert_eq!(output.status.code(), Some(4));
    let text = said(&output);
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("Not intact: "), "{text}");
    let first = format!("  - 00000002.jsonl:3: record {seq}: ");
    assert!(lines.next().unwrap().starts_with(&first), "{text}");
    let json = run(&project, &["verify", "--json"]);
    assert_eq!(json.status.code(), Some(4));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["faults"][0]["record"], seq);
}

#[test]
fn what_was_signed_and_kept_elsewhere_cannot_be_taken_back() {
    let project = Project::new();
    let writer = Ledger::at(ledger(&project));
    let entry = Entry::new(Kind::Error);
    writer.append(&entry, Durability::Written).unwrap();
    let note = run(&project, &["checkpoint"]);
    project.write("note", &note.stdout);
    // Another ledger in its place, with the same key.
    let other = project.home().join("other");
    fs::create_dir(&other).unwrap();
    for name in ["key", "key.pub"] {
        fs::copy(ledger(&project).join(name), other.join(name)).unwrap();
    }
    fs::remove_dir_all(ledger(&project)).unwrap();
    fs::rename(&other, ledger(&project)).unwrap();
    for _ in 0..9 {
        writer.append(&entry, Durability::Written).unwrap();
    }
    assert!(run(&project, &["verify"]).status.success());
    let output = run(&project, &["verify", "--checkpoint", "note"]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(
        said(&output).contains("the note given: "),
        "{}",
        said(&output)
    );
}

#[test]
fn a_person_is_asked_before_a_repair() {
    let project = Project::new();
    let writer = Ledger::at(ledger(&project));
    writer
        .append(&Entry::new(Kind::Error), Durability::Written)
        .unwrap();
    let stored = || fs::read(ledger(&project).join(segment_name(1))).unwrap();
    let before = stored();
    let program = env!("CARGO_BIN_EXE_holdpoint");
    let text = on_a_terminal(&project, 80, &format!("{program} log repair"));
    assert!(text.contains("Repair the ledger? [y/N]"), "{text}");
    assert!(text.contains("Nothing was changed."), "{text}");
    assert_eq!(stored(), before);
    let text = on_a_terminal(&project, 80, &format!("{program} log repair --yes"));
    assert!(text.contains("There was nothing to mend."), "{text}");
    assert_ne!(stored(), before);
}

#[test]
fn a_damaged_index_is_mended_with_a_word() {
    let project = Project::new();
    append(&project, 1, &[line(0), line(1)]);
    let ask = || run(&project, &["--index", "always", "--json"]);
    assert!(ask().stderr.is_empty());
    let cache = project.home().join(".cache/holdpoint");
    let index = fs::read_dir(cache)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
        .join("index.sqlite");
    fs::write(&index, b"this is no index".repeat(100)).unwrap();
    let output = ask();
    assert!(output.status.success());
    assert_eq!(said(&output).lines().count(), 2);
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "holdpoint: the index was damaged and has been made anew\n"
    );
    assert!(ask().stderr.is_empty());
}

#[test]
fn the_schema_of_a_record_that_is_printed_is_the_one_published() {
    let project = Project::new();
    let printed = run(&project, &["schema"]);
    assert!(printed.status.success());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/record.schema.json");
    let published =
        fs::read(path).expect("write it: holdpoint log schema > docs/record.schema.json");
    assert!(
        printed.stdout == published,
        "docs/record.schema.json is not what `holdpoint log schema` prints: write it anew"
    );
    let schema: serde_json::Value = serde_json::from_slice(&published).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let record = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert!(validator.is_valid(&record(&line(0))));
    assert!(!validator.is_valid(&record("{\"v\":1}")));
    let writer = Ledger::at(ledger(&project));
    for kind in Kind::ALL {
        if !matches!(kind, Kind::Checkpoint | Kind::Repair) {
            writer
                .append(&Entry::new(kind), Durability::Written)
                .unwrap();
        }
    }
    writer.checkpoint().unwrap();
    for line in said(&run(&project, &["--json"])).lines() {
        assert!(validator.is_valid(&record(line)), "{line}");
    }
}
