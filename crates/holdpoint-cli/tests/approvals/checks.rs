//! What is looked at before a person is asked, and kept before a released call runs.

use std::fs;

use serde_json::{Value, json};

use super::test_home::TestHome;

fn checking() -> TestHome {
    TestHome::under(json!({"tools": {
        "Write": {
            "supervision": "confirm",
            "checks": ["disk_space", "permission", "sensitive_data", "backup"],
        },
        "Bash": {
            "supervision": "confirm",
            "checks": ["command_validator", "sandbox_check", "size_limit"],
        },
    }}))
}

fn write(test_home: &TestHome, name: &str, text: &str) -> Value {
    let path = test_home.work().join(name);
    test_home.payload("Write", json!({"file_path": path, "content": text}))
}

fn results(card: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = card["checks"].as_array().unwrap();
    let results = checks
        .iter()
        .map(|one| (word(&one["check"]), word(&one["status"])));
    results.collect()
}

fn found(card: &Value, check: &str) -> (String, String) {
    let checks = card["checks"].as_array().unwrap();
    let one = checks.iter().find(|one| one["check"] == check).unwrap();
    let word = |key: &str| one[key].as_str().unwrap().to_owned();
    (word("status"), word("message"))
}

//
#[test]
fn the_person_sees_what_the_checks_really_found() {
    let test_home = checking();
    let call = test_home.held(&write(&test_home, "plain.txt", "nothing to see"));
    let card = test_home.card(&call.id);
    let found_of = |check: &str| found(&card, check);
    assert_eq!(found_of("disk_space").0, "passed", "{card}");
    assert!(
        found_of("disk_space")
            .1
            .chars()
            .any(|letter| letter.is_ascii_digit())
    );
    assert_eq!(found_of("permission").0, "passed");
    assert_eq!(found_of("sensitive_data").0, "passed");
    assert_eq!(found_of("backup").0, "skipped", "its time has not come");
    assert_eq!(results(&card).len(), 4);
    let shown = test_home.says(&["pending", &call.id]);
    assert!(shown.contains("check:"), "{shown}");
    call.kill();

    let token = ["ghp", "_", "Zk3vT9qLm2Xc7RbN5wYh8JdF4sGp1AeU6oKi"].concat();
    let call = test_home.held(&write(
        &test_home,
        "notes.txt",
        &format!("token = {token}\n"),
    ));
    let card = test_home.card(&call.id);
    let (status, message) = found(&card, "sensitive_data");
    assert_eq!(status, "warning", "{card}");
    assert!(!message.contains(&token), "{message}");
    assert!(!card.to_string().contains(&token));
    call.kill();
}

// a check that fails or cannot be made refuses, and nobody is asked.
#[test]
fn a_failed_check_refuses_without_asking_anybody() {
    let test_home = checking();
    fs::create_dir(test_home.work().join("build")).unwrap();
    for (payload, why) in [
        (
            write(&test_home, "missing/notes.txt", "text"),
            "does not exist",
        ),
        // The spelling a list of words would miss.
        (test_home.bash("rm -fr build"), "rm -fr build"),
        (test_home.bash("rm --force --recursive build"), "build"),
    ] {
        let heard = test_home.told(&payload);
        assert_eq!(heard.word, "deny", "{heard:?}");
        assert!(heard.reason.contains(why), "{heard:?}");
        let record = test_home.last("decision");
        assert_eq!(record["verdict"], "deny");
        assert_eq!(record["method"], "tool_policy", "{record}");
    }
    let opened = test_home
        .records()
        .iter()
        .any(|record| record["kind"] == "hold_opened");
    assert!(!opened, "nothing was ever pending");
}

// an answer cannot bring in arguments that a check would have refused.
#[test]
fn an_edited_call_is_checked_again() {
    let test_home = checking();
    fs::create_dir(test_home.work().join("build")).unwrap();
    let call = test_home.held(&test_home.bash("make clean"));
    test_home.says(&["approve", &call.id, "--edit", "command=rm -fr build"]);
    let heard = call.hears();
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(test_home.waiting().is_empty());
}

//
#[test]
fn a_check_nobody_knows_is_an_error_of_the_policy_and_lets_nothing_run() {
    for name in [
        "url_validator",
        "confirmation",
        "confirmation_double",
        "disk-space",
    ] {
        let test_home = TestHome::alone(json!({
            "defaultPolicy": "allow",
            "tools": {"Bash": {"supervision": "automatic", "checks": [name]}},
        }));
        let ran = test_home.run(&["check", "ls"]);
        assert_eq!(ran.code, 1, "{name}: {ran:?}");
        assert!(ran.err.contains(&format!("`{name}`")), "{ran:?}");
        let heard = test_home.told(&test_home.bash("ls"));
        assert_eq!(heard.code, 2, "{name}: {heard:?}");
    }
}

//
#[test]
fn a_copy_is_kept_after_the_release_and_before_the_call_and_can_be_restored() {
    let test_home = checking();
    let backups = test_home.path(".local/state/holdpoint/backups");
    let kept = || fs::read_dir(&backups).map_or(0, Iterator::count);
    let refused = test_home.held(&write(&test_home, "other.txt", "x"));
    test_home.says(&["deny", &refused.id]);
    refused.hears();
    assert_eq!(kept(), 0, "what does not run needs no copy");

    // Files of the same name in two places, written in turn.
    let mut texts = Vec::new();
    for place in ["a", "b"] {
        fs::create_dir(test_home.work().join(place)).unwrap();
        let name = format!("{place}/notes.txt");
        let before = format!("written by hand in {place}\n");
        let path = test_home.file(&name, &before);
        let call = test_home.held(&write(&test_home, &name, "overwritten\n"));
        test_home.says(&["approve", &call.id]);
        assert_eq!(call.hears().word, "allow");
        fs::write(&path, "overwritten\n").unwrap();
        texts.push((path, before));
    }
    assert!(kept() > 0);
    let list = test_home.says(&["undo", "--list", "--json"]);
    let made: Vec<Value> = list
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(made.len(), 2, "{list}");
    for one in made.iter().rev() {
        test_home.says(&["undo", one["id"].as_str().unwrap(), "--yes"]);
    }
    for (path, before) in texts {
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
}
