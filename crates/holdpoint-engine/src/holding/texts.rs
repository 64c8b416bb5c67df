//! The texts a held call rests on: its scripts, what they load and what it changes. They are kept with the question, bounded and
//! without secrets, so that whoever answers later hears what is another and not only that something is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use holdpoint_broker::CallContext;
use holdpoint_core::{Decision, PathVerb};

use super::binding::{Loaded, name_of_part};
use crate::excerpt::showing;
use crate::store::read_bounded;

/// The most bytes of one text, and of all of them: a request stays small enough to be stored and sent as before. A longer one is
/// only named, since half of one might end in half of a secret.
const MAX_TEXT: u64 = 16 << 10;
const MAX_TEXTS: usize = 64 << 10;

/// The most files that are looked at for it.
const MAX_FILES: usize = 32;

/// The texts of a call by the names of their parts. What it only reads is left out, for that may be what is to be kept from others,
/// and so is what lies outside of the workspace or may not be read by the agent, which hears what changed.
pub(super) fn of_call(
    asked: &CallContext,
    decision: &Decision,
    paths: &[(String, PathVerb)],
    loaded: &Loaded,
    may_be_read: &dyn Fn(&str) -> bool,
) -> BTreeMap<String, String> {
    let scripts = decision.files.iter().map(|file| Path::new(&*file.path));
    let changed = paths
        .iter()
        .filter(|(_, verb)| *verb != PathVerb::Read)
        .map(|(path, _)| Path::new(path));
    let modules = loaded.modules.files.iter().map(|path| path.as_path());
    let Ok(workspace) = fs::canonicalize(&asked.workspace) else {
        return BTreeMap::new();
    };
    // A link in the workspace may lead to somebody's keys.
    let within =
        |path: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(&workspace));
    let redactor = showing();
    let mut left = MAX_TEXTS;
    let mut texts = BTreeMap::new();
    for path in scripts.chain(modules).chain(changed).take(MAX_FILES) {
        let Some(shown) = path.to_str().filter(|_| within(path)) else {
            continue;
        };
        let name = name_of_part(shown, &asked.workspace);
        if texts.contains_key(&name) {
            continue;
        }
        let Some(text) = text_at(path).filter(|text| text.len() <= left) else {
            continue;
        };
        if !may_be_read(shown) {
            continue;
        }
        left = left.saturating_sub(text.len());
        texts.insert(name, redactor.text(&text).into_string());
    }
    texts
}

/// The text at a path; none of what is long, no file or no text.
fn text_at(path: &Path) -> Option<String> {
    let bytes = read_bounded(path, MAX_TEXT).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}
