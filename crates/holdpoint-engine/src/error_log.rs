//! What could not be judged and was left to the agent, one line each time.

use std::io;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::locations::Locations;
use crate::store::append_line;

/// The size at which a new log is begun: years of ordinary failures, and no disk is filled by a call that fails in a loop.
const MAX_LOG: u64 = 4 << 20;

/// The record of calls that were let go unjudged.
#[derive(Clone, Debug)]
pub struct ErrorLog {
    path: PathBuf,
}

impl ErrorLog {
    /// The log kept at `locations`; none without a place to keep it.
    pub fn at(locations: &Locations) -> Option<Self> {
        let path = locations.state.as_ref()?.join("errors.log");
        Some(Self { path })
    }

    /// Adds a line: when (seconds since 1970), which agent, what went wrong.
    pub fn add(&self, agent: &str, error: &str) -> io::Result<()> {
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let line = json!({"time": time, "agent": agent, "error": error});
        append_line(&self.path, &line.to_string(), MAX_LOG)
    }
}
