//! What the programs this process starts may use, and how they are asked to end.

use std::process::{Child, Command};

/// Has a program start with the memory its user may use. Without it, one that a hook starts
/// inherits the limit the hook has set for itself.
#[cfg(unix)]
pub fn with_own_memory(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;

    // SAFETY: between fork and exec the closure makes two plain system calls on its own memory.
    unsafe { command.pre_exec(lift_memory_limit) }
}

/// A process sets itself no limit here.
#[cfg(not(unix))]
pub fn with_own_memory(command: &mut Command) -> &mut Command {
    command
}

#[cfg(unix)]
fn lift_memory_limit() -> std::io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct is valid and nobody else sees it.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0 {
        limit.rlim_cur = limit.rlim_max;
        // What cannot be lifted stays; the program says itself if it is too little.
        // SAFETY: the struct is valid; a soft limit up to the hard one may always be set.
        let _ = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    }
    Ok(())
}

/// Asks a program this process started, and has not yet seen the end of, to end. Where that cannot
/// be asked for, nothing happens.
#[cfg(unix)]
pub fn ask_to_end(child: &mut Child) {
    if !matches!(child.try_wait(), Ok(None)) {
        return;
    }
    if let Ok(process) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a plain system call. The child has not been waited for, so the number is still its.
        let _ = unsafe { libc::kill(process, libc::SIGTERM) };
    }
}

/// There is no such signal here.
#[cfg(not(unix))]
pub fn ask_to_end(_child: &mut Child) {}

/// Has a program start as the head of a group of its own, so that it can be ended with whatever it starts.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Ends a program that was started so and has not been waited for, and what it has started that did not leave its group.
pub fn end_group(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(process) = libc::pid_t::try_from(child.id())
        && process > 1
    {
        // SAFETY: a plain system call. The child has not been waited for, so the number is still its group's.
        let _ = unsafe { libc::kill(-process, libc::SIGKILL) };
    }
    let _ = child.kill();
    let _ = child.wait();
}
