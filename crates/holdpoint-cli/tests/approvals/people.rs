//! Who may answer: several people, those a rule names, somebody in somebody else's place.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::test_home::{Caller, Signed, TestHome};

/// Adds somebody, and signs them in.
pub(crate) fn person<'h>(test_home: &'h TestHome, name: &str) -> Signed<'h> {
    let said = test_home.says(&["people", "add", name, "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    test_home.sign_in(name, said["token"].as_str().unwrap())
}

// Issue 5: M of N, distinct people. A-23: who said yes is on record. X-19
#[test]
fn as_many_people_as_the_policy_wants_must_say_yes() {
    let test_home = TestHome::under(json!({"approval": {"required": 2}}));
    let (ann, bob) = (person(&test_home, "ann"), person(&test_home, "bob"));
    let mut call = test_home.held(&test_home.bash("make deploy"));
    let card = test_home.card(&call.id);
    assert_eq!(card["terms"]["required"], 2);
    let (status, said) = ann.answers(&card, "yes");
    assert_eq!(
        (status, &said["outcome"]),
        (200, &json!("counted")),
        "{said}"
    );
    let (status, said) = ann.answers(&card, "yes");
    assert_eq!(status, 409, "the same person counts once: {said}");
    assert!(call.waits());
    // No rule can be left by one of them for others.
    for word in ["all", "always"] {
        assert_eq!(bob.answers(&card, word).0, 409, "{word}");
    }
    // Who somebody is is known from how they signed in, whatever the answer says.
    let path = format!("/api/requests/{}/answer", call.id);
    let claims = json!({"answer": "yes", "binding": card["binding"], "approver": "bob"});
    assert_ne!(ann.posts(&path, &claims).0, 200);
    assert!(call.waits());
    let (status, said) = bob.answers(&card, "yes");
    assert_eq!(
        (status, &said["outcome"]),
        (200, &json!("settled")),
        "{said}"
    );
    assert_eq!(call.hears().word, "allow");
    let record = test_home.last("release");
    assert_eq!(record["approver"], "ann, bob", "{record}");
    assert_eq!(record["detail"]["said_yes"], "2 of 2");
}

#[test]
fn one_no_of_several_people_is_a_no_and_an_edit_starts_the_count_anew() {
    let test_home = TestHome::under(json!({"approval": {"required": 2}}));
    let ann = person(&test_home, "ann");
    let mut call = test_home.held(&test_home.bash("make deploy"));
    ann.answers(&test_home.card(&call.id), "yes");
    test_home.says(&["approve", &call.id, "--edit", "command=make check"]);
    let card = test_home.card(&call.id);
    assert_eq!(
        card["approvals"],
        json!([]),
        "ann said yes to something else"
    );
    assert!(call.waits());
    ann.answers(&card, "yes");
    test_home.says(&["deny", &call.id]);
    assert_eq!(call.hears().word, "deny");
}

// Approvers per rule and per tool.
#[test]
fn only_those_a_rule_names_may_answer_what_it_asks_about() {
    let test_home = TestHome::under(json!({
        "tools": {"Deploy": {"supervision": "confirm", "approval": {"approvers": ["ann"]}}},
    }));
    let (ann, bob) = (person(&test_home, "ann"), person(&test_home, "bob"));
    let mut call = test_home.held(&test_home.payload("Deploy", json!({"env": "prod"})));
    let card = test_home.card(&call.id);
    assert_eq!(card["terms"]["approvers"], json!(["ann"]));
    assert!(
        card["terms"]["offers"].is_null(),
        "a rule would answer without ann"
    );
    for word in ["yes", "no"] {
        let (status, said) = bob.answers(&card, word);
        assert_eq!(status, 409);
        assert!(said.to_string().contains("waits for ann"), "{said}");
    }
    let ran = test_home.run(&["approve", &call.id]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(call.waits());
    assert_eq!(ann.answers(&card, "yes").0, 200);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(test_home.last("hold_answered")["approver"], "ann");
    // Other tools are anybody's.
    let other = test_home.held(&test_home.bash("make one"));
    assert_eq!(bob.answers(&test_home.card(&other.id), "yes").0, 200);
    assert_eq!(other.hears().word, "allow");
}

// Delegation with expiry.
#[test]
fn somebody_answers_in_anothers_place_until_that_ends() {
    let test_home = TestHome::under(json!({"approval": {"approvers": ["ann"]}}));
    let _ann = person(&test_home, "ann");
    let bob = person(&test_home, "bob");
    let call = test_home.held(&test_home.bash("make one"));
    let card = test_home.card(&call.id);
    assert_eq!(bob.answers(&card, "yes").0, 409);
    test_home.says(&["people", "delegate", "bob", "--from", "ann", "--for", "8h"]);
    assert_eq!(bob.answers(&card, "yes").0, 200);
    assert_eq!(call.hears().word, "allow");
    let approval = &test_home.card(card["id"].as_str().unwrap())["approvals"][0];
    assert_eq!(
        (&approval["approver"], &approval["on_behalf_of"]),
        (&json!("bob"), &json!("ann"))
    );

    test_home.says(&["people", "undelegate", "bob", "--from", "ann"]);
    test_home.says(&["people", "delegate", "bob", "--from", "ann", "--for", "1s"]);
    sleep(Duration::from_millis(1500));
    let call = test_home.held(&test_home.bash("make two"));
    assert_eq!(bob.answers(&test_home.card(&call.id), "yes").0, 409);
    call.kill();
}

#[test]
fn a_viewer_looks_and_does_not_answer() {
    let test_home = TestHome::asking();
    let said = test_home.says(&["people", "add", "vic", "--role", "viewer", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let vic = test_home.sign_in("vic", said["token"].as_str().unwrap());
    let mut call = test_home.held(&test_home.bash("make one"));
    let (status, said) = vic.answers(&test_home.card(&call.id), "yes");
    assert_eq!(status, 403, "{said}");
    assert!(call.waits());
    call.kill();
}

/// Pushing needs both of two people; everything else anybody.
fn two_push() -> Value {
    json!({"approval": {"rules": {"git.*": {"required": 2, "approvers": ["ann", "bob"]}}}})
}

// Invariants 2 and 7: another command beside it, or an answer to another call, takes nothing away.
#[test]
fn what_certain_people_must_say_yes_to_no_other_command_or_answer_lets_through() {
    let test_home = TestHome::under(two_push());
    let (_ann, _bob) = (person(&test_home, "ann"), person(&test_home, "bob"));
    let beside = test_home.held(&test_home.bash("gemini --yolo -p hi; git push origin main"));
    let terms = &test_home.card(&beside.id)["terms"];
    assert_eq!(terms["required"], 2, "{terms}");
    assert_eq!(terms["approvers"], json!(["ann", "bob"]));
    assert_eq!(terms["suspendable"], false);
    beside.kill();
    let plain = test_home.held(&test_home.bash("make"));
    test_home.says(&["approve", &plain.id, "--all"]);
    assert_eq!(plain.hears().word, "allow");
    assert_eq!(test_home.told(&test_home.bash("make check")).word, "allow");
    let mut push = test_home.held(&test_home.bash("git push origin main"));
    assert!(push.waits());
    assert_eq!(test_home.run(&["approve", &push.id]).code, 1);
    push.kill();
}

// The agent's own dialog does not say who answers.
#[test]
fn the_agents_own_dialog_does_not_stand_in_for_certain_people() {
    let mut by_channel = two_push();
    by_channel["channel"] = json!({"type": "agent"});
    let mut by_fallback = two_push();
    by_fallback["approval"]["fallback"] = json!("agent");
    for policy in [by_channel, by_fallback] {
        let test_home = TestHome::alone(policy);
        assert_eq!(test_home.told(&test_home.bash("make")).word, "ask");
        let told = test_home.told(&test_home.bash("git push origin main"));
        assert_eq!(told.word, "deny", "{}", told.reason);
        assert!(told.reason.contains("holdpoint serve"), "{}", told.reason);
    }
}

// an answer for everything is given by one person, and not in the place of others.
#[test]
fn all_does_not_answer_for_those_whom_another_call_needs() {
    let test_home = TestHome::under(json!({"tools": {
        "Deploy": {"supervision": "confirm", "approval": {"required": 2}},
        "Publish": {"supervision": "confirm", "approval": {"approvers": ["ann"]}},
        "Erase": {"supervision": "manual"},
    }}));
    let mut kept: Vec<Caller> = ["Deploy", "Publish", "Erase"]
        .map(|tool| test_home.held(&test_home.payload(tool, json!({"where": "here"}))))
        .into();
    let plain = test_home.held(&test_home.bash("make two"));
    let call = test_home.held(&test_home.bash("make one"));
    test_home.says(&["approve", &call.id, "--all"]);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(
        plain.hears().word,
        "allow",
        "what waits is covered, too (J-45)"
    );
    for tool in ["Deploy", "Publish", "Erase"] {
        kept.push(test_home.held(&test_home.payload(tool, json!({"where": "there"}))));
    }
    for mut call in kept {
        assert!(call.waits());
        call.kill();
    }
}

// Approvers per rule: a call asks for everybody whom any of its parts needs.
#[test]
fn a_call_with_several_parts_needs_those_of_every_part() {
    let test_home = TestHome::under(json!({"approval": {
        "deadline": 200,
        "rules": {
            "git.reset-hard": {"required": 2, "deadline": 50},
            "git.clean": {"approvers": ["ann"]},
        },
    }}));
    for line in [
        "make one; git reset --hard; git clean -fd",
        "git clean -fd; git reset --hard; make one",
        "git reset --hard && terraform destroy && git clean -fd",
    ] {
        let call = test_home.held(&test_home.bash(line));
        let terms = test_home.card(&call.id)["terms"].clone();
        assert_eq!(terms["required"], 2, "{line}: {terms}");
        assert_eq!(terms["approvers"], json!(["ann"]), "{line}: {terms}");
        assert_eq!(terms["deadline"], 50, "{line}: {terms}");
        call.kill();
    }
}

// nor does a rule that somebody left for calls like it.
#[test]
fn always_does_not_answer_for_those_whom_another_call_needs() {
    let test_home =
        TestHome::under(json!({"approval": {"rules": {"git.force-push": {"required": 2}}}}));
    let call = test_home.held(&test_home.bash("git push origin feature"));
    test_home.says(&["approve", &call.id, "--always", "prefix"]);
    assert_eq!(call.hears().word, "allow");
    test_home
        .held(&test_home.bash("git push --force origin feature"))
        .kill();
}
