//! Putting back what stood where.
//!
//! A plan says what differs now; carrying it out copies the present state first, so that it can be
//! taken back in turn. Each file is put back in one step.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::PathVerb;

use super::Backups;
use super::error::BackupError;
use super::making::{About, copy};
use super::manifest::{Entry, Kind, Manifest, Purpose, Root};
use super::raw_path::RawPath;
use super::state;
use crate::plain_words;
use crate::walk_tree::{Reach, walk_tree};

/// What restoring a backup changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What is different now, a directory before what is in it.
    pub changes: Vec<Change>,
    /// How many paths are as they were.
    pub same: usize,
}

/// A path that is different now.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path.
    pub path: PathBuf,
    /// What stands there now.
    pub now: Kind,
    /// What stood there.
    pub then: Kind,
}

/// What was restored.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// The backup of what was there before.
    pub kept: String,
    /// How many paths were changed.
    pub changed: usize,
}

pub(super) fn plan(backups: &Backups, manifest: &Manifest) -> Result<Plan, BackupError> {
    let mut plan = Plan::default();
    let known: BTreeSet<&Path> = manifest
        .entries
        .iter()
        .map(|entry| entry.path.as_path())
        .collect();
    // Directories a link stands in the place of by now: what was in them is not where the link leads.
    let mut replaced: Vec<&Path> = Vec::new();
    for Entry { path, kind } in &manifest.entries {
        let path = path.as_path();
        let now = if replaced.iter().any(|above| path.starts_with(above)) {
            Kind::Absent
        } else {
            is_where_it_was(path)?;
            state::now(path)?
        };
        if matches!((&now, kind), (Kind::Link { .. }, Kind::Directory { .. })) {
            replaced.push(path);
        }
        if now == *kind {
            plan.same += 1;
            continue;
        }
        plan.changes.push(Change {
            path: path.to_owned(),
            now,
            then: kind.clone(),
        });
    }
    for path in new_below(backups, manifest, &known)? {
        plan.changes.push(Change {
            now: state::now(&path)?,
            path,
            then: Kind::Absent,
        });
    }
    for change in &plan.changes {
        if let Kind::File { object, .. } = &change.then
            && !backups.objects().is_whole(object)
        {
            return Err(BackupError::Lost(change.path.clone()));
        }
    }
    plan.changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(plan)
}

/// What stands now in directories that were copied because something is written there, and did not
/// then; of a whole directory only itself.
fn new_below(
    backups: &Backups,
    manifest: &Manifest,
    known: &BTreeSet<&Path>,
) -> Result<Vec<PathBuf>, BackupError> {
    let mut new: Vec<PathBuf> = Vec::new();
    let written = manifest
        .roots
        .iter()
        .filter(|root| root.verb == PathVerb::Write);
    for root in written {
        let was_directory = manifest
            .entries
            .iter()
            .any(|entry| entry.path == root.path && matches!(entry.kind, Kind::Directory { .. }));
        if !was_directory {
            continue;
        }
        let reach = Reach {
            entries: backups.limits.entries.saturating_mul(2),
            until: None,
        };
        let found = walk_tree(root.path.as_path(), reach);
        if found.cut {
            return Err(BackupError::TooMany(backups.limits.entries));
        }
        for (path, _) in found.entries {
            let below_new = new.last().is_some_and(|above| path.starts_with(above));
            if !known.contains(path.as_path()) && !below_new && !new.contains(&path) {
                new.push(path);
            }
        }
    }
    Ok(new)
}

/// A link on the way that was none would lead the restored file elsewhere.
fn is_where_it_was(path: &Path) -> Result<(), BackupError> {
    let parent = path.parent().unwrap_or(path);
    let nearest = parent
        .ancestors()
        .find(|place| place.symlink_metadata().is_ok());
    let Some(nearest) = nearest else {
        return Ok(());
    };
    match nearest.canonicalize() {
        Ok(real) if real == nearest => Ok(()),
        Ok(_) => Err(BackupError::Moved(path.to_owned())),
        Err(error) => Err(BackupError::unreadable(nearest, &error)),
    }
}

pub(super) fn restore(
    backups: &Backups,
    manifest: &Manifest,
    plan: &Plan,
) -> Result<Restored, BackupError> {
    // Two at once would each keep half of what the other put there.
    let _held = crate::store::lock(&backups.directory.join("undo"))
        .map_err(|error| BackupError::unwritten(&backups.directory, &error))?;
    // What is below such a link comes back with the directory, and is nothing that stands there now.
    let replaced: Vec<&Path> = plan
        .changes
        .iter()
        .filter(|change| {
            matches!(
                (&change.now, &change.then),
                (Kind::Link { .. }, Kind::Directory { .. })
            )
        })
        .map(|change| change.path.as_path())
        .collect();
    let stands = |change: &&Change| {
        let path = change.path.as_path();
        !replaced
            .iter()
            .any(|above| path != *above && path.starts_with(above))
    };
    for change in plan.changes.iter().filter(stands) {
        if state::now(&change.path)? != change.now {
            return Err(BackupError::Stale(change.path.clone()));
        }
    }
    let roots = plan.changes.iter().filter(stands).map(|change| Root {
        path: RawPath(change.path.clone()),
        // What is put back is new to the present state.
        verb: PathVerb::Write,
    });
    let about = About {
        purpose: Purpose::Undo(manifest.id.clone()),
        call: &manifest.call,
        about: &manifest.about,
        left_out: Vec::new(),
    };
    let kept = copy(backups, about, roots.collect())?;
    let unrestored = |path: &Path, error: &io::Error| {
        BackupError::Unrestored(path.to_owned(), plain_words(error), kept.id.clone())
    };
    // What goes, the deepest first; then what comes, from the top.
    for change in plan.changes.iter().rev() {
        if stands_in_the_way(change) {
            is_where_it_was(&change.path)?;
            remove(&change.path).map_err(|error| unrestored(&change.path, &error))?;
        }
    }
    // What was not there then is gone by now; the way to it may be, too.
    let comes = |change: &&Change| change.then != Kind::Absent;
    for change in plan.changes.iter().filter(comes) {
        is_where_it_was(&change.path)?;
        put_back(backups, change).map_err(|error| unrestored(&change.path, &error))?;
    }
    // Last, so that a directory nobody may write to could be filled before.
    for change in plan.changes.iter().rev() {
        if let Kind::Directory { mode } = change.then {
            set_mode(&change.path, mode).map_err(|error| unrestored(&change.path, &error))?;
        }
    }
    Ok(Restored {
        kept: kept.id,
        changed: plan.changes.len(),
    })
}

/// Whether what stands there must go first: it is replaced by nothing, or by something a rename
/// cannot put in its place.
fn stands_in_the_way(change: &Change) -> bool {
    let is_directory = |kind: &Kind| matches!(kind, Kind::Directory { .. });
    match (&change.now, &change.then) {
        (Kind::Absent, _) => false,
        (_, Kind::Absent) => true,
        (now, then) => is_directory(now) != is_directory(then),
    }
}

/// Removes a file, a link, or a directory with all that is in it; links are not followed.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        // It went with the directory it was in.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn put_back(backups: &Backups, change: &Change) -> io::Result<()> {
    let path = change.path.as_path();
    if change.then != Kind::Absent
        && let Some(parent) = path.parent()
    {
        fs::create_dir_all(parent)?;
    }
    match &change.then {
        Kind::Absent => Ok(()),
        Kind::Directory { .. } if path.is_dir() => set_mode(path, 0o700),
        Kind::Directory { .. } => fs::create_dir(path),
        Kind::Link { target } => {
            let draft = draft_beside(path)?;
            link(target.as_path(), &draft)?;
            renamed(&draft, path)
        }
        Kind::File { mode, object, .. } => {
            let draft = draft_beside(path)?;
            let mut options = OpenOptions::new();
            options.create_new(true).write(true);
            crate::store::private(&mut options);
            let mut file = options.open(&draft)?;
            let written = backups
                .objects()
                .write_to(object, &mut file)
                .and_then(|()| set_mode(&draft, *mode))
                .and_then(|()| file.sync_data());
            if let Err(error) = written {
                let _ = fs::remove_file(&draft);
                return Err(error);
            }
            renamed(&draft, path)
        }
    }
}

fn renamed(draft: &Path, path: &Path) -> io::Result<()> {
    let renamed = fs::rename(draft, path);
    if renamed.is_err() {
        let _ = fs::remove_file(draft);
    }
    renamed
}

/// A name in the same directory that nothing has.
fn draft_beside(path: &Path) -> io::Result<PathBuf> {
    let chance = holdpoint_ledger::unguessable()?;
    let name: String = chance
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(path.with_file_name(format!(".holdpoint-undo-{name}")))
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn link(_target: &Path, _at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
