//! What the second stage of a sandbox is told: bytes in a file without a name, because bubblewrap starts it as a program of
//! its own, with nothing of the supervisor's memory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::walls::Wall;
use crate::contain::Notice;

/// All it needs to know.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) command: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) directory: PathBuf,
    /// The trees it may write.
    pub(super) writable: Vec<PathBuf>,
    /// The mounts that must stand.
    pub(super) walls: Vec<(PathBuf, Wall)>,
    /// The supervisor's namespaces, as the system names them: it must be in none of them.
    pub(super) outside: Vec<(OsString, OsString)>,
    pub(super) file_size: u64,
    pub(super) processes: u64,
    pub(super) tracing: bool,
    pub(super) notice: Notice,
}

impl Order {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let paths = |paths: &[PathBuf]| -> Vec<OsString> {
            paths.iter().map(|path| path.clone().into()).collect()
        };
        put_all(&mut bytes, &self.command);
        put_pairs(&mut bytes, &self.environment);
        put(&mut bytes, self.directory.as_os_str());
        put_all(&mut bytes, &paths(&self.writable));
        put_number(&mut bytes, self.walls.len() as u64);
        for (path, wall) in &self.walls {
            put(&mut bytes, path.as_os_str());
            put_number(&mut bytes, *wall as u64);
        }
        put_pairs(&mut bytes, &self.outside);
        put_number(&mut bytes, self.file_size);
        put_number(&mut bytes, self.processes);
        put_number(&mut bytes, u64::from(self.tracing));
        put_number(&mut bytes, self.notice as u64);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let mut reader = Reader { rest: bytes };
        let order = Self {
            command: reader.all(Reader::text)?,
            environment: reader.all(Reader::pair)?,
            directory: reader.text()?.into(),
            writable: reader.all(|reader| reader.text().map(PathBuf::from))?,
            walls: reader.all(Reader::wall)?,
            outside: reader.all(Reader::pair)?,
            file_size: reader.number()?,
            processes: reader.number()?,
            tracing: match reader.number()? {
                0 => false,
                1 => true,
                _ => return Err(io::ErrorKind::InvalidData.into()),
            },
            notice: match reader.number()? {
                0 => Notice::Nothing,
                1 => Notice::Refusals,
                2 => Notice::Everything,
                _ => return Err(io::ErrorKind::InvalidData.into()),
            },
        };
        match reader.rest {
            [] => Ok(order),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn put_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend(number.to_le_bytes());
}

fn put(bytes: &mut Vec<u8>, text: &OsStr) {
    put_number(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

fn put_all(bytes: &mut Vec<u8>, texts: &[OsString]) {
    put_number(bytes, texts.len() as u64);
    for text in texts {
        put(bytes, text);
    }
}

fn put_pairs(bytes: &mut Vec<u8>, pairs: &[(OsString, OsString)]) {
    put_number(bytes, pairs.len() as u64);
    for (first, second) in pairs {
        put(bytes, first);
        put(bytes, second);
    }
}

struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    fn take(&mut self, length: usize) -> io::Result<&'b [u8]> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self) -> io::Result<u64> {
        let bytes = self.take(size_of::<u64>())?;
        let bytes = bytes.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn length(&mut self) -> io::Result<usize> {
        let length = self.number()?;
        usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn text(&mut self) -> io::Result<OsString> {
        let length = self.length()?;
        Ok(OsString::from_vec(self.take(length)?.to_vec()))
    }

    fn pair(&mut self) -> io::Result<(OsString, OsString)> {
        Ok((self.text()?, self.text()?))
    }

    fn wall(&mut self) -> io::Result<(PathBuf, Wall)> {
        let path = self.text()?.into();
        let wall = Wall::of(self.number()?).ok_or(io::ErrorKind::InvalidData)?;
        Ok((path, wall))
    }

    /// As many as are said to come, each of which takes a byte at least.
    fn all<T>(&mut self, mut one: impl FnMut(&mut Self) -> io::Result<T>) -> io::Result<Vec<T>> {
        let count = self.length()?;
        if count > self.rest.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (0..count).map(|_| one(self)).collect()
    }
}

/// What names each namespace of this process, for comparing.
pub(super) fn namespaces() -> io::Result<Vec<(OsString, OsString)>> {
    ["mnt", "pid", "net", "ipc", "uts", "cgroup"]
        .into_iter()
        .map(|name| {
            let found = std::fs::read_link(Path::new("/proc/self/ns").join(name))?;
            Ok((name.into(), found.into()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let order = Order {
            command: vec![
                "sh".into(),
                "-c".into(),
                OsString::from_vec(vec![0xff, b'x']),
            ],
            environment: vec![("PATH".into(), "/bin".into()), ("E".into(), "".into())],
            directory: "/w".into(),
            writable: vec!["/w".into()],
            walls: vec![("/".into(), Wall::ReadOnly), ("/tmp".into(), Wall::Empty)],
            outside: namespaces().unwrap(),
            file_size: u64::MAX,
            processes: 7,
            tracing: true,
            notice: Notice::Refusals,
        };
        let bytes = order.to_bytes();
        assert_eq!(Order::from_bytes(&bytes).unwrap(), order);
        for length in 0..bytes.len() {
            assert!(Order::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
        assert!(Order::from_bytes(&[&bytes[..], b"x"].concat()).is_err());
        assert!(Order::from_bytes(&[0xff; 64]).is_err());
    }
}
