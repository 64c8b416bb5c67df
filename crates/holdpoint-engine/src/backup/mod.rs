//! Copies of what a call would change, made after it is released and before it runs, so that a
//! person can take it back with `holdpoint undo`.
//!
//! The content of each file is kept once, under its SHA-256; a manifest for each call says what
//! stood where. A manifest is written last and in one step, so that a backup that was interrupted
//! does not exist. What no name leads to before the call runs cannot be copied, and the manifest
//! says so.

mod error;
mod limits;
mod making;
mod manifest;
mod objects;
mod raw_path;
mod restoring;
mod state;

use std::fs;
use std::io;
use std::path::PathBuf;

use holdpoint_core::PathVerb;

use self::manifest::is_id;
use self::objects::Objects;
use crate::locations::Locations;
use crate::store::{Unread, read_bounded};

pub use self::error::BackupError;
pub use self::limits::Limits;
pub use self::manifest::{Entry, Kind, Manifest, Purpose, Root};
pub use self::raw_path::RawPath;
pub use self::restoring::{Change, Plan, Restored};

/// The largest manifest that is read: some million files. A larger one was not written by us, and is an error.
const MAX_MANIFEST: u64 = 256 << 20;

/// What a backup is made of.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The digest of the call.
    pub call: &'a str,
    /// What the call is, in a few words and without secrets.
    pub about: &'a str,
    /// The paths it names and what becomes of each, as
    /// [`named`](holdpoint_core::named) tells them.
    pub paths: &'a [(String, PathVerb)],
    /// What it changes that has no name yet.
    pub unknown: &'a [String],
}

/// The backups of this user.
#[derive(Clone, Debug)]
pub struct Backups {
    directory: PathBuf,
    limits: Limits,
}

impl Backups {
    /// Those kept at `locations`.
    pub fn at(locations: &Locations) -> Result<Self, BackupError> {
        let state = locations.state.as_ref().ok_or(BackupError::NoPlace)?;
        Ok(Self {
            directory: state.join("backups"),
            limits: Limits::default(),
        })
    }

    /// The same with other limits.
    #[must_use]
    pub fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Copies what a call would change. On an error the call must not run.
    pub fn make(&self, wanted: &Wanted<'_>) -> Result<Manifest, BackupError> {
        making::make(self, wanted)
    }

    /// The backups there are, the newest first; one that cannot be read is told by its name.
    pub fn list(&self) -> Result<Vec<Result<Manifest, BackupError>>, BackupError> {
        let directory = self.manifests();
        let mut ids = Vec::new();
        match fs::read_dir(&directory) {
            Ok(entries) => {
                for entry in entries {
                    let entry =
                        entry.map_err(|error| BackupError::unreadable(&directory, &error))?;
                    let name = entry.file_name();
                    let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
                    ids.extend(id.filter(|id| is_id(id)).map(str::to_owned));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(BackupError::unreadable(&directory, &error)),
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        Ok(ids.iter().map(|id| self.find(id)).collect())
    }

    /// The backup of a name, or the only one whose name starts so.
    pub fn find_by_prefix(&self, start: &str) -> Result<Manifest, BackupError> {
        if is_id(start) {
            return self.find(start);
        }
        let mut found = None;
        for manifest in self.list()?.into_iter().flatten() {
            if !start.is_empty()
                && manifest.id.starts_with(start)
                && found.replace(manifest).is_some()
            {
                return Err(BackupError::Ambiguous(start.to_owned()));
            }
        }
        found.ok_or_else(|| BackupError::NotFound(start.to_owned()))
    }

    /// The newest backup.
    pub fn newest(&self) -> Result<Manifest, BackupError> {
        self.list()?.into_iter().next().ok_or(BackupError::None)?
    }

    fn find(&self, id: &str) -> Result<Manifest, BackupError> {
        let path = self.manifests().join(format!("{id}.json"));
        let bytes = read_bounded(&path, MAX_MANIFEST).map_err(|unread| match unread {
            Unread::Missing => BackupError::NotFound(id.to_owned()),
            other @ (Unread::Directory
            | Unread::NotOrdinary
            | Unread::TooLarge(_)
            | Unread::Io(_)) => BackupError::Damaged(path.clone(), other.to_string()),
        })?;
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|error| BackupError::Damaged(path.clone(), error.to_string()))?;
        match manifest.id == id {
            true => Ok(manifest),
            false => Err(BackupError::Damaged(path, "it names another backup".into())),
        }
    }

    /// What restoring a backup would change now.
    pub fn plan(&self, manifest: &Manifest) -> Result<Plan, BackupError> {
        restoring::plan(self, manifest)
    }

    /// Copies the present state of what a plan changes, then carries the plan out.
    pub fn restore(&self, manifest: &Manifest, plan: &Plan) -> Result<Restored, BackupError> {
        restoring::restore(self, manifest, plan)
    }

    fn manifests(&self) -> PathBuf {
        self.directory.join("manifests")
    }

    fn objects(&self) -> Objects {
        Objects::at(self.directory.join("objects"))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
