//! What the client says: passed on as it is, but for calls of tools, which are judged first.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use holdpoint_engine::pipeline::{Judged, Permit, ToolResult};
use holdpoint_mcp::jsonrpc::{Frame, Id, Kind, MAX_LINE, Message, not_read, one_line};
use holdpoint_mcp::{Call, cancelled_id, denial, error};

use super::gate::{Refused, Ruling};
use super::open::{Answer, Batch, Running, Stage};
use super::wires::{Wires, tell};
use crate::lines::{Line, Lines};

const CALLS_A_TOOL: &str = "tools/call";

/// The most calls that wait for people at once: each has a thread, and nobody answers more.
const MAX_HELD: usize = 32;

/// What JSON-RPC has for a request that is none, and for one with other arguments than it takes.
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// Why a call that was called off does not run.
const CALLED_OFF: &str = "the call was taken back before it ran";

/// Relays what the client says, until it says no more or nobody listens.
pub(super) fn relay(wires: &Arc<Wires>, input: impl Read) -> io::Result<()> {
    let mut lines = Lines::new(input, MAX_LINE);
    loop {
        let came = lines.next()?;
        match came {
            Line::End => break,
            Line::TooLong => unread(wires, None, "it is longer than 16 MiB")?,
            Line::Whole => line(wires, &lines.line)?,
        }
        // Whoever sends many at once is not made to wait for each.
        if !lines.has_whole_line() {
            wires.flush_server()?;
            wires.flush_client()?;
        }
    }
    wires.flush_server()
}

fn line(wires: &Arc<Wires>, line: &[u8]) -> io::Result<()> {
    let text = match one_line(line) {
        Ok(text) => text,
        Err(problem) => return unread(wires, None, problem),
    };
    match Frame::read(&text) {
        Ok(Frame::Nothing) => Ok(()),
        Ok(Frame::Single(text)) => message(wires, text, None),
        Ok(Frame::Batch(texts)) => {
            let wanted = texts.iter().filter(|text| is_answered(text)).count();
            let batch = (wanted > 0).then(|| Arc::new(Batch::of(wanted)));
            let mut texts = texts.into_iter();
            texts.try_for_each(|text| message(wires, text, batch.as_ref()))
        }
        Err(problem) => unread(wires, None, problem),
    }
}

/// Whether a message of a batch is answered, be it only that it cannot be read.
fn is_answered(text: &str) -> bool {
    match Message::read(text).and_then(|message| message.kind()) {
        Some(Kind::Request) | None => true,
        Some(Kind::Notification | Kind::Response) => false,
    }
}

fn unread(wires: &Wires, batch: Option<&Arc<Batch>>, problem: &str) -> io::Result<()> {
    tell(&format!("a line of the client was kept back: {problem}"));
    wires.answer(batch, &not_read(problem))
}

fn message(wires: &Arc<Wires>, text: &str, batch: Option<&Arc<Batch>>) -> io::Result<()> {
    let Some((message, kind)) = Message::read(text).and_then(|it| it.kind().map(|kind| (it, kind)))
    else {
        return unread(
            wires,
            batch,
            "it is no JSON-RPC message, or two readers could read two",
        );
    };
    match (kind, message.method.as_deref(), message.id()) {
        (Kind::Request, Some(CALLS_A_TOOL), Some(id)) => call(wires, text, &message, &id, batch),
        (Kind::Request, Some(method), Some(id)) => {
            let passed = Stage::Passed(Answer::to(method));
            match wires.open.begin(&id, passed, batch, 0) {
                Ok(()) => wires.to_server(text),
                Err(problem) => wires.answer(batch, &error(&id, INVALID_REQUEST, problem)),
            }
        }
        (Kind::Request, _, _) => unread(
            wires,
            batch,
            "a request is named by a whole number or a text",
        ),
        (Kind::Notification, Some(CALLS_A_TOOL), _) => {
            let problem = "a call of a tool that wants no answer cannot be refused, so none runs";
            wires.gate.record_failure(None, problem);
            tell(problem);
            Ok(())
        }
        (Kind::Notification, Some("notifications/cancelled"), _) => {
            take_back(wires, text, cancelled_id(message.params))
        }
        (Kind::Notification | Kind::Response, _, _) => wires.to_server(text),
    }
}

/// A call that is open.
struct Begun {
    id: Id,
    /// What tells it apart from a later one of the same name, and is true once it was taken back.
    held: Arc<AtomicBool>,
}

/// Judges a call, and has the server run it, a person asked, or the model told why it does not run.
fn call(
    wires: &Arc<Wires>,
    text: &str,
    message: &Message<'_>,
    id: &Id,
    batch: Option<&Arc<Batch>>,
) -> io::Result<()> {
    let asked = match Call::read(wires.gate.server(), message.params) {
        Ok(asked) => asked,
        Err(problem) => {
            let problem = problem.to_string();
            wires.gate.record_failure(None, &problem);
            return wires.answer(batch, &error(id, INVALID_PARAMS, &problem));
        }
    };
    let begun = Begun {
        id: id.clone(),
        held: Arc::new(AtomicBool::new(false)),
    };
    let held = Stage::Held(Arc::clone(&begun.held));
    if let Err(problem) = wires.open.begin(id, held, batch, text.len()) {
        wires.gate.failed(&asked.call, problem);
        return wires.answer(batch, &error(id, INVALID_REQUEST, problem));
    }
    // Whoever decides may take a while, and those before this one should not wait for that.
    wires.flush_server()?;
    match wires.gate.judge(&asked) {
        Ruling::Runs(permit) => run(wires, text, message, &begun, &asked, *permit),
        Ruling::Refused(refused) => refuse(wires, &begun, &asked, &refused),
        Ruling::Hold(judged) => hold(wires, text, begun, asked, judged),
    }
}

/// Hands a call to the server, with the arguments it is to run with.
fn run(
    wires: &Wires,
    text: &str,
    message: &Message<'_>,
    begun: &Begun,
    asked: &Call,
    permit: Permit,
) -> io::Result<()> {
    let other = permit.was_edited().then(|| {
        let arguments = permit.call().input();
        Call::with_arguments(text, message.params, arguments)
    });
    let text = match &other {
        None => text,
        Some(Some(edited)) => edited,
        Some(None) => {
            let refused = wires
                .gate
                .failed(&asked.call, "its arguments cannot be changed");
            return refuse(wires, begun, asked, &refused);
        }
    };
    let running = Box::new(Running {
        permit,
        started: Instant::now(),
        modern: asked.modern,
    });
    match wires.open.runs(&begun.id, &begun.held, running) {
        Ok(()) => wires.to_server(text),
        Err(_) => {
            wires.gate.record_failure(Some(&asked.call), CALLED_OFF);
            Ok(())
        }
    }
}

fn refuse(wires: &Wires, begun: &Begun, asked: &Call, refused: &Refused) -> io::Result<()> {
    let said = Some(&refused.permission);
    let answer = denial(&begun.id, &refused.text, said, asked.modern);
    wires.settle(&begun.id, &begun.held, &answer)
}

/// Holds a call in a thread of its own: the client has more to say meanwhile.
fn hold(
    wires: &Arc<Wires>,
    text: &str,
    begun: Begun,
    asked: Call,
    judged: Box<Judged>,
) -> io::Result<()> {
    if wires.held.fetch_add(1, Ordering::Relaxed) >= MAX_HELD {
        wires.held.fetch_sub(1, Ordering::Relaxed);
        let refused = wires.gate.failed(
            &asked.call,
            "32 calls wait for people already: wait for them first",
        );
        return refuse(wires, &begun, &asked, &refused);
    }
    let (waiting, text) = (Arc::clone(wires), text.to_owned());
    thread::spawn(move || {
        let wires = waiting;
        let given_up = || begun.held.load(Ordering::Relaxed) || wires.client_is_gone();
        let ruling = wires.gate.held(*judged, &asked, &given_up);
        let handed = match (ruling, Message::read(&text)) {
            (Ruling::Runs(permit), Some(message)) if !given_up() => {
                run(&wires, &text, &message, &begun, &asked, *permit)
            }
            (Ruling::Refused(refused), _) => refuse(&wires, &begun, &asked, &refused),
            (Ruling::Runs(_) | Ruling::Hold(_), _) => {
                let refused = wires.gate.failed(&asked.call, CALLED_OFF);
                refuse(&wires, &begun, &asked, &refused)
            }
        };
        // Whoever has gone is told nothing more; the reader of its end sees that it has.
        let _ = handed.and_then(|()| wires.flush_server());
        let _ = wires.flush_client();
        wires.held.fetch_sub(1, Ordering::Relaxed);
    });
    Ok(())
}

/// The client no longer wants an answer. A server that has never heard of a call need not hear of that.
fn take_back(wires: &Wires, text: &str, id: Option<Id>) -> io::Result<()> {
    let ended = id.and_then(|id| wires.open.end(&id));
    let Some(ended) = ended else {
        return wires.to_server(text);
    };
    wires.give_up(ended.batch.as_ref())?;
    match ended.stage {
        Stage::Held(_) => Ok(()),
        Stage::Passed(_) => wires.to_server(text),
        Stage::Runs(running) => {
            let Running {
                permit, started, ..
            } = *running;
            wires.gate.ran(permit, started, ToolResult::Cancelled);
            wires.to_server(text)
        }
    }
}
