//! Where it is kept what servers said of their tools: a file for each, for this user alone.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use holdpoint_core::digest_of;
use holdpoint_engine::store::{Unread, lock, read_bounded, write_whole};
use holdpoint_engine::{Locations, text_without_secrets};
use holdpoint_mcp::ServerName;
use holdpoint_mcp::pins::Pins;

/// The most bytes of one file: two lists as long as a line may be.
const MAX_BYTES: u64 = 32 << 20;

/// How many characters of the digest of a command tell servers of one name apart.
const DIGEST: usize = 12;

/// What one server said.
#[derive(Clone, Debug)]
pub(crate) struct PinStore {
    file: PathBuf,
    server: ServerName,
    command: String,
}

impl PinStore {
    /// That of a server that is started by this command. The same name started otherwise is another server.
    pub(crate) fn of_server(
        locations: &Locations,
        server: &ServerName,
        command: &[String],
    ) -> anyhow::Result<Self> {
        let words = serde_json::to_string(command)?;
        let digest = digest_of(words.as_bytes());
        let digest = digest.rsplit(':').next().unwrap_or_default();
        let digest: String = digest.chars().take(DIGEST).collect();
        Ok(Self {
            file: directory(locations)?.join(format!("{server}__{digest}.json")),
            server: server.clone(),
            command: text_without_secrets(&command.join(" ")),
        })
    }

    /// What is kept; none if the server was never seen.
    pub(crate) fn read(&self) -> anyhow::Result<Option<Pins>> {
        read(&self.file)
    }

    /// Where it is kept.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// By what it is told that the file is another one; none if there is none.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let found = std::fs::metadata(&self.file).ok()?;
        Some((found.modified().ok()?, found.len()))
    }

    /// Changes what is kept, under a lock: agents start a server twice. What `change` says is written if it
    /// says so.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Pins) -> (T, Keep),
    ) -> anyhow::Result<T> {
        let _lock = lock(&self.file).with_context(|| self.problem())?;
        let mut pins = match self.read()? {
            Some(pins) => pins,
            None => Pins::of_server(self.server.as_str(), &self.command),
        };
        let (made, keep) = change(&mut pins);
        if keep == Keep::Changed {
            // What could not be read again would shut the server out for good.
            let text = serde_json::to_vec(&pins)?;
            if text.len() as u64 > MAX_BYTES {
                bail!(
                    "{}: what is said of the tools does not fit {} MiB, so none of it is taken",
                    self.file.display(),
                    MAX_BYTES >> 20
                );
            }
            write_whole(&self.file, &text).with_context(|| self.problem())?;
        }
        Ok(made)
    }

    fn problem(&self) -> String {
        format!("{}: it cannot be written", self.file.display())
    }
}

/// When a file was written, and how long it is.
pub(crate) type Stamp = (SystemTime, u64);

/// Whether anything is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Something has changed.
    Changed,
    /// Everything is as it was.
    Same,
}

/// What is kept of all servers.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// By file name.
    pub(crate) servers: Vec<(PinStore, Pins)>,
    /// Why some files cannot be read.
    pub(crate) problems: Vec<String>,
}

/// What is kept of all servers. A file that cannot be read hides none of the others.
pub(crate) fn all(locations: &Locations) -> anyhow::Result<Kept> {
    let directory = directory(locations)?;
    let mut kept = Kept::default();
    let Ok(entries) = std::fs::read_dir(&directory) else {
        return Ok(kept);
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    for file in files {
        let pins = match read(&file) {
            Ok(Some(pins)) => pins,
            Ok(None) => continue,
            Err(problem) => {
                kept.problems.push(problem.to_string());
                continue;
            }
        };
        let Some(server) = ServerName::new(&pins.server) else {
            let problem = format!("{}: it names no server: remove it", file.display());
            kept.problems.push(problem);
            continue;
        };
        let command = pins.command.clone();
        let store = PinStore {
            file,
            server,
            command,
        };
        kept.servers.push((store, pins));
    }
    Ok(kept)
}

fn directory(locations: &Locations) -> anyhow::Result<PathBuf> {
    match &locations.state {
        Some(state) => Ok(state.join("mcp")),
        None => bail!("no home directory is known, so nothing can be kept of a server"),
    }
}

/// What a file holds. One that cannot be read is no server that was never seen: it may have been made so.
fn read(file: &Path) -> anyhow::Result<Option<Pins>> {
    let bytes = match read_bounded(file, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(Unread::Missing) => return Ok(None),
        Err(unread) => bail!("{}: {unread}", file.display()),
    };
    let pins = serde_json::from_slice(&bytes).map_err(|error| {
        anyhow::anyhow!(
            "{}:{}:{}: it is not what Holdpoint wrote: look at it, or remove it to see the server anew",
            file.display(),
            error.line(),
            error.column()
        )
    })?;
    Ok(Some(pins))
}
