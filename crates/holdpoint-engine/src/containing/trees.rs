//! Which trees of a machine a contained command needs, and which paths in its workspace are not its to change.

use std::fs;
use std::path::{Path, PathBuf};

use super::PlanError;

/// A path of `trees.toml`.
pub(super) struct Tree {
    path: &'static str,
    /// Whether it stands for every name that begins so.
    begins: bool,
    /// Whether it counts where nothing is there.
    missing: bool,
}

include!(concat!(env!("OUT_DIR"), "/trees.rs"));

/// The most names in a workspace that are looked at for those that begin as a protected one does: a directory with more has
/// been filled by a program. Which of its files are settings cannot be told in time then, and nothing is run in it.
const MAX_NAMES: usize = 10_000;

/// Where trees lie below a directory.
pub(super) fn below<'t>(
    directory: &'t Path,
    trees: &'t [Tree],
) -> impl Iterator<Item = PathBuf> + 't {
    trees.iter().map(|tree| directory.join(tree.path))
}

/// Files of a repository that are read by git itself, which takes a directory in their place for damage: that its settings lie
/// elsewhere, and the settings of one worktree.
const PINNED: [&str; 2] = ["commondir", "config.worktree"];

/// The repository a workspace has in it, or is.
pub(super) fn own_repository(workspace: &Path) -> Option<PathBuf> {
    let inside = workspace.join(".git");
    if inside.is_dir() {
        return Some(inside);
    }
    let is_one = ["HEAD", "objects", "refs"]
        .iter()
        .all(|name| workspace.join(name).exists());
    (is_one && !inside.exists()).then(|| workspace.to_owned())
}

/// Those files, of a workspace and of repositories.
pub(super) fn pinned(workspace: &Path, repositories: &[PathBuf]) -> Vec<PathBuf> {
    own_repository(workspace)
        .iter()
        .chain(repositories)
        .flat_map(|repository| PINNED.map(|name| repository.join(name)))
        .collect()
}

/// The protected paths of a workspace.
pub(super) fn protected(workspace: &Path) -> Result<Vec<PathBuf>, PlanError> {
    let named = PROTECTED.iter().filter(|tree| !tree.begins);
    let mut all: Vec<PathBuf> = named
        .map(|tree| (workspace.join(tree.path), tree.missing))
        .filter(|(path, missing)| *missing || path.symlink_metadata().is_ok())
        .map(|(path, _)| path)
        .collect();
    all.extend(beginning(workspace)?);
    let repository = workspace.join(".git");
    if repository.is_file() {
        // It says where the repository is, and so what git obeys.
        all.push(repository);
    } else {
        all.extend(protected_in_repository(&repository));
    }
    Ok(all)
}

/// What is there in a workspace under a name that begins as a protected one does. A workspace that cannot be read has nothing a
/// command could find.
fn beginning(workspace: &Path) -> Result<Vec<PathBuf>, PlanError> {
    let mut found = Vec::new();
    let names = fs::read_dir(workspace).into_iter().flatten().flatten();
    for (looked_at, entry) in names.enumerate() {
        if looked_at >= MAX_NAMES {
            return Err(PlanError::Crowded {
                workspace: workspace.to_owned(),
                most: MAX_NAMES,
            });
        }
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let mut trees = PROTECTED.iter().filter(|tree| tree.begins);
        if trees.any(|tree| name.starts_with(tree.path.as_bytes())) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

pub(super) fn protected_in_repository(repository: &Path) -> Vec<PathBuf> {
    below(repository, PROTECTED_IN_REPOSITORY).collect()
}

/// The repositories of a workspace that lie elsewhere: that of a worktree, and what it shares with others. A file that
/// cannot be read names none: git then fails inside, which is safe.
pub(super) fn repositories(workspace: &Path) -> Vec<PathBuf> {
    let Ok(text) = fs::read_to_string(workspace.join(".git")) else {
        return Vec::new();
    };
    let Some(named) = text.trim().strip_prefix("gitdir:") else {
        return Vec::new();
    };
    let repository = workspace.join(named.trim());
    // A file in a project must not name any repository it likes: that of a worktree names the worktree in turn.
    let Ok(back) = fs::read_to_string(repository.join("gitdir")) else {
        return Vec::new();
    };
    let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if !same(Path::new(back.trim()), &workspace.join(".git")) {
        return Vec::new();
    }
    let mut all = vec![repository.clone()];
    if let Ok(shared) = fs::read_to_string(repository.join("commondir")) {
        let shared = repository.join(shared.trim());
        // Nor any that is shared: the one that has this worktree among its own.
        let has_it = repository.canonicalize().is_ok_and(|one| {
            one.parent()
                .is_some_and(|all| same(all, &shared.join("worktrees")))
        });
        if has_it && shared.join("objects").is_dir() {
            all.push(shared);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_protected_is_so_before_it_exists_or_once_it_does() {
        let place = tempfile::tempdir().unwrap();
        let has = |name: &str| {
            let protected = protected(place.path()).unwrap();
            protected.contains(&place.path().join(name))
        };
        assert!(has(".env") && has(".claude") && has(".git/hooks"));
        for late in [".env.staging", ".windsurf", ".holdpoint"] {
            assert!(!has(late), "{late} costs nothing where it is not");
            // A link counts too, wherever it leads.
            std::os::unix::fs::symlink("nowhere", place.path().join(late)).unwrap();
            assert!(has(late), "{late}");
        }
        assert!(!has("src"));
    }

    // Settings behind as many files as are looked at would be anybody's to change.
    #[test]
    fn a_workspace_with_too_many_names_is_none() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..=MAX_NAMES {
            fs::write(place.path().join(number.to_string()), "").unwrap();
        }
        let protected = protected(place.path());
        assert!(
            matches!(protected, Err(PlanError::Crowded { .. })),
            "{protected:?}"
        );
    }

    #[test]
    fn a_worktree_has_its_repository() {
        let place = tempfile::tempdir().unwrap();
        let (main, tree) = (place.path().join("main/.git"), place.path().join("tree"));
        let own = main.join("worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(main.join("objects")).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(
            own.join("gitdir"),
            format!("{}\n", tree.join(".git").display()),
        )
        .unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let found: Vec<_> = repositories(&tree)
            .iter()
            .map(|path| path.canonicalize().unwrap())
            .collect();
        assert_eq!(
            found,
            [own.canonicalize().unwrap(), main.canonicalize().unwrap()]
        );
        assert!(protected(&tree).unwrap().contains(&tree.join(".git")));
        // A worktree somebody has made up says that it shares the repository of another project.
        let (other, forged) = (place.path().join("other/.git"), tree.join("forged"));
        fs::create_dir_all(other.join("objects")).unwrap();
        fs::create_dir_all(&forged).unwrap();
        fs::copy(own.join("gitdir"), forged.join("gitdir")).unwrap();
        fs::write(forged.join("commondir"), other.to_str().unwrap()).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", forged.display())).unwrap();
        assert_eq!(repositories(&tree), [forged]);
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("gitdir"), "/elsewhere/.git\n").unwrap();
        assert!(repositories(&tree).is_empty());
    }
}
