//! How the runs of one session find each other: they share one network, so that a server one of them has started is
//! reached from the next.
//!
//! Each run listens on a socket in a directory of its user's that no sandbox sees, and hands the network it is in to
//! whoever asks. No process keeps it: it lasts as long as a run in it does.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::sys;
use crate::network::HostRule;

/// How long another run has to hand over its network: it does so between two other things it waits for.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The most bytes of a list of hosts that are compared. A longer one is not shared.
const MAX_LISTED: usize = 16 << 10;

/// A network, and the namespace of users it belongs to. Root may do without the second.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) users: Option<OwnedFd>,
    pub(super) network: OwnedFd,
}

impl Network {
    /// That of a process that has just been made.
    pub(super) fn of(process: libc::pid_t, with_users: bool) -> io::Result<Self> {
        let open = |name: &str| File::open(format!("/proc/{process}/ns/{name}")).map(OwnedFd::from);
        Ok(Self {
            users: with_users.then(|| open("user")).transpose()?,
            network: open("net")?,
        })
    }

    /// Goes there, with this whole process.
    pub(super) fn join(&self) -> io::Result<()> {
        if let Some(users) = &self.users {
            sys::join_namespace(users.as_fd())?;
        }
        sys::join_namespace(self.network.as_fd())
    }
}

/// The socket of a run, and what it hands out.
#[derive(Debug)]
pub(super) struct Meeting {
    listener: UnixListener,
    path: PathBuf,
    hosts: Vec<u8>,
}

/// What two lists of hosts must have in common for their runs to share a network: everything. What one may reach, the
/// other can reach through it.
fn listed(hosts: &[HostRule]) -> Vec<u8> {
    let mut all: Vec<String> = hosts.iter().map(HostRule::to_string).collect();
    all.sort_unstable();
    all.dedup();
    let mut bytes = b"hosts:".to_vec();
    bytes.extend(all.join(",").into_bytes());
    bytes
}

/// Finds the network of a run of the same session that is alive, and begins to listen for later ones.
pub(super) fn meet(session: &Path, hosts: &[HostRule]) -> io::Result<(Option<Network>, Meeting)> {
    let (Some(directory), Some(name)) = (session.parent(), session.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let hosts = listed(hosts);
    // Two that begin at the same time must not both find nobody.
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(directory.join("sessions.lock"))?;
    let until = Instant::now() + MAX_WAIT;
    while !sys::lock(lock.as_fd(), true)? && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    // Through the directory's descriptor: a socket's path may only be some hundred bytes long.
    let opened = File::open(directory)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    let mut begins = name.as_bytes().to_vec();
    begins.push(b'.');
    let mut found = None;
    for entry in fs::read_dir(directory)?.flatten() {
        let name = entry.file_name();
        if found.is_some() || !name.as_bytes().starts_with(&begins) || maker(&name).is_none() {
            continue;
        }
        // One whose run was killed answers nobody, and is swept.
        if let Ok(stream) = UnixStream::connect(short.join(&name)) {
            found = ask(&stream, &hosts).ok().flatten();
        }
    }
    let mut own = begins;
    own.extend(format!("{}{SOCKETS}", std::process::id()).into_bytes());
    let own = OsStr::from_bytes(&own);
    let path = directory.join(own);
    // Of a run that was killed and had the same number.
    let _ = fs::remove_file(&path);
    let listener = UnixListener::bind(short.join(own))?;
    listener.set_nonblocking(true)?;
    let meeting = Meeting {
        listener,
        path,
        hosts,
    };
    Ok((found, meeting))
}

/// What the names of the sockets end in, behind the number of the process that listens.
const SOCKETS: &str = ".net";

/// The process that listens on a socket of this name.
fn maker(name: &OsStr) -> Option<u32> {
    let name = name.to_str()?.strip_suffix(SOCKETS)?;
    name.rsplit_once('.')?.1.parse().ok()
}

/// Takes away the sockets of runs that were killed.
pub(super) fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let gone = |process: u32| !Path::new("/proc").join(process.to_string()).exists();
        if maker(&entry.file_name()).is_some_and(gone) {
            // Another may have done so already.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Asks a run for its network. `None` if its hosts are others.
fn ask(stream: &UnixStream, hosts: &[u8]) -> io::Result<Option<Network>> {
    stream.set_read_timeout(Some(MAX_WAIT))?;
    if sys::peer_user(stream.as_fd())? != crate::user::id() {
        return Ok(None);
    }
    let mut bytes = vec![0; MAX_LISTED];
    let (length, fds) = sys::take_passed(stream.as_fd(), &mut bytes)?;
    if bytes.get(..length) != Some(hosts) {
        return Ok(None);
    }
    let mut fds = fds.into_iter();
    Ok(match (fds.next(), fds.next()) {
        (Some(network), users) => Some(Network { users, network }),
        (None, _) => None,
    })
}

impl Meeting {
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Hands the network to whoever came.
    pub(super) fn hand_over(&self, network: &Network) {
        let Ok((stream, _)) = self.listener.accept() else {
            return;
        };
        let same = sys::peer_user(stream.as_fd()).is_ok_and(|user| user == crate::user::id());
        if same && self.hosts.len() <= MAX_LISTED {
            let mut fds = vec![network.network.as_fd()];
            fds.extend(network.users.as_ref().map(AsFd::as_fd));
            // Whoever has gone again makes a network of its own.
            let _ = sys::pass(stream.as_fd(), &self.hosts, &fds);
        }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // What stays is taken away by the next run, which finds nobody there.
        let _ = fs::remove_file(&self.path);
    }
}
