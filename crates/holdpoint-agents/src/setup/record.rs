//! What a settings file was before Holdpoint, and what it became.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::{digest_of, document};
use serde::{Deserialize, Serialize};

use super::{MAX_SETTINGS, SetupError, name, unusable};
use holdpoint_engine::Locations;
use holdpoint_engine::store::{Unread, lock, read_bounded, write_whole};

/// What is known of one settings file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// The file, for whoever reads the record.
    pub(crate) path: String,
    /// Whether there was a file at all.
    pub(crate) existed: bool,
    /// Whether the backup is what stood there before any entry of ours.
    pub(crate) exact: bool,
    /// The digest of the file with our entry.
    pub(crate) after: String,
    /// The directories made for it, the innermost first.
    pub(crate) made: Vec<String>,
}

/// The record and the backup of one settings file.
pub(crate) struct Records {
    directory: PathBuf,
}

impl Records {
    pub(crate) fn for_settings(locations: &Locations, settings: &Path) -> Result<Self, SetupError> {
        let state = locations.state.as_ref().ok_or(SetupError::NoPlace)?;
        let file = digest_of(name(settings).as_bytes()).replace(':', "-");
        Ok(Self {
            directory: state.join("setup").join(file),
        })
    }

    /// Whether something of ours was put into the file and not taken out again.
    pub(crate) fn are_kept(&self) -> bool {
        self.path().exists()
    }

    pub(crate) fn lock(&self) -> Result<File, SetupError> {
        lock(&self.path()).map_err(|error| unusable(&self.directory, "used", &error))
    }

    /// The text before our entry (none if there was no file), if it is known exactly and the file
    /// is still what we left.
    pub(crate) fn original(&self, now: &str) -> Result<Option<Option<String>>, SetupError> {
        let Some(record) = self.record()? else {
            return Ok(None);
        };
        if !record.exact || record.after != now {
            return Ok(None);
        }
        if !record.existed {
            return Ok(Some(None));
        }
        let bytes = read_bounded(&self.backup(), MAX_SETTINGS)
            .map_err(|unread| self.unread(&self.backup(), &unread))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            SetupError::Broken(name(&self.backup()), "the backup is not UTF-8 text".into())
        })?;
        Ok(Some(Some(text)))
    }

    /// Keeps a new backup, in place of one before.
    pub(crate) fn keep(&self, record: Record, before: &str) -> Result<(), SetupError> {
        self.write(&self.backup(), before.as_bytes())?;
        self.write_record(&record)
    }

    /// Our own entry changed; the backup stays. Says whether there is one.
    pub(crate) fn renew(&self, after: &str, exact: bool) -> Result<bool, SetupError> {
        match self.record()? {
            Some(record) => {
                let after = after.to_owned();
                let record = Record {
                    after,
                    exact,
                    ..record
                };
                self.write_record(&record).map(|()| true)
            }
            None => Ok(false),
        }
    }

    pub(crate) fn made_directories(&self) -> Vec<PathBuf> {
        let record = self.record().ok().flatten();
        record.map_or_else(Vec::new, |record| {
            record.made.into_iter().map(PathBuf::from).collect()
        })
    }

    /// Forgets the record; the backup only if it was restored.
    pub(crate) fn forget(&self, restored: bool) {
        let _ = fs::remove_file(self.path());
        if restored {
            let _ = fs::remove_file(self.backup());
        }
    }

    pub(crate) fn backup(&self) -> PathBuf {
        self.directory.join("settings.json")
    }

    fn path(&self) -> PathBuf {
        self.directory.join("record.json")
    }

    fn record(&self) -> Result<Option<Record>, SetupError> {
        match read_bounded(&self.path(), MAX_SETTINGS) {
            Ok(bytes) => document::read(&name(&self.path()), &bytes)
                .map(Some)
                .map_err(|error| SetupError::Broken(name(&self.path()), error.message())),
            Err(Unread::Missing) => Ok(None),
            Err(unread) => Err(self.unread(&self.path(), &unread)),
        }
    }

    fn write_record(&self, record: &Record) -> Result<(), SetupError> {
        let text = serde_json::to_vec_pretty(record)
            .map_err(|error| unusable(&self.path(), "written", &io::Error::other(error)))?;
        self.write(&self.path(), &text)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), SetupError> {
        write_whole(path, bytes).map_err(|error| unusable(path, "written", &error))
    }

    fn unread(&self, path: &Path, unread: &Unread) -> SetupError {
        SetupError::Unusable(name(path), "read", unread.to_string())
    }
}
