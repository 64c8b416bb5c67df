//! `holdpoint run --inspect`: what a command writes, inspected and freed of secrets on its way out.
//!
//! A thread of its own looks at it, since a sandbox is served by one that must not wait: it is started with the first bytes,
//! when the sandbox stands. Lines that come together are looked at together.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use holdpoint_engine::containing::{Outlet, Stream};
use holdpoint_engine::inspecting::{Passed, TextStream};
use holdpoint_engine::{Locations, Policy, escape_for_display};

use super::{MAX_SHOWN, OWN_NAME, tell};

/// How long lines are gathered before they are looked at: whoever looks on does not notice, and a line that is written word by
/// word is looked at whole.
const GATHERED: Duration = Duration::from_millis(100);

/// The most that is gathered: beyond it what came is looked at at once.
const MAX_GATHERED: usize = 256 << 10;

/// How many reads may wait for the one that looks: then the command waits, too.
const MAX_WAITING: usize = 8;

/// What is needed to look at output.
pub(super) struct Inspector {
    policy: Arc<Policy>,
    directory: PathBuf,
    worker: RefCell<Option<Worker>>,
}

struct Worker {
    bytes: SyncSender<(Stream, Vec<u8>)>,
    /// The streams that nobody reads any more.
    closed: Arc<[AtomicBool; 2]>,
    thread: JoinHandle<()>,
}

impl Inspector {
    pub(super) fn new(policy: Arc<Policy>, directory: PathBuf) -> Self {
        Self {
            policy,
            directory,
            worker: RefCell::new(None),
        }
    }

    /// Passes on what is left. Whatever was not looked at stays behind.
    pub(super) fn finish(self) {
        if let Some(worker) = self.worker.into_inner() {
            drop(worker.bytes);
            if worker.thread.join().is_err() {
                tell("its output could not be inspected to the end: the rest is kept back");
            }
        }
    }

    fn start(&self) -> io::Result<Worker> {
        let (bytes, coming) = sync_channel(MAX_WAITING);
        let closed = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let (policy, directory) = (Arc::clone(&self.policy), self.directory.clone());
        let are_closed = Arc::clone(&closed);
        let thread = thread::Builder::new().spawn(move || {
            let directory = directory.to_string_lossy();
            let locations = Locations::of_this_machine();
            let text = TextStream::new(&locations, policy, OWN_NAME, &directory);
            look(text, &coming, &are_closed);
        })?;
        Ok(Worker {
            bytes,
            closed,
            thread,
        })
    }
}

impl Outlet for Inspector {
    fn take(&self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let mut worker = self.worker.borrow_mut();
        let worker = match &mut *worker {
            Some(worker) => worker,
            none => none.insert(self.start()?),
        };
        let is_closed = flag(&worker.closed, stream).load(Ordering::Relaxed);
        let sent = worker.bytes.send((stream, bytes.to_vec()));
        match is_closed || sent.is_err() {
            true => Err(io::ErrorKind::BrokenPipe.into()),
            false => Ok(()),
        }
    }
}

fn flag(closed: &[AtomicBool; 2], stream: Stream) -> &AtomicBool {
    let [output, error] = closed;
    match stream {
        Stream::Output => output,
        Stream::Error => error,
    }
}

/// Looks at what comes until nothing more does.
fn look(mut text: TextStream<'_>, coming: &Receiver<(Stream, Vec<u8>)>, closed: &[AtomicBool; 2]) {
    let (mut output, mut error) = (Vec::new(), Vec::new());
    let mut due: Option<Instant> = None;
    loop {
        let heard = match due {
            Some(due) => coming.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => coming.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let at_end = heard == Err(RecvTimeoutError::Disconnected);
        if let Ok((stream, bytes)) = heard {
            match stream {
                Stream::Output => output.extend(bytes),
                Stream::Error => error.extend(bytes),
            }
            due.get_or_insert_with(|| Instant::now() + GATHERED);
        }
        let is_full = output.len().max(error.len()) >= MAX_GATHERED;
        let is_due = due.is_some_and(|due| due <= Instant::now());
        if at_end || is_full || is_due {
            for (stream, written) in [(Stream::Output, &mut output), (Stream::Error, &mut error)] {
                if !hand_on(stream, text.pass(written, at_end)) {
                    flag(closed, stream).store(true, Ordering::Relaxed);
                }
            }
            due = None;
        }
        if at_end {
            return;
        }
    }
}

/// Hands on what passes; false if nobody reads it.
fn hand_on(stream: Stream, passed: Passed) -> bool {
    if let Some(note) = &passed.note {
        tell(&escape_for_display(note, MAX_SHOWN));
    }
    let written = |to: &mut dyn Write| to.write_all(&passed.bytes).and_then(|()| to.flush());
    match stream {
        Stream::Output => written(&mut io::stdout().lock()),
        Stream::Error => written(&mut io::stderr().lock()),
    }
    .is_ok()
}
