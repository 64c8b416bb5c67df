//! From policy files on disk to a compiled policy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{DocumentError, Policy, digest_of};

use crate::locations::Locations;
use crate::store::{Unread, is_absent, read_bounded};
use crate::trust::{TrustError, TrustStore};

/// The largest policy file that is read.
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
    /// What is trusted cannot be read.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

/// A file that cannot be read, and what to do about it.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    problem: String,
    hint: &'static str,
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
    read_bounded(path, MAX_POLICY).map_err(|unread| {
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
            Unread::TooLarge(_) => format!("{unread}; a policy has at most {MAX_POLICY}"),
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
    let source = source(path, Authority::User, Trust::Trusted)?;
    Ok(Policy::compile(vec![source])?)
}

/// The policy in force for work in `directory`: the managed file, the user's, the project's.
pub fn load_layers(locations: &Locations, directory: &Path) -> Result<Policy, LoadError> {
    let mut sources = Vec::new();
    let mut add_if_there = |path: &Path, authority| -> Result<(), LoadError> {
        if !is_absent(path) {
            sources.push(source(path, authority, Trust::Trusted)?);
        }
        Ok(())
    };
    add_if_there(&locations.managed, Authority::Managed)?;
    match &locations.named {
        Some(named) => sources.push(source(named, Authority::User, Trust::Trusted)?),
        None => {
            if let Some(user) = &locations.user {
                add_if_there(user, Authority::User)?;
            }
            sources.extend(project_sources(locations, directory)?);
        }
    }
    Ok(Policy::compile(sources)?)
}

fn project_sources(locations: &Locations, directory: &Path) -> Result<Vec<Source>, LoadError> {
    let files = locations.project_files(directory);
    if files.own.is_empty() && files.above.is_empty() {
        return Ok(Vec::new());
    }
    let trusted = TrustStore::open(locations)?;
    let above = files.above.into_iter().filter(|path| trusted.knows(path));
    let mut sources = Vec::new();
    for path in files.own.into_iter().chain(above) {
        let mut source = source(&path, Authority::Project, Trust::Untrusted)?;
        source.trust = trusted.standing(&path, &digest_of(&source.bytes));
        sources.push(source);
    }
    Ok(sources)
}

fn source(path: &Path, authority: Authority, trust: Trust) -> Result<Source, FileError> {
    Ok(Source {
        name: path.display().to_string(),
        authority,
        trust,
        bytes: read_policy_file(path)?,
    })
}
