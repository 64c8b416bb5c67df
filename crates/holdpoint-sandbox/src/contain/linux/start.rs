//! Starting the first process of a sandbox: in namespaces of its own, or in the network of another run.

use std::fs::{self, File};
use std::io::{self, PipeReader, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI32;

use libc::{c_int, pid_t};

use super::cgroup::Groups;
use super::gateway;
use super::init;
use super::report::Report;
use super::session::Network;
use super::sys::{self, Side};
use crate::network::HostRule;

/// What the first process is started into.
pub(super) struct Entry<'a> {
    /// The namespaces that are made.
    pub(super) namespaces: c_int,
    /// The network that is joined. It then belongs to another namespace of users than the process does.
    pub(super) joined: Option<&'a Network>,
    /// The hosts it may reach; none if nothing listens for names either.
    pub(super) hosts: Option<&'a [HostRule]>,
    /// Whether its network is kept for others to join.
    pub(super) shared: bool,
    /// The control groups it is put into.
    pub(super) groups: &'a Groups,
}

/// The first process's side of a sandbox that begins.
pub(super) struct Inner {
    pub(super) report: Report,
    /// By which descriptors reach the supervisor.
    pub(super) channel: UnixDatagram,
    /// Whether the network is another run's.
    pub(super) joined: bool,
    /// Where listed hosts are reached, if that is known already.
    pub(super) gateway: Option<Ipv4Addr>,
}

/// The supervisor's side.
pub(super) struct Started {
    pub(super) init: pid_t,
    pub(super) report: File,
    pub(super) channel: UnixDatagram,
    /// The network it has made, where it is to be kept.
    pub(super) network: Option<Network>,
}

/// Forks the first process and tells the system which users there are in its namespaces.
pub(super) fn start(entry: &Entry<'_>, init: &mut dyn FnMut(&Inner)) -> io::Result<Started> {
    let (report, writer) = io::pipe()?;
    let (reader, mut go) = io::pipe()?;
    let (channel, inner_channel) = UnixDatagram::pair()?;
    let mut inner = Inner {
        report: Report::new(OwnedFd::from(writer)),
        channel: inner_channel,
        joined: entry.joined.is_some(),
        gateway: None,
    };
    let new_users = entry.namespaces & libc::CLONE_NEWUSER != 0;
    let keeps_network = entry.shared && entry.joined.is_none();
    // Without anything to be told it begins at once.
    let waits =
        entry.joined.is_some() || new_users || keeps_network || !entry.groups.standing().is_empty();
    let child = match entry.joined {
        None => match sys::fork(entry.namespaces)? {
            Side::Child => {
                // Its own ends of the pipes would keep it from seeing that the supervisor has gone.
                drop((report, go, channel));
                let go = match waits {
                    true => Some(&reader),
                    false => None,
                };
                become_init(go, &inner, init)
            }
            Side::Parent(child) => child,
        },
        Some(network) => {
            let dumpable = sys::is_dumpable();
            let outer = [report.as_fd(), go.as_fd(), channel.as_fd()];
            let mut child = None;
            let between = sys::start_in_this_memory(&AtomicI32::new(0), || {
                child = go_between(entry, network, &mut inner, &reader, &outer, init).ok();
                0
            })?;
            sys::wait_for(between)?;
            // Whoever joins a namespace of users can no longer be looked into, and was in this memory.
            sys::set_dumpable(dumpable)?;
            child.ok_or(io::ErrorKind::NotFound)?
        }
    };
    drop((inner, reader));
    let told = if new_users && entry.joined.is_none() {
        map_users(child)
    } else {
        Ok(())
    };
    let told = told.and_then(|()| entry.groups.add(child));
    // As long as it waits it can be looked at; later it cannot.
    let network = told.and_then(|()| {
        keeps_network
            .then(|| Network::of(child, new_users))
            .transpose()
    });
    let network = network.and_then(|network| {
        if waits {
            go.write_all(&[1])?;
        }
        Ok(network)
    });
    match network {
        Ok(network) => Ok(Started {
            init: child,
            report: File::from(OwnedFd::from(report)),
            channel,
            network,
        }),
        Err(error) => {
            sys::signal(child, libc::SIGKILL);
            sys::wait_for(child)?;
            Err(error)
        }
    }
}

fn become_init(go: Option<&PipeReader>, inner: &Inner, init: &mut dyn FnMut(&Inner)) -> ! {
    init::begin(go, &inner.report);
    init(inner);
    sys::leave(1)
}

/// Goes into a network that is there, opens what is needed in it while it has the rights to, and leaves the supervisor a
/// child of its own in it, whose number it gives. `outer` is what only the supervisor may keep open.
fn go_between(
    entry: &Entry<'_>,
    network: &Network,
    inner: &mut Inner,
    reader: &PipeReader,
    outer: &[BorrowedFd<'_>],
    init: &mut dyn FnMut(&Inner),
) -> io::Result<pid_t> {
    sys::end_with_parent(libc::SIGKILL)?;
    network.join()?;
    if let Some(hosts) = entry.hosts {
        inner.gateway = Some(gateway::open(hosts, inner.channel.as_fd())?);
    }
    let namespaces = entry.namespaces & !libc::CLONE_NEWNET;
    match sys::fork(namespaces | libc::CLONE_PARENT)? {
        Side::Child => {
            sys::close_all(outer);
            become_init(Some(reader), inner, init)
        }
        Side::Parent(child) => {
            if namespaces & libc::CLONE_NEWUSER != 0 {
                map_users(child)?;
            }
            Ok(child)
        }
    }
}

/// Inside, everybody is who they are outside. An ordinary user may map nobody else; root maps all that this namespace
/// has, because the files of a workspace may be somebody else's.
fn map_users(child: pid_t) -> io::Result<()> {
    let at = |name: &str| PathBuf::from(format!("/proc/{child}/{name}"));
    if crate::user::id() == 0 {
        for name in ["uid_map", "gid_map"] {
            let ours = fs::read_to_string(Path::new("/proc/self").join(name))?;
            let mut map = String::new();
            for line in ours.lines() {
                let mut numbers = line.split_whitespace();
                if let (Some(inside), Some(_), Some(count)) =
                    (numbers.next(), numbers.next(), numbers.next())
                {
                    map.push_str(&format!("{inside} {inside} {count}\n"));
                }
            }
            fs::write(at(name), map)?;
        }
        return Ok(());
    }
    let (user, group) = (crate::user::id(), crate::user::group());
    fs::write(at("setgroups"), "deny")?;
    fs::write(at("uid_map"), format!("{user} {user} 1\n"))?;
    fs::write(at("gid_map"), format!("{group} {group} 1\n"))
}
