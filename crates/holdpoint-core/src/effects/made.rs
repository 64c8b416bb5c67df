//! What a line makes and takes away again: nobody loses anything by that.

use super::places::{FRESH, Places, TEMPORARY, WORKSPACE};
use super::{Effect, EffectKind};
use crate::paths::is_within;
use crate::rules::MOVERS;
use crate::understand::CommandView;

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
}
