//! How a relay ends: with its agent, or because the editor has closed its end.

use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_sandbox::children;

use super::wires::Wires;
use crate::exit::Exit;

/// Which side has no more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Agent,
    Editor,
}

/// How often it is looked whether the agent still runs.
const GLANCE: Duration = Duration::from_millis(50);

/// How long calls that are held may take to be settled and recorded.
const TO_SETTLE: Duration = Duration::from_secs(3);

/// How long an agent may take to end once its input is closed, and again once it is asked to.
const GRACE: Duration = Duration::from_secs(3);

/// How long the last words of an agent that has ended are waited for; a program it left behind may
/// keep them open for ever.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Waits for the end of either side, ends the agent in good order, and gives its exit code.
pub(super) fn wait(mut child: Child, wires: &Wires, ended: &Receiver<End>) -> u8 {
    let ending = loop {
        match ended.recv_timeout(GLANCE) {
            Ok(end) => break Some(end),
            Err(RecvTimeoutError::Timeout) if matches!(child.try_wait(), Ok(None)) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break None,
        }
    };
    let mut agent_is_heard = ending == Some(End::Agent);
    if matches!(child.try_wait(), Ok(Some(_))) {
        wires.agent_left();
    }
    wires.settle(TO_SETTLE);
    wires.close_agent();
    let status = over(&mut child);
    wires.agent_left();
    let started = Instant::now();
    while !agent_is_heard && started.elapsed() < LAST_WORDS {
        agent_is_heard = matches!(ended.recv_timeout(LAST_WORDS), Ok(End::Agent));
    }
    wires.settle(TO_SETTLE);
    status.map_or(Exit::Error.into(), code)
}

/// The end of an agent whose input is closed: by itself, when it is asked, or by force.
fn over(child: &mut Child) -> Option<ExitStatus> {
    if let Some(status) = within(child, GRACE) {
        return Some(status);
    }
    children::ask_to_end(child);
    if let Some(status) = within(child, GRACE) {
        return Some(status);
    }
    let _ = child.kill();
    child.wait().ok()
}

fn within(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if started.elapsed() < patience => thread::sleep(GLANCE),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// An exit code as shells count them.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let number = status.code().or(signal.map(|signal| 128 + signal));
    let number = number.and_then(|number| u8::try_from(number).ok());
    number.unwrap_or(Exit::Error.into())
}
