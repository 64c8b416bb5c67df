//! The temporary directory everything happens in: a home, a project, and Holdpoint's own files.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use holdpoint_engine::{Locations, escape_for_display, plain_words, real_directory};
use holdpoint_ledger::unguessable;

use super::script::PROJECT;

/// A directory of its own, gone when this is dropped unless it was asked to stay.
pub(super) struct TourDirectory {
    root: PathBuf,
    removes: bool,
}

impl TourDirectory {
    /// Makes it, with the project in it.
    pub(super) fn new() -> anyhow::Result<Self> {
        let made = Self::made().map_err(|error| {
            let directory = escape_for_display(&std::env::temp_dir().display().to_string(), 300);
            let why = plain_words(&error);
            anyhow!("{directory}: no temporary directory can be made there ({why}): set TMPDIR")
        })?;
        made.furnish().with_context(|| {
            let root = escape_for_display(&made.root.display().to_string(), 300);
            format!("{root}: the project cannot be written")
        })?;
        Ok(made)
    }

    fn made() -> io::Result<Self> {
        let bytes = unguessable()?;
        let name: String = bytes.iter().take(4).map(|b| format!("{b:02x}")).collect();
        let base = real_directory(Some(&std::env::temp_dir()))?;
        let root = base.join(format!("holdpoint-demo-{name}"));
        let mut make = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
        // One that is there already is somebody else's.
        make.create(&root)?;
        Ok(Self {
            root,
            removes: true,
        })
    }

    fn furnish(&self) -> io::Result<()> {
        fs::create_dir_all(self.project())?;
        for file in &PROJECT {
            fs::write(self.project().join(file.path), file.text)?;
        }
        Ok(())
    }

    /// The directory itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// What the agent works on.
    pub(super) fn project(&self) -> PathBuf {
        self.home().join("teapot")
    }

    fn state(&self) -> PathBuf {
        self.home().join(".local/state/holdpoint")
    }

    /// The ledger of what happens here.
    pub(super) fn ledger(&self) -> PathBuf {
        self.state().join("ledger")
    }

    /// Where Holdpoint looks and writes: all of it in here, and no policy of this machine.
    pub(super) fn locations(&self) -> Locations {
        Locations {
            managed: self.root.join("etc/holdpoint/permissions.json"),
            user: Some(self.home().join(".config/holdpoint/permissions.json")),
            named: None,
            state: Some(self.state()),
            home: Some(self.home()),
        }
    }

    /// Leaves it to look at.
    pub(super) fn keep(mut self) {
        self.removes = false;
    }

    /// Removes it.
    pub(super) fn remove(mut self) -> anyhow::Result<()> {
        self.removes = false;
        fs::remove_dir_all(&self.root).map_err(|error| {
            let root = escape_for_display(&self.root.display().to_string(), 300);
            anyhow!("{root}: it cannot be removed ({})", plain_words(&error))
        })
    }
}

impl Drop for TourDirectory {
    fn drop(&mut self) {
        if self.removes {
            // The tour ends by an error already, or by Ctrl-C.
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}
