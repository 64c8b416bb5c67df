//! Who this process is to the operating system.

/// The user whose rights this process has.
#[cfg(unix)]
pub fn id() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// The group whose rights this process has.
#[cfg(unix)]
pub fn group() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getegid() }
}
