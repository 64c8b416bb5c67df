//! What git would commit: the files of the index that differ from the last commit, as they stand in
//! the index and not on the disk; and files as they were at a revision.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdpoint_core::text::escape_for_display;

/// Why git does not say what is staged.
#[derive(Debug, thiserror::Error)]
pub enum StagedError {
    /// There is no git.
    #[error("git cannot be run ({0}): install it, or name files")]
    NoGit(io::ErrorKind),
    /// It says something else.
    #[error("git does not say what is staged: run this in a repository")]
    Refused,
    /// There is no such revision.
    #[error("git knows no revision `{0}`: fetch it, or name another")]
    NoRevision(String),
}

/// Whether staged files are wanted that are there, or those that are taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staged {
    /// Added and changed ones.
    Kept,
    /// Those the commit removes.
    Removed,
}

/// The files that are staged, submodules left out, by their paths from the top of the repository; of
/// those below certain paths only, if any are named.
pub fn staged(
    directory: &Path,
    below: &[PathBuf],
    wanted: Staged,
) -> Result<Vec<PathBuf>, StagedError> {
    let mut command = git(directory);
    command.args([
        "diff",
        "--cached",
        "--name-only",
        "--no-renames",
        "--no-relative",
        "--no-ext-diff",
        "--ignore-submodules=all",
        match wanted {
            Staged::Kept => "--diff-filter=AMT",
            Staged::Removed => "--diff-filter=D",
        },
        "-z",
        "--",
    ]);
    let output = command
        .args(below)
        .output()
        .map_err(|error| StagedError::NoGit(error.kind()))?;
    if !output.status.success() {
        return Err(StagedError::Refused);
    }
    let names = output.stdout.split(|byte| *byte == 0);
    Ok(names.filter(|name| !name.is_empty()).map(path_of).collect())
}

/// A staged file as it is read by `read`, by its path from the top of the repository.
pub fn read_staged<T>(
    directory: &Path,
    path: &Path,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<T> {
    let mut name = OsString::from(":0:");
    name.push(path);
    read_blob(directory, &name, read)
}

/// The state of a repository that others are compared with.
#[derive(Clone, Debug)]
pub struct Revision {
    directory: PathBuf,
    /// None before the first commit: there is nothing yet.
    commit: Option<String>,
}

impl Revision {
    /// The one of that name in the repository around a directory.
    pub fn named(directory: &Path, name: &str) -> Result<Self, StagedError> {
        match commit(directory, name)? {
            Some(commit) => Ok(Self {
                directory: directory.to_owned(),
                commit: Some(commit),
            }),
            None => Err(StagedError::NoRevision(escape_for_display(name, 80))),
        }
    }

    /// The last commit, or nothing before the first.
    pub fn last(directory: &Path) -> Result<Self, StagedError> {
        Ok(Self {
            directory: directory.to_owned(),
            commit: commit(directory, "HEAD")?,
        })
    }

    /// A file as it was there; none if it was not. A path that starts with `./` is one from the
    /// directory, any other one from the top of the repository.
    pub fn read(&self, path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(commit) = &self.commit else {
            return Ok(None);
        };
        let mut command = git(&self.directory);
        command.args(["ls-tree", "-z"]);
        if !path.starts_with(".") {
            command.arg("--full-tree");
        }
        let output = command.arg(commit).arg("--").arg(path).output()?;
        if !output.status.success() {
            return Err(io::ErrorKind::NotFound.into());
        }
        // MODE blob OBJECT TAB PATH; what is no file there was no policy.
        let line = String::from_utf8_lossy(&output.stdout);
        let mut words = line.split(['\t', '\0']).next().unwrap_or("").split(' ');
        let (Some("blob"), Some(object)) = (words.nth(1), words.next()) else {
            return Ok(None);
        };
        read_blob(&self.directory, OsStr::new(object), |text| {
            read_bounded(text, max)
        })
        .map(Some)
    }
}

/// All there is to read, unless it is more than `max` bytes.
pub fn read_bounded(reader: &mut dyn Read, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

fn commit(directory: &Path, name: &str) -> Result<Option<String>, StagedError> {
    let output = git(directory)
        .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
        .arg(format!("{name}^{{commit}}"))
        .output()
        .map_err(|error| StagedError::NoGit(error.kind()))?;
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok((output.status.success() && !commit.is_empty()).then_some(commit))
}

fn read_blob<T>(
    directory: &Path,
    name: &OsStr,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<T> {
    let mut child = git(directory)
        .args(["cat-file", "blob"])
        .arg(name)
        .stdout(Stdio::piped())
        .spawn()?;
    let result = match child.stdout.take() {
        Some(mut output) => read(&mut output).and_then(|value| {
            // Somebody who has seen enough lets git finish all the same.
            io::copy(&mut output, &mut io::sink())?;
            Ok(value)
        }),
        None => Err(io::ErrorKind::BrokenPipe.into()),
    };
    let ended = child.wait()?;
    let value = result?;
    if ended.success() {
        Ok(value)
    } else {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// git, told to read and nothing else: no file system monitor of the repository's choice, no locks.
fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["--no-pager", "--no-optional-locks", "--literal-pathspecs"])
        .args(["-c", "core.fsmonitor=false"])
        .current_dir(directory)
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(OsStr::from_bytes(name))
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
