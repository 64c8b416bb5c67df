//! The cost of judging a typical command under the default profile, with every rule pack.
//!
//! All of `judge`, as the hook calls it: reading the line, its effects and places, the packs, the
//! digest and the decision as a value. Once with the disk, in an empty workspace, and once with
//! none, which shows what looking at files costs. Then lines that are meant to be too much: each must
//! be answered in time, and never with an allow. Last, if a file of them is named, commands that real
//! agents ran: JSON objects with a `command`, one a line. Usage: `bench commands [--long] [--check] [FILE]`.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use holdpoint::{Gate, Profile, ToolCall, Verdict};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{median, quiet, quiet_ns};
use holdpoint_core::paths::NoLinks;
use serde_json::{Value, json};

/// What agents run all day; no rule objects to any of it.
const COMMANDS: [&str; 8] = [
    "ls -la",
    "git status",
    "git diff --stat HEAD~1",
    "cargo test --workspace",
    "grep -rn 'fn main' src",
    "sed -n 1,80p README.md",
    "npm run build 2>&1 | tail -n 20",
    "cd crates/core && cargo build --release",
];
const GOAL: f64 = 15_000.0;

/// How many commands of real agents are to be judged in a second.
const REAL_GOAL: f64 = 60_000.0;

pub(crate) fn run() -> Result<()> {
    let (mut batches, mut check, mut real) = (41, false, None);
    for argument in std::env::args().skip(2) {
        match argument.as_str() {
            "--long" => batches = 401,
            "--check" => check = true,
            flag if flag.starts_with("--") => {
                anyhow::bail!("unknown argument `{flag}`: use `--long`, `--check` or a file")
            }
            file => real = Some(real_commands(Path::new(file))?),
        }
    }
    let home = std::env::temp_dir().join(format!("holdpoint-commands-{}", std::process::id()));
    std::fs::create_dir(&home).context("an empty workspace")?;
    let outcome = measure(&home, batches, check, real.as_deref());
    std::fs::remove_dir_all(&home)?;
    outcome
}

/// The commands in a file.
fn real_commands(file: &Path) -> Result<Vec<ToolCall>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
    let calls: Result<Vec<ToolCall>> = text
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line)?;
            let command = line.get("command").and_then(Value::as_str);
            Ok(ToolCall::shell(
                command.context("a line without `command`")?,
            ))
        })
        .collect();
    let calls = calls?;
    ensure!(!calls.is_empty(), "`{}` is empty", file.display());
    Ok(calls)
}

fn measure(workspace: &Path, batches: usize, check: bool, real: Option<&[ToolCall]>) -> Result<()> {
    let gate = || anyhow::Ok(Gate::from_profile(Profile::Balanced)?.in_workspace(workspace));
    let with_disk = gate()?;
    let without = gate()?.looking_up(NoLinks);
    let mut rows = Vec::new();
    let (mut sum, mut sum_without) = (0.0, 0.0);
    for command in COMMANDS {
        let call = ToolCall::shell(command);
        let decision = with_disk.judge(&call);
        ensure!(
            decision.verdict == Verdict::Allow,
            "`{command}` is meant to be allowed: {decision:?}"
        );
        let cost = quiet_ns(batches, || with_disk.judge(&call));
        let cost_without = quiet_ns(batches, || without.judge(&call));
        sum += cost;
        sum_without += cost_without;
        rows.push(row(command, cost, cost_without));
    }
    let count = f64::from(u32::try_from(COMMANDS.len())?);
    rows.push(row("mean", sum / count, sum_without / count));
    println!("µs to judge a typical command under the default profile");
    table::print(&["command", "with the disk", "without"], &rows);
    let mut goals = Goals::default();
    let text = format!(
        "{:.1} µs a typical command (goal {:.0} µs)",
        sum / count / 1e3,
        GOAL / 1e3
    );
    goals.state(Kind::Absolute, sum / count < GOAL, false, &text);
    limits(&with_disk, &mut goals)?;
    match real {
        Some(calls) => real_rate(&with_disk, calls, batches, &mut goals)?,
        None => println!("\nno file of real commands is named: they are left out"),
    }
    goals.outcome(check)
}

/// How many commands of real agents are judged in a second, in the quietest of some rounds over all.
fn real_rate(gate: &Gate, calls: &[ToolCall], batches: usize, goals: &mut Goals) -> Result<()> {
    let mut stops = 0;
    let seconds = quiet(
        (0..batches.div_ceil(4))
            .map(|_| {
                let start = Instant::now();
                stops = calls
                    .iter()
                    .filter(|call| !black_box(gate.judge(call)).verdict.runs())
                    .count();
                start.elapsed().as_secs_f64()
            })
            .collect(),
    );
    let count = f64::from(u32::try_from(calls.len())?);
    println!(
        "\n{} commands of real agents: {:.1} µs each, {stops} of them stopped",
        calls.len(),
        seconds * 1e6 / count
    );
    let rate = count / seconds;
    let text = format!("{rate:.0} real commands a second (goal {REAL_GOAL:.0})");
    goals.state(Kind::Absolute, rate >= REAL_GOAL, false, &text);
    Ok(())
}

/// Lines and calls nobody writes, and how long each keeps the judge busy.
fn limits(gate: &Gate, goals: &mut Goals) -> Result<()> {
    let lines = [
        ("1 MiB of one word", format!("echo {}", "a".repeat(1 << 20))),
        ("1 MiB of words", "rm x ".repeat((1 << 20) / 5)),
        ("1 MiB of quotes", "'a'\"b\"".repeat((1 << 20) / 6)),
        (
            "10,000 parentheses",
            format!("{}rm x{}", "( ".repeat(10_000), " )".repeat(10_000)),
        ),
        (
            "10,000 substitutions",
            format!("{}rm x{}", "$(".repeat(10_000), ")".repeat(10_000)),
        ),
        (
            "10,000 braces",
            format!("rm -rf {}/{}", "{b,".repeat(10_000), "}".repeat(10_000)),
        ),
        ("a million semicolons", ";".repeat(1_000_000)),
        ("half a million commands", "a;".repeat(500_000)),
        (
            "20,000 times sudo",
            format!("{}rm x", "sudo ".repeat(20_000)),
        ),
        ("900 times cd || cd", "cd a || cd b;".repeat(900)),
        (
            "20,000 assignments of each other",
            (0..20_000).map(|number| format!("x{number}=$x ")).collect(),
        ),
        (
            "4,000 doublings",
            format!("{}rm -rf $x", "x=$x$x;".repeat(4_000)),
        ),
        (
            "10,000 deletions by node",
            format!("node -e '{}'", "require(\"fs\").rmSync(x);".repeat(10_000)),
        ),
        (
            "10,000 loops of cmd",
            format!("cmd /c '{}del x'", "for %i in (a) do ".repeat(10_000)),
        ),
        (
            "5,000 statements of PowerShell",
            format!("pwsh -c '{}'", "rm -r $x;".repeat(5_000)),
        ),
        (
            "half a million flags",
            format!("rm -{}f /", "r".repeat(500_000)),
        ),
    ];
    let mut calls: Vec<(&str, ToolCall)> = lines
        .iter()
        .map(|(name, line)| (*name, ToolCall::shell(line)))
        .collect();
    let files: String = (0..27_000)
        .map(|number| format!("*** Update File: src/{number}.rs\n@@\n-old line\n+new line\n"))
        .collect();
    let patch = json!({ "input": format!("*** Begin Patch\n{files}*** End Patch\n") });
    calls.push((
        "a patch of 27,000 files",
        ToolCall::new("apply_patch", patch)?,
    ));
    let paths: Vec<String> = (0..100_000).map(|number| format!("f{number}")).collect();
    let paths = json!({ "paths": paths });
    calls.push(("a list of 100,000 files", ToolCall::new("Write", paths)?));

    println!("\nms to answer what is too much");
    let mut rows = Vec::new();
    let mut longest = 0f64;
    let mut allowed = Vec::new();
    for (name, call) in &calls {
        let mut verdict = Verdict::Allow;
        let cost = median((0..5).map(|_| {
            let start = Instant::now();
            verdict = gate.judge(call).verdict;
            start.elapsed().as_secs_f64() * 1e3
        }));
        longest = longest.max(cost);
        if verdict <= Verdict::Notify {
            allowed.push(*name);
        }
        rows.push(vec![
            (*name).to_owned(),
            format!("{cost:.2}"),
            verdict.as_str().to_owned(),
        ]);
    }
    table::print(&["call", "ms", "answer"], &rows);
    let text = format!("{longest:.1} ms for the worst of them (goal 50 ms)");
    goals.state(Kind::Absolute, longest < 50.0, false, &text);
    let text = format!("{} of them are let through {allowed:?}", allowed.len());
    goals.state(Kind::Ratio, allowed.is_empty(), !allowed.is_empty(), &text);
    Ok(())
}

fn row(name: &str, cost: f64, without: f64) -> Vec<String> {
    let shown = |cost: f64| format!("{:.1}", cost / 1e3);
    vec![name.to_owned(), shown(cost), shown(without)]
}
