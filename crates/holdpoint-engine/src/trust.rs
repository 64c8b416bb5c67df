//! Which project files their owner has vouched for, by content.
//!
//! A record is a path and the digest of what stood there. A file that changes is untrusted again,
//! and so is one that moves.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::document;
use holdpoint_core::policy::Trust;
use serde::{Deserialize, Serialize};

use crate::locations::Locations;
use crate::stamps::Stamps;
use crate::store::{Unread, lock, plain_words, read_bounded, write_whole};

/// The record of trusted files.
#[derive(Debug)]
pub struct TrustStore {
    path: PathBuf,
    records: Records,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Records {
    v: u32,
    files: BTreeMap<String, String>,
}

/// Why the record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no place to keep it.
    #[error("no home directory is known, so nothing can be trusted: set HOME or XDG_STATE_HOME")]
    NoPlace,
    /// The record is not one.
    #[error(
        "{0}: the record of trusted files is damaged ({1}): remove it and trust your files again"
    )]
    Damaged(String, String),
    /// The disk does not play along.
    #[error(
        "{0}: the record of trusted files cannot be used ({1}): check the directory and the disk"
    )]
    Unusable(String, String),
}

impl TrustStore {
    /// Reads the record; one that does not exist yet trusts nothing.
    pub fn open(locations: &Locations) -> Result<Self, TrustError> {
        let path = locations
            .state
            .as_ref()
            .ok_or(TrustError::NoPlace)?
            .join("trust.json");
        let records = read(&path)?;
        Ok(Self { path, records })
    }

    /// The same, and how the record looked.
    pub(crate) fn open_stamped(
        locations: &Locations,
        stamps: &mut Stamps,
    ) -> Result<Self, TrustError> {
        let state = locations.state.as_ref().ok_or(TrustError::NoPlace)?;
        let path = state.join("trust.json");
        // Before it is read: a change that comes between is seen as one.
        match fs::metadata(&path) {
            Ok(found) => stamps.content(&path, &found),
            Err(_) => stamps.absent(&path),
        }
        let records = read(&path)?;
        Ok(Self { path, records })
    }

    /// Whether the file at `path`, with this content, is trusted.
    pub fn standing(&self, path: &Path, digest: &str) -> Trust {
        match self.records.files.get(&key(path)) {
            Some(known) if known == digest => Trust::Trusted,
            Some(_) | None => Trust::Untrusted,
        }
    }

    /// Whether the file at `path` was ever trusted, whatever it says now.
    pub fn knows(&self, path: &Path) -> bool {
        self.records.files.contains_key(&key(path))
    }

    /// Every trusted file with the digest it had.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.records
            .files
            .iter()
            .map(|(path, digest)| (path.as_str(), digest.as_str()))
    }

    /// Trusts the file at `path` as long as it has this content.
    pub fn trust(&mut self, path: &Path, digest: &str) -> Result<(), TrustError> {
        let (key, digest) = (key(path), digest.to_owned());
        self.change(|files| {
            files.insert(key, digest);
        })
    }

    /// Trusts the file no longer; says whether it was trusted.
    pub fn revoke(&mut self, path: &Path) -> Result<bool, TrustError> {
        let known = self.records.files.contains_key(&key(path));
        self.change(|files| {
            files.remove(&key(path));
        })?;
        Ok(known)
    }

    fn change(
        &mut self,
        edit: impl FnOnce(&mut BTreeMap<String, String>),
    ) -> Result<(), TrustError> {
        let failed = |error: io::Error| {
            TrustError::Unusable(self.path.display().to_string(), plain_words(&error))
        };
        let _held = lock(&self.path).map_err(failed)?;
        let mut records = read(&self.path)?;
        records.v = VERSION;
        edit(&mut records.files);
        let text =
            serde_json::to_vec_pretty(&records).map_err(|error| failed(io::Error::other(error)))?;
        write_whole(&self.path, &text).map_err(failed)?;
        self.records = records;
        Ok(())
    }
}

fn read(path: &Path) -> Result<Records, TrustError> {
    let name = path.display().to_string();
    let bytes = match read_bounded(path, MAX_RECORDS) {
        Ok(bytes) => bytes,
        Err(Unread::Missing) => return Ok(Records::default()),
        Err(unread) => return Err(TrustError::Unusable(name, unread.to_string())),
    };
    let records: Records = document::read(&name, &bytes)
        .map_err(|error| TrustError::Damaged(name.clone(), error.message()))?;
    if records.v != VERSION {
        let what = format!("version {} is not known", records.v);
        return Err(TrustError::Damaged(name, what));
    }
    Ok(records)
}

/// The version of the record.
const VERSION: u32 = 1;

/// The largest record that is read: a hundred thousand projects. A larger one is an error, and no project is trusted.
const MAX_RECORDS: u64 = 16 << 20;

/// A file is known by its real path, so that a link to it is not another file.
fn key(path: &Path) -> String {
    fs::canonicalize(path)
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}
