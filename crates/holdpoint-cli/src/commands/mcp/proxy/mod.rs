//! `holdpoint mcp proxy`: stands between a client and a server, and gates the server's tools.
//!
//! Three threads relay: one reads the client, one the server, and one hands the server what the second has
//! to tell it. A call that waits for a person has one of its own. Nothing but the ends of the two is waited
//! for here.

mod client;
mod gate;
mod open;
mod server;
mod wires;

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use holdpoint_engine::Locations;
use holdpoint_engine::pipeline::ToolResult;
use holdpoint_mcp::{ServerName, error};
use holdpoint_sandbox::interrupt;

use self::gate::Gate;
use self::open::{Running, Stage};
use self::wires::{Wires, tell};
use super::pin_store::PinStore;
use crate::cli::McpProxy;
use crate::commands::relayed_program::{exit_code, over};
use crate::exit::Exit;

/// How often it is looked whether the server still runs, or this program was told to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// How long calls that are held may take to be settled and recorded.
const TO_SETTLE: Duration = Duration::from_secs(3);

/// How long the last words of a server that has ended are waited for; a program it left behind may keep
/// them open for ever.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The most refusals that wait for the server to read them.
const MAX_REFUSALS: usize = 256;

/// What a client is told of requests its server has left behind.
const SERVER_GONE: i32 = -32000;

/// Runs a server for a client; its exit code is ours.
pub(crate) fn run(args: &McpProxy) -> u8 {
    match started(args) {
        Ok(code) => code,
        Err(problem) => {
            tell(&format!("{problem:#}"));
            Exit::Error.into()
        }
    }
}

/// Which side has no more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Server,
    Client,
}

fn started(args: &McpProxy) -> anyhow::Result<u8> {
    let Some((program, arguments)) = args.server.split_first() else {
        bail!("no server is named: holdpoint mcp proxy -- SERVER ARGS");
    };
    let words: Vec<String> = args.server.iter().map(as_text).collect();
    let server = named(args.name.as_deref(), &words)?;
    let locations = Locations::of_this_machine();
    let pins = PinStore::of_server(&locations, &server, &words)?;
    let gate = Gate::new(&locations, server, args.session.clone(), pins)?;
    interrupt::listen().context("signals cannot be listened to")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let name = program.to_string_lossy();
            anyhow::anyhow!("`{name}` cannot be started ({})", error.kind())
        })?;
    let (refusals, queue) = sync_channel(MAX_REFUSALS);
    let wires = Arc::new(Wires::new(child.stdin.take(), refusals, gate));
    let (ends, ended) = channel();
    if let Some(output) = child.stdout.take() {
        let relayed = move |wires: &Arc<Wires>| server::relay(wires, output);
        follow(&wires, &ends, End::Server, relayed);
    }
    let relayed = |wires: &Arc<Wires>| client::relay(wires, io::stdin());
    follow(&wires, &ends, End::Client, relayed);
    let telling = Arc::downgrade(&wires);
    thread::spawn(move || tell_from(&queue, &telling));
    Ok(wait(child, &wires, &ended))
}

fn as_text(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

/// The name the server goes by.
fn named(given: Option<&str>, command: &[String]) -> anyhow::Result<ServerName> {
    let named = match given {
        Some(name) => ServerName::new(name),
        None => ServerName::of_command(command),
    };
    match (named, given) {
        (Some(name), _) => Ok(name),
        (None, Some(name)) => bail!(
            "`{name}` is no name for a server: use letters, digits, `-`, `.` and single `_` inside"
        ),
        (None, None) => bail!("the server has no name: give it one with --name"),
    }
}

/// Starts a thread that says when it has come to its end.
fn follow(
    wires: &Arc<Wires>,
    ends: &Sender<End>,
    end: End,
    relay: impl FnOnce(&Arc<Wires>) -> io::Result<()> + Send + 'static,
) {
    let (wires, ends) = (Arc::clone(wires), ends.clone());
    thread::spawn(move || {
        // Whoever cannot be written to has gone, and its other end says so.
        let _ = relay(&wires);
        let _ = ends.send(end);
    });
}

/// Hands the server what it is told, for as long as there is anybody to tell it.
fn tell_from(queue: &Receiver<Vec<u8>>, wires: &std::sync::Weak<Wires>) {
    while let Ok(line) = queue.recv() {
        let Some(wires) = wires.upgrade() else { return };
        let text = String::from_utf8_lossy(&line);
        let told = wires.to_server(text.trim_end());
        if told.and_then(|()| wires.flush_server()).is_err() {
            return;
        }
    }
}

/// Waits for the end of either side, ends the server in good order, and gives its exit code.
fn wait(mut child: Child, wires: &Wires, ended: &Receiver<End>) -> u8 {
    let ending = loop {
        match ended.recv_timeout(GLANCE) {
            Ok(end) => break Some(end),
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {
                if interrupt::was_told() || !matches!(child.try_wait(), Ok(None)) {
                    break None;
                }
            }
        }
    };
    // What waits for a person is taken back: there is nobody left to run it, or to hear of it.
    wires.client_left();
    wires.settle_held(TO_SETTLE);
    wires.close_server();
    let status = over(&mut child);
    let started = Instant::now();
    let mut heard = ending == Some(End::Server);
    while !heard && started.elapsed() < LAST_WORDS {
        heard = matches!(ended.recv_timeout(LAST_WORDS), Ok(End::Server));
    }
    leave_behind(wires);
    status.map_or(Exit::Error.into(), exit_code)
}

/// Ends what the server has not answered: the record says that nobody knows what came of it, and the client
/// does not wait.
fn leave_behind(wires: &Wires) {
    for id in wires.open.all() {
        let Some(request) = wires.open.end(&id) else {
            continue;
        };
        if let Stage::Runs(running) = request.stage {
            let Running {
                permit, started, ..
            } = *running;
            wires.gate.ran(permit, started, ToolResult::Cancelled);
        }
        let answer = error(&id, SERVER_GONE, "the server has ended without an answer");
        if wires.answer(request.batch.as_ref(), &answer).is_err() {
            return;
        }
    }
    let _ = wires.flush_client();
}
