//! What a sandbox costs one exec of `/bin/true`: plain, behind a supervisor without any wall, in each tier, in the network of
//! a run that lives, with refusals noticed, and in bubblewrap with the usual flags and the same filter of system calls.
//!
//! All of them take turns, so that a busy moment of the machine falls on each. The number of mounts is stated, because what
//! bubblewrap costs grows with it. Usage: `bench sandbox [--long] [--check]`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{median, quiet};

/// At most so many milliseconds over the wrapper; at most so much of bubblewrap, by itself and in a network that is there.
const LANDLOCK_OVER_WRAPPER: f64 = 0.3;
const FULL_OF_BWRAP: f64 = 0.5;
const JOINED_OF_BWRAP: f64 = 0.45;

/// How far beyond a goal an alarm is: a machine that does other things as well makes every hand-over between processes wait.
const SLACK: f64 = 1.5;

/// How many mounts there are while it is measured, as on a machine with containers. What bubblewrap costs grows with them.
const MOUNTS: usize = 60;

/// What is timed, in the order of the table.
const WAYS: [&str; 7] = [
    "plain", "wrapper", "landlock", "full", "noticed", "joined", "bwrap",
];

pub(crate) fn run() -> Result<()> {
    let (mut rounds, mut check) = (201, false);
    for argument in std::env::args_os().skip(2) {
        match argument.to_str() {
            Some("--long") => rounds = 1001,
            Some("--check") => check = true,
            _ => bail!("unknown argument `{}`", argument.display()),
        }
    }
    if let Some(outcome) = with_mounts()? {
        return outcome;
    }
    let place = std::env::temp_dir().join(format!("holdpoint-sandbox-{}", std::process::id()));
    for directory in ["work/.git/hooks", "home/cache", "home/tools", "state"] {
        fs::create_dir_all(place.join(directory)).context("a workspace")?;
    }
    let outcome = measure(&place, rounds, check);
    fs::remove_dir_all(&place)?;
    outcome
}

fn count_mounts() -> usize {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().count()
}

/// Measures once more in a place of its own with more mounts, where there are few and this user may make some.
fn with_mounts() -> Result<Option<Result<()>>> {
    const MOUNTED: &str = "HOLDPOINT_BENCH_MOUNTED";
    let missing = MOUNTS.saturating_sub(count_mounts());
    if missing == 0 || std::env::var_os(MOUNTED).is_some() {
        return Ok(None);
    }
    let place = std::env::temp_dir().join(format!("holdpoint-mounts-{}", std::process::id()));
    fs::create_dir_all(&place)?;
    let may = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none"])
        .arg(&place)
        .stderr(Stdio::null())
        .status();
    if !may.is_ok_and(|status| status.success()) {
        fs::remove_dir_all(&place)?;
        return Ok(None);
    }
    let make = "for number in $(seq \"$1\"); do mkdir \"$2/$number\"; \
        mount -t tmpfs -o size=4k none \"$2/$number\"; done; shift 2; exec \"$@\"";
    let status = Command::new("unshare")
        .args(["--mount", "sh", "-c", make, "mounts"])
        .arg(missing.to_string())
        .arg(&place)
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(MOUNTED, "1")
        .status()?;
    fs::remove_dir_all(&place)?;
    Ok(Some(match status.success() {
        true => Ok(()),
        false => Err(anyhow::anyhow!("it ended with {status}")),
    }))
}

fn measure(place: &Path, rounds: usize, check: bool) -> Result<()> {
    let mounts = count_mounts();
    let supervisor = std::env::current_exe()?.with_file_name("contained");
    let filter = place.join("filter");
    let written = Command::new(&supervisor)
        .arg("filter")
        .stdout(File::create(&filter)?)
        .status()?;
    ensure!(written.success(), "the filter cannot be written");
    let bench = Bench {
        place,
        supervisor,
        filter,
    };
    let (reached, _) = holdpoint_sandbox::contain::reachable(false);
    if reached != holdpoint_sandbox::contain::Tier::Full {
        let left_out = std::env::var_os("HOLDPOINT_SKIP_SANDBOX").is_some_and(|word| word == "1");
        ensure!(
            left_out,
            "the tier `full` is not to be had here: nothing is measured; HOLDPOINT_SKIP_SANDBOX=1 leaves it out"
        );
        return Ok(());
    }
    let has_peer = Command::new("bwrap").arg("--version").output().is_ok();
    let ways: Vec<&str> = WAYS
        .into_iter()
        .filter(|way| *way != "bwrap" || has_peer)
        .collect();
    println!("ms of one /bin/true, median of {rounds} (quietest tenth), {mounts} mounts");
    let held = bench.hold()?;
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..rounds {
        for (way, times) in ways.iter().zip(&mut times) {
            times.push(bench.time(way)?);
        }
    }
    drop(held);
    let cost = |way: &str| {
        let index = ways.iter().position(|one| *one == way);
        index
            .and_then(|index| times.get(index))
            .map(|times| median(times.iter().copied()))
    };
    let plain = cost("plain").unwrap_or_default();
    let rows: Vec<Vec<String>> = ways
        .iter()
        .zip(&times)
        .map(|(way, times)| {
            let middle = median(times.iter().copied());
            vec![
                (*way).to_owned(),
                format!("{middle:.2} ({:.2})", quiet(times.clone())),
                format!("{:.2}x", middle / plain),
            ]
        })
        .collect();
    table::print(&["", "ms", "of plain"], &rows);
    let mut goals = Goals::default();
    let (wrapper, landlock) = (
        cost("wrapper").unwrap_or_default(),
        cost("landlock").unwrap_or_default(),
    );
    let over = landlock - wrapper;
    let text = format!("landlock: {over:.2} ms over the wrapper (goal {LANDLOCK_OVER_WRAPPER})");
    goals.state(Kind::Absolute, over <= LANDLOCK_OVER_WRAPPER, false, &text);
    // The same as a ratio.
    let ratio = landlock / wrapper;
    goals.state(
        Kind::Ratio,
        ratio <= 1.5,
        ratio > 1.5 * SLACK,
        &format!("landlock: {ratio:.2}x the wrapper (goal 1.5x)"),
    );
    match cost("bwrap") {
        None => println!("  bwrap is not here: nothing is compared with it"),
        Some(peer) => {
            for (way, goal) in [("full", FULL_OF_BWRAP), ("joined", JOINED_OF_BWRAP)] {
                let ratio = cost(way).unwrap_or_default() / peer;
                let text = format!(
                    "{way}: {ratio:.2} of bwrap with {mounts} mounts (goal {goal} with 60)"
                );
                goals.state(Kind::Ratio, ratio <= goal, ratio > goal * SLACK, &text);
            }
        }
    }
    goals.outcome(check)
}

struct Bench<'p> {
    place: &'p Path,
    supervisor: PathBuf,
    filter: PathBuf,
}

/// A run that keeps its network until it is dropped.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        // Its input ends, and so does it.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl Bench<'_> {
    fn hold(&self) -> Result<Held> {
        let held = Command::new(&self.supervisor)
            .arg("hold")
            .arg(self.place)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let held = Held(held);
        // Until it can be joined.
        let until = Instant::now() + Duration::from_secs(10);
        while !self.command("joined")?.status()?.success() {
            ensure!(Instant::now() < until, "no network can be joined");
        }
        Ok(held)
    }

    fn command(&self, way: &str) -> Result<Command> {
        let mut command = match way {
            "plain" => Command::new("/bin/true"),
            "bwrap" => self.bubblewrap()?,
            _ => {
                let mut command = Command::new(&self.supervisor);
                command.arg(way).arg(self.place).stdin(Stdio::null());
                command
            }
        };
        command.stdout(Stdio::null());
        Ok(command)
    }

    /// Bubblewrap hardened with the same filter, which it reads from its input.
    fn bubblewrap(&self) -> Result<Command> {
        let work = self.place.join("work");
        let mut command = Command::new("bwrap");
        command
            .args([
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--proc",
                "/proc",
                "--tmpfs",
                "/tmp",
            ])
            .args([
                "--tmpfs",
                "/var/tmp",
                "--tmpfs",
                "/run",
                "--unshare-all",
                "--unshare-user",
            ])
            .args([
                "--die-with-parent",
                "--cap-drop",
                "ALL",
                "--hostname",
                "holdpoint",
            ])
            .arg("--bind")
            .args([&work, &work])
            .arg("--ro-bind")
            .args([work.join(".git/hooks"), work.join(".git/hooks")])
            .args(["--seccomp", "0", "--chdir"])
            .arg(&work)
            .arg("/bin/true")
            .stdin(File::open(&self.filter)?);
        Ok(command)
    }

    fn time(&self, way: &str) -> Result<f64> {
        let mut command = self.command(way)?;
        let start = Instant::now();
        let status = command.status()?;
        let took = start.elapsed();
        ensure!(status.success(), "`{way}` failed: {status}");
        Ok(took.as_secs_f64() * 1e3)
    }
}
