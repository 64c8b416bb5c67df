//! What a contained command is given on this machine: its workspace, the caches and tools it needs, and nothing that
//! belongs to somebody else.

mod environment;
mod trees;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdpoint_sandbox::contain::Limits;
pub use holdpoint_sandbox::contain::{ContainError, Ended, Plan, Ran, Tier, reachable, run};

use crate::Locations;

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
    /// There is no place for the journals.
    #[error("there is no home and no state directory: set HOME or XDG_STATE_HOME")]
    NoState,
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
    let mut protected = trees::protected(&workspace);
    for repository in trees::repositories(&workspace) {
        protected.extend(trees::protected_in_repository(&repository));
        writable.push(repository);
    }
    writable.extend(wanted.writable.iter().cloned());
    let mut readable = Vec::new();
    if let Some(home) = &home {
        writable.extend(trees::CACHES.iter().map(|cache| home.join(cache)));
        readable.extend(trees::TOOLS.iter().map(|tool| home.join(tool)));
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
        journals: state.join("sandbox"),
        limits: Limits {
            time: wanted.time,
            ..Limits::default()
        },
        floor: wanted.floor,
        writable,
        readable,
        home,
    })
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
