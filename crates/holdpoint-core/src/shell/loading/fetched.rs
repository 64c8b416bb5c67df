//! Sources of packages that the agent wrote into the files of a package manager.
//!
//! `npm install` gets packages, and runs their scripts, from wherever `.npmrc` says. What the repository has committed is
//! the person's; a source the agent named is listed as if it had been given on the command line, so that the same
//! rules speak of it.

use crate::project_files::sources;
use crate::shell::commands::Wrapping;
use crate::shell::refusal::Refusal;
use crate::shell::texts::Argument;
use crate::shell::unwrapping::Unwrapped;

/// What tells managers that only fetch when told so to fetch.
const FETCHING: [&str; 13] = [
    "add", "ci", "download", "get", "i", "install", "lock", "run", "sync", "up", "update",
    "upgrade", "wheel",
];
/// Files that programs write: only what the session is known to have written itself is the agent's.
const LOCKS: [&str; 2] = ["package-lock.json", "yarn.lock"];

/// How a file is noted that was read for this.
const SOURCES: &str = "sources";

/// Lists installations from the sources the agent wrote down.
pub(super) fn list(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    let files = sources::files_of(name);
    if files.is_empty() || command.listing.around.is_none() {
        return Ok(());
    }
    let script = matches!(name, "npm" | "pnpm" | "yarn" | "bun")
        && command.rest(1).iter().any(|word| word.unquoted() == "run");
    let mut words = command.rest(1).iter().map(|word| word.unquoted());
    let builds = matches!(name, "cargo" | "go" | "mvn" | "mvnw" | "gradle" | "gradlew");
    let fetches = builds || words.any(|word| FETCHING.contains(&word));
    if script || !(fetches || (name == "yarn" && command.rest(1).is_empty())) {
        return Ok(());
    }
    let mut found: Vec<String> = Vec::new();
    for file in files {
        for path in command.listing.environment.names_of(file) {
            // Once each: what is listed for it is an installation itself.
            let read = (path.clone(), SOURCES.to_owned());
            if command.listing.loaded.contains(&read) {
                continue;
            }
            let own = match LOCKS.contains(file) {
                true => command.is_remembered(&path),
                false => command.is_agents(&path),
            };
            if !own {
                continue;
            }
            command.listing.loaded.insert(read);
            for text in command.texts_of(file) {
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
