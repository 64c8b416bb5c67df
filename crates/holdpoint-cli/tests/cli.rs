//! The program from outside: command lines in, exit codes and text out.
//!
//! Most of it is data. A file under `corpus/cli`, `corpus/hook` or `corpus/replay` holds cases; each runs in a project of its own
//! with a home of its own, and all that fail are reported at once. `HOLDPOINT_CASE=text` runs the
//! cases whose file or name contains the text. What needs two processes at a time, a pipe that
//! breaks or a terminal is written out below.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "cli/agents.rs"]
mod agents;
#[path = "cli/answer.rs"]
mod answer;
#[path = "cli/case.rs"]
mod case;
#[path = "cli/expect.rs"]
mod expect;
#[path = "cli/project.rs"]
mod project;
#[cfg(target_os = "linux")]
#[path = "cli/replay.rs"]
mod replay;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use holdpoint_agents::hook::Agent;
use serde_json::json;

use crate::case::Cases;
use crate::project::Project;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_case_of_the_corpus_holds() {
    assert!(
        !Path::new("/etc/holdpoint").exists(),
        "/etc/holdpoint is a layer of every case here: run these tests on a machine without one"
    );
    let mut files: Vec<PathBuf> = ["corpus/cli", "corpus/hook", "corpus/replay"]
        .iter()
        .flat_map(|directory| fs::read_dir(root().join(directory)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    let wanted = std::env::var("HOLDPOINT_CASE").unwrap_or_default();
    let mut cases = Vec::new();
    let mut usual = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let topic = file
            .strip_prefix(root().join("corpus"))
            .unwrap()
            .with_extension("")
            .display()
            .to_string();
        let text = fs::read_to_string(file).unwrap();
        let read: Cases = toml::from_str(&text).unwrap_or_else(|error| panic!("{topic}: {error}"));
        assert!(!read.about.is_empty(), "{topic}: say what it is about");
        usual.push(read.run);
        let mut names = BTreeSet::new();
        for case in read.case {
            assert!(
                names.insert(case.name.clone()),
                "{topic}: `{}` stands twice",
                case.name
            );
            let label = format!("{topic}: {}", case.name);
            if label.contains(&wanted) {
                cases.push((label, number, case));
            }
        }
    }
    assert!(!cases.is_empty(), "there are no cases");

    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((label, file, case)) =
                    cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    if let Err(problem) = case.run(&usual[*file]) {
                        failed
                            .lock()
                            .unwrap()
                            .push(format!("--- {label}\n{problem}"));
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort();
    assert!(
        failed.is_empty(),
        "{} of {} cases failed\n\n{}",
        failed.len(),
        cases.len(),
        failed.join("\n")
    );
}

#[test]
fn a_case_with_a_slip_in_it_is_refused() {
    let good = "about = 'x'\n[[case]]\nname = 'x'\nrun = 'holdpoint'\nexit = 1\n";
    assert!(toml::from_str::<Cases>(good).is_ok());
    for slip in [
        "exti = 1",
        "stderr_hsa = ['x']",
        "files = { x = { hxe = '00' } }",
        "files = { x = { hex = '00', repeat = ['x', 1] } }",
        "step = [{ run = 'holdpoint', exti = 1 }]",
        "step = [{ run = 'holdpoint', as_nobody = true }]",
    ] {
        assert!(
            toml::from_str::<Cases>(&format!("{good}{slip}\n")).is_err(),
            "{slip}"
        );
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

fn spawned(command: &mut Command) -> Running {
    Running(
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    )
}

const LIMITED: &str =
    r#"{"defaultPolicy": "allow", "tools": {"deploy": {"maxCallsPerSession": 5}}}"#;

#[test]
fn a_batch_answers_before_the_next_line_is_sent() {
    let project = Project::new();
    let mut child = spawned(project.command().args(["check", "--batch"]));
    let mut calls = child.0.stdin.take().unwrap();
    let mut answers = BufReader::new(child.0.stdout.take().unwrap());
    for round in 0..3 {
        calls.write_all(b"{\"tool\":\"Read\"}\n").unwrap();
        calls.flush().unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(
            answer.starts_with(r#"{"v":1,"verdict":"allow""#),
            "{round}: {answer}"
        );
    }
    // The last line needs no line break, only an end.
    calls.write_all(b"{\"tool\":\"Write\"}").unwrap();
    drop(calls);
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.lines().count(), 1, "{rest}");
    assert!(child.0.wait().unwrap().success());
}

#[test]
fn a_rule_made_while_a_batch_runs_holds_for_the_calls_that_follow() {
    let project = Project::new();
    let mut child = spawned(project.command().args(["check", "--batch"]));
    let mut calls = child.0.stdin.take().unwrap();
    let mut answers = BufReader::new(child.0.stdout.take().unwrap());
    let mut verdict = |tool: &str| {
        writeln!(calls, "{{\"tool\":\"{tool}\"}}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        answer["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("deploy"), "allow");
    let denied = project
        .command()
        .args(["permissions", "deny", "deploy"])
        .output()
        .unwrap();
    assert!(denied.status.success());
    // What was read is kept for half a second at most.
    let patience = Instant::now() + Duration::from_secs(5);
    while verdict("deploy") != "deny" {
        assert!(Instant::now() < patience, "the rule is never seen");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn processes_that_race_for_the_last_call_do_not_both_make_it() {
    let project = Project::new();
    project.write("permissions.json", LIMITED.as_bytes());
    let racers: Vec<Running> = (0..12)
        .map(|_| {
            let args = ["check", "--config", "permissions.json", "--tool", "deploy"];
            spawned(project.command().args(args))
        })
        .collect();
    let mut codes: Vec<i32> = racers
        .into_iter()
        .map(|mut racer| racer.0.wait().unwrap().code().unwrap())
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2]);
}

#[test]
fn batches_that_race_share_one_count() {
    let project = Project::new();
    project.write("permissions.json", LIMITED.as_bytes());
    let calls = "{\"tool\":\"deploy\",\"session\":\"shared\"}\n".repeat(5);
    let mut racers: Vec<Running> = (0..2)
        .map(|_| {
            spawned(
                project
                    .command()
                    .args(["check", "--batch", "--config", "permissions.json"]),
            )
        })
        .collect();
    for racer in &mut racers {
        racer
            .0
            .stdin
            .take()
            .unwrap()
            .write_all(calls.as_bytes())
            .unwrap();
    }
    let mut allowed = 0;
    for racer in &mut racers {
        let mut answers = String::new();
        racer
            .0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut answers)
            .unwrap();
        assert_eq!(answers.lines().count(), 5, "{answers}");
        allowed += answers.matches(r#""verdict":"allow""#).count();
    }
    assert_eq!(allowed, 5);
}

#[test]
fn rules_added_by_twenty_processes_at_once_are_all_kept() {
    let project = Project::new();
    project.wants_no_terminal();
    let writers: Vec<Running> = (0..20)
        .map(|number| {
            let pattern = format!("tool-{number} *");
            spawned(project.command().args(["permissions", "allow", &pattern]))
        })
        .collect();
    for mut writer in writers {
        assert!(writer.0.wait().unwrap().success());
    }
    let shown = project
        .command()
        .args(["permissions", "show", "--json"])
        .output()
        .unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let mut kept: Vec<&str> = shown["state"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule.as_str().unwrap())
        .collect();
    kept.sort_unstable();
    let mut wanted: Vec<String> = (0..20).map(|number| format!("tool-{number} *")).collect();
    wanted.sort_unstable();
    assert_eq!(kept, wanted);
}

#[test]
fn files_trusted_by_ten_processes_at_once_are_all_kept() {
    let project = Project::new();
    project.wants_no_terminal();
    let writers: Vec<Running> = (0..10)
        .map(|number| {
            let name = format!("policy-{number}.json");
            project.write(&name, b"{}");
            spawned(project.command().args(["trust", &name]))
        })
        .collect();
    for mut writer in writers {
        assert!(writer.0.wait().unwrap().success());
    }
    let listed = project
        .command()
        .args(["trust", "--list"])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(
        listed
            .lines()
            .filter(|line| line.starts_with("trusted "))
            .count(),
        10,
        "{listed}"
    );
}

#[test]
fn tidying_up_does_not_break_the_lock_of_a_session_in_use() {
    let project = Project::new();
    let permissions = |session: &str| {
        let mut command = project.command();
        command.args(["permissions", "deny", "rm *", "--session", session]);
        command
    };
    assert!(permissions("mine").output().unwrap().status.success());
    let path = project
        .home()
        .join(".local/state/holdpoint/sessions/mine.lock");
    let lock = fs::File::options().write(true).open(&path).unwrap();
    lock.lock().unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    lock.set_modified(SystemTime::now() - 2 * day).unwrap();

    // Another session's change removes what is too old.
    assert!(permissions("theirs").output().unwrap().status.success());
    let mut waiting = spawned(&mut permissions("mine"));
    thread::sleep(Duration::from_millis(500));
    assert!(
        waiting.0.try_wait().unwrap().is_none(),
        "two processes change one session at once"
    );
    lock.unlock().unwrap();
    assert!(waiting.0.wait().unwrap().success());
}

#[test]
fn what_is_kept_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let made = project
        .command()
        .args(["permissions", "deny", "rm *"])
        .output()
        .unwrap();
    assert!(made.status.success());
    let state = project.home().join(".local/state/holdpoint/sessions");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    assert_eq!(mode(&state.join("default.json")), 0o600);
    let left: Vec<String> = fs::read_dir(&state)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("draft"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_reader_that_leaves_early_is_no_reason_to_panic() {
    let project = Project::new();
    project.write("permissions.json", LIMITED.as_bytes());
    for args in [
        &["schema"][..],
        &["profiles"],
        &["profiles", "hooks"],
        &["completions", "bash"],
        &["man"],
        &["check", "ls"],
        &["check", "--json", "ls"],
        &["check", "--batch"],
        &["explain", "ls"],
        &["permissions", "show"],
        &["trust", "--list"],
        &["--help"],
        &["check", "--help"],
        &["--version"],
    ] {
        let mut child = spawned(project.command().args(args));
        drop(child.0.stdout.take());
        let mut calls = child.0.stdin.take().unwrap();
        // It may have ended already.
        let _ = calls.write_all("{\"tool\":\"Read\"}\n".repeat(1000).as_bytes());
        drop(calls);
        let mut said = String::new();
        child
            .0
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let ended = child.0.wait().unwrap();
        assert_eq!(said, "", "{args:?}");
        assert!(
            ended.code().is_some_and(|code| code <= 1),
            "{args:?}: {ended}"
        );
    }
}

const DENIED: &str = r#"{"tool_name":"Bash","tool_input":{"command":"rm -rf x"}}"#;

/// A project in which `DENIED` is denied.
fn guarded() -> Project {
    let project = Project::new();
    project.write(
        "permissions.json",
        br#"{"deny": {"patterns": ["rm -rf *"]}, "ask": {"patterns": ["make"]}}"#,
    );
    project
}

#[test]
fn a_hook_whose_answer_is_lost_blocks_the_call() {
    let project = guarded();
    let asked = r#"{"tool_name":"Bash","tool_input":{"command":"make"}}"#;
    for payload in [DENIED, asked] {
        // A reader that has gone.
        let mut child = spawned(project.command().args(["hook", "claude-code"]));
        drop(child.0.stdout.take());
        let mut stdin = child.0.stdin.take().unwrap();
        stdin.write_all(payload.as_bytes()).unwrap();
        drop(stdin);
        let mut said = String::new();
        let mut stderr = child.0.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(child.0.wait().unwrap().code(), Some(2));
        assert!(said.starts_with("Holdpoint denied this"), "{said}");

        // No output from the start.
        let line = r#"exec "$0" hook claude-code >&-"#;
        let mut shell = project.command_of("sh");
        let program = env!("CARGO_BIN_EXE_holdpoint");
        let mut child = spawned(shell.args(["-c", line, program]));
        let mut stdin = child.0.stdin.take().unwrap();
        stdin.write_all(payload.as_bytes()).unwrap();
        drop(stdin);
        assert_eq!(child.0.wait().unwrap().code(), Some(2));
    }
}

#[test]
fn a_hook_that_is_never_told_everything_denies_in_time() {
    let project = guarded();
    let mut child = spawned(project.command().args(["hook", "claude-code"]));
    let since = Instant::now();
    // Held open: there might be more to come.
    let mut stdin = child.0.stdin.take().unwrap();
    stdin.write_all(DENIED.as_bytes()).unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(2));
    let took = since.elapsed();
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(9));
    let mut said = String::new();
    let mut stderr = child.0.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert!(
        said.starts_with("Holdpoint denied this") && said.ends_with("took too long\n"),
        "{said}"
    );
}

#[test]
fn every_agents_hook_denies_in_time_in_its_agents_words() {
    let project = guarded();
    let mut waiting: Vec<(Agent, Running, _)> = Agent::ALL
        .into_iter()
        .map(|agent| {
            let mut child = spawned(project.command().args(["hook", agent.name()]));
            // Held open: there might be more to come.
            let mut stdin = child.0.stdin.take().unwrap();
            stdin.write_all(b"{").unwrap();
            (agent, child, stdin)
        })
        .collect();
    for (agent, child, _) in &mut waiting {
        let code = child.0.wait().unwrap().code();
        let (mut said, mut line) = (String::new(), String::new());
        let mut stdout = child.0.stdout.take().unwrap();
        stdout.read_to_string(&mut said).unwrap();
        let mut stderr = child.0.stderr.take().unwrap();
        stderr.read_to_string(&mut line).unwrap();
        assert!(
            line.starts_with("Holdpoint denied this") && line.ends_with("took too long\n"),
            "{agent:?}: {line}"
        );
        // These two do not hear what stands on standard error.
        let (denial, reason) = match agent {
            Agent::Cline => (Some(("cancel", json!(true))), "errorMessage"),
            Agent::Copilot => (
                Some(("permissionDecision", json!("deny"))),
                "permissionDecisionReason",
            ),
            Agent::ClaudeCode
            | Agent::Codex
            | Agent::Gemini
            | Agent::Cursor
            | Agent::Qwen
            | Agent::OpenCode
            | Agent::Windsurf
            | Agent::Kiro
            | Agent::Goose
            | Agent::Generic => (None, ""),
        };
        match denial {
            Some((key, word)) => {
                let words: serde_json::Value = serde_json::from_str(&said).unwrap();
                assert_eq!(words[key], word, "{agent:?}");
                assert!(!words[reason].as_str().unwrap().is_empty(), "{agent:?}");
            }
            None => assert_eq!((code, said.as_str()), (Some(2), ""), "{agent:?}"),
        }
    }
}

#[test]
fn a_hook_that_is_stopped_denies() {
    let project = guarded();
    let mut child = spawned(project.command().args(["hook", "claude-code"]));
    let mut stdin = child.0.stdin.take().unwrap();
    // More than a pipe holds: once it is written, the hook is reading.
    stdin.write_all(&b" ".repeat(1 << 20)).unwrap();
    let id = child.0.id().to_string();
    let sent = Command::new("kill").args(["-s", "TERM", &id]).status();
    assert!(sent.unwrap().success());
    assert_eq!(child.0.wait().unwrap().code(), Some(2));
}

#[test]
fn a_hook_that_defers_writes_down_why_each_time() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.write(
        "~/.config/holdpoint/permissions.json",
        br#"{"defaultPolicy": "ask", "onError": "defer"}"#,
    );
    for _ in 0..2 {
        let mut child = spawned(project.command().args(["hook", "claude-code"]));
        let mut stdin = child.0.stdin.take().unwrap();
        stdin.write_all(b"not a payload\x1b[31m").unwrap();
        drop(stdin);
        assert_eq!(child.0.wait().unwrap().code(), Some(0));
    }
    let path = project.home().join(".local/state/holdpoint/errors.log");
    let log = fs::read_to_string(&path).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["agent"], "claude-code");
        let error = line["error"].as_str().unwrap();
        assert!(error.contains("cannot be read"), "{error}");
        assert!(line["time"].as_u64().unwrap() > 1_600_000_000);
    }
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn settings_keep_their_mode_and_their_backup_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.write("~/.claude/settings.json", b"{\"env\":{\"TOKEN\":\"x\"}}");
    let settings = project.place("~/.claude/settings.json");
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o640)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let run = |command: &str| {
        let output = project.command().args([command, "claude-code"]).output();
        assert!(output.unwrap().status.success());
    };
    run("init");
    assert_eq!(mode(&settings), 0o640);
    let kept = fs::read_dir(project.place("~/.local/state/holdpoint/setup")).unwrap();
    let kept = kept.map(|entry| entry.unwrap().path()).next().unwrap();
    assert_eq!(mode(&kept), 0o700);
    assert_eq!(mode(&kept.join("settings.json")), 0o600);
    run("uninstall");
    assert_eq!(mode(&settings), 0o640);
}

#[test]
fn a_person_is_asked_before_settings_change() {
    let project = Project::new();
    let settings = project.place("~/.claude/settings.json");
    let program = env!("CARGO_BIN_EXE_holdpoint");
    let said = on_a_terminal(&project, &format!("{program} init claude-code"), &[]);
    assert!(said.contains("Which one? [balanced]/autopilot:"), "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
    assert!(!settings.exists());
    project.write(
        "~/.config/holdpoint/permissions.json",
        b"{\"profile\": \"balanced\"}",
    );
    let said = on_a_terminal(&project, &format!("{program} init claude-code"), &[]);
    assert!(said.contains("Change the file? [y/N]"), "{said}");
    assert!(said.contains("Nothing was changed."), "{said}");
    assert!(!settings.exists());
    on_a_terminal(&project, &format!("{program} init claude-code --yes"), &[]);
    assert!(settings.exists());
}

#[test]
fn who_has_no_policy_chooses_what_it_starts_from() {
    for (answers, profile) in [
        ("\ny\nn\n", Some("balanced")),
        ("autopilot\ny\nn\n", Some("autopilot")),
        ("autopilot\nn\n", None),
        ("all of it\n", None),
    ] {
        let project = Project::new();
        let line = format!("{} init claude-code", env!("CARGO_BIN_EXE_holdpoint"));
        let said = typed_on_a_terminal(&project, &line, answers);
        for described in ["  balanced   It objects", "  autopilot  Fewer prompts"] {
            assert!(said.contains(described), "{said}");
        }
        let text = fs::read_to_string(project.place("~/.config/holdpoint/permissions.json")).ok();
        let chosen = profile.map(|profile| format!("\"profile\": \"{profile}\""));
        match (&text, &chosen) {
            (Some(text), Some(chosen)) => assert!(text.contains(chosen.as_str()), "{text}"),
            (text, chosen) => assert_eq!(text.is_some(), chosen.is_some(), "{said}"),
        }
        assert_eq!(
            project.place("~/.claude/settings.json").exists(),
            profile.is_some()
        );
        // The service is offered once there is something to ask about, and no is the default.
        assert_eq!(
            said.contains("Start one, now and whenever you sign in"),
            profile.is_some(),
            "{said}"
        );
        assert!(!project.place("~/.config/systemd").exists());
    }
}

#[test]
fn every_command_explains_itself() {
    let project = Project::new();
    let help_of = |args: &[&str]| {
        let output = project.command().args(args).arg("--help").output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", output.status);
        assert!(output.stderr.is_empty(), "{args:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Usage: holdpoint"), "{args:?}: {text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{args:?}: {text}"
        );
        text
    };
    let commands_in = |text: &str| -> Vec<String> {
        text.lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect()
    };
    let commands = commands_in(&help_of(&[]));
    for known in [
        "check",
        "explain",
        "hook",
        "init",
        "uninstall",
        "permissions",
        "trust",
        "schema",
        "profiles",
        "completions",
        "man",
    ] {
        assert!(
            commands.iter().any(|name| name == known),
            "{known} is not in {commands:?}"
        );
    }
    for command in &commands {
        for inner in commands_in(&help_of(&[command])) {
            help_of(&[command, &inner]);
        }
    }
    let actions = commands_in(&help_of(&["permissions"]));
    assert_eq!(
        actions,
        [
            "sessions", "show", "allow", "deny", "default", "list", "forget", "clear", "unmark",
            "suspend", "resume", "status", "check"
        ]
    );
}

#[test]
fn the_schema_printed_is_the_schema_published() {
    let printed = Project::new().command().arg("schema").output().unwrap();
    assert!(printed.status.success());
    let published = fs::read(root().join("docs/policy.schema.json"))
        .expect("write it with: holdpoint schema > docs/policy.schema.json");
    assert!(
        printed.stdout == published,
        "docs/policy.schema.json is not what `holdpoint schema` prints: write it anew"
    );
}

#[test]
fn manual_pages_are_written_one_a_command() {
    let project = Project::new();
    let output = project
        .command()
        .args(["man", "--dir", "pages"])
        .output()
        .unwrap();
    assert!(output.status.success());
    for page in [
        "holdpoint.1",
        "holdpoint-check.1",
        "holdpoint-permissions-allow.1",
    ] {
        let text = fs::read_to_string(project.path().join("pages").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}

/// What the program writes to a terminal. `script` gives it one.
fn on_a_terminal(project: &Project, line: &str, variables: &[(&str, &str)]) -> String {
    let mut command = project.command_of("script");
    let output = command
        .args(["-qec", line, "/dev/null"])
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("this test needs `script` (util-linux)");
    String::from_utf8(output.stdout).unwrap()
}

/// The same, where somebody types these lines.
fn typed_on_a_terminal(project: &Project, line: &str, typed: &str) -> String {
    let mut child = project
        .command_of("script")
        .args(["-qec", line, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs `script` (util-linux)");
    let mut keys = child.stdin.take().unwrap();
    keys.write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(keys);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn colour_is_for_terminals_and_for_those_who_want_it() {
    let project = Project::new();
    let line = format!("{} check ls", env!("CARGO_BIN_EXE_holdpoint"));
    assert!(on_a_terminal(&project, &line, &[]).starts_with("\x1b[32mallow\x1b[0m: "));
    for plain in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let shown = on_a_terminal(&project, &line, &[plain]);
        assert!(shown.starts_with("allow: "), "{plain:?}: {shown:?}");
    }
    let piped = project
        .command()
        .args(["check", "ls"])
        .env("TERM", "xterm")
        .output()
        .unwrap();
    assert!(piped.stdout.starts_with(b"allow: "));
    let error = format!("{} check --bogus", env!("CARGO_BIN_EXE_holdpoint"));
    let shown = on_a_terminal(&project, &error, &[("NO_COLOR", "1")]);
    assert!(!shown.contains('\x1b'), "{shown:?}");
}

#[test]
fn text_from_outside_never_drives_the_terminal() {
    let project = Project::new();
    let hostile = "echo '\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}'\n\rrm -rf x";
    project.write("call.txt", hostile.as_bytes());
    project.write(
        "permissions.json",
        format!(
            "{{\"defaultPolicy\":\"ask\",\"deny\":{{\"patterns\":[{}]}}}}",
            serde_json::Value::String("rm*\x1b[31m*".into())
        )
        .as_bytes(),
    );
    for args in [
        &["check", "-", "--config", "permissions.json"][..],
        &["explain", "-", "--config", "permissions.json"],
        &["permissions", "show", "--config", "permissions.json"],
        &["permissions", "deny", hostile],
        &["permissions", "show"],
        &["check", "--session", "\x1b[31m", "ls"],
        &["explain", "--session", "\x1b[31m", "ls"],
        &["check", "--config", "\x1b[31m", "ls"],
        &["check", "--tool", "\x1b[31m"],
        &["explain", "--tool", "\x1b[31m\u{9b}"],
        &["check", "--cwd", "/\x1b[31m", "ls"],
        &["explain", "--cwd", "/\x1b[31m", "ls"],
        &["permissions", "check", "\x1b[31m x"],
        &["profiles", "\x1b[31m"],
        &["trust", "\x1b[31m"],
        &["trust", "--revoke", "\x1b[31m"],
        &["man", "--dir", "/dev/null/\x1b[31m"],
        &["check", "--\x1b[31m"],
        &["completions", "\x1b[31m"],
    ] {
        let output = project
            .command()
            .args(args)
            .stdin(fs::File::open(project.path().join("call.txt")).unwrap())
            .output()
            .unwrap();
        for (name, bytes) in [("output", output.stdout), ("errors", output.stderr)] {
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(expect::terminal_text(&text), Ok(()), "{name} of {args:?}");
        }
    }
}
