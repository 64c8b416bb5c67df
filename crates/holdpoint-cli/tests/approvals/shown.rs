//! What a person sees before they answer, and what can be looked up afterwards.

use std::slice::from_ref;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::test_home::TestHome;

// J-54, J-53, A-27
#[test]
fn the_circumstances_of_a_call_are_shown() {
    let test_home = TestHome::asking();
    let mut payload = test_home.payload(
        "Bash",
        json!({"command": "make deploy", "description": "bring the fix out"}),
    );
    payload["agent_id"] = json!("helper-7");
    payload["agent_type"] = json!("Deployer");
    payload["permission_mode"] = json!("acceptEdits");
    payload["prompt_id"] = json!("t9");
    let call = test_home.held(&payload);
    let card = test_home.card(&call.id);
    assert_eq!(
        card["context"],
        json!({
            "session_id": "s1",
            "request_source": "hook",
            "intent": "bring the fix out",
            "agent_type": "Deployer",
            "agent_name": "helper-7",
            "permission_mode": "acceptEdits",
            "prompt_id": "t9",
        })
    );
    assert_eq!(card["directory"], json!(test_home.work()));
    let shown = test_home.says(&["pending", &call.id]);
    assert!(shown.contains("claude-code (via helper-7)"), "{shown}");
    assert!(shown.contains("bring the fix out"), "{shown}");
    assert!(shown.contains("permission_mode=acceptEdits"), "{shown}");
    call.kill();
}

// J-55
#[test]
fn an_edit_is_shown_as_the_difference_it_makes() {
    let test_home = TestHome::asking();
    let path = test_home.file("greeting.txt", "one\ngood day\nthree\n");
    let call = test_home.held(&test_home.payload(
        "Edit",
        json!({"file_path": path, "old_string": "good day", "new_string": "good night"}),
    ));
    let card = test_home.card(&call.id);
    assert_eq!(card["display"]["format"], "diff");
    assert_eq!(card["display"]["truncated"], false);
    let details = card["display"]["details"].as_str().unwrap();
    for line in ["-good day", "+good night", " one"] {
        assert!(
            details.lines().any(|found| found == line),
            "{line}: {details}"
        );
    }
    let shown = test_home.says(&["pending", &call.id]);
    assert!(
        shown.contains("-good day") && shown.contains("+good night"),
        "{shown}"
    );
    test_home.says(&["approve", &call.id]);
    assert_eq!(call.hears().word, "allow");
}

// J-55: what Holdpoint foresees of a tool that is not its own is a warning; a tool's own word on its
// call refuses it (J-46, in the library's cases).
#[test]
fn an_edit_that_will_hardly_work_is_shown_with_a_warning() {
    let test_home = TestHome::asking();
    let path = test_home.file("greeting.txt", "good day\n");
    let input = json!({"file_path": path, "old_string": "good morning", "new_string": "x"});
    let call = test_home.held(&test_home.payload("Edit", input));
    let warning = &test_home.card(&call.id)["display"]["warnings"][0];
    assert_eq!(warning["level"], "warning", "{warning}");
    let shown = test_home.says(&["pending", &call.id]);
    assert!(shown.contains(warning["text"].as_str().unwrap()), "{shown}");
    call.kill();
}

// O-18: what a deletion would delete is told before anybody answers.
#[test]
fn what_would_be_lost_is_shown_with_the_call() {
    let test_home = TestHome::asking();
    test_home.file("build/one", "12345");
    test_home.file("build/two", "12345");
    let call = test_home.held(&test_home.bash("rm -rf build"));
    let shown = test_home.says(&["pending", &call.id]);
    assert!(
        shown.contains("removes 2 files and 1 directory, 10 bytes"),
        "{shown}"
    );
    call.kill();
    let unknown = test_home.held(&test_home.bash("make install"));
    let shown = test_home.says(&["pending", &unknown.id]);
    assert!(!shown.contains("simulation"), "{shown}");
    unknown.kill();
}

//
#[test]
fn every_argument_can_be_read_in_full_before_the_answer() {
    let test_home = TestHome::asking();
    let words: Vec<String> = (0..800).map(|number| format!("part{number}")).collect();
    let long = format!("make {}", words.join(" "));
    let call = test_home.held(&test_home.bash(&long));
    let card = test_home.card(&call.id);
    assert_eq!(card["display"]["arguments"]["command"], json!(long));
    assert_eq!(card["tool"], "Bash");
    assert_eq!(card["decision"]["verdict"], "ask");
    assert_eq!(card["decision"]["risk"], "medium");
    let shown = test_home.says(&["pending", &call.id]);
    assert!(shown.contains("part799"), "the end of it is missing");
    call.kill();
}

// the part a rule caught.
#[test]
fn what_a_rule_caught_is_marked() {
    let test_home = TestHome::asking();
    let line = "git fetch && git reset --hard HEAD~1";
    let call = test_home.held(&test_home.bash(line));
    let card = test_home.card(&call.id);
    assert_eq!(card["decision"]["rule"], "git.reset-hard");
    let mark = &card["display"]["marks"][0];
    let at = |index: usize| usize::try_from(mark["span"][index].as_u64().unwrap()).unwrap();
    let details = card["display"]["details"].as_str().unwrap();
    assert_eq!(
        details.get(at(0)..at(1)).unwrap(),
        "git reset --hard HEAD~1"
    );
    call.kill();
}

// A-24, and `review` of issue 5: typed, not one key.
#[test]
fn what_is_to_be_reviewed_is_released_by_its_phrase_alone() {
    let test_home = TestHome::under(json!({"tools": {"Bash": {"supervision": "manual"}}}));
    let mut call = test_home.held(&test_home.bash("make deploy"));
    let card = test_home.card(&call.id);
    assert_eq!(card["decision"]["verdict"], "review");
    assert_eq!(card["terms"]["phrase"], "release make");
    let missing = test_home.run(&["approve", &call.id]);
    assert_eq!(missing.code, 1);
    assert!(
        missing.err.contains("--phrase 'release make'"),
        "{missing:?}"
    );
    for wrong in ["", "yes", "release", "release rm", "RELEASE MAKE"] {
        let ran = test_home.run(&["approve", &call.id, "--phrase", wrong]);
        assert_eq!(ran.code, 1, "{wrong:?}: {ran:?}");
        assert!(ran.out.contains("type `release make`"), "{ran:?}");
    }
    // Nor is there a way around it for the calls that follow.
    for more in ["--all", "--turn", "--idle"] {
        let ran = test_home.run(&["approve", &call.id, more, "--phrase", "release make"]);
        assert_eq!(ran.code, 1, "{more}: {ran:?}");
    }
    assert!(call.waits());
    // It can be changed first, and then needs the phrase of what it has become.
    test_home.says(&["approve", &call.id, "--edit", "command=npm test"]);
    assert_eq!(
        test_home
            .run(&["approve", &call.id, "--phrase", "release make"])
            .code,
        1
    );
    test_home.says(&["approve", &call.id, "--phrase", "release npm"]);
    assert_eq!(call.hears().word, "allow");
}

fn listed(test_home: &TestHome, more: &[&str]) -> Vec<Value> {
    let command = [&["approvals", "list", "--json"], more].concat();
    let text = test_home.says(&command);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

// O-20
#[test]
fn what_was_answered_is_found_by_person_session_words_and_time() {
    let test_home = TestHome::asking();
    let first = test_home.held(&test_home.bash("make one"));
    test_home.says(&["approve", &first.id]);
    let first = (first.id.clone(), first.hears()).0;
    let mut payload = test_home.bash("make two");
    payload["session_id"] = json!("s2");
    let second = test_home.held(&payload);
    test_home.says(&["deny", &second.id, "--comment", "not today"]);
    let second = (second.id.clone(), second.hears()).0;

    let ids = |found: Vec<Value>| -> Vec<String> {
        let id = |card: &Value| card["id"].as_str().unwrap().to_owned();
        found.iter().map(id).collect()
    };
    let both = [second.clone(), first.clone()];
    assert_eq!(ids(listed(&test_home, &[])), both, "the newest first");
    for more in [
        &["--session", "s2"][..],
        &["--task", "s2"],
        &["--text", "make two"],
    ] {
        assert_eq!(ids(listed(&test_home, more)), from_ref(&second), "{more:?}");
    }
    let cards = listed(&test_home, &[]);
    let me = cards[0]["settled"]["approvers"][0].as_str().unwrap();
    assert_eq!(ids(listed(&test_home, &["--user", me])), both);
    assert!(listed(&test_home, &["--user", "nobody-of-this-name"]).is_empty());
    assert_eq!(ids(listed(&test_home, &["--since", "1h"])), both);
    sleep(Duration::from_millis(1100));
    assert!(listed(&test_home, &["--since", "1s"]).is_empty());
    assert_eq!(
        ids(listed(&test_home, &["--limit", "1"])),
        from_ref(&second)
    );

    let shown: Value =
        serde_json::from_str(&test_home.says(&["approvals", "show", &second, "--json"])).unwrap();
    assert_eq!(shown["state"], "refused");
    assert_eq!(shown["settled"]["comment"], "not today");
    assert_eq!(shown["settled"]["method"], "user_comment");
    assert_eq!(shown["session"], "s2");
    let text = test_home.says(&["approvals", "show", &second]);
    assert!(text.contains("not today") && text.contains(me), "{text}");
    let lines = test_home.says(&["approvals", "list"]);
    assert!(lines.contains(&format!("refused by {me}")), "{lines}");
}

// nobody is at a terminal, so nothing waits for one.
#[test]
fn exit_codes_say_how_it_went_where_nobody_can_be_asked() {
    let test_home = TestHome::under(json!({
        "allow": {"patterns": ["ls"]},
        "deny": {"patterns": ["rm -rf *"]},
        "tools": {"Deploy": {"supervision": "manual"}},
    }));
    for (arguments, code) in [
        (&["check", "ls"][..], 0),
        (&["check", "make one"], 3),
        (&["check", "rm -rf x"], 2),
        (&["check", "ls", "--config", "nosuch.json"], 1),
        (&["undo"], 1),
    ] {
        let ran = test_home.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
    }
    assert!(test_home.waiting().is_empty(), "a look holds nothing");
    // Without a terminal the phrase is not asked for, it has to be given.
    let call = test_home.held(&test_home.payload("Deploy", json!({})));
    let ran = test_home.run(&["approve", &call.id]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("--phrase"), "{ran:?}");
    call.kill();
}

// O-18: what a removal would remove is told, nothing is removed, and nobody at a terminal is a no.
#[cfg(target_os = "linux")]
#[test]
fn what_a_call_would_remove_is_told_before_it_is_answered() {
    let test_home = TestHome::asking();
    std::fs::create_dir(test_home.work().join("old")).unwrap();
    let kept = test_home.file("old/a.o", "123456");
    let call = test_home.held(&test_home.bash("rm -r old"));
    let told = test_home.says(&["simulate", "rm -r old"]);
    assert!(told.contains("1 file") && told.contains("a.o"), "{told}");
    assert!(kept.exists());
    test_home.says(&["deny", &call.id]);
    assert_eq!(call.hears().word, "deny");

    let alone = TestHome::alone(json!({}));
    alone.write_policy(&json!({"defaultPolicy": "ask", "channel": {"type": "console"}}));
    let heard = alone.told_without_terminal(&alone.bash("rm -r old"));
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert_eq!(alone.last("hold_expired")["method"], "no_channel");
}
