//! `holdpoint run --ticket T -- 'LINE'`: what an agent runs in place of a line it was told to run contained.
//!
//! The line runs in the shell that called this program, with `-c`, as it would have without us.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdpoint_core::digest_of;
use holdpoint_engine::containing::{Ticket, TicketError, Tickets};
use holdpoint_engine::{
    Engine, Locations, NO_SESSION, Policy, StopError, Stops, plain_words, real_directory,
};

use super::Run;

/// The shells whose lines are read as they run them.
const SHELLS: [&str; 6] = ["bash", "zsh", "sh", "dash", "ksh", "mksh"];

/// Where a shell is, should nothing else be known.
const USUAL: [&str; 2] = ["/bin/bash", "/bin/sh"];

/// The longest path that is read: as long as one can be.
const MAX_PATH: u64 = 4096;

/// A ticket that was taken, and what is to be run for it.
pub(super) struct Redeemed {
    pub(super) command: Vec<OsString>,
    pub(super) directory: PathBuf,
    /// A short name for the agent's session, whose commands share a network; none if it has none.
    pub(super) session: Option<String>,
    ticket: Ticket,
    policy: Arc<Policy>,
    tickets: Tickets,
    name: String,
    /// A directory of the command's own in which it leaves where it ended.
    report: Option<Report>,
    /// The files that end it when a person stops whoever it runs for.
    pub(super) stops: Vec<PathBuf>,
}

/// Why a line is not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum RedeemError {
    #[error(transparent)]
    Ticket(#[from] TicketError),
    #[error("the present directory cannot be found ({})", plain_words(.0))]
    Directory(#[source] io::Error),
    #[error("the policy has changed since: make the call again")]
    OtherPolicy,
    #[error("behind the ticket stands its line, in one argument")]
    NotOneLine,
    #[error("a person has stopped {what} {told}: `{resume}` lets it go on")]
    Stopped {
        what: String,
        told: String,
        resume: String,
    },
    #[error(transparent)]
    Stops(#[from] StopError),
}

impl Redeemed {
    /// Takes the ticket; then it is used, whatever comes of it.
    pub(super) fn take(name: &str, args: &Run) -> Result<Self, RedeemError> {
        let locations = Locations::of_this_machine();
        let tickets = Tickets::at(&locations)?;
        let directory = real_directory(None).map_err(RedeemError::Directory)?;
        let line = match args.command.as_slice() {
            [] => None,
            [line] => Some(line.to_str().ok_or(RedeemError::NotOneLine)?),
            [_, _, ..] => return Err(RedeemError::NotOneLine),
        };
        let (ticket, line) = tickets.claim(name, line, &directory)?;
        let stops = Stops::at(&locations)?;
        let session = ticket.session.as_deref().unwrap_or(NO_SESSION);
        if let Some(stop) = stops.stop_of(&ticket.agent, session)? {
            return Err(RedeemError::Stopped {
                what: stop.what,
                told: stop.told,
                resume: stop.resume,
            });
        }
        let stops = stops.files_for(&ticket.agent, session);
        let policy = policy_now(&ticket, &locations)
            .filter(|policy| policy.digest() == ticket.policy)
            .ok_or(RedeemError::OtherPolicy)?;
        let report = match ticket.keeps_directory {
            true => Report::make(name),
            false => None,
        };
        let line = match &report {
            Some(report) => report.with_trap(&line),
            None => line,
        };
        Ok(Self {
            command: vec![shell().into(), "-c".into(), line.into()],
            directory,
            session: ticket
                .session
                .as_deref()
                .map(|name| short(&ticket.agent, name)),
            ticket,
            policy,
            tickets,
            name: name.to_owned(),
            report,
            stops,
        })
    }

    /// The policy its call was judged under.
    pub(super) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }

    /// What the ticket was for.
    pub(super) fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// What the command has to be able to write to say where it ended.
    pub(super) fn writable(&self) -> Option<PathBuf> {
        self.report.as_ref().map(|report| report.0.clone())
    }

    /// Keeps where the command ended for the shell that called us, if that is in the workspace. Where it cannot be kept,
    /// the shell stays where it is.
    pub(super) fn keep_directory(&self, workspace: &Path) {
        let ended = self.report.as_ref().and_then(Report::read);
        let real = ended.and_then(|ended| ended.canonicalize().ok());
        if let Some(directory) = real.filter(|real| real.is_dir() && real.starts_with(workspace)) {
            let _ = self.tickets.keep_directory(&self.name, &directory);
        }
    }
}

/// A name for a session that is short enough for the path of a socket.
fn short(agent: &str, session: &str) -> String {
    let digest = digest_of(format!("{agent}\0{session}").as_bytes());
    let letters = digest.rsplit(':').next().unwrap_or_default();
    letters.chars().take(16).collect()
}

/// The policy a ticket's call would be judged under now; none if there is none that can be read.
fn policy_now(ticket: &Ticket, locations: &Locations) -> Option<Arc<Policy>> {
    let engine = Engine::at(locations);
    let source = engine.layers_at(&ticket.workspace, &ticket.directory);
    engine.policy(&source).ok()
}

/// Where the line of a ticket ended; empty if it is not known, and then a shell stays where it is.
pub(super) fn directory_of(name: &str) -> Result<String, TicketError> {
    let tickets = Tickets::at(&Locations::of_this_machine())?;
    Ok(tickets.take_directory(name)?.unwrap_or_default())
}

/// A directory outside of the sandbox that is given to the command inside; gone with this value.
struct Report(PathBuf);

impl Report {
    fn make(name: &str) -> Option<Self> {
        let place = env::temp_dir().canonicalize().ok()?;
        let directory = place.join(format!("holdpoint-{name}"));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // One that is there already was made by somebody else.
        builder.create(&directory).ok()?;
        Some(Self(directory))
    }

    /// The line, and behind it, however it ends, a note of where.
    fn with_trap(&self, line: &str) -> String {
        // The path has no quotes: the directory for temporary files, and hexadecimal digits.
        match self
            .0
            .to_str()
            .filter(|path| !path.contains(['\'', '"', '$', '`', '\\']))
        {
            Some(path) => format!("trap 'pwd -P >| \"{path}/directory\"' EXIT\n{line}"),
            None => line.to_owned(),
        }
    }

    /// What the command left, which may be anything.
    fn read(&self) -> Option<PathBuf> {
        let path = self.0.join("directory");
        // Neither a link nor a pipe, which somebody inside could have put there.
        if !path.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        let mut file = fs::File::open(path).ok()?.take(MAX_PATH);
        file.read_to_string(&mut text).ok()?;
        let path = PathBuf::from(text.strip_suffix('\n')?);
        path.is_absolute().then_some(path)
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // What cannot be removed is an empty directory, or a full one of this user's, among temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The shell that called this program; else the user's, else the usual one.
fn shell() -> PathBuf {
    let known = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        path.is_absolute() && name.is_some_and(|name| SHELLS.contains(&name)) && path.is_file()
    };
    let users = env::var_os("SHELL").map(PathBuf::from);
    let mut usual = USUAL.iter().map(PathBuf::from);
    parents_program()
        .filter(known)
        .or_else(|| users.filter(known))
        .or_else(|| usual.find(known))
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

#[cfg(target_os = "linux")]
fn parents_program() -> Option<PathBuf> {
    let parent = std::os::unix::process::parent_id();
    fs::read_link(format!("/proc/{parent}/exe")).ok()
}

#[cfg(not(target_os = "linux"))]
fn parents_program() -> Option<PathBuf> {
    None
}
