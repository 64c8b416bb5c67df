//! The sandbox on Linux: the supervisor's side of it.

mod bubblewrap;
mod cgroup;
mod filter;
mod gateway;
mod init;
mod inside;
mod landlock;
mod layout;
mod notice;
mod order;
mod output;
mod payload;
mod protected;
mod report;
mod services;
mod session;
mod spare;
mod start;
mod supervise;
mod sys;
mod used_up;
mod walls;

use std::ffi::{CString, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libc::c_int;

use self::bubblewrap::{Bubblewrap, NotTold, Orders};
use self::cgroup::Groups;
use self::filter::Allowed;
use self::landlock::{Right, Rules};
use self::layout::{Layout, is_led_astray, real_trees};
use self::output::Output;
use self::payload::Payload;
use self::protected::{Placeholders, Stood};
use self::session::Network;
use self::start::{Entry, Inner, start};
use self::supervise::{Outcome, Supervision};
use super::{
    ContainError, Ended, Layers, Limits, NetworkLayer, Notice, Outside, Plan, Ran, Reached,
    Refusal, Step, Tier,
};
use crate::network::{HostRule, Internet};

/// Namespaces of a contained command, but for that of its user.
const NAMESPACES: c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The sockets of a command that has a network of its own.
const IN_OWN_NETWORK: Allowed = Allowed {
    unix: true,
    inet: true,
    tracing: false,
};

/// What a command reads in the tier without a file system of its own: the system, and no home.
const SYSTEM: [&str; 13] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix",
    "/proc",
    "/sys",
    "/var/lib",
    "/run/current-system",
];

/// The devices it reads and writes there.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];

/// A text as a system call takes it.
fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn path_text(path: &Path) -> io::Result<CString> {
    text(path.as_os_str().as_bytes())
}

pub(super) fn run(plan: &Plan, highest: Tier, outside: &Outside<'_>) -> Result<Ran, ContainError> {
    if plan.command.is_empty() {
        return Err(ContainError::NoCommand);
    }
    // A directory has a link for itself and one from above, and here one for each thread.
    if fs::metadata("/proc/self/task")?.nlink() != 3 {
        return Err(ContainError::Threads);
    }
    if is_directory(io::stdin().as_fd())
        || is_directory(io::stdout().as_fd())
        || is_directory(io::stderr().as_fd())
    {
        return Err(ContainError::DirectoryAsStream);
    }
    // Where it lies if it is a file. What has no path, such as a pipe, is nowhere.
    let input = fs::read_link("/proc/self/fd/0").unwrap_or_default();
    let mut protected = plan.protected.iter().chain(&plan.pinned);
    if protected.any(|path| input.starts_with(path)) {
        return Err(ContainError::ProtectedAsInput);
    }
    sweep_directory(&plan.journals);
    let groups = Groups::make(&plan.limits);
    let mut below: Option<String> = None;
    for tier in [Tier::Full, Tier::Landlock] {
        if tier > highest {
            continue;
        }
        if tier < plan.floor {
            break;
        }
        let attempt = match tier {
            Tier::Full => full(plan, outside, &groups)?,
            Tier::Landlock | Tier::None => landlocked(plan, outside, &groups)?,
        };
        match attempt {
            Attempt::Ended(outcome) => return Ok(told(*outcome, tier, below, &groups)),
            Attempt::NotMade(reason) => {
                below = Some(match below {
                    Some(before) => format!("{before}; {reason}"),
                    None => reason,
                });
            }
        }
    }
    // Running it without any wall is not this function's: whoever wants that needs no sandbox.
    Err(ContainError::BelowFloor {
        floor: plan.floor.max(Tier::Landlock),
        reason: below.unwrap_or_else(|| "it is above what was asked for".into()),
    })
}

/// Whether a stream is a directory. One that is closed is none.
fn is_directory(stream: BorrowedFd<'_>) -> bool {
    let opened = stream.try_clone_to_owned().map(fs::File::from);
    opened
        .and_then(|opened| opened.metadata())
        .is_ok_and(|found| found.is_dir())
}

/// What is said of a run.
fn told(outcome: Outcome, tier: Tier, below: Option<String>, groups: &Groups) -> Ran {
    let mut noted = outcome.noted;
    // Programs look for much that they can do without.
    if outcome.ended == Ended::Exited(0) {
        noted.hidden.clear();
    }
    for host in outcome.traffic.refused {
        noted.refuse(Refusal::Host {
            name: host.name,
            port: host.port,
            reason: host.reason,
        });
    }
    let mut layers = outcome.layers;
    layers.groups = groups.standing();
    Ran {
        ended: outcome.ended,
        tier,
        below,
        layers,
        reached: outcome.reached,
        unenforced: groups
            .missing()
            .iter()
            .copied()
            .chain(outcome.unenforced)
            .collect(),
        opened: outcome.traffic.opened,
        refusals: noted.refusals.into_iter().collect(),
        refusals_left_out: noted.left_out + outcome.traffic.left_out,
        hidden: noted.hidden.into_iter().collect(),
        replaced: outcome.replaced,
        trace: noted.trace,
    }
}

pub(super) fn reachable(hosts: bool) -> (Tier, Option<String>) {
    let plan = Plan {
        command: vec!["/bin/true".into()],
        environment: Vec::new(),
        directory: "/".into(),
        writable: Vec::new(),
        readable: Vec::new(),
        home: None,
        hidden: Vec::new(),
        protected: Vec::new(),
        pinned: Vec::new(),
        journals: PathBuf::from("/dev/null"),
        limits: Limits::default(),
        floor: Tier::Landlock,
        hosts: hosts
            .then(|| HostRule::parse("example.com").ok())
            .flatten()
            .into_iter()
            .collect(),
        session: None,
        tracing: false,
        notice: Notice::Nothing,
        stops: Vec::new(),
    };
    let outside = Outside {
        upstream: Arc::new(Internet),
        outlet: None,
    };
    match run(&plan, Tier::Full, &outside) {
        Ok(ran) => (ran.tier, ran.below),
        Err(error) => (Tier::None, Some(error.to_string())),
    }
}

pub(super) fn inside(arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    inside::called(arguments)
}

pub(super) fn set_inside() {
    bubblewrap::set_inside();
}

pub(super) fn filter_bytes() -> Vec<u8> {
    let program = filter::program(IN_OWN_NETWORK, Notice::Nothing);
    program
        .iter()
        .flat_map(|one| {
            let [a, b] = one.code.to_ne_bytes();
            let [c, d, e, f] = one.k.to_ne_bytes();
            [a, b, one.jt, one.jf, c, d, e, f]
        })
        .collect()
}

pub(super) fn sweep(journals: &Path) {
    sweep_directory(journals);
    cgroup::sweep();
}

fn sweep_directory(journals: &Path) {
    protected::sweep(journals);
    session::sweep(journals);
}

/// What became of a tier: nothing of the command has run where it was not made.
enum Attempt {
    Ended(Box<Outcome>),
    NotMade(String),
}

fn full(plan: &Plan, outside: &Outside<'_>, groups: &Groups) -> Result<Attempt, ContainError> {
    if landlock::version() == 0 {
        return Ok(Attempt::NotMade("the kernel has no Landlock".into()));
    }
    let trees = real_trees(&plan.writable);
    let (mut protection, placeholders) =
        Placeholders::protect(&plan.protected, &plan.pinned, &trees, &plan.journals)?;
    let stood = Stood::at(&protection);
    let mut attempt = protection
        .keep_ways_to(&plan.hidden, &trees)
        .map_err(ContainError::from)
        .and_then(|()| Layout::new(plan, protection))
        .and_then(|layout| within(plan, &layout, outside, groups));
    if let Ok(Attempt::Ended(outcome)) = &mut attempt {
        outcome.replaced = stood.replaced();
    }
    placeholders.take_away();
    attempt
}

/// In namespaces of our own; where an ordinary user may make none, in those that bubblewrap makes.
fn within(
    plan: &Plan,
    layout: &Layout,
    outside: &Outside<'_>,
    groups: &Groups,
) -> Result<Attempt, ContainError> {
    let own = match contained(plan, layout, outside, groups)? {
        Attempt::NotMade(reason) if crate::user::id() != 0 => reason,
        attempt @ (Attempt::Ended(_) | Attempt::NotMade(_)) => return Ok(attempt),
    };
    Ok(match bubblewrapped(plan, layout, outside, groups)? {
        Attempt::NotMade(reason) => Attempt::NotMade(format!("{own}; {reason}")),
        attempt @ Attempt::Ended(_) => attempt,
    })
}

fn bubblewrapped(
    plan: &Plan,
    layout: &Layout,
    outside: &Outside<'_>,
    groups: &Groups,
) -> Result<Attempt, ContainError> {
    let found = match Bubblewrap::find(plan) {
        Ok(found) => found,
        Err(reason) => return Ok(Attempt::NotMade(reason.into())),
    };
    let mut orders = match Orders::new(&found, plan, layout) {
        Ok(orders) => orders,
        Err(NotTold::Link) => {
            return Ok(Attempt::NotMade("bubblewrap protects no links".into()));
        }
        Err(NotTold::Io(error)) => return Ok(by_bubblewrap(&error)),
    };
    let entry = Entry {
        namespaces: 0,
        joined: None,
        hosts: None,
        shared: false,
        groups,
    };
    let mut output = output(plan, outside)?;
    // Where bubblewrap ends before its time, what it has started is to be found.
    sys::adopt_orphans()?;
    let started = start(&entry, &mut |inner| {
        replace_streams(output.as_ref(), inner);
        let (step, error) = orders.become_it(inner);
        inner.report.failed(step, &error);
    });
    if let Some(output) = &mut output {
        output.leave_ends();
    }
    let started = match started {
        Ok(started) => started,
        Err(error) => {
            sys::leave_orphans()?;
            return Ok(by_bubblewrap(&error));
        }
    };
    let watched = orders.watched(started.init)?;
    let supervision = Supervision {
        plan,
        outside,
        meeting: None,
        network: None,
        groups,
        tier: Tier::Full,
        layers: Layers {
            users: !found.setuid,
            mounts: true,
            processes: true,
            network: NetworkLayer::Own,
            landlock: landlock::version(),
            filter: true,
            groups: Vec::new(),
            bubblewrap: true,
        },
        bubblewrap: Some(&watched),
        unenforced: found.setuid.then_some(Reached::Temporary),
    };
    let attempt = supervision.finish(started, output);
    watched.end_left();
    sys::leave_orphans()?;
    Ok(match attempt? {
        Attempt::NotMade(reason) => Attempt::NotMade(format!("in bubblewrap, {reason}")),
        attempt @ Attempt::Ended(_) => attempt,
    })
}

fn by_bubblewrap(error: &io::Error) -> Attempt {
    Attempt::NotMade(format!("bubblewrap cannot make it ({})", error.kind()))
}

fn contained(
    plan: &Plan,
    layout: &Layout,
    outside: &Outside<'_>,
    groups: &Groups,
) -> Result<Attempt, ContainError> {
    let trees = layout
        .writable()
        .map(|path| Ok((path_text(path)?, Right::Write)))
        .collect::<io::Result<_>>()?;
    let rules = Rules {
        reading: false,
        no_tcp: false,
        trees,
    };
    let mut payload = Payload::new(plan, rules, IN_OWN_NETWORK, None)?;
    let met = plan
        .session
        .as_deref()
        .map(|session| session::meet(session, &plan.hosts))
        .transpose()?;
    let (found, meeting) = match &met {
        Some((found, meeting)) => (found.as_ref(), Some(meeting)),
        None => (None, None),
    };
    // Where nobody looks on and nothing is listed, nobody need be told that a name does not exist.
    let listens = !plan.hosts.is_empty() || plan.notice != Notice::Nothing;
    let hosts = listens.then_some(plan.hosts.as_slice());
    let mut output = output(plan, outside)?;
    let mut init = |inner: &Inner| {
        replace_streams(output.as_ref(), inner);
        init::run(layout, &mut payload, hosts, inner);
    };
    let mut begin = |namespaces: c_int, joined: Option<&Network>| {
        let entry = Entry {
            namespaces,
            joined,
            hosts,
            shared: meeting.is_some(),
            groups,
        };
        start(&entry, &mut init)
    };
    let with_users = NAMESPACES | libc::CLONE_NEWUSER;
    let joined = found.and_then(|network| {
        // A run that ended since has taken nothing with it; whatever else fails, a network of its own is always right.
        let namespaces = network.users.as_ref().map_or(NAMESPACES, |_| with_users);
        begin(namespaces, Some(network)).ok()
    });
    let network = if joined.is_some() { found } else { None };
    let mut users = network.is_none_or(|network| network.users.is_some());
    let started = match joined {
        Some(started) => Ok(started),
        None => match begin(with_users, None) {
            // Root may have the rights itself where nobody may have a user namespace.
            Err(error) if crate::user::id() == 0 => {
                users = false;
                begin(NAMESPACES, None).map_err(|_| error)
            }
            started => started,
        },
    };
    let supervision = Supervision {
        plan,
        outside,
        meeting,
        network,
        groups,
        tier: Tier::Full,
        layers: Layers {
            users,
            mounts: true,
            processes: true,
            network: match network {
                Some(_) => NetworkLayer::Joined,
                None => NetworkLayer::Own,
            },
            landlock: landlock::version(),
            filter: true,
            groups: Vec::new(),
            bubblewrap: false,
        },
        bubblewrap: None,
        unenforced: None,
    };
    if let Some(output) = &mut output {
        output.leave_ends();
    }
    match started {
        Ok(started) => supervision.finish(started, output),
        Err(error) => Ok(not_made(Step::Namespaces, &error)),
    }
}

/// The pipes of a command whose output is counted or looked at. A terminal has none where it is only counted: somebody
/// looks on.
fn output<'o>(plan: &Plan, outside: &Outside<'o>) -> io::Result<Option<Output<'o>>> {
    let counted = plan.limits.output;
    match outside.outlet {
        Some(outlet) => Output::new(counted.unwrap_or(u64::MAX), Some(outlet)).map(Some),
        None => counted
            .filter(|_| !output::on_terminal())
            .map(|most| Output::new(most, None))
            .transpose(),
    }
}

/// Inside, before anything else runs.
fn replace_streams(output: Option<&Output<'_>>, inner: &Inner) {
    if let Some(Err(error)) = output.map(Output::replace_streams) {
        inner.report.failed(Step::Payload, &error);
        sys::leave(1);
    }
}

fn not_made(step: Step, error: &io::Error) -> Attempt {
    Attempt::NotMade(format!("{step} cannot be had ({})", error.kind()))
}

fn landlocked(
    plan: &Plan,
    outside: &Outside<'_>,
    groups: &Groups,
) -> Result<Attempt, ContainError> {
    let real = real_trees(&plan.writable);
    let given = |paths: &'_ [PathBuf]| -> Vec<PathBuf> {
        let paths = paths.iter().filter(|path| !is_led_astray(path, &real));
        paths.cloned().collect()
    };
    let (readable, writable) = (given(&plan.readable), given(&plan.writable));
    let reads = SYSTEM
        .iter()
        .map(Path::new)
        .chain(readable.iter().map(PathBuf::as_path));
    let writes = DEVICES
        .iter()
        .map(Path::new)
        .chain(writable.iter().map(PathBuf::as_path));
    let trees = reads
        .map(|path| (path, Right::Read))
        .chain(writes.map(|path| (path, Right::Write)))
        .map(|(path, right)| Ok((path_text(path)?, right)))
        .collect::<io::Result<_>>()?;
    let rules = Rules {
        reading: true,
        no_tcp: true,
        trees,
    };
    let allowed = Allowed {
        unix: false,
        inet: false,
        tracing: false,
    };
    let directory = path_text(&plan.directory)?;
    let payload = Payload::new(plan, rules, allowed, Some(directory))?;
    let entry = Entry {
        namespaces: 0,
        joined: None,
        hosts: None,
        shared: false,
        groups,
    };
    let mut output = output(plan, outside)?;
    let supervision = Supervision {
        plan,
        outside,
        meeting: None,
        network: None,
        groups,
        tier: Tier::Landlock,
        layers: Layers {
            landlock: landlock::version(),
            filter: true,
            ..Layers::default()
        },
        bubblewrap: None,
        unenforced: None,
    };
    let started = start(&entry, &mut |inner| {
        replace_streams(output.as_ref(), inner);
        init::watch(&payload, inner);
    });
    if let Some(output) = &mut output {
        output.leave_ends();
    }
    match started {
        Ok(started) => supervision.finish(started, output),
        Err(error) => Ok(not_made(Step::Payload, &error)),
    }
}
