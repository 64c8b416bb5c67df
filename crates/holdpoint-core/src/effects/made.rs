//! What can be taken away without a loss: what the line makes itself, what its session has made, and what git has to the byte.

use super::places::{
    ALL_FILES, COMMITTED, DEVICE, FRESH, HOME, OUTSIDE, Place, Places, ROOT, SYSTEM, TEMPORARY,
    UNKNOWN_PLACE, WORKSPACE, WORKSPACE_ROOT,
};
use super::{Effect, EffectKind};
use crate::paths::{Entry, Lookup, Tracking, is_within};
use crate::rules::MOVERS;
use crate::shell::UNKNOWN;
use crate::understand::CommandView;

/// The most entries of a directory, and of those below it, that are looked at to know whether git has all of it:
/// what people mean to delete without a thought has fewer, and each is a look at the disk. A larger one counts as lost.
pub(crate) const MAX_ENTRIES: usize = 2_000;

/// Directories the commands of a line have made so far, where nothing lay before.
#[derive(Default)]
pub(super) struct Made {
    directories: Vec<String>,
    /// Something may have been moved into them.
    moved: bool,
}

impl Made {
    /// Makes what a command deletes fresh as far as the line has made it, and takes note of what it makes.
    pub(super) fn pass(&mut self, view: &CommandView, places: &Places<'_>, effects: &mut [Effect]) {
        let Some(program) = view.program() else {
            return;
        };
        self.moved |= MOVERS.contains(program);
        let makes = matches!(program, "mkdir" | "gmkdir");
        for effect in effects.iter_mut() {
            self.mark_regained(places, effect);
        }
        for effect in effects {
            let Some(path) = effect.place.path.clone() else {
                continue;
            };
            let deletes = effect.kind == EffectKind::Delete
                && !self.moved
                && effect.classes & (WORKSPACE | TEMPORARY) != 0
                && self.directories.iter().any(|made| is_within(&path, made));
            let writes = effect.kind == EffectKind::Write && makes && !effect.dynamic;
            if !(deletes || writes) || !places.is_free(&effect.place) {
                continue;
            }
            if deletes {
                effect.classes = effect.classes & !(WORKSPACE | TEMPORARY) | FRESH;
            } else {
                self.directories.push(path);
            }
        }
    }

    /// Says of a deletion that it takes what the session has made, or what git has: nobody loses anything by the first, and
    /// the second can be brought back. A command before it in the line may have put something else there.
    fn mark_regained(&self, places: &Places<'_>, effect: &mut Effect) {
        let plain = effect.kind == EffectKind::Delete && !effect.dynamic && !effect.glob;
        let elsewhere = WORKSPACE | TEMPORARY | OUTSIDE;
        if !plain || self.moved || effect.classes & elsewhere == 0 || effect.classes & WIDE != 0 {
            return;
        }
        let Some(path) = named_whole(&effect.place) else {
            return;
        };
        let lookup = places.lookup();
        if lookup.is_own(path) {
            effect.classes = effect.classes & !elsewhere | FRESH;
        } else if effect.classes & WORKSPACE != 0 && is_committed(lookup, path, effect.recursive) {
            effect.classes = effect.classes & !WORKSPACE | COMMITTED;
        }
    }
}

/// Places that are more than what a line names.
const WIDE: u64 = ROOT | HOME | SYSTEM | DEVICE | WORKSPACE_ROOT | ALL_FILES | UNKNOWN_PLACE;

/// The path of a place that stands for itself alone.
fn named_whole(place: &Place) -> Option<&str> {
    let path = place.path.as_deref()?;
    (!path.contains(['*', '?', '[', UNKNOWN])).then_some(path)
}

/// Whether git has what is at a path to the byte. What is not there is nothing git has.
fn is_committed(lookup: &dyn Lookup, path: &str, recursive: bool) -> bool {
    match lookup.entry(path) {
        Entry::Directory => recursive && all_in(lookup, path, &|path| tracked(lookup, path)),
        Entry::Link(_) | Entry::Other => tracked(lookup, path),
        Entry::Missing | Entry::Unreadable => false,
    }
}

fn tracked(lookup: &dyn Lookup, path: &str) -> bool {
    lookup.tracking(path) == Tracking::Committed
}

/// Whether something holds of all that is in a directory and below it.
pub(crate) fn all_in(lookup: &dyn Lookup, directory: &str, holds: &dyn Fn(&str) -> bool) -> bool {
    let mut left = MAX_ENTRIES;
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let Some(names) = lookup.names(&directory, left) else {
            return false;
        };
        left = left.saturating_sub(names.len() + 1);
        for (name, is_directory) in names {
            let path = format!("{}/{name}", directory.trim_end_matches('/'));
            match is_directory {
                // A repository of its own has what its index does not say.
                true if name == ".git" => return false,
                true => open.push(path),
                false if !holds(&path) => return false,
                false => {}
            }
        }
    }
    true
}
