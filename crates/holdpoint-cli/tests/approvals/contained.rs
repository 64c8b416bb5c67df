//! A call that ran inside the sandbox, let out by somebody on the page.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use super::test_home::{TestHome, ran, started};

/// What Claude Code hears about a command, in a home where sandboxes are made.
fn answer(test_home: &TestHome, payload: &Value) -> Value {
    let mut agent = in_sandbox(test_home, &test_home.path("claude").to_string_lossy());
    let hook = format!("{} hook claude-code; true", env!("CARGO_BIN_EXE_holdpoint"));
    let hook = started(agent.args(["-c", &hook, "agent"]), payload);
    let out = hook.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    answer["hookSpecificOutput"].clone()
}

fn in_sandbox(test_home: &TestHome, program: &str) -> Command {
    let mut command = test_home.clean(program);
    command.env_remove("HOLDPOINT_SANDBOX");
    command
}

// Issue 17: a person can release the same call uncontained.
#[test]
fn a_contained_call_is_let_out_on_the_page_once() {
    let test_home = TestHome::under(json!({
        "defaultPolicy": "defer",
        "tools": {"Bash": {"supervision": "contain"}},
    }));
    symlink("/bin/bash", test_home.path("claude")).unwrap();
    // Outside of everything it is given; it never runs there in this test.
    let outside = env!("CARGO_TARGET_TMPDIR");
    let payload = test_home.bash(&format!("echo x > {outside}/let-out-on-the-page"));
    let contained = answer(&test_home, &payload);
    let line = contained["updatedInput"]["command"].as_str();
    let line = line.unwrap_or_else(|| panic!("{contained}"));
    let told = ran(in_sandbox(&test_home, "/bin/bash").args(["-c", line]));
    assert_ne!(told.code, 0, "{told:?}");
    let waiting = test_home.waiting();
    let [request] = waiting.as_slice() else {
        panic!("{waiting:?}: {told:?}");
    };
    assert!(request.offered);
    assert!(
        told.err
            .contains(&format!("holdpoint approve {}", request.id))
    );
    let card = test_home.card(&request.id);
    let warnings = card["display"]["warnings"].to_string();
    assert!(
        warnings.contains("The sandbox refused it: to change"),
        "{card}"
    );
    assert_eq!(card["terms"]["suspendable"], false);
    let said = test_home.says(&["people", "add", "ann", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let ann = test_home.sign_in("ann", said["token"].as_str().unwrap());
    // No suspension lets anything out of the sandbox.
    assert_eq!(ann.answers(&card, "all").0, 409);
    let (status, said) = ann.answers(&card, "yes");
    assert_eq!(
        (status, &said["outcome"]),
        (200, &json!("settled")),
        "{said}"
    );
    let out = answer(&test_home, &payload);
    assert_eq!(out["permissionDecision"], "allow", "{out}");
    assert!(out["updatedInput"].is_null(), "{out}");
    assert_eq!(
        test_home.last("release")["detail"]["request"],
        json!(request.id)
    );
    let again = answer(&test_home, &payload);
    assert!(!again["updatedInput"].is_null(), "once: {again}");
}
