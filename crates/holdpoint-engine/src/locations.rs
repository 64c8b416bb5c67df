//! Where Holdpoint's files are: policies, trust, sessions.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::stamps::Stamps;
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

    /// Where the ledger is.
    pub fn ledger(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("ledger"))
    }

    /// Whose signatures count: beside the policy of whoever runs the machine, and as fixed.
    pub fn approvers(&self) -> PathBuf {
        self.managed.with_file_name("approvers.json")
    }

    /// Where processes that break down leave a line each, until the next one records it.
    pub fn unrecorded(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("unrecorded"))
    }

    /// The policy files that may apply to work in `directory`: those of its repository, and what
    /// lies above it, which counts only if its owner has vouched for it. So neither a file nor a
    /// repository further down hides the rules of a trusted one further up.
    pub fn project_files(&self, directory: &Path) -> ProjectFiles {
        self.project_files_stamped(directory, &mut Stamps::default())
    }

    /// The same, and where nothing was found.
    pub(crate) fn project_files_stamped(
        &self,
        directory: &Path,
        stamps: &mut Stamps,
    ) -> ProjectFiles {
        let all: Vec<&Path> = directory
            .ancestors()
            .take_while(|dir| Some(*dir) != self.home.as_deref())
            .collect();
        let root = all.iter().position(|dir| {
            let repository = dir.join(".git");
            let absent = is_absent(&repository);
            match absent {
                true => stamps.absent(repository),
                false => stamps.present(repository),
            }
            !absent
        });
        let (own, above) = all
            .split_at_checked(root.unwrap_or(0) + 1)
            .unwrap_or((all.as_slice(), &[]));
        let mut files_in = |directories: &[&Path]| {
            let mut found = Vec::new();
            for dir in directories {
                for path in PROJECT_FILES.iter().map(|name| dir.join(name)) {
                    match is_absent(&path) {
                        true => stamps.absent(path),
                        false => {
                            stamps.present(path.clone());
                            found.push(path);
                        }
                    }
                }
            }
            found
        };
        ProjectFiles {
            own: files_in(own),
            above: files_in(above),
        }
    }
}

/// The policy files found for a directory.
#[derive(Clone, Debug, Default)]
pub struct ProjectFiles {
    /// Those of the repository the directory is in, or of the directory itself.
    pub own: Vec<PathBuf>,
    /// Those in the directories above.
    pub above: Vec<PathBuf>,
}

/// A variable that is set to something.
fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}
