//! The sandbox on Linux: the supervisor's side of it.

mod filter;
mod init;
mod landlock;
mod layout;
mod payload;
mod protected;
mod report;
mod sys;

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

use libc::{c_int, pid_t};

use self::filter::Allowed;
use self::landlock::{Right, Rules};
use self::layout::Layout;
use self::payload::Payload;
use self::protected::{Placeholders, Protection};
use self::report::Report;
use self::sys::{Answer, Side};
use super::{ContainError, Ended, Limits, Plan, Ran, Step, Tier};

/// Namespaces of a contained command, but for that of its user.
const NAMESPACES: c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

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

pub(super) fn run(plan: &Plan, highest: Tier) -> Result<Ran, ContainError> {
    if plan.command.is_empty() {
        return Err(ContainError::NoCommand);
    }
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(ContainError::Threads);
    }
    protected::sweep(&plan.journals);
    let mut below: Option<String> = None;
    for tier in [Tier::Full, Tier::Landlock] {
        if tier > highest {
            continue;
        }
        if tier < plan.floor {
            break;
        }
        let attempt = match tier {
            Tier::Full => full(plan)?,
            Tier::Landlock | Tier::None => landlocked(plan)?,
        };
        match attempt {
            Attempt::Ended(ended) => return Ok(Ran { ended, tier, below }),
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

pub(super) fn reachable() -> (Tier, Option<String>) {
    let plan = Plan {
        command: vec!["/bin/true".into()],
        environment: Vec::new(),
        directory: "/".into(),
        writable: Vec::new(),
        readable: Vec::new(),
        home: None,
        hidden: Vec::new(),
        protected: Vec::new(),
        journals: PathBuf::from("/dev/null"),
        limits: Limits::default(),
        floor: Tier::Landlock,
    };
    match run(&plan, Tier::Full) {
        Ok(ran) => (ran.tier, ran.below),
        Err(error) => (Tier::None, Some(error.to_string())),
    }
}

pub(super) fn sweep(journals: &Path) {
    protected::sweep(journals);
}

/// What became of a tier: nothing of the command has run where it was not made.
enum Attempt {
    Ended(Ended),
    NotMade(String),
}

fn full(plan: &Plan) -> Result<Attempt, ContainError> {
    if landlock::version() == 0 {
        return Ok(Attempt::NotMade("the kernel has no Landlock".into()));
    }
    let trees: Vec<PathBuf> = plan
        .writable
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    let mut protection = Protection::new(&plan.protected, &trees)?;
    let placeholders = Placeholders::make(&mut protection, &plan.journals)?;
    let attempt = contained(plan, protection);
    placeholders.take_away();
    attempt
}

fn contained(plan: &Plan, protection: Protection) -> Result<Attempt, ContainError> {
    let layout = Layout::new(plan, protection)?;
    let trees = layout
        .writable()
        .map(|path| Ok((path_text(path)?, Right::Write)))
        .collect::<io::Result<_>>()?;
    let rules = Rules {
        reading: false,
        no_tcp: false,
        trees,
    };
    let allowed = Allowed {
        unix: true,
        inet: true,
    };
    let payload = Payload::new(plan, rules, allowed, None)?;
    let init = |report: &Report| init::run(&layout, &payload, report);
    match start(NAMESPACES | libc::CLONE_NEWUSER, &init) {
        Ok(started) => started.finish(&plan.limits),
        // Root may have the rights itself where nobody may have a user namespace.
        Err(error) if crate::user::id() == 0 => match start(NAMESPACES, &init) {
            Ok(started) => started.finish(&plan.limits),
            Err(_) => Ok(not_made(Step::Namespaces, &error)),
        },
        Err(error) => Ok(not_made(Step::Namespaces, &error)),
    }
}

fn not_made(step: Step, error: &io::Error) -> Attempt {
    Attempt::NotMade(format!("{step} cannot be had ({})", error.kind()))
}

fn landlocked(plan: &Plan) -> Result<Attempt, ContainError> {
    let reads = SYSTEM
        .iter()
        .map(Path::new)
        .chain(plan.readable.iter().map(PathBuf::as_path));
    let writes = DEVICES
        .iter()
        .map(Path::new)
        .chain(plan.writable.iter().map(PathBuf::as_path));
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
    };
    let directory = path_text(&plan.directory)?;
    let payload = Payload::new(plan, rules, allowed, Some(directory))?;
    let init = |report: &Report| init::watch(&payload, report);
    match start(0, &init) {
        Ok(started) => started.finish(&plan.limits),
        Err(error) => Ok(not_made(Step::Payload, &error)),
    }
}

/// A sandbox whose init has been started.
struct Started {
    init: pid_t,
    report: File,
}

/// Forks the init into namespaces and tells the system which users there are in them.
fn start(namespaces: c_int, init: &dyn Fn(&Report)) -> io::Result<Started> {
    let (report, writer) = io::pipe()?;
    let (reader, mut go) = io::pipe()?;
    match sys::fork(namespaces)? {
        Side::Child => {
            // Its own ends of the pipes would keep it from seeing that the supervisor has gone.
            drop(report);
            drop(go);
            let report = Report::new(OwnedFd::from(writer));
            init::begin(OwnedFd::from(reader), &report);
            init(&report);
            sys::leave(1)
        }
        Side::Parent(child) => {
            drop(writer);
            drop(reader);
            let told = if namespaces & libc::CLONE_NEWUSER == 0 {
                Ok(())
            } else {
                map_users(child)
            };
            let told = told.and_then(|()| go.write_all(&[1]));
            if let Err(error) = told {
                sys::signal(child, libc::SIGKILL);
                sys::wait_for(child)?;
                return Err(error);
            }
            Ok(Started {
                init: child,
                report: File::from(OwnedFd::from(report)),
            })
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

/// The init that signals to the supervisor are passed on to.
static INIT: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int) {
    let init = INIT.load(Ordering::Relaxed);
    if init > 0 {
        sys::signal(init, signal);
    }
}

impl Started {
    /// Waits for the command's end.
    fn finish(mut self, limits: &Limits) -> Result<Attempt, ContainError> {
        INIT.store(self.init, Ordering::Relaxed);
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1] {
            sys::on_signal(signal, &Answer::Handled(pass_on))?;
        }
        // The terminal sends these to the command itself, which decides; its end is then told here.
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            sys::on_signal(signal, &Answer::Ignored)?;
        }
        let told = self.wait(limits);
        INIT.store(0, Ordering::Relaxed);
        for signal in [
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGUSR1,
            libc::SIGINT,
            libc::SIGQUIT,
        ] {
            sys::on_signal(signal, &Answer::Default)?;
        }
        told
    }

    fn wait(&mut self, limits: &Limits) -> Result<Attempt, ContainError> {
        let deadline = limits.time.map(|time| Instant::now() + time);
        loop {
            let left = deadline.map(|deadline| {
                let left = deadline.saturating_duration_since(Instant::now());
                c_int::try_from(left.as_millis().saturating_add(1)).unwrap_or(c_int::MAX)
            });
            if sys::readable(self.report.as_fd(), left)? {
                break;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                sys::signal(self.init, libc::SIGKILL);
                sys::wait_for(self.init)?;
                return Ok(Attempt::Ended(Ended::OutOfTime));
            }
        }
        let mut told = Vec::new();
        let mut record = [0; report::LENGTH];
        if self.report.read_exact(&mut record).is_ok() {
            told.extend_from_slice(&record);
        }
        match report::read(&told) {
            Some(report::Told::Ended(ended)) => Ok(Attempt::Ended(ended)),
            Some(report::Told::Failed(step, error)) => {
                sys::wait_for(self.init)?;
                if step == Step::Execute {
                    return Err(ContainError::NotStarted { source: error });
                }
                Ok(not_made(step, &error))
            }
            // It was ended from outside before it could say anything.
            None => {
                let status = sys::wait_for(self.init)?;
                Ok(Attempt::Ended(report::ended(status)))
            }
        }
    }
}
