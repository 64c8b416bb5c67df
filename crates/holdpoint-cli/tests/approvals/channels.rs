//! Hooks that ask through a channel of their own: an endpoint, or files in a directory. Nobody is at
//! a terminal, and no daemon runs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::test_home::{Heard, TestHome, heard, started};

fn by_files(more: Value) -> TestHome {
    let test_home = TestHome::alone(json!({}));
    let mut policy = json!({
        "defaultPolicy": "ask",
        "channel": {"type": "file", "base_path": test_home.path("desk"), "poll_interval": 0.05},
    });
    for (key, value) in more.as_object().unwrap() {
        policy[key] = value.clone();
    }
    test_home.write_policy(&policy);
    test_home
}

/// Starts a call, and waits until its question is there.
fn question(test_home: &TestHome, command: &str) -> (JoinHandle<Heard>, Value) {
    let hook = test_home.hook(&test_home.bash(command));
    let caller = thread::spawn(|| heard(hook));
    let requests = test_home.path("desk/requests");
    let waited = Instant::now();
    loop {
        assert!(
            waited.elapsed() < Duration::from_secs(30),
            "nothing is asked"
        );
        let mut files = fs::read_dir(&requests).into_iter().flatten().flatten();
        if let Some(file) = files.next()
            && file.path().extension().is_some_and(|end| end == "json")
            && let Ok(bytes) = fs::read(file.path())
        {
            return (caller, serde_json::from_slice(&bytes).unwrap());
        }
        sleep(Duration::from_millis(10));
    }
}

fn respond(test_home: &TestHome, asked: &Value, text: &str) -> PathBuf {
    let id = asked["request_id"].as_str().unwrap();
    let path = test_home.path(&format!("desk/responses/{id}.json"));
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

// J-52
#[test]
fn a_file_answers_once_it_is_whole_and_both_are_gone_afterwards() {
    let test_home = by_files(json!({}));
    let (caller, asked) = question(&test_home, "make one");
    assert_eq!(asked["arguments"]["command"], "make one");
    let time = asked["timestamp"].as_str().unwrap();
    assert!(
        time.ends_with('Z') && !time.contains('+'),
        "RFC 3339: {time}"
    );
    let reply = json!({"request_id": asked["request_id"], "decision": "allow"}).to_string();
    let (half, _) = reply.split_at(reply.len() / 2);
    respond(&test_home, &asked, half);
    sleep(Duration::from_millis(400));
    assert!(!caller.is_finished(), "half an answer is none");
    respond(&test_home, &asked, &reply);
    assert_eq!(caller.join().unwrap().word, "allow");
    for name in ["requests", "responses"] {
        let left = fs::read_dir(test_home.path("desk").join(name))
            .unwrap()
            .count();
        assert_eq!(left, 0, "{name}");
    }
    let record = test_home.last("hold_answered");
    assert_eq!(record["method"], "user_approved");
    assert!(
        record["approver"].as_str().unwrap().starts_with("file:"),
        "{record}"
    );
}

// J-50
#[test]
fn a_file_about_something_else_is_no_answer() {
    let test_home = by_files(json!({}));
    let (caller, asked) = question(&test_home, "make one");
    respond(
        &test_home,
        &asked,
        r#"{"request_id":"someone-elses","decision":"allow"}"#,
    );
    let heard = caller.join().unwrap();
    assert_eq!(heard.word, "deny", "{heard:?}");
    let record = test_home.last("hold_expired");
    assert_eq!(record["method"], "error", "{record}");
    assert_eq!(record["detail"]["answer"], "channel_error", "{record}");
    assert!(record["approver"].is_null(), "nobody said no: {record}");
}

// J-51
#[test]
fn the_environment_says_how_long_is_waited() {
    let test_home = by_files(json!({}));
    let mut hook = test_home.program(&["hook", "claude-code"]);
    hook.env("JAATO_PERMISSION_TIMEOUT", "1");
    let heard = heard(started(&mut hook, &test_home.bash("make one")));
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert_eq!(test_home.last("hold_expired")["method"], "timeout");
}

// Issue 5: a symlinked approval directory; J-47: what cannot be built is refused, never swapped.
#[test]
fn a_directory_that_is_a_link_or_open_to_others_is_not_used() {
    let test_home = by_files(json!({}));
    let desk = test_home.path("desk");
    let elsewhere = test_home.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &desk).unwrap();
    for _ in 0..2 {
        let heard = test_home.told(&test_home.bash("make one"));
        assert_eq!(heard.word, "deny", "{heard:?}");
        assert_eq!(test_home.last("hold_expired")["method"], "no_channel");
        // The second time it is a directory anybody can write in.
        let _ = fs::remove_file(&desk);
        fs::create_dir_all(&desk).unwrap();
        fs::set_permissions(&desk, fs::Permissions::from_mode(0o777)).unwrap();
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

// An agent answers for nobody: the directory is closed to it by the policy that names it.
#[test]
fn an_agent_cannot_write_the_answer_itself() {
    let test_home = by_files(json!({"defaultPolicy": "allow"}));
    let response = test_home.path("desk/responses/abcdefgh.json");
    let write = test_home.payload("Write", json!({"file_path": response, "content": "{}"}));
    assert_eq!(test_home.told(&write).word, "deny");
    let line = format!("echo '{{}}' > {}", response.display());
    assert_eq!(test_home.told(&test_home.bash(&line)).word, "deny");
}

/// What an endpoint says to a question.
type Replies = fn(&Value) -> (u16, Value);

/// An endpoint that answers each question as the test says; the questions it was asked.
fn endpoint(reply: Replies) -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hold", listener.local_addr().unwrap());
    let (tell, asked) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if stream.read_line(&mut head).unwrap() == 0 {
                    return;
                }
            }
            let length = head.lines().find_map(|line| {
                let line = line.to_lowercase();
                line.strip_prefix("content-length:")?.trim().parse().ok()
            });
            let mut body = vec![0; length.unwrap_or(0)];
            stream.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let (status, answer) = reply(&body);
            let _ = tell.send((head, body));
            let answer = answer.to_string();
            let _ = write!(
                stream.get_mut(),
                "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                answer.len()
            );
        }
    });
    (address, asked)
}

fn by_webhook(endpoint: &str) -> TestHome {
    let test_home = TestHome::alone(json!({}));
    test_home.write_policy(&json!({
        "defaultPolicy": "ask",
        "channel": {"type": "webhook", "endpoint": endpoint, "auth_token": "made-up", "timeout": 20},
    }));
    test_home
}

// J-48, J-49
#[test]
fn an_endpoint_is_asked_and_what_it_remembers_holds() {
    let (address, asked) = endpoint(|body| {
        let reply = json!({
            "request_id": body["request_id"], "decision": "allow",
            "remember": true, "remember_pattern": "git fetch *",
        });
        (200, reply)
    });
    let test_home = by_webhook(&address);
    assert_eq!(test_home.told(&test_home.bash("git fetch")).word, "allow");
    let (head, body) = asked.recv().unwrap();
    assert!(
        head.to_lowercase()
            .contains("authorization: bearer made-up"),
        "{head}"
    );
    assert_eq!(body["tool_name"], "Bash");
    assert_eq!(body["arguments"]["command"], "git fetch");
    for key in [
        "timestamp",
        "timeout_seconds",
        "default_on_timeout",
        "context",
    ] {
        assert!(!body[key].is_null(), "{key}: {body}");
    }
    assert_eq!(
        test_home.last("hold_answered")["method"],
        "session_whitelist"
    );
    assert_eq!(
        test_home.told(&test_home.bash("git fetch --all")).word,
        "allow"
    );
    assert_eq!(test_home.last("decision")["method"], "session_whitelist");
    assert!(
        asked.try_recv().is_err(),
        "nobody was asked the second time"
    );
}

// J-48, J-50
#[test]
fn a_reply_that_is_forged_unknown_or_late_releases_nothing() {
    let replies: [Replies; 6] = [
        |_| {
            (
                200,
                json!({"request_id": "someone-elses", "decision": "allow"}),
            )
        },
        |_| (200, json!({"decision": "allow"})),
        |body| {
            (
                200,
                json!({"request_id": body["request_id"], "decision": "sure"}),
            )
        },
        |body| (200, json!({"request_id": body["request_id"]})),
        |body| {
            (
                403,
                json!({"request_id": body["request_id"], "decision": "allow"}),
            )
        },
        |body| {
            let past = "2020-01-01T00:00:00Z";
            let reply = json!({
                "request_id": body["request_id"], "decision": "allow", "expires_at": past,
            });
            (200, reply)
        },
    ];
    for reply in replies {
        let (address, _asked) = endpoint(reply);
        let test_home = by_webhook(&address);
        let heard = test_home.told(&test_home.bash("git fetch"));
        assert_eq!(heard.word, "deny", "{heard:?}");
    }
}

/// A service that takes messages, and what it was sent.
fn messenger() -> (String, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (arrived, messages) = mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else {
                return;
            };
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(count) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = count.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let _ = arrived.send(serde_json::from_slice(&body).unwrap());
            // What it says is no answer, whatever it says.
            let said = r#"{"decision":"allow","answer":"yes"}"#;
            let _ = write!(
                connection,
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{said}",
                said.len()
            );
        }
    });
    (format!("http://{address}/calls-x7"), messages)
}

#[test]
fn a_messenger_is_told_and_the_page_answers() {
    let (endpoint, messages) = messenger();
    let channel = json!({"type": "webhook", "format": "ntfy", "endpoint": endpoint});
    let test_home = TestHome::under(json!({"channel": channel}));
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let hook = test_home.hook(&test_home.bash(&format!("make one TOKEN={secret}")));
    let caller = thread::spawn(|| heard(hook));
    let told = messages.recv_timeout(Duration::from_secs(30)).unwrap();
    let [request] = test_home.waiting().try_into().unwrap();
    let link = told["click"].as_str().unwrap();
    assert!(
        link.ends_with(&format!("/#request/{}", request.id)),
        "{told}"
    );
    assert!(
        link.starts_with("http://localhost:") || link.starts_with("http://127.0.0.1:"),
        "{link}"
    );
    assert!(!told.to_string().contains("a1B2a1B2"), "{told}");
    sleep(Duration::from_millis(300));
    assert!(!caller.is_finished(), "what the service said is no answer");
    let said = test_home.run(&["approve", &request.id]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(caller.join().unwrap().word, "allow");
    assert!(messages.try_recv().is_err(), "a call is told once");
}

#[test]
fn without_a_daemon_nobody_is_told_and_nothing_runs() {
    let (endpoint, messages) = messenger();
    let channel = json!({"type": "webhook", "format": "slack", "endpoint": endpoint});
    let test_home = TestHome::alone(json!({"channel": channel}));
    let said = heard(test_home.hook(&test_home.bash("make one")));
    assert_eq!(said.word, "deny");
    assert!(said.reason.contains("holdpoint serve"), "{}", said.reason);
    assert!(messages.try_recv().is_err());
}
