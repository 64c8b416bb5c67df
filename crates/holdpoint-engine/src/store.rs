//! Holdpoint's own files on disk: read whole and bounded, written whole, changed under a lock.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// Why a file was not read.
#[derive(Debug)]
pub enum Unread {
    /// There is none.
    Missing,
    /// A directory stands in its place.
    Directory,
    /// A pipe, a device or a socket stands in its place.
    NotOrdinary,
    /// It is larger than it may be.
    TooLarge(u64),
    /// The system refuses.
    Io(io::Error),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Missing => f.write_str("the file does not exist"),
            Unread::Directory => f.write_str("this is a directory"),
            Unread::NotOrdinary => f.write_str("this is not an ordinary file"),
            Unread::TooLarge(size) => write!(f, "the file has {size} bytes"),
            Unread::Io(error) => write!(f, "the file cannot be read ({})", plain_words(error)),
        }
    }
}

/// The bytes of an ordinary file of at most `most` bytes.
pub fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    read_bounded_as(path, most).map(|(bytes, _)| bytes)
}

/// The same, and how the file looked before it was read.
pub(crate) fn read_bounded_as(path: &Path, most: u64) -> Result<(Vec<u8>, Metadata), Unread> {
    let from_io = |error: io::Error| {
        if error.kind() == ErrorKind::NotFound {
            Unread::Missing
        } else {
            Unread::Io(error)
        }
    };
    // Looked at before it is opened: opening a pipe would wait for its writer.
    let found = fs::metadata(path).map_err(from_io)?;
    if found.is_dir() {
        return Err(Unread::Directory);
    }
    if !found.is_file() {
        return Err(Unread::NotOrdinary);
    }
    if found.len() > most {
        return Err(Unread::TooLarge(found.len()));
    }
    let mut bytes = Vec::new();
    let mut bounded = File::open(path)
        .map_err(from_io)?
        .take(most.saturating_add(1));
    bounded.read_to_end(&mut bytes).map_err(from_io)?;
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= most => Ok((bytes, found)),
        Ok(size) => Err(Unread::TooLarge(size)),
        Err(_) => Err(Unread::TooLarge(u64::MAX)),
    }
}

/// Whether nothing stands at `path`. A place that cannot be looked at is not taken for empty: a
/// policy may stand there.
pub fn is_absent(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// Holds the lock that belongs to `path` until the file is dropped. The directory is made for the
/// user alone.
pub fn lock(path: &Path) -> io::Result<File> {
    let directory = path.parent().unwrap_or(Path::new("."));
    make_private_directory(directory)?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    private(&mut options);
    let file = options.open(path.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

/// Replaces the file at `path` in one step; a crash leaves the old content or the new.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    private(&mut options);
    replace(path, bytes, options, None)
}

/// The same for a file that is somebody else's: it keeps its owner and its mode, which are those of
/// `like`. A new one gets what new files get.
pub fn rewrite(path: &Path, bytes: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    replace(path, bytes, OpenOptions::new(), like)
}

fn replace(
    path: &Path,
    bytes: &[u8],
    mut options: OpenOptions,
    like: Option<&Metadata>,
) -> io::Result<()> {
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    options.create(true).truncate(true).write(true);
    let written = options.open(&draft).and_then(|mut file| {
        if let Some(like) = like {
            keep_owner(&file, like);
            file.set_permissions(like.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_data()
    });
    let result = written.and_then(|()| fs::rename(&draft, path));
    if result.is_err() {
        let _ = fs::remove_file(&draft);
    }
    result
}

/// Only the superuser can give a file away; for anybody else it is theirs already.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(like.uid()), Some(like.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _like: &Metadata) {}

/// Adds a line to the file at `path`, for the user's eyes alone. One that has grown long becomes
/// `….old` in place of the one before.
pub fn append_line(path: &Path, line: &str, longest: u64) -> io::Result<()> {
    make_private_directory(path.parent().unwrap_or(Path::new(".")))?;
    if fs::metadata(path).is_ok_and(|found| found.len() > longest) {
        fs::rename(path, path.with_extension("old"))?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    private(&mut options);
    // One write, so that lines of several processes do not mix.
    options
        .open(path)?
        .write_all(format!("{line}\n").as_bytes())
}

/// An error in words, without the system's number for it.
pub fn plain_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ")
        .next()
        .map_or_else(String::new, str::to_lowercase)
}

#[cfg(unix)]
pub(crate) fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
pub(crate) fn private(_options: &mut OpenOptions) {}

/// Adds to a file of the user's alone, in one write, so that lines of several processes do not mix.
pub(crate) fn append_private(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        make_private_directory(directory)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    private(&mut options);
    options.open(path)?.write_all(text)
}

/// Makes a directory, and those above it that are missing, for the user alone.
#[cfg(unix)]
pub fn make_private_directory(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

/// Makes a directory, and those above it that are missing.
#[cfg(not(unix))]
pub fn make_private_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}
