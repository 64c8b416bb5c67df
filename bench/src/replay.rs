//! Replaying what agents did: 100,000 calls through `holdpoint replay`.
//!
//! The transcript is made up of the commands of the shell corpus, each with its result, in a
//! directory of its own. Beside the program runs the floor of the same work, a process that parses
//! every line as JSON and throws it away. Usage: `bench replay HOLDPOINT [--long] [--check]`.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{Whose, cpu_seconds, median};
use serde_json::{Value, json};

const CALLS: usize = 100_000;
/// Seconds, on this many calls.
const GOAL: f64 = 5.0;
/// How many times the CPU time of parsing alone it may take.
const RATIO: f64 = 15.0;

pub(crate) fn run() -> Result<()> {
    let (mut runs, mut check, mut program) = (3, false, None);
    let mut arguments = std::env::args().skip(2);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--floor" => {
                let file = arguments.next().context("`--floor` needs a file")?;
                return parse(Path::new(&file));
            }
            "--long" => runs = 11,
            "--check" => check = true,
            path if !path.starts_with('-') => program = Some(PathBuf::from(path)),
            other => bail!("unknown argument `{other}`: use `--long` or `--check`"),
        }
    }
    let program = program.context("give the program to measure")?;
    let place = std::env::temp_dir().join(format!("holdpoint-replay-{}", std::process::id()));
    fs::create_dir(&place)?;
    let outcome = measure(&program, &place, runs, check);
    fs::remove_dir_all(&place)?;
    outcome
}

fn measure(program: &Path, place: &Path, runs: usize, check: bool) -> Result<()> {
    let transcript = place.join("transcript.jsonl");
    let commands = commands()?;
    write(&transcript, &commands)?;
    let size = fs::metadata(&transcript)?.len();
    let run = |program: &Path, arguments: &[&str]| {
        let (start, cpu) = (Instant::now(), cpu_seconds(Whose::Children));
        let output = Command::new(program)
            .args(arguments)
            .arg(&transcript)
            .env("HOME", place)
            .env_remove("HOLDPOINT_CONFIG")
            .env_remove("PERMISSION_CONFIG_PATH")
            .stderr(Stdio::inherit())
            .output()?;
        let times = (
            start.elapsed().as_secs_f64(),
            cpu_seconds(Whose::Children) - cpu,
        );
        ensure!(output.status.success(), "{}", output.status);
        anyhow::Ok((times, output.stdout))
    };
    let (_, summary) = run(program, &["replay", "--json"])?;
    let summary: Value = serde_json::from_slice(&summary)?;
    ensure!(
        summary["calls"] == CALLS,
        "{} of {CALLS} calls were found",
        summary["calls"]
    );
    let floor = std::env::current_exe()?;
    let kinds: [(&str, &Path, &[&str]); 4] = [
        (
            "parsing the lines, nothing else",
            &floor,
            &["replay", "--floor"],
        ),
        ("replay", program, &["replay"]),
        (
            "replay --list --json",
            program,
            &["replay", "--list", "--json"],
        ),
        (
            "replay --against strict",
            program,
            &["replay", "--against", "strict"],
        ),
    ];
    let mut times: [Vec<(f64, f64)>; 4] = Default::default();
    for _ in 0..runs {
        for ((_, program, arguments), times) in kinds.iter().zip(&mut times) {
            times.push(run(program, arguments)?.0);
        }
    }
    let medians = times.map(|times| {
        let wall = median(times.iter().map(|(wall, _)| *wall));
        (wall, median(times.iter().map(|(_, cpu)| *cpu)))
    });
    let [(_, parsing), (wall, cpu), ..] = medians;
    let rows: Vec<Vec<String>> = kinds
        .iter()
        .zip(medians)
        .map(|((name, ..), (wall, cpu))| {
            vec![
                (*name).to_owned(),
                format!("{wall:.2}"),
                format!("{cpu:.2}"),
                format!("{:.0}", CALLS as f64 / wall),
                format!("{:.1}x", cpu / parsing),
            ]
        })
        .collect();
    println!(
        "replay of {CALLS} calls ({} different commands, {} MB)",
        commands.len(),
        size / 1_000_000
    );
    table::print(&["", "s", "CPU s", "calls/s", "CPU of the floor's"], &rows);
    let mut goals = Goals::default();
    let text = format!("{wall:.2} s for {CALLS} calls, {cpu:.2} s of CPU time (goal {GOAL} s)");
    goals.state(Kind::Absolute, wall < GOAL, false, &text);
    let ratio = cpu / parsing;
    let text = format!("{ratio:.1}x the CPU time of parsing alone (goal {RATIO}x)");
    goals.state(Kind::Ratio, ratio < RATIO, ratio > 2.0 * RATIO, &text);
    goals.outcome(check)
}

/// The commands of the shell corpus.
fn commands() -> Result<Vec<String>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/shell");
    let mut commands = Vec::new();
    for entry in fs::read_dir(corpus)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let cases: toml::Value = toml::from_str(&fs::read_to_string(&path)?)?;
        let cases = cases.get("case").and_then(toml::Value::as_array);
        let lists = cases.into_iter().flatten();
        let lists = lists.filter_map(|case| case.get("commands")?.as_array());
        commands.extend(
            lists
                .flatten()
                .filter_map(|command| Some(command.as_str()?.to_owned())),
        );
    }
    commands.sort();
    commands.dedup();
    ensure!(commands.len() > 500, "only {} commands", commands.len());
    Ok(commands)
}

/// A transcript of so many calls, one in five of a file tool, each with a result of a few lines.
fn write(path: &Path, commands: &[String]) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let text = "a line of what a tool says about what it did\n".repeat(8);
    for number in 0..CALLS {
        let id = format!("toolu_{number:012}");
        let (name, input) = match number % 5 {
            4 => (
                "Write",
                json!({"file_path": format!("/work/app/src/{}.rs", number % 97), "content": text}),
            ),
            _ => (
                "Bash",
                json!({"command": commands[number % commands.len()], "description": "measure"}),
            ),
        };
        let time = format!(
            "2026-11-16T03:{:02}:{:02}.{:03}Z",
            number / 6000 % 60,
            number / 100 % 60,
            number % 1000
        );
        let call = json!({"parentUuid": id, "isSidechain": false, "type": "assistant", "sessionId": "bench",
            "cwd": "/work/app", "timestamp": time, "version": "2.1.325",
            "message": {"id": "msg", "role": "assistant", "usage": {"input_tokens": 1, "output_tokens": 1},
                "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}});
        let result = json!({"parentUuid": id, "type": "user", "sessionId": "bench", "cwd": "/work/app",
            "timestamp": time, "toolUseResult": {"stdout": text, "stderr": ""},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "is_error": false, "content": text}]}});
        writeln!(out, "{call}\n{result}")?;
    }
    Ok(out.flush()?)
}

/// The floor: what any program that reads a transcript has to do.
fn parse(path: &Path) -> Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        black_box(serde_json::from_slice::<Value>(&line)?);
        line.clear();
    }
    Ok(())
}
