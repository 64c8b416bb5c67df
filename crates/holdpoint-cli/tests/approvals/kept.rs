//! Answers that are kept beyond their session: where, for whom, and how they are taken back.

use std::fs;

use serde_json::{Value, json};

use super::people::person;
use super::test_home::TestHome;

/// A shell line in a session and a directory.
fn call(test_home: &TestHome, session: &str, directory: &str, command: &str) -> Value {
    let mut payload = test_home.bash(command);
    payload["session_id"] = json!(session);
    payload["cwd"] = json!(fs::canonicalize(test_home.path(directory)).unwrap());
    payload
}

fn text(test_home: &TestHome, file: &str) -> String {
    fs::read_to_string(test_home.path(file)).unwrap_or_default()
}

#[test]
fn a_rule_kept_for_a_project_counts_in_its_other_sessions_and_nowhere_else() {
    let test_home = TestHome::asking();
    for directory in ["one/.git", "one/src", "two"] {
        fs::create_dir_all(test_home.path(directory)).unwrap();
    }
    let held = test_home.held(&call(&test_home, "s1", "one/src", "make all"));
    let policy = text(&test_home, ".config/holdpoint/permissions.json");
    test_home.says(&[
        "approve", &held.id, "--always", "exact", "--keep", "project",
    ]);
    assert_eq!(held.hears().word, "allow");
    let change = test_home.last("policy_change");
    assert_eq!(change["detail"]["change"]["place"], "project", "{change}");
    assert_eq!(change["detail"]["change"]["patterns"], json!(["make all"]));
    assert_eq!(
        policy,
        text(&test_home, ".config/holdpoint/permissions.json")
    );
    assert!(!test_home.path("one/.holdpoint").exists());

    let heard = test_home.told(&call(&test_home, "s2", "one", "make all"));
    assert_eq!(heard.word, "allow", "{heard:?}");
    for (directory, command) in [("two", "make all"), ("one", "make all clean")] {
        let held = test_home.held(&call(&test_home, "s2", directory, command));
        held.kill();
    }
    // Another repository in its place has none of it.
    let remote = "[remote \"origin\"]\n\turl = https://b.example/x\n";
    fs::write(test_home.path("one/.git/config"), remote).unwrap();
    test_home
        .held(&call(&test_home, "s3", "one", "make all"))
        .kill();
    fs::write(test_home.path("one/.git/config"), "").unwrap();
    let one = test_home.path("one").display().to_string();
    test_home.says(&[
        "permissions",
        "forget",
        "make all",
        "--cwd",
        &one,
        "--session",
        "s2",
    ]);
    test_home
        .held(&call(&test_home, "s4", "one", "make all"))
        .kill();
}

#[test]
fn a_rule_kept_for_its_user_is_added_to_their_policy_as_text() {
    let test_home = TestHome::alone(json!({}));
    let file = ".config/holdpoint/permissions.json";
    let policy = "{\n  // ours\n  \"defaultPolicy\": \"ask\",\n  \"approval\": {\"presence\": \"none\"},\n  \"channel\": {\"type\": \"daemon\"}\n}\n";
    fs::write(test_home.path(file), policy).unwrap();
    let mut test_home = test_home;
    test_home.start();
    let held = test_home.held(&test_home.bash("npm test"));
    test_home.says(&["approve", &held.id, "--always", "prefix", "--keep", "me"]);
    assert_eq!(held.hears().word, "allow");
    let now = text(&test_home, file);
    assert!(
        now.contains("// ours") && now.contains("\"npm test *\""),
        "{now}"
    );
    let heard = test_home.told(&call(&test_home, "s9", "work", "npm test -- x"));
    assert_eq!(heard.word, "allow", "{heard:?}");
}

#[test]
fn nobody_keeps_a_rule_in_the_policy_of_somebody_else() {
    let test_home = TestHome::asking();
    let ann = person(&test_home, "ann");
    let held = test_home.held(&test_home.bash("make all"));
    let card = test_home.card(&held.id);
    let policy = text(&test_home, ".config/holdpoint/permissions.json");
    for place in ["project", "user"] {
        let body =
            json!({"answer": "keep", "place": place, "scope": "exact", "binding": card["binding"]});
        let path = format!("/api/requests/{}/answer", held.id);
        let (status, said) = ann.posts(&path, &body);
        assert_ne!(status, 200, "{said}");
    }
    assert_eq!(
        policy,
        text(&test_home, ".config/holdpoint/permissions.json")
    );
    assert!(!test_home.path(".config/holdpoint/projects.json").exists());
    held.kill();
}
