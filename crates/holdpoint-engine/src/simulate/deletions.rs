//! What would be removed and overwritten: counted on the disk, within bounds.

use std::path::Path;
use std::time::{Duration, Instant};

use holdpoint_core::ExplainedEffect;

use super::{Known, MAX_LISTED, NO_SIMULATION};
use crate::glob_expand::glob_expand;
use crate::humanize::{bytes, counted};
use crate::walk_tree::{Reach, walk_tree};

/// The most entries that are counted: a person decides nothing else for more. The figure then says "at least".
const MAX_COUNTED: usize = 200_000;

/// How long counting may take, since a person waits for it. The figure then says "at least".
const MAX_TIME: Duration = Duration::from_secs(3);

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Count {
    files: usize,
    directories: usize,
    bytes: u64,
    first: Vec<String>,
    listed: usize,
    cut: bool,
    unreadable: usize,
}

impl Count {
    /// Adds what stands at a path, and what is below it if whole directories go.
    pub(super) fn add(&mut self, path: &Path, whole: bool, until: Instant) {
        let reach = Reach {
            entries: match whole {
                true => MAX_COUNTED.saturating_sub(self.files + self.directories),
                false => 1,
            },
            until: Some(until),
        };
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let found = walk_tree(path, reach);
        self.cut |= found.cut && (whole || !is_directory);
        self.unreadable += found.unreadable.len();
        for (path, metadata) in found.entries {
            if metadata.is_dir() {
                self.directories += 1;
            } else {
                self.files += 1;
                self.bytes = self.bytes.saturating_add(metadata.len());
            }
            self.listed += 1;
            if self.first.len() < MAX_LISTED {
                let mut name = path.display().to_string();
                if metadata.is_dir() && !name.ends_with('/') {
                    name.push('/');
                }
                self.first.push(name);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files + self.directories == 0
    }

    /// `removes 3 files and 1 directory, 12.3 kB`, and the first of them.
    pub(super) fn lines(&self, verb: &str) -> Vec<String> {
        let least = if self.cut { "at least " } else { "" };
        let mut lines = vec![format!(
            "{verb} {least}{} and {}, {}",
            counted(self.files, "file"),
            plural_directories(self.directories),
            bytes(self.bytes)
        )];
        lines.extend(self.first.iter().map(|path| format!("  {path}")));
        let more = self.listed.saturating_sub(self.first.len());
        if more > 0 {
            lines.push(format!("  … and {more} more"));
        }
        if self.cut {
            lines.push("counting was stopped: there is more".into());
        }
        if self.unreadable > 0 {
            let places = counted(self.unreadable, "directory").replace("directorys", "directories");
            lines.push(format!("{places} cannot be looked into"));
        }
        lines
    }

    /// Whether everything was seen.
    pub(super) fn is_whole(&self) -> bool {
        !self.cut && self.unreadable == 0
    }
}

fn plural_directories(count: usize) -> String {
    match count {
        1 => "1 directory".to_owned(),
        count => counted(count, "directorie"),
    }
}

/// What the effects of a command or a tool would remove and overwrite.
pub(super) fn simulate(program: Option<&str>, effects: &[ExplainedEffect]) -> Known {
    let until = Instant::now() + MAX_TIME;
    let mut lines = Vec::new();
    let mut complete = true;
    let mut removed = Count::default();
    let mut refused = Vec::new();
    let mut written: Vec<String> = Vec::new();
    for effect in effects {
        let known = effect.path.as_deref().filter(|path| !path.contains('…'));
        match (effect.kind, known) {
            ("read" | "list" | "run", _) => {}
            ("delete", Some(path)) if program == Some("mv") => {
                let moved = glob_expand(path, MAX_LISTED).paths;
                written.extend(moved.iter().map(|path| format!("moves {}", path.display())));
            }
            ("delete", Some(path)) => {
                let found = glob_expand(path, MAX_COUNTED);
                removed.cut |= found.cut;
                for path in found.paths {
                    let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
                    match is_directory && !effect.recursive && program == Some("rm") {
                        true => refused.push(path),
                        false => removed.add(&path, effect.recursive, until),
                    }
                }
            }
            ("write" | "append" | "mode" | "owner", Some(path)) => {
                for path in glob_expand(path, MAX_LISTED).paths {
                    let line = writes(effect.kind, &path);
                    if !written.contains(&line) {
                        written.push(line);
                    }
                }
            }
            ("delete" | "write" | "append" | "mode" | "owner", None) => {
                complete = false;
                lines.push(format!(
                    "where `{}` leads is only known when it runs",
                    effect.text
                ));
            }
            (_, _) => {
                complete = false;
                let what = format!("{NO_SIMULATION} of what else it does ({})", effect.kind);
                if !lines.contains(&what) {
                    lines.push(what);
                }
            }
        }
    }
    let removes = effects.iter().any(|effect| effect.kind == "delete") && program != Some("mv");
    if removes && !removed.is_empty() {
        complete &= removed.is_whole();
        lines.extend(removed.lines("removes"));
    } else if removes && refused.is_empty() && complete {
        lines.push("removes nothing: there is nothing at that place".into());
    }
    for directory in refused {
        lines.push(format!(
            "{} is a directory, which `rm` leaves alone without -r",
            directory.display()
        ));
    }
    lines.extend(written);
    if lines.is_empty() {
        return Known::nothing(NO_SIMULATION);
    }
    Known { lines, complete }
}

fn writes(kind: &str, path: &Path) -> String {
    let name = path.display();
    match (kind, path.symlink_metadata()) {
        ("mode", _) => format!("changes the permissions of {name}"),
        ("owner", _) => format!("changes the owner of {name}"),
        (_, Err(_)) => format!("makes {name}"),
        (_, Ok(found)) if found.is_dir() => format!("writes into the directory {name}"),
        ("append", Ok(found)) => format!("appends to {name}, {} now", bytes(found.len())),
        (_, Ok(found)) => format!("changes or replaces {name}, {} now", bytes(found.len())),
    }
}
