//! Enough room where the call would write, and not just somewhere on the machine.

use std::io;
use std::path::{Path, PathBuf};

use holdpoint_broker::Status;
use holdpoint_core::PathVerb;
use holdpoint_sandbox::places::free_space;

use super::CheckOutcome;
use super::subject::{Subject, nearest, path_for_display};
use crate::humanize::bytes;
use crate::plain_words;

/// What a call is taken to need if it says nothing.
const USUAL: u64 = 1_000_000;

/// The bytes that must stay free for everybody else, logs and the ledger among them; with less the check fails.
const MIN_SPARE: u64 = 100_000_000;

pub(super) fn check(subject: &Subject) -> Result<CheckOutcome, CheckOutcome> {
    check_with(subject, free_space)
}

fn check_with(
    subject: &Subject,
    free_space: impl Fn(&Path) -> io::Result<u64>,
) -> Result<CheckOutcome, CheckOutcome> {
    let mut targets = subject.written()?;
    let need = need(subject, !targets.is_empty())?;
    if targets.is_empty() {
        targets.push(&subject.workspace);
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut tightest: Option<(u64, PathBuf)> = None;
    for target in targets {
        let there = nearest(target);
        let mount = mount_of(there);
        if seen.contains(&mount) {
            continue;
        }
        let free = match free_space(there) {
            Ok(free) => free,
            Err(error) => {
                let place = path_for_display(there);
                let message = format!("how much room there is at {place} cannot be found out");
                return Err((
                    Status::Error,
                    format!("{message} ({})", plain_words(&error)),
                ));
            }
        };
        if tightest.as_ref().is_none_or(|(least, _)| free < *least) {
            tightest = Some((free, mount.clone()));
        }
        seen.push(mount);
    }
    let Some((free, mount)) = tightest else {
        return Err((Status::Error, "there is no place to look at".into()));
    };
    let message = format!(
        "{} needed, {} free on {}",
        bytes(need),
        bytes(free),
        path_for_display(&mount)
    );
    if free < need.saturating_add(MIN_SPARE) {
        let message = format!("{message}, where {} must stay free", bytes(MIN_SPARE));
        return Ok((Status::Failed, message));
    }
    Ok((Status::Passed, message))
}

/// What the call would write: the text it brings along, and the files it would copy.
fn need(subject: &Subject, writes: bool) -> Result<u64, CheckOutcome> {
    let files = subject.files()?.into_iter();
    let read = files.filter(|(_, verb, _)| *verb == PathVerb::Read);
    let copied = match writes {
        true => read.fold(0u64, |sum, (_, _, size)| sum.saturating_add(size)),
        false => 0,
    };
    Ok(subject.text_size().saturating_add(copied).max(USUAL))
}

/// Where the file system a path is on begins.
#[cfg(unix)]
fn mount_of(path: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt;
    let device = |place: &Path| place.metadata().ok().map(|found| found.dev());
    let own = device(path);
    let top = path.ancestors().take_while(|place| device(place) == own);
    top.last().unwrap_or(path).to_owned()
}

#[cfg(not(unix))]
fn mount_of(path: &Path) -> PathBuf {
    path.ancestors().last().unwrap_or(path).to_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use holdpoint_core::ToolCall;
    use serde_json::json;
    use std::fs;

    #[test]
    fn the_file_system_of_the_target_is_asked_and_told_with_numbers() {
        let place = tempfile::tempdir().unwrap();
        let call = ToolCall::new("Write", json!({"file_path": "/proc/x/new", "content": "x"}));
        let subject = Subject::from_call(call.unwrap(), place.path(), None);
        let (status, message) = check_with(&subject, |asked| {
            assert_eq!(asked, Path::new("/proc"));
            Ok(56_200_000_000)
        })
        .unwrap();
        assert_eq!(status, Status::Passed);
        assert_eq!(message, "1.0 MB needed, 56.2 GB free on /proc");
    }

    //
    #[test]
    fn what_is_copied_is_needed_and_some_room_must_stay() {
        let place = tempfile::tempdir().unwrap();
        let large = fs::File::create(place.path().join("large")).unwrap();
        large.set_len(12_300_000).unwrap();
        let subject = Subject::from_call(ToolCall::shell("cp large copy"), place.path(), None);
        let (status, message) = check_with(&subject, |_| Ok(112_299_000)).unwrap();
        assert_eq!(status, Status::Failed);
        assert!(
            message.starts_with("12.3 MB needed, 112.2 MB free on "),
            "{message}"
        );
        assert_eq!(
            check_with(&subject, |_| Ok(112_301_000)).unwrap().0,
            Status::Passed
        );
        let unsupported = |_: &Path| Err(io::ErrorKind::Unsupported.into());
        let (status, message) = check_with(&subject, unsupported).unwrap_err();
        assert_eq!(status, Status::Error, "{message}");
        assert!(check(&subject).is_ok());
    }
}
