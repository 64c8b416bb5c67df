//! What the files a policy was loaded from looked like, so that a change of any of them is seen
//! without reading them again.

#[cfg(feature = "pipeline")]
use std::fs;
use std::fs::Metadata;
#[cfg(feature = "pipeline")]
use std::path::Path;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How old a file's last change must be for its stamp to be believed. Clocks of file systems tick
/// every few milliseconds (at most ten): a second change within the tick of the first leaves the same
/// stamp. A younger file is taken for changed, and read again.
const MIN_AGE: Duration = Duration::from_millis(50);

/// How every place looked that was looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    places: Vec<(PathBuf, Stamp)>,
}

/// How a place looked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stamp {
    /// Nothing was there.
    Absent,
    /// Something was; what does not matter.
    Present,
    /// A file or directory, by all that changes with its content.
    Content(Content),
    /// It cannot be told whether it changes.
    Unsure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    size: u64,
    /// Device, number and time of the last change, by the clock nobody can set back for one file.
    #[cfg(unix)]
    change: (u64, u64, i64, i64),
    modified: Option<SystemTime>,
}

impl Stamps {
    /// Nothing was there.
    pub(crate) fn absent(&mut self, path: impl Into<PathBuf>) {
        self.places.push((path.into(), Stamp::Absent));
    }

    /// Something was there, and what does not matter.
    pub(crate) fn present(&mut self, path: impl Into<PathBuf>) {
        self.places.push((path.into(), Stamp::Present));
    }

    /// A file or directory that is about to be read looked so.
    pub(crate) fn content(&mut self, path: impl Into<PathBuf>, found: &Metadata) {
        let stamp = match is_settled(found) {
            true => Stamp::Content(Content::from_metadata(found)),
            false => Stamp::Unsure,
        };
        self.places.push((path.into(), stamp));
    }

    /// The same as somebody else saw it.
    #[cfg(feature = "pipeline")]
    pub(crate) fn add(&mut self, others: &Self) {
        self.places.extend_from_slice(&others.places);
    }

    /// Whether the place that was stamped last changed a moment ago, and so is taken for changed whenever
    /// it is looked at again.
    #[cfg(feature = "pipeline")]
    pub(crate) fn is_unsure(&self) -> bool {
        let last = self.places.last();
        last.is_some_and(|(_, stamp)| *stamp == Stamp::Unsure)
    }

    /// The bytes of all paths together.
    #[cfg(feature = "pipeline")]
    pub(crate) fn path_bytes(&self) -> usize {
        let paths = self.places.iter().map(|(path, _)| path.as_os_str().len());
        paths.sum()
    }

    /// Whether every place looks as it did.
    #[cfg(feature = "pipeline")]
    pub(crate) fn are_current(&self) -> bool {
        self.places
            .iter()
            .all(|(path, stamp)| stamp.is_current(path))
    }
}

#[cfg(feature = "pipeline")]
impl Stamp {
    fn is_current(&self, path: &Path) -> bool {
        match self {
            Stamp::Absent => crate::store::is_absent(path),
            Stamp::Present => !crate::store::is_absent(path),
            Stamp::Content(content) => {
                fs::metadata(path).is_ok_and(|found| Content::from_metadata(&found) == *content)
            }
            Stamp::Unsure => false,
        }
    }
}

impl Content {
    #[cfg(unix)]
    fn from_metadata(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            size: found.len(),
            change: (found.dev(), found.ino(), found.ctime(), found.ctime_nsec()),
            modified: found.modified().ok(),
        }
    }

    #[cfg(not(unix))]
    fn from_metadata(found: &Metadata) -> Self {
        Self {
            size: found.len(),
            modified: found.modified().ok(),
        }
    }
}

/// Whether another change would leave another stamp.
fn is_settled(found: &Metadata) -> bool {
    let age = last_change(found).and_then(|at| SystemTime::now().duration_since(at).ok());
    age.is_some_and(|age| age >= MIN_AGE)
}

#[cfg(unix)]
fn last_change(found: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = Duration::from_secs(u64::try_from(found.ctime()).ok()?);
    let parts = Duration::from_nanos(u64::try_from(found.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(seconds + parts)
}

#[cfg(not(unix))]
fn last_change(found: &Metadata) -> Option<SystemTime> {
    found.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamped(path: &Path) -> Stamps {
        let mut stamps = Stamps::default();
        match fs::metadata(path) {
            Ok(found) => stamps.content(path, &found),
            Err(_) => stamps.absent(path),
        }
        stamps
    }

    #[test]
    fn a_change_is_seen_and_a_young_file_is_not_believed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("permissions.json");
        let missing = stamped(&path);
        assert!(missing.are_current());
        fs::write(&path, "{}").unwrap();
        assert!(!missing.are_current());
        assert!(!stamped(&path).are_current());
        std::thread::sleep(MIN_AGE * 2);
        let there = stamped(&path);
        assert!(there.are_current());
        fs::write(&path, "[]").unwrap();
        assert!(!there.are_current());
        fs::remove_file(&path).unwrap();
        assert!(!there.are_current());
    }
}
