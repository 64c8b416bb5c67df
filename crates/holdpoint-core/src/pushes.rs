//! What a call pushes with git, as it is written: which commits those are and where they go stands in the repository.

use crate::understand::Action;

/// The most pushes of a call that are looked at; nobody writes more into one line.
const MAX_PUSHES: usize = 16;

/// A `git push`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitPush {
    /// Where it may run, as the call names it; empty is where the call is made.
    pub directories: Vec<String>,
    /// The words behind `git`.
    pub words: Vec<String>,
    /// Whether its words and where it runs are known before it does, and nothing set for it says where git looks.
    pub known: bool,
}

/// The pushes of a call.
pub fn git_pushes(action: &Action) -> Vec<GitPush> {
    let pushes = action.commands.iter().filter_map(|view| {
        let command = &view.command;
        if view.program() != Some("git") {
            return None;
        }
        let words = command.words.get(1..)?;
        if !words.iter().any(|word| word.text == "push") {
            return None;
        }
        let set = |name: &str| name.starts_with("GIT_") && name != "GIT_TRACE";
        let steered = command.assignments.iter().any(|one| set(&one.name));
        Some(GitPush {
            directories: command.directory.places.clone(),
            words: words.iter().map(|word| word.text.clone()).collect(),
            known: !words.iter().any(|word| word.dynamic)
                && !command.directory.unknown
                && command.container.is_none()
                && !steered,
        })
    });
    pushes.take(MAX_PUSHES).collect()
}
