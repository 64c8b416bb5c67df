//! A connection that is not waited for without end.
//!
//! A request must be answered within a time from its first byte, however slowly the rest of it comes;
//! between two requests, and while an answer is not taken, a connection may be silent for a while. An
//! event stream writes now and then and so lives on.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::server::TlsStream;

use super::seats::Seat;

/// How long what may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// From the first byte of a request to the first of its answer.
    request: Duration,
    /// Nothing at all.
    silence: Duration,
}

/// How long what may take here.
pub(super) const USUAL: Patience = Patience {
    request: Duration::from_secs(60),
    silence: Duration::from_secs(75),
};

/// What is behind a connection.
pub(super) enum Wire {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// A connection with an end to patience, and its place among those there may be.
pub(super) struct Connection {
    wire: Wire,
    patience: Patience,
    deadline: Pin<Box<Sleep>>,
    /// Whether a request has begun that was not answered yet.
    asked: bool,
    place: Seat,
}

impl Connection {
    pub(super) fn new(wire: Wire, patience: Patience, place: Seat) -> Self {
        Self {
            wire,
            deadline: Box::pin(sleep(patience.silence)),
            patience,
            asked: false,
            place,
        }
    }

    fn allow(&mut self, time: Duration) {
        self.deadline.as_mut().reset(Instant::now() + time);
    }

    /// Pending, unless the time is up, or somebody else has the place.
    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if self.place.poll_lost(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Counts what was written as an answer.
    fn written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending => self.wait(context),
            Poll::Ready(done) => {
                self.asked = false;
                self.place.answered();
                let time = self.patience.silence;
                self.allow(time);
                Poll::Ready(done)
            }
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = match &mut self.wire {
            Wire::Plain(wire) => Pin::new(wire).poll_read(context, buffer),
            Wire::Secure(wire) => Pin::new(wire).poll_read(context, buffer),
        };
        if read.is_pending() {
            return self.wait(context);
        }
        if buffer.filled().len() > before && !self.asked {
            self.asked = true;
            let time = self.patience.request;
            self.allow(time);
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.wire {
            Wire::Plain(wire) => Pin::new(wire).poll_write(context, bytes),
            Wire::Secure(wire) => Pin::new(wire).poll_write(context, bytes),
        };
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.wire {
            Wire::Plain(wire) => Pin::new(wire).poll_write_vectored(context, slices),
            Wire::Secure(wire) => Pin::new(wire).poll_write_vectored(context, slices),
        };
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.wire {
            Wire::Plain(wire) => wire.is_write_vectored(),
            Wire::Secure(wire) => wire.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = match &mut self.wire {
            Wire::Plain(wire) => Pin::new(wire).poll_flush(context),
            Wire::Secure(wire) => Pin::new(wire).poll_flush(context),
        };
        match flushed {
            Poll::Pending => self.wait(context),
            Poll::Ready(done) => Poll::Ready(done),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = match &mut self.wire {
            Wire::Plain(wire) => Pin::new(wire).poll_shutdown(context),
            Wire::Secure(wire) => Pin::new(wire).poll_shutdown(context),
        };
        match shut {
            Poll::Pending => self.wait(context),
            Poll::Ready(done) => Poll::Ready(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::super::seats::Seats;

    const SHORT: Patience = Patience {
        request: Duration::from_millis(200),
        silence: Duration::from_millis(400),
    };

    async fn pair() -> (Connection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let there = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (here, _) = listener.accept().await.unwrap();
        let place = Arc::new(Seats::new(1)).take();
        (Connection::new(Wire::Plain(here), SHORT, place), there)
    }

    fn run<T>(test: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(test)
    }

    #[test]
    fn a_request_that_trickles_in_is_not_waited_for() {
        run(async {
            let (mut here, mut there) = pair().await;
            let trickling = tokio::spawn(async move {
                while there.write_all(b"x").await.is_ok() {
                    sleep(Duration::from_millis(20)).await;
                }
            });
            let started = Instant::now();
            let mut text = String::new();
            let ended = here.read_to_string(&mut text).await.unwrap_err();
            assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
            assert!(started.elapsed() >= SHORT.request);
            assert!(started.elapsed() < Duration::from_secs(5));
            drop(here);
            trickling.await.unwrap();
        });
    }

    #[test]
    fn silence_ends_and_a_sign_of_life_prolongs_it() {
        run(async {
            let (mut here, _there) = pair().await;
            let started = Instant::now();
            for _ in 0..4 {
                here.write_all(b"ping").await.unwrap();
                sleep(SHORT.silence / 2).await;
            }
            let ended = here.read_u8().await.unwrap_err();
            assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
            assert!(started.elapsed() >= SHORT.silence * 2);
        });
    }
}
