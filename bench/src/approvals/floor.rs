//! The least that holding a call could cost: bytes over bare sockets, and waits for the disk.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};

use super::milliseconds;

/// Connections of one held call: the caller's, and that of whoever answers.
const CONNECTIONS: usize = 2;
/// Waits for the disk between asking and the answer: in the ledger for the answer and its use together, and
/// with the request for both.
const SYNCS: usize = 2;
/// What is sent, there and back.
const BYTES: usize = 500;
/// What is written before a wait.
const WRITTEN: usize = 4_096;

pub(crate) struct Floor {
    socket: PathBuf,
    file: File,
}

impl Floor {
    /// Starts to send everything back that is sent to a socket in this directory.
    pub(crate) fn start(directory: &Path) -> Result<Self> {
        let socket = directory.join("floor");
        let listener = UnixListener::bind(&socket).context("a bare socket")?;
        // It ends with the program.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = stream.and_then(returned);
            }
        });
        Ok(Self {
            socket,
            file: File::create(directory.join("floor.data"))?,
        })
    }

    /// Milliseconds of the connections of one call, each with one question.
    pub(crate) fn round_trip(&self) -> Result<f64> {
        let mut line = vec![b'x'; BYTES];
        line.push(b'\n');
        let start = Instant::now();
        for _ in 0..CONNECTIONS {
            let mut stream = BufReader::new(UnixStream::connect(&self.socket)?);
            stream.get_mut().write_all(&line)?;
            stream.read_until(b'\n', &mut Vec::new())?;
        }
        Ok(milliseconds(start.elapsed()))
    }

    /// Milliseconds of the waits of one call.
    pub(crate) fn syncs(&mut self) -> Result<f64> {
        let bytes = [b'x'; WRITTEN];
        let start = Instant::now();
        for _ in 0..SYNCS {
            self.file.write_all(&bytes)?;
            self.file.sync_data()?;
        }
        Ok(milliseconds(start.elapsed()))
    }
}

fn returned(stream: UnixStream) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line)?;
    stream.get_mut().write_all(&line)
}
