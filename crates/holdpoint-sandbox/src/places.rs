//! What the system says of a place on the disk that the standard library does not ask: how much
//! room there is, and whether this process may write there.

#[cfg(not(unix))]
use std::io;
#[cfg(not(unix))]
use std::path::Path;

#[cfg(unix)]
pub use unix::{AS_IT_IS, free_space, may_write};

#[cfg(unix)]
mod unix {
    use std::ffi::CString;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    /// The flags of `open` that keep it from following a link at the end of the path and from waiting
    /// for the other end of a pipe.
    pub const AS_IT_IS: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK;

    /// How many bytes whoever runs this process may still write to the file system `path` is on.
    pub fn free_space(path: &Path) -> io::Result<u64> {
        let path = text_of(path)?;
        let mut found = MaybeUninit::<libc::statvfs>::uninit();
        // SAFETY: the path ends with NUL and lives until the call returns; the structure is as large as
        // the system expects and is only written to.
        let result = unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call succeeded, so it filled the structure in.
        let found = unsafe { found.assume_init() };
        // The types of these differ from system to system.
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_fallible_conversions,
            reason = "they are 32 bits wide on some systems and 64 on others"
        )]
        let (blocks, size) = (
            u64::try_from(found.f_bavail).unwrap_or(u64::MAX),
            u64::try_from(found.f_frsize).unwrap_or(u64::MAX),
        );
        Ok(blocks.saturating_mul(size))
    }

    /// Whether this process may write to `path`: change a file, or make and remove entries of a
    /// directory. A file system that is read-only says no.
    pub fn may_write(path: &Path) -> io::Result<bool> {
        let path = text_of(path)?;
        // SAFETY: the path ends with NUL and lives until the call returns, which only looks.
        let result = unsafe { libc::access(path.as_ptr(), libc::W_OK) };
        if result == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM | libc::EROFS) => Ok(false),
            Some(_) | None => Err(error),
        }
    }

    fn text_of(path: &Path) -> io::Result<CString> {
        CString::new(path.as_os_str().as_bytes()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "the path contains a NUL byte")
        })
    }
}

/// Not known here, and so an error for whoever asks.
#[cfg(not(unix))]
pub fn free_space(_path: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not known here, and so an error for whoever asks.
#[cfg(not(unix))]
pub fn may_write(_path: &Path) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_directory_for_temporary_files_has_room_and_can_be_written() {
        let directory = std::env::temp_dir();
        assert!(free_space(&directory).is_ok_and(|bytes| bytes > 0));
        assert!(may_write(&directory).is_ok_and(|may| may));
    }

    #[test]
    fn what_is_not_there_is_an_error_and_not_a_no() {
        let missing = Path::new("/no/such/place");
        assert!(free_space(missing).is_err());
        assert!(may_write(missing).is_err());
        assert!(may_write(Path::new("a\0b")).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_that_is_read_only_says_no() {
        // Whoever runs this, nobody makes files there.
        assert!(may_write(Path::new("/proc/sys/kernel/version")).is_ok_and(|may| !may));
    }
}
