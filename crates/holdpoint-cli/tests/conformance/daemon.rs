//! The daemon's socket, spoken to by a program of somebody else's.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::Duration;

use holdpoint_broker::wire::{self, HoldAnswer, Places, Wish};
use holdpoint_broker::{CallContext, Context};
use serde_json::{Value, json};

use crate::walk::{Adapter, Calls, GLANCE, Heard, Made, Run, Word, asks, at_once};

pub(crate) struct Socket;

impl Adapter for Socket {
    fn name(&self) -> &'static str {
        "daemon"
    }

    fn open<'a>(&self, run: &'a Run<'a>) -> Box<dyn Calls + 'a> {
        Box::new(Caller { run })
    }

    /// Whoever submits a call has put on record that it is asked about; the daemon begins with the
    /// request.
    fn records(&self, expected: &[String]) -> Vec<String> {
        let of_daemon = expected.iter().filter(|record| !asks(record));
        of_daemon.cloned().collect()
    }
}

struct Caller<'a> {
    run: &'a Run<'a>,
}

impl Calls for Caller<'_> {
    fn call(&mut self, made: &[Made]) -> Vec<Heard> {
        at_once(made, |one| self.make(one))
    }
}

impl Caller<'_> {
    fn make(&self, made: &Made) -> Heard {
        let run = self.run;
        let mut context = Context {
            session_id: Some(run.session.clone()),
            ..Context::default()
        };
        if let Some(turn) = &made.turn {
            context.more.insert("prompt_id".into(), json!(turn));
        }
        let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        let asked = CallContext {
            agent: "socket".into(),
            session: run.session.clone(),
            tool: made.tool.clone(),
            input: made.input.clone(),
            directory: text(&run.work),
            workspace: text(&run.work),
            config: Some(text(&run.config)),
            context,
        };
        let wait = Some(Duration::from_secs(run.scenario.wait()));
        let places = run.test_home().places();
        if made.killed {
            is_cut_off(&places, asked, made);
            return Heard::said(Word::Refused);
        }
        let held = wire::hold(&places, &asked, wait, Duration::ZERO, &|| made.is_off());
        match held {
            Ok(HoldAnswer::Resolved(resolution)) => Heard {
                method: Some(resolution.method.as_str().to_owned()),
                edited: resolution.edited.map(Value::Object),
                ..Heard::said(match resolution.verdict.runs() {
                    true => Word::Runs,
                    false => Word::Refused,
                })
            },
            Ok(HoldAnswer::StillWaiting { .. }) | Err(_) => Heard::said(Word::Refused),
        }
    }
}

/// Submits a call, and is gone without a word once it is to be killed.
fn is_cut_off(places: &Places, asked: CallContext, made: &Made) {
    let wish = Wish::Hold {
        asked: Box::new(asked),
        nonce: wire::unguessable::<16>().unwrap(),
        before: None,
    };
    let mut stream = UnixStream::connect(places.socket()).unwrap();
    writeln!(stream, "{}", serde_json::to_string(&wish).unwrap()).unwrap();
    let mut reply = String::new();
    BufReader::new(&stream).read_line(&mut reply).unwrap();
    while !made.is_off() {
        sleep(GLANCE);
    }
}
