//! `holdpoint report`: the ledger as figures, on a page or as JSON.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;
use holdpoint_cli::report::{Doing, Observing, Period, page, save, summary_of};
use holdpoint_engine::{Locations, working_directory};

use crate::cli::Report;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The name of the page, unless another is given.
const PAGE: &str = "holdpoint-report.html";

pub(crate) fn run(args: &Report, terminal: &mut Terminal) -> anyhow::Result<Exit> {
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
    let mut watched = Progress::new();
    let summary = summary_of(
        &locations,
        period,
        &working_directory(None)?,
        &mut |doing, done, total| watched.show(doing, done, total),
    )?;
    drop(watched);
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
        "{}: {} calls in {} sessions{}{}",
        escape_for_display(&file.display().to_string(), 300),
        summary.calls,
        summary.sessions.total,
        observed_words(summary.observed.as_ref()),
        if summary.ledger.intact {
            ""
        } else {
            "; the ledger does not verify: run `holdpoint log verify`"
        }
    )?;
    Ok(Exit::Fine)
}

/// What would have come of calls that were only observed.
fn observed_words(observed: Option<&Observing>) -> String {
    observed.map_or_else(String::new, |observed| {
        let verdicts = &observed.verdicts;
        format!(
            "; {} only observed, of which {} would have been asked about and {} denied",
            observed.calls,
            verdicts.held(),
            verdicts.deny
        )
    })
}

/// A line on a terminal about work that takes long; nothing elsewhere.
struct Progress {
    shown: bool,
    next: Option<Instant>,
}

/// How long something may take without a word, and how often there is one then.
const PATIENCE: Duration = Duration::from_millis(700);
const BREATH: Duration = Duration::from_millis(200);

impl Progress {
    fn new() -> Self {
        let seen = io::stderr().is_terminal();
        Self {
            shown: false,
            next: seen.then(|| Instant::now() + PATIENCE),
        }
    }

    fn show(&mut self, doing: Doing, done: u64, total: u64) {
        let doing = match doing {
            Doing::Reading => "reading the ledger",
            Doing::Verifying => "verifying it",
        };
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            let percent = done.saturating_mul(100) / total.max(1);
            let _ = write!(io::stderr(), "\r{doing:<18} {}%  ", percent.min(100));
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
