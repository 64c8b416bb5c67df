use proptest::prelude::*;
use serde_json::json;

use super::super::sample::request;
use super::*;

const NOW: UnixMillis = UnixMillis(1_794_800_412_000);

fn read(request: &Request, mut reply: Value) -> Result<Answered, String> {
    reply["request_id"] = json!(request.id);
    match Reply::read(reply.to_string().as_bytes(), request, NOW) {
        Ok(Reply::Answered(answered)) => Ok(answered),
        Ok(Reply::Pending) => Err("pending".into()),
        Err(Wrong::Refused(reason) | Wrong::Unreadable(reason)) => Err(reason),
    }
}

fn answer(reply: Value) -> Answer {
    read(&request(), reply).unwrap().answer
}

fn always(scope: Scope) -> Answer {
    Answer::Always { scope: Some(scope) }
}

fn never(scope: Scope) -> Answer {
    Answer::Never { scope: Some(scope) }
}

#[test]
fn every_decision_is_an_answer() {
    for (word, wanted) in [
        ("allow", Answer::Yes),
        ("deny", Answer::No),
        ("allow_once", Answer::Once),
        ("allow_session", always(Scope::Prefix)),
        ("deny_session", never(Scope::Prefix)),
        ("allow_all", Answer::All),
        ("allow_turn", Answer::Turn),
        ("allow_idle", Answer::Idle),
        ("allow_until_idle", Answer::Idle),
    ] {
        assert_eq!(answer(json!({"decision": word})), wanted, "{word}");
    }
    assert_eq!(
        read(&request(), json!({"decision": "pending"})),
        Err("pending".into())
    );
    let comment = Answer::Comment {
        comment: "no".into(),
    };
    assert_eq!(
        answer(json!({"decision": "comment", "comment": "no"})),
        comment
    );
    assert_eq!(
        answer(json!({"decision": "comment", "reason": "no"})),
        comment
    );
    assert_eq!(
        answer(json!({"decision": "deny", "comment": "no"})),
        comment
    );
    // As jaato's document has it: what a denial gives as its reason is what the model reads.
    assert_eq!(answer(json!({"decision": "deny", "reason": "no"})), comment);
    assert_eq!(
        answer(json!({"decision": "deny", "comment": " ", "reason": "no"})),
        comment
    );
    assert_eq!(
        answer(json!({"decision": "deny", "reason": " "})),
        Answer::No
    );
    assert_eq!(
        answer(json!({"decision": "allow", "reason": "fine"})),
        Answer::Yes
    );
}

#[test]
fn what_is_no_decision_is_no_yes() {
    for reply in [
        json!({}),
        json!({"decision": null}),
        json!({"decision": ""}),
        json!({"decision": "ALLOW"}),
        json!({"decision": "yes please"}),
        json!({"decision": true}),
        json!({"decision": "comment"}),
        json!({"decision": "edit"}),
        json!({"decision": "allow", "remember": "yes"}),
        json!({"decision": "allow", "expires_at": "soon"}),
        json!({"decision": "allow", "expires_at": 5}),
        json!({"decision": "allow", "expires_at": "2026-11-16T03:40:12Z"}),
        json!({"decision": "allow", "binding": "sha256:other"}),
    ] {
        assert!(read(&request(), reply.clone()).is_err(), "{reply}");
    }
    let twice = br#"{"request_id":"hq7f3a91","decision":"deny","decision":"allow"}"#;
    assert!(Reply::read(twice, &request(), NOW).is_err());
}

#[test]
fn only_this_request_is_answered() {
    for id in ["", "hq7f3a9", "hq7f3a911", "HQ7F3A91", "someone-elses"] {
        let reply = json!({"request_id": id, "decision": "allow"}).to_string();
        let read = Reply::read(reply.as_bytes(), &request(), NOW);
        assert!(matches!(read, Err(Wrong::Refused(_))), "{id}");
    }
}

/// J-49: `remember` leaves the rule it names, if that is one of those offered, and no other.
#[test]
fn remember_leaves_a_rule_that_was_offered_and_no_other() {
    let remember =
        |pattern: &str| json!({"decision": "allow", "remember": true, "remember_pattern": pattern});
    assert_eq!(answer(remember("git push *")), always(Scope::Prefix));
    assert_eq!(
        answer(remember("git push --force origin main")),
        always(Scope::Exact)
    );
    assert_eq!(
        answer(json!({"decision": "allow", "remember": true})),
        always(Scope::Prefix)
    );
    assert_eq!(
        answer(json!({"decision": "deny", "remember": true})),
        never(Scope::Prefix)
    );
    assert_eq!(
        answer(json!({"decision": "allow", "remember": false})),
        Answer::Yes
    );
    assert_eq!(
        answer(json!({"decision": "allow_once", "remember": true})),
        Answer::Once
    );
    for pattern in ["git *", "*", "git push", "GIT PUSH *"] {
        let read = read(&request(), remember(pattern)).unwrap();
        assert_eq!(read.answer, Answer::Yes, "{pattern}");
        assert!(read.notice.unwrap().contains("is not offered"), "{pattern}");
    }
    let deny = json!({"decision": "deny_session", "remember_pattern": "*"});
    assert_eq!(answer(deny), Answer::No);
}

#[test]
fn a_rule_for_several_commands_is_not_meant_by_the_pattern_of_one() {
    let mut request = request();
    request.terms.offers = vec![Offer {
        scope: Scope::Prefix,
        patterns: vec!["git push *".into(), "rm *".into()],
        lasts: String::new(),
        released: 0,
    }];
    let reply = json!({"decision": "allow_session", "remember_pattern": "git push *"});
    assert_eq!(read(&request, reply).unwrap().answer, Answer::Yes);
}

#[test]
fn without_a_pattern_a_command_has_its_prefix_and_another_tool_its_name() {
    let mut request = request();
    let offer = |scope| Offer {
        scope,
        patterns: vec!["x".into()],
        lasts: String::new(),
        released: 0,
    };
    request.terms.offers = vec![offer(Scope::Exact), offer(Scope::Tool)];
    let reply = || json!({"decision": "allow_session"});
    let answered = read(&request, reply()).unwrap();
    assert_eq!(answered.answer, Answer::Yes);
    assert!(answered.notice.unwrap().contains("no rule was left"));
    request.asked.input = serde_json::from_str(r#"{"path":"a"}"#).unwrap();
    assert_eq!(read(&request, reply()).unwrap().answer, always(Scope::Tool));
    request.terms.offers.clear();
    assert_eq!(read(&request, reply()).unwrap().answer, Answer::Yes);
}

/// J-50: a rule that should end is not kept for longer than that.
#[test]
fn a_rule_that_should_end_is_not_left_for_good() {
    let until = "2026-11-16T04:00:00Z";
    let allow = json!({"decision": "allow_session", "expires_at": until});
    let answered = read(&request(), allow).unwrap();
    assert_eq!(answered.answer, Answer::Yes);
    assert!(answered.notice.unwrap().contains("expires_at"));
    let deny = json!({"decision": "deny_session", "expires_at": until});
    assert_eq!(answer(deny), never(Scope::Prefix));
}

#[test]
fn other_arguments_are_an_edit_whatever_the_decision_says() {
    let changed = json!({"command": "git push origin main"});
    let edit = Answer::Edit {
        input: changed.as_object().unwrap().clone(),
    };
    for word in ["allow", "allow_once", "allow_session", "allow_all", "edit"] {
        let reply = json!({"decision": word, "modified_arguments": changed});
        assert_eq!(answer(reply), edit, "{word}");
    }
    let reply = json!({"decision": "deny", "modified_arguments": changed});
    assert_eq!(answer(reply), Answer::No);
    let same = json!({"command": "git push --force origin main"});
    let reply = json!({"decision": "allow", "modified_arguments": same});
    assert_eq!(answer(reply), Answer::Yes);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Reply::read(&bytes, &request(), NOW).is_err());
    }

    #[test]
    fn no_word_but_the_known_ones_releases(word in "[a-z_]{0,16}") {
        let known = Decision::from_word(&word).is_some();
        let read = read(&request(), json!({"decision": word}));
        prop_assert!(known || read.is_err());
    }
}
