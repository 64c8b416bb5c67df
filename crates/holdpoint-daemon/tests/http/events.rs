//! The event stream.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use holdpoint_broker::{Answer, Evidence, Route, SignedAnswer, UnixMillis};
use holdpoint_daemon::Somebody;
use holdpoint_daemon::http::bind;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::served::{Client, Parts, Served, anywhere, hold};

const DEV: Somebody<'static> = Somebody {
    name: "dev",
    on_behalf_of: &[],
};

/// A stream that is read event by event.
struct Reading(BufReader<TcpStream>);

impl Reading {
    fn for_client(client: &Client) -> Self {
        let mut stream = client.connect();
        let text = client.written("GET", "/api/events", &[], None);
        stream.write_all(text.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
        Self(reader)
    }

    fn next(&mut self) -> (String, Value) {
        let mut kind = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended");
            if let Some(name) = line.strip_prefix("event: ") {
                kind = name.trim().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (kind, serde_json::from_str(data).unwrap());
            }
        }
    }
}

fn said(answer: Answer, binding: String) -> SignedAnswer {
    SignedAnswer {
        answer,
        approver: "dev".into(),
        on_behalf_of: Vec::new(),
        binding: Some(binding),
        phrase: None,
        evidence: holdpoint_broker::Evidence::by(holdpoint_broker::Route::Page),
    }
}

#[test]
fn what_waits_comes_first_and_then_every_change_at_once() {
    let served = Served::start();
    let waiting = served.hold("s");
    let mut reading = Reading::for_client(&served.owner());
    let (kind, snapshot) = reading.next();
    assert_eq!(kind, "snapshot");
    assert_eq!(snapshot["requests"][0]["id"], json!(waiting));
    assert!(snapshot["now"].as_u64().unwrap() > 1_000_000_000_000);

    let started = Instant::now();
    let id = served.hold("t");
    let (kind, card) = reading.next();
    assert!(started.elapsed() < Duration::from_millis(500));
    assert_eq!((kind.as_str(), &card["id"]), ("opened", &json!(id)));
    served
        .broker
        .extend(&id, 60, &DEV, &Evidence::by(Route::Page), UnixMillis::now())
        .unwrap();
    let (kind, card) = reading.next();
    assert_eq!((kind.as_str(), &card["version"]), ("changed", &json!(2)));
    let no = said(Answer::No, served.binding(&id));
    served.broker.answer(&id, &no, UnixMillis::now()).unwrap();
    let (kind, card) = reading.next();
    assert_eq!(
        (kind.as_str(), &card["state"]),
        ("settled", &json!("refused"))
    );
}

#[test]
fn whoever_comes_back_sees_what_waits_now_and_nothing_old() {
    let served = Served::start();
    let (old, kept) = (served.hold("s"), served.hold("t"));
    let client = served.owner();
    let mut reading = Reading::for_client(&client);
    assert_eq!(reading.next().1["requests"].as_array().unwrap().len(), 2);
    drop(reading);
    let no = said(Answer::No, served.binding(&old));
    served.broker.answer(&old, &no, UnixMillis::now()).unwrap();
    let mut reading = Reading::for_client(&client);
    let (_, snapshot) = reading.next();
    let ids: Vec<&Value> = snapshot["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, [&json!(kept)]);
    let new = served.hold("u");
    assert_eq!(reading.next().1["id"], json!(new));
}

#[test]
fn there_are_only_so_many_streams_and_a_place_is_given_back() {
    let served = Served::start();
    let client = served.owner();
    let mut streams: Vec<Reading> = (0..64).map(|_| Reading::for_client(&client)).collect();
    for stream in &mut streams {
        assert_eq!(stream.next().0, "snapshot");
    }
    assert_eq!(client.get("/api/events").status, 503);
    drop(streams.pop());
    let started = Instant::now();
    while client_status(&client) != 200 {
        assert!(started.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The status of a new stream, which is closed again.
fn client_status(client: &Client) -> u16 {
    let mut stream = client.connect();
    let text = client.written("GET", "/api/events", &[], None);
    stream.write_all(text.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

/// All of it on one thread, so that the stream cannot read while changes pile up.
#[test]
fn whoever_falls_behind_is_told_everything_anew() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let parts = Parts::new();
        let bound = bind(&anywhere(), 0).await.unwrap();
        let address = bound.address();
        let router = parts.app(bound.origins());
        tokio::spawn(bound.serve(router, std::future::pending()));
        let client = tokio::task::spawn_blocking({
            let auth = parts.auth.clone();
            move || signed_in(&auth, address)
        });
        let client = client.await.unwrap();
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let text = client.written("GET", "/api/events", &[], None);
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut lines = tokio::io::BufReader::new(stream).lines();
        let id = hold(&parts.broker, "s");
        let mut snapshots = 0;
        let mut piled_up = false;
        while let Some(line) = lines.next_line().await.unwrap() {
            let Some(data) = line.strip_prefix("data: ") else {
                continue;
            };
            let data: Value = serde_json::from_str(data).unwrap();
            if data.get("requests").is_some() {
                snapshots += 1;
            }
            if !piled_up && snapshots == 1 {
                piled_up = true;
                for _ in 0..2200 {
                    parts
                        .broker
                        .extend(&id, 1, &DEV, &Evidence::by(Route::Page), UnixMillis::now())
                        .unwrap();
                }
            }
            if snapshots == 2 {
                assert_eq!(data["requests"][0]["version"], 2201);
                return;
            }
        }
        panic!("the stream ended");
    });
}

fn signed_in(auth: &holdpoint_daemon::http::Auth, address: std::net::SocketAddr) -> Client {
    let code = auth.new_code("dev", Instant::now()).unwrap();
    let mut client = Client {
        address,
        host: address.to_string(),
        origin: Some(format!("http://{address}")),
        cookie: None,
        csrf: None,
    };
    let reply = client.post("/api/sign-in", &json!({ "code": code }));
    let cookie = reply.header("set-cookie").unwrap();
    client.cookie = Some(cookie.split(';').next().unwrap().to_owned());
    client
}

#[test]
fn whoever_is_removed_hears_nothing_more() {
    let served = Served::start();
    let people = served.auth.people();
    people
        .add("dev", "ann", holdpoint_broker::Role::Approver)
        .unwrap();
    let client = served.with_code("ann");
    let mut reading = Reading::for_client(&client);
    assert_eq!(reading.next().0, "snapshot");
    people.remove("dev", "ann").unwrap();
    served.hold("s");
    let mut rest = String::new();
    let before = Instant::now();
    while reading.0.read_line(&mut rest).unwrap() > 0 {}
    assert!(!rest.contains("opened"), "{rest}");
    assert!(before.elapsed() < Duration::from_secs(5));
}
