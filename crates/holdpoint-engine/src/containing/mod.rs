//! What a contained command is given on this machine: its workspace, the caches and tools it needs, and nothing that
//! belongs to somebody else.

mod allowing;
mod environment;
mod git;
mod given;
mod reached;
mod ticket;
mod trees;
mod wrapped;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use allowing::{given_for, is_advised, policy_line, reading_line};
pub use git::{GitBefore, PutAside, PutRight};
pub use ticket::{MAX_REPEATED, Ticket, TicketError, Tickets};
pub use wrapped::{Wrapped, shell_word};

pub use holdpoint_sandbox::contain::{
    ContainError, Ended, Layers, Limits, NetworkLayer, Notice, Outlet, Plan, Ran, Reached, Refusal,
    Stream, Tier, reachable, run, run_through,
};
pub use holdpoint_sandbox::network::HostRefusal;

use crate::Locations;
use holdpoint_core::Uncontained;

pub use given::{floor, under, writable};
pub use reached::{forget_reachable, is_reachable};

/// A command to be run contained, as somebody asks for it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The directory it starts in, a real path.
    pub directory: PathBuf,
    /// Trees it may change beside its workspace.
    pub writable: Vec<PathBuf>,
    /// How long it may run.
    pub time: Option<Duration>,
    /// The lowest tier it may run in.
    pub floor: Tier,
}

/// Why no plan could be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The directory to work in holds far more than a project.
    #[error(
        "`{}` would be the workspace, and everything in it could be changed: go to a project's directory first",
        .0.display()
    )]
    TooWide(PathBuf),
    /// A directory to write has the home in it.
    #[error("`{}` has your whole home in it: name a directory inside", .0.display())]
    GivesHome(PathBuf),
    /// A host of the policy's is none.
    #[error("`sandbox.hosts`: `{host}`: {reason}")]
    Host {
        /// As it is written.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The workspace holds more names than can be looked through for files of settings.
    #[error(
        "`{}`: more than {most} files lie here, and which of them are settings cannot be told in time: move some below",
        .workspace.display()
    )]
    Crowded {
        /// The directory.
        workspace: PathBuf,
        /// How many are looked at.
        most: usize,
    },
    /// There is no place for the journals.
    #[error("there is no home and no state directory: set HOME or XDG_STATE_HOME")]
    NoState,
}

/// Why a command that was to be contained is not.
#[derive(Debug, thiserror::Error)]
pub enum NotContained {
    /// No sandbox can be made on this machine.
    #[error("no sandbox can be made here (`holdpoint doctor` says why)")]
    NoSandbox,
    /// The call or its caller does not allow it.
    #[error("{}", .0.words())]
    Call(Uncontained),
    /// Its line was not understood.
    #[error("its line was not understood")]
    Line,
    /// The directory it runs in is not known.
    #[error("nobody knows where it runs")]
    Directory,
    /// It runs outside of the project its agent belongs in, and would be given another to change.
    #[error("it runs outside of the agent's workspace")]
    Elsewhere,
    /// The program that would run it is not found.
    #[error("this program does not find itself")]
    Program,
    /// It cannot be given what it needs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A rule of the agent's own may match the line, and would not match it inside of another.
    #[error("a rule of the agent's own may match it (`{0}`)")]
    OwnRule(String),
    /// The rules of the agent's own are not all known.
    #[error("{0}")]
    OwnRulesUnknown(String),
    /// No ticket could be kept for it.
    #[error(transparent)]
    Ticket(#[from] TicketError),
}

/// The plan for a command: a workspace to write, the system and the user's tools to read, an empty home.
pub fn plan(wanted: &Wanted, locations: &Locations) -> Result<Plan, PlanError> {
    let state = locations.state.clone().ok_or(PlanError::NoState)?;
    let workspace = workspace(&wanted.directory, locations)?;
    let home = locations.home.clone();
    let has_home = |path: &&PathBuf| home.as_ref().is_some_and(|home| home.starts_with(path));
    if let Some(path) = wanted.writable.iter().find(has_home) {
        return Err(PlanError::GivesHome(path.clone()));
    }
    let mut writable = vec![workspace.clone()];
    let mut protected = trees::protected(&workspace)?;
    let repositories = trees::repositories(&workspace);
    let mut pinned = trees::pinned(&workspace, &repositories);
    let own = trees::own_repository(&workspace);
    let all: Vec<PathBuf> = own
        .into_iter()
        .chain(repositories.iter().cloned())
        .collect();
    protected.extend(git::protected(&workspace, &all, home.as_deref()));
    for repository in &all {
        let (kept, says_where) = git::worktrees(repository);
        protected.extend(trees::protected_in_repository(repository));
        protected.extend(kept);
        pinned.extend(says_where);
    }
    pinned.sort_unstable();
    pinned.dedup();
    writable.extend(repositories);
    writable.extend(wanted.writable.iter().cloned());
    let mut readable = Vec::new();
    if let Some(home) = &home {
        writable.extend(trees::below(home, trees::CACHES));
        readable.extend(trees::below(home, trees::TOOLS));
    }
    let gate_files = [
        Some(state.as_path()),
        locations.user.as_deref().and_then(Path::parent),
    ];
    let named = locations.named.iter().cloned();
    Ok(Plan {
        command: wanted.command.clone(),
        environment: environment::without_secrets(std::env::vars_os()),
        directory: wanted.directory.clone(),
        hidden: gate_files
            .into_iter()
            .flatten()
            .map(Path::to_owned)
            .collect(),
        protected: protected.into_iter().chain(named).collect(),
        pinned,
        journals: state.join("sandbox"),
        limits: Limits {
            time: wanted.time,
            ..Limits::default()
        },
        floor: wanted.floor,
        hosts: Vec::new(),
        session: None,
        tracing: false,
        notice: Notice::Nothing,
        stops: Vec::new(),
        writable,
        readable,
        home,
    })
}

/// Whether a command that starts in a directory stays in the project of a workspace: nobody lets an agent change another.
pub fn stays_in(workspace: &Path, directory: &Path, locations: &Locations) -> bool {
    directory.starts_with(workspace)
        || self::workspace(workspace, locations).is_ok_and(|root| directory.starts_with(root))
}

/// The project a directory is in: its repository, or the directory itself.
fn workspace(directory: &Path, locations: &Locations) -> Result<PathBuf, PlanError> {
    let home = locations.home.as_deref();
    let root = directory
        .ancestors()
        .take_while(|above| Some(*above) != home)
        .find(|above| above.join(".git").symlink_metadata().is_ok())
        .unwrap_or(directory);
    // The root, the home, or what holds it.
    if root.parent().is_none() || home.is_some_and(|home| home.starts_with(root)) {
        return Err(PlanError::TooWide(root.to_owned()));
    }
    Ok(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locations(home: &Path) -> Locations {
        Locations {
            managed: "/nowhere/permissions.json".into(),
            user: Some(home.join(".config/holdpoint/permissions.json")),
            named: None,
            state: Some(home.join(".local/state/holdpoint")),
            home: Some(home.to_owned()),
        }
    }

    #[test]
    fn the_workspace_is_the_repository_and_never_the_home() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        std::fs::create_dir_all(home.join("app/.git")).unwrap();
        std::fs::create_dir_all(home.join("app/src")).unwrap();
        std::fs::create_dir_all(home.join("plain")).unwrap();
        let locations = locations(&home);
        let found = |path: &str| workspace(&home.join(path), &locations);
        assert_eq!(found("app/src").unwrap(), home.join("app"));
        assert_eq!(found("plain").unwrap(), home.join("plain"));
        assert!(matches!(found(""), Err(PlanError::TooWide(_))));
        assert!(workspace(place.path(), &locations).is_err());
        assert!(workspace(Path::new("/"), &locations).is_err());
    }

    #[test]
    fn a_command_elsewhere_is_not_given_another_project() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        for directory in ["app/.git", "app/a/b", "other/.git", "app-2"] {
            std::fs::create_dir_all(home.join(directory)).unwrap();
        }
        let locations = locations(&home);
        let stays = |from: &str, to: &str| stays_in(&home.join(from), &home.join(to), &locations);
        assert!(stays("app", "app") && stays("app", "app/a/b") && stays("app/a", "app"));
        assert!(!stays("app", "other") && !stays("app", "app-2") && !stays("app/a", "other"));
        assert!(!stays("app", "") && !stays("", "/"));
    }

    #[test]
    fn the_gates_own_files_are_hidden() {
        let home = Path::new("/home/dev");
        let wanted = Wanted {
            command: vec!["true".into()],
            directory: "/home/dev/app".into(),
            writable: Vec::new(),
            time: None,
            floor: Tier::Full,
        };
        let plan = plan(&wanted, &locations(home)).unwrap();
        assert!(plan.hidden.contains(&home.join(".local/state/holdpoint")));
        assert!(plan.hidden.contains(&home.join(".config/holdpoint")));
        assert!(plan.protected.contains(&home.join("app/.git/hooks")));
        assert_eq!(plan.home.as_deref(), Some(home));
    }
}
