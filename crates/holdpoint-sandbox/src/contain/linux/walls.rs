//! The mounts around a command as the system lists them, compared with those that were asked of another program: what is
//! said of a sandbox is what was found, not what was ordered.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What must be mounted at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Wall {
    /// Nobody writes there.
    ReadOnly = 1,
    /// It hangs there by itself, so that it cannot be carried away; it may be written.
    Given,
    /// An empty directory of its own.
    Empty,
    /// An empty directory that nobody writes to.
    Hidden,
    /// The processes of its own namespace.
    Processes,
}

impl Wall {
    /// The one of a number that came through a file.
    pub(super) fn of(number: u64) -> Option<Self> {
        [
            Self::ReadOnly,
            Self::Given,
            Self::Empty,
            Self::Hidden,
            Self::Processes,
        ]
        .into_iter()
        .find(|wall| *wall as u64 == number)
    }

    fn may_be_written(self) -> bool {
        match self {
            Self::Given | Self::Empty | Self::Processes => true,
            Self::ReadOnly | Self::Hidden => false,
        }
    }

    fn stands(self, mount: &Mount) -> bool {
        match self {
            Self::ReadOnly => mount.read_only,
            Self::Given => true,
            Self::Empty => mount.kind == "tmpfs",
            Self::Hidden => mount.kind == "tmpfs" && mount.read_only,
            Self::Processes => mount.kind == "proc",
        }
    }
}

/// A mount of this process's namespace.
#[derive(Debug)]
struct Mount {
    number: u64,
    at: PathBuf,
    kind: String,
    read_only: bool,
}

/// Looks at the mounts of this process. The first path at which something else is found than was asked for.
pub(super) fn breach(walls: &[(PathBuf, Wall)]) -> io::Result<Option<PathBuf>> {
    let text = fs::read("/proc/self/mountinfo")?;
    let mounts: Vec<Mount> = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| mount(line).ok_or(io::ErrorKind::InvalidData))
        .collect::<Result<_, _>>()?;
    Ok(breach_in(&mounts, walls, found_at))
}

/// The mount whoever goes to a path comes to: of several over one path that is the one on top.
fn found_at(path: &Path) -> Option<u64> {
    let opened = File::options()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_NOFOLLOW)
        .open(path)
        .ok()?;
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", opened.as_raw_fd())).ok()?;
    let number = told.lines().find_map(|line| line.strip_prefix("mnt_id:"))?;
    number.trim().parse().ok()
}

fn breach_in(
    mounts: &[Mount],
    walls: &[(PathBuf, Wall)],
    found_at: impl Fn(&Path) -> Option<u64>,
) -> Option<PathBuf> {
    let missing = walls.iter().find(|(path, wall)| {
        let found = found_at(path);
        let top = mounts
            .iter()
            .find(|mount| Some(mount.number) == found && mount.at == *path);
        !top.is_some_and(|mount| wall.stands(mount))
    });
    if let Some((path, _)) = missing {
        return Some(path.clone());
    }
    // Whatever can be written lies in something that is given to be.
    let open = mounts
        .iter()
        .filter(|mount| !mount.read_only)
        .find(|mount| {
            let around = walls
                .iter()
                .filter(|(path, _)| mount.at.starts_with(path))
                .max_by_key(|(path, _)| path.components().count());
            // What hangs directly at a wall's path is below what is on top there, which was looked at.
            !around.is_some_and(|(path, wall)| wall.may_be_written() || *path == mount.at)
        });
    open.map(|mount| mount.at.clone())
}

/// A line of the system's list.
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let number = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let at = plain(fields.nth(3)?);
    let options = fields.next()?;
    let mut rest = fields.skip_while(|field| *field != b"-").skip(1);
    let kind = String::from_utf8(rest.next()?.to_vec()).ok()?;
    let of_all = rest.nth(1)?;
    let has = |options: &[u8]| options.split(|byte| *byte == b',').any(|one| one == b"ro");
    Some(Mount {
        number,
        at,
        kind,
        read_only: has(options) || has(of_all),
    })
}

/// A path of the list, in which some bytes are written as three octal digits.
fn plain(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().filter(|_| *first == b'\\');
        let value = digits.and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        match value {
            Some(value) => {
                bytes.push(value);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Path::new(&OsString::from_vec(bytes)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which path is found wanting.
    fn found(lines: &[&str], walls: &[(&str, Wall)]) -> Option<String> {
        let mounts: Vec<Mount> = lines
            .iter()
            .enumerate()
            .map(|(number, line)| {
                let (at, rest) = line.split_once(' ').unwrap();
                let (options, kind) = rest.split_once(' ').unwrap();
                let line = format!("{number} 8 0:1 / {at} {options} shared:1 - {kind} none rw");
                mount(line.as_bytes()).unwrap()
            })
            .collect();
        let walls: Vec<_> = walls
            .iter()
            .map(|(path, wall)| (PathBuf::from(path), *wall))
            .collect();
        let top = |path: &Path| {
            let over = mounts.iter().filter(|mount| path.starts_with(&mount.at));
            over.max_by_key(|mount| mount.at.components().count())
                .map(|mount| mount.number)
        };
        breach_in(&mounts, &walls, top).map(|path| path.display().to_string())
    }

    #[test]
    fn what_was_asked_for_must_be_there() {
        let walls = [
            ("/", Wall::ReadOnly),
            ("/tmp", Wall::Empty),
            ("/w a", Wall::Given),
            ("/w a/.git", Wall::Given),
            ("/w a/.git/hooks", Wall::ReadOnly),
            ("/s", Wall::Hidden),
            ("/proc", Wall::Processes),
        ];
        let all = [
            "/ ro,nosuid ext4",
            "/proc ro proc",
            "/tmp rw tmpfs",
            "/w\\040a rw ext4",
            "/w\\040a/.git rw ext4",
            "/w\\040a/.git/hooks ro ext4",
            "/s ro tmpfs",
            "/proc rw proc",
        ];
        assert_eq!(found(&all, &walls), None);
        for missing in 0..all.len() {
            let mut less = all.to_vec();
            // Of the two over `/proc` one is enough.
            let (path, _) = less.remove(missing).split_once(' ').unwrap();
            let twice = path == "/proc";
            assert_eq!(found(&less, &walls).is_none(), twice, "{path}");
        }
        for (index, instead, at) in [
            (0, "/ rw ext4", "/"),
            (2, "/tmp rw ext4", "/tmp"),
            (5, "/w\\040a/.git/hooks rw ext4", "/w a/.git/hooks"),
            (6, "/s rw tmpfs", "/s"),
            (6, "/s ro ext4", "/s"),
            (7, "/proc rw tmpfs", "/proc"),
        ] {
            let mut other = all.to_vec();
            other[index] = instead;
            assert_eq!(found(&other, &walls).as_deref(), Some(at), "{instead}");
        }
        // What nobody asked for, and can be written.
        for (more, at) in [
            ("/data rw ext4", Some("/data")),
            ("/w\\040a/.git/hooks/x rw ext4", Some("/w a/.git/hooks/x")),
            ("/w\\040a/disk rw ext4", None),
            ("/data ro ext4", None),
            // Below what is on top of it.
            ("/boot ro vfat", None),
        ] {
            let mut other = vec![more];
            other.extend(all);
            assert_eq!(found(&other, &walls).as_deref(), at, "{more}");
        }
    }

    #[test]
    fn a_line_is_read_as_it_stands() {
        let line = br"36 35 98:0 /mnt1 /mnt\0402\134x rw,noatime master:1 - ext3 /dev/root ro,errors=continue";
        let mount = mount(line).unwrap();
        assert_eq!(mount.at, Path::new("/mnt 2\\x"));
        assert!(mount.read_only && mount.kind == "ext3");
        for broken in [
            "",
            "36 35",
            "36 35 98:0 / /x rw no end",
            "36 35 98:0 / /x rw -",
        ] {
            assert!(super::mount(broken.as_bytes()).is_none(), "{broken}");
        }
        assert!(
            breach(&[]).unwrap().is_some(),
            "something can be written here"
        );
    }
}
