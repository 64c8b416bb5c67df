//! Every way to break down ends in the last words and the exit code, never in silence.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The example that breaks down; cargo builds it with the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(|deps| deps.parent()).unwrap();
    built.join("examples/break_down")
}

fn started(way: &str) -> Child {
    Command::new(program())
        .arg(way)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("build the example with: cargo test -p holdpoint-sandbox")
}

fn breaks_down(way: &str) -> Output {
    let child = started(way);
    let since = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(since.elapsed() < Duration::from_secs(20), "{way}");
    output
}

fn denied(way: &str, cause: &str, output: &Output) {
    assert_eq!(output.status.code(), Some(2), "{way}: {:?}", output);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stdout, "{\"said\":\"no\"}\n", "{way}");
    let last = stderr.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("denied: ") && last.contains(cause),
        "{way}: {stderr}"
    );
    assert!(!stderr.contains("secret"), "{way}: {stderr}");
}

#[test]
fn a_process_that_ends_well_says_nothing() {
    let output = breaks_down("return");
    assert!(output.status.success());
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn a_breakdown_is_a_denial_with_text() {
    for (way, cause) in [
        ("panic", "a panic"),
        ("overflow", "stack overflow"),
        ("allocate", "no memory left"),
        ("abort", "an abort"),
    ] {
        denied(way, cause, &breaks_down(way));
    }
}

#[test]
fn time_that_runs_out_is_a_denial_with_text() {
    for way in ["spin", "wait"] {
        let mut child = started(way);
        // Held open, so that there is something to wait for.
        let input = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(input);
        denied(way, "too long", &output);
    }
}

#[test]
fn a_process_that_is_told_to_stop_denies() {
    for (signal, cause) in [
        ("TERM", "stopped"),
        ("INT", "stopped"),
        ("HUP", "stopped"),
        ("QUIT", "stopped"),
        ("USR1", "stopped"),
        ("XCPU", "too long"),
        ("SEGV", "memory fault"),
        ("ABRT", "abort"),
    ] {
        let mut child = started("stand");
        let input = child.stdin.take();
        let mut stderr = child.stderr.take().unwrap();
        // Before it is armed it has no last words.
        stderr.read_exact(&mut [0; 6]).unwrap();
        let sent = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let mut output = child.wait_with_output().unwrap();
        stderr.read_to_end(&mut output.stderr).unwrap();
        drop(input);
        denied(signal, cause, &output);
    }
}

#[test]
fn an_output_nobody_reads_does_not_hold_up_the_end() {
    let mut child = started("flood");
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(since.elapsed() < Duration::from_secs(10), "it hangs");
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(2), "signal {:?}", status.signal());
}
