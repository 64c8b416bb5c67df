//! How a program ends that a relay has started, and what its end was.

use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_sandbox::children;

use crate::exit::Exit;

/// How often it is looked whether the program still runs.
const GLANCE: Duration = Duration::from_millis(50);

/// How long a program may take to end once its input is closed, and again once it is asked to.
const GRACE: Duration = Duration::from_secs(3);

/// The end of a program whose input is closed: by itself, when it is asked, or by force.
pub(crate) fn over(child: &mut Child) -> Option<ExitStatus> {
    if let Some(status) = within(child, GRACE) {
        return Some(status);
    }
    children::ask_to_end(child);
    if let Some(status) = within(child, GRACE) {
        return Some(status);
    }
    let _ = child.kill();
    child.wait().ok()
}

fn within(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if started.elapsed() < patience => thread::sleep(GLANCE),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// An exit code as shells count them.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let number = status.code().or(signal.map(|signal| 128 + signal));
    let number = number.and_then(|number| u8::try_from(number).ok());
    number.unwrap_or(Exit::Error.into())
}
