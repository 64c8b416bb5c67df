//! The filter of system calls: which calls a contained command may not make.
//!
//! It is a program of the kernel's packet filter. The calls are told apart by a binary search over their numbers,
//! because loading costs as much as the longest chain of tests: a chain of all of them takes twice as long.

use libc::{c_long, sock_filter};

use crate::contain::Notice;

/// Where a call's number, architecture and arguments stand in what the filter reads.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const OUR_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OUR_ARCHITECTURE: u32 = 0xc000_00b7;
/// No machine has it: on one that is not listed no call is allowed, and the tier is not reached.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OUR_ARCHITECTURE: u32 = 0;

/// From here on the numbers are those of the x32 calls, a second door to the same kernel.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// What is answered to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Allow,
    /// It fails with this error.
    Fail(i32),
    /// It depends on an argument.
    If(Test),
    /// The supervisor looks at it and lets it go on.
    Notice,
}

/// A question about an argument's lower half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    /// Any of these bits is set: the call fails.
    AnyBit {
        argument: u32,
        bits: u32,
        error: i32,
    },
    /// It is one of these: the call fails.
    OneOf {
        argument: u32,
        values: &'static [u32],
        error: i32,
    },
    /// It is none of these: the call fails.
    NoneOf {
        argument: u32,
        values: &'static [u32],
        error: i32,
    },
    /// A socket's family, and for some its type or protocol.
    Socket { unix: bool, inet: bool },
}

/// What a tier lets through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    /// Sockets by path or name on this machine.
    pub(super) unix: bool,
    /// The internet protocols.
    pub(super) inet: bool,
    /// Looking into other processes of its own. Landlock and the process table keep it from any other.
    pub(super) tracing: bool,
}

/// What a debugger looks into its program by.
const TRACING: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];

/// Namespaces of a command's own would give it rights the filter of files was not made for.
const NEW_NAMESPACES: u32 = 0x7e02_0000 | 0x80;

/// Controls that fail: typing into the terminal of whoever started the command, or pasting there; and the attributes of
/// files, such as that one cannot be changed any more, for which it is enough that a file can be read.
const REFUSED_CONTROLS: &[u32] = &[0x5412, 0x541c, 0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Calls that the library has no names for yet: mounting, and the attributes of files by their paths.
const REFUSED_NEW: &[(c_long, &str)] = &[(467, "open_tree_attr"), (469, "file_setattr")];

/// The first number that no kernel had a call for when this was written. Nobody has looked at what later ones do; programs
/// know what to do where a kernel has none of them.
const FIRST_UNKNOWN: u32 = 470;

/// `personality` to ask for the present one, or to set the ordinary one.
const ORDINARY: &[u32] = &[0, 0xffff_ffff];

/// The same for a debugger, which has its program's memory at the same place each time.
const ORDINARY_OR_STEADY: &[u32] = &[0, 0x0004_0000, 0xffff_ffff];

/// Calls with their names.
macro_rules! calls {
    ($($(#[$condition:meta])* $call:ident),* $(,)?) => {
        &[$($(#[$condition])* (libc::$call, stringify!($call))),*]
    };
}

/// Calls that fail whatever their arguments: each is a way to another process, to the kernel's own state or to a file
/// without its path, and nothing that builds, tests or serves has needed one.
const REFUSED: &[(c_long, &str)] = calls![
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_mount,
    SYS_umount2,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_vhangup,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_lookup_dcookie,
    SYS_fanotify_init,
    SYS_nfsservctl,
    SYS_mbind,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_memfd_secret,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    SYS__sysctl,
];

/// Memory, messages and semaphores by numbers and names that no path leads to: Landlock knows nothing of them, so they fail
/// where they would be everybody's.
const SHARED: &[(c_long, &str)] = calls![
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_mq_open,
    SYS_mq_unlink,
];

/// The flags by which opening a file may change it.
pub(super) const WRITING: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

/// A call the supervisor looks at, and where it finds what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noticed {
    /// A file: the arguments with its directory, its path and, where they decide whether it is changed, its flags; and what
    /// has to be there for the call to change anything.
    Path {
        directory: Option<usize>,
        path: usize,
        flags: Option<usize>,
        needs: Needs,
    },
    /// A program.
    Run {
        directory: Option<usize>,
        path: usize,
    },
    /// A socket's other side.
    Connect,
}

/// What has to be at a path for a call to change anything: otherwise it fails by itself, as `mkdir -p` does at every
/// directory above, and no sandbox refused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Anything,
    Something,
    Nothing,
}

/// A path that is changed.
const fn changed(directory: Option<usize>, path: usize) -> Noticed {
    needing(Needs::Anything, directory, path)
}

/// A path that is made new.
const fn made(directory: Option<usize>, path: usize) -> Noticed {
    needing(Needs::Nothing, directory, path)
}

/// A path that is removed or changed in place.
const fn removed(directory: Option<usize>, path: usize) -> Noticed {
    needing(Needs::Something, directory, path)
}

const fn needing(needs: Needs, directory: Option<usize>, path: usize) -> Noticed {
    Noticed::Path {
        directory,
        path,
        flags: None,
        needs,
    }
}

/// The calls that may change files or reach hosts. Where two paths are named, the one that is made counts.
const NOTICED: &[(c_long, Noticed)] = &[
    (
        libc::SYS_openat,
        Noticed::Path {
            directory: Some(0),
            path: 1,
            flags: Some(2),
            needs: Needs::Anything,
        },
    ),
    (libc::SYS_renameat2, changed(Some(2), 3)),
    (libc::SYS_unlinkat, removed(Some(0), 1)),
    (libc::SYS_mkdirat, made(Some(0), 1)),
    (libc::SYS_linkat, made(Some(2), 3)),
    (libc::SYS_symlinkat, made(Some(1), 2)),
    (libc::SYS_fchmodat, removed(Some(0), 1)),
    (libc::SYS_truncate, removed(None, 0)),
    (libc::SYS_connect, Noticed::Connect),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_open,
        Noticed::Path {
            directory: None,
            path: 0,
            flags: Some(1),
            needs: Needs::Anything,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, changed(None, 0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, changed(None, 1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_renameat, changed(Some(2), 3)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, removed(None, 0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, removed(None, 0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, made(None, 0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_link, made(None, 1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_symlink, made(None, 1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, removed(None, 0)),
];

/// Those that run programs.
const RUNNING: &[(c_long, Noticed)] = &[
    (
        libc::SYS_execve,
        Noticed::Run {
            directory: None,
            path: 0,
        },
    ),
    (
        libc::SYS_execveat,
        Noticed::Run {
            directory: Some(0),
            path: 1,
        },
    ),
];

/// What the supervisor finds in a call that was handed to it to be looked at. `None`: it is refused.
pub(super) fn noticed(call: c_long) -> Option<Noticed> {
    let all = NOTICED.iter().chain(RUNNING);
    let mut found = all.filter(|(number, _)| *number == call);
    found.next().map(|(_, noticed)| *noticed)
}

/// The name of a call that was handed over to be refused, and the error it gets.
pub(super) fn refused(call: c_long) -> (&'static str, i32) {
    let mut all = REFUSED.iter().chain(REFUSED_NEW).chain(SHARED);
    let known = all.find(|(number, _)| *number == call);
    let name = known.map_or("a call", |(_, name)| name.trim_start_matches("SYS_"));
    match call {
        libc::SYS_socket => ("socket of this kind", libc::EAFNOSUPPORT),
        libc::SYS_socketpair => ("socketpair of this kind", libc::EAFNOSUPPORT),
        libc::SYS_clone => ("clone into new namespaces", libc::EPERM),
        libc::SYS_ioctl => ("ioctl for a terminal or attributes", libc::EPERM),
        libc::SYS_prlimit64 => ("limits of another process", libc::EPERM),
        libc::SYS_personality => ("personality", libc::EPERM),
        _ => (name, libc::EPERM),
    }
}

/// Which calls the supervisor looks at on their way. Those that only read among them: what is hidden is found by nothing else.
fn notices(notice: Notice) -> impl Iterator<Item = (c_long, Answer)> {
    let all = NOTICED.iter().chain(RUNNING);
    all.filter(move |_| notice != Notice::Nothing)
        .map(|(call, _)| (*call, Answer::Notice))
}

/// Each call that is not simply allowed, in the order of the numbers.
fn answers(allowed: Allowed, notice: Notice) -> Vec<(u32, Answer)> {
    let mut answers: Vec<(c_long, Answer)> = REFUSED
        .iter()
        .chain(REFUSED_NEW)
        .filter(|(call, _)| !(allowed.tracing && TRACING.contains(call)))
        .map(|(call, _)| (*call, Answer::Fail(libc::EPERM)))
        .collect();
    answers.extend([
        // Its flags stand in memory, where no filter reads: programs then use `clone`.
        (libc::SYS_clone3, Answer::Fail(libc::ENOSYS)),
        (
            libc::SYS_clone,
            Answer::If(Test::AnyBit {
                argument: 0,
                bits: NEW_NAMESPACES,
                error: libc::EPERM,
            }),
        ),
        (
            libc::SYS_ioctl,
            Answer::If(Test::OneOf {
                argument: 1,
                values: REFUSED_CONTROLS,
                error: libc::EPERM,
            }),
        ),
        (
            libc::SYS_personality,
            Answer::If(Test::NoneOf {
                argument: 0,
                values: match allowed.tracing {
                    true => ORDINARY_OR_STEADY,
                    false => ORDINARY,
                },
                error: libc::EPERM,
            }),
        ),
        (
            libc::SYS_socket,
            Answer::If(Test::Socket {
                unix: allowed.unix,
                inet: allowed.inet,
            }),
        ),
        (
            libc::SYS_socketpair,
            Answer::If(Test::NoneOf {
                argument: 0,
                values: &[libc::AF_UNIX as u32],
                error: libc::EAFNOSUPPORT,
            }),
        ),
    ]);
    if !allowed.inet {
        // Without a process table of its own it sees others, whose limits are not its to set.
        let own = Test::NoneOf {
            argument: 0,
            values: &[0],
            error: libc::EPERM,
        };
        answers.push((libc::SYS_prlimit64, Answer::If(own)));
        let shared = SHARED.iter();
        answers.extend(shared.map(|(call, _)| (*call, Answer::Fail(libc::EPERM))));
    }
    answers.extend(notices(notice));
    let mut answers: Vec<(u32, Answer)> = answers
        .into_iter()
        .filter_map(|(call, answer)| Some((u32::try_from(call).ok()?, answer)))
        .collect();
    answers.sort_unstable_by_key(|(call, _)| *call);
    answers.dedup_by_key(|(call, _)| *call);
    answers
}

/// Calls from this number on have the same answer, up to the next interval.
type Interval = (u32, Answer);

fn intervals(allowed: Allowed, notice: Notice) -> Vec<Interval> {
    let mut intervals: Vec<Interval> = vec![(0, Answer::Allow)];
    for (call, answer) in answers(allowed, notice) {
        match intervals.last_mut() {
            Some((start, last)) if *start == call => *last = answer,
            _ => intervals.push((call, answer)),
        }
        intervals.push((call + 1, Answer::Allow));
    }
    intervals.push((FIRST_UNKNOWN, Answer::Fail(libc::ENOSYS)));
    intervals.dedup_by(|next, kept| next.1 == kept.1);
    intervals
}

/// The filter, ready to be loaded. With a notice, what it refuses is handed to the supervisor, which gives the error.
pub(super) fn program(allowed: Allowed, notice: Notice) -> Vec<sock_filter> {
    let mut program = vec![
        load(ARCHITECTURE),
        jump(JEQ, OUR_ARCHITECTURE, 1, 0),
        fail(libc::ENOSYS),
        load(NUMBER),
    ];
    #[cfg(target_arch = "x86_64")]
    program.extend([jump(JGE, X32, 0, 1), fail(libc::ENOSYS)]);
    program.extend(search(&intervals(allowed, notice)));
    if notice != Notice::Nothing {
        for one in &mut program {
            // Programs meet the other errors all the time, and know what to do.
            let told = [libc::EPERM, libc::EAFNOSUPPORT].map(|error| fail(error).k);
            if one.code == RETURN && told.contains(&one.k) {
                one.k = libc::SECCOMP_RET_USER_NOTIF;
            }
        }
    }
    program
}

/// The search of a number among intervals, and their answers.
fn search(intervals: &[Interval]) -> Vec<sock_filter> {
    let (left, right) = intervals.split_at(intervals.len() / 2);
    let Some((start, answer)) = right.first() else {
        return Vec::new();
    };
    if left.is_empty() {
        return leaf(*answer);
    }
    let (below, above) = (search(left), search(right));
    let mut code = Vec::with_capacity(below.len() + above.len() + 2);
    match u8::try_from(below.len()) {
        Ok(far) => code.push(jump(JGE, *start, far, 0)),
        // A test jumps at most 255 instructions; an unconditional jump goes any way.
        Err(_) => code.extend([
            jump(JGE, *start, 0, 1),
            statement(JA, u32::try_from(below.len()).unwrap_or(u32::MAX)),
        ]),
    }
    code.extend(below);
    code.extend(above);
    code
}

fn leaf(answer: Answer) -> Vec<sock_filter> {
    match answer {
        Answer::Allow => vec![allow()],
        Answer::Fail(error) => vec![fail(error)],
        Answer::Notice => vec![hand_over()],
        Answer::If(test) => match test {
            Test::AnyBit {
                argument,
                bits,
                error,
            } => vec![
                load(ARGUMENTS + 8 * argument),
                jump(JSET, bits, 0, 1),
                fail(error),
                allow(),
            ],
            Test::OneOf {
                argument,
                values,
                error,
            } => choice(argument, values, &[fail(error)], &[allow()]),
            Test::NoneOf {
                argument,
                values,
                error,
            } => choice(argument, values, &[allow()], &[fail(error)]),
            Test::Socket { unix, inet } => socket(unix, inet),
        },
    }
}

/// `hit` if the argument is one of the values, else `miss`. Both end by returning.
fn choice(
    argument: u32,
    values: &[u32],
    hit: &[sock_filter],
    miss: &[sock_filter],
) -> Vec<sock_filter> {
    let mut code = vec![load(ARGUMENTS + 8 * argument)];
    let miss_length = u8::try_from(miss.len()).unwrap_or(u8::MAX);
    for (index, value) in values.iter().enumerate() {
        let left = u8::try_from(values.len() - index - 1).unwrap_or(u8::MAX);
        code.push(jump(JEQ, *value, left.saturating_add(miss_length), 0));
    }
    code.extend(miss);
    code.extend(hit);
    code
}

/// Which sockets can be made. Netlink only for routes, which programs read their own addresses by; raw sockets and
/// MPTCP, which goes past what bounds TCP, never.
fn socket(unix: bool, inet: bool) -> Vec<sock_filter> {
    let refused = fail(libc::EAFNOSUPPORT);
    let answer = |given: bool| if given { allow() } else { refused };
    // The type without its flags.
    const KIND: u32 = 0xf;
    let internet = if inet {
        vec![
            load(ARGUMENTS + 16),
            jump(JEQ, libc::IPPROTO_MPTCP as u32, 3, 0),
            load(ARGUMENTS + 8),
            statement(AND, KIND),
            jump(JEQ, libc::SOCK_RAW as u32, 0, 1),
            refused,
            allow(),
        ]
    } else {
        vec![refused]
    };
    let routes = vec![
        load(ARGUMENTS + 16),
        jump(JEQ, libc::NETLINK_ROUTE as u32, 1, 0),
        refused,
        allow(),
    ];
    let far = |length: usize| u8::try_from(length).unwrap_or(u8::MAX);
    let mut code = vec![load(ARGUMENTS)];
    code.extend([
        jump(JEQ, libc::AF_UNIX as u32, 0, 1),
        answer(unix),
        jump(JEQ, libc::AF_NETLINK as u32, 0, far(routes.len())),
    ]);
    code.extend(routes);
    code.extend([
        jump(JEQ, libc::AF_INET as u32, 1, 0),
        jump(JEQ, libc::AF_INET6 as u32, 0, far(internet.len())),
    ]);
    code.extend(internet);
    code.push(refused);
    code
}

const LOAD: u16 = 0x20;
const JA: u16 = 0x05;
const JEQ: u16 = 0x15;
const JGE: u16 = 0x35;
const JSET: u16 = 0x45;
const AND: u16 = 0x54;
const RETURN: u16 = 0x06;

fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn load(offset: u32) -> sock_filter {
    statement(LOAD, offset)
}

fn allow() -> sock_filter {
    statement(RETURN, libc::SECCOMP_RET_ALLOW)
}

fn hand_over() -> sock_filter {
    statement(RETURN, libc::SECCOMP_RET_USER_NOTIF)
}

fn fail(error: i32) -> sock_filter {
    statement(
        RETURN,
        libc::SECCOMP_RET_ERRNO | u32::try_from(error).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would answer: the program run over one call.
    fn answer(program: &[sock_filter], architecture: u32, call: u32, arguments: [u32; 3]) -> u32 {
        let (mut at, mut value) = (0_usize, 0_u32);
        for _ in 0..=program.len() {
            let one = program[at];
            at += 1;
            match one.code {
                LOAD => {
                    value = match one.k {
                        NUMBER => call,
                        ARCHITECTURE => architecture,
                        offset => arguments[(offset - ARGUMENTS) as usize / 8],
                    }
                }
                AND => value &= one.k,
                JA => at += one.k as usize,
                JEQ | JGE | JSET => {
                    let hit = match one.code {
                        JEQ => value == one.k,
                        JGE => value >= one.k,
                        _ => value & one.k != 0,
                    };
                    at += usize::from(if hit { one.jt } else { one.jf });
                }
                RETURN => return one.k,
                code => panic!("code {code}"),
            }
        }
        panic!("no end")
    }

    const ALL: Allowed = Allowed {
        unix: true,
        inet: true,
        tracing: false,
    };
    const NONE: Allowed = Allowed {
        unix: false,
        inet: false,
        tracing: false,
    };
    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

    fn ask(allowed: Allowed, call: c_long, arguments: [u32; 3]) -> u32 {
        let call = u32::try_from(call).unwrap();
        answer(
            &program(allowed, Notice::Nothing),
            OUR_ARCHITECTURE,
            call,
            arguments,
        )
    }

    #[test]
    fn every_call_has_the_answer_of_the_table() {
        let program = program(ALL, Notice::Nothing);
        let table = answers(ALL, Notice::Nothing);
        for call in 0..700 {
            let wanted = table.iter().find(|(number, _)| *number == call);
            let got = answer(&program, OUR_ARCHITECTURE, call, [0xdead, 0xdead, 0]);
            match wanted {
                None if call >= FIRST_UNKNOWN => assert_eq!(got, fail(libc::ENOSYS).k, "{call}"),
                None => assert_eq!(got, ALLOW, "{call}"),
                Some((_, Answer::Fail(error))) => {
                    assert_eq!(got, libc::SECCOMP_RET_ERRNO | *error as u32, "{call}");
                }
                Some(_) => {}
            }
        }
    }

    #[test]
    fn what_is_handed_over_is_what_was_refused_and_what_is_looked_at() {
        let plain = program(ALL, Notice::Nothing);
        for notice in [Notice::Refusals, Notice::Everything] {
            let told = program(ALL, notice);
            for call in 0..700 {
                for arguments in [[0; 3], [0xdead; 3], [0x7e02_0000, 0x5412, 1]] {
                    let before = answer(&plain, OUR_ARCHITECTURE, call, arguments);
                    let after = answer(&told, OUR_ARCHITECTURE, call, arguments);
                    let looked_at = noticed(c_long::from(call)).is_some();
                    match after {
                        libc::SECCOMP_RET_USER_NOTIF if looked_at => assert_eq!(before, ALLOW),
                        libc::SECCOMP_RET_USER_NOTIF => {
                            let (_, error) = refused(c_long::from(call));
                            assert_eq!(before, fail(error).k, "{call}");
                        }
                        _ => assert_eq!(before, after, "{call}"),
                    }
                }
            }
        }
    }

    #[test]
    fn what_debuggers_need_is_all_that_tracing_opens() {
        let tracing = Allowed {
            tracing: true,
            ..ALL
        };
        let opened = |call: &c_long| {
            let (before, after) = (ask(ALL, *call, [0; 3]), ask(tracing, *call, [0; 3]));
            (before != after).then_some(after)
        };
        let all: Vec<c_long> = (0..700).filter(|call| opened(call).is_some()).collect();
        let mut wanted = TRACING.to_vec();
        wanted.sort_unstable();
        assert_eq!(all, wanted);
        assert!(all.iter().all(|call| opened(call) == Some(ALLOW)));
        let steady = [0x4_0000, 0, 0];
        assert_ne!(ask(ALL, libc::SYS_personality, steady), ALLOW);
        assert_eq!(ask(tracing, libc::SYS_personality, steady), ALLOW);
        assert_ne!(
            ask(tracing, libc::SYS_personality, [0x40_0000, 0, 0]),
            ALLOW
        );
    }

    #[test]
    fn other_doors_to_the_kernel_are_shut() {
        let program = program(ALL, Notice::Nothing);
        for architecture in [0x4000_0003, 0xc000_003e_u32 ^ 1] {
            assert_ne!(answer(&program, architecture, 1, [0; 3]), ALLOW);
        }
        #[cfg(target_arch = "x86_64")]
        assert_ne!(answer(&program, OUR_ARCHITECTURE, X32 + 1, [0; 3]), ALLOW);
    }

    #[test]
    fn arguments_decide() {
        let family = |number: i32| u32::try_from(number).unwrap();
        let socket = |allowed, number, kind, protocol| {
            ask(
                allowed,
                libc::SYS_socket,
                [family(number), family(kind), family(protocol)],
            ) == ALLOW
        };
        let (stream, raw) = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC, libc::SOCK_RAW);
        assert!(socket(ALL, libc::AF_UNIX, stream, 0));
        assert!(!socket(NONE, libc::AF_UNIX, stream, 0));
        for number in [libc::AF_INET, libc::AF_INET6] {
            assert!(socket(ALL, number, stream, 0));
            assert!(socket(ALL, number, libc::SOCK_DGRAM, 0));
            assert!(!socket(ALL, number, raw, 0));
            assert!(!socket(ALL, number, raw | libc::SOCK_CLOEXEC, 0));
            assert!(!socket(ALL, number, stream, libc::IPPROTO_MPTCP));
            assert!(!socket(NONE, number, stream, 0));
        }
        assert!(socket(ALL, libc::AF_NETLINK, raw, libc::NETLINK_ROUTE));
        assert!(!socket(ALL, libc::AF_NETLINK, raw, libc::NETLINK_AUDIT));
        for number in [libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG, 99] {
            assert!(!socket(ALL, number, stream, 0));
        }
        assert_ne!(ask(ALL, libc::SYS_ioctl, [0, 0x5412, 0]), ALLOW);
        assert_ne!(ask(ALL, libc::SYS_ioctl, [0, 0x541c, 0]), ALLOW);
        assert_eq!(ask(ALL, libc::SYS_ioctl, [0, 0x5413, 0]), ALLOW);
        assert_eq!(ask(ALL, libc::SYS_clone, [0x11, 0, 0]), ALLOW);
        for flag in [0x80, 0x2_0000, 0x200_0000, 0x1000_0000, 0x4000_0000] {
            assert_ne!(
                ask(ALL, libc::SYS_clone, [0x11 | flag, 0, 0]),
                ALLOW,
                "{flag:x}"
            );
        }
        assert_eq!(ask(ALL, libc::SYS_personality, [0, 0, 0]), ALLOW);
        assert_ne!(ask(ALL, libc::SYS_personality, [0x4_0000, 0, 0]), ALLOW);
        for (call, _) in SHARED {
            assert_eq!(ask(ALL, *call, [0; 3]), ALLOW);
            assert_ne!(ask(NONE, *call, [0; 3]), ALLOW);
        }
        assert_eq!(ask(ALL, libc::SYS_socketpair, [1, 1, 0]), ALLOW);
        assert_ne!(ask(ALL, libc::SYS_socketpair, [38, 1, 0]), ALLOW);
    }
}
