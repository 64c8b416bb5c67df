//! Which calls the sandbox answers for, and for whom.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{
    Policy, Session, SessionState, Surroundings, Suspensions, ToolCall, Verdict, judge_call,
};

const CONTAINS: &str = r#"{"defaultPolicy":"defer","opaque":"contain"}"#;

fn judged(can_contain: bool, text: &str, state: SessionState, line: &str) -> Verdict {
    let source = Source {
        name: "p".into(),
        authority: Authority::User,
        trust: Trust::Trusted,
        bytes: text.as_bytes().to_vec(),
    };
    let policy = Policy::compile(vec![source]).unwrap();
    let around = Surroundings {
        workspace: Some("/work/app"),
        directory: Some("/work/app"),
        home: Some("/home/dev"),
        can_contain,
        ..Surroundings::nowhere()
    };
    let call = ToolCall::shell(line);
    judge_call(&call, &policy, &Session::new(state), &around).verdict
}

fn contained(line: &str) -> Verdict {
    judged(true, CONTAINS, SessionState::default(), line)
}

#[test]
fn code_nobody_can_read_is_contained() {
    for line in [
        r#"bash -c "$CODE""#,
        r#"eval "$(./configure --print)""#,
        "$TOOL --check",
        r#"cd src && python -c "$CODE" > out.txt"#,
        r#"ls && bash -c "$CODE" 2>/dev/null"#,
    ] {
        assert_eq!(contained(line), Verdict::Contain, "{line}");
        let asked = judged(false, CONTAINS, SessionState::default(), line);
        assert_eq!(asked, Verdict::Ask, "{line}, where nothing contains it");
        let plain = r#"{"defaultPolicy":"defer"}"#;
        let asked = judged(true, plain, SessionState::default(), line);
        assert_eq!(asked, Verdict::Ask, "{line}, where no policy says so");
    }
}

#[test]
fn what_needs_the_outside_is_asked_about() {
    for line in [
        r#"bash -c "$CODE" && git push origin topic"#,
        r#"bash -c "$CODE"; npm publish"#,
        r#"bash -c "$CODE"; curl https://example.com/x -o x"#,
        r#"bash -c "$CODE" > /home/dev/notes.txt"#,
        r#"bash -c "$CODE" > /tmp/out.txt"#,
        r#"bash -c "$CODE" && psql -c 'select 1'"#,
        r#"curl "$URL" | sh"#,
        r#"bash -c "$CODE"; terraform apply"#,
    ] {
        let verdict = contained(line);
        assert!(verdict >= Verdict::Ask, "{line}: {}", verdict.as_str());
    }
}

#[test]
fn a_refusal_and_another_question_stand() {
    assert_eq!(contained(r#"bash -c "$CODE"; rm -rf ~"#), Verdict::Deny);
    let asks = r#"{"defaultPolicy":"defer","opaque":"contain","ask":{"patterns":["make *"]}}"#;
    let line = r#"bash -c "$CODE"; make all"#;
    assert_eq!(
        judged(true, asks, SessionState::default(), line),
        Verdict::Ask
    );
    // What could be a refused command in hiding is a person's to answer.
    let denies = r#"{"defaultPolicy":"defer","opaque":"contain","deny":{"patterns":["make *"]}}"#;
    let line = r#"bash -c "$CODE""#;
    assert_eq!(
        judged(true, denies, SessionState::default(), line),
        Verdict::Ask
    );
    // So is what certain people must say yes to.
    let people = r#"{"defaultPolicy":"defer","opaque":"contain",
        "approval":{"rules":{"shell.dynamic-code":{"approvers":["ann"]}}}}"#;
    assert_eq!(
        judged(true, people, SessionState::default(), line),
        Verdict::Ask
    );
}

#[test]
fn a_person_lifts_it_and_a_suspension_does_not() {
    let line = r#"bash -c "$CODE""#;
    let allow = SessionState {
        allow: vec!["Bash".into()],
        ..SessionState::default()
    };
    assert_eq!(judged(true, CONTAINS, allow, line), Verdict::Allow);
    let suspended = || SessionState {
        suspended: Suspensions {
            turn: false,
            idle: false,
            all: true,
        },
        ..SessionState::default()
    };
    assert_eq!(judged(true, CONTAINS, suspended(), line), Verdict::Contain);
    assert_eq!(judged(false, CONTAINS, suspended(), line), Verdict::Allow);
    let asks = r#"{"defaultPolicy":"defer","opaque":"contain","ask":{"patterns":["make *"]}}"#;
    let both = r#"bash -c "$CODE"; make all"#;
    assert_eq!(judged(true, asks, suspended(), both), Verdict::Contain);
}
