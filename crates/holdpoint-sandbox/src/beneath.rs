//! Going to a file below a directory in which others may change names meanwhile: no link leads out of it.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A directory that stays the one that was found, whatever becomes of its path.
#[derive(Debug)]
pub struct Directory(File);

impl Directory {
    /// The one at a path below another, on which no part is a link.
    pub fn open(root: &Path, below: &Path) -> io::Result<Self> {
        open(root, below, libc::O_DIRECTORY).map(Self)
    }

    /// A path for a name in it, good as long as this value lives.
    pub fn name(&self, name: &std::ffi::OsStr) -> PathBuf {
        Path::new("/proc/self/fd")
            .join(self.0.as_raw_fd().to_string())
            .join(name)
    }
}

/// An ordinary file at a path below a directory, for reading. No part of the path is a link.
pub fn open_file(root: &Path, below: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its writer.
    let file = open(root, below, libc::O_NONBLOCK)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn open(root: &Path, below: &Path, flags: libc::c_int) -> io::Result<File> {
    let root = File::open(root)?;
    let below = match below.as_os_str().is_empty() {
        true => Path::new("."),
        false => below,
    };
    let path = CString::new(below.as_os_str().as_bytes())
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | flags;
    // SAFETY: a struct of numbers, for which zero says nothing.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = u64::try_from(flags).unwrap_or_default();
    how.resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS;
    // SAFETY: the path ends with a zero byte, and the struct is valid and as long as said.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            root.as_raw_fd(),
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    let opened = RawFd::try_from(opened).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the system has just given this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(opened) }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_leads_out() {
        let place = std::env::temp_dir().join(format!("holdpoint-beneath-{}", std::process::id()));
        fs::create_dir_all(place.join("root/a")).unwrap();
        fs::create_dir_all(place.join("other")).unwrap();
        fs::write(place.join("other/f"), "x").unwrap();
        fs::write(place.join("root/a/f"), "y").unwrap();
        symlink("../../other", place.join("root/link")).unwrap();
        symlink("../../other/f", place.join("root/a/linked")).unwrap();
        let root = place.join("root");
        assert!(open_file(&root, Path::new("a/f")).is_ok());
        for out in [
            "link/f",
            "a/linked",
            "../other/f",
            "/etc/passwd",
            "a",
            "a/none",
        ] {
            assert!(open_file(&root, Path::new(out)).is_err(), "{out}");
        }
        assert!(Directory::open(&root, Path::new("link")).is_err());
        assert!(Directory::open(&root, Path::new("a/f")).is_err());
        assert!(Directory::open(&root, Path::new("")).is_ok());
        let directory = Directory::open(&root, Path::new("a")).unwrap();
        // Another in its place is not gone to.
        fs::rename(root.join("a"), root.join("b")).unwrap();
        symlink("../other", root.join("a")).unwrap();
        assert_eq!(fs::read(directory.name("f".as_ref())).unwrap(), b"y");
        fs::remove_dir_all(&place).unwrap();
    }
}
