//! Noticing what a command is refused: the filter hands some calls to the supervisor, which looks at them and lets the
//! system go on, or gives the error the filter would have given.
//!
//! Nothing is decided here. A call that is handed over and allowed meets the same walls as without it; one that is
//! refused is refused whatever its arguments are by then. What is told of paths may be wrong where a program changes
//! its memory meanwhile: a report, never a wall.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

use super::filter::{self, Needs, Noticed};
use super::sys;
use crate::contain::{Notice, Plan, Refusal, Tier, Trace};
use crate::network::HostRefusal;
use crate::places::may_write;

/// What a message to the supervisor holds.
pub(super) const LISTENER: u8 = b'L';

/// The most refusals that are told: a command can be refused without end.
const MAX_REFUSALS: usize = 64;

/// The most paths of each kind that a trace holds.
const MAX_TRACED: usize = 4096;

/// The longest path the system takes.
const MAX_PATH: usize = 4096;

/// Where a command has files of its own, which nobody else sees.
const OWN: [&str; 5] = ["/tmp", "/var/tmp", "/run", "/dev", "/proc"];

/// Those of them in which others keep files, too.
const COVERED: [&str; 2] = ["/tmp", "/var/tmp"];

/// What every command reads.
const SYSTEM: [&str; 12] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/proc", "/sys",
    "/dev",
];

/// What was noticed of a run.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) refusals: BTreeSet<Refusal>,
    pub(super) left_out: u64,
    /// What it looked for and did not find, because it is hidden.
    pub(super) hidden: BTreeSet<PathBuf>,
    pub(super) trace: Trace,
}

impl Noted {
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.insert(refusal);
        } else if !self.refusals.contains(&refusal) {
            self.left_out += 1;
        }
    }
}

/// The supervisor's end of the filter.
pub(super) struct Watch {
    listener: OwnedFd,
    grounds: Grounds,
    everything: bool,
}

impl Watch {
    pub(super) fn new(listener: OwnedFd, plan: &Plan, tier: Tier) -> Self {
        // Without it a call that is looked at takes ten times as long.
        sys::wake_at_once(listener.as_fd());
        Self {
            listener,
            grounds: Grounds::new(plan, tier),
            everything: plan.notice == Notice::Everything,
        }
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Looks at one call and answers it. `false` if there will be no more.
    pub(super) fn answer(&self, noted: &mut Noted) -> bool {
        let call = match sys::next_call(self.listener.as_fd()) {
            Ok(call) => call,
            // Whoever made it has gone. If that was the last, the listener is ready without end, and asking it again and again
            // takes the processor from those who are to say how the command ended.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                return !sys::nobody_calls(self.listener.as_fd());
            }
            // A signal came.
            Err(error) => return error.raw_os_error() == Some(libc::EINTR),
        };
        let answer = match filter::noticed(call.number) {
            Some(noticed) => {
                self.look(&call, noticed, noted);
                None
            }
            None => {
                let (name, error) = filter::refused(call.number);
                noted.refuse(Refusal::Call(name));
                Some(error)
            }
        };
        // Whoever made it may have gone meanwhile.
        sys::answer_call(self.listener.as_fd(), call.id, answer).is_ok_or_gone()
    }

    fn look(&self, call: &sys::Call, noticed: Noticed, noted: &mut Noted) {
        let argument = |index: usize| call.arguments.get(index).copied().unwrap_or_default();
        match noticed {
            Noticed::Path {
                directory,
                path,
                flags,
                needs,
            } => {
                let writes =
                    flags.is_none_or(|flags| argument(flags) & u64::from(filter::WRITING) != 0);
                let Some(text) = read_text(call.process, argument(path)) else {
                    return;
                };
                if !writes {
                    self.note_hidden(call, &text, noted);
                }
                // Most of what a command does is reading, and costs it no more than that.
                if writes || self.everything {
                    let path = path_of(call, directory.map(argument), &text);
                    path.into_iter()
                        .for_each(|path| self.note_path(&path, writes.then_some(needs), noted));
                }
            }
            Noticed::Run { directory, path } => {
                let Some(text) = read_text(call.process, argument(path)) else {
                    return;
                };
                self.note_hidden(call, &text, noted);
                if self.everything && noted.trace.run.len() < MAX_TRACED {
                    let path = path_of(call, directory.map(argument), &text);
                    noted.trace.run.extend(path);
                }
            }
            Noticed::Connect => {
                let target = address_of(call, argument(1), argument(2));
                let outside = target.filter(|(to, _)| !to.is_loopback() && !to.is_unspecified());
                if let Some((address, port)) = outside {
                    noted.refuse(Refusal::Host {
                        name: address.to_string(),
                        port,
                        reason: HostRefusal::NotListed,
                    });
                }
            }
        }
    }

    /// Notes a path that is there outside and not inside. One that is not whole leads on from where the command is, which it
    /// can see.
    fn note_hidden(&self, call: &sys::Call, text: &[u8], noted: &mut Noted) {
        let path = Path::new(OsStr::from_bytes(text));
        if noted.hidden.len() >= MAX_REFUSALS || !self.grounds.may_hide(path) {
            return;
        }
        let path = resolved(path);
        let inside = || {
            let below = path.strip_prefix("/").unwrap_or(&path);
            Path::new(&format!("/proc/{}/root", call.process)).join(below)
        };
        // What is made inside under the name of something outside is the command's own.
        let is_hidden = self.grounds.may_hide(&path)
            && path.symlink_metadata().is_ok()
            && (!self.grounds.has_own || inside().symlink_metadata().is_err());
        if is_hidden {
            noted.hidden.insert(path);
        }
    }

    /// Notes a path that is read, or one that is written by a call that needs this to be there.
    fn note_path(&self, path: &Path, writes: Option<Needs>, noted: &mut Noted) {
        if let Some(refusal) = writes.and_then(|needs| self.grounds.refusal(path, needs)) {
            noted.refuse(refusal);
        }
        if !self.everything {
            return;
        }
        let below = |all: &[PathBuf]| all.iter().any(|tree| path.starts_with(tree));
        if writes.is_some() {
            let own = OWN.iter().any(|tree| path.starts_with(tree));
            let own = own && !below(&self.grounds.writable);
            if !own && noted.trace.written.len() < MAX_TRACED {
                noted.trace.written.insert(path.to_owned());
            }
        } else {
            let system = SYSTEM.iter().any(|tree| path.starts_with(tree));
            let known = system || below(&self.grounds.writable);
            if !known && noted.trace.read.len() < MAX_TRACED && path.exists() {
                noted.trace.read.insert(path.to_owned());
            }
        }
    }
}

/// What a command may change.
struct Grounds {
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    /// What nobody is told of.
    hidden: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// Where something may be hidden from it: the home, and directories that are its own.
    covered: Vec<PathBuf>,
    has_own: bool,
}

impl Grounds {
    fn new(plan: &Plan, tier: Tier) -> Self {
        let real = |paths: &[PathBuf]| {
            paths
                .iter()
                .filter_map(|path| fs::canonicalize(path).ok())
                .collect()
        };
        let full = tier == Tier::Full;
        Self {
            writable: real(&plan.writable),
            protected: [&plan.protected, &plan.pinned]
                .into_iter()
                .filter(|_| full)
                .flatten()
                .cloned()
                .collect(),
            readable: real(&plan.readable),
            hidden: plan.hidden.clone(),
            home: plan.home.clone().filter(|_| full),
            covered: COVERED
                .iter()
                .map(PathBuf::from)
                .chain(plan.home.clone())
                .chain(
                    plan.home
                        .as_deref()
                        .and_then(|home| fs::canonicalize(home).ok()),
                )
                .collect(),
            has_own: full,
        }
    }

    /// Whether a path lies where things are hidden, and in nothing that is given.
    fn may_hide(&self, path: &Path) -> bool {
        let below = |all: &[PathBuf]| all.iter().any(|tree| path.starts_with(tree));
        let is_above = || self.covered.iter().any(|covered| covered == path);
        let given = below(&self.readable) || below(&self.writable);
        below(&self.covered) && !is_above() && !given && !below(&self.hidden)
    }

    /// Why a path cannot be changed, if that is the sandbox's doing.
    fn refusal(&self, path: &Path, needs: Needs) -> Option<Refusal> {
        let below = |all: &[PathBuf]| all.iter().any(|tree| path.starts_with(tree));
        if below(&self.protected) {
            return Some(Refusal::Protected(path.to_owned()));
        }
        if below(&self.writable) {
            return None;
        }
        if self.has_own && OWN.iter().any(|tree| path.starts_with(tree)) {
            return None;
        }
        let masked = self
            .home
            .as_ref()
            .is_some_and(|home| path.starts_with(home));
        if masked && !below(&self.readable) {
            return None;
        }
        // A device that everybody has.
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return None;
        }
        let is_there = path.symlink_metadata().is_ok();
        let fails = match needs {
            Needs::Anything => false,
            Needs::Something => !is_there,
            Needs::Nothing => is_there,
        };
        if fails {
            return None;
        }
        // What the user could not change either is not refused by the sandbox.
        let changed = if is_there { Some(path) } else { path.parent() };
        let own = changed.is_some_and(|path| may_write(path).unwrap_or(false));
        own.then(|| Refusal::Write(path.to_owned()))
    }
}

/// The path a text means to whoever made a call.
fn path_of(call: &sys::Call, directory: Option<u64>, text: &[u8]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(text));
    if path.as_os_str().is_empty() {
        return None;
    }
    let from = |what: String| fs::read_link(format!("/proc/{}/{what}", call.process)).ok();
    let whole = if path.is_absolute() {
        path.to_owned()
    } else {
        // The lower half is the descriptor; -100 is the present directory.
        let number = directory.map(|number| i32::from_ne_bytes(lower_half(number)));
        let base = match number {
            None | Some(libc::AT_FDCWD) => from("cwd".into()),
            Some(number) => from(format!("fd/{number}")),
        };
        base?.join(path)
    };
    Some(resolved(&whole))
}

fn lower_half(number: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = number.to_le_bytes();
    [a, b, c, d]
}

/// A path without `.` and `..`, and its directory where it really is.
fn resolved(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    match (plain.parent().map(fs::canonicalize), plain.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => plain,
    }
}

/// A text in another process's memory, up to its zero byte.
fn read_text(process: libc::pid_t, at: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut at = at;
    while text.len() < MAX_PATH {
        // Up to the end of a page: the next may not be there.
        let room = 4096 - usize::try_from(at % 4096).unwrap_or_default();
        let mut page = vec![0; room];
        // Asked directly it takes a third of the time; some systems have only the other way.
        let length = sys::read_memory(process, at, &mut page)
            .or_else(|_| File::open(format!("/proc/{process}/mem"))?.read_at(&mut page, at))
            .ok()?;
        let read = page.get(..length)?;
        if let Some(end) = read.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(read.get(..end)?);
            return Some(text);
        }
        if length == 0 {
            return None;
        }
        text.extend_from_slice(read);
        at = at.checked_add(u64::try_from(length).ok()?)?;
    }
    None
}

/// The address a socket is to be connected to. `None` if it is none of the internet's.
fn address_of(call: &sys::Call, at: u64, length: u64) -> Option<(IpAddr, u16)> {
    let memory = File::open(format!("/proc/{}/mem", call.process)).ok()?;
    let mut bytes = [0; 28];
    let length = usize::try_from(length).unwrap_or_default().min(bytes.len());
    let room = bytes.get_mut(..length)?;
    memory.read_exact_at(room, at).ok()?;
    let [a, b, high, low, rest @ ..] = bytes;
    let port = u16::from_be_bytes([high, low]);
    match i32::from(u16::from_ne_bytes([a, b])) {
        libc::AF_INET => {
            let address: [u8; 4] = rest.get(..4)?.try_into().ok()?;
            Some((IpAddr::V4(Ipv4Addr::from(address)), port))
        }
        libc::AF_INET6 => {
            let address: [u8; 16] = rest.get(4..20)?.try_into().ok()?;
            Some((IpAddr::V6(Ipv6Addr::from(address)).to_canonical(), port))
        }
        _ => None,
    }
}

/// Whether an answer reached somebody, or nobody is left to be answered.
trait Answered {
    fn is_ok_or_gone(&self) -> bool;
}

impl Answered for io::Result<()> {
    fn is_ok_or_gone(&self) -> bool {
        match self {
            Ok(()) => true,
            Err(error) => error.raw_os_error() == Some(libc::ENOENT),
        }
    }
}
