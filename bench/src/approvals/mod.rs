//! Holding calls: a real daemon in a home of its own, callers, and somebody who answers at once.
//!
//! What is timed is everything but the person: a caller asks, the daemon judges, keeps and tells, the
//! answer comes back over a second connection, is kept, and reaches the caller. Beside it, in turns,
//! the least that could be: the same bytes there and back over bare sockets, and as many waits for
//! the disk. Memory is the daemon's own, as Linux counts it.
//! Usage: `bench approvals [--long] [--check] HOLDPOINT`.

mod callers;
mod daemon;
mod floor;
mod page;
mod signer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{median, percentile, quiet};

use self::callers::{Answering, calls_at_once, held, hook_processes};
use self::daemon::{Daemon, Memory};
use self::floor::Floor;
use self::page::Page;
use self::signer::Signer;

/// Milliseconds from asking to the answer, without the person.
const ROUND_TRIP: f64 = 1.5;
/// Milliseconds a signature adds to that, what somebody takes to touch their key left out.
const SIGNATURE: f64 = 1.0;
/// At most so many times the bare sockets and so many times the waits for the disk, which cost next to
/// nothing where the temporary directory is in memory.
const OF_FLOOR: (f64, f64) = (25.0, 2.0);
/// At most so many times a process that does nothing and the waits for the disk.
const OF_NOTHING: f64 = 4.0;
/// Milliseconds from asking to the page, for 99 of 100.
const TO_PAGE: f64 = 100.0;
/// Megabytes a daemon may keep that has nothing to do.
const RESIDENT: f64 = 25.0;

/// Megabytes from which a check fails. Most of what is resident is the program's own file, of which the kernel keeps as much as it
/// likes around what is touched: the same program takes 24.2 and 25.3.
const RESIDENT_ALARM: f64 = 28.0;
/// How many calls are held before the memory is looked at again.
const MANY: usize = 1_000;

pub(crate) fn run() -> Result<()> {
    let (mut times, mut check, mut program) = (1, false, None);
    for argument in std::env::args_os().skip(2) {
        match argument.to_str() {
            Some("--long") => times = 4,
            Some("--check") => check = true,
            Some(flag) if flag.starts_with("--") => bail!("unknown argument `{flag}`"),
            Some(_) | None => program = Some(PathBuf::from(argument)),
        }
    }
    let program = program.context("which program is to be measured?")?;
    let program = std::fs::canonicalize(&program)
        .with_context(|| format!("`{}` is not there", program.display()))?;
    let mut measured = all(&Daemon::start(&program)?, times)?;
    measured.signed = signed(&program, times)?;
    measured.print(check)
}

/// Times are milliseconds.
struct Measured {
    started: Memory,
    held: Held,
    to_page: Vec<f64>,
    signed: Option<Signed>,
}

/// Round trips through a daemon that wants a signature and through one that does not, in turns.
struct Signed {
    with: Vec<f64>,
    without: Vec<f64>,
    hooks_with: Vec<f64>,
    hooks_without: Vec<f64>,
}

/// None where nobody may pin a key.
fn signed(program: &Path, times: usize) -> Result<Option<Signed>> {
    let signer = Signer::new()?;
    let Some(signing) = Daemon::signed(program, &signer)? else {
        eprintln!("left out: only root may pin a key, so nothing is signed");
        return Ok(None);
    };
    let plain = Daemon::start(program)?;
    let both = [
        Answering::start(signing.places(), Some(signer)),
        Answering::start(plain.places(), None),
    ];
    let measured = (|| {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for number in 0..300 * times {
            with.push(held(&signing, &format!("make signed-{number}"))?);
            without.push(held(&plain, &format!("make signed-{number}"))?);
        }
        let rounds = 50 * times;
        let (hooks_with, _) = hook_processes(&signing, rounds)?;
        let (hooks_without, _) = hook_processes(&plain, rounds)?;
        Ok(Signed {
            with,
            without,
            hooks_with,
            hooks_without,
        })
    })();
    // Whatever kept an answer away says more than that none came.
    both.into_iter().try_for_each(Answering::stop)?;
    measured.map(Some)
}

/// What is measured while somebody answers.
struct Held {
    rate: f64,
    busy: Memory,
    reported: Memory,
    round_trips: Vec<f64>,
    sockets: Vec<f64>,
    syncs: Vec<f64>,
    hooks: Vec<f64>,
    nothing: Vec<f64>,
}

fn all(daemon: &Daemon, times: usize) -> Result<Measured> {
    let started = daemon.memory()?;
    let page = Page::sign_in(daemon)?;
    let answering = Answering::start(daemon.places(), None);
    let held = answered(daemon, &page, times);
    // Whatever kept an answer away says more than that none came.
    answering.stop()?;
    Ok(Measured {
        started,
        held: held?,
        to_page: page.times(daemon, 300 * times)?,
        signed: None,
    })
}

fn answered(daemon: &Daemon, page: &Page, times: usize) -> Result<Held> {
    let rate = calls_at_once(daemon, MANY)?;
    let busy = daemon.memory()?;
    page.report()?;
    let reported = daemon.memory()?;
    let (mut round_trips, mut sockets, mut syncs) = (Vec::new(), Vec::new(), Vec::new());
    let mut floor = Floor::start(daemon.home())?;
    for number in 0..500 * times {
        sockets.push(floor.round_trip()?);
        syncs.push(floor.syncs()?);
        round_trips.push(held(daemon, &format!("make turn-{number}"))?);
    }
    let (hooks, nothing) = hook_processes(daemon, 100 * times)?;
    Ok(Held {
        rate,
        busy,
        reported,
        round_trips,
        sockets,
        syncs,
        hooks,
        nothing,
    })
}

impl Measured {
    fn print(&self, check: bool) -> Result<()> {
        println!("ms of a held call without the person");
        let row = |name: &str, times: &[f64]| {
            vec![
                name.to_owned(),
                times.len().to_string(),
                format!("{:.3}", quiet(times.to_vec())),
                format!("{:.3}", median(times.iter().copied())),
                format!("{:.3}", percentile(times.to_vec(), 99)),
            ]
        };
        let mut rows = vec![
            row("bare sockets", &self.held.sockets),
            row("the waits for the disk", &self.held.syncs),
            row("through the daemon", &self.held.round_trips),
            row("a process that does nothing", &self.held.nothing),
            row("a hook process, held", &self.held.hooks),
            row("asked until on the page", &self.to_page),
        ];
        if let Some(signed) = &self.signed {
            rows.push(row("in turns: signed", &signed.with));
            rows.push(row("in turns: unsigned", &signed.without));
            rows.push(row("a hook process, signed", &signed.hooks_with));
            rows.push(row("a hook process, unsigned", &signed.hooks_without));
        }
        table::print(&["", "calls", "quietest tenth", "p50", "p99"], &rows);
        println!(
            "{MANY} calls from {} callers at once: {:.0} a second",
            callers::AT_ONCE,
            self.held.rate
        );
        let row = |name: &str, memory: &Memory| {
            vec![
                name.to_owned(),
                format!("{:.1}", memory.resident),
                format!("{:.1}", memory.own),
            ]
        };
        let rows = [
            row("after its start", &self.started),
            row(&format!("after {MANY} calls"), &self.held.busy),
            row("after a report", &self.held.reported),
        ];
        table::print(&["MB of the daemon", "resident", "of these its own"], &rows);
        self.goals().outcome(check)
    }

    fn goals(&self) -> Goals {
        let mut goals = Goals::default();
        let middle = |times: &[f64]| median(times.iter().copied());
        let round_trip = middle(&self.held.round_trips);
        goals.state(
            Kind::Absolute,
            round_trip <= ROUND_TRIP,
            false,
            &format!("a call is held and answered in {round_trip:.2} ms (goal {ROUND_TRIP} ms)"),
        );
        if let Some(signed) = &self.signed {
            let more = middle(&signed.with) - middle(&signed.without);
            goals.state(
                Kind::Absolute,
                more <= SIGNATURE,
                false,
                &format!("a signature makes that {more:.2} ms longer (goal {SIGNATURE} ms)"),
            );
        }
        let (sockets, disk) = (middle(&self.held.sockets), middle(&self.held.syncs));
        let ratio = round_trip / (OF_FLOOR.0 * sockets + OF_FLOOR.1 * disk);
        goals.state(
            Kind::Ratio,
            ratio <= 1.0,
            ratio > 2.0,
            &format!(
                "that is {ratio:.2} of {}x the bare sockets and {}x the disk (goal 1)",
                OF_FLOOR.0, OF_FLOOR.1
            ),
        );
        let ratio = middle(&self.held.hooks) / (middle(&self.held.nothing) + disk);
        goals.state(
            Kind::Ratio,
            ratio <= OF_NOTHING,
            ratio > OF_NOTHING * 2.0,
            &format!(
                "a hook that is held: {ratio:.1}x a process that does nothing and the disk (goal {OF_NOTHING}x)"
            ),
        );
        let to_page = percentile(self.to_page.clone(), 99);
        goals.state(
            Kind::Absolute,
            to_page <= TO_PAGE,
            false,
            &format!("99 of 100 are on the page within {to_page:.1} ms (goal {TO_PAGE} ms)"),
        );
        for (when, memory) in [
            ("after its start", &self.started),
            ("after calls", &self.held.busy),
            ("after a report", &self.held.reported),
        ] {
            let megabytes = memory.resident;
            goals.state(
                Kind::Size,
                megabytes <= RESIDENT,
                megabytes > RESIDENT_ALARM,
                &format!("{megabytes:.1} MB resident {when} (goal {RESIDENT} MB)"),
            );
        }
        goals
    }
}

/// A time in milliseconds.
fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
