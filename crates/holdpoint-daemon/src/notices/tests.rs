use std::collections::BTreeMap;

use holdpoint_core::policy::channel_of;
use holdpoint_core::{Policy, Risk};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::webhook::tests::server::{Server, response};

const PAGE: &str = "http://localhost:4717/";

fn request() -> Request {
    let sample = include_str!("../../../holdpoint-broker/src/channel/sample.json");
    let mut request: Request = serde_json::from_str(sample).unwrap();
    request.expires = None;
    request
}

fn channel(server: &Server, format: &str) -> Channel {
    let endpoint = format!("http://{}/calls-ann-x7", server.address);
    channel_with(&json!({"endpoint": endpoint, "format": format, "auth_token": "made-up-token"}))
}

fn channel_with(keys: &Value) -> Channel {
    let mut channel = keys.clone();
    channel["type"] = json!("webhook");
    let policy = Policy::from_text("p", json!({"channel": channel}).to_string()).unwrap();
    channel_of(&policy).unwrap().clone()
}

fn post(channel: &Channel, message: &Message) -> Result<(), ChannelError> {
    let format = channel.only_tells().unwrap();
    let endpoint = Endpoint::new(&channel.settings, None, &|_| None)?;
    let (endpoint, topic) = message::addressed(format, endpoint)?;
    send(&endpoint, &message.body(format, &topic))
}

/// What is sent to a service and what it says, by its documentation.
#[derive(Deserialize)]
struct Exchange {
    path: String,
    request: Value,
    answers: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    status: String,
    headers: BTreeMap<String, String>,
    body: Value,
}

impl Said {
    fn text(&self) -> Option<String> {
        let headers = self
            .headers
            .iter()
            .map(|(name, text)| format!("{name}: {text}\r\n"));
        let body = self
            .body
            .as_str()
            .map_or_else(|| self.body.to_string(), str::to_owned);
        response(&self.status, &headers.collect::<String>(), &body)
    }
}

fn exchange_holds(format: &str, recorded: &str) {
    let exchange: Exchange = serde_json::from_str(recorded).unwrap();
    let said: Vec<_> = exchange.answers.iter().map(Said::text).collect();
    let attempts = said.len();
    let server = Server::start(Box::new(move |nth, _| said[nth].clone()));
    post(
        &channel(&server, format),
        &Message::about(&request(), PAGE, true),
    )
    .unwrap();
    let arrived = server.arrived();
    assert_eq!(arrived.len(), attempts);
    for arrived in arrived {
        let line = format!("POST {} HTTP/1.1", exchange.path);
        assert!(arrived.head.starts_with(&line), "{}", arrived.head);
        assert_eq!(
            arrived.header("authorization"),
            Some("Bearer made-up-token")
        );
        assert_eq!(arrived.json(), exchange.request);
    }
}

#[test]
fn the_exchange_with_ntfy() {
    exchange_holds("ntfy", include_str!("exchanges/ntfy.json"));
}

#[test]
fn the_exchange_with_slack() {
    exchange_holds("slack", include_str!("exchanges/slack.json"));
}

#[test]
fn the_exchange_with_teams() {
    exchange_holds("teams", include_str!("exchanges/teams.json"));
}

const FORMATS: [ChannelFormat; 3] = [
    ChannelFormat::Ntfy,
    ChannelFormat::Slack,
    ChannelFormat::Teams,
];

fn text_of(message: &Message, format: ChannelFormat) -> String {
    String::from_utf8(message.body(format, "t")).unwrap()
}

#[test]
fn a_call_draws_nothing_and_fills_nothing() {
    let mut request = request();
    let long = "x".repeat(9000);
    request.display.summary =
        format!("<!channel> <http://a.example|Open the request> & \u{202e}\n{long}");
    request.decision.reason = long.clone();
    request.asked.directory = long.clone();
    request.asked.agent = long;
    for format in FORMATS {
        let said = text_of(&Message::about(&request, PAGE, true), format);
        assert!(said.chars().count() < 2500, "{format:?}: {}", said.len());
        assert!(!said.contains('\u{202e}'), "{format:?}");
    }
    let slack: Value = serde_json::from_str(&text_of(
        &Message::about(&request, PAGE, true),
        ChannelFormat::Slack,
    ))
    .unwrap();
    let fallback = slack["text"].as_str().unwrap();
    assert!(
        fallback.contains("&lt;!channel&gt; &lt;http://a.example|"),
        "{fallback}"
    );
    // What Slack reads as markup is only our own link.
    for block in slack["blocks"].as_array().unwrap() {
        if block["text"]["type"] == "mrkdwn" {
            assert_eq!(
                block["text"]["text"],
                format!("<{PAGE}#request/hq7f3a91|Open the request>")
            );
        }
    }
}

#[test]
fn what_a_call_is_can_be_kept_back() {
    for format in FORMATS {
        let said = text_of(&Message::about(&request(), PAGE, false), format);
        for private in ["git push", "/work/shop", "Bash", "throws away"] {
            assert!(!said.contains(private), "{format:?}: {said}");
        }
        for shown in ["claude-code", "high", "git.force-push", "#request/hq7f3a91"] {
            assert!(said.contains(shown), "{format:?}: {said}");
        }
        let many = text_of(&Message::counting(12, PAGE), format);
        assert!(many.contains("12 calls") && many.contains(PAGE), "{many}");
    }
}

#[test]
fn critical_calls_are_urgent() {
    let mut request = request();
    request.decision.risk = Risk::Critical;
    let said: Value = serde_json::from_str(&text_of(
        &Message::about(&request, PAGE, true),
        ChannelFormat::Ntfy,
    ))
    .unwrap();
    assert_eq!(
        (&said["priority"], &said["tags"][0]),
        (&json!(5), &json!("rotating_light"))
    );
}

#[test]
fn a_refusal_is_said_without_the_address() {
    let server = Server::start(Box::new(|_, _| response("404 Not Found", "", "no_service")));
    let asked = post(&channel(&server, "slack"), &Message::counting(4, PAGE));
    let reason = asked.unwrap_err().to_string();
    assert!(
        reason.contains("status 404") && !reason.contains("calls-ann"),
        "{reason}"
    );
    assert_eq!(
        server.arrived().len(),
        1,
        "what will not change is not tried again"
    );
}

#[test]
fn only_a_topic_is_an_address_of_ntfy() {
    for path in ["", "/", "/a b", "/topic/", "/topic?auth=made-up"] {
        let settings = channel_with(
            &json!({"format": "ntfy", "endpoint": format!("http://localhost:9{path}")}),
        );
        let message = Message::counting(4, PAGE);
        let refused = post(&settings, &message).unwrap_err();
        assert!(
            matches!(refused, ChannelError::Unusable(_)),
            "{path}: {refused}"
        );
    }
}

#[test]
fn a_messenger_is_a_webhook_and_nothing_else() {
    for wrong in [
        json!({"type": "console", "format": "ntfy"}),
        json!({"type": "daemon", "details": false}),
        json!({"type": "webhook", "format": "ntfy"}),
        json!({"type": "webhook", "format": "mail", "endpoint": "https://a.example"}),
    ] {
        let text = json!({"channel": wrong}).to_string();
        assert!(Policy::from_text("p", text.clone()).is_err(), "{text}");
    }
    let own = json!({"format": "holdpoint", "endpoint": "https://a.example"});
    assert_eq!(channel_with(&own).only_tells(), None);
}
