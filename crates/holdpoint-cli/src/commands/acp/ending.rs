//! How a relay ends: with its agent, or because the editor has closed its end.

use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::wires::Wires;
use crate::commands::relayed_program::{exit_code, over};
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
    status.map_or(Exit::Error.into(), exit_code)
}
