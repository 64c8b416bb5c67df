//! A daemon to talk to: the real router and listener over a made-up world, and a client that sends
//! exactly what a test says.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use holdpoint_broker::{
    BrokerHost, CallContext, Context, Display, Event, Judged, Memory, People, PeopleStore,
    Prepared, Problem, Roster, Scope, StopScope, Terms, UnixMillis,
};
use holdpoint_core::{Decision, Method, Risk, Verdict, digest_of};
use holdpoint_daemon::http::{App, Auth, ListenAddress, app, bind};
use holdpoint_daemon::{Broker, Held, SessionChange, Views};
use serde_json::{Map, Value, json};

/// A world in which everything is asked about, on the terms of the test.
pub(crate) struct Fake {
    pub(crate) terms: Mutex<Terms>,
}

impl BrokerHost for Fake {
    fn judge(&self, asked: &CallContext) -> Result<Judged, Problem> {
        let text = serde_json::to_string(asked).unwrap();
        Ok(Judged {
            decision: Decision {
                verdict: Verdict::Ask,
                risk: match text.contains("erase") {
                    true => Risk::Critical,
                    false => Risk::High,
                },
                method: Method::Guard,
                rule: Some("git.push".into()),
                ..Decision::error("It leaves this machine")
            },
            terms: self.terms.lock().unwrap().clone(),
            binding: digest_of(text.as_bytes()),
            card: digest_of(b"card"),
            parts: std::collections::BTreeMap::new(),
            former: digest_of(format!("former {text}").as_bytes()),
        })
    }

    fn judge_remembering(&self, asked: &CallContext, _: &Memory) -> Result<Judged, Problem> {
        let mut judged = self.judge(asked)?;
        judged.decision.verdict = Verdict::Allow;
        Ok(judged)
    }

    fn prepare(&self, asked: &CallContext, _: &Judged) -> Result<Prepared, Problem> {
        Ok(Prepared {
            display: Display {
                summary: format!("{}: {}", asked.tool, asked.session),
                details: "git push".into(),
                arguments: asked.input.clone(),
                ..Display::default()
            },
            context: Context {
                intent: Some("publish".into()),
                ..Context::default()
            },
            ..Prepared::default()
        })
    }

    fn difference(&self, _: &CallContext, _: &CallContext) -> String {
        "-git push\n+git push -n\n".into()
    }

    fn record(&self, _: Event<'_>) -> Result<(), Problem> {
        Ok(())
    }

    fn remember(&self, _: &CallContext, _: &Memory, _: &str) -> Result<(), Problem> {
        Ok(())
    }
}

/// A list of people in memory.
#[derive(Default)]
pub(crate) struct List(Mutex<Roster>);

impl PeopleStore for List {
    fn load(&self) -> Result<Roster, Problem> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn change(
        &self,
        _: &str,
        _: &Value,
        edit: &mut dyn FnMut(&mut Roster) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut kept = self.0.lock().unwrap();
        let mut roster = kept.clone();
        edit(&mut roster)?;
        *kept = roster;
        Ok(())
    }
}

struct Shown;

impl Views for Shown {
    fn sessions(&self) -> Result<Value, Problem> {
        Ok(json!({"sessions": [{
            "session": "s", "key": "k", "agent": "claude-code", "pending": 1, "last": 5, "suspended": "turn",
            "allow": ["git *"], "deny": [], "mark": null, "plan": null,
        }], "stopped": [{
            "scope": {"agent": "codex"}, "what": "the agent codex", "time": "2026-11-18T13:00:00Z",
            "by": "ann", "reason": null,
        }]}))
    }

    fn change_session(
        &self,
        key: &str,
        change: &SessionChange,
        by: &str,
    ) -> Result<Value, Problem> {
        assert!(!by.is_empty());
        let known = *change == SessionChange::ForgetAllow("git *".into());
        Ok(json!({"changed": key == "k" && known}))
    }

    fn stop(&self, scope: &StopScope, by: &str, reason: Option<&str>) -> Result<Value, Problem> {
        if *scope == StopScope::Session("broken".into()) {
            return Err(Problem("the disk is full".into()));
        }
        assert!(!by.is_empty() && reason != Some(""));
        Ok(json!({"refused": ["k3v7m2qa"]}))
    }

    fn resume(&self, scope: &StopScope, _: &str) -> Result<Value, Problem> {
        Ok(json!({"was_stopped": *scope == StopScope::All}))
    }

    fn policy(&self, workspace: Option<&str>) -> Result<Value, Problem> {
        if workspace == Some("/nowhere") {
            return Err(Problem("/nowhere: no such directory".into()));
        }
        Ok(json!({
            "layers": [{
                "name": "/etc/holdpoint/permissions.json", "authority": "managed",
                "trust": "trusted", "digest": "sha256:00", "default": "ask", "text": "{}",
            }],
            "channel": "daemon",
            "approval": {"deadline": 300, "required": 1, "approvers": []},
            "default": "ask",
        }))
    }

    fn report(&self) -> Result<String, Problem> {
        Ok("<!doctype html><title>report</title>".into())
    }
}

/// A daemon that runs until the test ends.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) broker: Broker,
    pub(crate) auth: Arc<Auth>,
    pub(crate) world: Arc<Fake>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    _directory: tempfile::TempDir,
}

/// Everything about a daemon but its listener.
pub(crate) struct Parts {
    pub(crate) broker: Broker,
    pub(crate) auth: Arc<Auth>,
    pub(crate) world: Arc<Fake>,
    pub(crate) directory: tempfile::TempDir,
}

impl Parts {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let world = Arc::new(Fake {
            terms: Mutex::new(terms()),
        });
        let broker = Broker::open(&directory.path().join("a.db"), world.clone()).unwrap();
        let people = People::new(Arc::new(List::default()), "dev");
        Self {
            broker,
            auth: Arc::new(Auth::new(people)),
            world,
            directory,
        }
    }

    pub(crate) fn app(&self, origins: &holdpoint_daemon::http::Origins) -> axum::Router {
        app(App::new(
            self.broker.clone(),
            self.auth.clone(),
            Arc::new(Shown),
            origins.clone(),
        ))
    }
}

/// One person, five minutes, and everything may be changed.
pub(crate) fn terms() -> Terms {
    Terms {
        deadline: Some(300),
        required: 1,
        approvers: Vec::new(),
        phrase: None,
        editable: vec!["command".into()],
        offers: vec![holdpoint_broker::Offer {
            scope: Scope::Exact,
            patterns: vec!["git push".into()],
            lasts: "until the session ends".into(),
            released: 0,
        }],
        suspendable: true,
        presence: holdpoint_core::policy::Presence::None,
    }
}

pub(crate) fn anywhere() -> ListenAddress {
    ListenAddress {
        address: Some("127.0.0.1:0".parse().unwrap()),
        ..ListenAddress::default()
    }
}

impl Served {
    pub(crate) fn start() -> Self {
        Self::at(anywhere())
    }

    pub(crate) fn at(address: ListenAddress) -> Self {
        let parts = Parts::new();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let serving = Parts {
            directory: tempfile::tempdir().unwrap(),
            broker: parts.broker.clone(),
            auth: parts.auth.clone(),
            world: parts.world.clone(),
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let bound = bind(&address, 1).await.unwrap();
                tell.send(bound.address()).unwrap();
                let router = serving.app(bound.origins());
                let end = async move {
                    let _ = stopped.await;
                };
                bound.serve(router, end).await.unwrap();
            });
        });
        Self {
            address: told.recv().unwrap(),
            broker: parts.broker,
            auth: parts.auth,
            world: parts.world,
            stop: Some(stop),
            _directory: parts.directory,
        }
    }

    /// Holds a call; what comes back is its id.
    pub(crate) fn hold(&self, session: &str) -> String {
        hold(&self.broker, session)
    }

    /// Signs the owner in.
    pub(crate) fn owner(&self) -> Client {
        self.with_code("dev")
    }

    pub(crate) fn with_code(&self, name: &str) -> Client {
        let code = self.auth.new_code(name, Instant::now()).unwrap();
        let reply = self
            .stranger()
            .post("/api/sign-in", &json!({ "code": code }));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let mut client = self.stranger();
        let cookie = reply.header("set-cookie").unwrap();
        client.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        client.csrf = Some(reply.json()["csrf"].as_str().unwrap().to_owned());
        client
    }

    /// Somebody who is not signed in, but whose browser shows our page.
    pub(crate) fn stranger(&self) -> Client {
        Client {
            address: self.address,
            host: self.address.to_string(),
            origin: Some(format!("http://{}", self.address)),
            cookie: None,
            csrf: None,
        }
    }

    pub(crate) fn binding(&self, id: &str) -> String {
        self.broker.find(id).unwrap().unwrap().binding
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

pub(crate) fn hold(broker: &Broker, session: &str) -> String {
    hold_command(broker, session, "git push")
}

/// Holds a command; what comes back is its id.
pub(crate) fn hold_command(broker: &Broker, session: &str, command: &str) -> String {
    let asked = CallContext {
        agent: "claude-code".into(),
        session: session.into(),
        tool: "Bash".into(),
        input: Map::from_iter([("command".into(), json!(command))]),
        directory: "/work".into(),
        workspace: "/work".into(),
        config: None,
        context: Context::default(),
    };
    match broker
        .hold(&asked, session, None, UnixMillis::now())
        .unwrap()
    {
        Held::Waiting { id, .. } => id,
        Held::Resolved(told) => panic!("{told:?}"),
    }
}

/// What a request is sent with.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) host: String,
    pub(crate) origin: Option<String>,
    pub(crate) cookie: Option<String>,
    pub(crate) csrf: Option<String>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        let json = [("Content-Type", "application/json")];
        self.send("POST", path, &json, Some(&body.to_string()))
    }

    pub(crate) fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, &[], None)
    }

    /// The bytes of a request.
    pub(crate) fn written(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> String {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.host);
        for (name, value) in [
            ("Origin", &self.origin),
            ("Cookie", &self.cookie),
            ("X-Holdpoint-Csrf", &self.csrf),
        ] {
            if let Some(value) = value {
                text += &format!("{name}: {value}\r\n");
            }
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        text + "Connection: close\r\n\r\n" + body.unwrap_or_default()
    }

    /// Sends a request. What comes back must be as the description of the API says.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Reply {
        let mut stream = self.connect();
        stream
            .write_all(self.written(method, path, headers, body).as_bytes())
            .unwrap();
        let mut bytes = Vec::new();
        // A refused body may be answered, and the connection closed, before all of it was sent.
        let _ = stream.read_to_end(&mut bytes);
        let reply = read_reply(&bytes);
        conforms(method, path, &reply);
        reply
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream
    }
}

pub(crate) fn read_reply(bytes: &[u8]) -> Reply {
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap_or_else(|| panic!("no reply: {}", String::from_utf8_lossy(bytes)));
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    Reply {
        status: status.parse().unwrap(),
        headers,
        body: bytes[end + 4..].to_vec(),
    }
}

static DESCRIPTION: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../src/http/openapi.json")).unwrap());

/// Holds a reply against the description of the API.
fn conforms(method: &str, path: &str, reply: &Reply) {
    let (path, _) = path.split_once('?').unwrap_or((path, ""));
    // What every address answers alike is described in words.
    if matches!(reply.status, 403 | 405 | 413 | 415 | 421 | 500) {
        assert!(reply.json()["error"].is_string());
        return;
    }
    let Some((template, methods)) = described(path) else {
        assert_eq!(reply.status, 404, "{path} is not described");
        return;
    };
    let described = &methods[method.to_lowercase()]["responses"][reply.status.to_string()];
    let described = match described["$ref"].as_str() {
        Some(name) => DESCRIPTION.pointer(name.trim_start_matches('#')).unwrap(),
        None => described,
    };
    assert!(
        described.is_object(),
        "{method} {template}: {} is not described: {}",
        reply.status,
        reply.text()
    );
    let schema = &described["content"]["application/json"]["schema"];
    if schema.is_null() {
        return;
    }
    let mut schema = schema.clone();
    schema["components"] = DESCRIPTION["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let json = reply.json();
    let errors: Vec<String> = validator
        .iter_errors(&json)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{method} {template}: {errors:?}");
}

fn described(path: &str) -> Option<(&'static str, &'static Value)> {
    let paths = DESCRIPTION["paths"].as_object().unwrap();
    if let Some((template, methods)) = paths.get_key_value(path) {
        return Some((template, methods));
    }
    let fits = |template: &str| {
        let (wanted, given) = (template.split('/'), path.split('/'));
        wanted.clone().count() == given.clone().count()
            && wanted.zip(given).all(|(w, g)| w == g || w.starts_with('{'))
    };
    paths
        .iter()
        .find(|(template, _)| fits(template))
        .map(|(template, methods)| (template.as_str(), methods))
}
