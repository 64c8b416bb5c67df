//! What exactly a release is for: the call, who makes it, the policy, the files it names as they
//! were, the terms it was answered on (invariant 6).

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use holdpoint_broker::changes::{ABSENT, SAID};
use holdpoint_broker::{CallContext, Terms};
use holdpoint_core::{Action, Decision, PathVerb};
#[cfg(unix)]
use holdpoint_sandbox::places;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::modules::Modules;
use super::pushes::{Push, short as short_commit, shown_url};
use super::{modules, pushes};
use crate::escape_for_display;
use crate::excerpt::text_without_secrets;

/// The most files that are looked into, so that a person's answer is not kept waiting; further ones are known by size,
/// number and time.
const MAX_FILES: usize = 256;

/// The most bytes of all files together, for the same reason; further files are known by size, number and time.
const MAX_BYTES: u64 = 128 << 20;

/// The most bytes of one file; a larger one is known by its size, number and time.
const MAX_FILE: u64 = 32 << 20;

/// The most parts that are kept with a request, so that it stays small. Of a change in what lies beyond it is only said that
/// there is one.
const MAX_PARTS: usize = 200;

/// What a call brings along besides the files it names.
#[derive(Default)]
pub(super) struct Loaded {
    /// What its scripts load.
    pub(super) modules: Modules,
    /// What it pushes.
    pub(super) pushes: Vec<Push>,
}

impl Loaded {
    pub(super) fn of_call(
        asked: &CallContext,
        action: &Action,
        decision: &Decision,
        paths: &[(String, PathVerb)],
        home: Option<&Path>,
    ) -> Self {
        Self {
            modules: modules::loaded(asked, action, decision, paths),
            pushes: pushes::pushes(asked, action, home),
        }
    }
}

/// What a release is bound to.
pub(super) struct Binding {
    /// `sha256:…` over everything: what runs, and what a person read of it.
    pub(super) whole: String,
    /// The same without the card, as versions made it that did not bind that. Releases they stored still count.
    pub(super) former: String,
    /// Its parts, by which it can be said what changed.
    pub(super) parts: BTreeMap<String, String>,
}

/// The binding of a call with this card.
pub(super) fn for_call(
    asked: &CallContext,
    decision: &Decision,
    paths: &[(String, PathVerb)],
    loaded: &Loaded,
    terms: &Terms,
    card: &str,
) -> Binding {
    let described = described(asked, decision, paths, loaded, terms);
    let former = holdpoint_core::digest_of(described.to_string().as_bytes());
    let whole = json!({"v": 2, "call": former, "card": card, "presence": terms.presence});
    Binding {
        whole: holdpoint_core::digest_of(whole.to_string().as_bytes()),
        former,
        parts: parts(asked, &described, card, &loaded.pushes),
    }
}

/// The parts of a binding, each with a word for its state, so that it can be said which is another.
fn parts(
    asked: &CallContext,
    described: &Value,
    card: &str,
    pushes: &[Push],
) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    let mut part = |name: String, state: &str| {
        if parts.len() < MAX_PARTS {
            parts.insert(name, state.to_owned());
        }
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    part("the policy".into(), &short(&text(&described["policy"])));
    part("what is shown of it".into(), &short(card));
    let terms = ["deadline", "required", "approvers", "phrase"];
    let terms: Vec<&Value> = terms.iter().map(|name| &described[*name]).collect();
    let digest = |value: &Value| short(&holdpoint_core::digest_of(value.to_string().as_bytes()));
    part(
        "who is asked, or for how long".into(),
        &digest(&json!(terms)),
    );
    if !described["facts"].is_null() {
        let facts = &described["facts"];
        part("a fact a rule asks about".into(), &digest(facts));
    }
    for push in pushes {
        let urls: Vec<String> = push.urls.iter().map(|url| shown_url(url)).collect();
        let remote = format!("`{}`", shown_url(&push.remote));
        part(remote, &format!("{SAID}{}", urls.join(" and ")));
        for (name, commit) in &push.refs {
            let commit = commit.as_deref().unwrap_or("nothing");
            let name = format!("`{}`", escape_for_display(name, 100));
            part(name, &format!("{SAID}{}", short_commit(commit)));
        }
    }
    for list in ["scripts", "files", "modules"] {
        for file in described[list].as_array().into_iter().flatten() {
            let name = name_of_part(&text(&file["path"]), &asked.workspace);
            let state = match (file["state"].as_str(), file["digest"].as_str()) {
                (Some("absent"), _) => ABSENT.to_owned(),
                (Some(state), _) | (None, Some(state)) => digest(&json!(state)),
                (None, None) => String::new(),
            };
            part(name, &state);
        }
    }
    parts
}

/// The name of a file among the parts.
pub(super) fn name_of_part(path: &str, workspace: &str) -> String {
    let below = Path::new(path).strip_prefix(workspace);
    let shown = below.ok().and_then(Path::to_str).unwrap_or(path);
    let shown = escape_for_display(&text_without_secrets(shown), 200);
    format!("`{shown}`")
}

/// The start of a digest, which is enough to tell two states of one thing apart for a person; what is bound is the whole.
fn short(digest: &str) -> String {
    digest.chars().skip("sha256:".len()).take(12).collect()
}

/// Everything that was shown. Releases are stored with the digest of exactly this text, so a version
/// that words it differently forgets every release of the one before.
pub(super) fn described(
    asked: &CallContext,
    decision: &Decision,
    paths: &[(String, PathVerb)],
    loaded: &Loaded,
    terms: &Terms,
) -> Value {
    let scripts = decision
        .files
        .iter()
        .map(|file| json!({"path": file.path, "digest": file.digest}));
    // What a call that only looks reads may change while somebody thinks about it, as a log does.
    // What another one reads it sends, installs or carries out.
    let mut left = Left::default();
    let touched = paths
        .iter()
        .filter(|(_, verb)| *verb != PathVerb::Read || !decision.only_looks)
        .map(
            |(path, verb)| json!({"path": path, "what": verb, "state": state_of(Path::new(path), &mut left)}),
        );
    let mut whole = json!({
        "agent": asked.agent,
        "session": asked.session,
        "workspace": asked.workspace,
        "call": decision.call,
        "policy": decision.policy,
        "scripts": scripts.collect::<Vec<_>>(),
        "files": touched.collect::<Vec<_>>(),
        // The rules that would be left change with the session; they are no part of what runs.
        "deadline": terms.deadline,
        "required": terms.required,
        "approvers": terms.approvers,
        "phrase": terms.phrase,
    });
    // On another branch it is another call. Without such facts the text is as it was before there were any.
    let facts: Vec<_> = (decision.facts.iter())
        .filter(|fact| fact.is_of_the_project())
        .collect();
    if let (false, Some(fields)) = (facts.is_empty(), whole.as_object_mut()) {
        fields.insert("facts".into(), json!(facts));
    }
    // The same for what scripts load. The scripts themselves come first in what may be looked into.
    let modules: Vec<_> = (loaded.modules.files.iter())
        .map(|path| json!({"path": path.to_string_lossy(), "state": state_of(path, &mut left)}))
        .collect();
    if let (false, Some(fields)) = (modules.is_empty(), whole.as_object_mut()) {
        fields.insert("modules".into(), json!(modules));
    }
    // And for what is pushed.
    if let (false, Some(fields)) = (loaded.pushes.is_empty(), whole.as_object_mut()) {
        fields.insert("pushes".into(), json!(loaded.pushes));
    }
    whole
}

/// What may still be looked into.
struct Left {
    bytes: u64,
    paths: usize,
}

impl Default for Left {
    fn default() -> Self {
        Self {
            bytes: MAX_BYTES,
            paths: MAX_FILES,
        }
    }
}

impl Left {
    /// Whether a file of so many bytes is looked into.
    fn takes(&mut self, bytes: u64) -> bool {
        if self.paths == 0 || bytes > MAX_FILE.min(self.bytes) {
            return false;
        }
        self.bytes -= bytes;
        true
    }
}

/// What stands at a path, as far as a change of it can be told.
fn state_of(path: &Path, left: &mut Left) -> String {
    let state = looked_at(path, left);
    left.paths = left.paths.saturating_sub(1);
    state
}

fn looked_at(path: &Path, left: &mut Left) -> String {
    let Ok(found) = fs::symlink_metadata(path) else {
        return "absent".into();
    };
    if found.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        return format!("link to {}", target.display());
    }
    if found.is_dir() {
        return "directory".into();
    }
    if !found.is_file() {
        return "special".into();
    }
    let outside = || format!("{} bytes, {}", found.len(), last_change(&found));
    if !left.takes(found.len()) {
        return outside();
    }
    content_of(path).unwrap_or_else(|| format!("unreadable, {}", outside()))
}

/// When a file was last changed, by the clock nobody can set back for one file.
#[cfg(unix)]
fn last_change(found: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!(
        "{} at {}.{:09}",
        found.ino(),
        found.ctime(),
        found.ctime_nsec()
    )
}

#[cfg(not(unix))]
fn last_change(found: &fs::Metadata) -> String {
    format!("{:?}", found.modified().ok())
}

fn content_of(path: &Path) -> Option<String> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    // A pipe that took the file's place this moment is not waited for.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, places::AS_IT_IS);
    let mut file = options.open(path).ok()?.take(MAX_FILE + 1);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 64 << 10];
    loop {
        let length = file.read(&mut buffer).ok()?;
        if length == 0 {
            break;
        }
        hasher.update(buffer.get(..length)?);
    }
    let digest = hasher.finalize();
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_is_another_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deploy.sh");
        let state_of = |path: &Path| state_of(path, &mut Left::default());
        assert_eq!(state_of(&path), "absent");
        fs::write(&path, "echo one").unwrap();
        let one = state_of(&path);
        fs::write(&path, "echo two").unwrap();
        assert_ne!(one, state_of(&path));
        fs::write(&path, "echo one").unwrap();
        assert_eq!(one, state_of(&path));
    }

    #[test]
    fn a_file_behind_the_last_that_is_looked_into_is_another_file_too() {
        let directory = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..MAX_FILES + 10)
            .map(|number| directory.path().join(number.to_string()))
            .collect();
        for path in &paths {
            fs::write(path, "one").unwrap();
        }
        let states = || {
            let mut left = Left::default();
            let states = paths.iter().map(|path| state_of(path, &mut left));
            states.collect::<Vec<String>>()
        };
        let before = states();
        assert_eq!(before, states());
        let last = paths.last().unwrap();
        // The clock of a file system may tick a hundred times a second.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(last, "two").unwrap();
        let after = states();
        assert_ne!(before.last(), after.last());
        assert_eq!(before[..MAX_FILES], after[..MAX_FILES]);
    }
}
