//! What checks look at: the call, and what it names on this disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use holdpoint_broker::Status;
use holdpoint_core::{
    Action, Explained, PathVerb, Surroundings, ToolCall, explained, paths::is_within,
};
use serde_json::Value;

use super::CheckOutcome;
use crate::disk::Disk;
use crate::glob_expand::glob_expand;
use crate::plain_words;

/// The most paths a check looks at, so that it ends in its time; of more it says that it could not look at all of them.
const MAX_PATHS: usize = 20_000;

/// A call and what it names.
pub(super) struct Subject {
    pub(super) call: ToolCall,
    pub(super) workspace: PathBuf,
    pub(super) home: Option<PathBuf>,
    explained: Option<Explained>,
    named: Vec<(String, PathVerb)>,
    paths: OnceLock<Result<Vec<(PathBuf, PathVerb)>, CheckOutcome>>,
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

    /// The paths the call names, patterns expanded; what a check says that cannot look at all of
    /// them.
    pub(super) fn paths(&self) -> Result<&[(PathBuf, PathVerb)], CheckOutcome> {
        let paths = self.paths.get_or_init(|| {
            let mut paths = Vec::new();
            for (path, verb) in &self.named {
                let left = MAX_PATHS.saturating_sub(paths.len());
                let found = glob_expand(path, left);
                if found.cut || found.paths.len() > left {
                    let message = format!(
                        "{} stands for more than can be looked at: name fewer paths at a time",
                        path_for_display(Path::new(path))
                    );
                    return Err((Status::Error, message));
                }
                paths.extend(found.paths.into_iter().map(|path| (path, *verb)));
            }
            Ok(paths)
        });
        match paths {
            Ok(paths) => Ok(paths),
            Err(found) => Err(found.clone()),
        }
    }

    /// The paths the call would make or change.
    pub(super) fn written(&self) -> Result<Vec<&Path>, CheckOutcome> {
        let written = |(_, verb): &&(PathBuf, PathVerb)| *verb == PathVerb::Write;
        let written = self.paths()?.iter().filter(written);
        Ok(written.map(|(path, _)| path.as_path()).collect())
    }

    /// The ordinary files the call names, whatever it does to them, with their sizes. What this user
    /// may not look at the call may not either.
    pub(super) fn files(&self) -> Result<Vec<(&Path, PathVerb, u64)>, CheckOutcome> {
        let mut files = Vec::new();
        for (path, verb) in self.paths()? {
            match path.metadata() {
                Ok(found) if found.is_file() => files.push((path.as_path(), *verb, found.len())),
                Ok(_) => {}
                Err(error) if is_nothing(&error) => {}
                Err(error) => {
                    let why = plain_words(&error);
                    let message = format!("{} cannot be looked at ({why})", path_for_display(path));
                    return Err((Status::Error, message));
                }
            }
        }
        Ok(files)
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
        can_contain: false,
    };
    Some(explained(action, &around))
}

/// Whether an error says that there is nothing the call could use.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::InvalidFilename
    )
}

/// A path as a sentence names it.
pub(super) fn path_for_display(path: &Path) -> String {
    crate::text_without_secrets(&crate::escape_for_display(&path.display().to_string(), 200))
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
            can_contain: false,
        };
        let action = holdpoint_core::understand(call, &policy, &around);
        let paths = holdpoint_core::named(&action).paths;
        Self::new(&action, &paths, workspace, home)
    }
}
