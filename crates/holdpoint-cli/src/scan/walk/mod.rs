//! The files below a directory, without those its ignore files leave out.
//!
//! Links are not followed, so no walk goes round in circles; neither are pipes and devices opened.
//! Whatever belongs to version control itself is passed over.

mod pattern;
mod rules;

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::rules::Rules;

/// What is not walked into whatever anybody says.
const NEVER: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Which files of a directory are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// What ignore files leave out, too.
    pub ignored: bool,
    /// Names that start with a dot, too. Agents keep their rule files under such names.
    pub hidden: bool,
}

/// The files below a directory, each directory's in order of their names.
#[derive(Debug)]
pub struct Walk {
    wanted: Wanted,
    /// What is yet to be looked at, the next last.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    /// As it is called in output.
    path: PathBuf,
    /// As ignore files speak of it.
    real: PathBuf,
    is_directory: bool,
    rules: Option<Arc<Rules>>,
}

impl Walk {
    /// The files below a directory.
    pub fn new(directory: &Path, wanted: Wanted) -> Self {
        let real = directory
            .canonicalize()
            .unwrap_or_else(|_| directory.to_owned());
        let rules = match wanted.ignored {
            true => None,
            false => Rules::above(&real),
        };
        Self {
            wanted,
            open: vec![Open {
                path: directory.to_owned(),
                real,
                is_directory: true,
                rules,
            }],
        }
    }

    fn enter(&mut self, directory: &Open) -> io::Result<()> {
        let mut entries = fs::read_dir(&directory.path)?.collect::<io::Result<Vec<DirEntry>>>()?;
        entries.sort_by_key(DirEntry::file_name);
        let rules = match self.wanted.ignored {
            true => None,
            false => Rules::within(&directory.real, directory.rules.clone()),
        };
        for entry in entries.into_iter().rev() {
            // An entry that is gone by now is nobody's loss.
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name();
            if !(kind.is_dir() || kind.is_file())
                || NEVER.iter().any(|never| name == *never)
                || (!self.wanted.hidden && name.as_encoded_bytes().starts_with(b"."))
            {
                continue;
            }
            let real = directory.real.join(&name);
            let left_out = rules
                .as_ref()
                .is_some_and(|rules| rules.leaves_out(&real, kind.is_dir()));
            if !left_out {
                self.open.push(Open {
                    path: directory.path.join(&name),
                    real,
                    is_directory: kind.is_dir(),
                    rules: rules.clone(),
                });
            }
        }
        Ok(())
    }
}

impl Iterator for Walk {
    /// A file, or a directory that cannot be read.
    type Item = Result<PathBuf, (PathBuf, io::Error)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = self.open.pop()?;
            if !next.is_directory {
                return Some(Ok(next.path));
            }
            if let Err(error) = self.enter(&next) {
                return Some(Err((next.path, error)));
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
