//! Conditions on facts: they hold where the facts are so, what is not known tightens and never loosens, and nothing is asked for
//! that no rule wants to know.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::cell::Cell;

use holdpoint_core::facts::{Fact, FactValue, LocalTime, Weekday, runs_tests};
use holdpoint_core::paths::{Entry, Lookup};
use holdpoint_core::policy::{Authority, LoadedPack};
use holdpoint_core::{
    Decision, Pack, Policy, Session, Surroundings, ToolCall, Verdict, judge_call, understand,
};
use proptest::prelude::*;
use proptest::sample::select;

/// A world in which some facts are known.
#[derive(Debug, Default)]
struct World {
    branch: Option<&'static str>,
    elsewhere: Option<&'static str>,
    clean: Option<bool>,
    tested: Option<bool>,
    ci: bool,
    time: Option<LocalTime>,
    files: Vec<&'static str>,
    asked: Cell<usize>,
}

impl Lookup for World {
    fn entry(&self, path: &str) -> Entry {
        match path {
            "/" | "/w" | "/w/app" | "/w/other" => Entry::Directory,
            path if self.files.contains(&path) => Entry::Other,
            _ => Entry::Missing,
        }
    }

    fn fact(&self, fact: &Fact) -> FactValue {
        self.asked.set(self.asked.get() + 1);
        let text = |text: Option<&str>| text.map(|text| FactValue::Text(text.to_owned()));
        let known = match fact {
            Fact::Branch(directory) if directory == "/w/app" => text(self.branch),
            Fact::Branch(_) => text(self.elsewhere),
            Fact::Clean(_) => self.clean.map(FactValue::Is),
            Fact::Ci => Some(FactValue::Is(self.ci)),
            Fact::Time => self.time.map(FactValue::Time),
            Fact::TestsPassed => self.tested.map(FactValue::Is),
            Fact::Hostname | Fact::User => None,
        };
        known.unwrap_or(FactValue::Unknown)
    }
}

fn on(branch: &'static str) -> World {
    World {
        branch: Some(branch),
        ..World::default()
    }
}

fn judged(policy: &Policy, world: &World, line: &str) -> Decision {
    let around = Surroundings {
        workspace: Some("/w/app"),
        home: Some("/home/dev"),
        lookup: world,
        ..Surroundings::nowhere()
    };
    let call = ToolCall::shell(line).in_directory("/w/app");
    judge_call(&call, policy, &Session::default(), &around)
}

fn pack(facts: &str) -> Policy {
    let text = format!(
        "pack = \"team\"\ntitle = \"Ours\"\n[[rule]]\nid = \"team.commit\"\nverdict = \"deny\"\nrisk = \"high\"\n\
         reason = \"Nobody commits there\"\ninstead = \"Make a branch\"\n\
         matches = [\"git commit\"]\nnot_matches = [\"git log\"]\n\
         [[rule.when]]\nprogram = \"git\"\nsubcommand = \"commit\"\nfacts = {{ {facts} }}\n"
    );
    let pack = Pack::own("team.toml", &text).unwrap();
    Policy::compile(vec![])
        .unwrap()
        .with_packs(vec![LoadedPack {
            pack,
            authority: Authority::User,
            place: "team.toml".into(),
        }])
}

#[test]
fn a_rule_holds_where_its_facts_do_and_says_on_which_it_rests() {
    let policy = pack(r#"branch = ["main", "release/*"]"#);
    for branch in ["main", "release/2.0"] {
        let decision = judged(&policy, &on(branch), "git commit -m x");
        assert_eq!(decision.verdict, Verdict::Deny, "{branch}");
        let said = format!("Nobody commits there (branch `{branch}`)");
        assert_eq!(decision.reason, said);
    }
    let decision = judged(&policy, &on("feature"), "git commit -m x");
    assert_eq!(decision.verdict, Verdict::Allow);
    // What was asked for is named where the rule did not hold, too.
    let json = serde_json::to_value(&decision).unwrap();
    assert_eq!(
        json["facts"],
        serde_json::json!([{"fact": "branch", "value": "feature"}])
    );
}

#[test]
fn a_rule_may_ask_whether_tests_passed_since_the_last_edit() {
    let policy = pack("tests_passed = false");
    let world = |tested| World {
        tested,
        ..World::default()
    };
    let said = |tested, line: &str| judged(&policy, &world(tested), line);
    assert_eq!(said(Some(true), "git commit -m x").verdict, Verdict::Allow);
    assert_eq!(
        said(Some(true), "git add -A && git commit -m x").verdict,
        Verdict::Allow
    );
    let failed = said(Some(false), "git commit -m x");
    assert_eq!(failed.verdict, Verdict::Deny);
    assert_eq!(failed.reason, "Nobody commits there (tests_passed `no`)");
    assert_eq!(said(None, "git commit -m x").verdict, Verdict::Deny);
    // What the line edits first was not tested.
    for line in [
        "sed -i s/a/b/ src/x.rs && git commit -m x",
        "echo x > src/x.rs; git commit -m x",
        "./fix.sh && git commit -m x",
        "unheard-of && git commit -m x",
        "git stash pop && git commit -m x",
        "pytest > src/a.py; git commit -m x",
    ] {
        assert_eq!(said(Some(true), line).verdict, Verdict::Deny, "{line}");
    }
}

#[test]
fn tests_count_where_the_end_of_the_line_says_how_they_went() {
    let policy = Policy::compile(vec![]).unwrap();
    let runs = |line: &str| {
        let around = Surroundings::nowhere();
        runs_tests(&understand(ToolCall::shell(line), &policy, &around))
    };
    for line in [
        "cargo test",
        "cd app && cargo test --workspace 2>&1",
        "cd app && pytest -q && echo done",
        "npm test -- --watch=false",
        "timeout 60 go test ./...",
        "python3 -m pytest tests",
        "npx jest src",
        "make test",
        "pytest -v > /tmp/test.log 2>&1",
        "cargo test 2> /dev/null && cat /tmp/x",
        "pytest tests/$(cat /tmp/name)",
    ] {
        assert!(runs(line), "{line}");
    }
    for line in [
        // What comes before may end the line, or be what runs by that name; what comes behind may edit.
        "cd app; pytest -q && echo done",
        "exit 0; pytest",
        "exec true && pytest",
        "alias pytest=true && pytest",
        "PATH=./x pytest",
        "./pytest",
        "pytest && sed -i s/a/b/ src/x.py",
        "cargo test | tail",
        "cargo test || true",
        "cargo test; echo done",
        "cargo test &",
        "! cargo test",
        "cargo test --no-run",
        "pytest --collect-only",
        "bash -c 'cargo test || true'",
        "echo cargo test",
        "make -n test",
        "cargo build",
        "if cargo test; then echo y; fi",
        // It changes what was tested, and only looks as if it did not.
        "pytest && echo broken > src/a.py",
        "pytest > src/a.py",
        "nohup pytest > src/a.py",
        "pytest --basetemp=src",
        "pytest && timeout 5 sed -i s/a/b/ src/x.py",
        "pytest && echo $(sed -i s/a/b/ src/x.py)",
        "> src/a.py && pytest",
        // No test runs.
        "pytest -V",
        "jest --showConfig",
        "rspec -v",
        "mvn test -Dmaven.test.skip=true",
        "mvn test -DskipTests=true",
        "gradle test -x test",
        "npm run test --if-present",
    ] {
        assert!(!runs(line), "{line}");
    }
}

#[test]
fn what_is_not_known_is_as_a_rule_says_that_objects() {
    let world = World::default();
    for facts in [
        r#"branch = "main""#,
        r#"not_branch = "feature""#,
        r#"worktree = "clean""#,
        r#"user = "root""#,
        r#"hours = "09:00-17:00""#,
        "tests_passed = false",
    ] {
        let decision = judged(&pack(facts), &world, "git commit");
        assert_eq!(decision.verdict, Verdict::Deny, "{facts}");
        assert!(decision.reason.contains("unknown"), "{}", decision.reason);
    }
    // Of several, one that is known not to hold is enough.
    let decision = judged(&pack(r#"ci = true, branch = "main""#), &world, "git commit");
    assert_eq!(decision.verdict, Verdict::Allow);
}

#[test]
fn what_is_not_known_loosens_nothing() {
    let policy = |facts: &str| {
        let text = format!(
            r#"{{"defaultPolicy": "ask", "tools": {{"Bash": {{"supervision": "automatic",
                "conditions": {{"command_starts_with": "make", "facts": {facts}}}}}}}}}"#
        );
        Policy::from_text("p", text).unwrap()
    };
    let feature = policy(r#"{"branch": "feature/*"}"#);
    assert_eq!(
        judged(&feature, &on("feature/x"), "make").verdict,
        Verdict::Allow
    );
    assert_eq!(judged(&feature, &on("main"), "make").verdict, Verdict::Ask);
    assert_eq!(
        judged(&feature, &World::default(), "make").verdict,
        Verdict::Ask
    );
    let not_main = policy(r#"{"not_branch": "main"}"#);
    assert_eq!(
        judged(&not_main, &World::default(), "make").verdict,
        Verdict::Ask
    );
    assert_eq!(judged(&not_main, &on("x"), "make").verdict, Verdict::Allow);
    assert_eq!(judged(&not_main, &on("x"), "rm x").verdict, Verdict::Ask);
}

#[test]
fn nothing_is_asked_for_that_no_rule_wants_to_know() {
    let world = on("main");
    let policy = pack(r#"branch = "main", worktree = "clean""#);
    for line in ["git status", "cargo test", "echo git commit", "ls"] {
        let decision = judged(&policy, &world, line);
        assert!(decision.facts.is_empty(), "{line}");
    }
    assert_eq!(world.asked.get(), 0);
    // Once, however often the line wants to know.
    let _ = judged(&policy, &world, "git commit; git commit -m x; git commit");
    assert_eq!(world.asked.get(), 2);
}

#[test]
fn the_branch_is_that_of_the_place_a_command_runs_in() {
    let policy = pack(r#"branch = "main""#);
    let world = World {
        elsewhere: Some("main"),
        ..on("feature")
    };
    let verdict = |line: &str| judged(&policy, &world, line).verdict;
    assert_eq!(verdict("git commit"), Verdict::Allow);
    assert_eq!(verdict("git -C ../other commit"), Verdict::Deny);
    assert_eq!(verdict("cd ../other && git commit"), Verdict::Deny);
    // Where it looks is not known, or not what is looked at here.
    for line in [
        "git -C \"$D\" commit",
        "git --git-dir=/w/other/.git commit",
        "GIT_DIR=/w/other/.git git commit",
    ] {
        assert_eq!(verdict(line), Verdict::Deny, "{line}");
    }
}

#[test]
fn what_the_line_itself_changes_is_not_known() {
    let policy = pack(r#"branch = "main""#);
    for line in [
        "git checkout main && git commit",
        "git switch main; git commit",
        "git branch -m main && git commit",
        "gh pr checkout 3 && git commit",
        "bash -c 'git checkout main'; git commit",
        // What stands behind it may run first.
        "for i in 1 2; do git commit; git checkout main; done",
        "f() { git commit; }; git checkout main; f",
        "trap 'git commit' EXIT; git checkout main",
        "git commit & git checkout main",
    ] {
        assert_eq!(
            judged(&policy, &on("feature"), line).verdict,
            Verdict::Deny,
            "{line}"
        );
    }
    for line in [
        "git add -A && git commit",
        "git status && git commit",
        "git commit -m x && git checkout main",
        "git commit -m x; git switch main | cat",
        "cargo fmt && git commit",
    ] {
        assert_eq!(
            judged(&policy, &on("feature"), line).verdict,
            Verdict::Allow,
            "{line}"
        );
    }
    let frozen = pack(r#"exists = ".freeze""#);
    assert_eq!(
        judged(&frozen, &on("x"), "git commit").verdict,
        Verdict::Allow
    );
    assert_eq!(
        judged(&frozen, &on("x"), "touch .freeze && git commit").verdict,
        Verdict::Deny
    );
    assert_eq!(
        judged(&frozen, &on("x"), "touch other && git commit").verdict,
        Verdict::Allow
    );
    let there = World {
        files: vec!["/w/app/.freeze"],
        ..World::default()
    };
    assert_eq!(judged(&frozen, &there, "git commit").verdict, Verdict::Deny);
    let open = pack(r#"missing = ".freeze""#);
    assert_eq!(judged(&open, &there, "git commit").verdict, Verdict::Allow);
    assert_eq!(
        judged(&open, &there, "rm .freeze; git commit").verdict,
        Verdict::Deny
    );
}

#[test]
fn time_is_a_fact_like_any_other() {
    let policy = pack(r#"hours = "17:00-09:00", weekday = ["fri"]"#);
    let at = |weekday, minute| World {
        time: Some(LocalTime { weekday, minute }),
        ..World::default()
    };
    let verdict = |world: World| judged(&policy, &world, "git commit").verdict;
    assert_eq!(verdict(at(Weekday::Fri, 18 * 60)), Verdict::Deny);
    assert_eq!(verdict(at(Weekday::Fri, 12 * 60)), Verdict::Allow);
    assert_eq!(verdict(at(Weekday::Sat, 18 * 60)), Verdict::Allow);
}

#[test]
fn examples_of_a_pack_state_their_facts() {
    let text = "pack = \"team\"\ntitle = \"Ours\"\n[[rule]]\nid = \"team.push\"\nverdict = \"ask\"\nrisk = \"low\"\n\
                reason = \"r\"\ninstead = \"i\"\n\
                matches = [{ line = \"git push\", facts = { branch = \"main\" } }]\n\
                not_matches = [{ line = \"git push\", facts = { branch = \"x\", time = \"tue 10:00\" } }]\n\
                [[rule.when]]\nprogram = \"git\"\nsubcommand = \"push\"\nfacts.branch = \"main\"\n";
    let read = Pack::own("team.toml", text).unwrap();
    let rule = read.descriptions().next().unwrap();
    assert_eq!(rule.matches[0].facts.branch.as_deref(), Some("main"));
    let wrong = [
        text.replace("time = \\\"tue", "clock = \\\"tue"),
        text.replace("tue 10:00", "tuesday"),
        text.replace("facts.branch", "facts.brnch"),
        text.replace("facts.branch = \"main\"", "facts = {}"),
    ];
    for wrong in wrong.iter().filter(|one| *one != text) {
        assert!(Pack::own("team.toml", wrong).is_err(), "{wrong}");
    }
    assert!(wrong.iter().filter(|one| *one != text).count() >= 3);
}

const LINES: &[&str] = &[
    "git commit",
    "git push --force origin main",
    "rm -rf /",
    "make",
    "cat ~/.ssh/id_rsa",
    "git checkout main && git commit",
];

fn world() -> impl Strategy<Value = World> {
    let branch = select(&[None, Some("main"), Some("feature")][..]);
    let clean = select(&[None, Some(true), Some(false)][..]);
    (branch, clean, any::<bool>()).prop_map(|(branch, clean, ci)| World {
        branch,
        clean,
        ci,
        ..World::default()
    })
}

proptest! {
    /// Facts never loosen what is denied, and a rule with a condition is never stricter than it is without one.
    #[test]
    fn facts_never_loosen_a_deny(
        world in world(),
        line in select(LINES),
        facts in select(&[r#"{"branch":"main"}"#, r#"{"worktree":"clean"}"#, r#"{"ci":true}"#, r#"{"not_branch":"main"}"#][..]),
        level in select(&["automatic", "notify", "confirm", "deny"][..]),
    ) {
        let with = |conditions: &str| {
            let text = format!(
                r#"{{"profile": "balanced", "tools": {{"Bash": {{"supervision": "{level}"{conditions}}}}}}}"#
            );
            Policy::from_text("p", text).unwrap()
        };
        let plain = judged(&Policy::compile(vec![]).unwrap(), &world, line).verdict;
        let always = judged(&with(""), &world, line).verdict;
        let conditional = judged(&with(&format!(r#", "conditions": {{"facts": {facts}}}"#)), &world, line);
        prop_assert!(plain != Verdict::Deny || conditional.verdict == Verdict::Deny);
        // It is as if the rule were there, or as if it were not.
        prop_assert!([plain, always].contains(&conditional.verdict), "{:?}", conditional);
    }
}
