//! Plans: put before a person once, and kept to. An agent finishes its task without a further question, what is outside is
//! held, and what is denied stays denied.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::test_home::{Ran, TestHome};

const PLAN: &str = r#"
[meta]
epic_id = "AUTH-12"
kind = "feature"
created_at = "2026-11-19T08:00:00Z"
prompt_version = "1.0"
agent_version = "scripted 1.0"

[objective]
summary = "Visitors sign in with a passkey"
success_criteria = ["all tests pass"]

[[objective.user_stories]]
as_a = "visitor"
i_want = "to sign in with a passkey"
so_that = "I need no password"
acceptance_criteria = ["a known passkey signs in"]

[[dependencies.new_packages]]
manager = "cargo"
name = "webauthn-rs"
justification = "verifies what authenticators sign"

[[plan.phases]]
name = "write"
commands = ["mkdir -p src/auth"]
tools = ["mcp__tracker__get_issue"]
hosts = ["docs.rs"]
[plan.phases.paths]
write = ["src/auth", "README.md"]

[[plan.phases]]
name = "verify"
commands = ["cargo test", "cargo test *", "git add *", "git commit -m *"]
"#;

/// A plan that waits to be released.
struct Waiting {
    process: std::process::Child,
    id: String,
}

impl Waiting {
    fn ends(self) -> Ran {
        let output = self.process.wait_with_output().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn put_up(home: &TestHome) -> Waiting {
    home.file("plan.toml", PLAN);
    let process = home
        .program(&["plan", "approve", "plan.toml", "--session", "s1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = waiting_plan(home);
    Waiting { process, id }
}

fn waiting_plan(home: &TestHome) -> String {
    let since = Instant::now();
    loop {
        let waiting = home.waiting().into_iter();
        if let Some(request) = waiting.rev().find(|one| one.asked.tool == "HoldpointPlan") {
            return request.id;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "nothing waits");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn open(home: &TestHome) {
    let plan = put_up(home);
    home.says(&["approve", &plan.id]);
    let ran = plan.ends();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("Open until"), "{ran:?}");
}

fn write(home: &TestHome, file: &str) -> Value {
    let path = home.work().join(file);
    home.payload("Write", json!({"file_path": path, "content": "x\n"}))
}

#[test]
fn an_agent_under_a_plan_finishes_without_a_question_and_is_held_outside_it() {
    let home = TestHome::under(json!({"deny": {"patterns": ["git push *"]}}));
    open(&home);
    let task = [
        home.bash("mkdir -p src/auth"),
        write(&home, "src/auth/passkey.rs"),
        write(&home, "README.md"),
        home.payload("mcp__tracker__get_issue", json!({"id": 12})),
        home.payload(
            "WebFetch",
            json!({"url": "https://docs.rs/webauthn-rs", "prompt": "x"}),
        ),
        home.bash("cargo add webauthn-rs"),
        home.bash("cargo test --lib auth"),
        home.bash("cargo test && git add src/auth"),
        home.bash("git commit -m 'auth: passkeys'"),
    ];
    for call in &task {
        let heard = home.told(call);
        assert_eq!(
            (heard.word.as_str(), heard.code),
            ("allow", 0),
            "{call}: {heard:?}"
        );
        assert!(
            heard.reason.contains("AUTH-12") || heard.reason.is_empty(),
            "{heard:?}"
        );
    }
    // Three calls that it does not declare, each held with the name of the plan.
    for outside in [
        home.bash("cargo publish"),
        write(&home, "src/billing.rs"),
        home.bash("cargo test; curl https://docs.rs/x"),
    ] {
        let held = home.held(&outside);
        let card = home.card(&held.id).to_string();
        assert!(card.contains("Not in the plan `AUTH-12`"), "{card}");
        home.says(&["deny", &held.id]);
        assert_eq!(held.hears().word, "deny");
    }
    let denied = home.told(&home.bash("git push origin main"));
    assert_eq!(denied.word, "deny", "{denied:?}");

    let status = home.says(&["plan", "status", "plan.toml", "--session", "s1", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    let covered = |at: usize| status["plan"]["phases"][at]["covered"].as_u64().unwrap();
    assert_eq!((covered(0), covered(1), covered(2)), (5, 3, 1), "{status}");
    assert_eq!(status["plan"]["outside"], 3, "{status}");
    assert_eq!(status["same"], true);

    let records = home.records();
    let opened = records
        .iter()
        .find(|one| one["detail"]["action"] == "plan_open");
    assert_eq!(opened.unwrap()["detail"]["plan"], "AUTH-12");
    let covered = records.iter().filter(|one| {
        one["rule"]
            .as_str()
            .is_some_and(|rule| rule.starts_with("plan:AUTH-12#"))
    });
    assert_eq!(covered.count(), task.len(), "{records:?}");

    for look in [
        &["permissions", "show", "--session", "s1"][..],
        &["permissions", "--session", "s1", "status"],
        &["explain", "--session", "s1", "cargo test"],
    ] {
        let said = home.says(look);
        assert!(said.contains("AUTH-12"), "{look:?}: {said}");
        assert!(!said.contains("nothing said"), "{look:?}: {said}");
    }

    home.says(&["plan", "close", "--session", "s1"]);
    let closed = home.last("session_rule");
    assert_eq!(closed["detail"]["action"], "plan_close", "{closed}");
    home.held(&home.bash("cargo test")).kill();
}

#[test]
fn a_plan_opens_by_a_persons_yes_and_by_nothing_else() {
    let home = TestHome::asking();
    let plan = put_up(&home);
    let card = home.card(&plan.id);
    let text = card.to_string();
    assert!(
        text.contains("cargo test *") && text.contains("src/auth"),
        "{card}"
    );
    assert!(
        card["display"]["summary"]
            .as_str()
            .unwrap()
            .starts_with("Plan AUTH-12"),
        "{card}"
    );
    // Nothing that is given elsewhere answers it.
    home.says(&["deny", &plan.id]);
    let ran = plan.ends();
    assert_eq!(ran.code, 2, "{ran:?}");
    home.held(&home.bash("cargo test")).kill();

    home.says(&["permissions", "--session", "s1", "allow", "HoldpointPlan"]);
    home.says(&["permissions", "--session", "s1", "suspend", "all"]);
    let plan = put_up(&home);
    home.says(&["deny", &plan.id]);
    assert_eq!(plan.ends().code, 2);
}

#[test]
fn where_calls_are_only_observed_no_plan_opens_by_itself() {
    let home = TestHome::under(json!({"mode": "observe"}));
    home.file("plan.toml", PLAN);
    let ran = home.run(&["plan", "approve", "plan.toml", "--session", "s1"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("opened by a person alone"), "{ran:?}");
}

#[test]
fn an_agent_cannot_close_a_plan_and_a_plan_that_is_denied_is_put_before_nobody() {
    let home = TestHome::under(json!({"deny": {"patterns": ["git commit *"]}}));
    assert_eq!(home.told(&home.bash("holdpoint plan close")).word, "deny");
    home.file("plan.toml", PLAN);
    let ran = home.run(&["plan", "approve", "plan.toml", "--session", "s1"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("denied whoever says yes"), "{ran:?}");
    assert!(home.waiting().is_empty());
}

#[test]
fn a_link_out_of_a_declared_place_is_outside_the_plan() {
    let home = TestHome::asking();
    open(&home);
    fs::create_dir_all(home.path("elsewhere")).unwrap();
    fs::create_dir_all(home.work().join("src/auth")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.work().join("src/auth/out")).unwrap();
    home.held(&write(&home, "src/auth/out/a.rs")).kill();
    home.held(&write(&home, "src/auth/../billing.rs")).kill();
    home.held(&home.bash("cargo test > src/main.rs")).kill();
    home.held(&home.bash("cd /tmp && cargo test")).kill();
    assert_eq!(home.told(&write(&home, "src/auth/in.rs")).word, "allow");
}
