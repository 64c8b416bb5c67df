//! The peer: the nine regular expressions of O-01, run by Python over the same texts.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Seconds of CPU for all texts, the median of so many rounds.
pub(crate) fn seconds(texts: &[String], rounds: usize) -> Result<f64> {
    let mut child = Command::new("python3")
        .args(["-c", include_str!("regexes.py"), &rounds.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start python3; --no-python leaves it out")?;
    let mut input = child.stdin.take().context("no way to the child")?;
    for text in texts {
        input.write_all(text.replace('\0', " ").as_bytes())?;
        input.write_all(b"\0")?;
    }
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "python3 ended with {}",
        output.status
    );
    let said = String::from_utf8(output.stdout)?;
    said.trim().parse().context("python3 said no number")
}
