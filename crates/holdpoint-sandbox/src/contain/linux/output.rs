//! A command's output through the supervisor, which counts it: what fills a disk or a conversation ends.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, RawFd};

use super::sys;
use crate::contain::{Outlet, Stream};

/// The standard streams that are counted.
const STREAMS: [RawFd; 2] = [libc::STDOUT_FILENO, libc::STDERR_FILENO];

/// The pipes of both streams.
pub(super) struct Output<'o> {
    pipes: [Option<(PipeReader, Stream)>; 2],
    ends: Option<[PipeWriter; 2]>,
    left: u64,
    outlet: Option<&'o dyn Outlet>,
}

/// Whether more may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    GoesOn,
    TooMuch,
}

impl<'o> Output<'o> {
    /// Pipes that carry at most so much, to an outlet or to the streams themselves.
    pub(super) fn new(most: u64, outlet: Option<&'o dyn Outlet>) -> io::Result<Self> {
        let (out, out_end) = io::pipe()?;
        let (error, error_end) = io::pipe()?;
        Ok(Self {
            pipes: [Some((out, Stream::Output)), Some((error, Stream::Error))],
            ends: Some([out_end, error_end]),
            left: most,
            outlet,
        })
    }

    /// Inside: what is written goes into the pipes.
    pub(super) fn replace_streams(&self) -> io::Result<()> {
        for (end, stream) in self.ends.iter().flatten().zip(STREAMS) {
            sys::duplicate(end.as_fd(), stream)?;
        }
        Ok(())
    }

    /// Outside: the ends that are written to are the command's alone.
    pub(super) fn leave_ends(&mut self) {
        self.ends = None;
    }

    /// What to wait for, and which of both it is.
    pub(super) fn waited_for(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        let open = self.pipes.iter().enumerate();
        open.filter_map(|(index, pipe)| Some((index, pipe.as_ref()?.0.as_fd())))
    }

    /// Carries what one of them has.
    pub(super) fn carry(&mut self, index: usize) -> Flow {
        let Some(place) = self.pipes.get_mut(index) else {
            return Flow::GoesOn;
        };
        let Some((pipe, stream)) = place else {
            return Flow::GoesOn;
        };
        let mut buffer = [0; 64 << 10];
        let length = match pipe.read(&mut buffer) {
            Ok(0) | Err(_) => {
                *place = None;
                return Flow::GoesOn;
            }
            Ok(length) => length,
        };
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX).min(length);
        self.left = self
            .left
            .saturating_sub(u64::try_from(length).unwrap_or(u64::MAX));
        let bytes = buffer.get(..allowed).unwrap_or_default();
        let carried = match self.outlet {
            Some(outlet) => outlet.take(*stream, bytes),
            None => write(*stream, bytes),
        };
        if carried.is_err() {
            // Whoever read it has gone: the command learns it by its next write.
            *place = None;
        }
        if allowed < length {
            return Flow::TooMuch;
        }
        Flow::GoesOn
    }

    /// Carries what is still in the pipes when everybody who could write has gone.
    pub(super) fn drain(&mut self) -> Flow {
        for index in 0..self.pipes.len() {
            while self.pipes.get(index).is_some_and(Option::is_some) {
                if self.carry(index) == Flow::TooMuch {
                    return Flow::TooMuch;
                }
            }
        }
        Flow::GoesOn
    }
}

fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    let stream = match stream {
        Stream::Output => libc::STDOUT_FILENO,
        Stream::Error => libc::STDERR_FILENO,
    };
    // SAFETY: the descriptor is a standard stream, which is never closed here: the file is not dropped.
    let mut stream = ManuallyDrop::new(unsafe { File::from_raw_fd(stream) });
    stream.write_all(bytes)
}

/// Whether a standard stream is a terminal, which no pipe can stand for.
pub(super) fn on_terminal() -> bool {
    STREAMS.into_iter().any(sys::is_terminal) || sys::is_terminal(io::stdin().as_raw_fd())
}
