//! The ledger: what a record costs, from one process and from sixteen, and how fast it is verified.
//!
//! Everything is measured in one run on one disk, and what counts are ratios. Processes are this
//! program started again: `append` records until it is told to stop, `once` records a single entry,
//! `nothing` does all that `once` does but that.
//! Usage: `bench ledger [--long] [--check]`.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{Whose, cpu_seconds, median};
use holdpoint_core::Verdict;
use holdpoint_ledger::{Durability, Entry, Kind as Record, Ledger, Options, Verify};
use holdpoint_text::redaction::Redacted;

const PROCESSES: usize = 16;
/// Records a second by all processes together, without waiting for the disk.
const RATE: f64 = 40_000.0;
/// How many times the rate of one process all reach when each waits for the disk.
const SYNCED: f64 = 8.0;
/// At most so many times a process that records nothing.
const START: f64 = 1.2;
/// Megabytes verified in a second.
const VERIFIED: f64 = 200.0;

/// A text that makes a record of about 600 bytes.
const REASON: &str = "the command would rewrite the history of a branch others have, and what they \
    have pushed there since would be gone; push to a branch of your own and open a request, or ask \
    a person to release this call, who will see the whole command and where it would be run, what \
    the policy says of it, and which of its parts decided; nothing has been run";

pub(crate) fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["append", directory, durability] => return append(directory, durability),
        ["once", directory] => return once(directory, true),
        ["nothing", directory] => return once(directory, false),
        _ => {}
    }
    let (mut long, mut check) = (false, false);
    for word in words {
        match word {
            "--long" => long = true,
            "--check" => check = true,
            other => bail!("unknown argument `{other}`"),
        }
    }
    measure(long, check)
}

fn measure(long: bool, check: bool) -> Result<()> {
    let time = Duration::from_secs(if long { 10 } else { 2 });
    let home = std::env::temp_dir().join(format!("holdpoint-ledger-{}", std::process::id()));
    let measured = all(&home, time, if long { 1_001 } else { 201 });
    std::fs::remove_dir_all(&home)?;
    let measured = measured?;
    println!("records a second, 600 bytes each, for {} s", time.as_secs());
    let row = |name: &str, [one, all]: [Rate; 2]| {
        vec![
            name.to_owned(),
            format!("{:.0}", one.records),
            format!("{:.0}", all.records),
            format!("{:.2}x", all.records / one.records),
            format!("{:.1}", one.cpu_micros),
            format!("{:.1}", all.cpu_micros),
        ]
    };
    let header = [
        "durability",
        "one process",
        "16 processes",
        "ratio",
        "CPU µs of one",
        "of 16",
    ];
    let rows = [
        row("written", measured.written),
        row("synced", measured.synced),
    ];
    table::print(&header, &rows);
    let [without, with] = measured.start;
    println!("a process: {without:.3} ms; with one append: {with:.3} ms (medians)");
    let mut goals = Goals::default();
    let rate = measured.written[1].records;
    goals.state(
        Kind::Absolute,
        rate >= RATE,
        false,
        &format!("16 processes append {rate:.0} records a second (goal {RATE:.0})"),
    );
    let synced = measured.synced[1].records / measured.synced[0].records;
    goals.state(
        Kind::Ratio,
        synced >= SYNCED,
        // With the wait inside the lock, 16 would reach less than one, as they do without a wait. A disk
        // that answers at once leaves the processor as the limit, which is no fault of the ledger's:
        // 1.05x to 1.5x were seen where one process waits 4,400 times a second.
        synced < 1.0,
        &format!("16 processes that wait for the disk reach {synced:.1}x one (goal {SYNCED}x)"),
    );
    let start = with / without;
    goals.state(
        Kind::Ratio,
        start <= START,
        start - 1.0 > (START - 1.0) * 2.0,
        &format!("a process that appends costs {start:.2}x one that does not (goal {START}x)"),
    );
    let [speed, by_cpu] = measured.verified;
    goals.state(
        Kind::Absolute,
        speed >= VERIFIED,
        false,
        &format!(
            "{speed:.0} MB verified in a second (goal {VERIFIED:.0}), {by_cpu:.0} in one of CPU time"
        ),
    );
    goals.outcome(check)
}

/// Rates of one and of all processes, milliseconds without and with an append, megabytes in a
/// second of the clock and of CPU time.
struct Measured {
    written: [Rate; 2],
    synced: [Rate; 2],
    start: [f64; 2],
    verified: [f64; 2],
}

/// Records a second, and the CPU time of each.
#[derive(Clone, Copy)]
struct Rate {
    records: f64,
    cpu_micros: f64,
}

fn all(home: &Path, time: Duration, rounds: usize) -> Result<Measured> {
    let mut count = 0;
    let mut rate = |processes, durability| {
        count += 1;
        rate(&home.join(count.to_string()), processes, durability, time)
    };
    let written = [rate(1, "written")?, rate(PROCESSES, "written")?];
    let synced = [rate(1, "synced")?, rate(PROCESSES, "synced")?];
    Ok(Measured {
        written,
        synced,
        start: starts(&home.join("start"), rounds)?,
        verified: verified(&home.join("2"))?,
    })
}

/// Records by so many processes at once.
fn rate(directory: &Path, processes: usize, durability: &str, time: Duration) -> Result<Rate> {
    let cpu = cpu_seconds(Whose::Children);
    let mut children = Vec::new();
    for _ in 0..processes {
        children.push(Appender::start(directory, durability)?);
    }
    // All stand ready before the first begins.
    for child in &mut children {
        child.wait_for(b'r')?;
    }
    let start = Instant::now();
    for child in &mut children {
        child.tell()?;
    }
    std::thread::sleep(time);
    for child in &mut children {
        child.stop();
    }
    let elapsed = start.elapsed();
    let mut records = 0;
    for child in children {
        records += child.count()?;
    }
    let found = Verify::default().run(directory, &mut |_, _| {})?;
    ensure!(found.is_intact(), "{:?}", found.faults);
    ensure!(
        found.records >= records,
        "{records} records were acknowledged, {} are there",
        found.records
    );
    let count = records as f64;
    Ok(Rate {
        records: count / elapsed.as_secs_f64(),
        cpu_micros: (cpu_seconds(Whose::Children) - cpu) * 1e6 / count,
    })
}

/// A process that appends until its standard input ends.
struct Appender {
    child: Child,
}

impl Appender {
    fn start(directory: &Path, durability: &str) -> Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .args(["ledger", "append"])
            .args([directory.as_os_str(), durability.as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start")?;
        Ok(Self { child })
    }

    fn wait_for(&mut self, sign: u8) -> Result<()> {
        let mut byte = [0];
        let output = self.child.stdout.as_mut().context("no output")?;
        output.read_exact(&mut byte)?;
        ensure!(byte == [sign], "a process says something else");
        Ok(())
    }

    fn tell(&mut self) -> Result<()> {
        let input = self.child.stdin.as_mut().context("no input")?;
        Ok(input.write_all(b"g")?)
    }

    fn stop(&mut self) {
        drop(self.child.stdin.take());
    }

    fn count(mut self) -> Result<u64> {
        let mut text = String::new();
        let output = self.child.stdout.as_mut().context("no output")?;
        output.read_to_string(&mut text)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "a process ended with {status}");
        Ok(text.trim().parse()?)
    }
}

fn append(directory: &str, durability: &str) -> Result<()> {
    let durability = match durability {
        "synced" => Durability::Synced,
        _ => Durability::Written,
    };
    let ledger = Ledger::at(directory).with(Options {
        lock_wait: Duration::from_secs(60),
        ..Options::default()
    });
    let entry = entry();
    let mut output = std::io::stdout();
    output.write_all(b"r")?;
    output.flush()?;
    let mut input = std::io::stdin();
    input.read_exact(&mut [0])?;
    let (told, stopped) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _ = input.read(&mut [0]);
        told.send(())
    });
    let mut count = 0u64;
    while stopped.try_recv().is_err() {
        ledger.append(&entry, durability)?;
        count += 1;
    }
    Ok(writeln!(output, "{count}")?)
}

/// What a hook does around its record: it starts, reads its input, and says something.
fn once(directory: &str, append: bool) -> Result<()> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let entry = entry();
    if append {
        Ledger::at(directory).append(&entry, Durability::Written)?;
    }
    Ok(std::io::stdout().write_all(b"{}\n")?)
}

fn entry() -> Entry {
    Entry {
        agent: Some(Redacted::literal("claude-code")),
        session: Some(Redacted::literal("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")),
        tool: Some(Redacted::literal("Bash")),
        verdict: Some(Verdict::Deny),
        rule: Some(Redacted::literal("git.force-push-shared")),
        reason: Some(Redacted::literal(REASON)),
        ..Entry::new(Record::Decision)
    }
}

/// Milliseconds of a process without and with one append, taking turns.
fn starts(directory: &Path, rounds: usize) -> Result<[f64; 2]> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (times, word) in times.iter_mut().zip(["nothing", "once"]) {
            let mut command = Command::new(std::env::current_exe()?);
            command
                .args(["ledger", word])
                .arg(directory)
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            let start = Instant::now();
            let status = command.status().context("cannot start")?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            ensure!(status.success(), "`{word}` ended with {status}");
        }
    }
    Ok(times.map(median))
}

/// Megabytes verified in a second, of the clock (the best of three) and of CPU time.
fn verified(directory: &Path) -> Result<[f64; 2]> {
    let (mut best, mut megabytes) = (0.0_f64, 0.0);
    let cpu = cpu_seconds(Whose::Own);
    for _ in 0..3 {
        let start = Instant::now();
        let found = Verify::default().run(directory, &mut |_, _| {})?;
        ensure!(found.is_intact(), "{:?}", found.faults);
        let size = found.bytes as f64 / 1e6;
        megabytes += size;
        best = best.max(size / start.elapsed().as_secs_f64());
    }
    Ok([best, megabytes / (cpu_seconds(Whose::Own) - cpu)])
}
