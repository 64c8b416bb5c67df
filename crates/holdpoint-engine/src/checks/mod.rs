//! What is looked at before a person is asked about a call (A-12 … A-14).
//!
//! Each check ends in a sentence with what it found. They run beside each other and have a few
//! seconds; one that fails, breaks down or takes too long stops the call, since what cannot be found
//! out is not fine. Nothing here changes anything.

mod command;
mod disk_space;
mod permission;
mod sandbox;
mod sensitive_data;
mod size_limit;
mod subject;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_broker::{CheckResult, Status};
use holdpoint_core::policy::Check;
use holdpoint_core::{Action, PathVerb};

use self::subject::Subject;

/// How long a check may take, since whoever is asked waits for it; one that takes longer ends as an error.
const MAX_TIME: Duration = Duration::from_secs(5);

/// What a check found: what comes of it, and in a sentence why.
type CheckOutcome = (Status, String);

/// Runs the checks that are wanted for a call which names these paths, and tells what each found, in
/// the order they are wanted.
pub fn run(
    wanted: &[Check],
    action: &Action,
    paths: &[(String, PathVerb)],
    workspace: &Path,
    home: Option<&Path>,
) -> Vec<CheckResult> {
    let subject = Arc::new(Subject::new(action, paths, workspace, home));
    let tasks = wanted
        .iter()
        .map(|check| (*check, task(*check, Arc::clone(&subject))))
        .collect();
    within(MAX_TIME, tasks)
}

type Task = Box<dyn FnOnce() -> CheckOutcome + Send>;

fn task(check: Check, subject: Arc<Subject>) -> Task {
    match check {
        Check::Backup => Box::new(|| {
            let message = "a copy of what would change is made once the call is released";
            (Status::Skipped, message.to_owned())
        }),
        Check::DiskSpace => outcome_or_reason(move || disk_space::check(&subject)),
        Check::Permission => outcome_or_reason(move || permission::check(&subject)),
        Check::SizeLimit => outcome_or_reason(move || size_limit::check(&subject)),
        Check::SensitiveData => outcome_or_reason(move || sensitive_data::check(&subject)),
        Check::CommandValidator => Box::new(move || command::check(&subject)),
        Check::SandboxCheck => outcome_or_reason(move || sandbox::check(&subject)),
    }
}

/// What a check found, or why it could not find it out.
fn outcome_or_reason(
    check: impl FnOnce() -> Result<CheckOutcome, CheckOutcome> + Send + 'static,
) -> Task {
    Box::new(move || check().unwrap_or_else(|unknown| unknown))
}

/// Runs tasks beside each other. One that is late is left behind: a thread cannot be ended, but
/// nobody waits for it.
fn within(time: Duration, tasks: Vec<(Check, Task)>) -> Vec<CheckResult> {
    let until = Instant::now() + time;
    let started: Vec<_> = tasks
        .into_iter()
        .map(|(check, task)| {
            let (sender, receiver) = channel();
            let thread = thread::Builder::new().name(format!("{check:?}"));
            let spawned = thread.spawn(move || {
                let _ = sender.send(task());
            });
            (check, spawned.map(|_| receiver))
        })
        .collect();
    started
        .into_iter()
        .map(|(check, receiver)| {
            let left = until.saturating_duration_since(Instant::now());
            let found = match receiver {
                Err(_) => Err("no thread could be started for it"),
                Ok(receiver) => receiver.recv_timeout(left).map_err(|error| match error {
                    RecvTimeoutError::Timeout => "it took longer than it may",
                    RecvTimeoutError::Disconnected => "it broke down",
                }),
            };
            let (status, message) =
                found.unwrap_or_else(|problem| (Status::Error, problem.to_owned()));
            CheckResult {
                check,
                status,
                message,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::{Surroundings, ToolCall, understand_alone};

    //
    #[test]
    fn a_check_that_is_late_or_breaks_down_stops_the_call_and_no_other_check() {
        let tasks: Vec<(Check, Task)> = vec![
            (
                Check::DiskSpace,
                Box::new(|| {
                    thread::sleep(Duration::from_secs(20));
                    (Status::Passed, String::new())
                }),
            ),
            (
                Check::Permission,
                Box::new(|| std::panic::resume_unwind(Box::new("made to break"))),
            ),
            (
                Check::SizeLimit,
                Box::new(|| (Status::Passed, "fine".into())),
            ),
        ];
        let started = Instant::now();
        let found = within(Duration::from_millis(300), tasks);
        assert!(started.elapsed() < Duration::from_secs(5));
        let statuses: Vec<Status> = found.iter().map(|one| one.status).collect();
        assert_eq!(statuses, [Status::Error, Status::Error, Status::Passed]);
        assert!(statuses.iter().take(2).all(|status| status.blocks()));
        assert_eq!(found[0].message, "it took longer than it may");
    }

    //
    #[test]
    fn a_backup_waits_for_the_release() {
        let place = tempfile::tempdir().unwrap();
        let call = ToolCall::shell("rm x");
        let action = understand_alone(call, &Surroundings::nowhere());
        let found = run(&[Check::Backup], &action, &[], place.path(), None);
        assert_eq!(found[0].status, Status::Skipped);
    }
}
