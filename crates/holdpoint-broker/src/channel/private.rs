//! Files and directories nobody else can have put there.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use holdpoint_core::text::escape_for_display;
use holdpoint_sandbox::user;

/// Write access of the group or of everybody.
const OTHERS_WRITE: u32 = 0o022;

const ROOT: u32 = 0;

/// Makes sure that a directory is there, and this user's alone to write in.
pub(super) fn directory(path: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    // What stands there is looked at in any case: it may be a link to another place.
    let found = fs::symlink_metadata(path);
    let found = found.map_err(|error| {
        let error = made.err().unwrap_or(error);
        format!("`{}` cannot be used: {error}", name(path))
    })?;
    let problem = if found.is_symlink() {
        "is a symbolic link: name the directory itself"
    } else if !found.is_dir() {
        "is no directory"
    } else if found.uid() != user::id() {
        "belongs to another user"
    } else if found.mode() & OTHERS_WRITE != 0 {
        "may be written by others: run chmod go-w on it"
    } else {
        return Ok(());
    };
    Err(format!("`{}` {problem}", name(path)))
}

/// Writes a file that appears whole or not at all, and that only this user reads.
pub(super) fn write(directory: &Path, file: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = directory.join(format!(".{file}.draft"));
    forget(&draft)?;
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut to| to.write_all(bytes))
        .and_then(|()| fs::rename(&draft, directory.join(file)));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = forget(&draft);
    }
    written
}

/// A file somebody with the right to answer has left.
pub(super) struct Left {
    pub(super) bytes: Vec<u8>,
    pub(super) owner: u32,
}

/// Why a file that is there does not count.
pub(super) enum Unfit {
    /// It may be better the next time.
    Unreadable,
    /// Somebody else may have put it there.
    Doubtful(&'static str),
}

/// Reads a file of this user or of root; none if there is none. At most `most` bytes are read, and
/// one more if there are more.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Left>, Unfit> {
    let named = match fs::symlink_metadata(path) {
        Ok(named) => named,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) => return Err(Unfit::Unreadable),
    };
    doubt(&named)?;
    // Between the look and the opening it may have become a link or a pipe nobody writes to.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .map_err(|_| Unfit::Unreadable)?;
    let opened = file.metadata().map_err(|_| Unfit::Unreadable)?;
    doubt(&opened)?;
    if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
        // Replaced meanwhile; the next look sees the new one.
        return Err(Unfit::Unreadable);
    }
    let mut bytes = Vec::new();
    read_some(file, most, &mut bytes).map_err(|_| Unfit::Unreadable)?;
    Ok(Some(Left {
        bytes,
        owner: opened.uid(),
    }))
}

fn read_some(file: File, most: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
    file.take(most.saturating_add(1)).read_to_end(bytes)
}

fn doubt(found: &Metadata) -> Result<(), Unfit> {
    let doubt = if found.is_symlink() {
        "it is a symbolic link"
    } else if !found.is_file() {
        "it is no ordinary file"
    } else if found.uid() != user::id() && found.uid() != ROOT {
        "it belongs to another user"
    } else if found.mode() & OTHERS_WRITE != 0 {
        "it may be written by others"
    } else {
        return Ok(());
    };
    Err(Unfit::Doubtful(doubt))
}

/// Deletes a file if it is there.
pub(super) fn forget(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A path for a message.
pub(super) fn name(path: &Path) -> String {
    escape_for_display(&path.display().to_string(), 300)
}
