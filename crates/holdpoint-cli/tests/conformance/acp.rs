//! `holdpoint acp` between a scripted editor and a scripted agent.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::walk::{Adapter, Calls, GLANCE, Heard, Made, Run, Word};

/// How long anything may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says what comes through one pipe, and hands what it hears to another.
const AGENT: &str = r#"exec 5<&0; cat <&5 >"$1.heard" & exec cat <"$1.says""#;

pub(crate) struct Editor;

impl Adapter for Editor {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn open<'a>(&self, run: &'a Run<'a>) -> Box<dyn Calls + 'a> {
        Box::new(Session::start(run))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Editor,
    Agent,
}

struct Session<'a> {
    run: &'a Run<'a>,
    program: Child,
    editor: ChildStdin,
    agent: File,
    /// What either side hears.
    heard: Receiver<(Side, Value)>,
    turn: Option<String>,
    requests: u64,
    /// When the last of them was made.
    asked: Instant,
}

impl<'a> Session<'a> {
    /// Starts the program between an editor and an agent, and a session.
    fn start(run: &'a Run<'a>) -> Self {
        let pipes = run.config.with_extension("acp");
        let pipe = |name: &str| pipes.with_extension(format!("acp.{name}"));
        // Those of a program that was killed.
        for name in ["says", "heard"] {
            let _ = std::fs::remove_file(pipe(name));
        }
        let made = Command::new("mkfifo")
            .args([pipe("says"), pipe("heard")])
            .status();
        assert!(made.unwrap().success());
        let mut program = run.program(&["acp", "--", "sh", "-c", AGENT, "agent"]);
        let mut program = program
            .arg(&pipes)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let editor = program.stdin.take().unwrap();
        let (to_both, heard) = channel();
        let from_program = program.stdout.take().unwrap();
        lines(from_program, Side::Editor, to_both.clone());
        let hears = pipe("heard");
        thread::spawn(move || lines(File::open(hears).unwrap(), Side::Agent, to_both));
        let agent = File::options().write(true).open(pipe("says")).unwrap();
        let mut session = Session {
            run,
            program,
            editor,
            agent,
            heard,
            turn: None,
            requests: 0,
            asked: Instant::now(),
        };
        session.begin();
        session
    }
}

impl Session<'_> {
    fn begin(&mut self) {
        let params = json!({"cwd": self.run.work, "mcpServers": []});
        self.editor_says(&json!({"id": "new", "method": "session/new", "params": params}));
        assert_eq!(self.hears().0, Side::Agent);
        let result = json!({"sessionId": self.run.session});
        self.agent_says(&json!({"id": "new", "result": result}));
        assert_eq!(self.hears().0, Side::Editor);
    }

    fn editor_says(&mut self, message: &Value) {
        writeln!(self.editor, "{}", spoken(message)).unwrap();
    }

    fn agent_says(&mut self, message: &Value) {
        writeln!(self.agent, "{}", spoken(message)).unwrap();
    }

    fn hears(&mut self) -> (Side, Value) {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }
}

impl Calls for Session<'_> {
    fn call(&mut self, made: &[Made]) -> Vec<Heard> {
        let turn = made.iter().find_map(|one| one.turn.clone());
        if turn.is_some() && turn != self.turn {
            self.turn = turn;
            self.prompt();
        }
        let first = self.requests + 1;
        for one in made {
            self.ask(one);
        }
        let mut heard: Vec<Option<Heard>> = made.iter().map(|_| None).collect();
        let mut given_up = false;
        while heard.iter().any(Option::is_none) {
            if made.iter().any(|one| one.killed && one.is_off()) {
                self.program.kill().unwrap();
                *self = Self::start(self.run);
                return made.iter().map(|_| Heard::said(Word::Refused)).collect();
            }
            if !given_up && made.iter().any(Made::is_off) {
                given_up = true;
                let params = json!({"sessionId": self.run.session});
                self.editor_says(&json!({"method": "session/cancel", "params": params}));
                let (side, message) = self.hears();
                assert_eq!(side, Side::Agent, "{message}");
            }
            let Ok((side, message)) = self.heard.recv_timeout(GLANCE) else {
                assert!(self.asked.elapsed() < PATIENCE, "nothing comes of it");
                continue;
            };
            match side {
                // What nothing objects to is the editor's to ask about, and its user says yes.
                Side::Editor => {
                    let chosen = json!({"outcome": "selected", "optionId": "allow_once"});
                    let id = message["id"].clone();
                    self.editor_says(&json!({"id": id, "result": {"outcome": chosen}}));
                }
                Side::Agent => {
                    let outcome = &message["result"]["outcome"];
                    let word = match outcome["optionId"].as_str() {
                        Some("allow_once") => Word::Runs,
                        _ => Word::Refused,
                    };
                    // Who has cancelled is told so, and not that somebody refused.
                    assert!(!given_up || outcome["outcome"] == "cancelled", "{message}");
                    let at = usize::try_from(message["id"].as_u64().unwrap() - first).unwrap();
                    heard[at] = Some(Heard::said(word));
                }
            }
        }
        if given_up {
            // The user goes on.
            self.prompt();
        }
        heard.into_iter().flatten().collect()
    }
}

impl Session<'_> {
    /// The user says something.
    fn prompt(&mut self) {
        let params = json!({"sessionId": self.run.session, "prompt": []});
        self.editor_says(&json!({"method": "session/prompt", "params": params}));
        assert_eq!(self.hears().0, Side::Agent);
    }

    /// The agent asks for permission.
    fn ask(&mut self, made: &Made) {
        self.asked = Instant::now();
        self.requests += 1;
        let id = json!(self.requests);
        let kind = match made.tool.as_str() {
            "Bash" => "execute",
            "Edit" => "edit",
            "Read" => "read",
            "WebFetch" => "fetch",
            other => panic!("ACP has no word for `{other}`"),
        };
        let option = |id: &str| json!({"optionId": id, "kind": id, "name": id});
        let params = json!({
            "sessionId": self.run.session,
            "toolCall": {"toolCallId": "c", "title": "t", "kind": kind, "rawInput": made.input},
            "options": [option("allow_once"), option("reject_once")],
        });
        let asks = json!({"id": id, "method": "session/request_permission", "params": params});
        self.agent_says(&asks);
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A message with what every message says.
fn spoken(message: &Value) -> Value {
    let mut whole = json!({"jsonrpc": "2.0"});
    for (key, value) in message.as_object().unwrap() {
        whole[key] = value.clone();
    }
    whole
}

/// Hands on the lines of a stream as they come.
fn lines(
    stream: impl Read + Send + 'static,
    side: Side,
    to: std::sync::mpsc::Sender<(Side, Value)>,
) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let message = serde_json::from_str(&line).unwrap();
            if to.send((side, message)).is_err() {
                break;
            }
        }
    });
}
