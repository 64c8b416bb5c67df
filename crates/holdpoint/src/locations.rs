//! Where Holdpoint's files are: policies, trust, sessions.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::store::is_absent;

/// The places policies are looked for and state is kept.
#[derive(Clone, Debug)]
pub struct Locations {
    /// The policy of whoever runs the machine.
    pub managed: PathBuf,
    /// The user's own policy.
    pub user: Option<PathBuf>,
    /// A file named in place of the user's and the project's.
    pub named: Option<PathBuf>,
    /// Where trust and sessions are kept.
    pub state: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

/// The file names a project's policy may have.
pub(crate) const PROJECT_FILES: &[&str] = &[
    "permissions.json",
    ".permissions.json",
    ".holdpoint/permissions.json",
];

impl Locations {
    /// The places on this machine. The managed directory is fixed: a variable that moved it would
    /// let whoever sets variables drop it.
    pub fn of_this_machine() -> Self {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let under = |variable: &str, fallback: &str| {
            set(variable)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .or_else(|| home.as_ref().map(|home| home.join(fallback)))
                .map(|base| base.join("holdpoint"))
        };
        Self {
            managed: PathBuf::from("/etc/holdpoint/permissions.json"),
            user: under("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("permissions.json")),
            named: set("HOLDPOINT_CONFIG")
                .or_else(|| set("PERMISSION_CONFIG_PATH"))
                .map(PathBuf::from),
            state: under("XDG_STATE_HOME", ".local/state"),
            home,
        }
    }

    /// The policy files a project may have, for work in `directory`: in every directory up to the
    /// root of its repository, so that a file further down cannot hide one further up.
    pub fn project_files(&self, directory: &Path) -> Vec<PathBuf> {
        let in_repository: Vec<&Path> = directory
            .ancestors()
            .take(MAX_ANCESTORS)
            .take_while(|dir| Some(*dir) != self.home.as_deref())
            .collect();
        let root = in_repository
            .iter()
            .position(|dir| !is_absent(&dir.join(".git")));
        let searched = match root {
            Some(root) => in_repository.get(..=root).unwrap_or_default().to_vec(),
            None => vec![directory],
        };
        searched
            .into_iter()
            .flat_map(|dir| PROJECT_FILES.iter().map(|name| dir.join(name)))
            .filter(|path| !is_absent(path))
            .collect()
    }
}

const MAX_ANCESTORS: usize = 64;

/// A variable that is set to something.
fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}
