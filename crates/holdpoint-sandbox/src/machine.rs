//! What the system says of this machine that the standard library does not ask: its name, and the time clocks here show.

#[cfg(unix)]
pub use unix::{hostname, local_time};

#[cfg(unix)]
mod unix {
    use std::mem::MaybeUninit;
    use std::ptr;

    /// The longest name of a machine that is asked for; POSIX has 255 bytes, and what is longer is cut by the system.
    const MAX_NAME: usize = 256;

    /// The name of this machine.
    pub fn hostname() -> Option<String> {
        let mut bytes = [0u8; MAX_NAME];
        // SAFETY: the buffer is as long as is said and lives until the call returns, which only writes to it.
        let result = unsafe { libc::gethostname(bytes.as_mut_ptr().cast(), bytes.len()) };
        if result != 0 {
            return None;
        }
        // A name that fills the buffer may come without its end.
        let name = bytes.split(|byte| *byte == 0).next()?;
        String::from_utf8(name.to_vec()).ok()
    }

    /// The day of the week, Sunday being 0, and the minutes since midnight, as clocks here show them.
    pub fn local_time() -> Option<(u8, u16)> {
        // SAFETY: without a place to write to, the call only returns the time.
        let now = unsafe { libc::time(ptr::null_mut()) };
        let mut found = MaybeUninit::<libc::tm>::uninit();
        // SAFETY: both live until the call returns; it writes to the second alone. It reads `TZ`, which no thread of this
        // program changes.
        let result = unsafe { libc::localtime_r(&raw const now, found.as_mut_ptr()) };
        if result.is_null() {
            return None;
        }
        // SAFETY: the call succeeded, so it filled the structure in.
        let found = unsafe { found.assume_init() };
        let day = u8::try_from(found.tm_wday).ok()?;
        let minute = u16::try_from(found.tm_hour * 60 + found.tm_min).ok()?;
        (day < 7 && minute < 24 * 60).then_some((day, minute))
    }
}

/// The name of this machine.
#[cfg(not(unix))]
pub fn hostname() -> Option<String> {
    None
}

/// The day of the week and the minutes since midnight.
#[cfg(not(unix))]
pub fn local_time() -> Option<(u8, u16)> {
    None
}
