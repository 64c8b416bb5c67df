//! What the repository of a workspace names in it: directories of hooks, further files of settings, programs, and the
//! repositories of submodules.

use std::path::{Component, Path, PathBuf};

use holdpoint_core::shell::git_setting_runs;

use super::super::trees;
use super::{MAX_FILE, MAX_INCLUDED, settings};
use crate::store::read_bounded;

/// The most paths that are taken from settings: more than people name by hand.
const MAX_NAMED: usize = 256;

/// The most submodules and worktrees that are protected: each costs a mount or two in every run.
const MAX_BELOW: usize = 512;

/// Programs that run the file whose name stands behind theirs.
const INTERPRETERS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "python", "python3", "node", "perl", "ruby",
];

/// Paths in a workspace that git outside would run or obey, beside those every repository has. `repositories` are those it
/// works with, `home` has the user's own settings.
pub(in super::super) fn protected(
    workspace: &Path,
    repositories: &[PathBuf],
    home: Option<&Path>,
) -> Vec<PathBuf> {
    let mut named = Vec::new();
    let of_user = home.map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
    let of_repositories = repositories
        .iter()
        .flat_map(|repository| ["config", "config.worktree"].map(|name| repository.join(name)));
    for file in of_repositories.chain(of_user.into_iter().flatten()) {
        name_paths(&file, workspace, home, MAX_INCLUDED, &mut named);
    }
    for submodule in submodules(workspace) {
        let repository = workspace.join(submodule).join(".git");
        match repository.is_dir() {
            true => named.extend(trees::protected_in_repository(&repository)),
            false => named.push(repository),
        }
    }
    named
}

/// What of a repository's other worktrees says where their settings lie; and their settings, which may not exist.
pub(in super::super) fn worktrees(repository: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let entries = std::fs::read_dir(repository.join("worktrees"));
    let all: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .take(MAX_BELOW)
        .map(|entry| entry.path())
        .collect();
    let protected = all.iter().map(|one| one.join("gitdir")).collect();
    let pinned = all
        .iter()
        .flat_map(|one| ["commondir", "config.worktree"].map(|name| one.join(name)))
        .collect();
    (protected, pinned)
}

#[cfg(unix)]
fn submodules(workspace: &Path) -> Vec<PathBuf> {
    // One whose list cannot be read is looked at after the run, as every new one is.
    let mut all = crate::git_index::submodules(workspace).unwrap_or_default();
    all.truncate(MAX_BELOW);
    all
}

#[cfg(not(unix))]
fn submodules(_workspace: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// Adds the paths a file of settings names, and those of the files it includes.
fn name_paths(
    file: &Path,
    workspace: &Path,
    home: Option<&Path>,
    included: usize,
    named: &mut Vec<PathBuf>,
) {
    let Ok(text) = read_bounded(file, MAX_FILE) else {
        return;
    };
    for setting in settings::read(&text) {
        let key = setting.key.to_ascii_lowercase();
        let Some(value) = setting.value.filter(|value| !value.is_empty()) else {
            continue;
        };
        if named.len() >= MAX_NAMED {
            return;
        }
        if key == "core.hookspath" {
            named.extend(path(&value, workspace, home));
        } else if key == "include.path" || key.starts_with("includeif.") && key.ends_with(".path") {
            let beside = file.parent().unwrap_or(workspace);
            let Some(next) = path(&value, beside, home) else {
                continue;
            };
            if let Some(left) = included.checked_sub(1) {
                name_paths(&next, workspace, home, left, named);
            }
            named.push(next);
        } else if git_setting_runs(&key, Some(&value)) {
            let words = value
                .split(|letter: char| letter.is_whitespace() || "'\"`;|&()<>!=".contains(letter));
            let mut by_interpreter = false;
            for word in words.filter(|word| !word.is_empty()) {
                // A word that is no program there is an argument, or a program of the system.
                let file = path(word, workspace, home).filter(|path| {
                    path.starts_with(workspace)
                        && (is_program(path) || by_interpreter && path.is_file())
                });
                named.extend(file);
                by_interpreter =
                    INTERPRETERS.contains(&word.rsplit('/').next().unwrap_or_default());
            }
        }
    }
}

/// Whether a path leads to a file that can be run.
#[cfg(unix)]
pub(super) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// A path as git takes it, from where it starts and without dots.
pub(super) fn path(text: &str, from: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let whole = match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) => return None,
        (None, _) => from.join(text),
    };
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => plain.push(part),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_settings_name_in_the_workspace_is_found() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().join("work");
        let home = place.path().join("home");
        fs::create_dir_all(work.join(".git/worktrees/w")).unwrap();
        fs::create_dir_all(work.join("tools")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(work.join("tools/clean"), "").unwrap();
        fs::write(work.join("tools/data"), "").unwrap();
        fs::copy("/bin/true", work.join("tools/merge")).unwrap();
        fs::write(
            work.join(".git/config"),
            "[core]\nhooksPath = .githooks\nsshCommand = ssh -i x\n[include]\npath = ../.gitconfig\n[filter \"x\"]\nclean = sh tools/clean %f\n",
        )
        .unwrap();
        fs::write(
            work.join(".gitconfig"),
            "[merge \"m\"]\ndriver = ./tools/merge %O tools/data\n[user]\nname = tools/clean\n",
        )
        .unwrap();
        fs::write(home.join(".gitconfig"), "[core]\nhooksPath = ./mine\n").unwrap();
        let found = protected(&work, &[work.join(".git")], Some(&home));
        for path in [
            ".githooks",
            ".gitconfig",
            "tools/clean",
            "tools/merge",
            "mine",
        ] {
            assert!(found.contains(&work.join(path)), "{path}: {found:?}");
        }
        assert_eq!(found.len(), 5, "{found:?}");
        let (kept, pinned) = worktrees(&work.join(".git"));
        assert_eq!(kept, [work.join(".git/worktrees/w/gitdir")]);
        assert_eq!(pinned.len(), 2);
    }
}
