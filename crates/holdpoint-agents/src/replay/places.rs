//! Where transcripts are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_engine::store::read_bounded;

/// The most files that are read in one run: years of an agent. Beyond it the run says that there is more.
pub const MAX_FILES: usize = 200_000;

/// How deep directories are walked into: agents keep transcripts three or four deep. What
/// lies deeper is said to be left out.
const MAX_DEPTH: usize = 32;

/// What a walk found.
#[derive(Debug, Default)]
pub struct TranscriptFiles {
    /// Files with their sizes, sorted by path.
    pub files: Vec<(PathBuf, u64)>,
    /// Directories that could not be looked into, and why.
    pub unreadable: Vec<(PathBuf, io::ErrorKind)>,
    /// Whether there is more than was walked.
    pub cut: bool,
}

/// The places the agents on this machine leave transcripts at, as far as they exist.
pub fn known_places(home: &Path) -> Vec<PathBuf> {
    [
        ".claude/projects",
        ".codex/sessions",
        ".codex/archived_sessions",
        ".gemini/tmp",
        ".qwen/projects",
    ]
    .iter()
    .map(|place| home.join(place))
    .filter(|place| place.is_dir())
    .collect()
}

/// The files below a directory; links are not followed, so that a walk ends.
pub fn transcripts_in(directory: &Path) -> TranscriptFiles {
    let mut found = TranscriptFiles::default();
    let mut open = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                found.unreadable.push((directory, error.kind()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else {
                continue;
            };
            if about.is_dir() && depth < MAX_DEPTH {
                open.push((entry.path(), depth + 1));
            } else if about.is_dir() || found.files.len() >= MAX_FILES {
                found.cut = true;
            } else if about.is_file() && about.len() > 0 {
                found.files.push((entry.path(), about.len()));
            }
        }
        if found.files.len() >= MAX_FILES && !open.is_empty() {
            found.cut = true;
            break;
        }
    }
    found.files.sort();
    found.unreadable.sort();
    found
}

/// The directory a chat of Gemini CLI belongs to: its records do not say, a file beside them does.
pub fn project_root(transcript: &Path) -> Option<String> {
    let chats = transcript.parent()?;
    if chats.file_name()? != "chats" {
        return None;
    }
    let bytes = read_bounded(&chats.parent()?.join(".project_root"), 4096).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let root = text.trim();
    Path::new(root).is_absolute().then(|| root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_is_sorted_and_leaves_links_and_empty_files_alone() {
        let home = tempfile::tempdir().unwrap();
        let projects = home.path().join(".claude/projects");
        fs::create_dir_all(projects.join("b/deep")).unwrap();
        fs::write(projects.join("b/deep/2.jsonl"), "x").unwrap();
        fs::write(projects.join("b/1.jsonl"), "xy").unwrap();
        fs::write(projects.join("empty.jsonl"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&projects, projects.join("b/circle")).unwrap();
        assert_eq!(known_places(home.path()), std::slice::from_ref(&projects));
        let found = transcripts_in(&projects);
        assert_eq!(
            found.files,
            [
                (projects.join("b/1.jsonl"), 2),
                (projects.join("b/deep/2.jsonl"), 1)
            ]
        );
        assert!(!found.cut && found.unreadable.is_empty());
        let missing = transcripts_in(&home.path().join("missing"));
        assert_eq!(missing.unreadable.len(), 1);
    }

    #[test]
    fn a_chat_says_beside_itself_where_it_belongs() {
        let home = tempfile::tempdir().unwrap();
        let chats = home.path().join("app/chats");
        fs::create_dir_all(&chats).unwrap();
        fs::write(home.path().join("app/.project_root"), "/work/app\n").unwrap();
        assert_eq!(
            project_root(&chats.join("x.jsonl")).as_deref(),
            Some("/work/app")
        );
        assert_eq!(project_root(&home.path().join("app/x.jsonl")), None);
    }
}
