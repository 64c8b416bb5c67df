//! `holdpoint acp`: stands between an editor and its agent and answers what the agent asks.
//!
//! Both speak the Agent Client Protocol: one JSON-RPC message a line. Every line goes through as it
//! is, apart from `session/request_permission` and the editor's answer to one that was held. What
//! cannot be read goes nowhere: the two ends might read it differently.

mod described;
mod dialog;
mod ending;
mod gate;
mod permission;
mod sessions;
mod wires;

use std::ffi::OsString;
use std::io;
use std::process::{ChildStdout, Command, Stdio};
use std::str;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;

use holdpoint_mcp::jsonrpc::{Id, MAX_LINE, Message, not_read, response};

use self::dialog::Dialog;
use self::ending::End;
use self::gate::{Gate, Ruling};
use self::permission::{Heard, METHOD, Options, TAKES_BACK, taken_back};
use self::wires::{HeldCall, Wires, tell};
use crate::commands::serve::not_for_agents;
use crate::exit::Exit;
use crate::lines::{Line, Lines};

/// The most answers that wait for the agent to read; then whoever writes waits, as on any full pipe.
const MAX_ANSWERS: usize = 1024;

/// Runs an agent for an editor; its exit code is ours.
pub(crate) fn run(command: &[OsString]) -> u8 {
    let Some((program, arguments)) = command.split_first() else {
        return Exit::Error.into();
    };
    // Whoever starts it is the editor, and answers for the person.
    if let Err(error) = not_for_agents("answer as an editor") {
        tell(&error.to_string());
        return Exit::Error.into();
    }
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let name = program.to_string_lossy();
            tell(&format!("`{name}` cannot be started ({})", error.kind()));
            return Exit::Error.into();
        }
    };
    let (answers, queue) = sync_channel(MAX_ANSWERS);
    let wires = Arc::new(Wires::new(child.stdin.take(), answers));
    let (ends, ended) = channel();
    if let Some(output) = child.stdout.take() {
        follow(&wires, &ends, End::Agent, move |wires| {
            from_agent(wires, output)
        });
    }
    follow(&wires, &ends, End::Editor, from_editor);
    let answering = Arc::clone(&wires);
    thread::spawn(move || answering.answer_from(&queue));
    ending::wait(child, &wires, &ended)
}

/// Starts a thread that says when it has come to its end.
fn follow(
    wires: &Arc<Wires>,
    ends: &Sender<End>,
    end: End,
    relay: impl FnOnce(&Arc<Wires>) + Send + 'static,
) {
    let (wires, ends) = (Arc::clone(wires), ends.clone());
    thread::spawn(move || {
        relay(&wires);
        match end {
            End::Agent => wires.agent_left(),
            End::Editor => wires.editor_left(),
        }
        let _ = ends.send(end);
    });
}

/// Relays what the editor says, until it says no more or nobody listens.
fn from_editor(wires: &Arc<Wires>) {
    let mut lines = Lines::new(io::stdin(), MAX_LINE);
    while let Ok(came) = lines.next() {
        let handed = match read(came, &mut lines.line) {
            Came::End => return,
            Came::Nothing => Ok(()),
            Came::Unread(problem) => {
                tell(&format!("a line of the editor was kept back: {problem}"));
                wires.to_editor(&not_read(problem))
            }
            Came::Message(message, line) => {
                wires.sessions.editor_says(&message);
                let answers = message.method.is_none()
                    && message
                        .id()
                        .is_some_and(|id| wires.hears(&id, || Heard::read(message.result)));
                match answers {
                    true => Ok(()),
                    false => wires.to_agent(line.as_bytes()),
                }
            }
        };
        if handed.is_err() {
            return;
        }
    }
}

/// Relays what the agent says, and answers what is not for the editor.
fn from_agent(wires: &Arc<Wires>, output: ChildStdout) {
    let mut gate = Gate::new();
    let mut lines = Lines::new(output, MAX_LINE);
    while let Ok(came) = lines.next() {
        let handed = match read(came, &mut lines.line) {
            Came::End => return,
            Came::Nothing => Ok(()),
            Came::Unread(problem) => {
                tell(&format!("a line of the agent was kept back: {problem}"));
                wires.answer(not_read(problem));
                Ok(())
            }
            Came::Message(message, line) => match message.method.as_deref() {
                Some(METHOD) => asked(wires, &mut gate, &message, line),
                Some(method) => {
                    if let (TAKES_BACK, Some(id)) = (method, taken_back(message.params)) {
                        wires.take_back(&id);
                    }
                    wires.to_editor(line.as_bytes())
                }
                None => {
                    wires.sessions.agent_answers(&message);
                    wires.to_editor(line.as_bytes())
                }
            },
        };
        if handed.is_err() {
            return;
        }
    }
}

/// Does what is to be done with a request for permission.
fn asked(wires: &Arc<Wires>, gate: &mut Gate, message: &Message<'_>, line: &str) -> io::Result<()> {
    let Some(id) = message.id() else {
        let problem = "a request for permission has no number it could be answered under";
        tell(&format!("refused: {problem}"));
        wires.answer(not_read(problem));
        return Ok(());
    };
    let (options, permission) = permission::read(message.params);
    match (gate.judge(wires, permission), options.allow_once()) {
        // What is not offered cannot be chosen: the editor sees for itself.
        (Ruling::Pass, _) | (Ruling::Allow, None) => return wires.to_editor(line.as_bytes()),
        (Ruling::Allow, Some(outcome)) => wires.answer(response(&id, &outcome)),
        (Ruling::Refuse, _) => wires.answer(response(&id, &options.refusal())),
        (Ruling::Hold(held), _) => match wires.begin(&id) {
            Some(call) => hold(wires, held, call, id, options, line.to_owned()),
            None => {
                tell("refused: too many calls are held already");
                wires.answer(response(&id, &options.refusal()));
            }
        },
    }
    Ok(())
}

/// Holds a call in a thread of its own: the agent has more to say meanwhile.
fn hold(
    wires: &Arc<Wires>,
    held: Box<gate::Held>,
    call: HeldCall,
    id: Id,
    options: Options,
    line: String,
) {
    let wires = Arc::clone(wires);
    thread::spawn(move || {
        let dialog = Dialog {
            wires: &wires,
            id: &id,
            line: &line,
            options: &options,
            asked: false,
            cancelled: false,
        };
        let outcome = held.settled(dialog, &call, &options);
        wires.answer(response(&id, &outcome));
        drop(call);
    });
}

/// What one side sent.
enum Came<'a> {
    /// A message, and the line it stands in, with its end.
    Message(Message<'a>, &'a str),
    Unread(&'static str),
    /// White space.
    Nothing,
    End,
}

fn read(came: Line, line: &mut Vec<u8>) -> Came<'_> {
    match came {
        Line::End => return Came::End,
        Line::TooLong => return Came::Unread("it is longer than 16 MiB"),
        Line::Whole => line.push(b'\n'),
    }
    let Ok(text) = str::from_utf8(line) else {
        return Came::Unread("it is not UTF-8 text");
    };
    match Message::read(text) {
        Some(message) => Came::Message(message, text),
        None if text.trim().is_empty() => Came::Nothing,
        None => Came::Unread("it is no JSON-RPC message, or names a field twice"),
    }
}
