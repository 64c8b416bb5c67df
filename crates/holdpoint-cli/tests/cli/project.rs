//! A directory to work in and a home, for one case.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

pub(crate) struct Project {
    place: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let place = TempDir::new().unwrap();
        // Somebody else may have to get in: see `Step::as_nobody`.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let project = Self { place };
        fs::create_dir(project.path()).unwrap();
        fs::create_dir(project.home()).unwrap();
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.place.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    /// Beside the project and the home.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Where a name in a case leads: into the home after `~/`, else into the project.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(rest) => self.home().join(rest),
            None => self.path().join(name),
        }
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.place(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Has no terminal wanted of whoever changes what is asked: a test has none.
    pub(crate) fn wants_no_terminal(&self) {
        let policy = br#"{"approval": {"presence": "none"}}"#;
        self.write("~/.config/holdpoint/permissions.json", policy);
    }

    /// `$DIR`, `$HOME` and `$PROGRAM` filled in.
    pub(crate) fn fill(&self, text: &str) -> String {
        let program = fs::canonicalize(env!("CARGO_BIN_EXE_holdpoint")).unwrap();
        text.replace("$PROGRAM", &program.display().to_string())
            .replace("$DIR", &self.path().display().to_string())
            .replace("$HOME", &self.home().display().to_string())
    }

    /// The program, in the project, with nothing of the caller's surroundings.
    pub(crate) fn command(&self) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_holdpoint"))
    }

    /// Any program, in the same surroundings.
    pub(crate) fn command_of(&self, program: impl AsRef<Path>) -> Command {
        let home = self.home();
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.path())
            .env_clear()
            // The same answers whatever sandbox this machine makes.
            .env("HOLDPOINT_SANDBOX", "none")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .env("TMPDIR", std::env::temp_dir());
        command
    }
}
