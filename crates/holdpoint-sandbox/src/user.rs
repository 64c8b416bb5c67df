//! Who this process is to the operating system, and whom it keeps out.

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

/// Keeps other programs of this account out of this process: none attaches to it or reads its memory, its environment or what it has
/// open, and a crash leaves no copy of it on the disk. What it starts is as open as before.
#[cfg(target_os = "linux")]
pub fn keep_out() -> std::io::Result<()> {
    // SAFETY: takes numbers alone and changes nothing but who may look at this process.
    match unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Here the system itself asks before one program looks into another, or there is nothing to ask it for.
#[cfg(not(target_os = "linux"))]
pub fn keep_out() -> std::io::Result<()> {
    Ok(())
}
