//! What a session has made is its own, through the real hook: one call makes something, its result is told, and the next call
//! may take it away. What somebody else made, or what took its place, is asked about as ever.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const HOLDPOINT: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A home and a repository in it, with an agent that runs what it is let run.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new(profile: &str) -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = Self { root };
        fs::create_dir_all(place.at("home/.config/holdpoint")).unwrap();
        fs::create_dir_all(place.at("project")).unwrap();
        let policy = format!(r#"{{"profile": "{profile}", "approval": {{"presence": "none"}}}}"#);
        fs::write(place.at("home/.config/holdpoint/permissions.json"), policy).unwrap();
        place.run("git init -q -b main && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.at("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOLDPOINT_SANDBOX", "none")
            .current_dir(self.at("project"));
        command
    }

    fn run(&self, line: &str) {
        let mut shell = self.command("bash");
        shell
            .args(["-c", line])
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        assert!(shell.status().unwrap().success(), "{line}");
    }

    fn hook(&self, event: &str, session: &str, line: &str) -> Value {
        let payload = json!({
            "session_id": session, "hook_event_name": event, "cwd": self.at("project"),
            "transcript_path": "/nowhere", "tool_name": "Bash", "tool_input": {"command": line},
            "tool_response": {"stdout": "", "stderr": "", "interrupted": false, "isImage": false},
            "error": "Exit code 1",
        });
        self.payload(&payload)
    }

    /// What the hook says to a payload.
    fn payload(&self, payload: &Value) -> Value {
        serde_json::from_slice(&self.answered(payload).stdout).unwrap_or(Value::Null)
    }

    /// How the hook ends that is given a payload, and what it prints.
    fn answered(&self, payload: &Value) -> Output {
        self.answered_with(payload, &[])
    }

    /// The same where the agent has these variables.
    fn answered_with(&self, payload: &Value, variables: &[(&str, &Path)]) -> Output {
        let mut hook = self.command(HOLDPOINT);
        hook.args(["hook", "claude-code"])
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = hook.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(payload.to_string().as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }

    /// What is said of a call before it runs: `allow`, `ask`, `deny`, or nothing.
    fn asked(&self, session: &str, line: &str) -> String {
        let reply = self.hook("PreToolUse", session, line);
        let said = reply.pointer("/hookSpecificOutput/permissionDecision");
        said.and_then(Value::as_str).unwrap_or("nothing").to_owned()
    }

    /// A call from its question to its result, as an agent makes it.
    fn call(&self, session: &str, line: &str) {
        let said = self.asked(session, line);
        assert!(said == "nothing" || said == "allow", "{line}: {said}");
        self.run(line);
        self.hook("PostToolUse", session, line);
    }
}

/// Whether the file system says when something was made; where it does not, everything is asked about.
fn knows_births(place: &Place) -> bool {
    fs::metadata(place.at("project")).unwrap().created().is_ok()
}

#[test]
fn a_directory_of_the_session_may_go_and_another_may_not() {
    let place = Place::new("balanced");
    if !knows_births(&place) {
        return;
    }
    fs::create_dir(place.at("project/theirs")).unwrap();
    fs::write(place.at("project/theirs/notes.txt"), "x").unwrap();
    thread::sleep(Duration::from_millis(30));
    place.call("s1", "mkdir -p results/deep && echo x > results/deep/a.txt");
    assert_eq!(place.asked("s1", "rm -rf results"), "nothing");
    assert_eq!(place.asked("s1", "rm -rf results/deep"), "nothing");
    assert_eq!(place.asked("s1", "rm -rf theirs"), "ask");
    assert_eq!(place.asked("s1", "rm -rf results theirs"), "ask");
    assert_eq!(
        place.asked("s2", "rm -rf results"),
        "ask",
        "another session"
    );
    fs::rename(
        place.at("project/theirs/notes.txt"),
        place.at("project/results/notes.txt"),
    )
    .unwrap();
    assert_eq!(
        place.asked("s1", "rm -rf results"),
        "ask",
        "somebody's file was moved there"
    );
    fs::remove_dir_all(place.at("project/results")).unwrap();
    thread::sleep(Duration::from_millis(30));
    fs::create_dir(place.at("project/results")).unwrap();
    fs::write(place.at("project/results/notes.txt"), "y").unwrap();
    assert_eq!(
        place.asked("s1", "rm -rf results"),
        "ask",
        "it has only the name"
    );
}

#[test]
fn a_branch_of_the_session_may_go_and_another_may_not() {
    let place = Place::new("balanced");
    if !knows_births(&place) {
        return;
    }
    place.run("git branch theirs");
    place.call("s", "git checkout -q -b mine && git checkout -q main");
    assert_eq!(place.asked("s", "git branch -D mine"), "nothing");
    assert_eq!(place.asked("s", "git branch -D theirs"), "ask");
    assert_eq!(place.asked("s", "git branch -D mine theirs"), "ask");
    place.run("git branch -q -D mine && git branch mine");
    assert_eq!(
        place.asked("s", "git branch -D mine"),
        "ask",
        "it has only the name"
    );
}

#[test]
fn a_process_of_the_session_may_be_ended_and_another_may_not() {
    let place = Place::new("autopilot");
    let mut theirs = Command::new("sleep").arg("60").spawn().unwrap();
    thread::sleep(Duration::from_millis(50));
    let line = "sleep 60 > /dev/null 2>&1 & echo $! > pid.txt";
    place.call("s", line);
    let mine = fs::read_to_string(place.at("project/pid.txt")).unwrap();
    let mine = mine.trim();
    assert_eq!(place.asked("s", &format!("kill {mine}")), "allow");
    assert_ne!(place.asked("s2", &format!("kill {mine}")), "allow");
    assert_ne!(
        place.asked("s", &format!("kill {mine} {}", theirs.id())),
        "allow"
    );
    theirs.kill().unwrap();
    theirs.wait().unwrap();
    Command::new("kill").arg(mine).status().unwrap();
}

/// The reason of what is said of a call before it runs.
fn reason(place: &Place, session: &str, line: &str) -> String {
    let reply = place.hook("PreToolUse", session, line);
    let said = reply.pointer("/hookSpecificOutput/permissionDecisionReason");
    said.and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn a_question_released_twice_in_the_same_form_offers_the_rule_that_would_answer_it() {
    let place = Place::new("balanced");
    let line = |number: u32| format!("gh release delete v{number} --yes");
    let offers = |line: &str| {
        reason(&place, "s", line).contains("holdpoint permissions allow 'gh release delete")
    };
    assert_eq!(place.asked("s", &line(1)), "ask");
    // Nobody has said yes yet: the question alone is no release.
    assert!(!offers(&line(1)));
    place.hook("PostToolUse", "s", &line(1));
    assert!(!offers(&line(2)), "once is not twice");
    place.hook("PostToolUse", "s", &line(2));
    // The result of a call that is told twice is one release.
    place.hook("PostToolUse", "s", &line(2));
    let told = reason(&place, "s", &line(3));
    assert!(told.contains("released 2 times"), "{told}");
    assert!(!reason(&place, "another", &line(3)).contains("permissions allow"));
    // The rule that is shown does what is said of it.
    let mut parts = told.split("nobody is asked again: `holdpoint ").skip(1);
    let command = parts
        .next()
        .and_then(|rest| rest.split('`').next())
        .unwrap();
    let mut shell = place.command("bash");
    shell.args(["-c", &format!("{HOLDPOINT} {command} --session s")]);
    let output = shell.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(place.asked("s", &line(4)), "allow", "{told}");
    assert_eq!(place.asked("s", "gh repo delete me/x --yes"), "deny");
}

/// A policy that asks about commits without tests.
const TESTED_COMMITS: &str = r#"{"profile": "balanced", "tools": {"Bash": {"supervision": "confirm",
    "conditions": {"command_starts_with": "git commit", "facts": {"tests_passed": false}}}}}"#;

#[test]
fn an_edit_that_cannot_be_remembered_is_refused_so_that_tests_before_it_do_not_count() {
    let place = Place::new("balanced");
    fs::write(
        place.at("home/.config/holdpoint/permissions.json"),
        TESTED_COMMITS,
    )
    .unwrap();
    place.hook("PreToolUse", "s", "cargo test");
    place.hook("PostToolUse", "s", "cargo test");
    assert_eq!(place.asked("s", "git commit -m x"), "nothing");
    // From here on nothing of the session can be written, while what it remembers is read as before.
    let sessions = place.at("home/.local/state/holdpoint/sessions");
    let locks: Vec<PathBuf> = fs::read_dir(&sessions)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "lock"))
        .collect();
    assert!(!locks.is_empty());
    for lock in &locks {
        fs::remove_file(lock).unwrap();
        fs::create_dir(lock).unwrap();
    }
    for (tool, input) in [
        ("Bash", json!({"command": "sed -i s/a/b/ src/x.rs"})),
        (
            "Write",
            json!({"file_path": place.at("project/a.rs"), "content": "x"}),
        ),
    ] {
        let payload = json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": place.at("project"),
            "transcript_path": "/nowhere", "tool_name": tool, "tool_input": input,
        });
        let output = place.answered(&payload);
        // The exit code by which a hook refuses a call it could not judge.
        assert_eq!(output.status.code(), Some(2), "{tool}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            told.contains("the session's state cannot be used"),
            "{told}"
        );
    }
    // Nothing was edited, so what was tested is what is there.
    assert_eq!(place.asked("s", "git commit -m x"), "nothing");
    for lock in &locks {
        fs::remove_dir(lock).unwrap();
    }
    assert_eq!(place.asked("s", "sed -i s/a/b/ src/x.rs"), "nothing");
    assert_eq!(place.asked("s", "git commit -m x"), "ask");
}

#[test]
fn a_rule_knows_whether_tests_passed_since_the_last_edit() {
    let place = Place::new("balanced");
    fs::write(
        place.at("home/.config/holdpoint/permissions.json"),
        TESTED_COMMITS,
    )
    .unwrap();
    let commit = || place.asked("s", "git commit -m x");
    let ran = |event: &str, line: &str| {
        place.hook("PreToolUse", "s", line);
        place.hook(event, "s", line);
    };
    assert_eq!(commit(), "ask");
    ran("PostToolUse", "cargo test | tail -5");
    assert_eq!(commit(), "ask", "a pipe hides how they went");
    ran("PostToolUse", "cargo test");
    assert_eq!(commit(), "nothing");
    ran("PostToolUse", "git status && git add -A");
    assert_eq!(commit(), "nothing");
    assert_eq!(place.asked("another", "git commit -m x"), "ask");
    ran("PostToolUse", "sed -i s/a/b/ src/x.rs");
    assert_eq!(commit(), "ask");
    ran("PostToolUse", "cargo test");
    assert_eq!(commit(), "nothing");
    ran("PostToolUseFailure", "cargo test");
    let told = reason(&place, "s", "git commit -m x");
    assert!(told.contains("tests_passed `no`"), "{told}");
    ran("PostToolUse", "cargo test");
    let edit = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": place.at("project"), "transcript_path": "/nowhere",
        "tool_name": "Write", "tool_input": {"file_path": place.at("project/a.rs"), "content": "x"},
    });
    place.payload(&edit);
    assert_eq!(commit(), "ask", "a tool has edited");
    // An edit while they run was not tested.
    place.hook("PreToolUse", "s", "cargo test");
    place.payload(&edit);
    place.hook("PostToolUse", "s", "cargo test");
    assert_eq!(commit(), "ask", "edited meanwhile");
    ran("PostToolUse", "cargo test");
    assert_eq!(commit(), "nothing");
    ran("PostToolUse", "cargo test && echo x > src/x.rs");
    assert_eq!(commit(), "ask", "a redirection edits");
}

#[test]
fn a_terminal_of_its_own_may_be_told_a_line_of_a_file_whatever_runs_there() {
    let place = Place::new("balanced");
    let sockets = place.at("project").join("sockets");
    fs::create_dir(&sockets).unwrap();
    let tmux = |words: &str| format!("TMUX_TMPDIR='{}' tmux {words}", sockets.display());
    if !Command::new("tmux")
        .arg("-V")
        .output()
        .is_ok_and(|out| out.status.success())
    {
        let left_out = std::env::var_os("HOLDPOINT_SKIP_TERMINAL").is_some();
        assert!(
            left_out,
            "tmux is missing; HOLDPOINT_SKIP_TERMINAL=1 leaves this out"
        );
        return;
    }
    // The hook looks for terminals where the agent's own tmux has them.
    let asked = |line: &str| {
        let payload = json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": place.at("project"),
            "transcript_path": "/nowhere", "tool_name": "Bash", "tool_input": {"command": line},
        });
        let reply = place.answered_with(&payload, &[("TMUX_TMPDIR", sockets.as_path())]);
        let reply: Value = serde_json::from_slice(&reply.stdout).unwrap_or(Value::Null);
        let said = reply.pointer("/hookSpecificOutput/permissionDecision");
        said.and_then(Value::as_str).unwrap_or("nothing").to_owned()
    };
    let result = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "cwd": place.at("project"), "transcript_path": "/nowhere",
        "tool_name": "Bash", "tool_input": {"command": "tmux new-session -d -s work less f.txt"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false, "isImage": false},
    });
    fs::write(place.at("project/f.txt"), "1\n2\n3\n").unwrap();
    assert_eq!(asked("tmux new-session -d -s work less f.txt"), "nothing");
    place.run(&tmux("new-session -d -s work less f.txt"));
    place.answered_with(&result, &[("TMUX_TMPDIR", sockets.as_path())]);
    place.run(&tmux("new-session -d -s theirs less f.txt"));
    let said: Vec<String> = [
        "tmux send-keys -t work ':13' Enter",
        "tmux send-keys -t work ':!rm x' Enter",
        "tmux send-keys -t work ':13'",
        "tmux send-keys -t work ':13' 'w x' Enter",
        "tmux send-keys -t theirs ':13' Enter",
    ]
    .map(asked)
    .into();
    place.run(&tmux("kill-server"));
    assert_eq!(said, ["nothing", "ask", "ask", "ask", "ask"]);
}
