//! Facts besides the call, found out when a rule asks: by reading a file where that is enough, within a deadline where a program
//! has to be asked. What cannot be had is unknown, and the judge makes the best of that.

use std::env;
use std::path::{Path, PathBuf};
#[cfg(feature = "pipeline")]
use std::time::Duration;

use holdpoint_core::facts::{Fact, FactValue};
#[cfg(feature = "pipeline")]
use holdpoint_core::facts::{LocalTime, Weekday};

use crate::store::read_bounded;

/// The most bytes of `HEAD` and of a file that says where a repository is: a line with a path. A larger one is none of git's.
const MAX_LINE: u64 = 8 << 10;

/// The longest name that is handed on. It ends up in reasons and in what a model is told, and no branch people use is longer.
const MAX_NAME: usize = 200;

/// How long git may take to say whether a worktree is clean: a hook that answers later is felt, and has to answer before its own
/// deadline.
#[cfg(feature = "pipeline")]
const MAX_TIME: Duration = Duration::from_millis(1500);

/// The most directories between the one a command runs in and its repository that are looked at: deeper than people nest them.
const MAX_UP: usize = 64;

/// Variables by which build servers are known. `CI` is set by nearly all of them.
const BUILD_SERVERS: &[&str] = &[
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "BUILDKITE",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TF_BUILD",
];

/// What is known of a fact here and now.
pub(crate) fn gather(fact: &Fact) -> FactValue {
    let text = |text: Option<String>| text.map_or(FactValue::Unknown, FactValue::Text);
    match fact {
        Fact::Branch(directory) => text(branch(Path::new(directory)).and_then(plain)),
        Fact::Clean(directory) => {
            clean(Path::new(directory)).map_or(FactValue::Unknown, FactValue::Is)
        }
        Fact::Ci => FactValue::Is(BUILD_SERVERS.iter().any(|name| is_set(name))),
        Fact::Hostname => text(hostname().and_then(plain)),
        Fact::User => text(user().and_then(plain)),
        Fact::Time => time(),
        // A session knows.
        Fact::TestsPassed => FactValue::Unknown,
    }
}

/// A name as it is handed on; none if it is longer than names are, or holds what no name does.
fn plain(name: String) -> Option<String> {
    let odd = |c: char| c.is_control() || c == '`';
    (!name.is_empty() && name.len() <= MAX_NAME && !name.contains(odd)).then_some(name)
}

/// The branch that is checked out, by `HEAD` alone; `HEAD` where none is.
fn branch(directory: &Path) -> Option<String> {
    let line = first_line(&git_directory(directory)?.join("HEAD"))?;
    match line.strip_prefix("ref:").map(str::trim) {
        Some(name) => name.strip_prefix("refs/heads/").map(str::to_owned),
        // A commit by its number.
        None => (line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .then(|| "HEAD".to_owned()),
    }
}

/// Where git keeps what belongs to the worktree a directory is in.
pub(crate) fn git_directory(directory: &Path) -> Option<PathBuf> {
    for above in directory.ancestors().take(MAX_UP) {
        let git = above.join(".git");
        let Ok(found) = git.metadata() else {
            continue;
        };
        if found.is_dir() {
            return Some(git);
        }
        // A worktree or a submodule says where its own is.
        let line = first_line(&git)?;
        return Some(above.join(line.strip_prefix("gitdir:")?.trim()));
    }
    None
}

fn first_line(path: &Path) -> Option<String> {
    let bytes = read_bounded(path, MAX_LINE).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.lines().next().map(str::to_owned)
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| {
        let no = ["", "0", "false", "no"];
        value
            .to_str()
            .is_none_or(|value| !no.contains(&value.to_ascii_lowercase().as_str()))
    })
}

#[cfg(feature = "pipeline")]
fn clean(directory: &Path) -> Option<bool> {
    crate::simulate::is_clean(directory, MAX_TIME)
}

#[cfg(feature = "pipeline")]
fn hostname() -> Option<String> {
    holdpoint_sandbox::machine::hostname()
}

#[cfg(feature = "pipeline")]
fn user() -> Option<String> {
    Some(crate::account::account_name())
}

#[cfg(feature = "pipeline")]
fn time() -> FactValue {
    let Some((day, minute)) = holdpoint_sandbox::machine::local_time() else {
        return FactValue::Unknown;
    };
    match Weekday::ALL.get(usize::from(day)) {
        Some(weekday) => FactValue::Time(LocalTime {
            weekday: *weekday,
            minute,
        }),
        None => FactValue::Unknown,
    }
}

/// A gate that only judges starts no program and asks the system for nothing.
#[cfg(not(feature = "pipeline"))]
fn clean(_directory: &Path) -> Option<bool> {
    None
}

#[cfg(not(feature = "pipeline"))]
fn hostname() -> Option<String> {
    None
}

#[cfg(not(feature = "pipeline"))]
fn user() -> Option<String> {
    None
}

#[cfg(not(feature = "pipeline"))]
fn time() -> FactValue {
    FactValue::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn branch_of(directory: &Path) -> FactValue {
        gather(&Fact::Branch(directory.to_str().unwrap().to_owned()))
    }

    #[test]
    fn the_branch_is_read_from_head_wherever_it_lies() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let known = |name: &str| FactValue::Text(name.to_owned());
        assert_eq!(branch_of(root), FactValue::Unknown);
        fs::create_dir_all(root.join(".git/worktrees/wt")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/release/2.0\n").unwrap();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        assert_eq!(branch_of(&root.join("src/deep")), known("release/2.0"));
        fs::write(root.join(".git/HEAD"), format!("{}\n", "a1".repeat(20))).unwrap();
        assert_eq!(branch_of(root), known("HEAD"));
        // A worktree has a file there that names its own.
        fs::create_dir_all(root.join("wt")).unwrap();
        fs::write(root.join("wt/.git"), "gitdir: ../.git/worktrees/wt\n").unwrap();
        fs::write(root.join(".git/worktrees/wt/HEAD"), "ref: refs/heads/fix\n").unwrap();
        assert_eq!(branch_of(&root.join("wt")), known("fix"));
    }

    #[test]
    fn what_is_no_head_says_nothing() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir(root.join(".git")).unwrap();
        let long = format!("ref: refs/heads/{}", "x".repeat(300));
        let heads = [
            "",
            "main",
            "ref: refs/tags/v1",
            "ref: refs/heads/",
            "ref: refs/heads/a`b",
            "ref: refs/heads/a\u{7}b",
            &long,
        ];
        for head in heads {
            fs::write(root.join(".git/HEAD"), head).unwrap();
            assert_eq!(branch_of(root), FactValue::Unknown, "{head:?}");
        }
        fs::remove_file(root.join(".git/HEAD")).unwrap();
        fs::create_dir(root.join(".git/HEAD")).unwrap();
        assert_eq!(branch_of(root), FactValue::Unknown);
    }
}
