//! Ending between two steps: a process that is told to stop finishes the step it is in.
//!
//! It is for commands that follow something or write a file whole. Those that just print end as
//! any process does.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static TOLD: AtomicBool = AtomicBool::new(false);

/// From here on `SIGINT`, `SIGTERM` and `SIGHUP` are noted instead of ending the process. A second
/// one ends it.
pub fn listen() -> io::Result<()> {
    system::listen()
}

/// Whether the process was told to stop since [`listen`].
pub fn was_told() -> bool {
    TOLD.load(Ordering::Relaxed)
}

/// Whether nobody reads standard output any more. Where that cannot be known, somebody does.
pub fn output_is_closed() -> bool {
    system::output_is_closed()
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::ptr;
    use std::sync::atomic::Ordering;

    use libc::c_int;

    use super::TOLD;

    pub(super) fn listen() -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid `sigaction`: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
        // The second signal finds what was there before.
        action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the handler only stores to an atomic, which is allowed in one.
            let done = unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
            if done != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    extern "C" fn on_signal(_signal: c_int) {
        TOLD.store(true, Ordering::Relaxed);
    }

    pub(super) fn output_is_closed() -> bool {
        let mut output = libc::pollfd {
            fd: libc::STDOUT_FILENO,
            events: 0,
            revents: 0,
        };
        // SAFETY: one valid entry, and no waiting.
        let found = unsafe { libc::poll(&raw mut output, 1, 0) };
        found == 1 && output.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    pub(super) fn listen() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn output_is_closed() -> bool {
        false
    }
}
