//! `holdpoint replay` where a case is not enough: many calls, a reader that goes away, Ctrl-C, a
//! terminal, and that nothing is changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::project::Project;

fn line(number: usize) -> String {
    let command = ["git status", "rm -rf /", "git push", "cargo test"][number % 4];
    json!({"type": "assistant", "sessionId": "s", "cwd": "/work/app", "timestamp": "2026-11-16T03:47:08.551Z",
        "message": {"content": [{"type": "tool_use", "id": format!("t{number}"), "name": "Bash",
            "input": {"command": command, "description": number.to_string()}}]}})
    .to_string()
}

fn transcript(calls: usize) -> String {
    (0..calls).map(|number| line(number) + "\n").collect()
}

/// Everything below a directory.
fn everything(place: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![place.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), Vec::new());
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn calls_come_in_their_order_whichever_core_judged_them_and_nothing_is_changed() {
    let project = Project::new();
    project.write("t.jsonl", transcript(1000).as_bytes());
    project.write(
        "permissions.json",
        br#"{"deny": {"patterns": ["cargo *"]}}"#,
    );
    let before = (everything(&project.path()), everything(&project.home()));
    let run = || {
        let output = project
            .command()
            .args(["replay", "--all", "--json", "t.jsonl"])
            .output()
            .unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
        String::from_utf8(output.stdout).unwrap()
    };
    let said = run();
    let documents: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(documents.len(), 1001);
    for (number, document) in documents.iter().take(1000).enumerate() {
        assert_eq!(document["line"], number + 1);
        let verdict = ["allow", "deny", "ask", "allow"][number % 4];
        assert_eq!(document["verdict"], verdict, "{document}");
    }
    assert_eq!(documents[1000]["verdicts"]["deny"], 250);
    assert_eq!(said, run());
    let after = (everything(&project.path()), everything(&project.home()));
    assert_eq!(before, after);
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let project = Project::new();
    project.write("t.jsonl", transcript(5000).as_bytes());
    let mut child = project
        .command()
        .args(["replay", "--all", "t.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(said, "");
}

#[test]
fn ctrl_c_ends_a_run_with_what_was_read_so_far() {
    let project = Project::new();
    let mut child = project
        .command()
        .args(["replay", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(transcript(500).as_bytes()).unwrap();
    let status = format!("/proc/{}/status", child.id());
    let started = Instant::now();
    while !listens(&fs::read_to_string(&status).unwrap()) {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "it never listens"
        );
        thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    // More comes, and is not waited for.
    let _ = input.write_all(transcript(500).as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("\nInterrupted: this is what was read so far.\n"),
        "{said}"
    );
    assert!(output.stderr.is_empty());
}

/// Whether a process has a handler for SIGINT.
fn listens(status: &str) -> bool {
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap_or("0").trim(), 16).unwrap();
    caught & (1 << 1) != 0
}

#[test]
fn on_a_terminal_progress_comes_and_goes_and_tables_fit() {
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let project = Project::new();
    project.write("t.jsonl", transcript(1000).as_bytes());
    let program = env!("CARGO_BIN_EXE_holdpoint");
    let line = format!("stty cols 60; {program} replay t.jsonl");
    let output = project
        .command_of("script")
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    // What stays is what is written after the last time the line is cleared.
    let (_, stays) = said.rsplit_once("\x1b[K").unwrap_or(("", &said));
    assert!(stays.starts_with("1,000 calls in 1 transcript"), "{said:?}");
    assert!(stays.contains("\x1b[31mdeny\x1b[0m"), "{stays}");
    for row in stays.lines() {
        let mut seen = row.trim_end().to_owned();
        for code in [
            "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m",
        ] {
            seen = seen.replace(code, "");
        }
        assert!(seen.chars().count() <= 60, "{seen:?}");
    }
}
