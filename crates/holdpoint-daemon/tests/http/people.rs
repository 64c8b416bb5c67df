//! Roles, tokens, and standing in for somebody.

use holdpoint_broker::{Role, Terms};
use serde_json::json;

use crate::served::{Served, terms};

#[test]
fn a_token_signs_its_owner_in_and_nobody_else() {
    let served = Served::start();
    let token = served
        .auth
        .people()
        .add("dev", "ann", Role::Approver)
        .unwrap();
    let sign_in = |name: &str, token: &str| {
        served
            .stranger()
            .post("/api/sign-in", &json!({"name": name, "token": token}))
    };
    let reply = sign_in("ann", &token);
    assert_eq!(
        reply.json()["person"],
        json!({"name": "ann", "role": "approver"})
    );
    assert_eq!(sign_in("dev", &token).status, 401);
    assert_eq!(sign_in("ann", "hpt_x").status, 401);
}

#[test]
fn a_viewer_looks_and_does_not_answer() {
    let served = Served::start();
    served
        .auth
        .people()
        .add("dev", "vic", Role::Viewer)
        .unwrap();
    served
        .auth
        .people()
        .add("dev", "ann", Role::Approver)
        .unwrap();
    let (vic, id) = (served.with_code("vic"), served.hold("s"));
    assert_eq!(vic.get("/api/me").json()["person"]["role"], "viewer");
    assert_eq!(vic.get(&format!("/api/requests/{id}")).status, 200);
    let named = json!({"id": id, "binding": served.binding(&id)});
    for (path, body) in [
        (
            format!("/api/requests/{id}/answer"),
            json!({"answer": "yes", "binding": named["binding"]}),
        ),
        (
            "/api/answers".to_owned(),
            json!({"answer": "no", "ids": [named]}),
        ),
        (format!("/api/requests/{id}/extend"), json!({"seconds": 9})),
        (
            "/api/delegations".to_owned(),
            json!({"to": "ann", "seconds": 9}),
        ),
    ] {
        let reply = vic.post(&path, &body);
        assert_eq!(reply.status, 403, "{path}");
        assert_eq!(reply.error(), "vic may look, and not answer");
    }
    assert_eq!(served.broker.find(&id).unwrap().unwrap().version, 1);
}

#[test]
fn whoever_is_taken_off_the_list_is_signed_out() {
    let served = Served::start();
    served.auth.people().add("dev", "ann", Role::Admin).unwrap();
    let ann = served.with_code("ann");
    assert_eq!(ann.get("/api/requests").status, 200);
    served.auth.people().remove("dev", "ann").unwrap();
    assert_eq!(ann.get("/api/requests").status, 401);
    // Somebody else may have the name by now.
    served.auth.people().add("dev", "ann", Role::Admin).unwrap();
    assert_eq!(ann.get("/api/requests").status, 401);
    assert_eq!(served.with_code("ann").get("/api/requests").status, 200);
}

#[test]
fn somebody_answers_in_the_place_of_somebody_else() {
    let served = Served::start();
    for name in ["ann", "bob"] {
        served
            .auth
            .people()
            .add("dev", name, Role::Approver)
            .unwrap();
    }
    *served.world.terms.lock().unwrap() = Terms {
        approvers: vec!["ann".into()],
        ..terms()
    };
    let (ann, bob, id) = (
        served.with_code("ann"),
        served.with_code("bob"),
        served.hold("s"),
    );
    let yes = json!({"answer": "yes", "binding": served.binding(&id)});
    let path = format!("/api/requests/{id}/answer");
    assert_eq!(bob.post(&path, &yes).status, 409);
    for body in [
        json!({"to": "nobody", "seconds": 60}),
        json!({"to": "ann", "seconds": 60}),
        json!({"to": "bob", "seconds": 0}),
        json!({"to": "bob", "seconds": u64::MAX}),
        json!({"to": "bob", "seconds": 60, "from": "dev"}),
    ] {
        assert_eq!(ann.post("/api/delegations", &body).status, 400, "{body}");
    }
    let body = json!({"to": "bob", "seconds": 60});
    assert_eq!(ann.post("/api/delegations", &body).status, 200);
    assert_eq!(
        bob.get("/api/people").json()["delegations"][0]["from"],
        "ann"
    );
    assert_eq!(ann.delete("/api/delegations/bob").status, 200);
    assert_eq!(ann.delete("/api/delegations/bob").status, 404);
    assert_eq!(bob.post(&path, &yes).status, 409);
    assert_eq!(ann.post("/api/delegations", &body).status, 200);
    let reply = bob.post(&path, &yes);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let approval = &reply.json()["request"]["approvals"][0];
    assert_eq!(
        (&approval["approver"], &approval["on_behalf_of"]),
        (&json!("bob"), &json!("ann"))
    );
}

#[test]
fn one_persons_word_counts_once_whoever_brings_it() {
    let served = Served::start();
    for name in ["ann", "bob", "cyd"] {
        let people = served.auth.people();
        people.add("dev", name, Role::Approver).unwrap();
    }
    *served.world.terms.lock().unwrap() = Terms {
        approvers: vec!["ann".into(), "bob".into()],
        required: 2,
        ..terms()
    };
    let [ann, bob, cyd] = ["ann", "bob", "cyd"].map(|name| served.with_code(name));
    let body = json!({"to": "cyd", "seconds": 60});
    assert_eq!(ann.post("/api/delegations", &body).status, 200);
    let id = served.hold("s");
    let yes = json!({"answer": "yes", "binding": served.binding(&id)});
    let path = format!("/api/requests/{id}/answer");
    assert_eq!(ann.post(&path, &yes).json()["outcome"], "counted");
    assert_eq!(
        cyd.post(&path, &yes).status,
        409,
        "ann's word a second time"
    );
    assert_eq!(bob.post(&path, &yes).json()["outcome"], "settled");
    // The other way round, and for somebody who has not spoken yet.
    assert_eq!(bob.post("/api/delegations", &body).status, 200);
    let id = served.hold("t");
    let yes = json!({"answer": "yes", "binding": served.binding(&id)});
    let path = format!("/api/requests/{id}/answer");
    assert_eq!(ann.post(&path, &yes).json()["outcome"], "counted");
    let settled = cyd.post(&path, &yes).json();
    assert_eq!(settled["outcome"], "settled");
    assert_eq!(settled["request"]["approvals"][1]["on_behalf_of"], "bob");
}
