//! Ctrl-C, heard instead of obeyed: a long run can end in good order.
//!
//! Only the first one is heard. The second ends the process as it always does, so nothing can make
//! a run that cannot be ended.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static HEARD: AtomicBool = AtomicBool::new(false);

/// Whether somebody has pressed Ctrl-C since [`listen`].
pub fn heard() -> bool {
    HEARD.load(Ordering::Relaxed)
}

/// Listens from now on. Where that cannot be done, Ctrl-C ends the process.
#[cfg(unix)]
pub fn listen() -> io::Result<()> {
    use libc::c_int;

    extern "C" fn on_signal(_signal: c_int) {
        HEARD.store(true, Ordering::Relaxed);
    }

    // SAFETY: all-zero bytes are a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
    // A read that waits for a pipe goes on; the handler is gone after its first use.
    action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
    // SAFETY: the handler only stores to an atomic, which is allowed in one.
    match unsafe { libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Listens from now on. Where that cannot be done, Ctrl-C ends the process.
#[cfg(not(unix))]
pub fn listen() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
