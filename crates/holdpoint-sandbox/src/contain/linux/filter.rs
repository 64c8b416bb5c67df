//! The filter of system calls: which calls a contained command may not make.
//!
//! It is a program of the kernel's packet filter. The calls are told apart by a binary search over their numbers,
//! because loading costs as much as the longest chain of tests: a chain of all of them takes twice as long.

use libc::{c_long, sock_filter};

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
}

/// Namespaces of a command's own would give it rights the filter of files was not made for.
const NEW_NAMESPACES: u32 = 0x7e02_0000 | 0x80;

/// Typing into the terminal of whoever started the command, or pasting there.
const TERMINAL_INPUT: &[u32] = &[0x5412, 0x541c];

/// `personality` to ask for the present one, or to set the ordinary one.
const ORDINARY: &[u32] = &[0, 0xffff_ffff];

/// Calls that fail whatever their arguments: each is a way to another process, to the kernel's own state or to a file
/// without its path, and nothing that builds, tests or serves has needed one.
const REFUSED: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_lookup_dcookie,
    libc::SYS_fanotify_init,
    libc::SYS_nfsservctl,
    libc::SYS_mbind,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_memfd_secret,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

/// Each call that is not simply allowed, in the order of the numbers.
fn answers(allowed: Allowed) -> Vec<(u32, Answer)> {
    let mut answers: Vec<(c_long, Answer)> = REFUSED
        .iter()
        .map(|call| (*call, Answer::Fail(libc::EPERM)))
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
                values: TERMINAL_INPUT,
                error: libc::EPERM,
            }),
        ),
        (
            libc::SYS_personality,
            Answer::If(Test::NoneOf {
                argument: 0,
                values: ORDINARY,
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

fn intervals(allowed: Allowed) -> Vec<Interval> {
    let mut intervals: Vec<Interval> = vec![(0, Answer::Allow)];
    for (call, answer) in answers(allowed) {
        match intervals.last_mut() {
            Some((start, last)) if *start == call => *last = answer,
            _ => intervals.push((call, answer)),
        }
        intervals.push((call + 1, Answer::Allow));
    }
    intervals.dedup_by(|next, kept| next.1 == kept.1);
    intervals
}

/// The filter, ready to be loaded.
pub(super) fn program(allowed: Allowed) -> Vec<sock_filter> {
    let mut program = vec![
        load(ARCHITECTURE),
        jump(JEQ, OUR_ARCHITECTURE, 1, 0),
        fail(libc::ENOSYS),
        load(NUMBER),
    ];
    #[cfg(target_arch = "x86_64")]
    program.extend([jump(JGE, X32, 0, 1), fail(libc::ENOSYS)]);
    program.extend(search(&intervals(allowed)));
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
    };
    const NONE: Allowed = Allowed {
        unix: false,
        inet: false,
    };
    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

    fn ask(allowed: Allowed, call: c_long, arguments: [u32; 3]) -> u32 {
        let call = u32::try_from(call).unwrap();
        answer(&program(allowed), OUR_ARCHITECTURE, call, arguments)
    }

    #[test]
    fn every_call_has_the_answer_of_the_table() {
        let program = program(ALL);
        let table = answers(ALL);
        for call in 0..700 {
            let wanted = table.iter().find(|(number, _)| *number == call);
            let got = answer(&program, OUR_ARCHITECTURE, call, [0xdead, 0xdead, 0]);
            match wanted {
                None => assert_eq!(got, ALLOW, "{call}"),
                Some((_, Answer::Fail(error))) => {
                    assert_eq!(got, libc::SECCOMP_RET_ERRNO | *error as u32, "{call}");
                }
                Some(_) => {}
            }
        }
    }

    #[test]
    fn other_doors_to_the_kernel_are_shut() {
        let program = program(ALL);
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
        assert_eq!(ask(ALL, libc::SYS_socketpair, [1, 1, 0]), ALLOW);
        assert_ne!(ask(ALL, libc::SYS_socketpair, [38, 1, 0]), ALLOW);
    }
}
