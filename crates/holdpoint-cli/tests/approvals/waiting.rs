//! How long a call waits, and what an answer counts for that comes early, late or twice.

use std::process::Stdio;
use std::slice::from_ref;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::test_home::TestHome;

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let waited = Instant::now();
    while !holds() {
        assert!(waited.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(50));
    }
}

// X-13: the agent's patience is not the request's.
#[test]
fn a_hook_that_waited_long_enough_says_so_and_the_identical_call_finds_the_answer() {
    let test_home = TestHome::under(json!({"approval": {"wait": 3}}));
    let call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    let heard = call.hears();
    assert_eq!(heard.word, "deny");
    assert!(
        heard.reason.contains(&format!("request `{id}`")),
        "{heard:?}"
    );
    assert!(heard.reason.contains("identical call again"), "{heard:?}");
    let record = test_home.last("decision");
    assert_eq!(
        (&record["verdict"], &record["method"]),
        (&json!("deny"), &json!("timeout"))
    );
    assert_eq!(
        test_home.waiting().len(),
        1,
        "only the deadline or a person closes it"
    );

    test_home.says(&["approve", &id]);
    // Another call does not pick it up, nor the same one of another session.
    let mut other = test_home.bash("make one");
    other["session_id"] = json!("s2");
    for other in [test_home.bash("make one "), other] {
        test_home.held(&other).kill();
    }
    assert_eq!(test_home.told(&test_home.bash("make one")).word, "allow");
    assert_eq!(test_home.last("release")["detail"]["request"], json!(id));
    // Single use: the third time somebody is asked again.
    let third = test_home.held(&test_home.bash("make one"));
    assert_ne!(third.id, id);
    third.kill();
}

// X-13: a repeat while it still waits is the same request.
#[test]
fn a_repeated_call_takes_up_the_request_that_still_waits() {
    let test_home = TestHome::under(json!({"approval": {"wait": 2}}));
    let call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    assert_eq!(call.hears().word, "deny");
    // Longer than a caller has to come back that was killed: this one has said that it leaves.
    sleep(Duration::from_secs(6));
    let again = test_home.hook(&test_home.bash("make one"));
    sleep(Duration::from_millis(500));
    let waiting: Vec<String> = test_home.waiting().into_iter().map(|one| one.id).collect();
    assert_eq!(waiting, from_ref(&id));
    test_home.says(&["approve", &id]);
    let output = again.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""permissionDecision":"allow""#), "{text}");
}

// A crash gives nothing up at once: whoever comes back soon finds the request; if nobody does, nobody is asked about it any more.
#[test]
fn a_hook_that_is_killed_withdraws_its_call_unless_it_is_made_again() {
    let test_home = TestHome::under(json!({"approval": {"wait": 60}}));
    let call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    call.kill();
    let again = test_home.hook(&test_home.bash("make one"));
    sleep(Duration::from_secs(6));
    let waiting: Vec<String> = test_home.waiting().into_iter().map(|one| one.id).collect();
    assert_eq!(waiting, from_ref(&id), "the identical call has taken it up");
    let mut kill = test_home.clean("kill");
    let number = again.id().to_string();
    assert!(kill.args(["-KILL", &number]).status().unwrap().success());
    assert!(!again.wait_with_output().unwrap().status.success());
    eventually("it is withdrawn", || test_home.waiting().is_empty());
    assert_eq!(test_home.card(&id)["state"], "withdrawn");
    let record = test_home.last("hold_expired");
    assert_eq!(
        (&record["verdict"], &record["detail"]["answer"]),
        (&json!("deny"), &json!("withdrawn")),
    );
    let ran = test_home.run(&["approve", &id]);
    assert!(ran.out.contains("no effect"), "{ran:?}");
}

// Whoever stops its hook, or no longer listens to it, has given the call up.
#[test]
fn a_hook_that_is_stopped_or_not_listened_to_withdraws_its_call() {
    let test_home = TestHome::asking();
    for signal in ["-TERM", "-INT", "-HUP", ""] {
        let mut call = test_home.held(&test_home.bash("make one"));
        match signal {
            "" => call.is_not_listened_to(),
            signal => {
                let mut kill = test_home.clean("kill");
                let number = call.process().to_string();
                assert!(kill.args([signal, &number]).status().unwrap().success());
            }
        }
        eventually("it is withdrawn", || test_home.waiting().is_empty());
        eventually("it ends", || !call.waits());
        let card = test_home.card(&call.id);
        assert_eq!(card["state"], "withdrawn", "{signal}: {card}");
        let record = test_home.last("hold_expired");
        assert_eq!(
            (&record["verdict"], &record["detail"]["answer"]),
            (&json!("deny"), &json!("withdrawn")),
        );
        let ran = test_home.run(&["approve", &call.id]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.out.contains("no effect"), "{ran:?}");
        if !signal.is_empty() {
            let heard = call.hears();
            assert_eq!(heard.word, "deny", "{signal}: {heard:?}");
            assert!(heard.reason.contains("withdrawn"), "{heard:?}");
        }
    }
    let none = |record: &serde_json::Value| record["kind"] != "release";
    assert!(test_home.records().iter().all(none));
}

// A-17, J-51, X-13, A-18
#[test]
fn nobody_answering_in_time_is_a_refusal_and_a_late_answer_has_no_effect() {
    let test_home = TestHome::under(json!({"approval": {"deadline": 1}}));
    let call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    let heard = call.hears();
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(
        heard.reason.contains("Nobody answered in time"),
        "{heard:?}"
    );
    let record = test_home.last("hold_expired");
    assert_eq!(
        (&record["verdict"], &record["method"]),
        (&json!("deny"), &json!("timeout"))
    );
    assert!(record["approver"].is_null(), "{record}");
    for late in [&["approve", &id][..], &["deny", &id], &["extend", &id]] {
        let ran = test_home.run(late);
        assert_eq!(ran.code, 1, "{late:?}: {ran:?}");
        assert!(ran.out.contains("no effect"), "{ran:?}");
    }
    assert_eq!(test_home.card(&id)["state"], "expired");
    // What expired is asked about anew.
    let again = test_home.held(&test_home.bash("make one"));
    assert_ne!(again.id, id);
    again.kill();
}

// A-17, X-13: per tool and per rule; 0 means until it is answered.
#[test]
fn a_deadline_is_stated_for_all_for_a_tool_or_a_rule_and_zero_is_none() {
    let test_home = TestHome::under(json!({
        "tools": {
            "Deploy": {"supervision": "confirm", "approval": {"deadline": 1}},
            "Publish": {"supervision": "confirm", "approval": {"deadline": 40}},
        },
        "approval": {"deadline": 0, "rules": {"git.reset-*": {"deadline": 77}}},
    }));
    let mut forever = test_home.held(&test_home.bash("make one"));
    let deploy = test_home.held(&test_home.payload("Deploy", json!({})));
    let publish = test_home.held(&test_home.payload("Publish", json!({})));
    assert!(test_home.card(&forever.id)["expires"].is_null());
    assert_eq!(test_home.card(&publish.id)["terms"]["deadline"], 40);
    let reset = test_home.held(&test_home.bash("git reset --hard"));
    assert_eq!(test_home.card(&reset.id)["terms"]["deadline"], 77);
    reset.kill();
    assert_eq!(deploy.hears().word, "deny");
    assert!(forever.waits());
    let ran = test_home.run(&["extend", &forever.id]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("waits until it is answered"), "{ran:?}");
    test_home.says(&["approve", &forever.id, &publish.id]);
    assert_eq!(forever.hears().word, "allow");
    assert_eq!(publish.hears().word, "allow");
}

// A-17: without a word about it, 300 s.
#[test]
fn five_minutes_are_given_where_nobody_says_otherwise() {
    let test_home = TestHome::asking();
    let call = test_home.held(&test_home.bash("make one"));
    let card = test_home.card(&call.id);
    let given = card["expires"].as_u64().unwrap() - card["opened"].as_u64().unwrap();
    assert_eq!(given, 300_000);
    call.kill();
}

// X-13: the extend button.
#[test]
fn more_time_is_more_time() {
    let test_home = TestHome::under(json!({"approval": {"deadline": 8}}));
    let mut call = test_home.held(&test_home.bash("make one"));
    let said = test_home.says(&["extend", &call.id, "100"]);
    assert!(said.contains("more time"), "{said}");
    let card = test_home.card(&call.id);
    let given = card["expires"].as_u64().unwrap() - card["opened"].as_u64().unwrap();
    assert_eq!(given, 108_000);
    sleep(Duration::from_secs(9));
    assert!(call.waits());
    test_home.says(&["approve", &call.id]);
    assert_eq!(call.hears().word, "allow");
    let extended = test_home
        .records()
        .into_iter()
        .any(|record| record["kind"] == "hold_answered" && record["detail"]["answer"] == "extend");
    assert!(extended, "who gave it is on record");
}

// A-18
#[test]
fn several_calls_are_answered_each_by_itself_and_twice_is_harmless() {
    let test_home = TestHome::asking();
    let calls: Vec<_> = (0..4)
        .map(|number| test_home.held(&test_home.bash(&format!("make part{number}"))))
        .collect();
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    for (number, id) in ids.iter().enumerate().rev() {
        let word = if number % 2 == 0 { "approve" } else { "deny" };
        test_home.says(&[word, id]);
        for again in ["approve", "deny"] {
            let ran = test_home.run(&[again, id]);
            assert_eq!(ran.code, 1, "{ran:?}");
            assert!(
                ran.out.contains("already; this answer has no effect"),
                "{ran:?}"
            );
        }
    }
    for (number, call) in calls.into_iter().enumerate() {
        let word = if number % 2 == 0 { "allow" } else { "deny" };
        assert_eq!(call.hears().word, word, "part{number}");
    }
    assert_eq!(test_home.says(&["pending"]), "Nothing waits for you.\n");
    let answered = test_home
        .records()
        .iter()
        .filter(|record| record["kind"] == "hold_answered")
        .count();
    assert_eq!(answered, 4, "an answer without effect is no answer");
}

// A-18: what nobody waits for cannot be waited for again, and an unknown one is an error.
#[test]
fn a_request_that_does_not_exist_is_an_error() {
    let test_home = TestHome::asking();
    for command in [
        &["approve", "aaaaaaaa"][..],
        &["deny", "aaaaaaaa"],
        &["pending", "aaaaaaaa"],
    ] {
        let ran = test_home.run(command);
        assert_eq!(ran.code, 1);
        assert!(
            ran.err.contains("there is no request `aaaaaaaa`"),
            "{ran:?}"
        );
    }
}

// A-19, A-23, J-57
#[test]
fn every_step_of_a_call_is_told_with_its_time_and_who_answered() {
    let test_home = TestHome::asking();
    let call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    sleep(Duration::from_millis(300));
    test_home.says(&["approve", &id]);
    assert_eq!(call.hears().word, "allow");
    let card = test_home.card(&id);
    assert_eq!(card["state"], "released");
    let (opened, settled) = (card["opened"].as_u64(), card["settled"]["at"].as_u64());
    assert!(opened.unwrap() + 300 <= settled.unwrap(), "{card}");
    let kinds: Vec<_> = test_home
        .records()
        .iter()
        .filter(|record| record["kind"] != "checkpoint")
        .map(|record| record["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["decision", "hold_opened", "hold_answered", "release"]
    );
    let answered = test_home.last("hold_answered");
    assert!(
        answered["duration_us"].as_u64().unwrap() >= 300_000,
        "{answered}"
    );
    assert!(!answered["approver"].as_str().unwrap().is_empty());
    let of_the_call = |record: &&serde_json::Value| record["kind"] != "checkpoint";
    for record in test_home.records().iter().filter(of_the_call) {
        assert_eq!(record["call"], answered["call"], "{record}");
    }
    assert_eq!(test_home.run(&["log", "verify"]).code, 0);
}

// A-23: the requester gone, its answer not heard by anybody: all on record.
#[test]
fn refused_expired_and_failed_calls_are_on_record_like_released_ones() {
    let test_home = TestHome::under(json!({
        "deny": {"patterns": ["rm -rf *"]},
        "tools": {"Deploy": {"supervision": "confirm", "approval": {"deadline": 1}}},
    }));
    test_home.told(&test_home.bash("rm -rf x"));
    assert_eq!(test_home.last("decision")["method"], "blacklist");
    let refused = test_home.held(&test_home.bash("make one"));
    test_home.says(&["deny", &refused.id]);
    refused.hears();
    let record = test_home.last("hold_answered");
    assert_eq!(
        (&record["verdict"], &record["method"]),
        (&json!("deny"), &json!("user_denied"))
    );
    assert!(record["approver"].is_string());
    test_home
        .held(&test_home.payload("Deploy", json!({})))
        .kill();
    eventually("it expires whether anybody waits or not", || {
        test_home.waiting().is_empty()
    });
    assert_eq!(test_home.last("hold_expired")["method"], "timeout");
}

// A-23: if the ledger cannot be written, nothing is released.
#[test]
fn what_cannot_be_recorded_is_not_released() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("make one"));
    let ledger = test_home.path(".local/state/holdpoint/ledger");
    let aside = test_home.path("aside");
    std::fs::rename(&ledger, &aside).unwrap();
    std::fs::write(&ledger, "in the way").unwrap();
    let ran = test_home.run(&["approve", &call.id]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(call.waits());
    std::fs::remove_file(&ledger).unwrap();
    std::fs::rename(&aside, &ledger).unwrap();
    test_home.says(&["approve", &call.id]);
    assert_eq!(call.hears().word, "allow");
}

// X-13, A-17: a durable queue.
#[test]
fn a_daemon_that_dies_keeps_what_waits_and_the_hook_finds_the_next_one() {
    let mut test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("make one"));
    test_home.kill();
    assert_eq!(test_home.run(&["pending"]).code, 1);
    sleep(Duration::from_millis(300));
    assert!(call.waits());
    test_home.start();
    let waiting: Vec<String> = test_home.waiting().into_iter().map(|one| one.id).collect();
    assert_eq!(waiting, from_ref(&call.id));
    test_home.says(&["approve", &call.id]);
    assert_eq!(call.hears().word, "allow");
}

// Roles of issue 5: nothing of one session or place counts for another (invariant 6).
#[test]
fn an_answer_is_for_this_agent_session_and_place() {
    let test_home = TestHome::under(json!({"approval": {"wait": 3}}));
    let call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    assert_eq!(call.hears().word, "deny");
    test_home.says(&["approve", &id]);
    std::fs::create_dir(test_home.work().join("sub")).unwrap();
    let mut elsewhere = test_home.bash("make one");
    elsewhere["cwd"] = json!(test_home.work().join("sub"));
    test_home.held(&elsewhere).kill();
    // A policy that changed meanwhile is another one.
    test_home.write_policy(&json!({
        "defaultPolicy": "ask", "channel": {"type": "daemon"}, "deny": {"patterns": ["dd *"]},
    }));
    let again = test_home.held(&test_home.bash("make one"));
    assert_ne!(again.id, id);
    again.kill();
}

// A-18: two people at once.
#[test]
fn of_two_answers_at_the_same_time_exactly_one_counts() {
    let test_home = TestHome::asking();
    for number in 0..5 {
        let call = test_home.held(&test_home.bash(&format!("make part{number}")));
        let both: Vec<_> = ["approve", "deny", "approve"]
            .map(|word| {
                let mut command = test_home.program(&[word, &call.id]);
                (word, command.stdout(Stdio::null()).spawn().unwrap())
            })
            .into();
        let counted: Vec<&str> = both
            .into_iter()
            .filter_map(|(word, mut answer)| answer.wait().unwrap().success().then_some(word))
            .collect();
        let word = call.hears().word;
        let heard = if word == "allow" { "approve" } else { "deny" };
        assert_eq!(counted, [heard]);
    }
}
