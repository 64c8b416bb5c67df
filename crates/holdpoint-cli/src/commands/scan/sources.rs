//! Which texts are looked at.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdpoint_cli::scan::staged::{Staged, read_bounded, read_staged, staged};
use holdpoint_cli::scan::{Scanned, Walk, Wanted};
use holdpoint_core::text::Origin;

use super::look::Look;
use crate::cli::Scan;
use crate::commands::in_words;

/// The texts of a run, found one after the other.
pub(super) struct Sources {
    found: Box<dyn Iterator<Item = Source>>,
    input: bool,
}

/// One text.
pub(super) enum Source {
    Input,
    File(PathBuf),
    /// A file as it is staged in the repository around a directory.
    Staged(Arc<Path>, PathBuf),
    /// A file the commit takes away.
    Removed(PathBuf),
    /// Something that cannot be looked at, and why.
    Problem(PathBuf, String),
}

impl Sources {
    pub(super) fn find(args: &Scan) -> anyhow::Result<Self> {
        if args.staged {
            let here: Arc<Path> = std::env::current_dir()?.into();
            let files = staged(&here, &args.paths, Staged::Kept)?;
            let removed = staged(&here, &args.paths, Staged::Removed)?;
            let found = files
                .into_iter()
                .map(move |path| Source::Staged(Arc::clone(&here), path))
                .chain(removed.into_iter().map(Source::Removed));
            return Ok(Self {
                found: Box::new(found),
                input: false,
            });
        }
        let wanted = Wanted {
            ignored: args.no_ignore,
            hidden: !args.no_hidden,
        };
        let mut paths = args.paths.clone();
        if paths.is_empty() {
            let default = if io::stdin().is_terminal() { "." } else { "-" };
            paths.push(default.into());
        }
        let input = paths.iter().any(|path| path.as_os_str() == "-");
        let found = paths
            .into_iter()
            .flat_map(move |path| sources_at(path, wanted));
        Ok(Self {
            found: Box::new(found),
            input,
        })
    }

    /// Whether somebody may have yet to write one of the texts.
    pub(super) fn waits_for_input(&self) -> bool {
        self.input
    }
}

impl Iterator for Sources {
    type Item = Source;

    fn next(&mut self) -> Option<Source> {
        self.found.next()
    }
}

/// The texts at a path somebody named.
fn sources_at(path: PathBuf, wanted: Wanted) -> Box<dyn Iterator<Item = Source>> {
    if path.as_os_str() == "-" {
        return Box::new(std::iter::once(Source::Input));
    }
    match path.metadata() {
        Ok(about) if about.is_dir() => {
            Box::new(Walk::new(&path, wanted).map(|found| match found {
                Ok(file) => Source::File(file),
                Err((path, error)) => Source::Problem(
                    path,
                    format!("the directory cannot be read ({})", error.kind()),
                ),
            }))
        }
        // A pipe is as good as a file: somebody named it.
        Ok(_) => Box::new(std::iter::once(Source::File(path))),
        Err(error) => Box::new(std::iter::once(Source::Problem(path, in_words(&error)))),
    }
}

impl Source {
    /// How it is called in output.
    pub(super) fn name(&self) -> String {
        match self {
            Source::Input => "stdin".into(),
            Source::File(path)
            | Source::Staged(_, path)
            | Source::Removed(path)
            | Source::Problem(path, _) => {
                let short = path.strip_prefix(".").unwrap_or(path);
                let short = if short.as_os_str().is_empty() {
                    path
                } else {
                    short
                };
                short.display().to_string()
            }
        }
    }

    /// Inspects it.
    pub(super) fn scan(&self, look: &Look) -> Result<Scanned, String> {
        let origin = look.origin.unwrap_or(match self {
            Source::Input => Origin::Tool,
            Source::File(_) | Source::Staged(..) | Source::Removed(_) | Source::Problem(..) => {
                Origin::File
            }
        });
        let name = self.name();
        let mut scanned = match self {
            Source::Input => look.read(&name, &mut io::stdin().lock(), origin),
            Source::File(path) => {
                File::open(path).and_then(|mut file| look.read(&name, &mut file, origin))
            }
            Source::Staged(here, path) => {
                read_staged(here, path, |text| look.read(&name, text, origin))
            }
            Source::Removed(_) => Ok(Scanned::default()),
            Source::Problem(_, problem) => return Err(problem.clone()),
        }
        .map_err(|error| in_words(&error))?;
        let whole = |max| match self {
            Source::File(path) => {
                File::open(path).and_then(|mut file| read_bounded(&mut file, max).map(Some))
            }
            Source::Staged(here, path) => {
                read_staged(here, path, |text| read_bounded(text, max)).map(Some)
            }
            Source::Input | Source::Removed(_) | Source::Problem(..) => Ok(None),
        };
        look.compare(self, &name, &whole, &mut scanned)?;
        Ok(scanned)
    }
}
