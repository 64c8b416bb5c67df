//! A write beyond the limit of file sizes as an error that can be told, in place of a signal that
//! ends the process.

/// From here on such a write fails, and whoever makes it can say so.
#[cfg(unix)]
pub fn refuse_quietly() {
    // SAFETY: ignoring a signal runs no code of ours; the call cannot fail for a signal that exists
    // and may be ignored.
    let _ = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// There is no such signal here.
#[cfg(not(unix))]
pub fn refuse_quietly() {}
