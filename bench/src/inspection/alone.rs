//! What is only to be seen in a process of its own: the memory one text takes, and the first call.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use holdpoint_text::Origin;
use holdpoint_text::inspection::inspect;

use super::bombs;

/// What one text cost.
pub(crate) struct Cost {
    pub(crate) milliseconds: f64,
    /// Bytes beyond those the process had with the text alone.
    pub(crate) memory: usize,
    pub(crate) findings: usize,
}

/// Inspects one text in a child.
pub(crate) fn measured(name: &str, size: usize) -> Result<Cost> {
    let said = child(&["--one", name, &size.to_string()]).with_context(|| format!("`{name}`"))?;
    let mut numbers = said.split_whitespace();
    let mut next = || numbers.next().context("the child said too little");
    Ok(Cost {
        milliseconds: next()?.parse()?,
        memory: next()?.parse()?,
        findings: next()?.parse()?,
    })
}

/// What the first and the next inspection in a child cost, in nanoseconds.
pub(crate) fn first_costs() -> Result<(f64, f64)> {
    let said = child(&["--first"])?;
    let (first, next) = said.trim().split_once(' ').context("no two numbers")?;
    Ok((first.parse()?, next.parse()?))
}

fn child(arguments: &[&str]) -> Result<String> {
    let output = Command::new(std::env::current_exe()?)
        .arg("inspection")
        .args(arguments)
        .output()?;
    ensure!(
        output.status.success(),
        "the child ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// The child's side: one text, its time, its memory and its findings.
pub(crate) fn one(name: &str, size: usize) -> Result<()> {
    let bomb = bombs::ALL.iter().find(|bomb| bomb.name == name);
    let text = (bomb.context("no such text")?.text)(size);
    // Linux then counts the peak anew, from what is resident now.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = status("VmRSS:");
    let start = Instant::now();
    let inspection = inspect(&text, Origin::Tool);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let memory = status("VmHWM:").saturating_sub(before);
    println!("{milliseconds} {memory} {}", inspection.findings.len());
    Ok(())
}

/// The child's side: the first inspection, and one when everything is warm.
pub(crate) fn first() -> Result<()> {
    let text: String = include_str!("alone.rs").chars().take(2048).collect();
    let mut costs = Vec::new();
    for _ in 0..64 {
        let start = Instant::now();
        std::hint::black_box(inspect(&text, Origin::Tool));
        costs.push(start.elapsed().as_secs_f64() * 1e9);
    }
    let (first, next) = (costs.first().copied(), costs.last().copied());
    println!("{} {}", first.unwrap_or_default(), next.unwrap_or_default());
    Ok(())
}

/// A line of what Linux tells of this process, in bytes; 0 elsewhere.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    kilobytes
        .and_then(|it| it.parse::<usize>().ok())
        .unwrap_or(0)
        << 10
}
