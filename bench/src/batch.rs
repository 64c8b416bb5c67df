//! Calls a second through `holdpoint check --batch`, beside a floor that judges nothing.
//!
//! The parent writes simple calls to a child and counts the lines that come back; the child has
//! one core to itself where `taskset` exists. Six children are measured: the program as it records
//! every call and in a dry run, with ten calls that are made again and again and with calls that are all
//! different; the library in the same loop (`--gate`: read, judge, print) and the floor (`--floor`:
//! parse a line into a JSON value and print it again). The children's home is an empty directory, so
//! that no policy of this machine is read. Usage:
//! `bench batch [--long] [--check] [--lines N] [PROGRAM]`.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use holdpoint::{Gate, Profile, StrictValue, ToolCall};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{Whose, cpu_seconds, median};
use serde_json::Value;

/// Ten everyday calls.
const CALLS: [&str; 10] = [
    r#"{"tool":"Bash","input":{"command":"ls -la src"}}"#,
    r#"{"tool":"Read","input":{"file_path":"src/main.rs"}}"#,
    r#"{"tool":"Bash","input":{"command":"cargo test --workspace"}}"#,
    r#"{"tool":"Write","input":{"file_path":"notes.md","content":"A line.\nAnother line.\n"}}"#,
    r#"{"tool":"Grep","input":{"pattern":"fn main","path":"crates","output_mode":"content"}}"#,
    r#"{"tool":"Bash","input":{"command":"git status --short && git diff --stat"}}"#,
    r#"{"tool":"mcp__github__search_issues","input":{"query":"is:open label:bug","limit":20}}"#,
    r#"{"tool":"Edit","input":{"file_path":"src/lib.rs","old_string":"one","new_string":"two"}}"#,
    r#"{"tool":"WebFetch","input":{"url":"https://docs.example.com/guide","prompt":"Summarise"}}"#,
    r#"{"tool":"TodoWrite","input":{"todos":[{"content":"run the tests","status":"pending"}]}}"#,
];
/// The same ten with a number in each, so that no two are alike.
const DIFFERENT: [&str; 10] = [
    r#"{"tool":"Bash","input":{"command":"ls -la src#"}}"#,
    r#"{"tool":"Read","input":{"file_path":"src/main#.rs"}}"#,
    r#"{"tool":"Bash","input":{"command":"cargo test --workspace case#"}}"#,
    r#"{"tool":"Write","input":{"file_path":"notes#.md","content":"A line.\nAnother line.\n"}}"#,
    r#"{"tool":"Grep","input":{"pattern":"fn main#","path":"crates","output_mode":"content"}}"#,
    r#"{"tool":"Bash","input":{"command":"git status --short && git diff --stat src/a#.rs"}}"#,
    r#"{"tool":"mcp__github__search_issues","input":{"query":"is:open label:bug#","limit":20}}"#,
    r#"{"tool":"Edit","input":{"file_path":"src/lib#.rs","old_string":"one","new_string":"two"}}"#,
    r#"{"tool":"WebFetch","input":{"url":"https://docs.example.com/guide#","prompt":"Summarise"}}"#,
    r#"{"tool":"TodoWrite","input":{"todos":[{"content":"run the tests #","status":"pending"}]}}"#,
];

/// Which calls a child is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// Ten, again and again.
    Again,
    /// No two alike.
    Different,
}

/// What the program is to reach, and the least part of the floor's speed a check takes for a slow
/// machine: half of what both have on a quiet one.
const GOALS: [(f64, f64, &str); 2] = [
    (120_000.0, 0.08, "recorded"),
    (250_000.0, 0.4, "in a dry run"),
];

pub(crate) fn run() -> Result<()> {
    let (mut lines, mut rounds, mut check, mut program) = (400_000, 3, false, None);
    let mut arguments = std::env::args_os().skip(2);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--floor") => return floor(),
            Some("--gate") => return gate(),
            Some("--long") => rounds = 9,
            Some("--check") => check = true,
            Some("--lines") => {
                let number = arguments.next().context("`--lines` needs a number")?;
                lines = number
                    .to_string_lossy()
                    .parse()
                    .context("`--lines` needs a number")?;
            }
            Some(flag) if flag.starts_with("--") => bail!("unknown argument `{flag}`"),
            Some(_) | None => program = Some(PathBuf::from(argument)),
        }
    }
    let program = match program {
        Some(program) => program,
        None => built_program()?,
    };
    measure(&program, lines, rounds, check)
}

fn measure(program: &Path, lines: usize, rounds: usize, check: bool) -> Result<()> {
    ensure!(
        program.is_file(),
        "`{}` is not a program",
        program.display()
    );
    let this = std::env::current_exe()?;
    let home = std::env::temp_dir().join(format!("holdpoint-bench-{}", std::process::id()));
    std::fs::create_dir(&home).context("an empty home for the children")?;
    let (recorded, dry): (&[&str], &[&str]) =
        (&["check", "--batch"], &["check", "--batch", "--dry-run"]);
    let children: [(&str, &Path, &[&str], Calls); 6] = [
        ("holdpoint check --batch", program, recorded, Calls::Again),
        ("the same with --dry-run", program, dry, Calls::Again),
        (
            "recorded, all different",
            program,
            recorded,
            Calls::Different,
        ),
        ("dry run, all different", program, dry, Calls::Different),
        (
            "library in a loop",
            &this,
            &["batch", "--gate"],
            Calls::Again,
        ),
        (
            "floor: parse and print",
            &this,
            &["batch", "--floor"],
            Calls::Again,
        ),
    ];
    let mut runs: [Vec<Run>; 6] = Default::default();
    // Children take turns, so that a busy moment of the machine falls on all of them.
    let outcome = (0..rounds).try_for_each(|_| {
        for ((name, program, arguments, calls), runs) in children.iter().zip(&mut runs) {
            // Each of those that differ costs as much as fifty of the others: a tenth of them takes as long.
            let lines = match calls {
                Calls::Again => lines,
                Calls::Different => lines.div_ceil(10),
            };
            let run = run_child(program, arguments, &home, (*calls, lines));
            runs.push(run.with_context(|| format!("`{name}`"))?);
        }
        anyhow::Ok(())
    });
    std::fs::remove_dir_all(&home)?;
    outcome?;

    let rate = |runs: &[Run], seconds: fn(&Run) -> f64| {
        median(runs.iter().map(|run| run.lines / seconds(run).max(1e-9)))
    };
    let walls = runs.each_ref().map(|runs| rate(runs, |run| run.wall));
    let cpus = runs.each_ref().map(|runs| rate(runs, |run| run.cpu));
    let [.., floor] = walls;
    println!(
        "calls a second, {lines} calls, median of {rounds} runs, child on {}",
        if has_taskset() {
            "core 0"
        } else {
            "any core (no taskset)"
        }
    );
    let rows: Vec<Vec<String>> = children
        .iter()
        .zip(walls.iter().zip(cpus))
        .map(|((name, ..), (wall, cpu))| {
            vec![
                (*name).to_owned(),
                format!("{wall:.0}"),
                format!("{cpu:.0}"),
                format!("{:.2}", 1e6 / cpu),
                format!("{:.2}x", wall / floor),
            ]
        })
        .collect();
    table::print(
        &[
            "child",
            "by the clock",
            "by its CPU time",
            "CPU µs/call",
            "of floor",
        ],
        &rows,
    );
    let mut goals = Goals::default();
    let [.., floor_cpu] = cpus;
    let ours = walls.into_iter().zip(cpus);
    for ((wall, cpu), (goal, of_floor, how)) in ours.zip(GOALS) {
        let text = format!(
            "{wall:.0} calls a second {how}, {cpu:.0} by its CPU time (goal {goal:.0} of either)"
        );
        goals.state(Kind::Absolute, wall.max(cpu) >= goal, false, &text);
        let part = cpu / floor_cpu;
        let text = format!("{how} {part:.2} of the floor's speed (at least {of_floor})");
        goals.state(Kind::Ratio, part >= of_floor, part < of_floor, &text);
    }
    goals.outcome(check)
}

/// One run of a child.
struct Run {
    lines: f64,
    wall: f64,
    /// What the child used of its core.
    cpu: f64,
}

fn run_child(
    program: &Path,
    arguments: &[&str],
    home: &Path,
    (calls, lines): (Calls, usize),
) -> Result<Run> {
    let mut command = pinned(program);
    command
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let cpu_before = cpu_seconds(Whose::Children);
    let start = Instant::now();
    let mut child = command.spawn().context("cannot start")?;
    let mut input = child.stdin.take().context("no stdin")?;
    let mut output = child.stdout.take().context("no stdout")?;
    let writer = std::thread::spawn(move || write_calls(&mut input, calls, lines));
    let counted = count_lines(&mut output)?;
    let written = writer.join().ok().context("the writer died")?;
    let status = child.wait()?;
    let wall = start.elapsed().as_secs_f64();
    ensure!(status.success(), "ended with {status}");
    written.context("cannot write all calls")?;
    ensure!(
        counted == lines,
        "{lines} calls went in, {counted} lines came out"
    );
    Ok(Run {
        lines: f64::from(u32::try_from(lines)?),
        wall,
        cpu: cpu_seconds(Whose::Children) - cpu_before,
    })
}

/// The program, tied to the first core where that can be done. The parent reads and writes on
/// another one.
fn pinned(program: &Path) -> Command {
    if !has_taskset() {
        return Command::new(program);
    }
    let mut command = Command::new(TASKSET);
    command.args(["-c", "0"]).arg(program);
    command
}

const TASKSET: &str = "/usr/bin/taskset";

fn has_taskset() -> bool {
    Path::new(TASKSET).is_file()
}

fn write_calls(input: &mut impl Write, calls: Calls, lines: usize) -> std::io::Result<()> {
    if calls == Calls::Different {
        let mut input = BufWriter::with_capacity(1 << 16, input);
        for (number, call) in DIFFERENT.iter().cycle().take(lines).enumerate() {
            let (before, after) = call.split_once('#').unwrap_or((call, ""));
            writeln!(input, "{before}{number}{after}")?;
        }
        return input.flush();
    }
    let block: String = CALLS
        .iter()
        .cycle()
        .take(1000)
        .map(|call| format!("{call}\n"))
        .collect();
    for _ in 0..lines / 1000 {
        input.write_all(block.as_bytes())?;
    }
    for call in CALLS.iter().cycle().take(lines % 1000) {
        writeln!(input, "{call}")?;
    }
    Ok(())
}

/// Reads to the end; the first line must be a JSON object, the others are only counted.
fn count_lines(output: &mut impl Read) -> Result<usize> {
    let mut output = BufReader::with_capacity(1 << 16, output);
    let mut first = String::new();
    output.read_line(&mut first)?;
    let value: Value = serde_json::from_str(&first).context("the first answer is not JSON")?;
    let refused = value.get("method").is_some_and(|method| method == "error");
    ensure!(
        value.is_object() && !refused,
        "the first answer is an error: {}",
        first.trim()
    );
    let mut counted = 1;
    loop {
        let bytes = output.fill_buf()?;
        if bytes.is_empty() {
            return Ok(counted);
        }
        counted += bytes.iter().filter(|byte| **byte == b'\n').count();
        let length = bytes.len();
        output.consume(length);
    }
}

/// The least any gate must do with a line.
fn floor() -> Result<()> {
    each_line(|line, output| {
        let value: Value = serde_json::from_str(line)?;
        Ok(serde_json::to_writer(output, &value)?)
    })
}

/// What the library does with a line: read it, judge it under the default profile, print.
fn gate() -> Result<()> {
    let gate = Gate::from_profile(Profile::Balanced)?;
    each_line(|line, output| {
        let StrictValue(mut value) = serde_json::from_str(line)?;
        let input = value.get_mut("input").map(Value::take).unwrap_or_default();
        let tool = value
            .get("tool")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let decision = gate.judge(&ToolCall::new(tool, input)?);
        Ok(serde_json::to_writer(output, &decision)?)
    })
}

fn each_line(mut answer: impl FnMut(&str, &mut dyn Write) -> Result<()>) -> Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        answer(&line, &mut output)?;
        output.write_all(b"\n")?;
        line.clear();
    }
    Ok(output.flush()?)
}

/// Builds the release program of this checkout.
fn built_program() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("no checkout")?;
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
        .args(["build", "--release", "--package", "holdpoint"])
        .current_dir(root)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "cargo build ended with {status}");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    Ok(target.join("release/holdpoint"))
}
