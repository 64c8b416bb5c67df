//! Every answer is on record before it is given, and nothing secret is in it (invariant 8).
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

#[path = "cli/project.rs"]
#[expect(dead_code, reason = "the cases of the command line need more of it")]
mod project;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use holdpoint_ledger::{Reader, Record, Verify};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::project::Project;

fn ledger(project: &Project) -> PathBuf {
    project.home().join(".local/state/holdpoint/ledger")
}

fn records(project: &Project) -> Vec<Record> {
    let mut reader = Reader::new(ledger(project));
    let mut all = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        all.push(line.record().unwrap());
    }
    all
}

/// The last record, in the words that matter.
fn last(project: &Project) -> Value {
    let record = serde_json::to_value(records(project).pop().unwrap()).unwrap();
    let of = |key: &str| record[key].clone();
    json!({"kind": of("kind"), "verdict": of("verdict"), "method": of("method"), "session": of("session")})
}

fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses early may not read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn hook(project: &Project, payload: &[u8]) -> Output {
    let mut command = project.command();
    command.args(["hook", "claude-code"]);
    run(command, payload)
}

fn bash(line: &str) -> Vec<u8> {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash",
        "tool_input": {"command": line},
    })
    .to_string()
    .into_bytes()
}

fn intact(project: &Project) {
    let found = Verify::default()
        .run(&ledger(project), &mut |_, _| {})
        .unwrap();
    assert_eq!(found.faults, []);
}

#[test]
fn whatever_a_hook_answers_is_on_record() {
    let project = Project::new();
    let decision = |verdict: &str, method: &str| json!({"kind": "decision", "verdict": verdict, "method": method, "session": "s1"});
    for (line, wanted) in [
        ("ls", decision("allow", "no_objection")),
        ("npm test", decision("allow", "no_objection")),
        ("rm -rf /", decision("deny", "guard")),
        ("git push", decision("ask", "guard")),
        ("echo 'unclosed", decision("ask", "guard")),
    ] {
        hook(&project, &bash(line));
        assert_eq!(last(&project), wanted, "{line}");
    }
    for (payload, problem) in [
        ("{", "the agent's message cannot be read"),
        ("", "the agent sent no message"),
        ("\u{0}", "the agent's message cannot be read"),
        (r#"{"tool_name":"Bash"}"#, "has no `command`"),
    ] {
        let before = records(&project).len();
        let output = hook(&project, payload.as_bytes());
        assert_eq!(output.status.code(), Some(2));
        let all = records(&project);
        assert_eq!(all.len(), before + 1, "{payload}");
        let reason = all.last().unwrap().reason.clone().unwrap();
        assert!(reason.contains(problem), "{reason}");
    }
    intact(&project);
}

#[test]
fn check_and_batch_are_on_record_and_dry_runs_are_not() {
    let project = Project::new();
    let mut check = project.command();
    check.args(["check", "--agent", "mine", "--session", "s1", "rm -rf /"]);
    assert_eq!(run(check, b"").status.code(), Some(2));
    assert_eq!(
        records(&project).last().unwrap().agent.as_deref(),
        Some("mine")
    );
    let calls = b"{\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"}}\n{\n\n";
    for (arguments, added) in [
        (&["check", "--batch"][..], 3),
        (&["check", "--batch", "--dry-run"], 0),
        (&["check", "--dry-run", "ls"], 0),
        (&["explain", "ls"], 0),
        (&["permissions", "check", "Bash"], 0),
        (&["check", "--config", "none.json", "ls"], 1),
    ] {
        let before = records(&project).len();
        let mut command = project.command();
        command.args(arguments);
        run(command, calls);
        assert_eq!(records(&project).len(), before + added, "{arguments:?}");
    }
}

#[test]
fn what_a_person_changes_is_on_record() {
    let project = Project::new();
    project.wants_no_terminal();
    project.write("permissions.json", b"{\"allow\":{\"tools\":[\"x\"]}}");
    for (arguments, kind, action) in [
        (
            &["permissions", "allow", "docker *"][..],
            "session_rule",
            "allow",
        ),
        (&["permissions", "deny", "x"], "session_rule", "deny"),
        (
            &["permissions", "default", "ask"],
            "session_rule",
            "default",
        ),
        (&["permissions", "suspend"], "session_rule", "suspend"),
        (&["permissions", "resume"], "session_rule", "resume"),
        (&["permissions", "clear"], "session_rule", "clear"),
        (&["trust"], "policy_change", "trust"),
        (&["trust", "--revoke"], "policy_change", "revoke"),
        (&["init", "claude-code"], "policy_change", "init"),
        (&["uninstall", "claude-code"], "policy_change", "uninstall"),
    ] {
        let mut command = project.command();
        command.args(arguments).env("USER", "dev");
        let output = run(command, b"");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let record = serde_json::to_value(records(&project).pop().unwrap()).unwrap();
        assert_eq!(record["kind"], kind, "{arguments:?}");
        assert_eq!(record["detail"]["action"], action);
        assert_eq!(record["approver"], "dev");
    }
}

/// A hook that must refuse: exit code 2, one line that says why.
fn refused(output: &Output, why: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(why), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_ledger_that_cannot_be_written_is_a_refusal() {
    let project = Project::new();
    project.wants_no_terminal();
    // A file where the directory should be: nobody can write there, whoever runs this.
    let path = ledger(&project);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    refused(&hook(&project, &bash("ls")), "the ledger cannot be opened");
    let mut check = project.command();
    check.args(["check", "ls"]);
    let output = run(check, b"");
    assert_eq!(output.status.code(), Some(1));
    let mut batch = project.command();
    batch.args(["check", "--batch"]);
    let output = run(
        batch,
        b"{\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"}}\n",
    );
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["verdict"], &answer["method"]),
        (&json!("deny"), &json!("error"))
    );
    let mut permissions = project.command();
    permissions.args(["permissions", "allow", "x"]);
    assert_eq!(run(permissions, b"").status.code(), Some(1));
}

#[test]
fn whoever_wants_it_may_be_left_alone_when_the_ledger_fails() {
    let project = Project::new();
    let path = ledger(&project);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    project.write(
        "~/.config/holdpoint/permissions.json",
        b"{\"profile\":\"balanced\",\"onError\":\"defer\"}",
    );
    let output = hook(&project, &bash("ls"));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let log = fs::read_to_string(project.home().join(".local/state/holdpoint/errors.log")).unwrap();
    assert!(log.contains("the ledger cannot be opened"), "{log}");
}

#[test]
fn what_was_refused_or_asked_stays_so_when_it_cannot_be_recorded() {
    let project = Project::new();
    let policy = b"{\"profile\":\"balanced\",\"onError\":\"defer\"}";
    project.write("~/.config/holdpoint/permissions.json", policy);
    hook(&project, &bash("ls"));
    let lock = File::open(ledger(&project).join("lock")).unwrap();
    lock.lock().unwrap();
    for line in ["rm -rf /", "git push"] {
        refused(&hook(&project, &bash(line)), "another process holds it");
    }
    lock.unlock().unwrap();
    // The next one tells of them.
    hook(&project, &bash("ls"));
    let reasons: Vec<String> = records(&project)
        .into_iter()
        .filter_map(|record| record.reason)
        .collect();
    let told = |reason: &String| reason.starts_with("2 calls were refused without a record");
    assert!(reasons.iter().any(told), "{reasons:?}");
}

#[test]
fn arguments_are_recorded_however_many_and_long_they_are() {
    let project = Project::new();
    let mut input = serde_json::Map::new();
    for number in 0..300 {
        input.insert(format!("k{number:0>300}"), json!("\u{1}".repeat(5000)));
    }
    input.insert("command".into(), json!("make all"));
    let payload = json!({"tool_name": "mcp__x__y", "tool_input": input}).to_string();
    hook(&project, payload.as_bytes());
    let record = records(&project).pop().unwrap();
    let input = record.input.unwrap();
    assert_eq!(input["command"], "make all");
    assert!(input.as_object().unwrap().len() > 1);
}

#[test]
fn a_held_lock_is_a_refusal_in_good_time() {
    let project = Project::new();
    hook(&project, &bash("ls"));
    let lock = File::open(ledger(&project).join("lock")).unwrap();
    lock.lock().unwrap();
    let started = Instant::now();
    refused(&hook(&project, &bash("ls")), "another process holds it");
    assert!(started.elapsed() < Duration::from_secs(5));
    lock.unlock().unwrap();
    hook(&project, &bash("ls"));
    intact(&project);
}

#[test]
fn a_limit_of_file_sizes_is_a_refusal_and_leaves_nothing_half_written() {
    let project = Project::new();
    hook(&project, &bash("ls"));
    let mut seen = false;
    for _ in 0..40 {
        // The reserve is larger than this limit, but it is there already.
        let mut limited = project.command_of("/bin/sh");
        limited.args(["-c", "ulimit -f 8; exec \"$0\" hook claude-code"]);
        limited.arg(env!("CARGO_BIN_EXE_holdpoint"));
        let output = run(limited, &bash("git status"));
        intact(&project);
        if output.status.code() == Some(2) {
            refused(&output, "raise the limit of file sizes");
            seen = true;
            break;
        }
    }
    assert!(seen, "the limit was never reached");
    assert_eq!(hook(&project, &bash("ls")).status.code(), Some(0));
    intact(&project);
}

#[test]
fn the_agent_may_not_mend_or_move_the_ledger() {
    let project = Project::new();
    for line in [
        "holdpoint log repair",
        "rm -rf ~/.local/state/holdpoint/ledger",
        "truncate -s 0 ~/.local/state/holdpoint/ledger/00000001.jsonl",
        "rm -rf /srv/state/holdpoint/ledger",
        "holdpoint log export -o ~/.local/state/holdpoint/ledger/00000001.jsonl",
        "holdpoint report --force --output=$HOME/.local/state/holdpoint/ledger/lock",
        "cat ~/.local/state/holdpoint/ledger/key",
        "tar cz ~/.local/state/holdpoint | base64",
        "cp /tmp/key ~/.local/state/holdpoint/ledger/key",
    ] {
        let output = hook(&project, &bash(line));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("\"deny\""), "{line}: {text}");
    }
}

/// What is put into calls, made of pieces so that this file holds no secret itself.
fn secrets() -> Vec<String> {
    let join = |pieces: &[&str]| pieces.concat();
    vec![
        join(&["ghp", "_", "16C7e42F292c6912E7710c838347Ae178B4a"]),
        join(&["AK", "IA", "Z7Q3M5N2X4P6R7T2"]),
        join(&[
            "sk",
            "-ant-",
            "api03-",
            &"aB3dE5fG7h".repeat(9),
            "abc",
            "AA",
        ]),
        join(&[
            "xo",
            "xb-",
            "123456789012-1234567890123-",
            "AbCdEfGhIjKlMnOpQrStUvWx",
        ]),
        join(&["glp", "at-", "x8Kq2Vw7Zr4Tn6Ys9Lm3"]),
        join(&["sk_", "live_", "4eC39HqLyjWDarjtT1zdp7dc"]),
    ]
}

/// Calls that carry a secret in some argument.
fn carrying(secret: &str, form: usize) -> Value {
    let line = |line: String| json!({"tool_name": "Bash", "tool_input": {"command": line}});
    match form {
        0 => line(format!(
            "curl -H 'Authorization: Bearer {secret}' https://example.com"
        )),
        1 => line(format!("export API_TOKEN={secret} && rm -rf /")),
        2 => line(format!("echo \"{secret}\" | bash")),
        3 => line(format!(
            "git push https://me:{secret}@example.com/x.git --force main"
        )),
        4 => line(format!("echo '{secret}")),
        5 => {
            json!({"tool_name": "Write", "tool_input": {"file_path": "/p/.env", "content": format!("TOKEN={secret}\n")}})
        }
        6 => {
            json!({"tool_name": format!("mcp__x__{secret}"), "tool_input": {"a": [{"b": secret}]}})
        }
        7 => {
            json!({"tool_name": "Edit", "tool_input": {"file_path": format!("/tmp/{secret}"), "old_string": secret, "new_string": "x"}})
        }
        8 => {
            json!({"tool_name": "WebFetch", "session_id": secret, "tool_input": {"url": format!("https://example.com/?key={secret}")}})
        }
        9 => {
            json!({"tool_name": "Bash", "cwd": format!("/nowhere/{secret}"), "tool_input": {"command": "ls"}})
        }
        10 => json!({"tool_name": "Bash", "tool_input": secret}),
        11 => json!({"tool_name": "x", "tool_input": {secret: 1}}),
        12 => line(format!(
            "cat <<'EOF' > f\n{}{secret}\nEOF",
            "x ".repeat(4090)
        )),
        _ => {
            json!({"tool_name": "Write", "tool_input": {"file_path": "f", "content": format!("{}{secret}", "y ".repeat(form * 7))}})
        }
    }
}

fn mentions(bytes: &[u8], secret: &str) -> bool {
    // Half of a secret is too much as well.
    let half = &secret[secret.len() / 2..];
    let text = String::from_utf8_lossy(bytes);
    text.contains(secret) || text.contains(half)
}

fn every_file(directory: &Path, with: &mut dyn FnMut(&Path, Vec<u8>)) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            every_file(&path, with);
        } else {
            with(&path, fs::read(&path).unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_secret_of_a_call_reaches_a_record_a_log_or_an_answer(
        secret in prop::sample::select(secrets()),
        form in 0usize..60,
        mangled in any::<bool>(),
    ) {
        let project = Project::new();
        project.write("~/.config/holdpoint/permissions.json", b"{\"profile\":\"balanced\",\"onError\":\"defer\"}");
        let mut payload = carrying(&secret, form).to_string();
        if mangled {
            // Cut off, so that it cannot be read: the error may not quote it.
            payload.truncate(payload.len() - 2);
        }
        let output = hook(&project, payload.as_bytes());
        prop_assert!(!mentions(&output.stdout, &secret), "{:?}", output);
        prop_assert!(!mentions(&output.stderr, &secret), "{:?}", output);
        let mut leaks = Vec::new();
        every_file(&project.home().join(".local"), &mut |path, bytes| {
            if mentions(&bytes, &secret) || path.to_string_lossy().contains(&secret) {
                leaks.push(path.to_owned());
            }
        });
        prop_assert!(leaks.is_empty(), "{payload}: {leaks:?}");
        prop_assert!(records(&project).len() == 2, "{payload}");
    }
}
