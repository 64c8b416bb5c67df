//! What the ledger asks of the operating system, so that tests can make each request fail.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// To be read and written, made if there is none.
    Make,
    /// To be read and written; it must be there.
    Existing,
    /// To be read.
    Read,
}

/// The operating system as the writer uses it.
pub trait System {
    /// Opens a file, for its owner alone.
    fn open(&self, path: &Path, how: Open) -> io::Result<File>;
    /// Writes at a place; may write less than it was given.
    fn write_at(&self, file: &File, bytes: &[u8], place: u64) -> io::Result<usize>;
    /// Cuts a file to a size.
    fn cut(&self, file: &File, size: u64) -> io::Result<()>;
    /// Gives a file another name, in place of the file that had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
    /// Brings a file's content to the disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// The clock.
    fn now(&self) -> SystemTime;
}

/// The real one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Real;

impl System for Real {
    fn open(&self, path: &Path, how: Open) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(how != Open::Read);
        options.create(how == Open::Make);
        private(&mut options);
        options.open(path)
    }

    fn write_at(&self, file: &File, bytes: &[u8], place: u64) -> io::Result<usize> {
        write_at(file, bytes, place)
    }

    fn cut(&self, file: &File, size: u64) -> io::Result<()> {
        file.set_len(size)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, place)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, place)
}

/// Reads at a place until the buffer is full or the file ends.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = place + u64::try_from(filled).unwrap_or(u64::MAX);
        match read_some(file, rest, at) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(unix)]
fn read_some(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}

#[cfg(windows)]
fn read_some(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, place)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private(_options: &mut OpenOptions) {}

/// Makes a directory for its owner alone, with those above it.
pub fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Brings a directory's list of files to the disk, where that can be done.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(path)?.sync_all()?;
    }
    Ok(())
}
