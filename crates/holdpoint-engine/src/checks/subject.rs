//! What checks look at: the call, and what it names on this disk.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use holdpoint_core::{
    Action, Explained, PathVerb, Surroundings, ToolCall, explained, paths::is_within,
};
use serde_json::Value;

use crate::disk::Disk;
use crate::spread::spread;

/// The most paths a check looks at, so that it ends in its time.
const MAX_PATHS: usize = 2000;

/// A call and what it names.
pub(super) struct Subject {
    pub(super) call: ToolCall,
    pub(super) workspace: PathBuf,
    pub(super) home: Option<PathBuf>,
    explained: Option<Explained>,
    named: Vec<(String, PathVerb)>,
    paths: OnceLock<Vec<(PathBuf, PathVerb)>>,
}

impl Subject {
    pub(super) fn new(
        action: &Action,
        paths: &[(String, PathVerb)],
        workspace: &Path,
        home: Option<&Path>,
    ) -> Self {
        Self {
            call: action.call().clone(),
            explained: explained_in(action, workspace, home),
            workspace: workspace.to_owned(),
            home: home.map(Path::to_owned),
            named: paths.to_vec(),
            paths: OnceLock::new(),
        }
    }

    /// The paths the call names, patterns spread out.
    pub(super) fn paths(&self) -> &[(PathBuf, PathVerb)] {
        self.paths.get_or_init(|| {
            let mut paths = Vec::new();
            for (path, verb) in &self.named {
                let left = MAX_PATHS.saturating_sub(paths.len());
                let found = spread(path, left).paths;
                paths.extend(found.into_iter().map(|path| (path, *verb)));
            }
            paths
        })
    }

    /// The paths the call would make or change.
    pub(super) fn written(&self) -> impl Iterator<Item = &Path> {
        let written = |(_, verb): &&(PathBuf, PathVerb)| *verb == PathVerb::Write;
        self.paths()
            .iter()
            .filter(written)
            .map(|(path, _)| path.as_path())
    }

    /// The ordinary files the call names, whatever it does to them, with their sizes.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Path, PathVerb, u64)> {
        self.paths().iter().filter_map(|(path, verb)| {
            let found = path.metadata().ok().filter(|found| found.is_file())?;
            Some((path.as_path(), *verb, found.len()))
        })
    }

    /// How many bytes of text the arguments hold.
    pub(super) fn text_size(&self) -> u64 {
        let mut sum = 0u64;
        let mut open: Vec<&Value> = self.call.input().values().collect();
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => {
                    sum = sum.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
                }
                Value::Array(items) => open.extend(items),
                Value::Object(fields) => open.extend(fields.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        sum
    }

    /// The call, taken apart; none if where it runs has no name that is text.
    pub(super) fn explained(&self) -> Option<&Explained> {
        self.explained.as_ref()
    }

    /// Whether a path is in the workspace.
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        match (path.to_str(), self.workspace.to_str()) {
            (Some(path), Some(workspace)) => is_within(path, workspace),
            (_, _) => path.starts_with(&self.workspace),
        }
    }
}

fn explained_in(action: &Action, workspace: &Path, home: Option<&Path>) -> Option<Explained> {
    let around = Surroundings {
        workspace: Some(workspace.to_str()?),
        directory: None,
        home: home.and_then(Path::to_str),
        lookup: &Disk,
    };
    Some(explained(action, &around))
}

/// A path as a sentence names it.
pub(super) fn named(path: &Path) -> String {
    crate::text_without_secrets(&crate::shown(&path.display().to_string(), 200))
}

/// The nearest directory above a path that exists.
pub(super) fn nearest(path: &Path) -> &Path {
    path.ancestors()
        .find(|place| place.exists())
        .unwrap_or(Path::new("/"))
}

#[cfg(test)]
impl Subject {
    /// A call in a workspace, with the paths it names.
    pub(super) fn from_call(call: ToolCall, workspace: &Path, home: Option<&Path>) -> Self {
        let policy = holdpoint_core::Policy::compile(Vec::new()).unwrap();
        let around = Surroundings {
            workspace: workspace.to_str(),
            directory: None,
            home: home.and_then(Path::to_str),
            lookup: &Disk,
        };
        let action = holdpoint_core::understand(call, &policy, &around);
        let paths = holdpoint_core::named(&action).paths;
        Self::new(&action, &paths, workspace, home)
    }
}
