#[path = "../../../holdpoint-broker/src/channel/sample.rs"]
mod sample;
pub(crate) mod server;

use std::fs;
use std::time::Instant;

use holdpoint_broker::channel::{self, Setting};
use holdpoint_broker::{Answer, Edit, Scope};
use holdpoint_core::Policy;
use holdpoint_core::policy::channel_of;
use serde_json::{Value, json};

use self::sample::{edited_request, request, waiting};
use self::server::{Answers, Server, ok, response};
use super::endpoint::{KEY_VARIABLE, TOKEN_VARIABLE};
use super::signature::Key;
use super::*;

const ALLOW: &str = r#"{"request_id":"hq7f3a91","decision":"allow"}"#;

fn nothing(_: &str) -> Option<String> {
    None
}

/// The webhook a policy with this `channel` describes, in a hurry.
fn webhook(channel: &Value) -> Webhook {
    webhook_in(channel, &nothing).unwrap()
}

fn webhook_in(
    channel: &Value,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Webhook, ChannelError> {
    let mut channel = channel.clone();
    channel["type"] = json!("webhook");
    let policy = Policy::from_text("p", json!({"channel": channel}).to_string()).unwrap();
    let settings = &channel_of(&policy).unwrap().settings;
    let ca_file = settings.ca_file.as_deref().map(Path::new);
    let mut webhook = Webhook::new(settings, ca_file, environment)?;
    webhook.pace = Pace {
        failed: Duration::from_millis(20),
        pending: Duration::from_millis(40),
        most: Duration::from_millis(200),
    };
    Ok(webhook)
}

fn server(
    answers: impl Fn(usize, &server::Arrived) -> Option<String> + Send + Sync + 'static,
) -> Server {
    let answers: Box<Answers> = Box::new(answers);
    Server::start(answers)
}

fn endpoint(server: &Server) -> String {
    format!("http://{}/ask?key=made-up-in-the-address", server.address)
}

fn ask(webhook: &mut Webhook) -> Result<SignedAnswer, ChannelError> {
    webhook.ask(&request(), &waiting(5000))
}

fn refusal(answer: impl Fn() -> Option<String> + Send + Sync + 'static) -> String {
    let server = server(move |_, _| answer());
    match ask(&mut webhook(&json!({"endpoint": endpoint(&server)}))) {
        Err(ChannelError::Broken(reason)) => {
            assert!(!reason.contains("made-up"), "{reason}");
            reason
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_question_is_posted_whole_and_the_reply_answers_it() {
    let server = server(|_, _| ok(ALLOW));
    let settings = json!({
        "endpoint": endpoint(&server), "auth_token": "made-up-token", "headers": {"X-Team": "shop"},
    });
    let said = ask(&mut webhook(&settings)).unwrap();
    assert_eq!(said.answer, Answer::Yes);
    assert_eq!(said.approver, "webhook:127.0.0.1");
    assert_eq!(said.binding.as_deref(), Some("sha256:binding"));
    let arrived = server.arrived();
    let [arrived] = arrived.as_slice() else {
        panic!("{arrived:?}")
    };
    assert!(
        arrived
            .head
            .starts_with("POST /ask?key=made-up-in-the-address HTTP/1.1")
    );
    assert_eq!(
        arrived.header("authorization"),
        Some("Bearer made-up-token")
    );
    assert_eq!(arrived.header("content-type"), Some("application/json"));
    assert_eq!(arrived.header("x-team"), Some("shop"));
    assert_eq!(arrived.header("x-holdpoint-signature"), None);
    let body = arrived.json();
    for (key, wanted) in [
        ("request_id", json!("hq7f3a91")),
        ("timestamp", json!("2026-11-16T03:40:12.000000Z")),
        ("tool_name", json!("Bash")),
        (
            "arguments",
            json!({"command": "git push --force origin main", "description": "Publish the fix"}),
        ),
        ("timeout_seconds", json!(5)),
        ("default_on_timeout", json!("deny")),
        ("was_edited", json!(false)),
        ("risk", json!("high")),
        (
            "reason",
            json!("a forced push throws away what others have pushed"),
        ),
        ("rule", json!("git.force-push")),
        ("binding", json!("sha256:binding")),
        ("summary", json!("git push --force origin main")),
        (
            "response_options",
            json!([
                "allow",
                "deny",
                "allow_once",
                "allow_session",
                "deny_session",
                "allow_all",
                "allow_turn",
                "allow_idle",
                "comment",
                "edit"
            ]),
        ),
    ] {
        assert_eq!(body[key], wanted, "{key}");
    }
    assert_eq!(body["context"]["turn_number"], 5);
    assert_eq!(body["checks"][0]["status"], "passed");
    assert_eq!(
        body["offers"][1]["patterns"],
        json!(["git push", "git push *"])
    );
    assert!(body.get("original_arguments").is_none());
}

#[test]
fn no_secret_leaves_with_edited_arguments() {
    let server = server(|_, _| ok(ALLOW));
    let mut webhook = webhook(&json!({"endpoint": endpoint(&server)}));
    let _ = webhook.ask(&edited_request(), &waiting(5000)).unwrap();
    let body = server.arrived()[0].json();
    assert_eq!(body["was_edited"], true);
    assert_eq!(
        body["original_arguments"]["command"],
        "git push --force origin main"
    );
    assert_eq!(body["original_arguments"]["token"], "[hidden]");
    assert!(!body.to_string().contains("made-up-secret"));
}

/// J-48, J-50: whatever is not surely a yes to this request is none.
#[test]
fn replies_that_do_not_count() {
    for (reply, wanted) in [
        (
            r#"{"request_id":"someone-elses","decision":"allow"}"#,
            "not about this request",
        ),
        (r#"{"decision":"allow"}"#, "not about this request"),
        (r#"{"request_id":"hq7f3a91"}"#, "no `decision`"),
        (r#"{"request_id":"hq7f3a91","decision":"sure"}"#, "unknown"),
        (
            r#"{"request_id":"hq7f3a91","decision":"allow","expires_at":"2020-01-01T00:00:00Z"}"#,
            "expired",
        ),
        ("", "no JSON"),
        ("allow", "no JSON"),
    ] {
        let reason = refusal(move || ok(reply));
        assert!(reason.contains(wanted), "{reply}: {reason}");
    }
    let long = format!("{}{ALLOW}", " ".repeat(70_000));
    assert!(refusal(move || ok(&long)).contains("too long"));
    for status in [
        "201 Created",
        "204 No Content",
        "400 Bad Request",
        "401 Unauthorized",
        "404 Not Found",
    ] {
        let reason = refusal(move || response(status, "", ALLOW));
        assert!(
            reason.contains(status.split(' ').next().unwrap()),
            "{reason}"
        );
    }
}

#[test]
fn no_redirection_is_followed() {
    let other = server(|_, _| ok(ALLOW));
    for status in [
        "301 Moved",
        "302 Found",
        "303 See Other",
        "307 Temporary",
        "308 Permanent",
    ] {
        let location = format!("location: http://{}/\r\n", other.address);
        let reason = refusal(move || response(status, &location, ""));
        assert!(!reason.is_empty());
    }
    assert!(other.arrived().is_empty());
}

#[test]
fn failures_that_may_pass_are_tried_again_under_the_same_id() {
    let server = server(|number, _| match number {
        0 => None,
        1 => response("500 Internal Server Error", "", ""),
        2 => response("503 Unavailable", "retry-after: 0\r\n", ""),
        _ => ok(ALLOW),
    });
    let mut webhook = webhook(&json!({"endpoint": endpoint(&server)}));
    assert_eq!(ask(&mut webhook).unwrap().answer, Answer::Yes);
    let arrived = server.arrived();
    assert_eq!(arrived.len(), 4);
    for one in &arrived {
        assert_eq!(one.json(), arrived[0].json());
    }
}

#[test]
fn a_pending_reply_is_asked_for_again() {
    let server = server(|number, _| match number {
        0 => response("202 Accepted", "", ""),
        1 => response("202 Accepted", "retry-after: 0\r\n", "anything"),
        2 => ok(r#"{"request_id":"hq7f3a91","decision":"pending"}"#),
        _ => ok(ALLOW),
    });
    let mut webhook = webhook(&json!({"endpoint": endpoint(&server)}));
    assert_eq!(ask(&mut webhook).unwrap().answer, Answer::Yes);
    assert_eq!(server.arrived().len(), 4);
}

/// J-51: whatever keeps the answer away, it is a timeout.
#[test]
fn time_runs_out_as_a_timeout() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let pending = server(|_, _| response("202 Accepted", "", ""));
    let broken = server(|_, _| response("502 Bad Gateway", "retry-after: 3600\r\n", ""));
    for address in [
        silent.local_addr().unwrap(),
        closed,
        pending.address,
        broken.address,
    ] {
        let mut webhook = webhook(&json!({"endpoint": format!("http://{address}/")}));
        let started = Instant::now();
        let asked = webhook.ask(&request(), &waiting(300));
        assert_eq!(asked, Err(ChannelError::Timeout), "{address}");
        assert!(started.elapsed() < Duration::from_secs(3));
    }
    let mut webhook = webhook(&json!({"endpoint": format!("http://{closed}/")}));
    let gone = Waiting {
        limit: None,
        cancelled: &|| true,
    };
    assert_eq!(webhook.ask(&request(), &gone), Err(ChannelError::Cancelled));
}

#[test]
fn a_signed_question_is_answered_by_a_signed_reply_only() {
    const KEY: &str = "made-up-key";
    let body = r#"{"request_id":"hq7f3a91","decision":"allow","approver":" ann\u001b "}"#;
    let settings = |server: &Server| json!({"endpoint": endpoint(server), "signing_key": KEY});
    let signed = move |seconds: u64, over: &str, body: &str| {
        let header = Key::new(KEY).unwrap().sign(seconds, over.as_bytes());
        response(
            "200 OK",
            &format!("x-holdpoint-signature: {header}\r\n"),
            body,
        )
    };

    let honest = server(move |_, arrived| {
        let header = arrived.header("x-holdpoint-signature").unwrap();
        Key::new(KEY)
            .unwrap()
            .verify(header, unix_seconds(), &arrived.body)
            .unwrap();
        signed(unix_seconds(), body, body)
    });
    let said = ask(&mut webhook(&settings(&honest))).unwrap();
    assert_eq!(said.approver, "webhook:127.0.0.1/ann\\u{1b}");
    assert_eq!(said.on_behalf_of, ["webhook:127.0.0.1"]);
    assert_eq!(said.answer, Answer::Yes);

    // The key of the environment counts as well.
    let environment = |name: &str| (name == KEY_VARIABLE).then(|| KEY.to_owned());
    let mut by_environment =
        webhook_in(&json!({"endpoint": endpoint(&honest)}), &environment).unwrap();
    assert!(ask(&mut by_environment).is_ok());

    let forged: Vec<Box<Answers>> = vec![
        Box::new(move |_, _| ok(body)),
        Box::new(move |_, _| signed(unix_seconds(), "another body", body)),
        Box::new(move |_, _| signed(unix_seconds() - 1000, body, body)),
        Box::new(move |_, _| {
            let header = Key::new("other")
                .unwrap()
                .sign(unix_seconds(), body.as_bytes());
            response(
                "200 OK",
                &format!("x-holdpoint-signature: {header}\r\n"),
                body,
            )
        }),
        // Our own words sent back.
        Box::new(move |_, arrived| {
            let header = arrived.header("x-holdpoint-signature").unwrap();
            let header = format!("x-holdpoint-signature: {header}\r\n");
            response(
                "200 OK",
                &header,
                std::str::from_utf8(&arrived.body).unwrap(),
            )
        }),
    ];
    for answers in forged {
        let server = Server::start(answers);
        let asked = ask(&mut webhook(&settings(&server)));
        match asked {
            Err(ChannelError::Broken(reason)) => assert!(!reason.contains(KEY)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn who_answered_is_a_label_only_where_the_reply_is_signed() {
    let server =
        server(|_, _| ok(r#"{"request_id":"hq7f3a91","decision":"allow","approver":"root"}"#));
    let said = ask(&mut webhook(&json!({"endpoint": endpoint(&server)}))).unwrap();
    assert_eq!(said.approver, "webhook:127.0.0.1");
    assert!(said.on_behalf_of.is_empty());
}

#[test]
fn what_is_remembered_is_what_was_offered() {
    for (reply, wanted) in [
        (
            r#""decision":"allow","remember":true,"remember_pattern":"git push *""#,
            Answer::Always {
                scope: Some(Scope::Prefix),
            },
        ),
        (
            r#""decision":"allow_session""#,
            Answer::Always {
                scope: Some(Scope::Prefix),
            },
        ),
        (
            r#""decision":"allow","remember":true,"remember_pattern":"git *""#,
            Answer::Yes,
        ),
        (
            r#""decision":"deny_session""#,
            Answer::Never {
                scope: Some(Scope::Prefix),
            },
        ),
    ] {
        let body = format!(r#"{{"request_id":"hq7f3a91",{reply}}}"#);
        let server = server(move |_, _| ok(&body));
        let mut webhook = webhook(&json!({"endpoint": endpoint(&server)}));
        assert_eq!(ask(&mut webhook).unwrap().answer, wanted, "{reply}");
        assert_eq!(webhook.told.is_some(), wanted == Answer::Yes);
    }
}

#[test]
fn a_server_that_repeats_itself_is_told_and_asked_ever_less() {
    let server = server(|_, _| ok(ALLOW));
    let mut webhook = webhook(&json!({"endpoint": endpoint(&server)}));
    let started = Instant::now();
    for _ in 0..3 {
        let _ = ask(&mut webhook).unwrap();
        webhook.told(&request(), "it waits for bob");
    }
    assert!(started.elapsed() >= Duration::from_millis(40 + 80));
    let arrived = server.arrived();
    assert!(arrived[0].json().get("notice").is_none());
    assert_eq!(arrived[2].json()["notice"], "it waits for bob");
}

#[test]
fn the_server_is_known_by_its_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let (server, authority) = Server::start_tls(Box::new(|_, _| ok(ALLOW)));
    let (_, other) = Server::start_tls(Box::new(|_, _| ok(ALLOW)));
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let port = server.address.port();
    let good = file("good.pem", &authority);
    let ask_at = |host: &str, ca_file: Option<&str>| {
        let mut settings = json!({"endpoint": format!("https://{host}:{port}/")});
        if let Some(path) = ca_file {
            settings["ca_file"] = json!(path);
        }
        ask(&mut webhook(&settings))
    };
    let said = ask_at("localhost", Some(&good)).unwrap();
    assert_eq!(
        (said.answer, said.approver.as_str()),
        (Answer::Yes, "webhook:localhost")
    );
    let count = server.arrived().len();
    let unknown = file("other.pem", &other);
    for (host, ca_file) in [
        ("localhost", Some(unknown.as_str())),
        ("localhost", None),
        ("127.0.0.1", Some(good.as_str())),
    ] {
        let asked = ask_at(host, ca_file);
        match asked {
            Err(ChannelError::Unusable(reason)) => {
                assert!(reason.contains("certificate"), "{reason}")
            }
            other => panic!("{host}: {other:?}"),
        }
    }
    assert_eq!(server.arrived().len(), count);
    for (text, wanted) in [
        ("", "no certificate"),
        ("-----BEGIN CERTIFICATE-----\n!", "no PEM file"),
    ] {
        let path = file("bad.pem", text);
        let settings = json!({"endpoint": "https://localhost/", "ca_file": path});
        match webhook_in(&settings, &nothing) {
            Err(ChannelError::Unusable(reason)) => assert!(reason.contains(wanted), "{reason}"),
            _ => panic!("{text}"),
        }
    }
}

fn unusable(settings: &Value) -> String {
    match webhook_in(settings, &nothing) {
        Err(ChannelError::Unusable(reason)) => {
            assert!(!reason.contains("made-up"), "{reason}");
            reason
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("{settings}"),
    }
}

/// J-10: what cannot be used is an error.
#[test]
fn settings_that_cannot_be_used_are_refused() {
    for endpoint in [
        "http://approvals.example.com/",
        "http://192.168.1.1/",
        "http://127.0.0.1.example.com/",
        "http://localhost.example.com/",
        "ftp://localhost/",
        "/path",
        "localhost",
        "https://",
        "not an address",
        "https://user:made-up@approvals.example.com/",
    ] {
        assert!(!unusable(&json!({"endpoint": endpoint})).is_empty());
    }
    for endpoint in [
        "http://localhost:1/",
        "http://127.9.9.9/",
        "http://[::1]:5/",
        "https://approvals.example.com/x",
    ] {
        assert!(
            webhook_in(&json!({"endpoint": endpoint}), &nothing).is_ok(),
            "{endpoint}"
        );
    }
    let with = |key: &str, value: Value| {
        let mut settings = json!({"endpoint": "https://approvals.example.com/"});
        settings[key] = value;
        settings
    };
    for headers in [
        json!({"Content-Type": "text/plain"}),
        json!({"x-holdpoint-signature": "made-up"}),
        json!({"Host": "other"}),
        json!({"bad name": "made-up"}),
        json!({"X-A": "made-up\nX-B: c"}),
    ] {
        unusable(&with("headers", headers));
    }
    unusable(&with("signing_key", json!("")));
    unusable(&with("ca_file", json!("/nonexistent/ca.pem")));
    let mut both = with("headers", json!({"Authorization": "made-up"}));
    both["auth_token"] = json!("made-up");
    assert!(unusable(&both).contains("keep one of them"));
}

#[cfg(unix)]
#[test]
fn the_token_comes_from_the_policy_a_program_or_the_environment() {
    let environment = |name: &str| (name == TOKEN_VARIABLE).then(|| "from-environment".to_owned());
    let token = |settings: Value| {
        let server = server(|_, _| ok(ALLOW));
        let mut settings = settings;
        settings["endpoint"] = json!(endpoint(&server));
        let said = ask(&mut webhook_in(&settings, &environment).unwrap());
        said.map(|_| {
            server.arrived()[0]
                .header("authorization")
                .unwrap()
                .to_owned()
        })
    };
    assert_eq!(token(json!({})).unwrap(), "Bearer from-environment");
    let printed = json!({"auth_token_command": ["printf", " %s \n", "printed"]});
    assert_eq!(token(printed.clone()).unwrap(), "Bearer printed");
    let mut all = printed;
    all["auth_token"] = json!("written");
    assert_eq!(token(all).unwrap(), "Bearer written");
    assert_eq!(
        token(json!({"headers": {"Authorization": "Basic x"}})).unwrap(),
        "Basic x"
    );
    // No shell reads the words.
    let word = json!({"auth_token_command": ["printf", "%s", "$HOME;ls"]});
    assert_eq!(token(word).unwrap(), "Bearer $HOME;ls");
    // What is left running does not hold the answer up.
    let left = json!({"auth_token_command": ["sh", "-c", "sleep 20 & printf kept"]});
    assert_eq!(token(left).unwrap(), "Bearer kept");
    for command in [
        json!(["/nonexistent/program"]),
        json!(["sh", "-c", "echo made-up; exit 3"]),
        json!(["true"]),
        json!(["sh", "-c", "head -c 100000 /dev/zero"]),
        json!(["printf", "two\nlines"]),
    ] {
        let server = server(|_, _| ok(ALLOW));
        let settings = json!({"endpoint": endpoint(&server), "auth_token_command": command});
        match ask(&mut webhook(&settings)) {
            Err(ChannelError::Unusable(reason)) => assert!(!reason.contains("made-up"), "{reason}"),
            other => panic!("{command}: {other:?}"),
        }
        assert!(server.arrived().is_empty());
    }
    let slow = json!({"endpoint": "http://localhost:1/", "auth_token_command": ["sleep", "30"]});
    let started = Instant::now();
    let asked = webhook(&slow).ask(&request(), &waiting(300));
    assert_eq!(asked, Err(ChannelError::Timeout));
    assert!(started.elapsed() < Duration::from_secs(4));
    let asked = webhook(&slow).ask(&request(), &waiting(60_000));
    match asked {
        Err(ChannelError::Unusable(reason)) => assert!(reason.contains("more than 5 seconds")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_policy_is_built_into_its_channel_or_into_an_error() {
    let built = |channel: Value| {
        let policy = Policy::from_text("p", json!({"channel": channel}).to_string()).unwrap();
        let setting = Setting {
            approver: "ann".into(),
            prompt_lock: None,
            environment: &|name| (name == "HOME").then(|| "/home/ann".to_owned()),
            webhooks: Some(build),
        };
        channel::build(channel_of(&policy).unwrap(), &setting).map(|_| ())
    };
    assert_eq!(built(json!({})), Ok(()));
    assert_eq!(
        built(json!({"type": "console", "use_colors": false})),
        Ok(())
    );
    assert_eq!(
        built(json!({"type": "webhook", "endpoint": "https://a.example"})),
        Ok(())
    );
    #[cfg(unix)]
    for base in ["/tmp/approvals", "~/approvals"] {
        assert_eq!(
            built(json!({"type": "file", "base_path": base})),
            Ok(()),
            "{base}"
        );
    }
    for wrong in [
        json!({"type": "file", "base_path": "approvals"}),
        json!({"type": "webhook", "endpoint": "http://a.example"}),
        json!({"type": "webhook", "endpoint": "https://a.example", "ca_file": "ca.pem"}),
        json!({"type": "daemon"}),
        json!({"type": "agent"}),
    ] {
        let built = built(wrong.clone());
        assert!(
            matches!(built, Err(ChannelError::Unusable(_))),
            "{wrong}: {built:?}"
        );
    }
    let endpoint = Policy::from_text("p", r#"{"channel":{"type":"webhook"}}"#);
    assert!(endpoint.is_err());
}
