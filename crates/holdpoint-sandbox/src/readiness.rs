//! Waiting for several descriptors at once.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Waits until some of these have something to read or their other side has gone, at most so long (`None`: for ever),
/// and says which. None is ready when the time is up, and when a signal came.
pub(crate) fn wait(fds: &[BorrowedFd<'_>], time: Option<Duration>) -> io::Result<Vec<bool>> {
    let mut wanted: Vec<libc::pollfd> = fds
        .iter()
        .map(|fd| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    // Rounded up: one that is woken before its time would ask again without end.
    let milliseconds = time.map_or(-1, |time| {
        i32::try_from(time.as_millis().saturating_add(1)).unwrap_or(i32::MAX)
    });
    let count = libc::nfds_t::try_from(wanted.len()).unwrap_or(0);
    // SAFETY: the entries are valid and as many as said.
    let found = unsafe { libc::poll(wanted.as_mut_ptr(), count, milliseconds) };
    if found < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok(vec![false; fds.len()]);
    }
    Ok(wanted.iter().map(|one| one.revents != 0).collect())
}
