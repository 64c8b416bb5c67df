//! Requests that must not get through.

use std::time::Instant;

use holdpoint_broker::State;
use serde_json::json;

use crate::served::Served;

#[test]
fn nobody_sees_anything_without_signing_in() {
    let served = Served::start();
    let id = served.hold("s");
    let mut nobody = served.stranger();
    for cookie in [
        None,
        Some("holdpoint_session="),
        Some("holdpoint_session=guess"),
    ] {
        nobody.cookie = cookie.map(str::to_owned);
        for path in [
            "/report",
            "/api/me",
            "/api/requests",
            &format!("/api/requests/{id}"),
            "/api/events",
            "/api/history",
            "/api/sessions",
            "/api/policy",
            "/api/people",
        ] {
            assert_eq!(nobody.get(path).status, 401, "{path}");
        }
        let body = json!({"answer": "yes", "binding": served.binding(&id)});
        let path = format!("/api/requests/{id}/answer");
        assert_eq!(nobody.post(&path, &body).status, 401);
        assert_eq!(nobody.post("/api/sign-out", &json!({})).status, 401);
    }
}

#[test]
fn a_request_to_another_name_is_refused_whatever_it_wants() {
    let served = Served::start();
    let mut client = served.owner();
    for host in [
        "evil.example",
        &format!("evil.example:{}", served.address.port()),
        "127.0.0.1",
    ] {
        client.host = host.to_owned();
        for path in [
            "/",
            "/assets/app.js",
            "/api/requests",
            "/api/openapi.json",
            "/nothing",
        ] {
            assert_eq!(client.get(path).status, 421, "{host} {path}");
        }
    }
    client.host = format!("localhost:{}", served.address.port());
    assert_eq!(client.get("/api/requests").status, 200);
}

#[test]
fn a_page_of_another_server_cannot_answer() {
    let served = Served::start();
    let id = served.hold("s");
    let (path, body) = (
        format!("/api/requests/{id}/answer"),
        json!({"answer": "yes", "binding": served.binding(&id)}),
    );
    let mut client = served.owner();
    for origin in [
        None,
        Some("null".to_owned()),
        Some("http://evil.example".to_owned()),
        Some("http://127.0.0.1:3000".to_owned()),
        Some(format!("https://{}", served.address)),
    ] {
        client.origin = origin;
        assert_eq!(client.post(&path, &body).status, 403);
        assert_eq!(client.delete("/api/delegations/ann").status, 403);
        assert_eq!(
            client.post("/api/sign-in", &json!({"code": "x"})).status,
            403
        );
    }
    let client = served.owner();
    for site in ["cross-site", "same-site"] {
        let headers = [
            ("Content-Type", "application/json"),
            ("Sec-Fetch-Site", site),
        ];
        let reply = client.send("POST", &path, &headers, Some(&body.to_string()));
        assert_eq!(reply.status, 403);
        let headers = [("Sec-Fetch-Site", site)];
        assert_eq!(
            client.send("GET", "/api/events", &headers, None).status,
            403
        );
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let headers = [("Content-Type", kind)];
        let reply = client.send("POST", &path, &headers, Some(&body.to_string()));
        assert_eq!(reply.status, 415);
    }
    let state = served.broker.find(&id).unwrap().unwrap().state;
    assert_eq!(state, State::Pending);
}

#[test]
fn the_cookie_alone_answers_nothing_and_does_not_get_the_rest() {
    let served = Served::start();
    let id = served.hold("s");
    let body = json!({"answer": "yes", "binding": served.binding(&id)});
    let (first, second) = (served.owner(), served.owner());
    for csrf in [None, Some("x".to_owned()), second.csrf.clone()] {
        let mut thief = first.clone();
        thief.csrf = csrf;
        let reply = thief.post(&format!("/api/requests/{id}/answer"), &body);
        assert_eq!(reply.status, 403);
        assert_eq!(thief.get("/api/me").status, 401);
        assert_eq!(thief.post("/api/sign-out", &json!({})).status, 403);
    }
    assert_eq!(first.get("/api/me").json()["person"]["name"], "dev");
}

#[test]
fn a_code_is_good_once() {
    let served = Served::start();
    let code = served.auth.new_code("dev", Instant::now()).unwrap();
    let client = served.stranger();
    let reply = client.post("/api/sign-in", &json!({ "code": code }));
    assert_eq!(reply.status, 200);
    let cookie = reply.header("set-cookie").unwrap();
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
        "{cookie}"
    );
    assert_eq!(
        client.post("/api/sign-in", &json!({ "code": code })).status,
        401
    );
    for body in [
        json!({}),
        json!({"name": "dev"}),
        json!({"code": "x", "name": "dev", "token": "y"}),
    ] {
        assert_eq!(client.post("/api/sign-in", &body).status, 400);
    }
}

#[test]
fn guessing_is_stopped() {
    let served = Served::start();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..14)
            .map(|_| {
                scope.spawn(|| {
                    served
                        .stranger()
                        .post("/api/sign-in", &json!({"code": "x"}))
                })
            })
            .collect();
        tries
            .into_iter()
            .map(|one| {
                let reply = one.join().unwrap();
                assert_eq!(reply.status == 429, reply.header("retry-after").is_some());
                reply.status
            })
            .collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 10);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 4);
    let code = served.auth.new_code("dev", Instant::now()).unwrap();
    let right = served
        .stranger()
        .post("/api/sign-in", &json!({ "code": code }));
    assert_eq!(right.status, 200, "a code cannot be guessed");
    let token = json!({"name": "dev", "token": "x"});
    let guessed = served.stranger().post("/api/sign-in", &token);
    assert_eq!(guessed.status, 429);
    let people = served.auth.people();
    let own = people.add("dev", "ann", holdpoint_broker::Role::Approver);
    let token = json!({"name": "ann", "token": own.unwrap()});
    let known = served.stranger().post("/api/sign-in", &token);
    assert_eq!(known.status, 200, "strangers lock nobody out");
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let served = Served::start();
    let client = served.owner();
    let mut slow = Vec::new();
    // More than are served at a time; with their other ends fewer than a process usually has descriptors for.
    for number in 0..320 {
        let mut one = std::net::TcpStream::connect(served.address).unwrap();
        if number % 2 == 0 {
            std::io::Write::write_all(&mut one, b"GET / HTTP/1.1\r\nHo").unwrap();
        }
        slow.push(one);
    }
    let before = Instant::now();
    assert_eq!(client.get("/api/requests").status, 200);
    assert!(before.elapsed().as_secs() < 5, "{:?}", before.elapsed());
    drop(slow);
}

#[test]
fn one_session_cannot_flood_and_another_does_not_suffer() {
    let served = Served::start();
    let (loud, quiet) = (served.owner(), served.owner());
    let post = |client: &crate::served::Client| {
        let reply = client.post("/api/answers", &json!({"ids": [], "answer": "no"}));
        assert!(reply.status != 429 || reply.header("retry-after") == Some("1"));
        reply.status
    };
    let started = Instant::now();
    let mut sent = 0;
    while post(&loud) == 200 {
        sent += 1;
        assert!(sent < 2000, "never stopped");
    }
    let most = 201 + started.elapsed().as_millis() / 20;
    assert!((200..=most).contains(&sent), "{sent} of at most {most}");
    assert_eq!(post(&quiet), 200);
}
