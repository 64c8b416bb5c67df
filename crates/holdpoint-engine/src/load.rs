//! From policy files on disk to a compiled policy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{DocumentError, Policy, digest_of};

use crate::escape_for_display;
use crate::kept::KeptRules;
use crate::locations::{Locations, ProjectFiles};
use crate::packs;
use crate::stamps::Stamps;
use crate::store::{Unread, is_absent, read_bounded_as};
use crate::trust::{TrustError, TrustStore};

/// The largest policy file that is read: some ten thousand rules with reasons. A larger one is an error, which closes the
/// gate.
const MAX_POLICY: u64 = 4 << 20;

/// Why there is no policy.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not a policy.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A rule pack cannot be used, or `guards` names one that is not there.
    #[error("{0}")]
    Packs(String),
    /// What is trusted cannot be read.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

/// A file that cannot be read, and what to do about it.
#[derive(Debug)]
pub struct FileError {
    pub(crate) path: PathBuf,
    pub(crate) problem: String,
    pub(crate) hint: &'static str,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display().to_string();
        write!(
            f,
            "{}: {}: {}",
            path.escape_debug(),
            self.problem,
            self.hint
        )
    }
}

impl std::error::Error for FileError {}

/// The bytes of a policy file. It must be an ordinary file of at most 4 MiB.
pub fn read_policy_file(path: &Path) -> Result<Vec<u8>, FileError> {
    read_text_file(path, "policy", MAX_POLICY, &mut Stamps::default())
}

/// The bytes of an ordinary file of at most `most` bytes; `kind` says what it should be.
pub(crate) fn read_text_file(
    path: &Path,
    kind: &str,
    most: u64,
    stamps: &mut Stamps,
) -> Result<Vec<u8>, FileError> {
    let read = read_bounded_as(path, most).map(|(bytes, found)| {
        stamps.content(path, &found);
        bytes
    });
    read.map_err(|unread| {
        let hint = match &unread {
            Unread::Missing => "create it, or name another one",
            Unread::Directory | Unread::NotOrdinary => "name a file",
            Unread::TooLarge(_) => "split it, or remove what it does not need",
            Unread::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                "make it readable for you"
            }
            Unread::Io(_) => "check the path and the disk",
        };
        let problem = match &unread {
            Unread::TooLarge(_) => format!("{unread}; a {kind} has at most {most}"),
            Unread::Missing | Unread::Directory | Unread::NotOrdinary | Unread::Io(_) => {
                unread.to_string()
            }
        };
        FileError {
            path: path.to_owned(),
            problem,
            hint,
        }
    })
}

/// The policy of one file in place of all layers.
pub fn load_file(path: &Path) -> Result<Policy, LoadError> {
    load_file_stamped(path, &mut Stamps::default())
}

pub(crate) fn load_file_stamped(path: &Path, stamps: &mut Stamps) -> Result<Policy, LoadError> {
    let source = source(path, Authority::User, Trust::Trusted, stamps)?;
    complete(
        Policy::compile(vec![source])?,
        &[],
        home().as_deref(),
        stamps,
    )
}

/// The policy in a text, in place of all layers; `name` is how messages call it. Packs it names by
/// relative paths are looked for where this process runs.
pub fn load_text(name: &str, text: &str) -> Result<Policy, LoadError> {
    load_text_stamped(name, text, &mut Stamps::default())
}

pub(crate) fn load_text_stamped(
    name: &str,
    text: &str,
    stamps: &mut Stamps,
) -> Result<Policy, LoadError> {
    complete(
        Policy::from_text(name, text)?,
        &[],
        home().as_deref(),
        stamps,
    )
}

/// Adds the packs of the given directories and of the layers, and checks what `guards` names.
fn complete(
    policy: Policy,
    directories: &[(PathBuf, Authority)],
    home: Option<&Path>,
    stamps: &mut Stamps,
) -> Result<Policy, LoadError> {
    let loaded = packs::loaded(&policy, directories, home, stamps)?;
    let policy = policy.with_packs(loaded);
    match policy.unknown_guard() {
        Some(problem) => Err(LoadError::Packs(escape_for_display(&problem, 1000))),
        None => Ok(policy),
    }
}

fn home() -> Option<PathBuf> {
    Locations::of_this_machine().home
}

/// The policy in force for work in `directory`: the managed file, the user's, the project's.
pub fn load_layers(locations: &Locations, directory: &Path) -> Result<Policy, LoadError> {
    load_layers_at(locations, directory, directory)
}

/// The policy in force for an agent that belongs in `workspace` and stands in `directory`. Walking
/// into a directory adds its rules and drops none; out of the workspace it adds no allow rules.
pub fn load_layers_at(
    locations: &Locations,
    workspace: &Path,
    directory: &Path,
) -> Result<Policy, LoadError> {
    load_layers_with(locations, workspace, directory, None)
}

/// The same with one more file, to see what it would change.
pub fn load_layers_with(
    locations: &Locations,
    workspace: &Path,
    directory: &Path,
    further: Option<Source>,
) -> Result<Policy, LoadError> {
    let stamps = &mut Stamps::default();
    load_layers_stamped(locations, workspace, directory, further, stamps)
}

/// The same, and how every file and place looked that was looked at.
pub(crate) fn load_layers_stamped(
    locations: &Locations,
    workspace: &Path,
    directory: &Path,
    further: Option<Source>,
    stamps: &mut Stamps,
) -> Result<Policy, LoadError> {
    let mut sources = Vec::new();
    let mut add_if_there = |path: &Path, authority, stamps: &mut Stamps| {
        match is_absent(path) {
            true => stamps.absent(path),
            false => sources.push(source(path, authority, Trust::Trusted, stamps)?),
        }
        Ok::<(), LoadError>(())
    };
    add_if_there(&locations.managed, Authority::Managed, stamps)?;
    let mut directories = vec![(packs::beside(&locations.managed), Authority::Managed)];
    match &locations.named {
        Some(named) => sources.push(source(named, Authority::User, Trust::Trusted, stamps)?),
        None => {
            if let Some(user) = &locations.user {
                add_if_there(user, Authority::User, stamps)?;
                directories.push((packs::beside(user), Authority::User));
            }
            sources.extend(project_sources(locations, workspace, directory, stamps)?);
        }
    }
    sources.extend(further);
    let mut policy = Policy::compile(sources)?;
    if let Some(kept) = KeptRules::at(locations)
        && let Some(kept) = kept.source(workspace, stamps)?
    {
        policy = policy.with_further(&kept)?;
    }
    complete(policy, &directories, locations.home.as_deref(), stamps)
}

fn project_sources(
    locations: &Locations,
    workspace: &Path,
    directory: &Path,
    stamps: &mut Stamps,
) -> Result<Vec<Source>, LoadError> {
    let files = locations.project_files_stamped(workspace, stamps);
    let nearby = if workspace == directory {
        ProjectFiles::default()
    } else {
        locations.project_files_stamped(directory, stamps)
    };
    let empty = |files: &ProjectFiles| files.own.is_empty() && files.above.is_empty();
    if empty(&files) && empty(&nearby) {
        return Ok(Vec::new());
    }
    let trusted = TrustStore::open_stamped(locations, stamps)?;
    let in_force = |files: ProjectFiles| {
        let above = files.above.into_iter().filter(|path| trusted.knows(path));
        files.own.into_iter().chain(above).collect::<Vec<_>>()
    };
    let (own, nearby) = (in_force(files), in_force(nearby));
    let mut sources = Vec::new();
    for path in &own {
        sources.push(project_source(path, &trusted, stamps)?);
    }
    for path in nearby.iter().filter(|path| !own.contains(path)) {
        let mut source = project_source(path, &trusted, stamps)?;
        if !path.starts_with(workspace) {
            source.trust = Trust::Untrusted;
        }
        sources.push(source);
    }
    Ok(sources)
}

fn project_source(
    path: &Path,
    trusted: &TrustStore,
    stamps: &mut Stamps,
) -> Result<Source, FileError> {
    let mut source = source(path, Authority::Project, Trust::Untrusted, stamps)?;
    source.trust = trusted.standing(path, &digest_of(&source.bytes));
    Ok(source)
}

fn source(
    path: &Path,
    authority: Authority,
    trust: Trust,
    stamps: &mut Stamps,
) -> Result<Source, FileError> {
    Ok(Source {
        name: path.display().to_string(),
        authority,
        trust,
        bytes: read_text_file(path, "policy", MAX_POLICY, stamps)?,
    })
}
