//! Other guards on the same commands: one process a command, as an agent starts it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use serde_json::json;

use super::Real;
use super::world::World;

/// What a guard is called in the table.
pub(super) fn name(guard: &Path) -> &'static str {
    match is_script_of_node(guard) {
        true => "cc-safety-net",
        false => "nah",
    }
}

/// The npm guard is named by its script, the one of PyPI by the Python it is installed for.
fn is_script_of_node(guard: &Path) -> bool {
    guard.extension().is_some_and(|end| end == "js")
}

/// How many commands the guard stops.
pub(super) fn stops(guard: &Path, commands: &[Real], world: &World) -> Result<usize> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<usize> {
        let mut stopped = 0;
        while let Some(real) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
            stopped += usize::from(is_stopped(guard, &real.command, world)?);
        }
        Ok(stopped)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let counted = all.into_iter().map(|one| {
            let ended = one.join();
            ended.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread broke down")))
        });
        counted.sum()
    })
}

fn is_stopped(guard: &Path, command: &str, world: &World) -> Result<bool> {
    let project = world.home().join("app");
    let payload = json!({
        "session_id": "bench", "transcript_path": "", "cwd": project, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": command },
    });
    let mut command = match is_script_of_node(guard) {
        true => {
            let mut node = Command::new("node");
            node.arg(guard).args(["hook", "--claude-code"]);
            node
        }
        false => {
            let mut python = Command::new(guard);
            python.args(["-m", "nah.hook"]);
            python
        }
    };
    let mut child = command
        .current_dir(&project)
        .env("HOME", world.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("the guard cannot be started")?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(payload.to_string().as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.code() == Some(2) || said.contains("\"deny\"") || said.contains("\"ask\""))
}
