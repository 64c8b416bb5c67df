//! Which trees of a machine a contained command needs, and which paths in its workspace are not its to change.

use std::fs;
use std::path::{Path, PathBuf};

/// Caches of build tools in a home: without them every build begins anew. What a command leaves there is found by the
/// next build, contained or not; none of them holds programs that run by themselves.
pub(super) const CACHES: [&str; 12] = [
    ".cache/pip",
    ".cache/uv",
    ".cache/go-build",
    ".cache/yarn",
    ".cache/pypoetry",
    ".cache/ccache",
    ".cache/sccache",
    ".cache/deno",
    ".npm/_cacache",
    ".gradle/caches",
    ".m2/repository",
    ".local/share/pnpm/store",
];

/// Tools and their libraries in a home, which are read and run.
pub(super) const TOOLS: [&str; 21] = [
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/registry",
    ".cargo/git",
    ".rustup",
    ".gitconfig",
    ".config/git",
    ".nvm",
    ".volta",
    ".fnm",
    ".bun/bin",
    ".deno/bin",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".local/share/mise",
    "go",
];

/// What agents, editors and shells run or obey when they next come to a project, and its secrets.
const PROTECTED: [&str; 16] = [
    ".env",
    ".env.local",
    ".env.production",
    ".envrc",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".cursor",
    ".opencode",
    ".github/hooks",
    ".github/copilot",
    ".mcp.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".idea/runConfigurations",
];

/// A project's own policy. It can only tighten until somebody vouches for it, so a new one does no harm; and an empty
/// directory in its place would be a policy that cannot be read.
const POLICIES: [&str; 3] = [".holdpoint", "permissions.json", ".permissions.json"];

/// What git runs or obeys in a repository.
const PROTECTED_IN_REPOSITORY: [&str; 5] =
    ["hooks", "config", "config.worktree", "info", "modules"];

/// The protected paths of a workspace.
pub(super) fn protected(workspace: &Path) -> Vec<PathBuf> {
    let own = PROTECTED.iter().map(|path| workspace.join(path));
    let repository = workspace.join(".git");
    let policies = POLICIES.iter().map(|path| workspace.join(path));
    let mut all: Vec<PathBuf> = own.chain(policies.filter(|path| path.exists())).collect();
    if repository.is_file() {
        // It says where the repository is, and so what git obeys.
        all.push(repository);
    } else {
        all.extend(protected_in_repository(&repository));
    }
    all
}

pub(super) fn protected_in_repository(repository: &Path) -> Vec<PathBuf> {
    PROTECTED_IN_REPOSITORY
        .iter()
        .map(|path| repository.join(path))
        .collect()
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
        if shared.join("objects").is_dir() {
            all.push(shared);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(protected(&tree).contains(&tree.join(".git")));
        fs::write(own.join("gitdir"), "/elsewhere/.git\n").unwrap();
        assert!(repositories(&tree).is_empty());
    }
}
