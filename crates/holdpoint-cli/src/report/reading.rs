//! A ledger on disk, read and verified for a report.

use std::path::Path;
use std::time::SystemTime;

use holdpoint_ledger::{LedgerError, Reader, Timestamp, Verify};

use super::{Gathering, LedgerState, Period, Summary, Trial, short};
use holdpoint_engine::Locations;
use holdpoint_engine::RecordError;

/// How many lines are read between two words about it.
const LINES_A_WORD: u64 = 4096;

/// What is being done, for whoever waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// The records are read.
    Reading,
    /// Their chain is verified.
    Verifying,
}

/// Sums up what the ledger says about a period, for somebody in `directory`. `progress` hears what is
/// done and how much of how much.
pub fn summary_of(
    locations: &Locations,
    period: Period,
    directory: &Path,
    progress: &mut dyn FnMut(Doing, u64, u64),
) -> Result<Summary, RecordError> {
    let ledger = locations.ledger().ok_or(RecordError::NoPlace)?;
    let now = Timestamp::from_clock(SystemTime::now());
    let gathered = gathered(&ledger, period, progress)?;
    let mut verified = verified(&ledger, progress)?;
    verified.directory = short(&verified.directory, locations.home.as_deref());
    let trial = Trial::new(locations, directory);
    let trial = trial.as_ref().map_err(ToString::to_string);
    Ok(gathered.summary(verified, now, trial))
}

fn gathered(
    ledger: &Path,
    period: Period,
    progress: &mut dyn FnMut(Doing, u64, u64),
) -> Result<Gathering, LedgerError> {
    let mut gathered = Gathering::new(period);
    // Only to say how far it is: the reader says what is wrong.
    let total = Reader::total_bytes(ledger).unwrap_or(0);
    let mut reader = Reader::new(ledger);
    let (mut lines, mut done) = (0_u64, 0_u64);
    while let Some(line) = reader.next()? {
        done = done.saturating_add(u64::try_from(line.bytes.len()).unwrap_or(u64::MAX));
        gathered.line(&line);
        lines += 1;
        if lines.is_multiple_of(LINES_A_WORD) {
            progress(Doing::Reading, done, total);
        }
    }
    Ok(gathered)
}

fn verified(
    ledger: &Path,
    progress: &mut dyn FnMut(Doing, u64, u64),
) -> Result<LedgerState, LedgerError> {
    let place = ledger.display().to_string();
    if !ledger.exists() {
        return Ok(LedgerState {
            directory: place,
            intact: true,
            ..LedgerState::default()
        });
    }
    let mut verifying = |done, total| progress(Doing::Verifying, done, total);
    let found = Verify::default().run(ledger, &mut verifying)?;
    Ok(LedgerState::from_verification(place, &found))
}
