//! The process that becomes the command: it gives up every right it has left, and then itself.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use libc::sock_filter;

use super::filter::{self, Allowed};
use super::gateway;
use super::landlock::{self, Rules};
use super::notice;
use super::sys::{self, Answer, Texts};
use super::{Plan, text};
use crate::contain::{ContainError, Limits, Notice, Step};

/// What root needs to work in a workspace that is somebody else's: owner and rights of files. Nothing of it reaches
/// beyond the trees that are given.
const FILE_CAPABILITIES: u64 = 0b1_1011;

/// The highest capability any kernel has had a bit for. Beyond the last one a kernel has, it says so.
const CAPABILITIES: u64 = 64;

/// Signals a program expects to find as they are in a new process. Rust ignores the first, and a hook's ways to end
/// may have been asked for.
const ORDINARY_SIGNALS: [libc::c_int; 7] = [
    libc::SIGPIPE,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// All that is needed to become the command, made before the fork.
pub(super) struct Payload {
    /// Where the program may be, in the order of the search path.
    programs: Vec<CString>,
    arguments: Texts,
    environment: Texts,
    limits: Limits,
    capabilities: u64,
    rules: Rules,
    filter: Vec<sock_filter>,
    /// The same that hands calls over, where they are to be noticed.
    told_filter: Option<Vec<sock_filter>>,
    /// The directory to start in, where no layout has gone there yet.
    directory: Option<CString>,
}

impl Payload {
    pub(super) fn new(
        plan: &Plan,
        rules: Rules,
        allowed: Allowed,
        directory: Option<CString>,
    ) -> Result<Self, ContainError> {
        let program = plan.command.first().ok_or(ContainError::NoCommand)?;
        let allowed = Allowed {
            tracing: plan.tracing,
            ..allowed
        };
        let texts = plan
            .command
            .iter()
            .map(|word| text(word.as_bytes()))
            .collect::<io::Result<_>>();
        let environment = plan
            .environment
            .iter()
            .filter(|(name, _)| {
                plan.hosts.is_empty() || !gateway::is_proxy_variable(name.as_bytes())
            })
            .map(|(name, value)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect::<io::Result<_>>();
        Ok(Self {
            programs: programs(program.as_bytes(), plan)?,
            arguments: Texts::new(texts.map_err(|_| ContainError::ZeroByte)?),
            environment: Texts::new(environment.map_err(|_| ContainError::ZeroByte)?),
            limits: plan.limits,
            capabilities: capabilities(plan),
            rules,
            filter: filter::program(allowed, Notice::Nothing),
            told_filter: (plan.notice != Notice::Nothing)
                .then(|| filter::program(allowed, plan.notice)),
            directory,
        })
    }

    /// Gives the command variables that were not known before the fork.
    pub(super) fn add_variables(&mut self, more: Vec<CString>) {
        self.environment.add(more);
    }

    /// What the command is held to.
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Becomes the command. Comes back only where that failed.
    pub(super) fn become_it(&self, supervisor: BorrowedFd<'_>) -> (Step, io::Error) {
        match self.give_up(supervisor) {
            Ok(()) => (Step::Execute, self.execute()),
            Err(failed) => failed,
        }
    }

    fn give_up(&self, supervisor: BorrowedFd<'_>) -> Result<(), (Step, io::Error)> {
        let at = |step| move |error| (step, error);
        for signal in ORDINARY_SIGNALS {
            sys::on_signal(signal, &Answer::Default).map_err(at(Step::Payload))?;
        }
        if let Some(directory) = &self.directory {
            sys::change_directory(directory).map_err(at(Step::Directory))?;
        }
        for (what, value) in [
            // What a broken program held in memory is in nobody's file.
            (libc::RLIMIT_CORE, 0),
            (libc::RLIMIT_FSIZE, self.limits.file_size),
            (libc::RLIMIT_NPROC, self.limits.processes),
        ] {
            sys::limit(what, value).map_err(at(Step::Limits))?;
        }
        self.drop_capabilities().map_err(at(Step::Capabilities))?;
        sys::gain_nothing().map_err(at(Step::Capabilities))?;
        landlock::restrict(&self.rules).map_err(at(Step::Landlock))?;
        sys::close_at_exec().map_err(at(Step::Payload))?;
        // Last: what comes before is refused by it.
        self.load_filter(supervisor).map_err(at(Step::Filter))
    }

    fn load_filter(&self, supervisor: BorrowedFd<'_>) -> io::Result<()> {
        if let Some(told) = &self.told_filter {
            // A system that hands nothing over, or to somebody else already, refuses as well without a word.
            if let Ok(listener) = sys::load_told_filter(told) {
                return sys::pass(supervisor, &[notice::LISTENER], &[listener.as_fd()]);
            }
        }
        sys::load_filter(&self.filter)
    }

    fn drop_capabilities(&self) -> io::Result<()> {
        sys::clear_ambient()?;
        // Being root gives none from here on, for good: one call in place of one for each, which take longer than the rules of
        // all files. Where some are kept for root, the others are taken one by one.
        if self.capabilities == 0 && sys::be_nobody_special().is_ok() {
            return sys::keep_capabilities(0);
        }
        for capability in 0..CAPABILITIES {
            if self.capabilities & (1 << capability) != 0 {
                continue;
            }
            match sys::drop_from_bounds(capability) {
                Ok(()) => {}
                // There are no more.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => break,
                // A user without the right to do so has none to drop either: the sets below are what counts, and
                // nothing is ever gained.
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => break,
                Err(error) => return Err(error),
            }
        }
        sys::keep_capabilities(self.capabilities)
    }

    fn execute(&self) -> io::Error {
        let mut last = io::Error::from_raw_os_error(libc::ENOENT);
        for program in &self.programs {
            let error = sys::execute(program, &self.arguments, &self.environment);
            // As every shell does: what is not there, or is no program, is looked for further on.
            let goes_on = matches!(
                error.raw_os_error(),
                Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES)
            );
            if last.raw_os_error() != Some(libc::EACCES) {
                last = error;
            }
            if !goes_on {
                break;
            }
        }
        last
    }
}

fn programs(program: &[u8], plan: &Plan) -> Result<Vec<CString>, ContainError> {
    let made = if program.contains(&b'/') {
        text(program).map(|program| vec![program])
    } else {
        let path = plan.environment.iter().find(|(name, _)| name == "PATH");
        let path = path.map_or(b"/usr/local/bin:/usr/bin:/bin".as_slice(), |(_, path)| {
            path.as_bytes()
        });
        path.split(|byte| *byte == b':')
            .map(|directory| match directory {
                b"" => text(&[b"./", program].concat()),
                _ => text(&[directory, b"/", program].concat()),
            })
            .collect()
    };
    made.map_err(|_| ContainError::ZeroByte)
}

/// None, but for root in trees that are somebody else's.
fn capabilities(plan: &Plan) -> u64 {
    let is_other = |path: &Path| path.metadata().is_ok_and(|found| found.uid() != 0);
    let is_root = crate::user::id() == 0;
    if is_root && plan.writable.iter().any(|path| is_other(path)) {
        FILE_CAPABILITIES
    } else {
        0
    }
}
