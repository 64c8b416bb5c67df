//! The two ends a proxy writes to.

use std::io::{self, BufWriter, Stdout, Write};
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_engine::{escape_for_display, text_without_secrets};
use holdpoint_mcp::jsonrpc::Id;

use super::gate::Gate;
use super::open::{Batch, OpenRequests, Request};

/// How long whoever writes to the server is waited for before its end is closed: it may not be reading.
const TO_CLOSE: Duration = Duration::from_secs(1);

/// What all threads of a proxy share.
pub(super) struct Wires {
    server: Mutex<Option<BufWriter<ChildStdin>>>,
    client: Mutex<BufWriter<Stdout>>,
    client_gone: AtomicBool,
    /// What the server is told besides what the client says. Whoever reads the server must not wait for it
    /// to read.
    refusals: SyncSender<Vec<u8>>,
    /// How many calls wait for people.
    pub(super) held: AtomicUsize,
    pub(super) open: OpenRequests,
    pub(super) gate: Gate,
}

impl Wires {
    pub(super) fn new(
        server: Option<ChildStdin>,
        refusals: SyncSender<Vec<u8>>,
        gate: Gate,
    ) -> Self {
        Self {
            server: Mutex::new(server.map(BufWriter::new)),
            client: Mutex::new(BufWriter::with_capacity(1 << 16, io::stdout())),
            client_gone: AtomicBool::new(false),
            refusals,
            held: AtomicUsize::new(0),
            open: OpenRequests::default(),
            gate,
        }
    }

    /// Hands a message to the server, which may have to be flushed. It may not be reading, and whoever calls
    /// this waits for it.
    pub(super) fn to_server(&self, message: &str) -> io::Result<()> {
        match locked(&self.server).as_mut() {
            Some(server) => {
                server.write_all(message.as_bytes())?;
                server.write_all(b"\n")
            }
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    pub(super) fn flush_server(&self) -> io::Result<()> {
        match locked(&self.server).as_mut() {
            Some(server) => server.flush(),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Tells the server something when it reads. One that does not is not told everything.
    pub(super) fn tell_server(&self, line: Vec<u8>) {
        let _ = self.refusals.try_send(line);
    }

    /// Hands a message to the client, which may have to be flushed.
    pub(super) fn to_client(&self, message: &[u8]) -> io::Result<()> {
        let mut client = locked(&self.client);
        client.write_all(message.trim_ascii_end())?;
        client.write_all(b"\n")
    }

    pub(super) fn flush_client(&self) -> io::Result<()> {
        locked(&self.client).flush()
    }

    /// Answers a request, by itself or with the batch it came in.
    pub(super) fn answer(&self, batch: Option<&Arc<Batch>>, answer: &[u8]) -> io::Result<()> {
        match batch {
            None => self.to_client(answer),
            Some(batch) => match batch.add(Some(answer)) {
                Some(line) => self.to_client(&line),
                None => Ok(()),
            },
        }
    }

    /// Answers a call that began with `held` and does not run. One that was taken back is not answered.
    pub(super) fn settle(&self, id: &Id, held: &Arc<AtomicBool>, answer: &[u8]) -> io::Result<()> {
        match self.open.end_held(id, held) {
            Some(Request { batch, .. }) => self.answer(batch.as_ref(), answer),
            None => Ok(()),
        }
    }

    /// A request of a batch will not be answered.
    pub(super) fn give_up(&self, batch: Option<&Arc<Batch>>) -> io::Result<()> {
        match batch.and_then(|batch| batch.add(None)) {
            Some(line) => self.to_client(&line),
            None => Ok(()),
        }
    }

    pub(super) fn client_left(&self) {
        self.client_gone.store(true, Ordering::Relaxed);
    }

    pub(super) fn client_is_gone(&self) -> bool {
        self.client_gone.load(Ordering::Relaxed)
    }

    /// Tells the server that nothing more will come.
    pub(super) fn close_server(&self) {
        let started = Instant::now();
        loop {
            match self.server.try_lock() {
                Ok(mut server) => {
                    // Dropped, it is flushed and closed.
                    server.take();
                    return;
                }
                Err(TryLockError::Poisoned(error)) => {
                    error.into_inner().take();
                    return;
                }
                Err(TryLockError::WouldBlock) if started.elapsed() < TO_CLOSE => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => return,
            }
        }
    }

    /// Waits until what is held is settled and recorded, for a while.
    pub(super) fn settle_held(&self, patience: Duration) {
        let started = Instant::now();
        while !(self.open.nothing_is_held() && self.held.load(Ordering::Relaxed) == 0)
            && started.elapsed() < patience
        {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Tells whoever reads the log of the client, in one line without secrets.
pub(super) fn tell(text: &str) {
    let text = escape_for_display(&text_without_secrets(text), 500);
    let _ = writeln!(io::stderr(), "holdpoint: mcp: {text}");
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
