//! Releases that earlier versions stored must still bind: the digests of a fixed set of calls, as the
//! first version with durable releases made them, stand in `golden.toml`.
//!
//! A digest depends on where the test's files lie, so it is taken of the text that is hashed with
//! that place replaced. A case that changes needs a reason: everybody who has released such a call
//! will be asked again.

use std::fs;
use std::path::Path;

use holdpoint_broker::{BrokerHost, CallContext, Context};
use holdpoint_core::{Policy, Session, SessionState, ToolCall, judge, named, understand};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{binding, terms};
use crate::disk::Disk;
use crate::engine::Engine;
use crate::locations::Locations;
use crate::pins::Pinned;

/// What stands in the place of the directory.
const PLACE: &str = "/golden";

/// The files the calls are about.
const FILES: &[(&str, &str)] = &[
    ("project/notes.txt", "one\ntwo\n"),
    ("project/data.csv", "a,b\n1,2\n"),
    ("project/build/a.o", "object"),
    ("project/build/b.o", "another"),
    ("project/src/main.rs", "fn main() {}\n"),
    (
        "project/deploy.sh",
        "#!/bin/sh\nrm -r build\ncurl -T data.csv https://example.com/\n",
    ),
    ("project/Makefile", "clean:\n\trm -rf build\n"),
    (
        "project/package.json",
        r#"{"scripts":{"wipe":"rm -rf build"}}"#,
    ),
    ("home/.profile", "export A=1\n"),
];

#[derive(Deserialize)]
struct Golden {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    tool: String,
    input: Map<String, Value>,
    policy: Value,
    binding: String,
}

#[test]
fn releases_stored_by_earlier_versions_still_bind() {
    let golden: Golden = toml::from_str(include_str!("golden.toml")).unwrap();
    assert!(golden.case.len() >= 20);
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    let mut changed = Vec::new();
    for case in &golden.case {
        let found = bound(&root, case);
        if found != case.binding {
            let input = Value::Object(case.input.clone());
            changed.push(format!("{} {input}\n  {found}", case.tool));
        }
    }
    assert!(
        changed.is_empty(),
        "these bind differently now:\n{}",
        changed.join("\n")
    );
}

#[test]
fn another_call_another_file_or_other_terms_bind_differently() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    let case = |command: &str, policy: &str| Case {
        tool: "Bash".into(),
        input: serde_json::from_value(serde_json::json!({ "command": command })).unwrap(),
        policy: serde_json::from_str(policy).unwrap(),
        binding: String::new(),
    };
    let ask = r#"{"defaultPolicy":"ask"}"#;
    let first = bound(&root, &case("rm notes.txt", ask));
    assert_eq!(first, bound(&root, &case("rm notes.txt", ask)));
    let others = [
        bound(&root, &case("rm data.csv", ask)),
        bound(&root, &case("rm -f notes.txt", ask)),
        bound(
            &root,
            &case(
                "rm notes.txt",
                r#"{"defaultPolicy":"ask","approval":{"required":2}}"#,
            ),
        ),
    ];
    for (index, other) in others.iter().enumerate() {
        assert_ne!(&first, other, "{index}");
    }
}

#[test]
fn what_is_shown_is_bound_and_what_earlier_versions_stored_still_counts() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    lay_out(&root);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let workspace = text(&root.join("project"));
    let judged = |reason: &str, agent: &str| {
        let policy = serde_json::json!({"defaultPolicy": "ask", "ask": {"patterns": [reason]}});
        let policy = Policy::from_text("golden", policy.to_string()).unwrap();
        let locations = Locations {
            managed: root.join("etc/permissions.json"),
            user: None,
            named: None,
            state: Some(root.join("state")),
            home: Some(root.join("home")),
        };
        let asked = CallContext {
            agent: agent.into(),
            session: "one".into(),
            tool: "Bash".into(),
            input: serde_json::from_value(serde_json::json!({"command": "rm notes.txt"})).unwrap(),
            directory: workspace.clone(),
            workspace: workspace.clone(),
            config: None,
            context: Context::default(),
        };
        let engine = Engine::at(&locations).under(std::sync::Arc::new(policy));
        BrokerHost::judge(&engine, &asked).unwrap()
    };
    let one = judged("rm *", "a");
    assert!(one.is_bound_to(&one.binding, Some(&one.card)));
    assert!(one.is_bound_to(&one.former, None));
    assert!(!one.is_bound_to(&one.former, Some(&one.card)));
    assert!(!one.is_bound_to(&one.binding, None));
    let other = judged("rm *", "b");
    assert_ne!(one.card, other.card);
    assert!(!one.is_bound_to(&one.binding, Some(&other.card)));
    assert_eq!(one.card, judged("rm *", "a").card);
}

/// The digest of a call's binding, with the place it lies at replaced.
fn bound(root: &Path, case: &Case) -> String {
    lay_out(root);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let workspace = text(&root.join("project"));
    let locations = Locations {
        managed: root.join("etc/permissions.json"),
        user: None,
        named: None,
        state: Some(root.join("state")),
        home: Some(root.join("home")),
    };
    let policy = Policy::from_text("golden", case.policy.to_string()).unwrap();
    let asked = CallContext {
        agent: "claude-code".into(),
        session: "one".into(),
        tool: case.tool.clone(),
        input: case.input.clone(),
        directory: workspace.clone(),
        workspace,
        config: None,
        context: Context::default(),
    };
    let call = asked.call().unwrap();
    let home = text(&root.join("home"));
    let around = holdpoint_core::Surroundings {
        workspace: Some(&asked.workspace),
        directory: None,
        home: Some(&home),
        lookup: &Disk,
        can_contain: false,
    };
    let state = SessionState::default();
    let action = understand(call.clone(), &policy, &around);
    let decision = judge(&action, &policy, &Session::new(state.clone()), &around);
    let pinned = Pinned::Nobody;
    let terms = terms::for_decision(
        &asked, &action, &decision, &policy, &state, &around, &pinned,
    );
    let paths = named(&action).paths;
    let home = locations.home.as_deref();
    let loaded = binding::Loaded::of_call(&asked, &action, &decision, &paths, home);
    let mut whole = binding::described(&asked, &decision, &paths, &loaded, &terms);
    // What is taken apart here is what the broker is told.
    let engine = Engine::at(&locations).under(std::sync::Arc::new(policy));
    let told = BrokerHost::judge(&engine, &asked).unwrap().former;
    assert_eq!(
        told,
        holdpoint_core::digest_of(whole.to_string().as_bytes())
    );
    assert_eq!(whole["call"], Value::String(call.digest()));
    whole["call"] = Value::String(elsewhere(&call).digest());
    let whole = whole.to_string().replace(&text(root), PLACE);
    holdpoint_core::digest_of(whole.as_bytes())
}

/// The same call in the place that is always the same.
fn elsewhere(call: &ToolCall) -> ToolCall {
    call.clone().in_directory(format!("{PLACE}/project"))
}

fn lay_out(root: &Path) {
    for (name, text) in FILES {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    #[cfg(unix)]
    {
        let link = root.join("project/latest");
        if !link.exists() {
            std::os::unix::fs::symlink("notes.txt", link).unwrap();
        }
    }
}
