//! `holdpoint report`: the ledger as figures, on a page or as JSON.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail};
use holdpoint::report::{Gathering, LedgerState, Period, Trial, page, save, short};
use holdpoint::{Locations, RecordError};
use holdpoint_ledger::{Reader, Timestamp, Verify};

use crate::cli::Report;
use crate::desk::directory;
use crate::exit::Exit;
use crate::terminal::{Terminal, shown};

/// The name of the page, unless another is given.
const PAGE: &str = "holdpoint-report.html";

/// How many lines are read between two looks at the clock.
const LINES_A_LOOK: u64 = 4096;

pub(crate) fn run(args: &Report, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let now = Timestamp::of(SystemTime::now());
    let period = Period {
        since: args.span.since,
        until: args.span.until,
    };
    if let (Some(since), Some(until)) = (period.since, period.until)
        && since >= until
    {
        bail!("--since is not before --until: nothing lies between them");
    }
    let locations = Locations::of_this_machine();
    let ledger = locations.ledger().ok_or(RecordError::NoPlace)?;
    let gathered = gathered(&ledger, period)?;
    let mut verified = verified(&ledger)?;
    verified.directory = short(&verified.directory, locations.home.as_deref());
    let trial = Trial::new(&locations, &directory(None)?);
    let trial = trial.as_ref().map_err(ToString::to_string);
    let summary = gathered.summary(verified, now, trial);
    if args.json {
        serde_json::to_writer_pretty(&mut terminal.out, &summary)?;
        writeln!(terminal.out)?;
        return Ok(Exit::Fine);
    }
    let page = page(&summary);
    let file = args.output.clone().unwrap_or_else(|| PathBuf::from(PAGE));
    if file.as_os_str() == "-" {
        terminal.out.write_all(page.as_bytes())?;
        return Ok(Exit::Fine);
    }
    save(&file, &page, args.force)?;
    writeln!(
        terminal.out,
        "{}: {} calls in {} sessions{}",
        shown(&file.display().to_string(), 300),
        summary.calls,
        summary.sessions.total,
        if summary.ledger.intact {
            ""
        } else {
            "; the ledger does not verify: run `holdpoint log verify`"
        }
    )?;
    Ok(Exit::Fine)
}

fn gathered(ledger: &Path, period: Period) -> anyhow::Result<Gathering> {
    let mut gathered = Gathering::new(period);
    let total = Reader::total_bytes(ledger)
        .with_context(|| format!("{}: the ledger cannot be read", ledger.display()))?;
    let mut progress = Progress::new("reading the ledger");
    let mut reader = Reader::new(ledger);
    let (mut lines, mut done) = (0_u64, 0_u64);
    while let Some(line) = reader.next()? {
        done = done.saturating_add(u64::try_from(line.bytes.len()).unwrap_or(u64::MAX));
        gathered.line(&line);
        lines += 1;
        if lines.is_multiple_of(LINES_A_LOOK) {
            progress.show(done, total);
        }
    }
    Ok(gathered)
}

fn verified(ledger: &Path) -> anyhow::Result<LedgerState> {
    let place = ledger.display().to_string();
    if !ledger.exists() {
        let nothing = LedgerState {
            directory: place,
            intact: true,
            ..LedgerState::default()
        };
        return Ok(nothing);
    }
    let mut progress = Progress::new("verifying it");
    let found = Verify::default().run(ledger, &mut |done, total| progress.show(done, total))?;
    Ok(LedgerState::of(place, &found))
}

/// A line on a terminal about work that takes long; nothing elsewhere.
struct Progress {
    doing: &'static str,
    shown: bool,
    next: Option<Instant>,
}

/// How long something may take without a word, and how often there is one then.
const PATIENCE: Duration = Duration::from_millis(700);
const BREATH: Duration = Duration::from_millis(200);

impl Progress {
    fn new(doing: &'static str) -> Self {
        let seen = io::stderr().is_terminal();
        Self {
            doing,
            shown: false,
            next: seen.then(|| Instant::now() + PATIENCE),
        }
    }

    fn show(&mut self, done: u64, total: u64) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            let percent = done.saturating_mul(100) / total.max(1);
            let _ = write!(io::stderr(), "\r{}: {}%  ", self.doing, percent.min(100));
            self.shown = true;
            self.next = Some(now + BREATH);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r{:40}\r", "");
        }
    }
}
