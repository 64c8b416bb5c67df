//! The system calls a sandbox is made of, each behind a function that cannot be called wrongly.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::{c_int, c_long, c_uint, c_ulong, pid_t};

pub(super) fn done(result: c_long) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn descriptor(result: c_long) -> io::Result<OwnedFd> {
    done(result)?;
    let raw = RawFd::try_from(result).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the system has just given this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Which side of a fork this is.
pub(super) enum Side {
    Child,
    Parent(pid_t),
}

/// Forks into new namespaces. The caller has one thread, so the child may do what any process may.
pub(super) fn fork(namespaces: c_int) -> io::Result<Side> {
    let flags = c_ulong::try_from(namespaces | libc::SIGCHLD).unwrap_or_default();
    let nothing: c_ulong = 0;
    // SAFETY: without CLONE_VM and with no stack it is a fork: both sides go on with memory of their own.
    let child =
        unsafe { libc::syscall(libc::SYS_clone, flags, nothing, nothing, nothing, nothing) };
    done(child)?;
    Ok(match pid_t::try_from(child).unwrap_or_default() {
        0 => Side::Child,
        child => Side::Parent(child),
    })
}

/// A copy of the mounts from a path down, in nobody's tree yet. A link is itself, and not what it leads to.
pub(super) fn clone_tree(path: &CStr, recursive: bool) -> io::Result<OwnedFd> {
    let mut looked_up = libc::AT_SYMLINK_NOFOLLOW;
    if recursive {
        looked_up |= libc::AT_RECURSIVE;
    }
    let flags = libc::OPEN_TREE_CLONE
        | libc::OPEN_TREE_CLOEXEC
        | c_uint::try_from(looked_up).unwrap_or_default();
    // SAFETY: the path is a text that ends with a zero byte.
    descriptor(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })
}

/// Hangs a tree over a path.
pub(super) fn attach(tree: BorrowedFd<'_>, path: &CStr) -> io::Result<()> {
    // SAFETY: both paths are texts that end with a zero byte, and the descriptor is open.
    done(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        )
    })
}

/// What mounts are told, by descriptor (with an empty path) or by path.
pub(super) fn set_mount(
    tree: Option<BorrowedFd<'_>>,
    path: &CStr,
    recursive: bool,
    attributes: u64,
    private: bool,
) -> io::Result<()> {
    let wanted = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: if private { libc::MS_PRIVATE } else { 0 },
        userns_fd: 0,
    };
    let mut flags = 0;
    if recursive {
        flags |= libc::AT_RECURSIVE;
    }
    if tree.is_some() {
        flags |= libc::AT_EMPTY_PATH;
    }
    let directory = tree.map_or(libc::AT_FDCWD, |tree| tree.as_raw_fd());
    // SAFETY: the path ends with a zero byte; the struct is valid and as long as said.
    done(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            directory,
            path.as_ptr(),
            flags,
            &raw const wanted,
            size_of::<libc::mount_attr>(),
        )
    })
}

/// Mounts a new file system of a kind.
pub(super) fn mount(
    kind: &CStr,
    path: &CStr,
    flags: c_ulong,
    options: Option<&CStr>,
) -> io::Result<()> {
    let options = options.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: every text ends with a zero byte, and no options is a null pointer.
    done(c_long::from(unsafe {
        libc::mount(
            kind.as_ptr(),
            path.as_ptr(),
            kind.as_ptr(),
            flags,
            options.cast(),
        )
    }))
}

/// Ends this process with its parent, and nobody may look into its memory.
pub(super) fn end_with_parent() -> io::Result<()> {
    control(
        libc::PR_SET_PDEATHSIG,
        c_ulong::try_from(libc::SIGKILL).unwrap_or_default(),
    )
}

/// Nobody without rights over it may look into this process.
pub(super) fn be_opaque() -> io::Result<()> {
    control(libc::PR_SET_DUMPABLE, 0)
}

/// Nothing this process starts gains a right.
pub(super) fn gain_nothing() -> io::Result<()> {
    control(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// What this process leaves behind becomes its child.
pub(super) fn adopt_orphans() -> io::Result<()> {
    control(libc::PR_SET_CHILD_SUBREAPER, 1)
}

/// Takes a capability out of what this process and its children can ever have.
pub(super) fn drop_from_bounds(capability: c_ulong) -> io::Result<()> {
    control(libc::PR_CAPBSET_DROP, capability)
}

/// No capability is kept over an exec for its own sake.
pub(super) fn clear_ambient() -> io::Result<()> {
    control(
        libc::PR_CAP_AMBIENT,
        c_ulong::try_from(libc::PR_CAP_AMBIENT_CLEAR_ALL).unwrap_or_default(),
    )
}

fn control(what: c_int, value: c_ulong) -> io::Result<()> {
    let nothing: c_ulong = 0;
    // SAFETY: every control used here takes plain numbers.
    done(c_long::from(unsafe {
        libc::prctl(what, value, nothing, nothing, nothing)
    }))
}

/// The header and the sets of `capset`, version 3: two words of 32 capabilities each.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: c_int,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct CapabilityWord {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Keeps these capabilities (a bit each) and no others.
pub(super) fn keep_capabilities(kept: u64) -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = CapabilityHeader {
        version: VERSION_3,
        pid: 0,
    };
    let word = |bits: u64| {
        let bits = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
        CapabilityWord {
            effective: bits,
            permitted: bits,
            inheritable: 0,
        }
    };
    let sets = [word(kept), word(kept >> 32)];
    // SAFETY: both structs are valid and laid out as the system has them.
    done(unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) })
}

/// Sets a limit, soft and hard.
pub(super) fn limit(what: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct is valid and nobody else sees it.
    done(c_long::from(unsafe { libc::getrlimit(what, &raw mut now) }))?;
    let value = value.min(now.rlim_max);
    let wanted = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the struct is valid.
    done(c_long::from(unsafe {
        libc::setrlimit(what, &raw const wanted)
    }))
}

/// Closes every descriptor above the standard streams at the next exec.
pub(super) fn close_at_exec() -> io::Result<()> {
    // SAFETY: plain numbers; marking changes nothing about descriptors in use.
    done(unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    })
}

/// Loads a filter of system calls for this process and all it starts.
pub(super) fn load_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: program.as_ptr().cast_mut(),
    };
    let flags: c_ulong = 0;
    // SAFETY: the program lives during the call, is as long as said, and the system only reads it.
    done(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    })
}

/// Brings up the loopback of this network.
pub(super) fn loopback_up() -> io::Result<()> {
    // SAFETY: plain numbers.
    let socket = descriptor(c_long::from(unsafe {
        libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)
    }))?;
    // SAFETY: all-zero bytes are a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or_default();
    }
    request.ifr_ifru.ifru_flags =
        libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    // SAFETY: the struct is valid and names an interface and its flags.
    done(c_long::from(unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    }))
}

pub(super) fn set_host_name(name: &str) -> io::Result<()> {
    // SAFETY: the text is as long as said.
    done(c_long::from(unsafe {
        libc::sethostname(name.as_ptr().cast(), name.len())
    }))
}

pub(super) fn change_directory(path: &CStr) -> io::Result<()> {
    // SAFETY: the path ends with a zero byte.
    done(c_long::from(unsafe { libc::chdir(path.as_ptr()) }))
}

/// How a child ended, or `None` if there is no child.
pub(super) fn wait_any() -> Option<(pid_t, c_int)> {
    loop {
        let mut status = 0;
        // SAFETY: the number is ours.
        let child = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        if child >= 0 {
            return Some((child, status));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// How one child ended.
pub(super) fn wait_for(child: pid_t) -> io::Result<c_int> {
    loop {
        let mut status = 0;
        // SAFETY: the number is ours.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Sends a signal; whoever has gone needs none.
pub(super) fn signal(process: pid_t, signal: c_int) {
    // SAFETY: a plain system call.
    let _ = unsafe { libc::kill(process, signal) };
}

/// Ends this process without running anything of it.
pub(super) fn leave(code: c_int) -> ! {
    // SAFETY: `_exit` may be called anywhere.
    unsafe { libc::_exit(code) }
}

/// Waits until a descriptor has something to read or its other side has gone, at most so long (`None`: for ever).
/// `false` if the time is up.
pub(super) fn readable(fd: BorrowedFd<'_>, milliseconds: Option<c_int>) -> io::Result<bool> {
    let mut wanted = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry.
    let found = unsafe { libc::poll(&raw mut wanted, 1, milliseconds.unwrap_or(-1)) };
    if found < 0 {
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::Interrupted {
            return Ok(false);
        }
        return Err(error);
    }
    Ok(found > 0)
}

/// Whether nobody is left to read from a pipe.
pub(super) fn reader_has_gone(fd: BorrowedFd<'_>) -> bool {
    let mut wanted = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: 0,
        revents: 0,
    };
    // SAFETY: one valid entry, and no waiting.
    let found = unsafe { libc::poll(&raw mut wanted, 1, 0) };
    found > 0 && wanted.revents & libc::POLLERR != 0
}

/// A lock on an open file: shared or for one alone. `false` if another has it.
pub(super) fn lock(fd: BorrowedFd<'_>, alone: bool) -> io::Result<bool> {
    let kind = if alone { libc::LOCK_EX } else { libc::LOCK_SH };
    // SAFETY: plain numbers.
    let result = unsafe { libc::flock(fd.as_raw_fd(), kind | libc::LOCK_NB) };
    if result == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::WouldBlock {
        return Ok(false);
    }
    Err(error)
}

/// What a signal does to this process.
pub(super) enum Answer {
    /// What it does to any.
    Default,
    Ignored,
    /// Nothing but this; it may only do what a signal's handler may.
    Handled(extern "C" fn(c_int)),
}

pub(super) fn on_signal(signal: c_int, answer: &Answer) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = match answer {
        Answer::Default => libc::SIG_DFL,
        Answer::Ignored => libc::SIG_IGN,
        Answer::Handled(handler) => *handler as usize,
    };
    // SAFETY: the struct is valid; a handler keeps to what it may do.
    done(c_long::from(unsafe {
        libc::sigaction(signal, &raw const action, ptr::null_mut())
    }))
}

/// Becomes another program. Comes back only with an error.
pub(super) fn execute(program: &CStr, arguments: &Texts, environment: &Texts) -> io::Error {
    // SAFETY: both lists end with a null pointer, and every text in them with a zero byte.
    unsafe {
        libc::execve(
            program.as_ptr(),
            arguments.pointers.as_ptr(),
            environment.pointers.as_ptr(),
        )
    };
    io::Error::last_os_error()
}

/// Texts as `execve` takes them: pointers that end with a null pointer, made before the fork.
pub(super) struct Texts {
    pointers: Vec<*const libc::c_char>,
    /// What the pointers point into.
    _texts: Vec<CString>,
}

impl Texts {
    pub(super) fn new(texts: Vec<CString>) -> Self {
        // The bytes of a `CString` stay where they are when it is moved.
        let pointers = texts
            .iter()
            .map(|text| text.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self {
            pointers,
            _texts: texts,
        }
    }
}

/// Whether a descriptor is a terminal.
pub(super) fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: asking changes nothing, whether it is open or not.
    unsafe { libc::isatty(fd) == 1 }
}
