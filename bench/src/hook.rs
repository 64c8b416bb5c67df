//! Whole processes: `holdpoint hook claude-code` beside a program that does nothing and the npm
//! guard cc-safety-net, from before the start to after the end.
//!
//! All of them take turns, so that a busy moment of the machine falls on each, and get the same
//! payload as a file on standard input. Both are run from a copy, as they would be installed. Their home and workspace are fresh directories, so that no
//! policy of this machine is read; the peer's compile cache lies there and is warm when it is timed.
//! Usage: `bench hook [--long] [--check] HOLDPOINT [PEER]`, where PEER is the guard's script for node.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{median, quiet};

/// Each payload, and whether Holdpoint refuses it.
const PAYLOADS: [(&str, &str, bool); 3] = [
    ("ls -la", include_str!("../payloads/list.json"), false),
    (
        "git push --force",
        include_str!("../payloads/push.json"),
        true,
    ),
    (
        "2 KB heredoc",
        include_str!("../payloads/heredoc.json"),
        false,
    ),
];
/// At most so many times a program that does nothing, at least so many times as fast as the peer.
const GOALS: (f64, f64) = (1.4, 50.0);

pub(crate) fn run() -> Result<()> {
    let (mut rounds, mut check, mut programs) = (301, false, Vec::new());
    for argument in std::env::args_os().skip(2) {
        match argument.to_str() {
            Some("--long") => rounds = 2001,
            Some("--check") => check = true,
            Some(flag) if flag.starts_with("--") => bail!("unknown argument `{flag}`"),
            Some(_) | None => programs.push(fs::canonicalize(&argument).with_context(|| {
                format!("`{}` is not there", PathBuf::from(&argument).display())
            })?),
        }
    }
    let mut programs = programs.into_iter();
    let ours = programs
        .next()
        .context("which program is to be measured?")?;
    let bench = Bench::new(ours, programs.next())?;
    let outcome = bench.measure(rounds, check);
    fs::remove_dir_all(&bench.home)?;
    outcome
}

struct Bench {
    ours: PathBuf,
    nothing: PathBuf,
    peer: Option<PathBuf>,
    home: PathBuf,
    workspace: PathBuf,
}

/// Milliseconds of each run, by program.
#[derive(Default)]
struct Times {
    ours: Vec<f64>,
    nothing: Vec<f64>,
    peer: Vec<f64>,
}

impl Bench {
    fn new(ours: PathBuf, peer: Option<PathBuf>) -> Result<Self> {
        let home = std::env::temp_dir().join(format!("holdpoint-hook-{}", std::process::id()));
        let workspace = home.join("work");
        fs::create_dir_all(&workspace).context("an empty home for the children")?;
        let nothing = std::env::current_exe()?.with_file_name("nothing");
        Ok(Self {
            ours: installed(&ours, &home.join("holdpoint"))?,
            nothing: installed(&nothing, &home.join("nothing"))?,
            peer,
            home,
            workspace,
        })
    }

    fn measure(&self, rounds: usize, check: bool) -> Result<()> {
        println!("ms from start to end of a hook, median of {rounds} (quietest tenth)");
        let mut goals = Goals::default();
        let mut rows = Vec::new();
        let mut stated = Vec::new();
        for (name, payload, refused) in PAYLOADS {
            let input = self.payload(payload)?;
            self.answers_rightly(&input, refused)
                .with_context(|| format!("`{name}`"))?;
            let times = self.times(&input, rounds)?;
            let ratio = median(times.ours.iter().copied()) / median(times.nothing.iter().copied());
            let mut row = vec![
                name.to_owned(),
                shown(&times.nothing),
                shown(&times.ours),
                format!("{ratio:.2}x"),
            ];
            let text = format!(
                "{name}: {ratio:.2}x a program that does nothing (goal {}x)",
                GOALS.0
            );
            stated.push((ratio <= GOALS.0, ratio > GOALS.0 * 2.0, text));
            if times.peer.is_empty() {
                row.extend(["-".to_owned(), "-".to_owned()]);
            } else {
                let ratio = median(times.peer.iter().copied()) / median(times.ours.iter().copied());
                row.extend([shown(&times.peer), format!("{ratio:.0}x")]);
                let text = format!(
                    "{name}: {ratio:.0}x as fast as the peer (goal {}x)",
                    GOALS.1
                );
                stated.push((ratio >= GOALS.1, ratio < GOALS.1 / 2.0, text));
            }
            rows.push(row);
        }
        table::print(
            &[
                "call",
                "nothing",
                "holdpoint",
                "of nothing",
                "cc-safety-net",
                "as fast",
            ],
            &rows,
        );
        if self.peer.is_none() {
            println!("  the peer is left out (--no-peer)");
        }
        for (met, alarming, text) in stated {
            goals.state(Kind::Ratio, met, alarming, &text);
        }
        goals.outcome(check)
    }

    fn times(&self, input: &Path, rounds: usize) -> Result<Times> {
        let mut times = Times::default();
        // A run of the peer takes as long as dozens of ours.
        let every = 10;
        for round in 0..rounds {
            times
                .nothing
                .push(self.time(Command::new(&self.nothing), input)?);
            times.ours.push(self.time(self.hook(), input)?);
            if round.is_multiple_of(every)
                && let Some(peer) = self.peer()
            {
                times.peer.push(self.time(peer, input)?);
            }
        }
        Ok(times)
    }

    fn hook(&self) -> Command {
        let mut command = Command::new(&self.ours);
        command.args(["hook", "claude-code"]);
        command
    }

    fn peer(&self) -> Option<Command> {
        let mut command = Command::new("node");
        command
            .arg(self.peer.as_ref()?)
            .args(["hook", "--claude-code"]);
        Some(command)
    }

    /// One run, in milliseconds.
    fn time(&self, mut command: Command, input: &Path) -> Result<f64> {
        self.surround(&mut command, input)?
            // To the null device Holdpoint would refuse by exit code: nobody could read it.
            .stdout(File::create(self.home.join("answer"))?)
            .stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status().context("cannot start")?;
        let elapsed = start.elapsed();
        ensure!(status.success(), "{command:?} ended with {status}");
        Ok(elapsed.as_secs_f64() * 1e3)
    }

    /// Tries each hook once, so that nobody is timed saying something else than is meant.
    fn answers_rightly(&self, input: &Path, refused: bool) -> Result<()> {
        let answer = self.answer(self.hook(), input)?;
        let said = String::from_utf8_lossy(&answer.stdout).contains("\"deny\"");
        ensure!(
            answer.status.success() && said == refused,
            "holdpoint answers {answer:?}"
        );
        if let Some(peer) = self.peer() {
            let answer = self.answer(peer, input)?;
            ensure!(answer.status.success(), "the peer answers {answer:?}");
        }
        Ok(())
    }

    fn answer(&self, mut command: Command, input: &Path) -> Result<Output> {
        self.surround(&mut command, input)?
            .output()
            .context("cannot start")
    }

    fn surround<'c>(&self, command: &'c mut Command, input: &Path) -> Result<&'c mut Command> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Ok(command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", path)
            .env("CLAUDE_PROJECT_DIR", &self.workspace)
            .current_dir(&self.workspace)
            .stdin(File::open(input)?))
    }

    fn payload(&self, text: &str) -> Result<PathBuf> {
        let workspace = self
            .workspace
            .to_str()
            .context("the directory's name is no text")?;
        let place = self.home.join("payload.json");
        fs::write(&place, text.replace("@workspace@", workspace))?;
        Ok(place)
    }
}

/// A copy of a program, as installing it makes one. What a linker has just written lies in memory page
/// by page, and costs the kernel twice as much to map as what was copied or read from a disk.
fn installed(program: &Path, place: &Path) -> Result<PathBuf> {
    fs::copy(program, place).with_context(|| format!("`{}`", program.display()))?;
    Ok(place.to_owned())
}

fn shown(times: &[f64]) -> String {
    let median = median(times.iter().copied());
    format!("{median:.2} ({:.2})", quiet(times.to_vec()))
}
