//! The two ends a relay writes to, and the questions the editor has yet to answer.

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_engine::{escape_for_display, text_without_secrets};
use holdpoint_mcp::jsonrpc::Id;

use super::permission::Heard;
use super::sessions::EditorSessions;

/// The most questions an editor may have open. One whose time has run out still stands in it.
const MAX_OPEN: usize = 32;

/// What the thread that answers the agent is told.
pub(super) enum ForAgent {
    Line(Vec<u8>),
    /// Nothing more will come.
    Close,
}

/// What all threads of a relay share.
pub(super) struct Wires {
    agent: Mutex<Option<ChildStdin>>,
    answers: SyncSender<ForAgent>,
    /// Whoever waits for an answer of the editor; nobody, once the time for it has run out. None at
    /// all when the editor has gone.
    open: Mutex<Option<HashMap<Id, Option<Sender<Heard>>>>>,
    /// The calls that are held, by the number the agent asked under, and whether it took that back.
    held: Mutex<Vec<(Id, Arc<AtomicBool>)>>,
    agent_gone: AtomicBool,
    pub(super) sessions: EditorSessions,
}

impl Wires {
    pub(super) fn new(agent: Option<ChildStdin>, answers: SyncSender<ForAgent>) -> Self {
        Self {
            agent: Mutex::new(agent),
            answers,
            open: Mutex::new(Some(HashMap::new())),
            held: Mutex::default(),
            agent_gone: AtomicBool::new(false),
            sessions: EditorSessions::default(),
        }
    }

    /// Hands a line to the agent. It may not be reading, and whoever calls this waits for it.
    pub(super) fn to_agent(&self, line: &[u8]) -> io::Result<()> {
        match locked(&self.agent).as_mut() {
            Some(agent) => agent.write_all(line).and_then(|()| agent.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes the answers of a queue, until it is told to close. A thread of its own, since whoever
    /// reads what the agent writes must never wait for the agent to read.
    pub(super) fn answer_from(&self, queue: &Receiver<ForAgent>) {
        while let Ok(ForAgent::Line(line)) = queue.recv() {
            if self.to_agent(&line).is_err() {
                break;
            }
        }
        locked(&self.agent).take();
    }

    /// Answers the agent.
    pub(super) fn answer(&self, line: Vec<u8>) {
        // If nobody takes it the agent has gone, and what has gone runs nothing.
        let _ = self.answers.send(ForAgent::Line(line));
    }

    /// Tells the agent that nothing more will come.
    pub(super) fn close_agent(&self) {
        let _ = self.answers.try_send(ForAgent::Close);
    }

    pub(super) fn to_editor(&self, line: &[u8]) -> io::Result<()> {
        let mut editor = io::stdout().lock();
        editor.write_all(line)?;
        editor.flush()
    }

    /// Opens a question to the editor, where its answer will be heard; none if it cannot be asked.
    pub(super) fn open(&self, id: &Id) -> Result<Receiver<Heard>, &'static str> {
        let mut open = locked(&self.open);
        let Some(open) = open.as_mut() else {
            return Err("the editor has gone");
        };
        if open.contains_key(id) {
            return Err("the agent has asked under this number already");
        }
        if open.len() >= MAX_OPEN {
            return Err("the editor has too many questions open");
        }
        let (sender, receiver) = channel();
        open.insert(id.clone(), Some(sender));
        Ok(receiver)
    }

    /// Whether a response of the editor answers such a question, and not one of the agent's own.
    pub(super) fn hears(&self, id: &Id, heard: impl FnOnce() -> Heard) -> bool {
        let waiting = locked(&self.open).as_mut().and_then(|open| open.remove(id));
        match waiting {
            None => false,
            Some(waiting) => {
                if let Some(waiting) = waiting {
                    let _ = waiting.send(heard());
                }
                true
            }
        }
    }

    /// Nobody waits for this answer any longer; should it come it goes nowhere.
    pub(super) fn give_up(&self, id: &Id) {
        if let Some(waiting) = locked(&self.open)
            .as_mut()
            .and_then(|open| open.get_mut(id))
        {
            *waiting = None;
        }
    }

    /// The editor has gone: whoever waits for it hears so.
    pub(super) fn editor_left(&self) {
        locked(&self.open).take();
    }

    pub(super) fn agent_left(&self) {
        self.agent_gone.store(true, Ordering::Relaxed);
    }

    pub(super) fn agent_is_gone(&self) -> bool {
        self.agent_gone.load(Ordering::Relaxed)
    }

    pub(super) fn editor_is_gone(&self) -> bool {
        locked(&self.open).is_none()
    }

    /// Notes a call that is held; none if there are too many.
    pub(super) fn begin(self: &Arc<Self>, id: &Id) -> Option<HeldCall> {
        let mut held = locked(&self.held);
        if held.len() >= MAX_OPEN {
            return None;
        }
        let taken_back = Arc::new(AtomicBool::new(false));
        held.push((id.clone(), Arc::clone(&taken_back)));
        drop(held);
        let wires = Arc::clone(self);
        Some(HeldCall { wires, taken_back })
    }

    /// The agent no longer wants an answer to what it asked under this number.
    pub(super) fn take_back(&self, id: &Id) {
        let held = locked(&self.held);
        for (_, taken_back) in held.iter().filter(|(known, _)| known == id) {
            taken_back.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until what is held is settled and recorded, for a while.
    pub(super) fn settle(&self, patience: Duration) {
        let started = Instant::now();
        while !locked(&self.held).is_empty() && started.elapsed() < patience {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A call that is held, for as long as this is.
pub(super) struct HeldCall {
    wires: Arc<Wires>,
    taken_back: Arc<AtomicBool>,
}

impl HeldCall {
    /// Whether the agent took the request back, or the editor cancelled what the session is doing.
    pub(super) fn is_cancelled(&self, session: &str) -> bool {
        self.taken_back.load(Ordering::Relaxed) || self.wires.sessions.is_cancelled(session)
    }

    /// Whether nobody wants an answer any more, be it that either side has gone.
    pub(super) fn is_given_up(&self, session: &str) -> bool {
        self.is_cancelled(session) || self.wires.agent_is_gone() || self.wires.editor_is_gone()
    }
}

impl Drop for HeldCall {
    fn drop(&mut self) {
        let mut held = locked(&self.wires.held);
        held.retain(|(_, taken_back)| !Arc::ptr_eq(taken_back, &self.taken_back));
    }
}

/// Tells whoever reads the log of the editor, in one line without secrets.
pub(super) fn tell(text: &str) {
    let text = escape_for_display(&text_without_secrets(text), 500);
    let _ = writeln!(io::stderr(), "holdpoint: acp: {text}");
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
