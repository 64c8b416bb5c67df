//! The contents of files, each kept once under its SHA-256.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::BackupError;
use crate::store::{make_private_directory, private};

const BUFFER: usize = 128 << 10;

#[derive(Clone, Debug)]
pub(super) struct Objects {
    directory: PathBuf,
}

impl Objects {
    pub(super) fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Where the content with this digest is kept; none for what is no digest.
    fn path(&self, object: &str) -> Option<PathBuf> {
        let hex = object.len() == 64
            && object
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let (start, rest) = object.split_at_checked(2).filter(|_| hex)?;
        Some(self.directory.join(start).join(rest))
    }

    /// Keeps the content of an open file; its digest and size. None if it has more than `most` bytes.
    pub(super) fn keep(
        &self,
        path: &Path,
        mut file: File,
        most: u64,
    ) -> Result<Option<(String, u64)>, BackupError> {
        let unwritten = |error: io::Error| BackupError::unwritten(&self.directory, &error);
        make_private_directory(&self.directory).map_err(unwritten)?;
        let mut draft = Draft::new(&self.directory).map_err(unwritten)?;
        let mut hasher = Sha256::new();
        let mut size = 0u64;
        let mut buffer = vec![0; BUFFER];
        loop {
            let count = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(BackupError::unreadable(path, &error)),
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            size = size.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
            if size > most {
                return Ok(None);
            }
            hasher.update(bytes);
            draft.file.write_all(bytes).map_err(unwritten)?;
        }
        let object = hex(hasher);
        let place = self.path(&object).ok_or_else(|| {
            BackupError::unwritten(&self.directory, &io::ErrorKind::InvalidInput.into())
        })?;
        // One cut short by a power failure is written again.
        let kept =
            fs::symlink_metadata(&place).is_ok_and(|found| found.is_file() && found.len() == size);
        if !kept {
            make_private_directory(place.parent().unwrap_or(&self.directory)).map_err(unwritten)?;
            draft.become_file(&place).map_err(unwritten)?;
        }
        Ok(Some((object, size)))
    }

    /// Whether the content is there and is what its name says.
    pub(super) fn is_whole(&self, object: &str) -> bool {
        let opened = self.path(object).and_then(|path| File::open(path).ok());
        opened.and_then(|file| digest(file).ok()).as_deref() == Some(object)
    }

    /// Copies the content to a file; on the way it is made sure that it is what its name says.
    pub(super) fn write_to(&self, object: &str, target: &mut File) -> io::Result<()> {
        let path = self.path(object).ok_or(io::ErrorKind::NotFound)?;
        let mut file = File::open(path)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; BUFFER];
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            let bytes = buffer.get(..count).unwrap_or_default();
            hasher.update(bytes);
            target.write_all(bytes)?;
        }
        match hex(hasher) == object {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the copy is damaged",
            )),
        }
    }
}

/// The SHA-256 of a file's content.
pub(super) fn digest(mut file: File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hex(hasher));
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}

fn hex(hasher: Sha256) -> String {
    let digest = hasher.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file that is not there until it is whole.
struct Draft {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl Draft {
    fn new(directory: &Path) -> io::Result<Self> {
        let chance = holdpoint_ledger::unguessable()?;
        let name: String = chance
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let path = directory.join(format!("draft-{name}"));
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        private(&mut options);
        Ok(Self {
            file: options.open(&path)?,
            path,
            kept: false,
        })
    }

    fn become_file(&mut self, place: &Path) -> io::Result<()> {
        fs::rename(&self.path, place)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}
