//! The system calls a sandbox is made of, each behind a function that cannot be called wrongly.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::AtomicI32;

use libc::{c_int, c_long, c_uint, c_ulong, c_void, pid_t};

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

/// The memory a process uses before it becomes another program. What is not touched costs nothing.
const STACK: usize = 256 << 10;

/// Starts a process that does what it is told and becomes another program, in the memory of this one, which waits until
/// then: making a copy of it takes longer than all the process does. Its number is in `number` before it begins, so that
/// whoever is told to end it meanwhile knows it.
pub(super) fn start_in_this_memory(
    number: &AtomicI32,
    mut task: impl FnMut() -> c_int,
) -> io::Result<pid_t> {
    extern "C" fn begin(task: *mut c_void) -> c_int {
        // SAFETY: it is the pointer below, to a task that lives until this process is another program.
        let task = unsafe { &mut *task.cast::<&mut dyn FnMut() -> c_int>() };
        task()
    }
    let mut stack = vec![MaybeUninit::<u128>::uninit(); STACK / size_of::<u128>()];
    let mut task: &mut dyn FnMut() -> c_int = &mut task;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PARENT_SETTID | libc::SIGCHLD;
    // SAFETY: it runs on a stack of its own, from its end down, and this process goes on only when it has become another
    // program or ended; until then everything it uses lives. The number is written before it begins.
    let child = unsafe {
        libc::clone(
            begin,
            stack.as_mut_ptr_range().end.cast(),
            flags,
            (&raw mut task).cast(),
            number.as_ptr(),
        )
    };
    done(c_long::from(child))?;
    Ok(child)
}

/// Moves a file or directory to where nothing is.
pub(super) fn rename_to_nothing(from: &CStr, to: &CStr) -> io::Result<()> {
    // SAFETY: both paths end with a zero byte.
    done(unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
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

/// Takes a mount away from this namespace; what still uses it keeps it.
pub(super) fn unmount(path: &CStr) -> io::Result<()> {
    // SAFETY: the path ends with a zero byte.
    done(c_long::from(unsafe {
        libc::umount2(path.as_ptr(), libc::MNT_DETACH)
    }))
}

/// Sends this process a signal when its parent ends.
pub(super) fn end_with_parent(signal: c_int) -> io::Result<()> {
    control(
        libc::PR_SET_PDEATHSIG,
        c_ulong::try_from(signal).unwrap_or_default(),
    )
}

/// Sends it none any more.
pub(super) fn outlive_parent() -> io::Result<()> {
    control(libc::PR_SET_PDEATHSIG, 0)
}

/// Sends this process a signal (`SIGIO`) when nobody is left to read from a pipe.
pub(super) fn signal_when_reader_goes(pipe: BorrowedFd<'_>) -> io::Result<()> {
    let me = pid_t::try_from(std::process::id()).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: plain numbers.
    let own = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETOWN, me) };
    done(c_long::from(own))?;
    // SAFETY: plain numbers; it is still written to as before.
    let set = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_ASYNC) };
    done(c_long::from(set))
}

/// Nobody without rights over it may look into this process.
pub(super) fn be_opaque() -> io::Result<()> {
    crate::user::keep_out()
}

/// Whether this process may be looked into, as the system has it.
pub(super) fn is_dumpable() -> c_ulong {
    let nothing: c_ulong = 0;
    // SAFETY: asking changes nothing.
    let found = unsafe { libc::prctl(libc::PR_GET_DUMPABLE, nothing, nothing, nothing, nothing) };
    // What cannot be known is the stricter of both.
    c_ulong::try_from(found).unwrap_or_default()
}

/// Sets whether this process may be looked into.
pub(super) fn set_dumpable(dumpable: c_ulong) -> io::Result<()> {
    // Only root's may be (2), and nobody may ask for that.
    control(libc::PR_SET_DUMPABLE, dumpable & 1)
}

/// Closes descriptors that are another process's as well, in one that never comes back to whoever owns them.
pub(super) fn close_all(fds: &[BorrowedFd<'_>]) {
    for fd in fds {
        // SAFETY: closing is a plain call; nobody uses the descriptors in this process any more.
        let _ = unsafe { libc::close(fd.as_raw_fd()) };
    }
}

/// Nothing this process starts gains a right.
pub(super) fn gain_nothing() -> io::Result<()> {
    control(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// What the children of this process leave behind becomes its child.
pub(super) fn adopt_orphans() -> io::Result<()> {
    control(libc::PR_SET_CHILD_SUBREAPER, 1)
}

/// It does not any more.
pub(super) fn leave_orphans() -> io::Result<()> {
    control(libc::PR_SET_CHILD_SUBREAPER, 0)
}

/// Takes a capability out of what this process and its children can ever have.
pub(super) fn drop_from_bounds(capability: c_ulong) -> io::Result<()> {
    control(libc::PR_CAPBSET_DROP, capability)
}

/// No program this process becomes is given a capability for being root's, and none is kept or raised any more. It cannot be
/// taken back.
pub(super) fn be_nobody_special() -> io::Result<()> {
    const NO_ROOT: c_ulong = 1 << 0;
    const NO_FIXUP: c_ulong = 1 << 2;
    const KEEP_LOCKED: c_ulong = 1 << 5;
    const NO_AMBIENT_RAISE: c_ulong = 1 << 6;
    // Each is locked by the bit above it.
    let locked = (NO_ROOT | NO_FIXUP | NO_AMBIENT_RAISE) * 0b11;
    control(libc::PR_SET_SECUREBITS, locked | KEEP_LOCKED)
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

/// How many bytes a file system has in all, and how many of them are free.
pub(super) fn space(path: &CStr) -> io::Result<(u64, u64)> {
    // SAFETY: all-zero bytes are a valid `statvfs`.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero byte, and the struct is ours.
    done(c_long::from(unsafe {
        libc::statvfs(path.as_ptr(), &raw mut found)
    }))?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok((bytes(found.f_blocks), bytes(found.f_bfree)))
}

/// A descriptor of a child, which can be waited for with others: it has something when the child has ended.
pub(super) fn process_descriptor(process: pid_t) -> io::Result<OwnedFd> {
    let flags: c_uint = 0;
    // SAFETY: plain numbers.
    descriptor(unsafe { libc::syscall(libc::SYS_pidfd_open, process, flags) })
}

/// The children of this process. Where the kernel does not list them, none.
pub(super) fn children() -> Vec<pid_t> {
    let me = std::process::id();
    let children = std::fs::read_to_string(format!("/proc/{me}/task/{me}/children"));
    let children = children.unwrap_or_default();
    let numbers = children.split_whitespace();
    numbers.filter_map(|child| child.parse().ok()).collect()
}

/// Leaves a descriptor open in the program this process becomes.
pub(super) fn keep_at_exec(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: plain numbers; marking changes nothing about a descriptor in use.
    done(c_long::from(unsafe {
        libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0)
    }))
}

/// An empty file that nobody finds by a path. The name is only shown.
pub(super) fn nameless_file(name: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the name ends with a zero byte.
    descriptor(c_long::from(unsafe {
        libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC)
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
    set_filter(program, 0).map(|_| ())
}

/// The same for one that hands calls over: the end at which they arrive.
pub(super) fn load_told_filter(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Since 5.19: a call that is being looked at is not begun again for every signal.
    const WAIT_KILLABLE: c_ulong = 1 << 5;
    match set_filter(program, listener | WAIT_KILLABLE) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            descriptor(set_filter(program, listener)?)
        }
        loaded => descriptor(loaded?),
    }
}

fn set_filter(program: &[libc::sock_filter], flags: c_ulong) -> io::Result<c_long> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the program lives during the call, is as long as said, and the system only reads it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    };
    done(result).map(|()| result)
}

/// A call that was handed over, as the system has it.
#[repr(C)]
#[derive(Default)]
struct HandedOver {
    id: u64,
    process: u32,
    flags: u32,
    number: c_int,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

#[repr(C)]
struct CallAnswer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// A call that waits for an answer.
pub(super) struct Call {
    pub(super) id: u64,
    pub(super) process: pid_t,
    pub(super) number: c_long,
    pub(super) arguments: [u64; 6],
}

/// Reads what is in another process's memory; how much there is.
pub(super) fn read_memory(process: pid_t, at: u64, room: &mut [u8]) -> io::Result<usize> {
    let at = usize::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
    let ours = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    let theirs = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(at),
        iov_len: room.len(),
    };
    // SAFETY: what is written to is ours and as long as said; what is read belongs to the other process, where the system looks.
    let read =
        unsafe { libc::process_vm_readv(process, &raw const ours, 1, &raw const theirs, 1, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// The controls of a filter's listener.
const NEXT_CALL: c_ulong = 0xc050_2100;
const ANSWER_CALL: c_ulong = 0xc018_2101;
const SET_FLAGS: c_ulong = 0x4008_2104;

/// Has whoever waits for a call run at once on the processor of whoever made it. An older system does without.
pub(super) fn wake_at_once(listener: BorrowedFd<'_>) {
    let flags: c_ulong = 1;
    // SAFETY: the control takes a plain number; a system that does not know it says so.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS as _, flags) };
}

/// The next call that was handed over.
pub(super) fn next_call(listener: BorrowedFd<'_>) -> io::Result<Call> {
    let mut call = HandedOver::default();
    // SAFETY: the struct is all zero, as the system wants it, laid out as it has it, and ours alone.
    done(c_long::from(unsafe {
        libc::ioctl(listener.as_raw_fd(), NEXT_CALL as _, &raw mut call)
    }))?;
    Ok(Call {
        id: call.id,
        process: pid_t::try_from(call.process).unwrap_or_default(),
        number: c_long::from(call.number),
        arguments: call.arguments,
    })
}

/// Answers it: with an error, or it goes on.
pub(super) fn answer_call(listener: BorrowedFd<'_>, id: u64, error: Option<i32>) -> io::Result<()> {
    const GO_ON: u32 = 1;
    let answer = CallAnswer {
        id,
        value: 0,
        error: error.map_or(0, |error| -error),
        flags: if error.is_none() { GO_ON } else { 0 },
    };
    // SAFETY: the struct is valid and laid out as the system has it.
    done(c_long::from(unsafe {
        libc::ioctl(listener.as_raw_fd(), ANSWER_CALL as _, &raw const answer)
    }))
}

/// Puts a descriptor in the place of another.
pub(super) fn duplicate(fd: BorrowedFd<'_>, place: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers; what was in that place is closed.
    done(c_long::from(unsafe { libc::dup2(fd.as_raw_fd(), place) }))
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

/// Whether this process has children, ended ones that nobody has waited for among them.
pub(super) fn has_children() -> bool {
    let any = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: nothing is taken, and nowhere is anything written to.
    let found = unsafe { libc::waitid(libc::P_ALL, 0, ptr::null_mut(), any) };
    found == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ECHILD)
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

/// Whether nobody is left to read from a pipe.
pub(super) fn reader_has_gone(fd: BorrowedFd<'_>) -> bool {
    nobody_reads(fd.as_raw_fd())
}

/// The same by the descriptor's number. One that is not open has nobody who reads, and is not taken for gone.
pub(super) fn nobody_reads(fd: RawFd) -> bool {
    is_so(fd, libc::POLLERR)
}

/// Whether nobody is left whose calls are handed over.
pub(super) fn nobody_calls(listener: BorrowedFd<'_>) -> bool {
    is_so(listener.as_raw_fd(), libc::POLLHUP)
}

/// Whether this is true of a descriptor now.
fn is_so(fd: RawFd, what: libc::c_short) -> bool {
    let mut wanted = libc::pollfd {
        fd,
        events: 0,
        revents: 0,
    };
    // SAFETY: one valid entry, and no waiting.
    let found = unsafe { libc::poll(&raw mut wanted, 1, 0) };
    found > 0 && wanted.revents & what != 0
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

/// Gives a lock up for every process that shares the open file: one that is about to end may still have it.
pub(super) fn unlock(fd: BorrowedFd<'_>) {
    // SAFETY: plain numbers. What is not locked need not be given up.
    let _ = unsafe { libc::flock(fd.as_raw_fd(), libc::LOCK_UN) };
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
    texts: Vec<CString>,
}

impl Texts {
    pub(super) fn new(texts: Vec<CString>) -> Self {
        // The bytes of a `CString` stay where they are when it is moved.
        let pointers = texts
            .iter()
            .map(|text| text.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self { pointers, texts }
    }

    /// Adds some at the end.
    pub(super) fn add(&mut self, more: Vec<CString>) {
        let mut texts = std::mem::take(&mut self.texts);
        texts.extend(more);
        *self = Self::new(texts);
    }
}

/// Whether a descriptor is a terminal.
pub(super) fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: asking changes nothing, whether it is open or not.
    unsafe { libc::isatty(fd) == 1 }
}

/// Joins a namespace another process has made.
pub(super) fn join_namespace(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the descriptor is open; what it is of, the system finds out itself.
    done(c_long::from(unsafe {
        libc::setns(namespace.as_raw_fd(), 0)
    }))
}

/// The most descriptors one message carries, as the system has it.
pub(super) const MAX_PASSED: usize = 253;

/// Descriptors on their way from one process to another: the header of such a message and they themselves.
#[repr(C)]
struct Passed {
    length: usize,
    level: c_int,
    kind: c_int,
    fds: [RawFd; MAX_PASSED],
}

/// How long the header is with so many descriptors.
fn passed_length(count: usize) -> usize {
    size_of::<usize>() + 2 * size_of::<c_int>() + count * size_of::<RawFd>()
}

/// Sends bytes and descriptors as one message.
pub(super) fn pass(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    if fds.len() > MAX_PASSED {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut passed = Passed {
        length: passed_length(fds.len()),
        level: libc::SOL_SOCKET,
        kind: libc::SCM_RIGHTS,
        fds: [-1; MAX_PASSED],
    };
    for (place, fd) in passed.fds.iter_mut().zip(fds) {
        *place = fd.as_raw_fd();
    }
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all-zero bytes are a valid `msghdr`: nothing at all.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if !fds.is_empty() {
        message.msg_control = (&raw mut passed).cast();
        message.msg_controllen = passed.length.next_multiple_of(size_of::<usize>()) as _;
    }
    // SAFETY: the message, its one part and its header are valid and as long as said; they are only read.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    done(sent as c_long)
}

/// Takes a message of bytes and descriptors.
pub(super) fn take_passed(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut passed = Passed {
        length: 0,
        level: 0,
        kind: 0,
        fds: [-1; MAX_PASSED],
    };
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all-zero bytes are a valid `msghdr`: nothing at all.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut passed).cast();
    message.msg_controllen = size_of::<Passed>() as _;
    // SAFETY: the message, its one part and the room for its header are valid, as long as said and ours alone.
    let length =
        unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    let Ok(length) = usize::try_from(length) else {
        return Err(io::Error::last_os_error());
    };
    let mut fds = Vec::new();
    if passed.level == libc::SOL_SOCKET && passed.kind == libc::SCM_RIGHTS {
        let bytes = passed.length.saturating_sub(passed_length(0));
        for fd in passed.fds.iter().take(bytes / size_of::<RawFd>()) {
            // SAFETY: the system has just given this descriptor to us alone.
            fds.push(unsafe { OwnedFd::from_raw_fd(*fd) });
        }
    }
    Ok((length, fds))
}

/// The user on the other side of a local socket.
pub(super) fn peer_user(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or_default();
    // SAFETY: the struct is valid, ours alone and as long as said.
    done(c_long::from(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    }))?;
    Ok(peer.uid)
}
