//! How the program starts and ends where every microsecond of that is paid for each tool call.
//!
//! Before it calls `main`, Rust's runtime looks for the end of the stack by reading
//! `/proc/self/maps`, a line at a time and with `sscanf`: a seventh of all a hook executes, so that
//! an overflow of the stack is told in words. A hook says so itself ([`last_words`](crate::last_words)).
//! So on Linux with glibc, which gives a program its arguments without that runtime, `main` is the
//! C library's, and [`run`] does the two things of the runtime that a program cannot do without.

use std::io::{self, Write};

/// The body of a program: what ends with an exit code.
pub type Body = fn() -> u8;

/// Makes `$body` what the program does.
///
/// A crate that uses it says `#![cfg_attr(…, no_main)]` under the same condition as here.
#[macro_export]
macro_rules! program {
    ($body:path) => {
        #[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
        #[unsafe(no_mangle)]
        extern "C" fn main() -> i32 {
            $crate::start::run($body)
        }

        #[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
        fn main() -> std::process::ExitCode {
            std::process::ExitCode::from($body())
        }
    };
}

/// Runs the program's body as Rust's runtime would, and returns its exit code.
pub fn run(body: Body) -> i32 {
    system::prepare();
    let code = body();
    // What stands in the buffer is lost with it, and nobody is left to tell if it cannot be written.
    let _ = io::stdout().flush();
    code.into()
}

/// Ends this process with an exit code, here and now: nothing is taken down that the system takes
/// down anyway. What is to be written must have been.
pub fn leave(code: u8) -> ! {
    system::leave(code)
}

#[cfg(unix)]
mod system {
    /// The standard streams.
    const STREAMS: [libc::c_int; 3] =
        [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO];

    pub(super) fn prepare() {
        open_streams();
        // A reader that has gone is an error of the write, which can be told, and not the end.
        // SAFETY: ignoring a signal runs no code of ours; the call cannot fail for a signal that
        // exists and may be ignored.
        let _ = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    }

    /// Puts the null device in the place of a standard stream that is closed: the next file that
    /// is opened would be it, and an answer would be written into the ledger.
    fn open_streams() {
        let mut streams = STREAMS.map(|fd| libc::pollfd {
            fd,
            events: 0,
            revents: 0,
        });
        let count: libc::nfds_t = 3;
        // SAFETY: the array is valid, has as many members as said, and nobody else sees it.
        let looked = unsafe { libc::poll(streams.as_mut_ptr(), count, 0) };
        for stream in streams {
            // Where that could not be found out, each is asked by itself.
            let closed = match looked {
                // SAFETY: asking for a descriptor's flags changes nothing, whether it is open or not.
                -1 => unsafe { libc::fcntl(stream.fd, libc::F_GETFD) == -1 },
                _ => stream.revents & libc::POLLNVAL != 0,
            };
            // The lowest number that is free is given out, and those below are taken by now.
            // SAFETY: the path is a text that ends with a zero byte.
            if closed && unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR, 0) } != stream.fd
            {
                // SAFETY: `abort` may be called anywhere.
                unsafe { libc::abort() }
            }
        }
    }

    pub(super) fn leave(code: u8) -> ! {
        // SAFETY: `_exit` may be called anywhere, and runs nothing of this process.
        unsafe { libc::_exit(code.into()) }
    }
}

#[cfg(not(unix))]
mod system {
    pub(super) fn prepare() {}

    pub(super) fn leave(code: u8) -> ! {
        std::process::exit(code.into())
    }
}
