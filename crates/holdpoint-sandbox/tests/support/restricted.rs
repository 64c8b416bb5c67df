//! A machine on which ordinary users may make no namespaces, and bubblewrap is setuid: a user namespace of root's own, in which
//! that is switched off, and a copy of bubblewrap with the bit mounted over the system's.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The bubblewrap of this machine.
pub(crate) const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// Whether such a machine can be made of this one.
pub(crate) fn is_possible() -> bool {
    holdpoint_sandbox::user::id() == 0 && Path::new(BUBBLEWRAP).is_file()
}

/// A copy that is setuid, where it can be mounted from.
pub(crate) fn copy_of_bubblewrap(to: &Path) {
    fs::copy(BUBBLEWRAP, to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o4755)).unwrap();
}

/// `--restricted COPY ARGUMENTS`: this program with the arguments, as an ordinary user of such a machine.
pub(crate) fn become_restricted(arguments: &[String]) -> ExitCode {
    let [copy, rest @ ..] = arguments else {
        return ExitCode::FAILURE;
    };
    let program = std::env::current_exe().unwrap();
    enter().unwrap();
    fs::write("/proc/sys/user/max_user_namespaces", "0").unwrap();
    let mounted = Command::new("mount")
        .args(["--bind", copy, BUBBLEWRAP])
        .status();
    assert!(mounted.unwrap().success());
    let error = super::as_user("nobody", &program.display().to_string())
        .args(rest)
        .exec();
    println!("{error}");
    ExitCode::FAILURE
}

/// Goes into a user namespace that has every user this one has, and a mount namespace of it.
fn enter() -> io::Result<()> {
    let (mut made, mut is_made) = io::pipe()?;
    let (mut mapped, mut is_mapped) = io::pipe()?;
    let me = std::process::id();
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // Whoever is left outside may say who the users are.
        drop((is_made, mapped));
        // One that was killed meanwhile needs no users.
        let _ = made.read_exact(&mut [0]);
        for name in ["uid_map", "gid_map"] {
            let _ = fs::write(format!("/proc/{me}/{name}"), "0 0 65536\n");
        }
        let _ = is_mapped.write_all(&[1]);
        std::process::exit(0);
    }
    drop((made, is_mapped));
    // SAFETY: plain numbers; this process has one thread.
    let entered = unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) };
    if entered != 0 {
        return Err(io::Error::last_os_error());
    }
    is_made.write_all(&[1])?;
    mapped.read_exact(&mut [0])?;
    // SAFETY: the child is ours, and nothing is written to.
    let _ = unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    Ok(())
}
