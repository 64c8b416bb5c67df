//! What git would commit: the files of the index that differ from the last commit, as they stand in
//! the index and not on the disk.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why git does not say what is staged.
#[derive(Debug, thiserror::Error)]
pub enum StagedError {
    /// There is no git.
    #[error("git cannot be run ({0}): install it, or name files")]
    NoGit(io::ErrorKind),
    /// It says something else.
    #[error("git does not say what is staged: run this in a repository")]
    Refused,
}

/// The files that are staged, removed ones and submodules left out, by their paths from the top of
/// the repository; of those below certain paths only, if any are named.
pub fn staged(directory: &Path, below: &[PathBuf]) -> Result<Vec<PathBuf>, StagedError> {
    let mut command = git(directory);
    command.args([
        "diff",
        "--cached",
        "--name-only",
        "--no-renames",
        "--no-relative",
        "--no-ext-diff",
        "--ignore-submodules=all",
        "--diff-filter=AMT",
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
    let mut name = std::ffi::OsString::from(":0:");
    name.push(path);
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
