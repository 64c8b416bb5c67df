//! Landlock: what the command may open, by path, whatever it becomes. The last of the walls, and in the tier of its
//! name the only one about files.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use libc::c_long;

use super::sys::done;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIRECTORY: u64 = 1 << 3;
/// Removing and making files, directories and nodes of every kind.
const CHANGE_DIRECTORY: u64 = 0x1ff0;
/// From ABI 2: between directories.
const REFER: u64 = 1 << 13;
/// From ABI 3.
const TRUNCATE: u64 = 1 << 14;
/// From ABI 4: listening and connecting by TCP.
const TCP: u64 = 0b11;
/// From ABI 6: abstract sockets, and signals.
const SCOPES: u64 = 0b11;

/// What a tree is given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Read,
    Write,
}

/// The rules a command is held to.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whether reading needs a rule too. Where mounts decide what can be seen, it does not.
    pub(super) reading: bool,
    /// Whether TCP is shut. A network of its own needs no such rule.
    pub(super) no_tcp: bool,
    pub(super) trees: Vec<(CString, Right)>,
}

#[repr(C)]
struct Attributes {
    files: u64,
    network: u64,
    scopes: u64,
}

#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: RawFd,
}

/// The newest interface this kernel has; 0 where Landlock is not there.
pub(super) fn version() -> u32 {
    const VERSION: u32 = 1;
    let nothing: usize = 0;
    // SAFETY: with this flag the call takes no struct and only gives a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<Attributes>(),
            nothing,
            VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// What may be done where a tree is given to be written.
fn writing(version: u32) -> u64 {
    let mut rights = WRITE_FILE | CHANGE_DIRECTORY;
    if version >= 2 {
        rights |= REFER;
    }
    if version >= 3 {
        rights |= TRUNCATE;
    }
    rights
}

/// Holds this process to the rules, for good.
pub(super) fn restrict(rules: &Rules) -> io::Result<()> {
    let version = version();
    let reading = EXECUTE | READ_FILE | READ_DIRECTORY;
    let mut files = writing(version);
    if rules.reading {
        files |= reading;
    }
    let attributes = Attributes {
        files,
        network: if rules.no_tcp && version >= 4 { TCP } else { 0 },
        scopes: if version >= 6 { SCOPES } else { 0 },
    };
    // An old kernel takes a struct without what it does not know.
    let length = match version {
        0 => return Err(io::Error::from_raw_os_error(libc::ENOSYS)),
        1..=3 => size_of::<u64>(),
        4 | 5 => 2 * size_of::<u64>(),
        _ => size_of::<Attributes>(),
    };
    let flags: u32 = 0;
    // SAFETY: the struct is valid and at least as long as said.
    let set = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attributes,
            length,
            flags,
        )
    };
    done(set)?;
    let set = RawFd::try_from(set).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the system has just given this descriptor to us alone.
    let set = unsafe { OwnedFd::from_raw_fd(set) };
    for (path, right) in &rules.trees {
        let allowed = match right {
            Right::Read => reading,
            Right::Write => reading | writing(version),
        };
        add(&set, path, allowed & files)?;
    }
    // SAFETY: the descriptor is a rule set, and the flags are none.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, set.as_raw_fd(), flags) })
}

/// Allows something beneath a path. A path that is not there needs no rule.
fn add(set: &OwnedFd, path: &CString, allowed: u64) -> io::Result<()> {
    // SAFETY: the path ends with a zero byte.
    let opened = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC, 0) };
    if opened < 0 {
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::NotFound {
            return Ok(());
        }
        return Err(error);
    }
    // SAFETY: the system has just given this descriptor to us alone.
    let opened = unsafe { File::from_raw_fd(opened) };
    match add_rule(set, &opened, allowed) {
        // What can only be done in a directory is no right over a file.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            if opened.metadata()?.is_dir() {
                return Err(error);
            }
            match allowed & (EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE) {
                0 => Ok(()),
                allowed => add_rule(set, &opened, allowed),
            }
        }
        added => added,
    }
}

fn add_rule(set: &OwnedFd, opened: &File, allowed: u64) -> io::Result<()> {
    const BENEATH: u32 = 1;
    let rule = Beneath {
        allowed,
        parent: opened.as_raw_fd(),
    };
    let flags: u32 = 0;
    // SAFETY: the struct is valid and laid out as the system has it.
    let added: c_long = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            set.as_raw_fd(),
            BENEATH,
            &raw const rule,
            flags,
        )
    };
    done(added)
}
