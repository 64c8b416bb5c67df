//! What lies around an agent: whose home, which directory, which variables.
//!
//! Everything that looks for settings goes through this, so that a test can say what is there.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where settings are looked for.
#[derive(Clone, Debug)]
pub struct Around {
    /// The project.
    pub directory: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where the machine's own settings are, `/etc` on most.
    pub machine: PathBuf,
    /// Where programs are looked for.
    pub search: Vec<PathBuf>,
    /// A variable's value.
    pub variable: fn(&str) -> Option<OsString>,
}

impl Around {
    /// What lies around work in `directory`.
    pub fn of_this_machine(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            home: env::home_dir().filter(|home| home.is_absolute()),
            machine: PathBuf::from("/etc"),
            search: env::var_os("PATH")
                .map(|path| env::split_paths(&path).collect())
                .unwrap_or_default(),
            variable: |name| env::var_os(name).filter(|value| !value.is_empty()),
        }
    }

    /// A directory in the home that a variable can move.
    pub(crate) fn moved(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        (self.variable)(variable)
            .map(|path| self.directory.join(path))
            .or_else(|| self.in_home(usual))
    }

    /// A place in the home.
    pub(crate) fn in_home(&self, place: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(place))
    }

    /// A place among the machine's own settings.
    pub(crate) fn managed(&self, place: &str) -> PathBuf {
        self.machine.join(place)
    }

    /// Whether a program of one of these names is on the search path.
    pub fn has_program(&self, names: &[&str]) -> bool {
        self.search
            .iter()
            .any(|directory| names.iter().any(|name| directory.join(name).is_file()))
    }
}
