//! Whether the call is about more than a person would look through.

use holdpoint_broker::Status;

use super::CheckOutcome;
use super::subject::{Subject, path_for_display};
use crate::humanize::bytes;

/// The bytes beyond which a file is worth a warning: what people edit by hand is smaller.
const MAX_UNREMARKED: u64 = 10_000_000;

pub(super) fn check(subject: &Subject) -> Result<CheckOutcome, CheckOutcome> {
    let text = subject.text_size();
    let files = subject.files()?.into_iter();
    let largest = files.max_by_key(|(_, _, size)| *size);
    Ok(match largest {
        Some((path, _, size)) if size > MAX_UNREMARKED && size >= text => {
            let (size, path) = (bytes(size), path_for_display(path));
            let message = format!("{path} has {size}, more than {}", bytes(MAX_UNREMARKED));
            (Status::Warning, message)
        }
        _ if text > MAX_UNREMARKED => {
            let message = format!(
                "the arguments have {}, more than {}",
                bytes(text),
                bytes(MAX_UNREMARKED)
            );
            (Status::Warning, message)
        }
        Some((path, _, size)) => {
            let message = format!(
                "{} of arguments; the largest file, {}, has {}",
                bytes(text),
                path_for_display(path),
                bytes(size)
            );
            (Status::Passed, message)
        }
        None => (Status::Passed, format!("{} of arguments", bytes(text))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::ToolCall;
    use serde_json::json;
    use std::fs;

    //
    #[test]
    fn ten_megabytes_are_the_limit() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let write = |bytes: usize| {
            let input = json!({"file_path": "x", "content": "x".repeat(bytes)});
            let call = ToolCall::new("Write", input).unwrap();
            check(&Subject::from_call(call, &place, None)).unwrap().0
        };
        assert_eq!(write(9_000_000), Status::Passed);
        assert_eq!(write(10_000_001), Status::Warning);
        fs::File::create(place.join("large"))
            .unwrap()
            .set_len(25_000_000)
            .unwrap();
        let subject = Subject::from_call(ToolCall::shell("cp large copy"), &place, None);
        let (status, message) = check(&subject).unwrap();
        assert_eq!(status, Status::Warning);
        assert!(
            message.ends_with("large has 25.0 MB, more than 10.0 MB"),
            "{message}"
        );
    }
}
