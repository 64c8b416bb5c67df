//! What the daemon's page is given beside the requests, held against the description of the API.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use holdpoint_broker::{CallContext, Context, UnixMillis};
use holdpoint_cli::LocalViews;
use holdpoint_core::text::{Origin, Severity};
use holdpoint_daemon::{Broker, Held, Views};
use holdpoint_engine::Engine;
use holdpoint_engine::{Locations, Mark, SessionId, Sessions};
use serde_json::{Map, Value, json};

fn locations(home: &Path) -> Locations {
    Locations {
        managed: home.join("etc/permissions.json"),
        user: Some(home.join("config/permissions.json")),
        named: None,
        state: Some(home.join("state")),
        home: Some(home.to_owned()),
    }
}

/// Views of a home with a policy that asks about everything.
fn views(home: &Path) -> (LocalViews, Broker, Locations) {
    let locations = locations(home);
    fs::create_dir_all(home.join("config")).unwrap();
    let policy = r#"{ "defaultPolicy": "ask", "channel": { "type": "webhook",
        "endpoint": "https://hooks.example/T0", "auth\u005ftoken": "s3cret" } }"#;
    fs::write(home.join("config/permissions.json"), policy).unwrap();
    let world = Arc::new(Engine::at(&locations));
    let broker = Broker::open(&home.join("state/approvals/approvals.db"), world).unwrap();
    let views = LocalViews::new(locations.clone(), broker.clone());
    (views, broker, locations)
}

fn hold(broker: &Broker, home: &Path, session: &str) {
    let directory = home.join("work").display().to_string();
    let asked = CallContext {
        agent: "claude-code".into(),
        session: session.into(),
        tool: "Bash".into(),
        input: Map::from_iter([("command".into(), json!("make"))]),
        workspace: directory.clone(),
        directory,
        config: None,
        context: Context::default(),
    };
    match broker
        .hold(&asked, session, None, UnixMillis::now())
        .unwrap()
    {
        Held::Waiting { .. } => {}
        Held::Resolved(told) => panic!("{told:?}"),
    }
}

fn conforms(value: &Value, schema: &str) {
    let text = include_str!("../../holdpoint-daemon/src/http/openapi.json");
    let mut document: Value = serde_json::from_str(text).unwrap();
    document["$ref"] = json!(format!("#/components/schemas/{schema}"));
    let validator = jsonschema::validator_for(&document).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?} in {value}");
}

#[test]
fn sessions_are_shown_with_what_waits_in_them() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("work")).unwrap();
    let (views, broker, locations) = views(home.path());
    assert_eq!(
        views.sessions().unwrap(),
        json!({"sessions": [], "stopped": []})
    );
    let sessions = Sessions::at(&locations).unwrap();
    for name in ["quiet", "busy", "with a space"] {
        let id = SessionId::new(name);
        sessions
            .change(&id, |state| state.deny.push("rm *".into()))
            .unwrap();
    }
    sessions
        .change(&SessionId::new("quiet"), |state| {
            state.suspended.turn = true
        })
        .unwrap();
    sessions
        .change(&SessionId::new("busy"), |state| {
            state.remember(Mark {
                time: "2026-11-16T10:00:00Z".into(),
                origin: Origin::Web,
                tool: Some("WebFetch".into()),
                severity: Severity::High,
                record: Some(7),
                earlier: Vec::new(),
            });
        })
        .unwrap();
    for name in ["busy", "new", "with a space", "with a space"] {
        hold(&broker, home.path(), name);
    }
    let shown = views.sessions().unwrap();
    conforms(&shown, "Sessions");
    let rows = shown["sessions"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["session"] == name).unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["session"], "with a space", "most waits there");
    assert_eq!(rows[0]["deny"], json!(["rm *"]));
    assert_eq!(
        (&row("busy")["pending"], &row("busy")["agent"]),
        (&json!(1), &json!("claude-code"))
    );
    assert_eq!(
        (&row("quiet")["pending"], &row("quiet")["suspended"]),
        (&json!(0), &json!("turn"))
    );
    assert_eq!(row("new")["deny"], json!([]));
    assert_eq!(row("new")["mark"], json!(null));
    assert_eq!(row("busy")["mark"]["record"], 7);
}

#[test]
fn the_policy_is_shown_layer_by_layer_without_secrets() {
    let home = tempfile::tempdir().unwrap();
    let (views, _, _) = views(home.path());
    let shown = views.policy(None).unwrap();
    conforms(&shown, "Policy");
    assert_eq!(
        (&shown["channel"], &shown["default"]),
        (&json!("webhook"), &json!("ask"))
    );
    let text = shown["layers"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("defaultPolicy") && !text.contains("s3cret"),
        "{text}"
    );

    let work = home.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let mut project = String::from("{ \"deny\": { \"patterns\": [\"make\"] } }");
    fs::write(work.join("permissions.json"), &project).unwrap();
    let shown = views.policy(work.to_str()).unwrap();
    conforms(&shown, "Policy");
    assert_eq!(shown["layers"][1]["trust"], "untrusted");
    project.push('}');
    fs::write(work.join("permissions.json"), &project).unwrap();
    assert!(views.policy(work.to_str()).is_err());
    assert!(views.policy(Some("work")).is_err());
}

#[test]
fn the_report_is_a_page() {
    let home = tempfile::tempdir().unwrap();
    let (views, _, _) = views(home.path());
    assert!(views.report().unwrap().starts_with("<!doctype html>"));
}
