//! Holdpoint's entry in an agent's settings: put there, kept current, and taken out again.
//!
//! The file is somebody else's. It is edited as text, so that comments, order and spacing stay;
//! what it was before is kept beside Holdpoint's own state, and comes back to the byte if nobody
//! has changed the file since.

mod around;
pub(crate) mod block;
pub(crate) mod command_line;
mod examine;
pub(crate) mod generated;
pub(crate) mod hooks;
mod host;
pub(crate) mod own_file;
pub(crate) mod probe;
pub(crate) mod record;

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::{digest_of, document};
use serde::de::IgnoredAny;

pub use self::around::Around;
pub use self::command_line::Call;
pub use self::examine::{Finding, Standing, examine};
pub use self::host::Host;
pub(crate) use self::host::{Files, Places, Switch};
pub use self::probe::Dialect;
use self::record::{Record, Records};
pub use crate::agents::HOSTS;
pub use crate::agents::claude_code::settings::loosened;
use holdpoint_engine::Locations;
use holdpoint_engine::store::{Unread, plain_words, read_bounded, rewrite};

/// The largest settings file that is edited: no person keeps a larger one. Beyond it nothing is changed, and that is
/// an error.
pub(crate) const MAX_SETTINGS: u64 = 4 << 20;

/// Whose sessions of an agent are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of this user's.
    User,
    /// Everybody's in this project.
    Project,
    /// This user's in this project.
    Local,
    /// Everybody's on this machine, where nobody else may switch it off.
    Managed,
}

impl Scope {
    /// Every scope, the strongest first.
    pub const ALL: [Scope; 4] = [Scope::Managed, Scope::User, Scope::Project, Scope::Local];

    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
            Scope::Managed => "managed",
        }
    }
}

/// The agent of that name.
pub fn host(name: &str) -> Option<&'static Host> {
    HOSTS.into_iter().find(|host| host.name() == name)
}

/// A file that holds something of ours, and how.
pub struct Part {
    path: PathBuf,
    form: Box<dyn Form>,
}

impl Part {
    pub(crate) fn new(path: PathBuf, form: impl Form + 'static) -> Self {
        Self {
            path,
            form: Box::new(form),
        }
    }

    /// The file, as it is named.
    fn path(&self) -> &Path {
        &self.path
    }

    /// What of ours is in it.
    pub(crate) fn look(&self) -> Result<Seen, SetupError> {
        let (path, text) = settings(self)?;
        let there = text.is_some();
        let text = text.unwrap_or_default();
        let entries = self.form.entries(&text);
        let entries = entries.map_err(|problem| broken(&path, problem))?;
        let mut missing = self.form.events();
        missing.retain(|event| !entries.iter().any(|e| e.event == *event && e.sees_all));
        Ok(Seen {
            // Settings that are not there hinder nothing; a record that is not there may.
            disabled_reason: (there || !self.form.is_json())
                .then(|| self.form.disabled_reason(&text))
                .flatten(),
            entries,
            missing,
        })
    }
}

/// What is found of ours in a file.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The commands.
    entries: Vec<Entry>,
    /// The moments at which nothing of ours is run for every call.
    pub(crate) missing: Vec<&'static str>,
    /// Why the agent runs none of them all the same.
    pub(crate) disabled_reason: Option<String>,
}

/// A command of ours in an agent's settings.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// When it is run.
    pub(crate) event: &'static str,
    /// What is run.
    pub(crate) call: Call,
    /// Whether it is run for every tool, each time, and waited for.
    pub(crate) sees_all: bool,
    /// Whether the agent stops if it fails; nothing where that cannot be said.
    pub(crate) fails_closed: Option<bool>,
}

/// Why a file cannot hold what is ours, or cannot be searched for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormError {
    /// It is no text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It is no JSON; what the reader says of it.
    #[error("{0}")]
    Syntax(String),
    /// The file holds something else than an object.
    #[error("the settings are not an object")]
    NotAnObject,
    /// `hooks` holds something else than an object.
    #[error("`hooks` is not an object")]
    HooksNotAnObject,
    /// What stands at an event is no list.
    #[error("`hooks.{0}` is not an array")]
    EventNotAnArray(String),
    /// Something else stands where the hook belongs.
    #[error("there is no place for a hook in it")]
    NoRoom,
    /// `hooks` is written in a way that no table can be added to.
    #[error("`hooks` is not a table of its own there")]
    NoTable,
    /// The mark in front of our lines is there, and the one behind them is not.
    #[error("`{begin}` has no `{end}`")]
    Unclosed {
        /// The one in front.
        begin: &'static str,
        /// The one behind.
        end: &'static str,
    },
    /// The file was not written by us, and can only be ours whole.
    #[error("somebody else's file stands there")]
    NotOurs,
}

/// How what is ours stands in a file.
pub(crate) trait Form: Sync {
    /// The text with what is needed for `program`, and whether something of it was there.
    fn registered(&self, text: &str, program: &str) -> Result<(String, bool), FormError>;
    /// The text without what is ours; nothing if the file was ours alone.
    fn unregistered(&self, text: &str) -> Result<Option<String>, FormError>;
    /// The commands of ours in it.
    fn entries(&self, text: &str) -> Result<Vec<Entry>, FormError>;
    /// The moments at which there should be one.
    fn events(&self) -> Vec<&'static str>;
    /// Why the agent would not run them all the same.
    fn disabled_reason(&self, text: &str) -> Option<String>;
    /// Whether the file is JSON, perhaps with comments.
    fn is_json(&self) -> bool;
    /// Whether the file is itself run.
    fn is_run(&self) -> bool {
        false
    }
}

impl<F: Form + ?Sized> Form for &F {
    fn registered(&self, text: &str, program: &str) -> Result<(String, bool), FormError> {
        (**self).registered(text, program)
    }

    fn unregistered(&self, text: &str) -> Result<Option<String>, FormError> {
        (**self).unregistered(text)
    }

    fn entries(&self, text: &str) -> Result<Vec<Entry>, FormError> {
        (**self).entries(text)
    }

    fn events(&self) -> Vec<&'static str> {
        (**self).events()
    }

    fn disabled_reason(&self, text: &str) -> Option<String> {
        (**self).disabled_reason(text)
    }

    fn is_json(&self) -> bool {
        (**self).is_json()
    }

    fn is_run(&self) -> bool {
        (**self).is_run()
    }
}

/// Why an agent's settings were left alone.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
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
    /// The agent has no such place.
    #[error("{0} has no settings of the scope `{1}`: use {2}")]
    NoSuchScope(&'static str, &'static str, &'static str),
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
    /// Why the agent would not run the hook all the same.
    pub disabled_reason: Option<String>,
    /// Whether the file is itself run.
    is_run: bool,
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
    /// Registers the hook of `host` as a call of `program`: a plan for each file.
    pub fn to_register(
        host: &Host,
        scope: Scope,
        around: &Around,
        program: &str,
    ) -> Result<Vec<Self>, SetupError> {
        let parts = host.parts(scope, around, program)?;
        parts
            .iter()
            .map(|part| Self::registering(part, program))
            .collect()
    }

    fn registering(part: &Part, program: &str) -> Result<Self, SetupError> {
        let (path, before) = settings(part)?;
        let text = before.as_deref().unwrap_or_default();
        let edited = part.form.registered(text, program);
        let (after, renewed) = edited.map_err(|problem| broken(&path, problem))?;
        Ok(Self {
            disabled_reason: part.form.disabled_reason(&after),
            // A file that is not needed is not made.
            after: (before.is_some() || !after.is_empty()).then_some(after),
            path,
            before,
            is_run: part.form.is_run(),
            step: if renewed { Step::Renew } else { Step::Add },
        })
    }

    /// Takes the hook of `host` out again.
    pub fn to_unregister(
        host: &Host,
        scope: Scope,
        around: &Around,
        program: &str,
        locations: &Locations,
    ) -> Result<Vec<Self>, SetupError> {
        let parts = host.parts(scope, around, program)?;
        // Backwards, so that the directories made for the first are empty when it goes.
        parts
            .iter()
            .rev()
            .map(|part| Self::unregistering(part, locations))
            .collect()
    }

    fn unregistering(part: &Part, locations: &Locations) -> Result<Self, SetupError> {
        let (path, before) = settings(part)?;
        let text = before.as_deref().unwrap_or_default();
        let edited = part.form.unregistered(text);
        let taken_out = edited.map_err(|problem| broken(&path, problem))?;
        let records = Records::for_settings(locations, &path)?;
        let restored = match &before {
            Some(text) => records.original(&digest_of(text.as_bytes()))?,
            None => None,
        };
        let (after, step) = match restored {
            Some(original) => (original, Step::Restore),
            None => (taken_out.filter(|_| before.is_some()), Step::TakeOut),
        };
        Ok(Self {
            path,
            before,
            after,
            disabled_reason: None,
            is_run: part.form.is_run(),
            step,
        })
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Where the file as it was before Holdpoint is kept, while it is.
    pub fn backup(&self, locations: &Locations) -> Result<PathBuf, SetupError> {
        Ok(Records::for_settings(locations, &self.path)?.backup())
    }

    /// Does it.
    pub fn carry_out(&self, locations: &Locations) -> Result<(), SetupError> {
        let records = Records::for_settings(locations, &self.path)?;
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
        rewrite(&self.path, after.as_bytes(), found(&self.path).as_ref()).map_err(failed)?;
        match self.is_run {
            true => make_runnable(&self.path).map_err(failed),
            false => Ok(()),
        }
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

/// The file of a part, links followed, and its text.
pub(crate) fn settings(part: &Part) -> Result<(PathBuf, Option<String>), SetupError> {
    let named = part.path.clone();
    let path = match fs::canonicalize(&named) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !named.is_symlink() => named,
        Err(error) => return Err(unusable(&named, "found", &error)),
    };
    let text = read(&path)?;
    // The strict reader finds what the editor would take for granted, and says it better.
    if part.form.is_json()
        && let Some(text) = text.as_deref().filter(|text| !text.trim().is_empty())
    {
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
            .map_err(|_| broken(path, FormError::NotText)),
        Err(Unread::Missing) => Ok(None),
        Err(unread) => Err(SetupError::Unusable(name(path), "read", unread.to_string())),
    }
}

fn found(path: &Path) -> Option<Metadata> {
    fs::metadata(path).ok()
}

#[cfg(unix)]
fn make_runnable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_runnable(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn name(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

pub(crate) fn broken(path: &Path, problem: FormError) -> SetupError {
    SetupError::Broken(name(path), problem.to_string())
}

fn unusable(path: &Path, what: &'static str, error: &io::Error) -> SetupError {
    SetupError::Unusable(name(path), what, plain_words(error))
}
