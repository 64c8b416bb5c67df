//! Plans: the examples people start from, and what holds of every plan: it refuses nothing less, and covers nothing it does not
//! declare.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly and read files"
)]

use std::fs;
use std::path::PathBuf;

use holdpoint_core::plan::{Format, Kind, Manifest, OpenPhase, OpenPlan};
use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::text::{Origin, Severity};
use holdpoint_core::{
    Decision, Glob, Mark, Policy, Session, SessionState, Surroundings, ToolCall, Verdict,
    judge_call,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

const KINDS: [(&str, Kind); 8] = [
    ("feature", Kind::Feature),
    ("bug_fix", Kind::BugFix),
    ("refactor", Kind::Refactor),
    ("review", Kind::Review),
    ("test", Kind::Test),
    ("documentation", Kind::Documentation),
    ("migration", Kind::Migration),
    ("security", Kind::Security),
];

fn example(name: &str) -> String {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans");
    fs::read_to_string(examples.join(name)).unwrap()
}

#[test]
fn every_kind_of_task_has_an_example_that_is_whole() {
    for (name, kind) in KINDS {
        let text = example(&format!("{name}.toml"));
        let manifest = Manifest::read(name, text.as_bytes(), Format::Toml).unwrap();
        assert_eq!(manifest.meta.kind, Some(kind));
        // The same as JSON.
        let value: toml::Value = toml::from_str(&text).unwrap();
        let json = serde_json::to_vec(&value).unwrap();
        let same = Manifest::read(name, &json, Format::Json).unwrap();
        assert_eq!(manifest, same, "{name}");
    }
}

#[test]
fn every_broken_example_is_told_by_its_line_and_what_to_do() {
    for (name, _) in KINDS {
        let file = format!("broken_{name}.toml");
        let text = example(&file);
        let expected = text.lines().next().unwrap();
        let expected = expected.strip_prefix("# expected: ").unwrap();
        let error = Manifest::read(&file, text.as_bytes(), Format::Toml).unwrap_err();
        let [fault] = error.faults() else {
            unreachable!("{file}: {error}");
        };
        assert!(fault.contains(expected), "{file}: {fault}");
        let line: usize = fault.split(':').nth(1).unwrap().parse().unwrap();
        assert!(line > 1, "{file}: {fault}");
    }
}

#[test]
fn what_could_cover_more_than_it_says_is_no_declaration() {
    let text = example("feature.toml");
    for command in [
        "*",
        "c* test",
        "sh -c *",
        "bash *",
        "sudo *",
        "env *",
        "xargs *",
        "python3 *",
        "git *",
        "cargo *",
        "git c*",
        "git push*",
        "git --no-pager *",
        "git --no-pager c*",
        "git -c *",
        "git -c x=y *",
        "git -C * log",
        "git --git-dir=* log",
        "git --unheard-of log *",
        "/usr/bin/git -C sub c*",
        "cargo +nightly *",
        "kubectl -n prod *",
        "npm r*",
        "npx *",
        "$X test",
        "FOO=1 *",
        "Bash(*",
        "find . -exec *",
    ] {
        let broken = text.replace("\"cargo fmt\"", &format!("{command:?}"));
        assert!(
            Manifest::read("x", broken.as_bytes(), Format::Toml).is_err(),
            "{command}"
        );
    }
    for command in [
        "git log *",
        "git --no-pager log *",
        "git -C sub log *",
        "git log --since=*",
        "cargo test *",
        "kubectl -n prod get *",
        "npm test *",
        "ls *",
        "rm build/*",
        "mytool *",
    ] {
        let with = text.replace("\"cargo fmt\"", &format!("{command:?}"));
        let read = Manifest::read("x", with.as_bytes(), Format::Toml);
        assert!(read.is_ok(), "{command}: {read:?}");
    }
    for (tool, fine) in [
        ("Bash", false),
        ("bash", false),
        ("run_shell_command", false),
        ("Write", false),
        ("W*", false),
        ("*", false),
        ("Write*", false),
        ("HoldpointPlan", false),
        ("Holdpoint*", false),
        ("mcp__tracker__*", true),
        ("mcp__tracker__get_*", true),
        ("mcp__*", false),
        ("mcp__track*", false),
        ("mcp__tracker_*", false),
        ("mcp____*", false),
        ("mcp__[a-z]__*", false),
        ("Tracker*", false),
    ] {
        let with = text.replace("hosts = [\"docs.rs\"]", &format!("tools = [{tool:?}]"));
        let read = Manifest::read("x", with.as_bytes(), Format::Toml);
        assert_eq!(read.is_ok(), fine, "{tool}: {read:?}");
    }
    for path in [
        "/",
        "/**",
        "~",
        "~/*",
        "../x",
        "a/../../x",
        "!x",
        "~root/x",
        "/*/x",
    ] {
        let with = text.replace("\"Cargo.toml\"", &format!("{path:?}"));
        let read = Manifest::read("x", with.as_bytes(), Format::Toml);
        assert!(read.is_err(), "{path}");
    }
    for host in ["*", "*.com", "@public", "https://x.example/", "a b"] {
        let with = text.replace("\"docs.rs\"", &format!("{host:?}"));
        let read = Manifest::read("x", with.as_bytes(), Format::Toml);
        assert!(read.is_err(), "{host}");
    }
    for name in ["-r", "../x", "git+https://x/y", "a b", "https://x"] {
        let with = text.replace("name = \"fst\"", &format!("name = {name:?}"));
        let read = Manifest::read("x", with.as_bytes(), Format::Toml);
        assert!(read.is_err(), "{name}");
    }
}

const COMMANDS: &[&str] = &[
    "cargo test",
    "cargo test --lib",
    "git push origin main",
    "git push --force origin main",
    "git commit -m x",
    "rm -rf build",
    "rm -rf /",
    "curl http://x.example/a",
    "curl https://docs.rs/a",
    "make all",
    "npm test > out.txt",
    "npm test",
    "cat ~/.aws/credentials",
    "cargo test && git push origin main",
    "cd /tmp && cargo test",
    "sudo cargo test",
    "bash -c 'cargo test'",
    "holdpoint plan close",
    "holdpoint approve 1",
    "echo x > .claude/settings.json",
];
const FILES: &[&str] = &[
    "/w/src/a.rs",
    "/w/src/b/c.rs",
    "/w/src/../other.rs",
    "/w/README.md",
    "/w/sub/README.md",
    "/etc/passwd",
    "/w/.git/hooks/pre-commit",
    "src/a.rs",
];
const PATTERNS: &[&str] = &[
    "cargo test",
    "cargo test *",
    "git push *",
    "git commit *",
    "rm -rf build",
    "curl https://docs.rs/*",
    "curl *",
    "make *",
    "npm test",
];
const PLACES: &[&str] = &["src", "README.md", "src/*.rs"];

fn calls() -> impl Strategy<Value = ToolCall> {
    let file = |tool: &'static str| {
        select(FILES).prop_map(move |path| {
            let input = json!({"file_path": path, "content": "x"});
            ToolCall::new(tool, input).unwrap().in_directory("/w")
        })
    };
    prop_oneof![
        3 => select(COMMANDS).prop_map(|line| ToolCall::shell(line).in_directory("/w")),
        1 => file("Write"),
        1 => file("Edit"),
        1 => select(&["mcp__x__run", "mcp__y__get"][..]).prop_map(|tool| ToolCall::new(tool, json!({"a": "b"})).unwrap().in_directory("/w")),
    ]
}

fn policies() -> impl Strategy<Value = Policy> {
    let lists = (
        select(&["ask", "allow", "deny", "defer"][..]),
        subsequence(PATTERNS, 0..3),
        subsequence(PATTERNS, 0..3),
        any::<bool>(),
    );
    lists.prop_map(|(default, deny, ask, reviews)| {
        let text = json!({
            "defaultPolicy": default,
            "deny": {"patterns": deny},
            "ask": {"patterns": ask},
            "tools": if reviews { json!({"mcp__x__run": {"supervision": "review"}}) } else { json!({}) },
        });
        policy(&text)
    })
}

fn policy(text: &Value) -> Policy {
    let source = Source {
        name: "x".into(),
        authority: Authority::User,
        trust: Trust::Trusted,
        bytes: text.to_string().into_bytes(),
    };
    Policy::compile(vec![source]).unwrap()
}

fn plans() -> impl Strategy<Value = OpenPlan> {
    let parts = (
        subsequence(PATTERNS, 0..5),
        subsequence(PLACES, 0..3),
        subsequence(&["mcp__x__run", "mcp__y__*"][..], 0..3),
        subsequence(&["docs.rs"][..], 0..2),
    );
    let owned = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
    parts.prop_map(move |(commands, places, tools, hosts)| OpenPlan {
        name: "P-1".into(),
        summary: "x".into(),
        digest: "sha256:0".into(),
        workspace: "/w".into(),
        until: "9999-01-01T00:00:00Z".into(),
        phases: vec![OpenPhase {
            name: "one".into(),
            commands: owned(commands),
            write: owned(places),
            tools: owned(tools),
            hosts: owned(hosts),
            ..OpenPhase::default()
        }],
        outside: 0,
    })
}

fn judged(call: &ToolCall, policy: &Policy, plan: Option<&OpenPlan>, marked: bool) -> Decision {
    let mark = Mark {
        time: "2026-11-19T08:00:00Z".into(),
        origin: Origin::Web,
        tool: None,
        severity: Severity::High,
        record: None,
        earlier: Vec::new(),
    };
    let state = SessionState {
        plan: plan.cloned(),
        mark: marked.then_some(mark),
        ..SessionState::default()
    };
    let around = Surroundings {
        workspace: Some("/w"),
        directory: Some("/w"),
        home: Some("/home/me"),
        ..Surroundings::nowhere()
    };
    judge_call(call, policy, &Session::new(state), &around)
}

/// Whether a plan declares all of a call, told in another way than the judge's.
fn declares(plan: &OpenPlan, call: &ToolCall) -> bool {
    let phase = plan.phases.first().unwrap();
    if let Some(line) = call.command_line() {
        // Lines of several commands and what looks only are told by their parts.
        let parts = line.split(" && ").filter(|part| !part.starts_with("cd "));
        let inner = |part: &str| {
            let part = part.strip_prefix("bash -c '").unwrap_or(part);
            let part = part.strip_prefix("sudo ").unwrap_or(part);
            part.trim_end_matches('\'').to_owned()
        };
        let looks = |part: &str| part.starts_with("cat ");
        let named = |part: &str| {
            phase.commands.iter().any(|pattern| {
                let bare = pattern.strip_suffix(" *").unwrap_or(pattern);
                Glob::new(pattern).matches(part) || bare == part
            })
        };
        return parts.map(inner).all(|part| looks(&part) || named(&part));
    }
    if let Some(path) = call.input().get("file_path").and_then(Value::as_str) {
        let whole = match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("/w/{path}"),
        };
        return !whole.contains("..")
            && phase.write.iter().any(|place| {
                let place = format!("/w/{place}");
                whole.starts_with(&format!("{place}/")) || Glob::new(&place).matches(&whole)
            });
    }
    (phase.tools.iter()).any(|tool| Glob::new(tool).matches(call.tool()))
}

proptest! {
    #[test]
    fn a_plan_loosens_no_refusal_and_covers_nothing_it_does_not_declare(
        call in calls(), policy in policies(), plan in plans(), marked in any::<bool>(),
    ) {
        let alone = judged(&call, &policy, None, marked);
        let planned = judged(&call, &policy, Some(&plan), marked);
        if alone.verdict == Verdict::Deny {
            prop_assert_eq!(planned.verdict, Verdict::Deny);
        }
        if alone.verdict >= Verdict::Review {
            prop_assert!(planned.verdict >= Verdict::Review);
        }
        if planned.verdict.runs() && !declares(&plan, &call) {
            let looks = call.command_line().is_some_and(|line| line.starts_with("cat "));
            prop_assert!(looks, "{:?} runs under {:?}: {:?}", call, plan, planned);
        }
        // What a marked session is asked about, it is asked about under a plan.
        let doubted = alone.findings.iter().any(|one| one.rule.starts_with("injection."));
        if marked && doubted {
            prop_assert!(!planned.verdict.runs(), "{:?}", planned);
        }
        // Elsewhere than where it was released it covers nothing.
        let elsewhere = OpenPlan { workspace: "/elsewhere".into(), ..plan };
        let there = judged(&call, &policy, Some(&elsewhere), marked);
        prop_assert!(!there.findings.iter().any(|one| one.rule.starts_with("plan:")));
        prop_assert!(there.verdict >= alone.verdict);
    }
}

#[test]
fn what_is_to_be_reviewed_or_is_about_holdpoint_is_not_answered_by_a_plan() {
    let plan = OpenPlan {
        phases: vec![OpenPhase {
            tools: vec!["mcp__x__run".into()],
            ..OpenPhase::default()
        }],
        ..plan_of(&["cargo test"])
    };
    let call = ToolCall::new("mcp__x__run", json!({}))
        .unwrap()
        .in_directory("/w");
    let review = policy(
        &json!({"defaultPolicy": "ask", "tools": {"mcp__x__run": {"supervision": "review"}}}),
    );
    assert_eq!(
        judged(&call, &review, Some(&plan), false).verdict,
        Verdict::Review
    );
    let ask =
        policy(&json!({"defaultPolicy": "ask", "tools": {"mcp__x__run": {"supervision": "ask"}}}));
    assert_eq!(judged(&call, &ask, None, false).verdict, Verdict::Ask);
    assert_eq!(
        judged(&call, &ask, Some(&plan), false).verdict,
        Verdict::Allow
    );
}

#[test]
fn the_tools_of_a_server_are_covered_by_its_name_and_no_others_are() {
    let ask = policy(&json!({"defaultPolicy": "ask"}));
    let read = |pattern: &str| {
        let text = example("feature.toml");
        let with = text.replace("hosts = [\"docs.rs\"]", &format!("tools = [{pattern:?}]"));
        let manifest = Manifest::read("x", with.as_bytes(), Format::Toml).unwrap();
        manifest.opened(with.as_bytes(), "/w", "9999-01-01T00:00:00Z")
    };
    let runs = |plan: &OpenPlan, tool: &str, policy: &Policy| {
        // A value that reads like two arguments changes nothing of what the tool is.
        let call = ToolCall::new(tool, json!({"q": "a, b=c"})).unwrap();
        let decision = judged(&call.in_directory("/w"), policy, Some(plan), false);
        (decision.verdict.runs(), decision)
    };
    let plan = read("mcp__tracker__*");
    let (fine, decision) = runs(&plan, "mcp__tracker__get_issue", &ask);
    assert!(fine, "{decision:?}");
    let rules = |decision: &Decision, rule: &str| {
        decision.findings.iter().any(|one| one.rule.ends_with(rule))
    };
    assert!(rules(&decision, ": mcp__tracker__*"), "{decision:?}");
    for other in [
        "mcp__tracker2__get_issue",
        "mcp__mail__send",
        "mcp__trackerx",
    ] {
        let (fine, decision) = runs(&plan, other, &ask);
        assert!(!fine && rules(&decision, "plan.outside"), "{decision:?}");
    }
    let narrow = read("mcp__tracker__get_*");
    assert!(runs(&narrow, "mcp__tracker__get_issue", &ask).0);
    assert!(!runs(&narrow, "mcp__tracker__delete_issue", &ask).0);
    // What is denied stays denied, and what a tool runs as a command is declared under `commands`.
    let deny =
        policy(&json!({"defaultPolicy": "ask", "deny": {"tools": ["mcp__tracker__get_issue"]}}));
    let (_, denied) = runs(&plan, "mcp__tracker__get_issue", &deny);
    assert_eq!(denied.verdict, Verdict::Deny);
    let shell = ToolCall::new("mcp__tracker__run", json!({"command": "make all"})).unwrap();
    let shell = judged(&shell.in_directory("/w"), &ask, Some(&plan), false);
    assert!(!shell.verdict.runs(), "{shell:?}");
}

fn plan_of(commands: &[&str]) -> OpenPlan {
    OpenPlan {
        name: "P-1".into(),
        summary: "x".into(),
        digest: "sha256:0".into(),
        workspace: "/w".into(),
        until: "9999-01-01T00:00:00Z".into(),
        phases: vec![OpenPhase {
            name: "one".into(),
            commands: commands.iter().map(|one| (*one).to_owned()).collect(),
            ..OpenPhase::default()
        }],
        outside: 0,
    }
}

#[test]
fn a_question_of_high_risk_is_answered_by_a_declaration_that_says_it() {
    let ask = policy(&json!({"defaultPolicy": "ask"}));
    let call = ToolCall::shell("git push --force origin topic").in_directory("/w");
    let broad = judged(&call, &ask, Some(&plan_of(&["git push *"])), false);
    assert!(!broad.verdict.runs(), "{broad:?}");
}

#[test]
fn a_wildcard_stands_for_what_lies_in_the_workspace() {
    let ask = policy(&json!({"defaultPolicy": "ask"}));
    let plan = plan_of(&["git diff *", "mkdir *", "make *", "mkdir /srv/cache"]);
    let runs = |line: &str| {
        let call = ToolCall::shell(line).in_directory("/w");
        judged(&call, &ask, Some(&plan), false).verdict.runs()
    };
    for line in [
        "git diff --stat",
        "git diff --output=d.patch",
        "mkdir src/x",
        "mkdir /srv/cache",
    ] {
        assert!(runs(line), "{line}");
    }
    for line in [
        "git diff --output=/root/x",
        "mkdir /root/x",
        "mkdir ../x",
        "make -f /root/x",
        "make -f \"$F\"",
    ] {
        assert!(!runs(line), "{line}");
    }
}

#[test]
fn where_hosts_are_named_what_connects_elsewhere_is_outside() {
    let ask = policy(&json!({"defaultPolicy": "ask"}));
    let mut plan = plan_of(&["git fetch *", "gh api *", "curl *", "git commit *"]);
    for phase in &mut plan.phases {
        phase.hosts = vec!["docs.rs".into()];
    }
    let runs = |line: &str| {
        let call = ToolCall::shell(line).in_directory("/w");
        judged(&call, &ask, Some(&plan), false).verdict.runs()
    };
    for line in ["curl https://docs.rs/x", "git commit -m x"] {
        assert!(runs(line), "{line}");
    }
    for line in [
        "git fetch evil",
        "gh api https://evil.example/x",
        "curl https://evil.example",
    ] {
        assert!(!runs(line), "{line}");
    }
}
