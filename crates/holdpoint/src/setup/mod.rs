//! Holdpoint's entry in an agent's settings: put there, kept current, and taken out again.
//!
//! The file is somebody else's. It is edited as text, so that comments, order and spacing stay;
//! what it was before is kept beside Holdpoint's own state, and comes back to the byte if nobody
//! has changed the file since.

mod claude_code;
mod record;

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::{digest_of, document};
use serde::de::IgnoredAny;

use self::record::{Record, Records};
use crate::hook::Agent;
use crate::locations::Locations;
use crate::store::{Unread, plain_words, read_bounded, rewrite};

/// The largest settings file that is edited.
const MAX_SETTINGS: u64 = 4 << 20;

/// Whose sessions of an agent are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of this user's.
    User,
    /// Everybody's in this project.
    Project,
    /// This user's in this project.
    Local,
}

/// Why an agent's settings were left alone.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Where this agent's settings are is not known here.
    #[error("Holdpoint cannot register itself with {0}: add `holdpoint hook {0}` to its hooks")]
    Unknown(&'static str),
    /// Nobody knows where they are.
    #[error("no home directory is known, so the settings cannot be found: set HOME")]
    NoHome,
    /// There is no place to keep what they were.
    #[error("no home directory is known, so no backup can be kept: set HOME or XDG_STATE_HOME")]
    NoPlace,
    /// They are not what they should be.
    #[error("{0}: {1}: correct it, then try again")]
    Broken(String, String),
    /// The disk does not play along.
    #[error("{0}: it cannot be {1} ({2})")]
    Unusable(String, &'static str, String),
    /// Somebody else was faster.
    #[error("{0}: somebody changed it meanwhile: try again")]
    Changed(String),
}

/// What would be done to a settings file; nothing is done before [`Plan::carry_out`].
#[derive(Debug)]
pub struct Plan {
    /// The file, links followed.
    pub path: PathBuf,
    /// Its text; none if there is no file.
    pub before: Option<String>,
    /// Its text afterwards; none if there would be no file.
    pub after: Option<String>,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// An entry where there was none.
    Add,
    /// An entry brought up to date.
    Renew,
    /// What stood there before the entry, to the byte.
    Restore,
    /// The same file without the entry.
    TakeOut,
}

impl Plan {
    /// Registers the hook of `agent` as a call of `program`.
    pub fn to_register(
        agent: Agent,
        scope: Scope,
        directory: &Path,
        program: &str,
    ) -> Result<Self, SetupError> {
        let (path, before) = settings(agent, scope, directory)?;
        let text = before.as_deref().unwrap_or_default();
        let edited = claude_code::registered(text, program);
        let (after, renewed) = edited.map_err(|problem| broken(&path, problem))?;
        Ok(Self {
            path,
            before,
            after: Some(after),
            step: if renewed { Step::Renew } else { Step::Add },
        })
    }

    /// Takes the hook of `agent` out again.
    pub fn to_unregister(
        agent: Agent,
        scope: Scope,
        directory: &Path,
        locations: &Locations,
    ) -> Result<Self, SetupError> {
        let (path, before) = settings(agent, scope, directory)?;
        let text = before.as_deref().unwrap_or_default();
        let edited = claude_code::unregistered(text);
        let taken_out = edited.map_err(|problem| broken(&path, problem))?;
        let records = Records::of(locations, &path)?;
        let restored = match &before {
            Some(text) => records.original(&digest_of(text.as_bytes()))?,
            None => None,
        };
        let (after, step) = match restored {
            Some(original) => (original, Step::Restore),
            None => (before.is_some().then_some(taken_out), Step::TakeOut),
        };
        Ok(Self {
            path,
            before,
            after,
            step,
        })
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Why the agent would not run the hook all the same.
    pub fn hindrance(&self, agent: Agent) -> Option<String> {
        let after = self.after.as_deref()?;
        (agent == Agent::ClaudeCode)
            .then(|| claude_code::hindrance(after))
            .flatten()
    }

    /// Where the file as it was before Holdpoint is kept, while it is.
    pub fn backup(&self, locations: &Locations) -> Result<PathBuf, SetupError> {
        Ok(Records::of(locations, &self.path)?.backup())
    }

    /// Does it.
    pub fn carry_out(&self, locations: &Locations) -> Result<(), SetupError> {
        let records = Records::of(locations, &self.path)?;
        let _held = records.lock()?;
        if read(&self.path)? != self.before {
            return Err(SetupError::Changed(name(&self.path)));
        }
        match self.step {
            Step::Add | Step::Renew => self.write(&records),
            Step::Restore | Step::TakeOut => self.undo(&records),
        }
    }

    fn write(&self, records: &Records) -> Result<(), SetupError> {
        let missing = self.missing_directories();
        let after = self.after.as_deref().unwrap_or_default();
        let digest = digest_of(after.as_bytes());
        let before = self.before.as_deref();
        let known = match before {
            Some(text) => records.original(&digest_of(text.as_bytes()))?.is_some(),
            None => false,
        };
        // The record first: if this ends in between, it fits no file, and nothing is restored.
        let exact = match self.step {
            // A file that has the entry already is not what was there before it, unless nobody
            // else has touched it since.
            Step::Renew => known,
            Step::Add | Step::Restore | Step::TakeOut => true,
        };
        if self.step == Step::Add || !records.renew(&digest, exact)? {
            records.keep(
                Record {
                    path: name(&self.path),
                    existed: before.is_some(),
                    exact,
                    after: digest,
                    made: missing.iter().map(|path| name(path)).collect(),
                },
                before.unwrap_or_default(),
            )?;
        }
        let failed = |error: io::Error| unusable(&self.path, "written", &error);
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        rewrite(&self.path, after.as_bytes(), found(&self.path).as_ref()).map_err(failed)
    }

    fn undo(&self, records: &Records) -> Result<(), SetupError> {
        match &self.after {
            Some(after) => rewrite(&self.path, after.as_bytes(), found(&self.path).as_ref())
                .map_err(|error| unusable(&self.path, "written", &error))?,
            None => {
                fs::remove_file(&self.path)
                    .map_err(|error| unusable(&self.path, "removed", &error))?;
                for made in records.made_directories() {
                    // One that is in use by now stays.
                    let _ = fs::remove_dir(made);
                }
            }
        }
        records.forget(self.step == Step::Restore);
        Ok(())
    }

    /// The directories that would be made for the file, the innermost first.
    fn missing_directories(&self) -> Vec<&Path> {
        let above = self.path.ancestors().skip(1);
        above.take_while(|path| !path.exists()).collect()
    }
}

/// The settings file of an agent, links followed, and its text.
fn settings(
    agent: Agent,
    scope: Scope,
    directory: &Path,
) -> Result<(PathBuf, Option<String>), SetupError> {
    if agent != Agent::ClaudeCode {
        return Err(SetupError::Unknown(agent.name()));
    }
    let named = claude_code::settings_file(scope, directory)?;
    let path = match fs::canonicalize(&named) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !named.is_symlink() => named,
        Err(error) => return Err(unusable(&named, "found", &error)),
    };
    let text = read(&path)?;
    // The strict reader finds what the editor would take for granted, and says it better.
    if let Some(text) = text.as_deref().filter(|text| !text.trim().is_empty()) {
        document::read::<IgnoredAny>(&name(&path), text.as_bytes())
            .map_err(|error| SetupError::Broken(name(&path), place_and_problem(&error)))?;
    }
    Ok((path, text))
}

fn place_and_problem(error: &document::DocumentError) -> String {
    format!("line {}: {}", error.line, error.message())
}

fn read(path: &Path) -> Result<Option<String>, SetupError> {
    match read_bounded(path, MAX_SETTINGS) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| broken(path, "it is not UTF-8 text".into())),
        Err(Unread::Missing) => Ok(None),
        Err(unread) => Err(SetupError::Unusable(name(path), "read", unread.to_string())),
    }
}

fn found(path: &Path) -> Option<Metadata> {
    fs::metadata(path).ok()
}

fn name(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

fn broken(path: &Path, problem: String) -> SetupError {
    SetupError::Broken(name(path), problem)
}

fn unusable(path: &Path, what: &'static str, error: &io::Error) -> SetupError {
    SetupError::Unusable(name(path), what, plain_words(error))
}
