//! Running a program that only reads: no terminal, no input, little environment, and an end.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// How long such a program may take, since a person waits for it; then it is ended, and its answer is unknown.
pub(super) const MAX_TIME: Duration = Duration::from_secs(5);

/// The most bytes of output that are read: far more than is shown. The rest is left, and the answer says it is cut.
const MAX_OUTPUT: usize = 1 << 20;

/// Where programs are looked for: not where the agent or a project may have put some.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

/// What a program said.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) text: Vec<u8>,
    /// Whether there was more.
    pub(super) cut: bool,
}

impl Output {
    /// Its lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.text);
        text.lines().map(str::to_owned).collect()
    }

    /// What it said between NUL bytes.
    pub(super) fn records(&self) -> Vec<String> {
        let records = self.text.split(|byte| *byte == 0);
        records
            .filter(|record| !record.is_empty())
            .map(|record| String::from_utf8_lossy(record).into_owned())
            .collect()
    }
}

/// Runs a program in a directory; an error says in a few words why there is no answer.
pub(super) fn run(
    program: &str,
    arguments: &[&str],
    directory: &Path,
    environment: &[(&str, &str)],
    time: Duration,
) -> Result<Output, String> {
    let late = || format!("{program} took longer than {} s", time.as_secs_f32());
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", PROGRAMS)
        .env("LC_ALL", "C.UTF-8")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(home) = std::env::home_dir() {
        command.env("HOME", home);
    }
    let mut child = command
        .spawn()
        .map_err(|_| format!("{program} cannot be run"))?;
    let output = child.stdout.take();
    let (sender, receiver) = channel();
    let reader = thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        let limit = u64::try_from(MAX_OUTPUT)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let read = output.map(|output| output.take(limit).read_to_end(&mut text));
        let _ = sender.send(read.is_some_and(|read| read.is_ok()).then_some(text));
    });
    let until = Instant::now() + time;
    let text = match reader {
        Ok(_) => receiver.recv_timeout(time).ok().flatten(),
        Err(_) => None,
    };
    let Some(mut text) = text else {
        end(&mut child);
        return Err(late());
    };
    let cut = text.len() > MAX_OUTPUT;
    text.truncate(MAX_OUTPUT);
    if cut {
        end(&mut child);
        return Ok(Output { text, cut });
    }
    match wait(&mut child, until) {
        Some(true) => Ok(Output { text, cut }),
        Some(false) => Err(format!("{program} refuses")),
        None => {
            end(&mut child);
            Err(late())
        }
    }
}

/// Whether it ended well, if it ended in time.
fn wait(child: &mut Child, until: Instant) -> Option<bool> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => return None,
        }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
