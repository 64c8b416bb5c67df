//! What is held, and the answers.

use holdpoint_broker::{State, Terms};
use serde_json::{Value, json};

use crate::served::{Client, Served, hold_command, terms};

fn answer(client: &Client, served: &Served, id: &str, body: Value) -> crate::served::Reply {
    let mut body = body;
    body["binding"] = json!(served.binding(id));
    client.post(&format!("/api/requests/{id}/answer"), &body)
}

#[test]
fn every_route_answers_as_it_is_described() {
    let served = Served::start();
    let (client, id) = (served.owner(), served.hold("s"));
    for path in [
        "/",
        "/report",
        "/api/me",
        "/api/requests",
        &format!("/api/requests/{id}"),
        "/api/history?limit=5&text=push&approver=dev&session=s&before=99999999999999",
        "/api/history?outcome=refused&rule=git",
        "/api/sessions",
        "/api/policy",
        "/api/policy?workspace=/work",
        "/api/people",
        "/api/openapi.json",
    ] {
        let reply = client.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    }
    let extend = format!("/api/requests/{id}/extend");
    let before = served.broker.find(&id).unwrap().unwrap().expires.unwrap();
    assert_eq!(client.post(&extend, &json!({"seconds": 60})).status, 200);
    let after = served.broker.find(&id).unwrap().unwrap().expires.unwrap();
    assert_eq!(after.0 - before.0, 60_000);
    let reply = answer(&client, &served, &id, json!({"answer": "yes"}));
    assert_eq!(
        (reply.status, &reply.json()["outcome"]),
        (200, &json!("settled"))
    );
    assert_eq!(client.post(&extend, &json!({"seconds": 60})).status, 409);
    assert_eq!(client.get("/api/requests").json(), json!({"requests": []}));
    let history = client.get("/api/history").json();
    assert_eq!(
        history["requests"][0]["settled"]["approvers"],
        json!(["dev"])
    );
    assert_eq!(client.post("/api/sign-out", &json!({})).status, 200);
    assert_eq!(client.get("/api/me").status, 401);
    assert_eq!(served.stranger().get("/api/openapi.json").status, 200);
}

#[test]
fn what_is_not_there_is_said_in_one_line() {
    let served = Served::start();
    let client = served.owner();
    for path in [
        "/nothing",
        "/api/requests/zzz",
        "/assets/../Cargo.toml",
        "/assets/x",
    ] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    let body = json!({"answer": "yes", "binding": "x"});
    let reply = client.post("/api/requests/zzz/answer", &body);
    assert_eq!(
        (reply.status, &reply.json()["outcome"]),
        (404, &json!("no_effect"))
    );
    assert_eq!(client.delete("/api/requests").status, 405);
    assert_eq!(client.get("/api/policy?workspace=/nowhere").status, 500);
    for path in [
        "/api/history?limit=x",
        "/api/history?limt=1",
        "/api/history?outcome=lost",
        "/api/policy?x=y",
    ] {
        assert_eq!(client.get(path).status, 400, "{path}");
    }
}

#[test]
fn arguments_as_they_are_are_never_shown() {
    let served = Served::start();
    let id = served.hold("s");
    let card = served.owner().get(&format!("/api/requests/{id}")).json();
    assert!(card.get("asked").is_none() && card.get("original").is_none());
}

#[test]
fn a_replayed_answer_has_no_effect_and_says_so() {
    let served = Served::start();
    let (client, id) = (served.owner(), served.hold("s"));
    let yes = json!({"answer": "yes"});
    assert_eq!(answer(&client, &served, &id, yes.clone()).status, 200);
    let before = served.broker.find(&id).unwrap();
    for body in [yes, json!({"answer": "no"})] {
        let reply = answer(&client, &served, &id, body);
        assert_eq!(reply.status, 409);
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("released by dev already"), "{message}");
    }
    assert_eq!(served.broker.find(&id).unwrap(), before);
}

#[test]
fn an_answer_about_something_else_has_no_effect() {
    let served = Served::start();
    let (client, id, other) = (served.owner(), served.hold("s"), served.hold("t"));
    let body = json!({"answer": "yes", "binding": served.binding(&other)});
    let reply = client.post(&format!("/api/requests/{id}/answer"), &body);
    assert_eq!(reply.status, 409);
    assert!(reply.json()["message"].as_str().unwrap().contains("shown"));
    let unbound = json!({"answer": "yes"});
    let reply = client.post(&format!("/api/requests/{id}/answer"), &unbound);
    assert_eq!(reply.status, 400);
    let state = served.broker.find(&id).unwrap().unwrap().state;
    assert_eq!(state, State::Pending);
}

#[test]
fn an_edit_is_asked_about_again_under_another_binding() {
    let served = Served::start();
    let (client, id) = (served.owner(), served.hold("s"));
    let shown = served.binding(&id);
    let edit = json!({"answer": "edit", "input": {"command": "git push -n"}});
    let reply = answer(&client, &served, &id, edit);
    assert_eq!(reply.json()["outcome"], "again");
    assert_eq!(reply.json()["request"]["was_edited"], true);
    let old = json!({"answer": "yes", "binding": shown});
    assert_eq!(
        client
            .post(&format!("/api/requests/{id}/answer"), &old)
            .status,
        409
    );
    assert_eq!(
        answer(&client, &served, &id, json!({"answer": "yes"})).status,
        200
    );
}

#[test]
fn a_slip_in_an_answer_is_no_answer() {
    let served = Served::start();
    let (client, id) = (served.owner(), served.hold("s"));
    for body in [
        json!({"answer": "maybe"}),
        json!({"answer": "yes", "scope": "tool"}),
        json!({"answer": "yes", "comment": "but carefully"}),
        json!({"answer": "yes", "input": {"command": "x"}}),
        json!({"answer": "comment"}),
        json!({"answer": "edit"}),
        json!({"answer": "always", "scope": "everything"}),
        json!({"answer": "yes", "approver": "somebody else"}),
        json!({"answer": "comment", "comment": "x".repeat(20_000)}),
        json!({}),
    ] {
        let reply = answer(&client, &served, &id, body.clone());
        assert_eq!(reply.status, 400, "{body}");
        assert_eq!(reply.error().lines().count(), 1);
    }
    for (text, status) in [
        ("", 400),
        ("{", 400),
        (&"[".repeat(10_000), 400),
        (&"x".repeat(2 << 20), 413),
    ] {
        let json = [("Content-Type", "application/json")];
        let path = format!("/api/requests/{id}/answer");
        assert_eq!(client.send("POST", &path, &json, Some(text)).status, status);
    }
    let state = served.broker.find(&id).unwrap().unwrap().state;
    assert_eq!(state, State::Pending);
}

#[test]
fn a_comment_and_a_rule_come_with_the_answer() {
    let served = Served::start();
    let client = served.owner();
    let id = served.hold("s");
    let reply = answer(
        &client,
        &served,
        &id,
        json!({"answer": "comment", "comment": "Use a branch"}),
    );
    assert_eq!(
        reply.json()["request"]["settled"]["comment"],
        "Use a branch"
    );
    let id = served.hold("t");
    let reply = answer(
        &client,
        &served,
        &id,
        json!({"answer": "always", "scope": "exact"}),
    );
    assert_eq!(reply.json()["request"]["state"], "released");
}

#[test]
fn five_hundred_are_listed_and_answered_together() {
    let served = Served::start();
    let client = served.owner();
    let mut ids: Vec<Value> = (0..500)
        .map(|number| {
            let id = served.hold(&format!("s{number}"));
            json!({"id": id, "binding": served.binding(&id)})
        })
        .collect();
    let listed = client.get("/api/requests").json();
    assert_eq!(listed["requests"].as_array().unwrap().len(), 500);
    ids.push(json!({"id": "zzz", "binding": "x"}));
    ids.push(ids[0].clone());
    let body = json!({"ids": ids, "answer": "no"});
    let results = client.post("/api/answers", &body).json();
    let results = results["results"].as_array().unwrap();
    assert_eq!(results.len(), 502);
    assert!(results[..500].iter().all(|one| one["outcome"] == "settled"));
    assert!(
        results[500..]
            .iter()
            .all(|one| one["outcome"] == "no_effect")
    );
    assert_eq!(results[7]["id"], ids[7]["id"]);
    assert!(served.broker.pending().unwrap().is_empty());
    let too_many = json!({"ids": vec![&ids[0]; 1001], "answer": "no"});
    assert_eq!(client.post("/api/answers", &too_many).status, 400);
}

#[test]
fn several_people_must_say_yes_and_each_counts_once() {
    let served = Served::start();
    *served.world.terms.lock().unwrap() = Terms {
        required: 2,
        ..terms()
    };
    let token = served
        .auth
        .people()
        .add("dev", "ann", holdpoint_broker::Role::Approver);
    assert!(token.is_ok());
    let (dev, ann, id) = (served.owner(), served.with_code("ann"), served.hold("s"));
    let yes = json!({"answer": "yes"});
    assert_eq!(
        answer(&dev, &served, &id, yes.clone()).json()["outcome"],
        "counted"
    );
    assert_eq!(answer(&dev, &served, &id, yes.clone()).status, 409);
    assert_eq!(answer(&ann, &served, &id, yes).json()["outcome"], "settled");
}

#[test]
fn the_page_is_kept_by_browsers_and_data_is_not() {
    let served = Served::start();
    let client = served.stranger();
    let page = client.get("/");
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"));
    let tag = page.header("etag").unwrap();
    let again = client.send("GET", "/", &[("If-None-Match", tag)], None);
    assert_eq!((again.status, again.text().len()), (304, 0));
    let data = served.owner().get("/api/requests");
    assert_eq!(data.header("cache-control"), Some("no-store"));
    assert_eq!(data.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(data.header("referrer-policy"), Some("no-referrer"));
    let report = served.owner().get("/report");
    let policy = report.header("content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'self'") && !policy.contains("script"));
}

#[test]
fn what_goes_along_is_said_first_and_never_holds_what_is_critical() {
    let served = Served::start();
    let client = served.owner();
    let id = served.hold("s");
    let other = hold_command(&served.broker, "s", "git pull");
    let critical = hold_command(&served.broker, "s", "erase everything");
    let elsewhere = hold_command(&served.broker, "t", "git fetch");
    let ids = |value: &Value| -> Vec<String> {
        let requests = value.as_array().unwrap();
        let id = |request: &Value| request["id"].as_str().unwrap().to_owned();
        requests.iter().map(id).collect()
    };
    for said in [
        json!({"answer": "always", "scope": "exact"}),
        json!({"answer": "keep", "place": "user"}),
        json!({"answer": "all"}),
    ] {
        let reply = client.post(&format!("/api/requests/{id}/along"), &said);
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(
            ids(&reply.json()["released"]),
            std::slice::from_ref(&other),
            "{said}"
        );
        assert_eq!(
            ids(&reply.json()["kept"]),
            std::slice::from_ref(&critical),
            "{said}"
        );
    }
    let reply = client.post(
        &format!("/api/requests/{id}/along"),
        &json!({"answer": "yes"}),
    );
    assert_eq!(reply.json(), json!({"released": [], "kept": []}));
    // Nothing has changed by asking.
    for id in [&id, &other, &critical, &elsewhere] {
        let request = served.broker.find(id).unwrap().unwrap();
        assert_eq!(request.state, State::Pending);
    }
}

#[test]
fn a_release_nobody_has_used_is_taken_back_and_one_that_was_used_is_not() {
    let served = Served::start();
    let client = served.owner();
    // Nobody waits for it any more.
    let id = served.hold("s");
    let undo = format!("/api/requests/{id}/undo");
    let early = client.post(&undo, &json!({}));
    assert_eq!(early.status, 409, "{}", early.text());
    let yes = answer(&client, &served, &id, json!({"answer": "yes"}));
    assert_eq!(yes.status, 200);
    let taken = client.post(&undo, &json!({}));
    assert_eq!(taken.status, 200, "{}", taken.text());
    assert_eq!(taken.json()["request"]["state"], json!("refused"));
    assert_eq!(client.post(&undo, &json!({})).status, 409);
    let refused = client.get("/api/history?outcome=refused&rule=git.p");
    assert_eq!(refused.json()["requests"].as_array().unwrap().len(), 1);
    for none in ["outcome=released", "outcome=refused&rule=npm"] {
        let reply = client.get(&format!("/api/history?{none}"));
        assert_eq!(reply.json(), json!({"requests": []}), "{none}");
    }
}

#[test]
fn what_a_session_remembers_is_changed_by_who_may_answer() {
    let served = Served::start();
    let client = served.owner();
    let change = |change: Value| {
        client.post(
            "/api/sessions/change",
            &json!({"key": "k", "change": change}),
        )
    };
    let forgotten = change(json!({"forget_allow": "git *"}));
    assert_eq!(forgotten.json(), json!({"changed": true}));
    for gone in [
        json!("resume"),
        json!("unmark"),
        json!({"forget_deny": "x"}),
    ] {
        assert_eq!(change(gone).json(), json!({"changed": false}));
    }
    for wrong in [json!("forget"), json!({"resume": "x"}), json!(null)] {
        assert_eq!(change(wrong.clone()).status, 400, "{wrong}");
    }
    let body = json!({"key": "k", "change": "resume"});
    let stranger = served.stranger().post("/api/sessions/change", &body);
    assert_eq!(stranger.status, 401);
}
