//! What each answer does to the call it is given for, and to those that follow.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::test_home::TestHome;

fn denying(patterns: &[&str]) -> Value {
    json!({"deny": {"patterns": patterns}})
}

// J-36, J-38, A-16
#[test]
fn a_call_is_held_until_a_person_says_yes_or_no() {
    let test_home = TestHome::asking();
    let mut yes = test_home.held(&test_home.bash("make one"));
    let mut no = test_home.held(&test_home.bash("make two"));
    sleep(Duration::from_millis(500));
    assert!(yes.waits() && no.waits());

    let said = test_home.says(&["approve", &yes.id]);
    assert!(said.contains("released"), "{said}");
    let heard = yes.hears();
    assert_eq!((heard.word.as_str(), heard.code), ("allow", 0), "{heard:?}");
    let record = test_home.last("hold_answered");
    assert_eq!(record["method"], "user_approved", "{record}");

    assert!(no.waits(), "another one's answer is not its own");
    let said = test_home.says(&["deny", &no.id]);
    assert!(said.contains("refused"), "{said}");
    let heard = no.hears();
    assert_eq!(heard.word, "deny");
    assert!(heard.reason.contains("User denied execution"), "{heard:?}");
    assert_eq!(test_home.last("hold_answered")["method"], "user_denied");
}

#[test]
fn a_yes_that_comes_to_a_refusal_is_no_success() {
    let test_home = TestHome::asking();
    let call = test_home.held(&test_home.bash("make one"));
    test_home.write_policy(&json!({
        "defaultPolicy": "ask", "channel": {"type": "daemon"}, "deny": {"patterns": ["make *"]},
    }));
    sleep(Duration::from_millis(1200));
    let ran = test_home.run(&["approve", &call.id]);
    assert!(ran.out.contains("refused"), "{ran:?}");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(call.hears().word, "deny");
}

#[test]
fn a_daemon_whose_directory_is_deleted_ends_and_another_takes_its_place() {
    let mut test_home = TestHome::asking();
    std::fs::remove_dir_all(test_home.places().directory()).unwrap();
    assert!(test_home.ends(Duration::from_secs(20)), "the first goes on");
    test_home.start();
    let call = test_home.held(&test_home.bash("make one"));
    test_home.says(&["approve", &call.id]);
    assert_eq!(call.hears().word, "allow");
}

// J-36: anything that is no answer releases nothing.
#[test]
fn what_is_no_answer_leaves_the_call_waiting() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    for slip in [
        &["approve"][..],
        &["approve", &id, "--always", "everything"],
        &["approve", &id, "--all", "--turn"],
        &["approve", "nosuchid"],
        &["approve", &id, "--edit", "command"],
        &["deny", &id, "--comment", " "],
    ] {
        let ran = test_home.run(slip);
        assert_ne!(ran.code, 0, "{slip:?}: {ran:?}");
        assert!(call.waits(), "{slip:?}");
    }
    assert_eq!(test_home.waiting().len(), 1);
    call.kill();
}

// J-37, J-38, X-11
#[test]
fn always_lets_the_shown_prefix_run_and_nothing_behind_it() {
    let test_home = TestHome::under(denying(&["rm -rf *"]));
    let call = test_home.held(&test_home.bash("git status"));
    let card = test_home.card(&call.id);
    let offers = card["terms"]["offers"].as_array().unwrap();
    let prefix = offers
        .iter()
        .find(|offer| offer["scope"] == "prefix")
        .unwrap();
    // Both the bare call and the prefix, and for how long.
    assert_eq!(prefix["patterns"], json!(["git status", "git status *"]));
    assert!(prefix["lasts"].as_str().unwrap().contains("idle for a day"));
    let shown = test_home.says(&["pending", &call.id]);
    assert!(
        shown.contains("prefix → git status, git status *"),
        "{shown}"
    );

    test_home.says(&["approve", &call.id, "--always", "prefix"]);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(
        test_home.last("hold_answered")["method"],
        "session_whitelist"
    );
    let rule = test_home.last("session_rule");
    assert_eq!(rule["detail"]["change"]["patterns"], prefix["patterns"]);
    assert!(rule["approver"].is_string(), "{rule}");

    for covered in ["git status", "git status -s"] {
        assert_eq!(
            test_home.told(&test_home.bash(covered)).word,
            "allow",
            "{covered}"
        );
        let record = test_home.last("decision");
        assert_eq!(record["method"], "session_whitelist", "{covered}");
    }
    let denied = test_home.told(&test_home.bash("git status; rm -rf x"));
    assert_eq!(denied.word, "deny", "{denied:?}");
    for other in [
        "git status; make x",
        "git status | sh",
        "git stash",
        "git status $(make x)",
    ] {
        let call = test_home.held(&test_home.bash(other));
        call.kill();
    }
}

// J-37
#[test]
fn always_on_a_bare_command_covers_that_command_itself() {
    let test_home = TestHome::asking();
    let call = test_home.held(&test_home.bash("ls"));
    test_home.says(&["approve", &call.id, "--always", "prefix"]);
    assert_eq!(call.hears().word, "allow");
    for covered in ["ls", "ls -la"] {
        assert_eq!(
            test_home.told(&test_home.bash(covered)).word,
            "allow",
            "{covered}"
        );
    }
}

//
#[test]
fn nothing_is_offered_for_what_runs_other_things() {
    let test_home = TestHome::asking();
    test_home.file("x.py", "print()");
    for line in [
        "python3 x.py",
        "bash -c 'make x'",
        "node -e 1",
        "env make x",
        "xargs make",
    ] {
        let mut call = test_home.held(&test_home.bash(line));
        let card = test_home.card(&call.id);
        assert!(card["terms"]["offers"].is_null(), "{line}: {card}");
        for word in ["exact", "prefix", "tool"] {
            let ran = test_home.run(&["approve", &call.id, "--always", word]);
            assert_eq!(ran.code, 1, "{line}: {ran:?}");
            assert!(ran.out.contains("no effect"), "{line}: {ran:?}");
        }
        assert!(call.waits(), "{line}");
        call.kill();
    }
}

// never broader than shown.
#[test]
fn a_rule_broader_than_those_shown_cannot_be_left() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("git status"));
    let ran = test_home.run(&["approve", &call.id, "--always", "tool"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("no rule of the scope `tool` is offered"),
        "{ran:?}"
    );
    assert!(call.waits());
    call.kill();
}

// X-11, invariant 1
#[test]
fn a_stored_rule_never_beats_a_deny() {
    let test_home = TestHome::under(denying(&["git push --force *", "git push -f *"]));
    let call = test_home.held(&test_home.bash("git push origin feature"));
    test_home.says(&["approve", &call.id, "--always", "prefix"]);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(
        test_home
            .told(&test_home.bash("git push origin feature"))
            .word,
        "allow"
    );
    let denied = test_home.told(&test_home.bash("git push --force origin feature"));
    assert_eq!(denied.word, "deny", "{denied:?}");
    assert_eq!(test_home.last("decision")["method"], "blacklist");
}

// J-38
#[test]
fn never_refuses_what_is_like_it_from_now_on() {
    let test_home = TestHome::asking();
    let call = test_home.held(&test_home.bash("npm install left-pad"));
    test_home.says(&["deny", &call.id, "--never", "prefix"]);
    assert_eq!(call.hears().word, "deny");
    assert_eq!(
        test_home.last("hold_answered")["method"],
        "session_blacklist"
    );
    assert_eq!(
        test_home
            .told(&test_home.bash("npm install right-pad"))
            .word,
        "deny"
    );
    assert_eq!(test_home.last("decision")["method"], "session_blacklist");
    test_home.held(&test_home.bash("npm test")).kill();
}

// J-39, J-40, X-12
#[test]
fn all_ends_the_questions_of_its_session_and_no_deny() {
    let test_home = TestHome::under(denying(&["rm -rf *"]));
    let call = test_home.held(&test_home.bash("make one"));
    test_home.says(&["approve", &call.id, "--all"]);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(test_home.last("hold_answered")["method"], "allow_all");
    assert_eq!(test_home.told(&test_home.bash("make two")).word, "allow");
    assert_eq!(test_home.last("decision")["method"], "allow_all");
    assert_eq!(test_home.told(&test_home.bash("rm -rf /")).word, "deny");
    assert_eq!(test_home.told(&test_home.bash("rm -rf x")).word, "deny");
    let mut other = test_home.bash("make two");
    other["session_id"] = json!("s2");
    test_home.held(&other).kill();
}

fn in_turn(test_home: &TestHome, turn: &str, command: &str) -> Value {
    let mut payload = test_home.bash(command);
    payload["prompt_id"] = json!(turn);
    payload
}

fn event(test_home: &TestHome, name: &str, more: &Value) {
    let mut payload = json!({"hook_event_name": name, "session_id": "s1", "cwd": test_home.work()});
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let heard = test_home.told(&payload);
    assert_eq!((heard.word.as_str(), heard.code), ("", 0), "{heard:?}");
}

// J-41, X-20
#[test]
fn the_end_of_a_turn_ends_what_is_suspended_for_it_and_until_idle() {
    let test_home = TestHome::asking();
    let call = test_home.held(&in_turn(&test_home, "t1", "make one"));
    test_home.says(&["approve", &call.id, "--turn"]);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(test_home.last("hold_answered")["method"], "turn_suspension");
    assert_eq!(
        test_home.told(&in_turn(&test_home, "t1", "make two")).word,
        "allow"
    );
    assert_eq!(test_home.last("decision")["method"], "turn_suspension");
    event(&test_home, "Stop", &json!({}));

    let call = test_home.held(&in_turn(&test_home, "t1", "make three"));
    test_home.says(&["approve", &call.id, "--idle"]);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(test_home.last("hold_answered")["method"], "idle_suspension");
    event(
        &test_home,
        "Notification",
        &json!({"notification_type": "permission_prompt"}),
    );
    assert_eq!(
        test_home.told(&in_turn(&test_home, "t1", "make four")).word,
        "allow"
    );
    assert_eq!(test_home.last("decision")["method"], "idle_suspension");
    event(&test_home, "Stop", &json!({}));
    let call = test_home.held(&in_turn(&test_home, "t1", "make five"));

    test_home.says(&["approve", &call.id, "--idle"]);
    assert_eq!(call.hears().word, "allow");
    event(
        &test_home,
        "Notification",
        &json!({"notification_type": "idle_prompt"}),
    );
    test_home
        .held(&in_turn(&test_home, "t1", "make six"))
        .kill();
}

// J-41: an agent that was stopped sends no Stop; its next turn has another name.
#[test]
fn another_turn_ends_what_was_suspended_in_the_one_before() {
    let test_home = TestHome::asking();
    let call = test_home.held(&in_turn(&test_home, "t1", "make one"));
    test_home.says(&["approve", &call.id, "--turn"]);
    assert_eq!(call.hears().word, "allow");
    test_home
        .held(&in_turn(&test_home, "t2", "make two"))
        .kill();
}

// J-43
#[test]
fn a_comment_is_what_the_model_reads_word_for_word() {
    let test_home = TestHome::asking();
    let call = test_home.held(&test_home.bash("git push"));
    test_home.says(&["deny", &call.id, "--comment", "use a branch, not main"]);
    let heard = call.hears();
    assert_eq!(heard.word, "deny");
    let exactly = "Tool not executed. User comment: use a branch, not main";
    assert_eq!(heard.reason, exactly);
    assert_eq!(heard.err.trim_end(), exactly);
    let record = test_home.last("hold_answered");
    assert_eq!(
        (&record["method"], &record["reason"]),
        (&json!("user_comment"), &json!(exactly))
    );
}

// J-44, A-24
#[test]
fn an_edited_call_is_judged_again_shown_again_and_runs_as_it_was_edited() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("git push"));
    for changed in ["git push -n", "git push --dry-run"] {
        let edit = format!("command={changed}");
        let said = test_home.says(&["approve", &call.id, "--edit", &edit]);
        assert!(said.contains("judged again"), "{said}");
        assert!(call.waits(), "an edit is no yes");
    }
    let card = test_home.card(&call.id);
    assert_eq!(card["display"]["details"], "git push --dry-run");
    assert_eq!(card["was_edited"], true);
    assert_eq!(card["edits"].as_array().unwrap().len(), 2);
    test_home.says(&["approve", &call.id]);
    let heard = call.hears();
    assert_eq!(heard.word, "allow");
    let output = &heard.output["hookSpecificOutput"];
    assert_eq!(
        output["updatedInput"],
        json!({"command": "git push --dry-run"})
    );
    let told = output["additionalContext"].as_str().unwrap();
    assert!(told.contains("user changed the arguments"), "{told}");
    let record = test_home.last("release");
    assert_eq!(record["detail"]["edited"], true, "{record}");
}

#[test]
fn the_clock_goes_on_while_somebody_thinks() {
    let week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let test_home = TestHome::under(json!({
        "defaultPolicy": "defer",
        "tools": {"Bash": {"supervision": "confirm", "conditions": {"facts": {"weekday": week}}}},
    }));
    // Five hours later than by the daemon's clock.
    let mut hook = test_home.program(&["hook", "claude-code"]);
    let call = test_home.held_by(hook.env("TZ", "AAA-5"), &test_home.bash("make one"));
    let card = test_home.card(&call.id);
    let reason = card["decision"]["reason"].as_str().unwrap();
    assert!(reason.contains("(time `"), "{reason}");
    test_home.says(&["approve", &call.id]);
    let heard = call.hears();
    assert_eq!(heard.word, "allow", "{heard:?}");
}

#[test]
fn a_decider_outside_may_word_its_reason_anew() {
    let mut test_home = TestHome::alone(json!({}));
    let gate = test_home.path("gate");
    let script = "#!/bin/sh\ncat >/dev/null\necho \"{\\\"verdict\\\": \\\"ask\\\", \\\"reason\\\": \\\"look $(date +%s%N)\\\"}\"\n";
    fs::write(&gate, script).unwrap();
    fs::set_permissions(&gate, fs::Permissions::from_mode(0o755)).unwrap();
    test_home.write_policy(&json!({
        "defaultPolicy": "allow",
        "channel": {"type": "daemon"},
        "external": [{"name": "corp", "command": [gate.to_str().unwrap()], "timeoutMs": 3000}],
    }));
    test_home.start();
    let call = test_home.held(&test_home.bash("make one"));
    let card = test_home.card(&call.id);
    let reason = card["decision"]["reason"].as_str().unwrap();
    assert!(reason.contains("look 1"), "{reason}");
    test_home.says(&["approve", &call.id]);
    let heard = call.hears();
    assert_eq!(heard.word, "allow", "{heard:?}");
}

#[test]
fn a_held_call_knows_whether_tests_have_passed_until_it_is_released() {
    let test_home = TestHome::under(json!({
        "defaultPolicy": "allow",
        "tools": {"Bash": {"supervision": "confirm",
            "conditions": {"command_starts_with": "git commit", "facts": {"tests_passed": true}}}},
    }));
    let runs_tests = |line: &str| {
        let before = test_home.bash(line);
        test_home.told(&before);
        let mut after = before;
        after["hook_event_name"] = json!("PostToolUse");
        after["tool_response"] =
            json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false});
        test_home.told(&after);
    };
    assert_eq!(
        test_home.told(&test_home.bash("git commit -m x")).word,
        "allow"
    );
    runs_tests("cargo test");
    let call = test_home.held(&test_home.bash("git commit -m x"));
    let card = test_home.card(&call.id);
    let reason = card["decision"]["reason"].as_str().unwrap();
    assert!(reason.contains("tests_passed `yes`"), "{reason}");
    test_home.says(&["approve", &call.id]);
    let heard = call.hears();
    assert_eq!(heard.word, "allow", "{heard:?}");
}

// J-44
#[test]
fn a_call_edited_into_something_denied_is_refused_for_good() {
    let test_home = TestHome::under(denying(&["rm -rf *"]));
    let call = test_home.held(&test_home.bash("make clean"));
    test_home.says(&["approve", &call.id, "--edit", "command=rm -rf build"]);
    let heard = call.hears();
    assert_eq!(heard.word, "deny");
    assert!(
        heard.reason.contains("As it was changed it may not run"),
        "{heard:?}"
    );
    assert!(test_home.waiting().is_empty());
}

// J-44: only what is declared editable.
#[test]
fn only_what_may_be_edited_can_be() {
    let test_home = TestHome::under(
        json!({"tools": {"Deploy": {"supervision": "confirm", "editable": ["env"]}}}),
    );
    let call = test_home.held(&test_home.payload("Deploy", json!({"env": "prod", "force": "no"})));
    let ran = test_home.run(&["approve", &call.id, "--edit", "force=yes"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("`force` cannot be changed: only env can"),
        "{ran:?}"
    );
    test_home.says(&["approve", &call.id, "--edit", "env=staging"]);
    test_home.says(&["approve", &call.id]);
    let heard = call.hears();
    let input = &heard.output["hookSpecificOutput"]["updatedInput"];
    assert_eq!(*input, json!({"env": "staging", "force": "no"}));
}

// J-45
#[test]
fn an_always_releases_what_waits_for_the_same_and_a_never_refuses_it() {
    let test_home = TestHome::asking();
    let first = test_home.held(&test_home.bash("git fetch"));
    let second = test_home.held(&test_home.bash("git fetch --all"));
    let mut third = test_home.held(&test_home.bash("git pull"));
    let said = test_home.run(&["approve", &first.id, "--always", "prefix"]);
    assert_eq!(said.code, 0, "{said:?}");
    // What else it releases is listed before it does.
    assert!(
        said.err.contains("also releases, of what waits now (1)"),
        "{said:?}"
    );
    assert!(said.err.contains(&second.id), "{said:?}");
    assert!(!said.err.contains(&third.id), "{said:?}");
    assert_eq!(first.hears().word, "allow");
    assert_eq!(second.hears().word, "allow");
    assert!(third.waits());
    let waiting: Vec<String> = test_home.waiting().into_iter().map(|one| one.id).collect();
    assert_eq!(waiting, [third.id.clone()]);
    let fourth = test_home.held(&test_home.bash("git pull --rebase"));
    test_home.says(&["deny", &third.id, "--never", "prefix"]);
    assert_eq!(third.hears().word, "deny");
    assert_eq!(fourth.hears().word, "deny");
}

#[test]
fn approving_everything_lists_critical_calls_as_those_that_wait_on() {
    let test_home = TestHome::under(json!({"tools": {
        "mcp__shop__erase": {"supervision": "confirm", "risk": "critical", "reason": "It erases the shop"},
    }}));
    let first = test_home.held(&test_home.bash("make one"));
    let other = test_home.held(&test_home.bash("make two"));
    let mut critical = test_home.held(&test_home.payload("mcp__shop__erase", json!({})));
    let said = test_home.run(&["approve", &first.id, "--all"]);
    assert_eq!(said.code, 0, "{said:?}");
    let (goes, waits_on) = said.err.split_once("These wait on").unwrap();
    assert!(goes.contains(&other.id), "{said:?}");
    assert!(waits_on.contains(&critical.id), "{said:?}");
    assert_eq!(first.hears().word, "allow");
    assert_eq!(other.hears().word, "allow");
    assert!(critical.waits());
    critical.kill();
}

// J-47, A-20, X-14
#[test]
fn without_anybody_to_ask_a_call_is_refused_and_that_is_on_record() {
    let test_home = TestHome::alone(json!({}));
    for payload in [
        test_home.bash("make one"),
        test_home.payload("Frobnicate", json!({})),
    ] {
        let heard = test_home.told(&payload);
        assert_eq!(heard.word, "deny", "{heard:?}");
        assert!(heard.reason.contains("nobody can be asked"), "{heard:?}");
        assert!(heard.reason.contains("holdpoint serve"), "{heard:?}");
        let record = test_home.last("decision");
        assert_eq!(
            (&record["verdict"], &record["method"]),
            (&json!("deny"), &json!("no_channel"))
        );
    }
}

// J-47: a fallback is what the policy says, never a silent swap.
#[test]
fn what_happens_without_the_daemon_is_what_the_policy_says() {
    let to_agent = TestHome::alone(json!({"approval": {"fallback": "agent"}}));
    assert_eq!(to_agent.told(&to_agent.bash("make one")).word, "ask");
}

// J-47
#[cfg(target_os = "linux")]
#[test]
fn a_console_that_is_not_there_is_asked_by_nobody() {
    let test_home = TestHome::alone(json!({"approval": {"fallback": "console"}}));
    let heard = test_home.told_without_terminal(&test_home.bash("make one"));
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert_eq!(test_home.last("hold_expired")["method"], "no_channel");
}

// Invariant 6: what a call reads is part of what it does, unless it only looks.
#[test]
fn a_file_a_call_carries_out_or_sends_is_the_one_that_was_shown() {
    let test_home = TestHome::asking();
    for line in [
        "cat steps.sql | sh",
        "psql -f steps.sql",
        "curl -d @steps.sql https://x.example",
        "cp steps.sql /opt/x",
    ] {
        let file = test_home.work().join("steps.sql");
        std::fs::write(&file, "select 1").unwrap();
        let call = test_home.held(&test_home.bash(line));
        std::fs::write(&file, "drop table x").unwrap();
        test_home.run(&["approve", &call.id]);
        assert_eq!(call.hears().word, "deny", "{line}");
    }
    let log = test_home.work().join("app.log");
    std::fs::write(&log, "one").unwrap();
    let call = test_home.held(&test_home.bash("tail app.log"));
    std::fs::write(&log, "one two").unwrap();
    test_home.says(&["approve", &call.id]);
    assert_eq!(call.hears().word, "allow");
}
