//! Copying what a call would change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use holdpoint_core::PathVerb;
use holdpoint_ledger::{Timestamp, unguessable};
use holdpoint_sandbox::places::free_space;

use super::error::BackupError;
use super::manifest::{Entry, Kind, Manifest, Purpose, Root, new_id};
use super::raw_path::RawPath;
use super::state;
use super::{Backups, Wanted};
use crate::glob_expand::glob_expand;
use crate::store::{make_private_directory, write_whole};
use crate::walk_tree::{Reach, is_missing, walk_tree};

/// The most paths without a copy that a manifest names: it is there to be read.
const MAX_LEFT_OUT: usize = 100;

pub(super) fn make(backups: &Backups, wanted: &Wanted<'_>) -> Result<Manifest, BackupError> {
    let mut left_out: Vec<String> = wanted.unknown.to_vec();
    let mut roots: Vec<Root> = Vec::new();
    for (pattern, verb) in wanted.paths.iter().filter(|(_, verb)| verb.may_change()) {
        let found = glob_expand(pattern, backups.limits.entries);
        if found.cut {
            return Err(BackupError::TooMany(backups.limits.entries));
        }
        for path in found.paths {
            if *verb == PathVerb::Unknown && !is_file(&path)? {
                // Of a directory somebody may only look at, and what is not there and may never be,
                // nothing is copied: taking it back would take back what nobody did.
                if path.exists() {
                    left_out.push(path.display().to_string());
                }
                continue;
            }
            roots.push(Root {
                path: RawPath(path),
                verb: *verb,
            });
        }
    }
    left_out.truncate(MAX_LEFT_OUT);
    let about = About {
        purpose: Purpose::Call,
        call: wanted.call,
        about: wanted.about,
        left_out,
    };
    copy(backups, about, roots)
}

/// What a manifest says besides what was copied.
pub(super) struct About<'a> {
    pub(super) purpose: Purpose,
    pub(super) call: &'a str,
    pub(super) about: &'a str,
    pub(super) left_out: Vec<String>,
}

/// Copies what stands at some paths and below.
pub(super) fn copy(
    backups: &Backups,
    about: About<'_>,
    roots: Vec<Root>,
) -> Result<Manifest, BackupError> {
    let paths = everything_at(backups, &roots)?;
    let objects = backups.objects();
    let mut entries = Vec::with_capacity(paths.len());
    let mut bytes = 0u64;
    for path in paths {
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if is_missing(&error) => {
                entries.push(Entry {
                    path: RawPath(path),
                    kind: Kind::Absent,
                });
                continue;
            }
            Err(error) => return Err(BackupError::unreadable(&path, &error)),
        };
        let kind = if found.is_file() {
            let (file, found) = state::open(&path)?;
            let left = backups.limits.bytes.saturating_sub(bytes);
            let (object, size) = objects
                .keep(&path, file, left)?
                .ok_or(BackupError::TooLarge(backups.limits.bytes))?;
            bytes = bytes.saturating_add(size);
            Kind::File {
                mode: state::mode(&found),
                size,
                object,
            }
        } else {
            state::without_content(&path, &found)?
        };
        entries.push(Entry {
            path: RawPath(path),
            kind,
        });
    }
    let now = Timestamp::from_clock(SystemTime::now());
    let manifests = backups.manifests();
    let unwritten = |error: std::io::Error| BackupError::unwritten(&manifests, &error);
    let manifest = Manifest {
        v: 1,
        id: new_id(now, unguessable().map_err(unwritten)?),
        time: now.to_string(),
        purpose: about.purpose,
        call: about.call.to_owned(),
        about: about.about.to_owned(),
        roots,
        entries,
        bytes,
        left_out: about.left_out,
    };
    make_private_directory(&manifests).map_err(unwritten)?;
    let text = serde_json::to_vec(&manifest).map_err(|error| unwritten(error.into()))?;
    write_whole(&manifests.join(manifest.file_name()), &text).map_err(unwritten)?;
    Ok(manifest)
}

/// Every path at and below the roots, each once, a directory before what is in it. What is too much
/// is known before anything is copied.
fn everything_at(backups: &Backups, roots: &[Root]) -> Result<Vec<PathBuf>, BackupError> {
    let limits = backups.limits;
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    let mut bytes = 0u64;
    for root in roots {
        if paths.contains(root.path.as_path()) {
            continue;
        }
        let reach = Reach {
            entries: limits.entries.saturating_add(1),
            until: None,
        };
        let found = walk_tree(root.path.as_path(), reach);
        if let Some((path, error)) = found.unreadable.first() {
            return Err(BackupError::unreadable(path, error));
        }
        if found.entries.is_empty() {
            paths.insert(root.path.0.clone());
        }
        for (path, metadata) in found.entries {
            if is_own(backups, &path) {
                continue;
            }
            if metadata.is_file() {
                bytes = bytes.saturating_add(metadata.len());
            }
            paths.insert(path);
        }
        if found.cut || paths.len() > limits.entries {
            return Err(BackupError::TooMany(limits.entries));
        }
        if bytes > limits.bytes {
            return Err(BackupError::TooLarge(limits.bytes));
        }
    }
    room_for(backups, bytes)?;
    Ok(paths.into_iter().collect())
}

/// Whether a path is one of the backups' own: they are not copied into themselves.
fn is_own(backups: &Backups, path: &Path) -> bool {
    path.starts_with(&backups.directory)
}

fn room_for(backups: &Backups, bytes: u64) -> Result<(), BackupError> {
    let there = backups.directory.ancestors().find(|place| place.exists());
    match there.and_then(|there| free_space(there).ok()) {
        Some(free) if free < bytes => Err(BackupError::NoRoom(bytes, free)),
        // Where nobody can say how much there is, writing will.
        Some(_) | None => Ok(()),
    }
}

fn is_file(path: &Path) -> Result<bool, BackupError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.is_file() || found.is_symlink()),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(BackupError::unreadable(path, &error)),
    }
}
