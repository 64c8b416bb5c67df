//! The sockets by which services outside are reached, as far as they lie where a command could go to them.
//!
//! Being read-only keeps nobody from connecting to a socket, so each is hidden. The system lists them for the network a process
//! is in: those of contained commands are in others, and stay.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

const LIST: &str = "/proc/net/unix";

/// The most that is read of the list: some forty thousand sockets.
const MAX_LIST: u64 = 4 << 20;

/// Whom programs ask for the names of users where a directory service has them, and who answers nothing else.
const ANSWERS_NAMES: &str = "/var/lib/sss/pipes/nss";

/// The fields in front of a socket's path.
const FIELDS: usize = 7;

/// Where the sockets are that lie somewhere `reachable`, really and now.
pub(super) fn sockets(reachable: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut list = Vec::new();
    // A system without the list has no such sockets, or hides them from everybody.
    let read = File::open(LIST).and_then(|file| file.take(MAX_LIST).read_to_end(&mut list));
    if read.is_err() {
        return Vec::new();
    }
    let mut found: Vec<PathBuf> = list
        .split(|byte| *byte == b'\n')
        .filter_map(path)
        .filter_map(|path| {
            Some(
                fs::canonicalize(path.parent()?)
                    .ok()?
                    .join(path.file_name()?),
            )
        })
        .filter(|path| path != Path::new(ANSWERS_NAMES) && reachable(path))
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|is| is.file_type().is_socket()))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The path of a line of the list. One without, one by a name that is no path, and one whose path begins where its maker
/// stood leads nowhere.
fn path(line: &[u8]) -> Option<&Path> {
    let mut rest = line;
    for _ in 0..FIELDS {
        let begin = rest.iter().position(|byte| *byte != b' ')?;
        rest = rest.get(begin..)?;
        let end = rest.iter().position(|byte| *byte == b' ')?;
        rest = rest.get(end..)?;
    }
    let path = rest
        .strip_prefix(b" ")
        .filter(|path| path.starts_with(b"/"))?;
    Some(Path::new(OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_line_is_read_as_the_system_writes_it() {
        let with = |rest: &str| {
            let line = format!("0000000000000000: 00000002 00000000 00010000 0001 01 {rest}");
            path(line.as_bytes()).map(Path::to_owned)
        };
        assert_eq!(with("12345 /srv/a b.sock"), Some("/srv/a b.sock".into()));
        assert_eq!(with("   42 /x"), Some("/x".into()));
        for none in ["12345", "12345 @name", "12345 a.sock", "12345 ", ""] {
            assert_eq!(with(none), None, "{none}");
        }
        assert_eq!(
            path(b"Num       RefCount Protocol Flags    Type St Inode Path"),
            None
        );
    }

    #[test]
    fn what_listens_now_is_found() {
        let place = std::env::temp_dir().join(format!("holdpoint-services-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let place = fs::canonicalize(&place).unwrap();
        let listener = UnixListener::bind(place.join("s")).unwrap();
        let here = |path: &Path| path.starts_with(&place);
        assert_eq!(sockets(here), [place.join("s")]);
        assert!(sockets(|_| false).is_empty());
        drop(listener);
        assert!(
            sockets(here).is_empty(),
            "its file is left, and nobody listens"
        );
        fs::remove_dir_all(&place).unwrap();
    }
}
