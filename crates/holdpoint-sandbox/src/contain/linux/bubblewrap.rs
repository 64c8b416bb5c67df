//! The sandbox made by bubblewrap, where this user may make no namespaces and bubblewrap may: it is setuid, or the system
//! has an exception for it.
//!
//! Landlock cannot be put on before: whoever is held by it mounts nothing, and a setuid program gains nothing. So bubblewrap is
//! told of the mounts and starts this program once more as the first process inside, which looks whether they all stand and
//! does the rest ([`inside`](super::inside)).
//!
//! It gives neither listed hosts nor the network of another run: the ports of names and hosts are not an ordinary user's to
//! listen on, and a network that a setuid program made is not its to join.

use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use libc::{c_int, pid_t};

use super::landlock::Right;
use super::layout::Layout;
use super::order::{self, Order};
use super::start::Inner;
use super::sys::{self, Answer, Texts};
use super::text;
use super::walls::Wall;
use super::{Plan, inside};
use crate::contain::Step;
use crate::network::HOST_NAME;

/// Where it is looked for: never where a variable points to.
const PROGRAMS: [&CStr; 3] = [c"/usr/bin/bwrap", c"/usr/local/bin/bwrap", c"/bin/bwrap"];

/// Signals that are for the command and the first process inside, and would end bubblewrap, and with it everything.
const NOT_ITS_OWN: [c_int; 5] = [
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGUSR1,
];

/// The most bubblewrap says of itself: one number in a few words.
const MAX_TOLD: usize = 4096;

/// How long bubblewrap may take to start anything.
const MAX_START: Duration = Duration::from_secs(5);

/// Whether this program is its own second stage when it is started again: one that is not cannot use bubblewrap.
static HAS_INSIDE: AtomicBool = AtomicBool::new(false);

pub(super) fn set_inside() {
    HAS_INSIDE.store(true, Ordering::Relaxed);
}

/// Bubblewrap as it is on this machine.
pub(super) struct Bubblewrap {
    program: &'static CStr,
    /// Whether it has rights of its own. Then it makes no namespace of users.
    pub(super) setuid: bool,
}

impl Bubblewrap {
    /// The one on this machine, or why there is none to be used.
    pub(super) fn find(plan: &Plan) -> Result<Self, &'static str> {
        if !HAS_INSIDE.load(Ordering::Relaxed) {
            return Err("this program does not use bubblewrap");
        }
        let found = PROGRAMS.into_iter().find_map(|program| {
            let path = Path::new(std::ffi::OsStr::from_bytes(program.to_bytes()));
            Some((program, fs::metadata(path).ok()?))
        });
        let Some((program, found)) = found else {
            return Err("there is no bubblewrap");
        };
        // What others than root can change makes no walls.
        if !found.is_file() || found.uid() != 0 || found.mode() & 0o022 != 0 {
            return Err("bubblewrap is not root's alone");
        }
        if !plan.hosts.is_empty() {
            return Err("listed hosts are not reached through bubblewrap");
        }
        let setuid = found.mode() & libc::S_ISUID != 0;
        Ok(Self { program, setuid })
    }
}

/// Why bubblewrap cannot be told what is wanted of it.
#[derive(Debug)]
pub(super) enum NotTold {
    /// A protected path is a link. It would bind what the link leads to, and the link itself could be replaced.
    Link,
    Io(io::Error),
}

impl From<io::Error> for NotTold {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What bubblewrap is told, and what the second stage is.
pub(super) struct Orders {
    program: &'static CStr,
    arguments: Texts,
    /// Files without a name: what bubblewrap reads, and what the second stage does.
    told: OwnedFd,
    order: OwnedFd,
    this_program: File,
    nothing: File,
    /// Where bubblewrap says which process it has started. No pipe: it would end when nobody is left to read from that, and what
    /// it has started would wait for it for ever.
    started: OwnedFd,
    /// Children this process has anyway.
    others: Vec<pid_t>,
}

impl Orders {
    pub(super) fn new(found: &Bubblewrap, plan: &Plan, layout: &Layout) -> Result<Self, NotTold> {
        // With rights of its own it takes no sizes from users.
        let size = (!found.setuid).then_some(layout.temporary_size);
        let mounts = Mounts::of(layout, size)?;
        let order = Order {
            command: plan.command.clone(),
            environment: plan.environment.clone(),
            directory: plan.directory.clone(),
            writable: layout.writable().map(Path::to_owned).collect(),
            walls: mounts.walls,
            outside: order::namespaces()?,
            file_size: plan.limits.file_size,
            processes: plan.limits.processes,
            tracing: plan.tracing,
            notice: plan.notice,
        };
        let started = sys::nameless_file(c"started")?;
        let told = sys::nameless_file(c"told")?;
        let this_program = File::open("/proc/self/exe")?;
        let mut all: Vec<OsString> = mounts.arguments;
        all.extend(
            [
                "--unshare-pid",
                "--unshare-net",
                "--unshare-ipc",
                "--unshare-uts",
            ]
            .into_iter()
            // It is not to die with its parent: its own child would wait for it for ever. The second stage ends all.
            .chain(["--unshare-cgroup", "--as-pid-1"])
            .chain(["--hostname", HOST_NAME, "--chdir", "/", "--info-fd"])
            .map(OsString::from),
        );
        all.push(started.as_raw_fd().to_string().into());
        if !found.setuid {
            all.push("--unshare-user".into());
        }
        let mut bytes = Vec::new();
        for argument in &all {
            bytes.extend(argument.as_bytes());
            bytes.push(0);
        }
        let told = filled(told, &bytes)?;
        let order = filled(sys::nameless_file(c"order")?, &order.to_bytes())?;
        Ok(Self {
            program: found.program,
            arguments: Texts::new(Vec::new()),
            told,
            order,
            this_program,
            nothing: File::options().write(true).open("/dev/null")?,
            started,
            others: sys::children(),
        })
    }

    /// In the child: becomes bubblewrap. Comes back only where that failed, with where.
    pub(super) fn become_it(&mut self, inner: &Inner) -> (Step, io::Error) {
        match self.prepare(inner) {
            Ok(()) => {
                let nothing = Texts::new(Vec::new());
                let error = sys::execute(self.program, &self.arguments, &nothing);
                (Step::Namespaces, error)
            }
            Err(error) => (Step::Payload, error),
        }
    }

    fn prepare(&mut self, inner: &Inner) -> io::Result<()> {
        for signal in NOT_ITS_OWN {
            sys::on_signal(signal, &Answer::Ignored)?;
        }
        sys::outlive_parent()?;
        // What bubblewrap says of its own troubles is not the command's; the second stage takes its place again.
        let errors = io::stderr().as_fd().try_clone_to_owned()?;
        sys::duplicate(self.nothing.as_fd(), libc::STDERR_FILENO)?;
        let kept = [
            self.told.as_fd(),
            self.order.as_fd(),
            self.this_program.as_fd(),
            inner.report.as_fd(),
            inner.channel.as_fd(),
            errors.as_fd(),
            self.started.as_fd(),
        ];
        for fd in kept {
            sys::keep_at_exec(fd)?;
        }
        let number = |fd: BorrowedFd<'_>| fd.as_raw_fd().to_string();
        let words = [
            "bwrap".into(),
            "--args".into(),
            number(self.told.as_fd()),
            "--".into(),
            format!("/proc/self/fd/{}", self.this_program.as_raw_fd()),
            inside::WORD.into(),
            number(self.order.as_fd()),
            number(inner.report.as_fd()),
            number(inner.channel.as_fd()),
            number(errors.as_fd()),
        ];
        let words = words.iter().map(|word| text(word.as_bytes()));
        self.arguments = Texts::new(words.collect::<io::Result<_>>()?);
        // It stays open in the program this process becomes.
        std::mem::forget(errors);
        Ok(())
    }

    /// On the supervisor's side: what bubblewrap is watched by.
    pub(super) fn watched(self, child: pid_t) -> io::Result<Watched> {
        Ok(Watched {
            child: sys::process_descriptor(child)?,
            started: File::from(self.started),
            others: self.others,
        })
    }
}

/// Bubblewrap at work.
pub(super) struct Watched {
    /// Bubblewrap itself, which outlives what it has started.
    child: OwnedFd,
    started: File,
    others: Vec<pid_t>,
}

impl Watched {
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.child.as_fd()
    }

    /// The first process inside, if bubblewrap has said which it is.
    pub(super) fn first_process(&self) -> Option<pid_t> {
        let mut told = [0; MAX_TOLD];
        let length = self.started.read_at(&mut told, 0).ok()?;
        let told = std::str::from_utf8(told.get(..length)?).ok()?;
        let (_, after) = told.split_once("\"child-pid\"")?;
        let digits = after.trim_start_matches([':', ' ']);
        let end = digits.find(|c: char| !c.is_ascii_digit())?;
        digits.get(..end)?.parse().ok().filter(|first| *first > 1)
    }

    /// Ends what is inside, as soon as it is known what that is.
    pub(super) fn end(&self) {
        let until = Instant::now() + MAX_START;
        while Instant::now() < until {
            if let Some(first) = self.first_process() {
                return sys::signal(first, libc::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends what bubblewrap has left: where it ends before its time, what it has started waits for it for ever, and is this
    /// process's child by then.
    pub(super) fn end_left(&self) {
        for left in sys::children() {
            if !self.others.contains(&left) {
                sys::signal(left, libc::SIGKILL);
                // Whoever it was has ended, or is not ours.
                let _ = sys::wait_for(left);
            }
        }
    }
}

fn filled(file: OwnedFd, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// The mounts of a layout: as bubblewrap is told of them, and as they are to be found afterwards.
struct Mounts {
    arguments: Vec<OsString>,
    walls: Vec<(PathBuf, Wall)>,
    /// How many bytes an empty directory holds, where that can be said.
    size: Option<u64>,
}

impl Mounts {
    fn of(layout: &Layout, size: Option<u64>) -> Result<Self, NotTold> {
        let mut mounts = Self {
            size,
            arguments: Vec::new(),
            walls: Vec::new(),
        };
        mounts.bind("--ro-bind", Path::new("/"), Wall::ReadOnly);
        let mut covers: Vec<&Path> = Vec::new();
        for path in layout.temporary_places() {
            mounts.empty(path, "1777", Wall::Empty);
            covers.push(path);
        }
        mounts.add(&["--proc", "/proc"], Path::new("/proc"), Wall::Processes);
        mounts.add(&["--dev", "/dev"], Path::new("/dev"), Wall::Empty);
        if let Some(home) = &layout.home {
            mounts.empty(home, "1777", Wall::Empty);
            covers.push(home);
        }
        for given in &layout.given {
            match given.right {
                Right::Read => mounts.bind("--ro-bind", &given.path, Wall::ReadOnly),
                Right::Write => mounts.bind("--bind", &given.path, Wall::Given),
            }
        }
        for (path, is_passage) in layout.protected() {
            if fs::symlink_metadata(path)?.is_symlink() {
                return Err(NotTold::Link);
            }
            match is_passage {
                true => mounts.bind("--bind", path, Wall::Given),
                false => mounts.bind("--ro-bind", path, Wall::ReadOnly),
            }
        }
        // Last, or a directory above would uncover it again.
        // Nobody answers for names here: programs need not ask somebody they cannot reach.
        let resolver = layout.resolver.iter().map(|path| (path, &false));
        let hidden = layout
            .hidden
            .iter()
            .map(|(path, directory)| (path, directory));
        for (path, directory) in hidden.chain(resolver) {
            let is_given = layout
                .given
                .iter()
                .any(|given| path.starts_with(&given.path));
            // It is not to be found already, with what is around it.
            if !is_given && covers.iter().any(|cover| path.starts_with(cover)) {
                continue;
            }
            if *directory {
                mounts.empty(path, "0000", Wall::Hidden);
                mounts
                    .arguments
                    .extend(["--remount-ro".into(), path.into()]);
            } else {
                // A device on a mount without devices: it can be seen, and opened by nobody.
                let device = ["--ro-bind", "/dev/null"];
                mounts.add(&device, path, Wall::ReadOnly);
                mounts.arguments.push(path.into());
            }
        }
        Ok(mounts)
    }

    fn add(&mut self, words: &[&str], path: &Path, wall: Wall) {
        self.arguments.extend(words.iter().map(OsString::from));
        // Of two at one path the later is on top.
        self.walls.retain(|(at, _)| at != path);
        self.walls.push((path.to_owned(), wall));
    }

    fn bind(&mut self, word: &str, path: &Path, wall: Wall) {
        self.add(&[word], path, wall);
        self.arguments.extend([path.into(), path.into()]);
    }

    fn empty(&mut self, path: &Path, mode: &str, wall: Wall) {
        if let Some(size) = self.size {
            self.arguments
                .extend(["--size".into(), size.to_string().into()]);
        }
        self.add(&["--perms", mode, "--tmpfs"], path, wall);
        self.arguments.push(path.into());
    }
}
