//! Whether the call stays where it belongs, and whether this machine could keep it there.

use std::fs;
use std::path::Path;

use holdpoint_broker::Status;
use holdpoint_core::PathVerb;

use super::CheckOutcome;
use super::subject::{Subject, path_for_display};
use crate::humanize::counted;

/// Places of the system that no agent's tool has business in.
const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/boot",
    "/dev",
    "/lib",
    "/lib64",
    "/proc",
    "/sys",
    "/System",
    "/Library",
    "/Applications",
];

/// The same, from home.
const FROM_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/holdpoint",
    ".kube",
    ".local/state/holdpoint",
    ".netrc",
    ".password-store",
];

/// Where Linux lists what guards it.
const GUARDS: &str = "/sys/kernel/security/lsm";

pub(super) fn check(subject: &Subject) -> Result<CheckOutcome, CheckOutcome> {
    check_with(subject, fs::read_to_string(GUARDS).ok().as_deref())
}

fn check_with(subject: &Subject, guards: Option<&str>) -> Result<CheckOutcome, CheckOutcome> {
    let paths = subject.paths()?;
    // A program that is run is not touched by that.
    let touched = || paths.iter().filter(|(_, verb)| *verb != PathVerb::Run);
    if let Some((path, verb)) = touched().find(|(path, _)| is_protected(path, subject)) {
        let message = format!(
            "{} is protected: {} it",
            path_for_display(path),
            may_not(*verb)
        );
        return Ok((Status::Failed, message));
    }
    let mut outside: Vec<&Path> = touched()
        .map(|(path, _)| path.as_path())
        .filter(|path| !subject.is_inside(path))
        .collect();
    outside.sort_unstable();
    outside.dedup();
    let (available, sandbox) =
        match guards.map(|list| list.trim().split(',').any(|guard| guard == "landlock")) {
            Some(true) => (
                true,
                "an OS sandbox (Landlock) is available on this machine",
            ),
            Some(false) => (
                false,
                "this machine has no OS sandbox (Landlock is not switched on)",
            ),
            None => (
                false,
                "whether this machine has an OS sandbox cannot be seen",
            ),
        };
    Ok(match outside.as_slice() {
        [] if available => (Status::Passed, format!("inside the workspace; {sandbox}")),
        [] => (Status::Warning, format!("inside the workspace; {sandbox}")),
        [only] => {
            let message = format!(
                "{} is outside the workspace; {sandbox}",
                path_for_display(only)
            );
            (Status::Warning, message)
        }
        [first, more @ ..] => {
            let message = format!(
                "{} and {} are outside the workspace; {sandbox}",
                path_for_display(first),
                counted(more.len(), "more path")
            );
            (Status::Warning, message)
        }
    })
}

fn is_protected(path: &Path, subject: &Subject) -> bool {
    let in_system = SYSTEM.iter().any(|place| path.starts_with(place));
    let home = subject.home.as_deref();
    let in_home = home.is_some_and(|home| {
        FROM_HOME
            .iter()
            .any(|place| path.starts_with(home.join(place)))
    });
    // All of home holds what is protected in it, and so does everything.
    let above = path == Path::new("/") || home == Some(path);
    in_system || in_home || above
}

fn may_not(verb: PathVerb) -> &'static str {
    match verb {
        PathVerb::Read => "the call may not read",
        PathVerb::Write => "the call may not change",
        PathVerb::Delete => "the call may not remove",
        PathVerb::Run | PathVerb::Unknown => "the call may not use",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::ToolCall;

    const LANDLOCK: Option<&str> = Some("lockdown,capability,landlock,yama\n");

    fn outcome(line: &str, guards: Option<&str>) -> CheckOutcome {
        let home = Some(Path::new("/home/dev"));
        let subject = Subject::from_call(ToolCall::shell(line), Path::new("/work/app"), home);
        check_with(&subject, guards).unwrap()
    }

    //
    #[test]
    fn protected_places_fail_whatever_the_spelling() {
        for line in [
            "cat /etc/shadow",
            "echo x > /usr/local/x",
            "rm /work/app/../../boot/vmlinuz",
            "cp x ~/.ssh/authorized_keys",
            "cd /home/dev && cat .gnupg/secring",
            "rm -rf ~",
            "cat ~/.local/state/holdpoint/backups/x",
        ] {
            assert_eq!(outcome(line, LANDLOCK).0, Status::Failed, "{line}");
        }
        let (_, message) = outcome("cat /etc/shadow", LANDLOCK);
        assert_eq!(
            message,
            "/etc/shadow is protected: the call may not read it"
        );
    }

    #[test]
    fn outside_is_told_and_so_is_the_sandbox() {
        let (status, message) = outcome("cat x", LANDLOCK);
        assert_eq!(status, Status::Passed);
        assert!(
            message.ends_with("(Landlock) is available on this machine"),
            "{message}"
        );
        let (status, message) = outcome("cat /data/x /data/y", LANDLOCK);
        assert_eq!(status, Status::Warning);
        assert!(
            message.starts_with("/data/x and 1 more path are outside"),
            "{message}"
        );
        assert_eq!(outcome("cat x", Some("capability,yama")).0, Status::Warning);
        assert_eq!(outcome("cat x", None).0, Status::Warning);
        assert_eq!(outcome("/usr/bin/env true", LANDLOCK).0, Status::Passed);
    }

    #[test]
    fn a_sibling_of_a_protected_place_is_only_outside() {
        assert_eq!(outcome("cat /etcetera/x", LANDLOCK).0, Status::Warning);
        assert_eq!(outcome("cat ~/.sshx", LANDLOCK).0, Status::Warning);
    }
}
