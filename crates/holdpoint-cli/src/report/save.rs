//! A page on disk, in place of an older one and of nothing else.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::page::OPENING;
use holdpoint_engine::store::{plain_words, write_whole};

/// Why a page was not written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// Something else stands there.
    #[error(
        "{0}: this file is no report of holdpoint's: name another one with -o, or replace it with \
         --force"
    )]
    Occupied(String),
    /// It cannot be written.
    #[error("{0}: the report cannot be written ({1}): check the directory and the disk")]
    Io(String, String),
}

/// Writes a page in one step, for the user's eyes alone. A file that is no report stays, unless
/// `force` is set.
pub fn save(path: &Path, page: &str, force: bool) -> Result<(), SaveError> {
    let place = || {
        PathBuf::from(path)
            .display()
            .to_string()
            .escape_debug()
            .to_string()
    };
    let failed = |error: io::Error| SaveError::Io(place(), plain_words(&error));
    match is_report(path) {
        Ok(false) if !force => return Err(SaveError::Occupied(place())),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    write_whole(path, page.as_bytes()).map_err(failed)
}

fn is_report(path: &Path) -> io::Result<bool> {
    let found = path.metadata()?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    let most = u64::try_from(OPENING.len()).unwrap_or(u64::MAX);
    File::open(path)?.take(most).read_to_end(&mut start)?;
    Ok(start == OPENING.as_bytes())
}
