//! Whether the call may write where it wants to: the directory exists, and the system lets this user
//! change what is in it.

use std::path::Path;

use holdpoint_broker::Status;
use holdpoint_core::PathVerb;
use holdpoint_sandbox::places::may_write;

use super::CheckOutcome;
use super::subject::{Subject, nearest, path_for_display};
use crate::humanize::counted;
use crate::plain_words;

pub(super) fn check(subject: &Subject) -> Result<CheckOutcome, CheckOutcome> {
    let made = made_directories(subject)?;
    let mut looked_at = 0;
    let mut missing = None;
    for (path, verb) in subject.paths()? {
        let problem = match verb {
            PathVerb::Write if path.is_dir() => refused(path),
            PathVerb::Write if path.exists() => refused(path),
            PathVerb::Write => may_make(path, &made),
            PathVerb::Delete if path.symlink_metadata().is_ok() => refused(above(path)),
            PathVerb::Delete => {
                missing = Some(path);
                None
            }
            PathVerb::Read | PathVerb::Run | PathVerb::Unknown => continue,
        };
        if let Some(problem) = problem {
            return Ok(problem);
        }
        looked_at += 1;
    }
    if let Some(missing) = missing {
        let message = format!(
            "there is nothing to remove at {}",
            path_for_display(missing)
        );
        return Ok((Status::Warning, message));
    }
    if looked_at == 0 {
        let message = "the call names nothing that it would write or remove";
        return Ok((Status::Skipped, message.into()));
    }
    let paths = counted(looked_at, "path");
    Ok((Status::Passed, format!("{paths} can be written or removed")))
}

/// Why a new file cannot be made.
fn may_make(path: &Path, made: &[&Path]) -> Option<CheckOutcome> {
    let parent = above(path);
    if parent.is_dir() {
        return refused(parent);
    }
    if made.iter().any(|made| made.starts_with(parent)) {
        return refused(nearest(parent));
    }
    let what = match parent.exists() {
        true => "is no directory",
        false => "does not exist: make that directory first",
    };
    Some((
        Status::Failed,
        format!("{} {what}", path_for_display(parent)),
    ))
}

/// The directories the call makes itself, with those above them: `mkdir -p a/b`.
fn made_directories(subject: &Subject) -> Result<Vec<&Path>, CheckOutcome> {
    let makes = subject.explained().is_some_and(|explained| {
        explained.commands.iter().any(|command| {
            let mut words = command.words.iter().map(String::as_str);
            words.next() == Some("mkdir")
                && words.any(|word| word == "--parents" || is_short(word, 'p'))
        })
    });
    match makes {
        true => subject.written(),
        false => Ok(Vec::new()),
    }
}

fn is_short(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

/// Why nothing can be written there.
fn refused(path: &Path) -> Option<CheckOutcome> {
    match may_write(path) {
        Ok(true) => None,
        Ok(false) => Some((
            Status::Failed,
            format!("this user may not write to {}", path_for_display(path)),
        )),
        Err(error) => Some((
            Status::Error,
            format!(
                "{} cannot be looked at ({})",
                path_for_display(path),
                plain_words(&error)
            ),
        )),
    }
}

fn above(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use holdpoint_core::ToolCall;
    use serde_json::json;
    use std::fs;

    fn outcome(line: &str, place: &Path) -> CheckOutcome {
        check(&Subject::from_call(ToolCall::shell(line), place, None)).unwrap()
    }

    //
    #[test]
    fn the_directory_must_be_there() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        assert_eq!(outcome("echo x > new", &place).0, Status::Passed);
        let (status, message) = outcome("echo x > none/new", &place);
        assert_eq!(status, Status::Failed);
        assert!(message.ends_with("none does not exist: make that directory first"));
        assert_eq!(outcome("mkdir -p none/deep", &place).0, Status::Passed);
        assert_eq!(outcome("mkdir none/deep", &place).0, Status::Failed);
        fs::write(place.join("file"), "x").unwrap();
        assert_eq!(outcome("rm file", &place).0, Status::Passed);
        assert_eq!(outcome("rm other", &place).0, Status::Warning);
        assert_eq!(outcome("cat file", &place).0, Status::Skipped);
        assert_eq!(outcome("echo > file/x", &place).0, Status::Failed);
    }

    #[test]
    fn a_place_that_refuses_is_a_failure() {
        let place = tempfile::tempdir().unwrap();
        let input = json!({"file_path": "/proc/sys/kernel/version", "content": "x"});
        let call = ToolCall::new("Write", input).unwrap();
        let (status, message) = check(&Subject::from_call(call, place.path(), None)).unwrap();
        assert_eq!(status, Status::Failed, "{message}");
        assert_eq!(
            message,
            "this user may not write to /proc/sys/kernel/version"
        );
    }
}
