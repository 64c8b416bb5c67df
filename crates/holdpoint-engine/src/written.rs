//! The files a session wrote, remembered beside its state: one line a file, only ever added to.
//!
//! They are kept apart from the state because nearly every call reads the state and only calls that
//! run a project's code ask for these. A list that has grown too long says so: then nobody can say of
//! a file that the session did not write it. A path that holds a secret is kept as its digest alone.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;
#[cfg(feature = "pipeline")]
use std::path::PathBuf;
#[cfg(feature = "pipeline")]
use std::sync::Arc;

#[cfg(feature = "pipeline")]
use holdpoint_core::facts::{Fact, FactValue};
#[cfg(feature = "pipeline")]
use holdpoint_core::paths::{Entry, FileText, Lookup, Tracking};
use holdpoint_core::paths::{Written, WrittenFile};
use holdpoint_core::text::redaction::Redactor;
use serde::{Deserialize, Serialize};

#[cfg(feature = "pipeline")]
use crate::disk::Disk;
#[cfg(feature = "pipeline")]
use crate::own;
#[cfg(feature = "pipeline")]
use crate::sessions::{SessionId, Sessions};
use crate::store::{Unread, append_private, read_bounded};

/// The longest list: some thousand files. A session that writes more is remembered as one that did.
const MAX_LIST: u64 = 256 << 10;

/// A line of the list.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'a, str>>,
    /// The digest of a path that holds a secret, in place of it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sealed: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// Whether it came from a network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fetched: bool,
}

/// Adds files to a list, without the secrets the redactor finds in their names.
pub(crate) fn remember(list: &Path, files: &[WrittenFile], redactor: &Redactor) -> io::Result<()> {
    if fs::metadata(list).is_ok_and(|found| found.len() > MAX_LIST) {
        return Ok(());
    }
    let mut text = String::new();
    for file in files {
        let path = file.path.as_str();
        let sealed = redactor.text(path).as_str() != path;
        let line = Line {
            path: (!sealed).then(|| path.into()),
            sealed: sealed.then(|| Written::seal(path).into()),
            digest: file.digest.clone(),
            fetched: file.fetched,
        };
        text.push_str(&serde_json::to_string(&line).map_err(io::Error::other)?);
        text.push('\n');
    }
    append_private(list, text.as_bytes())
}

/// What a list holds. One that cannot be read may hold anything.
#[cfg_attr(
    not(feature = "pipeline"),
    allow(
        dead_code,
        reason = "a gate that only judges has no session to read of"
    )
)]
pub(crate) fn read(list: &Path) -> Written {
    // The last addition may have gone beyond the limit by some.
    let bytes = match read_bounded(list, MAX_LIST * 8) {
        Ok(bytes) => bytes,
        Err(Unread::Missing) => return Written::default(),
        Err(_) => {
            return Written {
                more: true,
                ..Written::default()
            };
        }
    };
    let mut written = Written {
        more: u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_LIST),
        ..Written::default()
    };
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line<'_>>(line) {
            Ok(Line {
                path: Some(path),
                digest,
                fetched,
                ..
            }) => written.add(WrittenFile {
                path: path.into_owned(),
                digest,
                fetched,
            }),
            Ok(Line {
                sealed: Some(one), ..
            }) => {
                written.sealed.insert(one.into_owned());
            }
            Ok(_) | Err(_) => written.more = true,
        }
    }
    written
}

/// The disk, as a session sees it that remembers what it wrote.
#[cfg(feature = "pipeline")]
#[derive(Debug)]
pub(crate) struct SessionDisk<'a> {
    pub(crate) sessions: Option<Sessions>,
    pub(crate) session: &'a str,
}

#[cfg(feature = "pipeline")]
impl SessionDisk<'_> {
    /// Where it is remembered what the session has made and started.
    fn own_list(&self) -> Option<PathBuf> {
        let sessions = self.sessions.as_ref()?;
        Some(sessions.own_list(&SessionId::new(self.session)))
    }

    /// Whether tests have passed in the session since its last edit.
    fn tests_passed(&self) -> FactValue {
        let known = |sessions: &Sessions| sessions.load(&SessionId::new(self.session)).ok();
        let state = self.sessions.as_ref().and_then(known);
        state.map_or(FactValue::Unknown, |state| {
            FactValue::Is(state.tests_passed)
        })
    }
}

#[cfg(feature = "pipeline")]
impl Lookup for SessionDisk<'_> {
    fn entry(&self, path: &str) -> Entry {
        Disk.entry(path)
    }

    fn has_nothing_below_missing(&self) -> bool {
        Disk.has_nothing_below_missing()
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        Disk.read(path, most)
    }

    fn skim(&self, path: &str, most: usize) -> Option<String> {
        Disk.skim(path, most)
    }

    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        Disk.names(path, most)
    }

    fn tracking(&self, path: &str) -> Tracking {
        Disk.tracking(path)
    }

    fn tracking_in(&self, directory: &str, names: &[&str]) -> Vec<Tracking> {
        Disk.tracking_in(directory, names)
    }

    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        Disk.twin(path)
    }

    fn fact(&self, fact: &Fact) -> FactValue {
        match fact {
            Fact::TestsPassed => self.tests_passed(),
            Fact::Branch(_)
            | Fact::Clean(_)
            | Fact::Ci
            | Fact::Hostname
            | Fact::User
            | Fact::Time => Disk.fact(fact),
        }
    }

    fn is_own(&self, path: &str) -> bool {
        self.own_list().is_some_and(|list| own::holds(&list, path))
    }

    fn is_own_process(&self, process: u32) -> bool {
        self.own_list()
            .is_some_and(|list| own::started(&list, process))
    }

    fn is_own_port(&self, port: u16) -> bool {
        self.own_list()
            .is_some_and(|list| own::uses_port(&list, port))
    }

    fn is_own_terminal(&self, terminal: &str) -> bool {
        self.own_list()
            .is_some_and(|list| own::has_terminal(&list, terminal))
    }

    fn has_opened_terminal(&self, terminal: &str) -> bool {
        self.own_list()
            .is_some_and(|list| own::has_opened_terminal(&list, terminal))
    }

    fn written(&self) -> Arc<Written> {
        let sessions = self.sessions.as_ref();
        let written = sessions.map(|all| read(&all.written_list(&SessionId::new(self.session))));
        Arc::new(written.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, digest: Option<&str>) -> WrittenFile {
        WrittenFile {
            path: path.into(),
            digest: digest.map(str::to_owned),
            fetched: false,
        }
    }

    #[test]
    fn what_came_from_a_network_is_known_until_it_is_written_over() {
        let home = tempfile::tempdir().unwrap();
        let list = home.path().join("sessions/a.written");
        let fetched = WrittenFile {
            fetched: true,
            ..file("/w/tool", None)
        };
        remember(&list, &[fetched], &Redactor::new()).unwrap();
        assert!(read(&list).fetched.contains("/w/tool"));
        remember(&list, &[file("/w/tool", None)], &Redactor::new()).unwrap();
        assert!(read(&list).fetched.is_empty() && read(&list).holds("/w/tool"));
    }

    #[test]
    fn what_was_written_is_remembered_in_any_order() {
        let home = tempfile::tempdir().unwrap();
        let list = home.path().join("sessions/a.written");
        assert_eq!(read(&list), Written::default());
        let plain = Redactor::new();
        remember(&list, &[file("/w/a \"b\"\n.py", None)], &plain).unwrap();
        remember(&list, &[file("/w/c.py", Some("sha256:1"))], &plain).unwrap();
        let written = read(&list);
        assert!(written.files.contains_key("/w/a \"b\"\n.py") && !written.more);
        assert_eq!(written.files.get("/w/c.py"), Some(&Some("sha256:1".into())));
    }

    #[test]
    fn a_secret_in_a_path_is_not_written_down_and_the_file_is_still_known() {
        let home = tempfile::tempdir().unwrap();
        let list = home.path().join("a.written");
        let secret = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let path = format!("/w/{secret}/a.py");
        remember(&list, &[file(&path, None)], &Redactor::new()).unwrap();
        let kept = fs::read_to_string(&list).unwrap();
        assert!(!kept.contains(&secret), "{kept}");
        let written = read(&list);
        assert!(written.holds(&path) && !written.holds("/w/a.py") && !written.more);
        remember(
            &list,
            &[file(&format!("/w/{secret}"), None)],
            &Redactor::new(),
        )
        .unwrap();
        assert!(read(&list).holds_around(&format!("/w/{secret}/b/c.py")));
    }

    #[test]
    fn a_list_that_is_too_long_or_torn_says_so() {
        let home = tempfile::tempdir().unwrap();
        let list = home.path().join("a.written");
        let files: Vec<WrittenFile> = (0..5000)
            .map(|n| file(&format!("/work/{n}/{}", "x".repeat(60)), None))
            .collect();
        remember(&list, &files, &Redactor::new()).unwrap();
        let length = fs::metadata(&list).unwrap().len();
        remember(&list, &files, &Redactor::new()).unwrap();
        assert_eq!(fs::metadata(&list).unwrap().len(), length);
        assert!(read(&list).more && read(&list).files.len() == 5000);
        fs::write(&list, "{\"path\":\"/a").unwrap();
        assert!(read(&list).more);
    }
}
