//! What stands at a path now, as a manifest would write it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use super::error::BackupError;
use super::manifest::Kind;
use super::objects::digest;
use super::raw_path::RawPath;
use crate::walk_tree::is_missing;

/// What stands at a path, the content of a file by its digest.
pub(super) fn now(path: &Path) -> Result<Kind, BackupError> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Ok(Kind::Absent),
        Err(error) => return Err(BackupError::unreadable(path, &error)),
    };
    let unreadable = |error: io::Error| BackupError::unreadable(path, &error);
    if found.is_file() {
        let (file, found) = open(path)?;
        return Ok(Kind::File {
            mode: mode(&found),
            size: found.len(),
            object: digest(file).map_err(unreadable)?,
        });
    }
    without_content(path, &found)
}

/// The same for what has no content of its own.
pub(super) fn without_content(path: &Path, found: &Metadata) -> Result<Kind, BackupError> {
    if found.is_dir() {
        return Ok(Kind::Directory { mode: mode(found) });
    }
    if found.is_symlink() {
        let target = fs::read_link(path).map_err(|error| BackupError::unreadable(path, &error))?;
        return Ok(Kind::Link {
            target: RawPath(target),
        });
    }
    Err(BackupError::Special(path.to_owned()))
}

/// Opens an ordinary file: no link is followed and nothing is waited for, even if somebody swaps the
/// file for something else meanwhile.
pub(super) fn open(path: &Path) -> Result<(File, Metadata), BackupError> {
    let unreadable = |error: io::Error| BackupError::unreadable(path, &error);
    let mut options = OpenOptions::new();
    options.read(true);
    as_it_is(&mut options);
    let file = options.open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    match found.is_file() {
        true => Ok((file, found)),
        false => Err(BackupError::Changing(path.to_owned())),
    }
}

#[cfg(unix)]
fn as_it_is(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(holdpoint_sandbox::places::AS_IT_IS);
}

#[cfg(not(unix))]
fn as_it_is(_options: &mut OpenOptions) {}

#[cfg(unix)]
pub(super) fn mode(found: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
pub(super) fn mode(found: &Metadata) -> u32 {
    if found.permissions().readonly() {
        0o444
    } else {
        0o644
    }
}
