//! Which files are read.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::bail;
use holdpoint_agents::replay::{MAX_FILES, known_places, project_root, transcripts_in};
use holdpoint_engine::Locations;

use crate::commands::in_words;
use crate::terminal::escape_for_display;

/// The files of a run.
#[derive(Debug, Default)]
pub(in crate::commands) struct Sources {
    pub(super) files: Vec<Source>,
    /// Places that were named and cannot be read.
    pub(super) unread: Vec<(String, String)>,
    /// Directories that were named, by whose files it is seen whether there is a transcript in them.
    pub(super) directories: Vec<String>,
}

/// One input.
#[derive(Debug)]
pub(super) struct Source {
    /// How it is called in output.
    pub(super) name: String,
    path: Option<PathBuf>,
    bytes: u64,
    /// The directory it was found in; none for a file that was named.
    pub(super) found_in: Option<usize>,
}

impl Sources {
    /// The files at the paths given, or where agents leave them.
    pub(in crate::commands) fn find(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let mut sources = Sources::default();
        if paths.is_empty() {
            let home = Locations::of_this_machine().home;
            let places = home.as_deref().map(known_places).unwrap_or_default();
            if places.is_empty() {
                bail!("no agent has left transcripts in your home: name files or directories");
            }
            for place in places {
                sources.add_directory(&place);
            }
            // Nobody named them, so nobody misses a transcript in one of them.
            sources.directories.clear();
        }
        for path in paths {
            sources.add(path);
        }
        Ok(sources)
    }

    /// The bytes of all of them, as far as they are known.
    pub(in crate::commands) fn bytes(&self) -> u64 {
        self.files.iter().map(|source| source.bytes).sum()
    }

    fn add(&mut self, path: &Path) {
        if path.as_os_str() == "-" {
            self.files.push(Source {
                name: "-".into(),
                path: None,
                bytes: 0,
                found_in: None,
            });
            return;
        }
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => self.add_directory(path),
            // A pipe is as good as a file: somebody named it.
            Ok(about) => self.files.push(Source {
                name: name_of(path),
                path: Some(path.to_owned()),
                bytes: about.len(),
                found_in: None,
            }),
            Err(error) => self.unread.push((name_of(path), in_words(&error))),
        }
    }

    fn add_directory(&mut self, path: &Path) {
        let found = transcripts_in(path);
        for (directory, kind) in found.unreadable {
            self.unread.push((
                name_of(&directory),
                format!("the directory cannot be read ({kind})"),
            ));
        }
        if found.cut {
            self.unread.push((
                name_of(path),
                format!("there are more than {MAX_FILES} files in it, or it is too deep: name a part of it"),
            ));
        }
        let index = self.directories.len();
        self.directories.push(name_of(path));
        self.files
            .extend(found.files.into_iter().map(|(path, bytes)| Source {
                name: name_of(&path),
                path: Some(path),
                bytes,
                found_in: Some(index),
            }));
    }
}

impl Source {
    pub(super) fn open(&self) -> Result<Box<dyn BufRead + Send>, String> {
        const BUFFER: usize = 1 << 16;
        match &self.path {
            None => Ok(Box::new(BufReader::with_capacity(BUFFER, io::stdin()))),
            Some(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(BufReader::with_capacity(BUFFER, file))),
                Err(error) => Err(in_words(&error)),
            },
        }
    }

    /// The directory its agent was started in, where a file beside it says so.
    pub(super) fn project_root(&self) -> Option<String> {
        project_root(self.path.as_deref()?)
    }
}

fn name_of(path: &Path) -> String {
    escape_for_display(&path.display().to_string(), 500)
}
