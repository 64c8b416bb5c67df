//! Who this process is to the operating system.

/// The user whose rights this process has.
#[cfg(unix)]
pub fn id() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}
