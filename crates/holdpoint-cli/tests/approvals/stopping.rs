//! The stop button: from the command line, on the page and in the sandbox (issue 19).

#[cfg(target_os = "linux")]
use std::os::unix::fs::symlink;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::people::person;
#[cfg(target_os = "linux")]
use super::test_home::started;
use super::test_home::{TestHome, ran};

#[test]
fn a_stopped_session_makes_no_call_whatever_the_policy_until_a_person_resumes_it() {
    let mut test_home = TestHome::under(json!({
        "defaultPolicy": "allow",
        "mode": "observe",
        "allow": {"tools": ["Bash"]},
    }));
    let list = test_home.bash("ls");
    // Where calls are only observed, nothing is said of one that may run.
    assert_eq!(test_home.told(&list).word, "");
    let said = test_home.says(&["stop", "s1", "--reason", "what is it doing?"]);
    assert!(said.contains("holdpoint resume s1"), "{said}");
    let heard = test_home.told(&list);
    assert_eq!(heard.word, "deny");
    assert!(heard.reason.contains("what is it doing?"), "{heard:?}");
    assert!(heard.reason.contains("holdpoint resume s1"), "{heard:?}");
    assert_eq!(test_home.last("decision")["method"], "stopped");
    // Another session goes on; a restart changes nothing.
    let mut other = test_home.bash("ls");
    other["session_id"] = json!("s2");
    assert_eq!(test_home.told(&other).word, "");
    test_home.kill();
    test_home.start();
    assert_eq!(test_home.told(&list).word, "deny");
    let stopped: Value =
        serde_json::from_str(&test_home.says(&["stop", "--list", "--json"])).unwrap();
    assert_eq!(stopped["stopped"][0]["scope"], json!({"session": "s1"}));
    test_home.says(&["resume"]);
    assert_eq!(test_home.told(&list).word, "");
    let changes = test_home.records().into_iter();
    let actions: Vec<Value> = changes
        .filter(|record| record["kind"] == "session_rule")
        .map(|record| record["detail"]["action"].clone())
        .collect();
    assert_eq!(actions, ["stop", "resume"]);
}

#[test]
fn what_waits_is_refused_when_it_is_stopped_on_the_page() {
    let test_home = TestHome::asking();
    let ann = person(&test_home, "ann");
    let call = test_home.held(&test_home.bash("make one"));
    let (status, said) = ann.posts("/api/stop", &json!({"scope": "all", "reason": "lunch"}));
    assert_eq!(
        (status, &said["refused"]),
        (200, &json!([call.id])),
        "{said}"
    );
    let heard = call.hears();
    assert_eq!(heard.word, "deny");
    assert!(heard.reason.contains("lunch"), "{heard:?}");
    assert_eq!(test_home.told(&test_home.bash("make two")).word, "deny");
    let (status, said) = ann.posts("/api/resume", &json!({"scope": "all"}));
    assert_eq!(
        (status, &said["was_stopped"]),
        (200, &json!(true)),
        "{said}"
    );
    test_home.held(&test_home.bash("make two")).kill();
    assert_eq!(ann.posts("/api/stop", &json!({"scope": "some"})).0, 400);
}

#[test]
fn an_answer_given_before_the_stop_releases_nothing_after_it() {
    let test_home = TestHome::under(json!({"approval": {"wait": 3}}));
    let call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    assert_eq!(call.hears().word, "deny");
    test_home.says(&["approve", &id]);
    test_home.says(&["stop", "--agent", "claude-code"]);
    assert_eq!(test_home.told(&test_home.bash("make one")).word, "deny");
    test_home.says(&["resume", "--agent", "claude-code"]);
    assert_eq!(test_home.told(&test_home.bash("make one")).word, "allow");
}

#[test]
fn agents_neither_stop_nor_resume() {
    let test_home = TestHome::asking();
    test_home.says(&["stop", "--all"]);
    for arguments in [&["resume", "--all"][..], &["stop", "--agent", "codex"]] {
        let mut command = test_home.program(arguments);
        let ran = ran(command.env("CLAUDECODE", "1"));
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("only a person"), "{ran:?}");
    }
    let nothing = test_home.run(&["resume", "--agent", "codex"]);
    assert!(nothing.out.contains("was not stopped"), "{nothing:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_in_the_sandbox_ends_when_its_session_is_stopped() {
    let test_home = TestHome::under(json!({
        "defaultPolicy": "defer",
        "tools": {"Bash": {"supervision": "contain"}},
    }));
    symlink("/bin/bash", test_home.path("claude")).unwrap();
    let contained = |command: &str| {
        let claude = test_home.path("claude");
        let mut agent = test_home.clean(&claude.to_string_lossy());
        agent.env_remove("HOLDPOINT_SANDBOX");
        let hook = format!("{} hook claude-code; true", env!("CARGO_BIN_EXE_holdpoint"));
        let hook = started(agent.args(["-c", &hook, "agent"]), &test_home.bash(command));
        let out = hook.wait_with_output().unwrap();
        let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
        let line = &answer["hookSpecificOutput"]["updatedInput"]["command"];
        line.as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    };
    let outside = |line: &str| {
        let mut command = test_home.clean("/bin/bash");
        command.env_remove("HOLDPOINT_SANDBOX").args(["-c", line]);
        command
    };
    let line = contained("touch started; sleep 60");
    // Its ticket is good, and it has not been used yet.
    let later = contained("touch later");
    let begun = Instant::now();
    let running = started(&mut outside(&line), &Value::Null);
    while !test_home.work().join("started").exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "it does not start"
        );
        sleep(Duration::from_millis(20));
    }
    test_home.says(&["stop", "s1"]);
    let out = running.wait_with_output().unwrap();
    let told = String::from_utf8(out.stderr).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(40), "{told}");
    assert!(told.contains("a person has stopped"), "{told}");
    assert_eq!(test_home.last("result")["detail"]["ended"], "stopped");
    let refused = ran(&mut outside(&later));
    assert!(refused.err.contains("a person has stopped"), "{refused:?}");
    assert!(!test_home.work().join("later").exists());
}
