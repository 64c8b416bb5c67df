//! Sources of packages that the agent wrote into the files of a package manager.
//!
//! `npm install` gets packages, and runs their scripts, from wherever `.npmrc` says. What the repository has committed is
//! the person's; a source the agent named is listed as if it had been given on the command line, so that the same
//! rules speak of it.

use crate::project_files::sources;
use crate::rules;
use crate::shell::commands::Wrapping;
use crate::shell::refusal::Refusal;
use crate::shell::texts::Argument;
use crate::shell::unwrapping::Unwrapped;

/// How a file is noted that was read for this.
const SOURCES: &str = "sources";

/// Lists installations from the sources the agent wrote down.
pub(super) fn list(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    let Some(known) = rules::sources(name) else {
        return Ok(());
    };
    if command.listing.around.is_none() {
        return Ok(());
    }
    let words: Vec<&str> = (command.rest(1).iter())
        .map(|word| word.unquoted())
        .collect();
    let says = |word: &&str| known.fetching.contains(word);
    // A script of the project's is one, whatever it is called.
    let script = known.locks.contains(&"package-lock.json") && words.contains(&"run");
    let bare = known.bare && (words.is_empty() || name != "yarn");
    if script || !(known.fetching.is_empty() || bare || words.iter().any(says)) {
        return Ok(());
    }
    let mut found: Vec<String> = Vec::new();
    for file in known.files.iter().chain(known.locks) {
        for path in command.listing.environment.names_of(file) {
            let own = match known.locks.contains(file) {
                true => command.is_remembered(&path),
                false => command.is_agents(&path),
            };
            if !own {
                continue;
            }
            // Mostly there is no such file, and nothing to be noted.
            let texts = command.texts_of(file);
            // Once each: what is listed for it is an installation itself.
            if texts.is_empty() || !command.listing.loaded.insert((path, SOURCES.to_owned())) {
                continue;
            }
            for text in texts {
                found.extend(sources::unusual(file, &text));
            }
        }
    }
    // One of them is enough to ask.
    let Some(source) = found.first() else {
        return Ok(());
    };
    let span = command.span();
    let words = ["pip", "install", "--index-url", source.as_str(), "packages"]
        .map(|word| Argument::literal(word, span.clone()));
    command.starts_apart(Wrapping::Commanding, words.to_vec())
}
