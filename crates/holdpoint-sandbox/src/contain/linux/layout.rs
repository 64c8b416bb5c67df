//! The file system a command finds: everything read-only, temporary directories, processes and devices of its own, an
//! empty home, and in it the trees it is given.
//!
//! There is no new root: in the new mount namespace one call makes every mount read-only, and what the command is given
//! was taken hold of before and is put back after. Everything that takes memory is made before the fork.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::landlock::Right;
use super::protected::Protection;
use super::services;
use super::sys;
use super::{Plan, path_text, text};
use crate::contain::{ContainError, Step};

/// Directories in whose place the command finds an empty one: others' files, and the sockets of services.
pub(super) const TEMPORARY: [&CStr; 3] = [c"/tmp", c"/var/tmp", c"/run"];

/// Directories whose files are not found inside, and neither are sockets in them.
const COVERED: [&str; 5] = ["/tmp", "/var/tmp", "/run", "/dev", "/proc"];

/// The device files it finds.
const DEVICES: [(&CStr, &str); 6] = [
    (c"/dev/null", "null"),
    (c"/dev/zero", "zero"),
    (c"/dev/full", "full"),
    (c"/dev/random", "random"),
    (c"/dev/urandom", "urandom"),
    (c"/dev/tty", "tty"),
];

/// What programs expect beside them.
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const NO_RIGHTS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// A tree the command is given.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) path: PathBuf,
    pub(super) right: Right,
    directory: bool,
}

/// All paths of the file system to be, real ones.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) given: Vec<Given>,
    pub(super) home: Option<PathBuf>,
    /// What is hidden, and whether it is a directory.
    pub(super) hidden: Vec<(PathBuf, bool)>,
    protection: Protection,
    /// The terminal of whoever started this, if there is one.
    terminal: Option<CString>,
    /// The file that says whom to ask for names, where it really is.
    pub(super) resolver: Option<PathBuf>,
    /// How many bytes an empty directory of its own holds.
    pub(super) temporary_size: u64,
    temporary: CString,
    directory: CString,
}

/// Where making it ended.
type Outcome = Result<(), (Step, io::Error)>;

impl Layout {
    pub(super) fn new(plan: &Plan, protection: Protection) -> Result<Self, ContainError> {
        let home = plan.home.as_deref().map(real).transpose()?.flatten();
        let home = home.map(|(home, _)| home);
        let mut given = Vec::new();
        let trees = real_trees(&plan.writable);
        for (paths, right) in [
            (&plan.readable, Right::Read),
            (&plan.writable, Right::Write),
        ] {
            for path in paths.iter().filter(|path| !is_led_astray(path, &trees)) {
                given.extend(Given::new(path, right)?);
            }
        }
        // What is above comes first, and of two rights over one path the greater.
        given.sort_by(|a, b| {
            let write_first = |one: &Given| one.right != Right::Write;
            (&a.path, write_first(a)).cmp(&(&b.path, write_first(b)))
        });
        given.dedup_by(|next, kept| next.path == kept.path);
        let mut kept: Vec<Given> = Vec::new();
        for one in given {
            let above = kept
                .iter()
                .rev()
                .find(|above| one.path.starts_with(&above.path));
            // A tree has what is below it; only a greater right is given apart.
            if above.is_none_or(|above| above.right == Right::Read && one.right == Right::Write) {
                kept.push(one);
            }
        }
        // A home that is given to be written, or has the system in it, cannot be masked.
        let home = home.filter(|home| {
            let whole = kept.iter().any(|given| home.starts_with(&given.path));
            !whole && home.parent().is_some() && !Path::new("/usr").starts_with(home)
        });
        // Without a mask everything is there to be read.
        if home.is_none() {
            kept.retain(|given| given.right == Right::Write);
        }
        let mut hidden = Vec::new();
        for path in &plan.hidden {
            hidden.extend(real(path)?);
        }
        let sockets = services::sockets(|path| {
            let is_below = |above: &Path| path.starts_with(above);
            let given = kept.iter().any(|given| is_below(&given.path));
            let covered = COVERED.iter().any(|above| is_below(Path::new(above)))
                || home.as_deref().is_some_and(is_below);
            !hidden.iter().any(|(above, _)| is_below(above)) && (given || !covered)
        });
        hidden.extend(sockets.into_iter().map(|path| (path, false)));
        Ok(Self {
            given: kept,
            home,
            hidden,
            protection,
            terminal: terminal(),
            // A system without the file asks nobody.
            resolver: fs::canonicalize("/etc/resolv.conf").ok(),
            temporary_size: plan.limits.temporary,
            temporary: text(format!("mode=1777,size={}", plan.limits.temporary).as_bytes())?,
            directory: text(plan.directory.as_os_str().as_bytes())?,
        })
    }

    /// The trees the command may write, for the rules of Landlock.
    pub(super) fn writable(&self) -> impl Iterator<Item = &Path> {
        let own = ["/tmp", "/var/tmp", "/run", "/dev"].map(Path::new);
        let given = self
            .given
            .iter()
            .filter(|given| given.right == Right::Write);
        let home = self.home.as_deref();
        own.into_iter()
            .chain(home)
            .chain(given.map(|given| given.path.as_path()))
    }

    /// Directories in whose place it finds an empty one. A system without one of them has nothing there to be hidden.
    pub(super) fn temporary_places(&self) -> impl Iterator<Item = &'static Path> {
        let there = TEMPORARY.into_iter().filter(|path| exists(path));
        there.map(|path| Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
    }

    /// What is protected, in the order of the paths, because what is above must not cover what hangs below it; and whether it
    /// is only on the way to a protected path.
    /// What is hidden can be changed by nobody anyway, and must not be uncovered.
    pub(super) fn protected(&self) -> Vec<(&Path, bool)> {
        let passages = self.protection.passages.iter().map(|path| (path, true));
        let present = self.protection.present.iter().map(|path| (path, false));
        let mut all: Vec<(&Path, bool)> = passages
            .chain(present)
            .map(|(path, is_passage)| (path.as_path(), is_passage))
            .filter(|(path, _)| {
                !self
                    .hidden
                    .iter()
                    .any(|(hidden, _)| path.starts_with(hidden))
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// Lays it out in this mount namespace, which is new and this process's own.
    /// Names are asked of `gateway`, where there is one.
    pub(super) fn make(&self, gateway: Option<Ipv4Addr>) -> Outcome {
        let trees = self.take_hold().map_err(|error| (Step::Trees, error))?;
        sys::set_mount(None, c"/", true, READ_ONLY | NO_RIGHTS, true)
            .map_err(|error| (Step::ReadOnly, error))?;
        for path in TEMPORARY.into_iter().filter(|path| exists(path)) {
            self.empty(path).map_err(|error| (Step::Temporary, error))?;
        }
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_RDONLY;
        sys::mount(c"proc", c"/proc", flags, None).map_err(|error| (Step::Processes, error))?;
        self.devices(&trees)
            .map_err(|error| (Step::Devices, error))?;
        if let Some(home) = &self.home {
            self.mask(home).map_err(|error| (Step::Home, error))?;
        }
        self.give(&trees).map_err(|error| (Step::Given, error))?;
        if let Some(gateway) = gateway {
            self.point_to(gateway)
                .map_err(|error| (Step::Loopback, error))?;
        }
        self.hide().map_err(|error| (Step::Hidden, error))?;
        self.protect().map_err(|error| (Step::Protected, error))?;
        sys::change_directory(&self.directory).map_err(|error| (Step::Directory, error))
    }

    fn take_hold(&self) -> io::Result<Trees> {
        let given = self
            .given
            .iter()
            .map(|given| sys::clone_tree(&text(given.path.as_os_str().as_bytes())?, true))
            .collect::<io::Result<_>>()?;
        let devices = DEVICES
            .iter()
            .map(|(path, _)| sys::clone_tree(path, false))
            .collect::<io::Result<_>>()?;
        let terminal = match &self.terminal {
            // Without it a program does not learn its terminal's name, and works.
            Some(path) => sys::clone_tree(path, false).ok(),
            None => None,
        };
        Ok(Trees {
            given,
            devices,
            terminal,
        })
    }

    /// An empty directory of its own over a path.
    fn empty(&self, path: &CStr) -> io::Result<()> {
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        sys::mount(c"tmpfs", path, flags, Some(&self.temporary))
    }

    /// An empty home. One below a directory that is empty already is made there.
    fn mask(&self, home: &Path) -> io::Result<()> {
        if fs::symlink_metadata(home).is_err() {
            make_place(home, true)?;
        }
        self.empty(&text(home.as_os_str().as_bytes())?)
    }

    fn devices(&self, trees: &Trees) -> io::Result<()> {
        let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
        sys::mount(c"tmpfs", c"/dev", flags, Some(c"mode=755,size=1m"))?;
        let named = DEVICES.iter().map(|(_, name)| *name).zip(&trees.devices);
        for (name, tree) in named.chain(trees.terminal.iter().map(|tree| ("console", tree))) {
            let path = Path::new("/dev").join(name);
            make_file(&path)?;
            sys::attach(tree.as_fd(), &text(path.as_os_str().as_bytes())?)?;
        }
        for (target, name) in DEVICE_LINKS {
            std::os::unix::fs::symlink(target, Path::new("/dev").join(name))?;
        }
        fs::create_dir("/dev/pts")?;
        fs::create_dir("/dev/shm")?;
        let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
        let options = c"newinstance,ptmxmode=0666,mode=620";
        sys::mount(c"devpts", c"/dev/pts", flags, Some(options))?;
        self.empty(c"/dev/shm")?;
        sys::set_mount(None, c"/dev", false, READ_ONLY, false)
    }

    fn give(&self, trees: &Trees) -> io::Result<()> {
        for (given, tree) in self.given.iter().zip(&trees.given) {
            let attributes = match given.right {
                Right::Read => READ_ONLY | NO_RIGHTS,
                Right::Write => NO_RIGHTS,
            };
            sys::set_mount(Some(tree.as_fd()), c"", true, attributes, true)?;
            if fs::symlink_metadata(&given.path).is_err() {
                make_place(&given.path, given.directory)?;
            }
            sys::attach(tree.as_fd(), &text(given.path.as_os_str().as_bytes())?)?;
        }
        Ok(())
    }

    /// Has programs ask the gateway for names: its address in place of what the system's file says.
    fn point_to(&self, gateway: Ipv4Addr) -> io::Result<()> {
        let Some(path) = &self.resolver else {
            return Ok(());
        };
        // The file may lie where an empty directory is now.
        if fs::symlink_metadata(path).is_err() {
            make_place(path, false)?;
        }
        // On a file system of its own, which nobody finds by a path.
        sys::mount(
            c"tmpfs",
            c"/dev/shm",
            libc::MS_NOSUID | libc::MS_NODEV,
            Some(c"size=4k"),
        )?;
        let text = format!("nameserver {gateway}\noptions attempts:1 timeout:5\n");
        fs::write("/dev/shm/resolv.conf", text)?;
        let file = sys::clone_tree(c"/dev/shm/resolv.conf", false)?;
        sys::set_mount(Some(file.as_fd()), c"", false, READ_ONLY | NO_RIGHTS, true)?;
        sys::attach(file.as_fd(), &path_text(path)?)?;
        sys::unmount(c"/dev/shm")
    }

    fn hide(&self) -> io::Result<()> {
        for (path, directory) in &self.hidden {
            // It may be hidden already, with what is above it.
            if fs::symlink_metadata(path).is_err() {
                continue;
            }
            let path = text(path.as_os_str().as_bytes())?;
            if *directory {
                let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_RDONLY;
                sys::mount(c"tmpfs", &path, flags, Some(c"mode=000,size=4k"))?;
            } else {
                // A device on a mount without devices: it can be seen, and opened by nobody.
                let nothing = sys::clone_tree(c"/dev/null", false)?;
                sys::set_mount(
                    Some(nothing.as_fd()),
                    c"",
                    false,
                    READ_ONLY | NO_RIGHTS,
                    true,
                )?;
                match sys::attach(nothing.as_fd(), &path) {
                    // A service may have ended meanwhile, and its socket with it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    attached => attached?,
                }
            }
        }
        Ok(())
    }

    fn protect(&self) -> io::Result<()> {
        for (path, is_passage) in self.protected() {
            let attributes = match is_passage {
                true => NO_RIGHTS,
                false => READ_ONLY | NO_RIGHTS,
            };
            let path = text(path.as_os_str().as_bytes())?;
            let tree = sys::clone_tree(&path, true)?;
            sys::set_mount(Some(tree.as_fd()), c"", true, attributes, true)?;
            sys::attach(tree.as_fd(), &path)?;
        }
        Ok(())
    }
}

/// What was taken hold of before everything became read-only.
struct Trees {
    given: Vec<OwnedFd>,
    devices: Vec<OwnedFd>,
    terminal: Option<OwnedFd>,
}

impl Given {
    /// What is not there is given to nobody.
    fn new(path: &Path, right: Right) -> Result<Option<Self>, ContainError> {
        Ok(real(path)?.map(|(path, directory)| Self {
            directory,
            path,
            right,
        }))
    }
}

/// Where trees really are. What is not there is in none.
pub(super) fn real_trees(paths: &[PathBuf]) -> Vec<PathBuf> {
    let real = paths.iter().map(fs::canonicalize);
    real.filter_map(Result::ok).collect()
}

/// Whether a path leads through a link in one of these trees: whoever may change it made it lead where they liked, and the
/// next command would be given that.
pub(super) fn is_led_astray(path: &Path, trees: &[PathBuf]) -> bool {
    // Most paths have no links in them, and one look says so.
    if !matches!(fs::canonicalize(path), Ok(real) if real != path) {
        return false;
    }
    let mut links = path.ancestors().filter(|above| above.is_symlink());
    links.any(|link| {
        let place = link.parent().map(fs::canonicalize);
        matches!(place, Some(Ok(place)) if trees.iter().any(|tree| place.starts_with(tree)))
    })
}

/// Where a path really is, and whether it is a directory; `None` if nothing is there. What cannot be looked at is an
/// error: it could be neither given nor hidden.
fn real(path: &Path) -> Result<Option<(PathBuf, bool)>, ContainError> {
    // Most of what a plan names is on few machines, and one look says that it is not on this one.
    let found = fs::metadata(path).and_then(|found| Ok((fs::canonicalize(path)?, found.is_dir())));
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ContainError::Path {
            path: path.to_owned(),
            source,
        }),
    }
}

fn exists(path: &CStr) -> bool {
    Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())).is_dir()
}

/// A place for a tree to hang over, where an empty directory covers what was there.
fn make_place(path: &Path, directory: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o755);
    if directory {
        return builder.create(path);
    }
    if let Some(parent) = path.parent() {
        builder.create(parent)?;
    }
    make_file(path)
}

fn make_file(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .open(path)
        .map(|_| ())
}

/// The path of the terminal on one of the standard streams.
fn terminal() -> Option<CString> {
    let stream = (0..3).find(|fd| sys::is_terminal(*fd))?;
    let path = fs::read_link(format!("/proc/self/fd/{stream}")).ok()?;
    text(path.as_os_str().as_bytes()).ok()
}
