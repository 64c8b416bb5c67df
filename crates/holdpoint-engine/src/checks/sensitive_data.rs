//! Secrets in the arguments and in the files the call names. What was found is told by its kind and
//! place, never shown.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use holdpoint_broker::Status;
use holdpoint_core::text::redaction::{Kinds, Redactor};
use serde_json::Value;

use super::CheckOutcome;
use super::subject::{Subject, path_for_display};
use crate::excerpt::showing;
use crate::humanize::{bytes, counted};
use crate::plain_words;

/// How much of each file is read: secrets stand in configuration, which is short. The message says how much it was.
const MAX_OF_A_FILE: u64 = 100_000;

/// The most files that are read, so that a check ends in its time. Further ones are told like what was found: nobody knows
/// what is in them.
const MAX_FILES: usize = 200;

/// The most places that are told; the rest is counted.
const MAX_TOLD: usize = 3;

pub(super) fn check(subject: &Subject) -> Result<CheckOutcome, CheckOutcome> {
    let redactor = showing();
    let mut found: Vec<String> = Vec::new();
    let (_, kinds) = redactor.json(&Value::Object(subject.call.input().clone()));
    if !kinds.is_empty() {
        found.push(format!("{} in the arguments", words(&kinds)));
    }
    let mut seen: HashSet<&Path> = HashSet::new();
    let files = subject.files()?.into_iter().map(|(path, _, _)| path);
    let files: Vec<&Path> = files.filter(|path| seen.insert(path)).collect();
    let read = files.len().min(MAX_FILES);
    for path in files.iter().copied().take(MAX_FILES) {
        match kinds_in(&redactor, path) {
            Ok(kinds) if kinds.is_empty() => {}
            Ok(kinds) => found.push(format!("{} in {}", words(&kinds), path_for_display(path))),
            // The call cannot read it either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => {
                let message = format!(
                    "{} cannot be read ({})",
                    path_for_display(path),
                    plain_words(&error)
                );
                return Err((Status::Error, message));
            }
        }
    }
    let looked_at = match read {
        0 => "the arguments".to_owned(),
        _ => format!(
            "the arguments and the first {} of {}",
            bytes(MAX_OF_A_FILE),
            counted(read, "file")
        ),
    };
    let unread = files.len() - read;
    if found.is_empty() && unread == 0 {
        return Ok((Status::Passed, format!("nothing found in {looked_at}")));
    }
    if found.is_empty() {
        found.push(format!("nothing found in {looked_at}"));
    }
    let more = found.len().saturating_sub(MAX_TOLD);
    found.truncate(MAX_TOLD);
    let mut message = found.join("; ");
    if more > 0 {
        message.push_str(&format!("; and in {}", counted(more, "more place")));
    }
    if unread > 0 {
        message.push_str(&format!(
            "; {} not looked into",
            counted(unread, "more file")
        ));
    }
    Ok((Status::Warning, message))
}

fn kinds_in(redactor: &Redactor, path: &Path) -> io::Result<Kinds> {
    let mut start = Vec::new();
    File::open(path)?
        .take(MAX_OF_A_FILE)
        .read_to_end(&mut start)?;
    let (_, kinds) = redactor.text_counted(&String::from_utf8_lossy(&start));
    Ok(kinds)
}

/// `2 passwords and 1 token`.
fn words(kinds: &Kinds) -> String {
    let words: Vec<String> = kinds
        .iter()
        .map(|(marker, count)| counted(count, &marker.as_str().replace('_', " ")))
        .collect();
    words.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::ToolCall;
    use std::fs;

    //
    #[test]
    fn secrets_are_told_by_place_and_kind_and_never_shown() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let secret = format!("hunter2-{}", "Zq81kX");
        fs::write(place.join("plain"), "nothing\n").unwrap();
        fs::write(place.join("settings"), format!("DB_PASSWORD={secret}\n")).unwrap();
        let outcome =
            |line: &str| check(&Subject::from_call(ToolCall::shell(line), &place, None)).unwrap();
        let (status, message) = outcome("cat plain");
        assert_eq!(status, Status::Passed);
        assert_eq!(
            message,
            "nothing found in the arguments and the first 100.0 kB of 1 file"
        );
        let (status, message) = outcome("cat settings");
        assert_eq!(status, Status::Warning);
        assert!(message.starts_with("1 password in "), "{message}");
        assert!(!message.contains(&secret));
        let (status, message) = outcome(&format!("export DB_PASSWORD={secret}"));
        assert_eq!(
            (status, message.as_str()),
            (Status::Warning, "1 password in the arguments")
        );
    }

    #[test]
    fn files_that_are_not_read_are_told() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        for number in 0..MAX_FILES + 3 {
            fs::write(place.join(format!("{number}.txt")), "nothing\n").unwrap();
        }
        let subject = Subject::from_call(ToolCall::shell("cat *.txt"), &place, None);
        let (status, message) = check(&subject).unwrap();
        assert_eq!(status, Status::Warning);
        assert!(
            message.ends_with("; 3 more files not looked into"),
            "{message}"
        );
    }

    #[test]
    fn only_the_first_part_of_a_file_is_read() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let text = format!("{}\nDB_PASSWORD=hunter2-Zq81kX\n", "x ".repeat(60_000));
        fs::write(place.join("long"), text).unwrap();
        let subject = Subject::from_call(ToolCall::shell("cat long"), &place, None);
        assert_eq!(check(&subject).unwrap().0, Status::Passed);
    }
}
