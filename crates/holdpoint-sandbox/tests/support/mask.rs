//! A kernel without one of its features: a filter of this process fails the calls it is made of, as an older or a
//! restricted kernel would.

use libc::{c_long, sock_filter};

/// Calls that fail, with the error and, where only some uses of a call do, bits of its argument.
fn masked(feature: &str) -> (Vec<c_long>, Option<(u32, u32)>, i32) {
    // A kernel that was built without a kind of namespace refuses the flag.
    let namespace = |flag: i32, error| {
        let bits = u32::try_from(flag).unwrap();
        (vec![libc::SYS_clone], Some((0, bits)), error)
    };
    match feature {
        "users" => namespace(libc::CLONE_NEWUSER, libc::EPERM),
        "mounts" => namespace(libc::CLONE_NEWNS, libc::EINVAL),
        "processes" => namespace(libc::CLONE_NEWPID, libc::EINVAL),
        "network" => namespace(libc::CLONE_NEWNET, libc::EINVAL),
        "ipc" => namespace(libc::CLONE_NEWIPC, libc::EINVAL),
        "host names" => namespace(libc::CLONE_NEWUTS, libc::EINVAL),
        "groups" => namespace(libc::CLONE_NEWCGROUP, libc::EINVAL),
        "capset" => (vec![libc::SYS_capset], None, libc::EPERM),
        "landlock" => (
            vec![
                libc::SYS_landlock_create_ruleset,
                libc::SYS_landlock_add_rule,
                libc::SYS_landlock_restrict_self,
            ],
            None,
            libc::ENOSYS,
        ),
        "open_tree" => (vec![libc::SYS_open_tree], None, libc::ENOSYS),
        "mount_setattr" => (vec![libc::SYS_mount_setattr], None, libc::ENOSYS),
        "move_mount" => (vec![libc::SYS_move_mount], None, libc::ENOSYS),
        "mount" => (vec![libc::SYS_mount], None, libc::EPERM),
        "seccomp" => (vec![libc::SYS_seccomp], None, libc::EINVAL),
        "close_range" => (vec![libc::SYS_close_range], None, libc::ENOSYS),
        "sethostname" => (vec![libc::SYS_sethostname], None, libc::EPERM),
        // The filter can be loaded, and nobody be handed anything.
        "listener" => (vec![libc::SYS_seccomp], Some((1, 8)), libc::EBUSY),
        _ => (Vec::new(), None, 0),
    }
}

pub(crate) fn mask(feature: &str) {
    let (calls, argument, error) = masked(feature);
    assert!(!calls.is_empty(), "no feature `{feature}`");
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const ANY: u16 = 0x45;
    const RETURN: u16 = 0x06;
    let one = |code, k, jt, jf| sock_filter { code, jt, jf, k };
    let fail = one(
        RETURN,
        libc::SECCOMP_RET_ERRNO | u32::try_from(error).unwrap(),
        0,
        0,
    );
    let mut program = Vec::new();
    for call in calls {
        let call = u32::try_from(call).unwrap();
        program.push(one(LOAD, 0, 0, 0));
        match argument {
            None => program.extend([one(EQUAL, call, 0, 1), fail]),
            Some((index, bits)) => program.extend([
                one(EQUAL, call, 0, 3),
                one(LOAD, 16 + 8 * index, 0, 0),
                one(ANY, bits, 0, 1),
                fail,
            ]),
        }
    }
    program.push(one(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).unwrap(),
        filter: program.as_mut_ptr(),
    };
    // SAFETY: plain numbers.
    let bound = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(bound, 0);
    // SAFETY: the program is valid, as long as said, and only read.
    let loaded = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    assert_eq!(loaded, 0);
}
