//! Who is signed in, as it is kept over a restart: digests of the secrets, never the secrets, in a file for its owner alone.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// The largest file that is read: as many sessions as there may be, with long names.
const MAX_FILE: u64 = 1 << 20;

/// Somebody who is signed in.
pub(super) struct SignIn {
    pub(super) cookie: [u8; 32],
    pub(super) csrf: [u8; 32],
    pub(super) person: String,
    /// The person's entry when they signed in.
    pub(super) entry: String,
    /// For how long nothing was heard of them.
    pub(super) idle: Duration,
}

/// The same as it is written: a moment in place of a time that has passed.
#[derive(Serialize, Deserialize)]
struct Line {
    cookie: [u8; 32],
    csrf: [u8; 32],
    person: String,
    entry: String,
    used: u64,
}

/// Those in a file; none if it cannot be read.
pub(super) fn load(file: &Path) -> Vec<SignIn> {
    let mut text = String::new();
    let read = fs::File::open(file).and_then(|file| file.take(MAX_FILE).read_to_string(&mut text));
    let lines: Vec<Line> = match read {
        Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let now = seconds();
    let read = |line: Line| SignIn {
        cookie: line.cookie,
        csrf: line.csrf,
        person: line.person,
        entry: line.entry,
        idle: Duration::from_secs(now.saturating_sub(line.used)),
    };
    lines.into_iter().map(read).collect()
}

/// Replaces what is in a file, in one step.
pub(super) fn save(file: &Path, all: &[SignIn]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let now = seconds();
    let line = |one: &SignIn| Line {
        cookie: one.cookie,
        csrf: one.csrf,
        person: one.person.clone(),
        entry: one.entry.clone(),
        used: now.saturating_sub(one.idle.as_secs()),
    };
    let lines: Vec<Line> = all.iter().map(line).collect();
    let draft = file.with_extension("draft");
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true).mode(0o600);
    options
        .open(&draft)?
        .write_all(&serde_json::to_vec(&lines)?)?;
    fs::rename(&draft, file)
}

fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
